#include "dist/user_space.hpp"

#include "base/gpu.hpp"

#include <algorithm>
#include <array>

namespace amgkit
{
namespace
{
// -amgkit_gpu [yes|no|try], for all preconditioners of a program
PetscErrorCode option_gpu(GpuWish *wish)
{
  std::array<char, 16> given{};
  PetscBool set;
  bool known = false;

  PetscFunctionBegin;
  *wish = GpuWish::no;
  PetscCall(PetscOptionsGetString(nullptr, nullptr, "-amgkit_gpu", given.data(), given.size(), &set));
  if (!set) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(gpu_wish_of(given.data(), wish, &known));
  PetscCheck(known, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "-amgkit_gpu must be one of yes, no, try, and not %s", given.data());
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Collective: what the first rank lacks that lacks anything; empty: no rank does.
PetscErrorCode why_no_gpu_on_all(MPI_Comm comm, std::string *why)
{
  std::array<char, 256> text{};
  int rank, size;

  PetscFunctionBegin;
  const std::string mine = why_no_gpu();
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  int first = mine.empty() ? size : rank;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, comm));
  std::copy_n(mine.begin(), std::min(mine.size(), text.size() - 1), text.begin());
  if (first < size) PetscCallMPI(MPI_Bcast(text.data(), static_cast<int>(text.size()), MPI_CHAR, first, comm));
  *why = first < size ? text.data() : "";
  if (first < size && size > 1) *why = "on process " + std::to_string(first) + " " + *why;
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode choose_space(MPI_Comm comm, SpaceKind asked, SpaceChoice *choice)
{
  GpuWish option = GpuWish::no;
  std::string why;
  PetscInt threads = 1;

  PetscFunctionBegin;
  *choice = {asked, ""};
  PetscCall(option_gpu(&option));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-amgkit_copy_threads", &threads, nullptr));
  PetscCheck(threads >= 1 && threads <= most_copy_threads, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-amgkit_copy_threads must lie in [1, %d], not %" PetscInt_FMT, most_copy_threads, threads);
  if (asked != SpaceKind::automatic) option = GpuWish::no;
  if (asked != SpaceKind::gpu && option == GpuWish::no) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(why_no_gpu_on_all(comm, &why));
  PetscCheck(why.empty() || option == GpuWish::attempted, comm, PETSC_ERR_SUP,
             "No GPU to run on, as %s asks: %s. With -amgkit_gpu try it would be the CPU",
             option == GpuWish::yes ? "-amgkit_gpu" : "-pc_<type>_space gpu", why.c_str());
  if (why.empty())
    choice->kind = SpaceKind::gpu;
  else
    choice->note = why;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode would_run_on_gpu(SpaceKind asked, Mat A, bool *would)
{
  GpuWish option = GpuWish::no;
  int any = count_gpus() > 0;

  PetscFunctionBegin;
  PetscCall(option_gpu(&option));
  const bool wanted = asked == SpaceKind::gpu || (asked == SpaceKind::automatic && option != GpuWish::no);
  *would = asked == SpaceKind::automatic && on_cuda(A);
  if (*would || !wanted) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, PetscObjectComm(reinterpret_cast<PetscObject>(A))));
  *would = any != 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace amgkit
