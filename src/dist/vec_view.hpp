// The memory of the user's vectors, where a space can read and write it.
#pragma once
#include "dist/space_vector.hpp"

#include <vector>

namespace amgkit
{
// PETSC_ERR_ARG_SIZ, on all ranks, unless each rank has the entries range[rank] <= i < range[rank + 1] of x. Collective, without
// communication: all know all ranks' shares.
PetscErrorCode check_layout(const std::vector<PetscInt> &range, Vec x);

// x's entries for reading, between access() and release(). A vector that lives elsewhere is copied to this object's own array, unless it
// has its entries in the space: see space_vector.hpp.
template <class Ex> class VecReader {
public:
  PetscErrorCode access(Ex &, Vec x, const double **entries);
  PetscErrorCode release(Vec x);

private:
  const PetscScalar *theirs_ = nullptr;
  Array<double, Ex> copy_;
};

// Whether x's entries are in a GPU's memory, where PETSc computes with them.
bool on_cuda(Vec x);

// y's entries for overwriting all of them, or for changing them; release() brings them to where y lives.
template <class Ex> class VecWriter {
public:
  PetscErrorCode access(Ex &, Vec y, double **entries, VecUse = VecUse::overwrite);
  PetscErrorCode release(Ex &, Vec y);

private:
  PetscScalar *theirs_ = nullptr;
  bool elsewhere_ = false;
  SpaceVectorIn<Ex> *vector_ = nullptr;
  VecUse use_ = VecUse::overwrite;
  Array<double, Ex> copy_;
};
// Both of an application y = f(x).
template <class Ex> class VecPair {
public:
  // f(x's entries, y's entries to be overwritten)
  template <class F> PetscErrorCode with(Ex &ex, Vec x, Vec y, F f)
  {
    const double *from;
    double *to;

    PetscFunctionBegin;
    PetscCall(reader_.access(ex, x, &from));
    PetscCall(writer_.access(ex, y, &to));
    const PetscErrorCode code = f(from, to); // the vectors are the user's again before an error goes its way
    PetscCall(writer_.release(ex, y));
    PetscCall(reader_.release(x));
    PetscCall(code);
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  VecReader<Ex> reader_;
  VecWriter<Ex> writer_;
};
} // namespace amgkit
