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
  Array<double, Ex> l1;

  PetscFunctionBegin;
  PetscCall(l1.allocate(ex, A.rows));
  PetscCall(diagonal.allocate(ex, A.rows));
  PetscCall(diagonal_and_l1(ex, A.diag, A.offd, diagonal.data(), l1.data()));
  PetscCall(smoother.allocate(ex, A, parameters, diagonal.data(), std::move(l1)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> void Level<Ex>::forget_setup()
{
  diagonal.release();
  smooth_vector.release();
}

#define INSTANTIATE(Ex) template struct Level<Ex>;
AMGKIT_FOR_ALL_SPACES(INSTANTIATE)
#undef INSTANTIATE
} // namespace amgkit
