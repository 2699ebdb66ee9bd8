#include "amg/level.hpp"

#include "sparse/rows/locality.hpp"

#include "dist/attempt.hpp"
#include "dist/near_null.hpp"
#include "sparse/rows/rows.hpp"

namespace amgkit
{
template <class Ex> PetscErrorCode Level<Ex>::meet_peers(Ex &ex)
{
  PetscFunctionBegin;
  PetscCall(A.halo.meet_peers(ex));
  if (transfer) PetscCall(transfer->meet_peers(ex));
  if (move) PetscCall(move->way.meet_peers(ex));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode Level<Ex>::analyse(Ex &ex, const AmgParameters &parameters, Array<double, Ex> &diagonal)
{
  const bool known = diagonal.size() == A.rows;
  Array<double, Ex> scaling;
  Array<int, Ex> lone;

  PetscFunctionBegin;
  PetscCall(scaling.allocate(ex, A.rows));
  if (!known) PetscCall(diagonal.allocate(ex, A.rows));
  if (Smoother<Ex>::needs_l1(parameters)) {
    PetscCall(diagonal_and_l1(ex, A.diag, A.offd, diagonal.data(), scaling.data()));
  } else {
    if (!known) PetscCall(diagonal_of(ex, A.diag, diagonal.data()));
    PetscCall(invert_entries(ex, A.rows, diagonal.data(), scaling.data()));
    if (Smoother<Ex>::kind(parameters) != SmootherKind::gauss_seidel) PetscCall(lone_rows(ex, A.diag, A.offd, lone));
  }
  smoother.set_scaling(std::move(scaling), std::move(lone));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode Prolongation<Ex>::look_at_finest(Ex &ex, Mat A, const Level<Ex> &finest, const LevelSetup<Ex> &)
{
  return attempt(finest.A.comm, [&] {
    PetscFunctionBegin;
    PetscCall(smooth_vector_.allocate(ex, finest.A.rows));
    PetscCall(smooth_vector_of(ex, A, smooth_vector_, &ones_));
    PetscFunctionReturn(PETSC_SUCCESS);
  });
}

template <class Ex> PetscErrorCode Prolongation<Ex>::copy_vectors(Ex &ex, const Array<double, Ex> &from, Array<double, Ex> &to)
{
  PetscFunctionBegin;
  PetscCall(to.allocate(ex, from.size()));
  PetscCall(memory_copy(ex, to.data(), from.data(), to.bytes()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode Prolongation<Ex>::bring_in_order(Ex &ex, const int *order, int m, Array<double, Ex> &vectors)
{
  const std::int64_t rows = m > 0 ? static_cast<std::int64_t>(vectors.size()) / m : 0;
  Array<double, Ex> ordered;

  PetscFunctionBegin;
  PetscCall(ordered.allocate(ex, vectors.size()));
  PetscCall(gather_rows(ex, rows, m, order, static_cast<const double *>(vectors.data()), ordered.data()));
  vectors = std::move(ordered);
  PetscFunctionReturn(PETSC_SUCCESS);
}

AMGKIT_INSTANTIATE_TYPE(struct, Level)
AMGKIT_INSTANTIATE_TYPE(class, Prolongation)
} // namespace amgkit
