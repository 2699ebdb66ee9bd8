// What this library knows of a communicator, kept with it.
#pragma once
#include "base/compat.hpp"

#include <algorithm>
#include <petscsys.h>
#include <vector>

namespace amgkit
{
// A T for each communicator that asks for one, as MPI's attribute: deleted with the communicator, and in PetscFinalize, as communicators
// may live longer than this library.
template <class T> class CommAttribute {
public:
  // Local. Made by T's default constructor if there is none.
  static PetscErrorCode of(MPI_Comm comm, T **of_comm)
  {
    void *value = nullptr;
    int there = 0;

    PetscFunctionBegin;
    if (key() == MPI_KEYVAL_INVALID) {
      PetscCallMPI(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, remove, &key(), nullptr));
      PetscCall(PetscRegisterFinalize(remove_all));
    }
    PetscCallMPI(MPI_Comm_get_attr(comm, key(), static_cast<void *>(&value), &there));
    if (!there) {
      value = new T;
      PetscCallMPI(MPI_Comm_set_attr(comm, key(), value));
      comms().push_back(comm);
    }
    *of_comm = static_cast<T *>(value);
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  static int &key()
  {
    static int of_process = MPI_KEYVAL_INVALID;
    return of_process;
  }
  static std::vector<MPI_Comm> &comms() // that have one, in the order in which they got it
  {
    static std::vector<MPI_Comm> of_process;
    return of_process;
  }
  static int remove(MPI_Comm comm, int, void *value, void *)
  {
    comms().erase(std::remove(comms().begin(), comms().end(), comm), comms().end());
    delete static_cast<T *>(value);
    return MPI_SUCCESS;
  }
  static PetscErrorCode remove_all()
  {
    PetscFunctionBegin;
    while (!comms().empty()) PetscCallMPI(MPI_Comm_delete_attr(comms().back(), key()));
    PetscCallMPI(MPI_Comm_free_keyval(&key()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};
} // namespace amgkit
