#include "amg/matrix_transfer.hpp"

#include "base/log.hpp"
#include "dist/attempt.hpp"
#include "sparse/rows/rows.hpp"

#include <array>

namespace amgkit
{
template <class Ex>
PetscErrorCode MatrixTransfer<Ex>::create(Ex &ex, ProductForm form, const SpgemmOptions &options, DistMatrix<Ex> &fine,
                                          DistMatrix<Ex> &coarse, LevelSetup<Ex> &of_coarse)
{
  PetscFunctionBegin;
  const LogPhase logged(Phase::rap);
  PetscCall(for_each([&](Prolongator<Ex> &M) {
    M.blocks = {options.inner, options.run};
    return M.create(ex, fine.comm);
  }));
  PetscCall(product_.create(ex, form, options, fine, {P, Rt()}, coarse));
  PetscCall(fold_and_check(ex, coarse, of_coarse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode MatrixTransfer<Ex>::reweight(Ex &ex)
{
  PetscFunctionBegin;
  PetscCall(for_each([&](Prolongator<Ex> &M) { return M.transpose_values(ex); }));
  PetscCall(product_.update_prolongator(ex, P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode MatrixTransfer<Ex>::prepare_single(Ex &ex, bool *fits)
{
  return for_each([&](Prolongator<Ex> &M) {
    bool here = false;
    PetscFunctionBegin;
    PetscCall(M.fits_single(ex, &here));
    *fits = *fits && here;
    PetscFunctionReturn(PETSC_SUCCESS);
  });
}

template <class Ex>
PetscErrorCode MatrixTransfer<Ex>::refresh(Ex &ex, Level<Ex> &fine, const LevelSetup<Ex> &of_fine, DistMatrix<Ex> &coarse,
                                           LevelSetup<Ex> &of_coarse)
{
  PetscFunctionBegin;
  PetscCall(attempt(fine.A.comm, [&] { return for_each([&](Prolongator<Ex> &M) { return M.unfold(ex); }); }));
  PetscCall(renew(ex, fine, of_fine));
  const LogPhase logged(Phase::rap);
  if (P.values_change) PetscCall(reweight(ex));
  PetscCall(product_.refresh(ex, fine.A, {P, Rt()}, coarse));
  PetscCall(fold_and_check(ex, coarse, of_coarse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode MatrixTransfer<Ex>::download(Ex &ex, const Prolongator<Ex> &M, PetscInt first_coarse, HostRows &out)
{
  Csr<double, Ex> room;
  CsrView<double> diag;

  PetscFunctionBegin;
  PetscCall(M.whole_diag(ex, room, diag));
  PetscCall(download_rows(ex, {diag, M.offd.view(), first_coarse, &M.ghosts}, out));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode MatrixTransfer<Ex>::fold_and_check(Ex &ex, DistMatrix<Ex> &A, LevelSetup<Ex> &of_coarse)
{
  std::array<std::int64_t, 3> any{};
  const auto look = [&] {
    RowCheck check;
    PetscFunctionBegin;
    PetscCall(for_each([&](Prolongator<Ex> &M) { return M.fold(ex); }));
    PetscCall(complete_coarse(ex, A));
    PetscCall(of_coarse.diagonal.allocate(ex, A.rows));
    PetscCall(check_rows(ex, A.diag, A.offd, of_coarse.diagonal.data(), &check));
    any = {(check.all_faults & row_not_finite) != 0, check.negative > 0, check.negative < A.rows};
    PetscFunctionReturn(PETSC_SUCCESS);
  };

  PetscFunctionBegin;
  PetscCall(attempt(A.comm, look, any));
  of_coarse.sound = !any[0] && !(any[1] && any[2]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

AMGKIT_INSTANTIATE_TYPE(class, MatrixTransfer)
} // namespace amgkit
