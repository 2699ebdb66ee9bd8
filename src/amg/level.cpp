#include "amg/level.hpp"

#include "sparse/rows.hpp"

namespace amgkit
{
template <class Ex> PetscErrorCode Level<Ex>::analyse(Ex &ex, const AmgParameters &parameters)
{
  PetscFunctionBegin;
  PetscCall(A.stored.create(ex, A.diag, static_cast<Storage>(parameters.storage)));
  PetscCall(analyse_rows(ex, parameters));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode Level<Ex>::analyse_again(Ex &ex, const AmgParameters &parameters)
{
  PetscFunctionBegin;
  PetscCall(A.stored.refresh(ex, A.diag, static_cast<Storage>(parameters.storage)));
  PetscCall(analyse_rows(ex, parameters));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode Level<Ex>::analyse_rows(Ex &ex, const AmgParameters &parameters)
{
  const bool known = diagonal.size() == A.rows;
  Array<double, Ex> scaling;

  PetscFunctionBegin;
  PetscCall(scaling.allocate(ex, A.rows));
  if (!known) PetscCall(diagonal.allocate(ex, A.rows));
  if (parameters.smoother == static_cast<int>(SmootherKind::l1jacobi)) {
    PetscCall(diagonal_and_l1(ex, A.diag, A.offd, diagonal.data(), scaling.data()));
  } else {
    if (!known) PetscCall(diagonal_of(ex, A.diag, diagonal.data()));
    PetscCall(invert_entries(ex, A.rows, diagonal.data(), scaling.data()));
  }
  smoother.set_scaling(std::move(scaling));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> void Level<Ex>::forget_setup()
{
  diagonal.release();
  smooth_vector.release();
  unknown.release();
}

#define INSTANTIATE(Ex) template struct Level<Ex>;
AMGKIT_FOR_ALL_SPACES(INSTANTIATE)
#undef INSTANTIATE
} // namespace amgkit
