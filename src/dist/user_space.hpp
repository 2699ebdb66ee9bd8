// The space in which a preconditioner of the user's matrix runs.
#pragma once
#include "base/parameters.hpp"
#include "dist/attempt.hpp"
#include "dist/mat_view.hpp"

namespace amgkit
{
// What became of a choice: automatic where the matrix decides.
struct SpaceChoice {
  SpaceKind kind = SpaceKind::automatic;
  std::string note; // why it is not the GPU that -amgkit_gpu try asks for; empty: it is, or nobody asks
};
// Collective. automatic is gpu where the option -amgkit_gpu says so. PETSC_ERR_SUP, on all ranks, says what is missing where gpu is asked
// for and a rank cannot use one.
PetscErrorCode choose_space(MPI_Comm, SpaceKind, SpaceChoice *);
// Collective: whether that would be a GPU, with a matrix like A; opens none.
PetscErrorCode would_run_on_gpu(SpaceKind, Mat A, bool *would);

// f(Host{}), f(Debug{}) or f(Cuda{}), for what choose_space() gave
template <class F> PetscErrorCode in_space_of(Mat A, SpaceKind choice, F f)
{
#if defined(AMGKIT_HAVE_CUDA)
  if (choice == SpaceKind::gpu || (choice == SpaceKind::automatic && on_cuda(A))) return f(Cuda{});
#else
  static_cast<void>(A);
#endif
  return choice == SpaceKind::debug ? f(Debug{}) : f(Host{});
}

// Whether the matrix is on the side, host or device, where a space that was chosen for it is made for it.
template <class Ex> bool stands_where(SpaceKind choice, Mat A) { return choice != SpaceKind::automatic || on_cuda(A) == Ex::on_device; }

// Collective
template <class Ex> PetscErrorCode open_on_all(MPI_Comm comm, Ex &ex)
{
  const std::string what = std::string("the ") + Ex::name + " space";
  return need_memory_for(what.c_str(), comm, [&] { return attempt(comm, [&] { return open(ex); }); });
}
} // namespace amgkit
