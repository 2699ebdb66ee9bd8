#include "dist/galerkin.hpp"

#include "amg/prolongation_matching.hpp"
#include "dist/mat_view.hpp"
#include "sparse/formats/spmv.hpp"
#include "support/petsc_problems.hpp"

#include <cmath>

namespace amgkit::test
{
template <class Ex> using Galerkin = SpaceTest<Ex>;
TYPED_TEST_SUITE(Galerkin, Spaces, SpaceName);

namespace
{
// All entries of a distributed matrix on every rank: own rows by MPI, in dense form.
template <class Ex> PetscErrorCode dense_of(Ex &ex, const DistMatrix<Ex> &A, std::vector<double> &out)
{
  const auto n = static_cast<std::size_t>(A.global_rows());
  const auto first = static_cast<std::size_t>(A.range.first());
  PetscFunctionBegin;
  out.assign(n * n, 0);
  for (bool own : {true, false}) {
    HostCsr block;
    PetscCall(download(ex, own ? A.diag.view() : A.offd, block));
    for (int i = 0; i < block.rows; i++) {
      for (int k = block.ptr[i]; k < block.ptr[i + 1]; k++)
        out[(first + i) * n + (own ? first + block.col[k] : static_cast<std::size_t>(A.ghosts[block.col[k]]))] += block.val[k];
    }
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, out.data(), static_cast<int>(out.size()), MPI_DOUBLE, MPI_SUM, PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

// x_cᵀ A_c y_c = (P x_c)ᵀ A (P y_c) for all unit vectors: A_c is Pᵀ A P, across ranks too.
TYPED_TEST(Galerkin, CoarseMatrixIsPtAP)
{
  for (const auto &[name, M] : gallery()) {
    if (M.rows > 350) continue; // the check is dense
    for (PetscInt steps : {1, 3}) {
      Mat A;
      MatView<TypeParam> view;
      Level<TypeParam> fine, coarse;
      std::vector<double> a, c;
      OK(distribute(M, TypeParam::on_device, &A));
      OK(view.create(A, fine.A));
      OK(view.access(this->ex, fine.A));
      OK(fine.A.allocate(this->ex));
      LevelSetup<TypeParam> of_fine, of_coarse;
      OK(fine.analyse(this->ex, {}, of_fine.diagonal));
      MatchingParameters parameters;
      parameters.matching_steps = steps;
      const auto prolongation = make_matching_prolongation<TypeParam>(parameters);
      OK(prolongation->begin(this->ex, A, fine, of_fine, false));
      OK(prolongation->build(this->ex, fine, of_fine, coarse, of_coarse));
      OK(dense_of(this->ex, fine.A, a));
      OK(dense_of(this->ex, coarse.A, c));
      // P from its action on unit vectors of this rank
      const auto N = static_cast<std::size_t>(fine.A.global_rows()), Nc = static_cast<std::size_t>(coarse.A.global_rows());
      std::vector<double> P(N * Nc, 0.0), PtAP(Nc * Nc, 0.0), AP(N * Nc, 0.0);
      for (int j = 0; j < coarse.A.rows; j++) {
        std::vector<double> unit(coarse.A.rows, 0);
        unit[j] = 1;
        auto e = this->to_space(unit), x = this->to_space(std::vector<double>(fine.A.rows, 0.0));
        OK(fine.transfer->add_correction(this->ex, e.data(), x.data()));
        const auto column = this->to_host(x);
        for (int i = 0; i < fine.A.rows; i++) P[(fine.A.range.first() + i) * Nc + coarse.A.range.first() + j] = column[i];
      }
      MPI_Allreduce(MPI_IN_PLACE, P.data(), static_cast<int>(P.size()), MPI_DOUBLE, MPI_SUM, PETSC_COMM_WORLD);
      for (std::size_t i = 0; i < N; i++) {
        for (std::size_t k = 0; k < N; k++) {
          if (a[i * N + k] == 0) continue;
          for (std::size_t j = 0; j < Nc; j++) AP[i * Nc + j] += a[i * N + k] * P[k * Nc + j];
        }
      }
      for (std::size_t i = 0; i < N; i++) {
        for (std::size_t I = 0; I < Nc; I++) {
          if (P[i * Nc + I] == 0) continue;
          for (std::size_t J = 0; J < Nc; J++) PtAP[I * Nc + J] += P[i * Nc + I] * AP[i * Nc + J];
        }
      }
      for (std::size_t k = 0; k < c.size(); k++) ASSERT_NEAR(c[k], PtAP[k], 1e-9) << name << ", " << steps << " steps";
      OK(view.release());
      OK(MatDestroy(&A));
    }
  }
}
} // namespace amgkit::test
