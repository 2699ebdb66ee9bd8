// The space in which a preconditioner of the user's matrix runs.
#pragma once
#include "base/parameters.hpp"
#include "dist/attempt.hpp"
#include "dist/mat_view.hpp"

namespace amgkit
{
// Whether the matrix is on the side, host or device, where a space that was chosen for it reads it.
template <class Ex> bool stands_where(SpaceKind choice, Mat A) { return choice != SpaceKind::automatic || on_cuda(A) == Ex::on_device; }

// f(Host{}), f(Debug{}) or f(Cuda{})
template <class F> PetscErrorCode in_space_of(Mat A, SpaceKind choice, F f)
{
#if defined(AMGKIT_HAVE_CUDA)
  if (choice == SpaceKind::automatic && on_cuda(A)) return f(Cuda{});
#else
  static_cast<void>(A);
#endif
  return choice == SpaceKind::debug ? f(Debug{}) : f(Host{});
}

// Collective
template <class Ex> PetscErrorCode open_on_all(MPI_Comm comm, Ex &ex)
{
  const std::string what = std::string("the ") + Ex::name + " space";
  return need_memory_for(what.c_str(), comm, [&] { return attempt(comm, [&] { return open(ex); }); });
}
} // namespace amgkit
