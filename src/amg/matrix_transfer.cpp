#include "amg/matrix_transfer.hpp"

#include "base/log.hpp"
#include "dist/agree.hpp"
#include "sparse/rows.hpp"

#include <array>

namespace amgkit
{
template <class Ex>
PetscErrorCode MatrixTransfer<Ex>::create(Ex &ex, ProductForm form, const SpgemmOptions &options, DistMatrix<Ex> &fine,
                                          DistMatrix<Ex> &coarse)
{
  PetscFunctionBegin;
  const LogPhase logged(Phase::rap);
  P.blocks = {options.inner, options.run};
  PetscCall(P.create(ex, fine.comm));
  PetscCall(product_.create(ex, form, options, fine, P, coarse));
  PetscCall(attempt(fine.comm, [&] { return P.fold(ex); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode MatrixTransfer<Ex>::reweight(Ex &ex)
{
  PetscFunctionBegin;
  const LogPhase logged(Phase::rap);
  PetscCall(P.transpose_values(ex));
  PetscCall(product_.update_prolongator(ex, P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode MatrixTransfer<Ex>::prepare_single(Ex &ex, bool *fits)
{
  bool own = false, other = false;

  PetscFunctionBegin;
  own = P.folded();
  if (!own) PetscCall(representable_in_single(ex, P.diag.view(), &own));
  PetscCall(representable_in_single(ex, P.offd.view(), &other));
  *fits = own && other;
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode MatrixTransfer<Ex>::refresh(Ex &ex, Level<Ex> &fine, DistMatrix<Ex> &coarse, bool *sound)
{
  PetscFunctionBegin;
  *sound = true;
  const LogPhase logged(Phase::rap);
  PetscCall(attempt(fine.A.comm, [&] { return P.unfold(ex); }));
  PetscCall(product_.refresh(ex, fine.A, P, coarse));
  PetscCall(attempt(fine.A.comm, [&] { return P.fold(ex); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode MatrixTransfer<Ex>::rows(Ex &ex, PetscInt first_coarse, HostRows &out) const
{
  Array<double, Ex> room;
  CsrView<double> diag;

  PetscFunctionBegin;
  PetscCall(P.whole_diag(ex, room, diag));
  PetscCall(download_rows(ex, {diag, P.offd.view(), first_coarse, &P.ghosts}, out));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode check_coarse(Ex &ex, const DistMatrix<Ex> &A, Array<double, Ex> &diagonal, bool *sound)
{
  RowCheck check;

  PetscFunctionBegin;
  PetscCall(attempt(A.comm, [&] {
    PetscFunctionBegin;
    PetscCall(diagonal.allocate(ex, A.rows));
    PetscCall(check_rows(ex, A.diag, A.offd, diagonal.data(), &check));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  std::array<int, 3> any = {(check.all_faults & row_not_finite) != 0, check.negative > 0, check.negative < A.rows};
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, any.data(), 3, MPI_INT, MPI_MAX, A.comm));
  *sound = !any[0] && !(any[1] && any[2]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define INSTANTIATE(Ex)                                                                                                                    \
  template class MatrixTransfer<Ex>;                                                                                                       \
  template PetscErrorCode check_coarse(Ex &, const DistMatrix<Ex> &, Array<double, Ex> &, bool *);
AMGKIT_FOR_ALL_SPACES(INSTANTIATE)
#undef INSTANTIATE
} // namespace amgkit
