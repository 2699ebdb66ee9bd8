#include "dist/redistribution.hpp"

#include "dist/mat_view.hpp"
#include "dist/transposed.hpp"
#include "support/petsc_problems.hpp"
#include "support/vectors.hpp"

#include <numeric>

namespace amgkit::test
{
template <class Ex> using RedistributionTest = SpaceTest<Ex>;
TYPED_TEST_SUITE(RedistributionTest, Spaces, SpaceName);

namespace
{
// A matrix whose pattern is not symmetric, on ranks of which one has no rows
template <class Ex> struct Problem {
  Mat mat = nullptr;
  MatView<Ex> view;
  DistMatrix<Ex> A;
  HostCsr whole = random_graph(60, 200, 7, false);

  PetscErrorCode create(Ex &ex)
  {
    const int size = size_of_world(), rank = rank_of_world(), sharing = size > 1 ? size - 1 : 1;
    const int rows = size > 1 && rank == 1 ? 0 : whole.rows / sharing + (rank == 0 ? whole.rows % sharing : 0);
    PetscFunctionBegin;
    PetscCall(distribute(whole, Ex::on_device, &mat, rows));
    PetscCall(view.create(mat, A));
    PetscCall(view.access(ex, A));
    PetscCall(A.allocate(ex));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  std::vector<double> mine(const std::vector<double> &all, const DistMatrix<Ex> &M) const
  {
    return {all.begin() + M.range.first(), all.begin() + M.range.first() + M.rows};
  }
  ~Problem()
  {
    static_cast<void>(view.release());
    static_cast<void>(MatDestroy(&mat));
  }
};

std::vector<double> product(const HostCsr &A, const std::vector<double> &x, bool transposed)
{
  std::vector<double> y(x.size(), 0);
  for (int i = 0; i < A.rows; i++) {
    for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) y[transposed ? A.col[k] : i] += A.val[k] * x[transposed ? i : A.col[k]];
  }
  return y;
}
} // namespace

// The moved matrix's products are the matrix's, for any number of receiving ranks, and again after a change of values.
TYPED_TEST(RedistributionTest, TheMovedMatrixIsTheMatrix)
{
  for (int heads = 1; heads <= size_of_world(); heads++) {
    Problem<TypeParam> problem;
    OK(problem.create(this->ex));
    Redistribution<TypeParam> move;
    auto moved = std::make_unique<DistMatrix<TypeParam>>();
    OK(move.create(this->ex, problem.A, heads));
    for (double scale : {1.0, -3.0}) {
      OK(problem.view.release());
      OK(MatScale(problem.mat, scale));
      OK(problem.view.access(this->ex, problem.A));
      OK(move.move_matrix(this->ex, problem.A, moved.get()));
      if (!move.receives()) continue;
      int size;
      MPI_Comm_size(moved->comm, &size);
      EXPECT_EQ(size, heads);
      EXPECT_EQ(moved->global_rows(), 60);
      OK(moved->stored.create(this->ex, moved->diag, Storage::in_double));
      const auto x = wave(60, 0.4);
      auto expected = product(problem.whole, x, false);
      for (double &entry : expected) entry *= scale;
      const auto X = this->to_space(problem.mine(x, *moved));
      auto Y = X.size() > 0 ? this->to_space(std::vector<double>(moved->rows, 0.0)) : Array<double, TypeParam>{};
      OK(moved->multiply(this->ex, X.data(), Y.data()));
      expect_close(this->to_host(Y), problem.mine(expected, *moved), 1e-13, "A x");
    }
    moved.reset(); // before the communicator it lives on
  }
}

TYPED_TEST(RedistributionTest, VectorsTravelThereAndBack)
{
  for (int heads = 1; heads <= size_of_world(); heads++) {
    Problem<TypeParam> problem;
    OK(problem.create(this->ex));
    Redistribution<TypeParam> move;
    OK(move.create(this->ex, problem.A, heads));
    const auto x = wave(60, 0.4);
    const std::vector<double> mine = problem.mine(x, problem.A);
    const auto part = this->to_space(mine);
    OK(memory_copy(this->ex, move.template part<double>(), part.data(), part.bytes()));
    Array<double, TypeParam> all;
    OK(all.allocate(this->ex, 60));
    OK(move.collect(this->ex, all.data()));
    if (heads == 1 && rank_of_world() == 0) {
      EXPECT_EQ(this->to_host(all), x);
    }
    OK(memory_zero(this->ex, move.template part<double>(), part.bytes()));
    OK(move.spread(this->ex, all.data()));
    EXPECT_EQ(this->to_host(move.template part<double>(), static_cast<std::int64_t>(mine.size())), mine);
  }
}

// y = Aᵀ x, b - Aᵀ x and a relaxation with Aᵀ
TYPED_TEST(RedistributionTest, ATransposedMatrixMultipliesByTheTranspose)
{
  Problem<TypeParam> problem;
  OK(problem.create(this->ex));
  TransposedMatrix<TypeParam> At;
  OK(At.create(this->ex, problem.A));
  const int n = problem.A.rows;
  const auto x = wave(60, 0.4), b = wave(60, 1.3), d = wave(60, 2.1), Atx = product(problem.whole, x, true);
  std::vector<double> residual(60), relaxed(60);
  const RelaxStep step = {0.25, 0.5};
  for (int i = 0; i < 60; i++) {
    residual[i] = b[i] - Atx[i];
    relaxed[i] = x[i] + 0.25 * (x[i] - b[i]) + 0.5 * d[i] * residual[i];
  }
  const auto X = this->to_space(problem.mine(x, problem.A)), B = this->to_space(problem.mine(b, problem.A)),
             D = this->to_space(problem.mine(d, problem.A));
  Array<double, TypeParam> Y;
  OK(Y.allocate(this->ex, n));
  OK(At.multiply(this->ex, X.data(), Y.data()));
  expect_close(this->to_host(Y), problem.mine(Atx, problem.A), 1e-13, "product");
  OK(At.residual(this->ex, B.data(), X.data(), Y.data()));
  expect_close(this->to_host(Y), problem.mine(residual, problem.A), 1e-13, "residual");
  OK(At.relax(this->ex, D.data(), step, B.data(), X.data(), B.data(), Y.data()));
  expect_close(this->to_host(Y), problem.mine(relaxed, problem.A), 1e-13, "relaxation");
}
} // namespace amgkit::test
