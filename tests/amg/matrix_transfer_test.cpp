#include "amg/matrix_transfer.hpp"

#include "amg/export.hpp"
#include "dist/attempt.hpp"
#include "sparse/formats/spmv.hpp"
#include "support/amg_solver.hpp"
#include "support/coarse_problem.hpp"
#include "support/failing_allocations.hpp"
#include "support/vectors.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace amgkit::test
{
template <class Ex> using MatrixTransferTest = SpaceTest<Ex>;
TYPED_TEST_SUITE(MatrixTransferTest, Spaces, SpaceName);

namespace
{
// P's rows of one rank.
struct Weights {
  std::vector<int> own_ptr = {0}, own_col, other_ptr = {0};
  std::vector<PetscInt> other; // global
  std::vector<double> own_val, other_val;
};
Weights weights_of(const HostRows &A, PetscInt first, double factor)
{
  const PetscInt first_coarse = (first + 2) / 3, end_coarse = (first + static_cast<PetscInt>(A.ptr.size()) - 1 + 2) / 3;
  Weights P;
  for (std::size_t i = 0; i + 1 < A.ptr.size(); i++) {
    const PetscInt here = first + static_cast<PetscInt>(i);
    double sum = 0;
    for (PetscInt k = A.ptr[i]; k < A.ptr[i + 1]; k++) sum += A.col[k] % 3 == 0 ? std::abs(A.val[k]) : 0;
    for (PetscInt k = A.ptr[i]; k < A.ptr[i + 1]; k++) {
      const PetscInt J = A.col[k] / 3;
      if (A.col[k] % 3 != 0 || (here % 3 == 0 && A.col[k] != here)) continue;
      const bool own = J >= first_coarse && J < end_coarse;
      if (own) P.own_col.push_back(static_cast<int>(J - first_coarse));
      if (!own) P.other.push_back(J);
      (own ? P.own_val : P.other_val).push_back(here % 3 == 0 ? 1 : factor * std::abs(A.val[k]) / sum);
    }
    P.own_ptr.push_back(static_cast<int>(P.own_col.size()));
    P.other_ptr.push_back(static_cast<int>(P.other.size()));
  }
  return P;
}

// Every third row of the whole matrix is a coarse point; the others interpolate from those that they are coupled to, weighted by the
// couplings, on whatever rank they are.
template <class Ex> class EveryThird final : public Prolongation<Ex> {
public:
  // factor: what R has in place of Pᵀ's entries outside the coarse points' own columns, times theirs; 1: R is Pᵀ.
  explicit EveryThird(double factor = 1) : factor_(factor) {}

  PetscErrorCode build(Ex &ex, Level<Ex> &fine, LevelSetup<Ex> &, Level<Ex> &coarse, LevelSetup<Ex> &of_coarse) override
  {
    auto transfer = std::make_unique<MatrixTransfer<Ex>>();

    PetscFunctionBegin;
    PetscCall(attempt_weights(ex, fine.A, 1, transfer->P));
    if (factor_ != 1) PetscCall(attempt_weights(ex, fine.A, factor_, *(transfer->R_transposed = std::make_unique<Prolongator<Ex>>())));
    transfer->P.in_single = this->in_single_;
    PetscCall(transfer->create(ex, ProductForm::two_products, {}, fine.A, coarse.A, of_coarse));
    PetscCall(attempt(fine.A.comm, [&] { return set_smooth_vector(ex, coarse.A.rows); }));
    fine.transfer = std::move(transfer);
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  static PetscErrorCode attempt_weights(Ex &ex, const DistMatrix<Ex> &A, double factor, Prolongator<Ex> &P)
  {
    return attempt(A.comm, [&] {
      HostRows rows;
      PetscFunctionBegin;
      PetscCall(download_rows(ex, rows_of(A), rows));
      PetscCall(take(ex, weights_of(rows, A.range.first(), factor), A, P));
      PetscFunctionReturn(PETSC_SUCCESS);
    });
  }
  static PetscErrorCode take(Ex &ex, const Weights &weights, const DistMatrix<Ex> &A, Prolongator<Ex> &P)
  {
    std::vector<int> other_col;

    PetscFunctionBegin;
    P.ghosts = weights.other;
    std::sort(P.ghosts.begin(), P.ghosts.end());
    P.ghosts.erase(std::unique(P.ghosts.begin(), P.ghosts.end()), P.ghosts.end());
    for (const PetscInt J : weights.other)
      other_col.push_back(static_cast<int>(std::lower_bound(P.ghosts.begin(), P.ghosts.end(), J) - P.ghosts.begin()));
    P.diag.rows = P.offd.rows = A.rows;
    P.diag.cols = static_cast<int>((A.range.first() + A.rows + 2) / 3 - (A.range.first() + 2) / 3);
    P.offd.cols = static_cast<int>(P.ghosts.size());
    PetscCall(upload(ex, weights.own_ptr, P.diag.ptr));
    PetscCall(upload(ex, weights.own_col, P.diag.col));
    PetscCall(upload(ex, weights.own_val, P.diag.val));
    PetscCall(upload(ex, weights.other_ptr, P.offd.ptr));
    PetscCall(upload(ex, other_col, P.offd.col));
    PetscCall(upload(ex, weights.other_val, P.offd.val));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode set_smooth_vector(Ex &ex, int rows)
  {
    PetscFunctionBegin;
    PetscCall(this->smooth_vector_.allocate(ex, rows));
    PetscCall(fill(ex, rows, 1, this->smooth_vector_.data()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  double factor_;
};

template <class Ex> struct Solver : AmgSolver<Ex> {
  PetscErrorCode create(Ex &ex, const HostCsr &M, PetscInt limit, double factor = 1)
  {
    EveryThird<Ex> prolongation(factor);
    AmgParameters p;
    p.coarse_eq_limit = 20;
    p.process_eq_limit = limit;
    p.cycle_type = CycleKind::v;
    return AmgSolver<Ex>::create(ex, M, p, prolongation);
  }
  // x = B b, or Bᵀ b
  PetscErrorCode apply(Ex &ex, bool single, bool transposed, const std::vector<double> &b, std::vector<double> &x)
  {
    return transposed ? this->apply_transposed(ex, CycleKind::v, b, x) : AmgSolver<Ex>::apply(ex, {CycleKind::v, single}, b, x);
  }
};

std::vector<double> part(const std::vector<double> &x, PetscInt first, int n) { return {x.begin() + first, x.begin() + first + n}; }

// Both products with vectors of V.
template <class V, class Ex> void check_products(Ex &ex, DistributedProblem<Ex> &problem, Transfer<Ex> &transfer, double tolerance)
{
  const HostCsr &P = problem.whole_P;
  const int rows = problem.P.diag.rows, points = problem.P.diag.cols;
  const auto r = wave(P.rows, 0.7), e = wave(P.cols, 0.4), x = wave(P.rows, 1.9);
  std::vector<double> Ptr(P.cols, 0.0), raised = x;
  add_product(P, true, r, Ptr);
  add_product(P, false, e, raised);
  Array<V, Ex> R, E, X, B, first;
  Array<float, Ex> D;
  std::vector<V> got, stepped;
  OK(upload(ex, rounded<V>(part(r, problem.first_row(), rows)), R));
  OK(upload(ex, rounded<V>(part(e, problem.first_point(), points)), E));
  OK(upload(ex, rounded<V>(part(x, problem.first_row(), rows)), X));
  OK(upload(ex, std::vector<V>(points, V(NAN)), B));
  const V *residual = R.data(), *correction = E.data();
  const auto d = rounded<float>(wave(points, 0.2));
  OK(upload(ex, d, D));
  OK(first.allocate(ex, points));
  OK(transfer.restrict_residual(ex, residual, B.data(), {points, 0.75, nullptr, D.data(), first.data()}));
  OK(download(ex, B.data(), B.size(), got));
  OK(download(ex, first.data(), first.size(), stepped));
  for (std::size_t i = 0; i < d.size(); i++) EXPECT_EQ(stepped[i], static_cast<V>(0.75 * static_cast<double>(d[i]) * got[i])) << i;
  expect_close(rounded<double>(got), part(Ptr, problem.first_point(), points), tolerance, "Pᵀ r");
  OK(transfer.add_correction(ex, correction, X.data()));
  OK(download(ex, X.data(), X.size(), got));
  expect_close(rounded<double>(got), part(raised, problem.first_row(), rows), tolerance, "x + P e");
}
} // namespace

TYPED_TEST(MatrixTransferTest, ItsProductsAreThoseOfP)
{
  for_coarse_problems([&](const CoarseProblem &of, Split rows, Split points) {
    DistributedProblem<TypeParam> problem(of, rows, points);
    MatrixTransfer<TypeParam> transfer;
    DistMatrix<TypeParam> coarse;
    LevelSetup<TypeParam> of_coarse;
    bool fits = true;
    OK(problem.distribute(this->ex));
    OK(problem.set_prolongator(this->ex, transfer.P.diag, transfer.P.offd, transfer.P.ghosts));
    transfer.P.values_change = true;
    OK(transfer.create(this->ex, ProductForm::two_products, {}, problem.A, coarse, of_coarse));
    OK(transfer.prepare_single(this->ex, &fits));
    EXPECT_TRUE(fits);
    for (const double factor : {1.0, -3.0}) { // the second time with new weights
      for (double &value : problem.whole_P.val) value *= factor;
      OK(problem.set_prolongator(this->ex, transfer.P.diag, transfer.P.offd, transfer.P.ghosts));
      OK(transfer.reweight(this->ex));
      check_products<double>(this->ex, problem, transfer, 1e-13);
      check_products<float>(this->ex, problem, transfer, 1e-5);
    }
  });
}

// <Pᵀ r, e> = <r, P e>
TYPED_TEST(MatrixTransferTest, RestrictionIsTheTranspose)
{
  const CoarseProblem of = {"grid", grid7(6, 5, 4), random_prolongator(120, 31, 5, 2)};
  DistributedProblem<TypeParam> problem(of, Split::even, Split::even);
  MatrixTransfer<TypeParam> transfer;
  DistMatrix<TypeParam> coarse;
  LevelSetup<TypeParam> of_coarse;
  OK(problem.distribute(this->ex));
  OK(problem.set_prolongator(this->ex, transfer.P.diag, transfer.P.offd, transfer.P.ghosts));
  OK(transfer.create(this->ex, ProductForm::at_once, {}, problem.A, coarse, of_coarse));
  const int rows = problem.A.rows, points = coarse.rows;
  const auto r = part(wave(120, 0.7), problem.first_row(), rows), e = part(wave(31, 0.4), problem.first_point(), points);
  const auto R = this->to_space(r), E = this->to_space(e);
  auto Ptr = this->to_space(std::vector<double>(points, 0.0)), Pe = this->to_space(std::vector<double>(rows, 0.0));
  OK(transfer.restrict_residual(this->ex, R.data(), Ptr.data(), {}));
  OK(transfer.add_correction(this->ex, E.data(), Pe.data()));
  const double one = dot(this->to_host(Ptr), e), other = dot(r, this->to_host(Pe));
  EXPECT_NEAR(one, other, 1e-13 * (1 + std::abs(one)));
}

TYPED_TEST(MatrixTransferTest, KnowsItsRows)
{
  for_coarse_problems([&](const CoarseProblem &of, Split rows, Split points) {
    DistributedProblem<TypeParam> problem(of, rows, points);
    MatrixTransfer<TypeParam> transfer;
    HostRows got;
    OK(problem.set_prolongator(this->ex, transfer.P.diag, transfer.P.offd, transfer.P.ghosts));
    OK(transfer.rows(this->ex, problem.first_point(), got));
    const int first = problem.first_row(), n = transfer.P.diag.rows;
    ASSERT_EQ(got.ptr.size(), static_cast<std::size_t>(n) + 1);
    const int begin = of.P.ptr[first], end = of.P.ptr[first + n];
    for (int i = 0; i <= n; i++) EXPECT_EQ(got.ptr[i], of.P.ptr[first + i] - begin);
    EXPECT_TRUE(std::equal(got.col.begin(), got.col.end(), of.P.col.begin() + begin, of.P.col.begin() + end));
    EXPECT_TRUE(std::equal(got.val.begin(), got.val.end(), of.P.val.begin() + begin, of.P.val.begin() + end));
  });
}

TYPED_TEST(MatrixTransferTest, WeightsBeyondFloatsAreNotForThem)
{
  for (const double entry : {1e19, 1e-40, 1.0}) {
    MatrixTransfer<TypeParam> transfer;
    bool fits = true;
    OK(upload(this->ex, make_csr(1, 1, {{{0, 0}, 1}}), transfer.P.diag));
    OK(upload(this->ex, make_csr(1, 1, {{{0, 0}, entry}}), transfer.P.offd));
    OK(transfer.prepare_single(this->ex, &fits));
    EXPECT_EQ(fits, entry == 1);
  }
}

namespace
{
// What a transfer gives that may keep its weights in single precision.
template <class Ex, class V>
void products_of(Ex &ex, MatrixTransfer<Ex> &transfer, int rows, int points, std::vector<V> &Ptr, std::vector<V> &Pe)
{
  Array<V, Ex> r, e, b, x;
  OK(upload(ex, rounded<V>(wave(rows, 0.7)), r));
  OK(upload(ex, rounded<V>(wave(points, 0.4)), e));
  OK(upload(ex, std::vector<V>(points, V(NAN)), b));
  OK(upload(ex, std::vector<V>(rows, V(0)), x));
  const V *residual = r.data(), *correction = e.data();
  OK(transfer.restrict_residual(ex, residual, b.data(), {}));
  OK(transfer.add_correction(ex, correction, x.data()));
  OK(download(ex, b.data(), points, Ptr));
  OK(download(ex, x.data(), rows, Pe));
}
} // namespace

namespace
{
// As round_rows(), of a matrix that one rank has
void round_by_hand(HostCsr &P)
{
  for (int i = 0; i < P.rows; i++) {
    const auto begin = P.val.begin() + P.ptr[i], end = P.val.begin() + P.ptr[i + 1];
    const auto largest = std::max_element(begin, end, [](double a, double b) { return std::abs(a) < std::abs(b); });
    if (begin == end || *largest == 0) continue;
    const double q = std::ldexp(1, std::ilogb(*largest) - 22), sum = std::rint(std::accumulate(begin, end, 0.0) / q) * q;
    std::for_each(begin, end, [q](double &value) { value = std::rint(value / q) * q; });
    *largest += sum - std::accumulate(begin, end, 0.0);
  }
}
} // namespace

// The same coarse matrix and rows, bit by bit, and the same products as of weights that are rounded from the beginning, folded and
// unfolded.
TYPED_TEST(MatrixTransferTest, KeepsRoundedWeightsInSingle)
{
  int folded_ones = 0;
  for_coarse_problems([&](const CoarseProblem &of, Split rows, Split points) {
    CoarseProblem by_hand = of;
    round_by_hand(by_hand.P);
    DistributedProblem<TypeParam> problem(of, rows, points), other_problem(by_hand, rows, points);
    MatrixTransfer<TypeParam> transfer, other;
    DistMatrix<TypeParam> coarse, other_coarse;
    LevelSetup<TypeParam> of_coarse;
    std::vector<double> got, expected;
    OK(problem.distribute(this->ex));
    OK(other_problem.distribute(this->ex));
    OK(problem.set_prolongator(this->ex, transfer.P.diag, transfer.P.offd, transfer.P.ghosts));
    OK(other_problem.set_prolongator(this->ex, other.P.diag, other.P.offd, other.P.ghosts));
    transfer.P.in_single = true;
    OK(transfer.create(this->ex, ProductForm::two_products, {}, problem.A, coarse, of_coarse));
    OK(other.create(this->ex, ProductForm::two_products, {}, other_problem.A, other_coarse, of_coarse));
    folded_ones += transfer.P.folded();
    OK(download(this->ex, coarse.own_diag.val.data(), coarse.diag.nnz, got));
    OK(download(this->ex, other_coarse.own_diag.val.data(), other_coarse.diag.nnz, expected));
    EXPECT_EQ(got, expected);
    for (const bool folded : {true, false}) {
      std::vector<double> b[2], x[2];
      std::vector<float> b_single[2], x_single[2];
      HostRows P[2];
      if (!folded) {
        OK(transfer.P.unfold(this->ex));
      }
      for (MatrixTransfer<TypeParam> *of_them : {&transfer, &other}) {
        const int k = of_them == &other;
        products_of(this->ex, *of_them, problem.A.rows, coarse.rows, b[k], x[k]);
        products_of(this->ex, *of_them, problem.A.rows, coarse.rows, b_single[k], x_single[k]);
        OK(of_them->rows(this->ex, problem.first_point(), P[k]));
      }
      expect_close(b[0], b[1], 1e-14, "R r");
      expect_close(x[0], x[1], 1e-14, "x + P e");
      expect_close(rounded<double>(b_single[0]), rounded<double>(b_single[1]), 1e-6, "R r in single");
      expect_close(rounded<double>(x_single[0]), rounded<double>(x_single[1]), 1e-6, "x + P e in single");
      EXPECT_EQ(P[0].col, P[1].col);
      EXPECT_EQ(P[0].val, P[1].val);
    }
  });
  EXPECT_EQ(folded_ones > 0, TypeParam::sliced_rows);
}

// With an exact product only the cycle's P and R are rounded: the coarse matrix is that of P in double, which stays where its values do.
TYPED_TEST(MatrixTransferTest, MayRoundForTheCycleAlone)
{
  for_coarse_problems([&](const CoarseProblem &of, Split rows, Split points) {
    for (const bool values_change : {false, true}) {
      DistributedProblem<TypeParam> problem(of, rows, points);
      MatrixTransfer<TypeParam> transfer, other;
      DistMatrix<TypeParam> coarse, other_coarse;
      LevelSetup<TypeParam> of_coarse;
      std::vector<double> got, expected, b[2], x[2];
      OK(problem.distribute(this->ex));
      for (MatrixTransfer<TypeParam> *of_them : {&transfer, &other}) {
        const bool rounds = of_them == &transfer;
        auto &made = rounds ? coarse : other_coarse;
        OK(problem.set_prolongator(this->ex, of_them->P.diag, of_them->P.offd, of_them->P.ghosts));
        of_them->P.values_change = values_change;
        of_them->P.in_single = of_them->P.exact_product = rounds;
        OK(of_them->create(this->ex, ProductForm::two_products, {}, problem.A, made, of_coarse));
        products_of(this->ex, *of_them, problem.A.rows, made.rows, b[rounds], x[rounds]);
      }
      OK(download(this->ex, coarse.own_diag.val.data(), coarse.diag.nnz, got));
      OK(download(this->ex, other_coarse.own_diag.val.data(), other_coarse.diag.nnz, expected));
      EXPECT_EQ(got, expected);
      expect_close(b[0], b[1], 1e-6, "R r");
      expect_close(x[0], x[1], 1e-6, "x + P e");
      if (values_change) continue;
      EXPECT_FALSE(transfer.P.folded());
      OK(transfer.P.unfold(this->ex));
      EXPECT_EQ(this->to_host(transfer.P.diag.val), this->to_host(other.P.diag.val));
    }
  });
}

// Folded, a prolongator takes fewer bytes than its weights and columns did.
TYPED_TEST(MatrixTransferTest, TakesFewerBytesInSingle)
{
  std::size_t bytes[2], entries = 0;
  for (const bool in_single : {false, true}) {
    DistributedProblem<TypeParam> problem({"grid", grid7(20, 20, 20), random_prolongator(8000, 1000, 5, 2)}, Split::even, Split::even);
    MatrixTransfer<TypeParam> transfer;
    DistMatrix<TypeParam> coarse;
    LevelSetup<TypeParam> of_coarse;
    OK(problem.distribute(this->ex));
    OK(problem.set_prolongator(this->ex, transfer.P.diag, transfer.P.offd, transfer.P.ghosts));
    transfer.P.in_single = in_single;
    entries = static_cast<std::size_t>(transfer.P.diag.col.size());
    OK(transfer.create(this->ex, ProductForm::two_products, {}, problem.A, coarse, of_coarse));
    bytes[in_single] = transfer.P.bytes();
    EXPECT_EQ(transfer.P.folded(), in_single && TypeParam::sliced_rows);
  }
  // of P's own block and of its transpose, 12 bytes an entry each
  EXPECT_TRUE(!TypeParam::sliced_rows || bytes[false] > bytes[true] + 6 * entries);
}

// Weights that are no floats stay what they are.
TYPED_TEST(MatrixTransferTest, KeepsOtherWeightsInDouble)
{
  CoarseProblem of = {"grid", grid7(6, 5, 4), random_prolongator(120, 31, 5, 2)};
  for (double &value : of.P.val) value *= 1e-41;
  DistributedProblem<TypeParam> problem(of, Split::even, Split::even);
  MatrixTransfer<TypeParam> transfer;
  DistMatrix<TypeParam> coarse;
  LevelSetup<TypeParam> of_coarse;
  HostRows P;
  OK(problem.distribute(this->ex));
  OK(problem.set_prolongator(this->ex, transfer.P.diag, transfer.P.offd, transfer.P.ghosts));
  transfer.P.in_single = true;
  OK(transfer.create(this->ex, ProductForm::two_products, {}, problem.A, coarse, of_coarse));
  EXPECT_FALSE(transfer.P.folded());
  OK(transfer.rows(this->ex, problem.first_point(), P));
  const int begin = of.P.ptr[problem.first_row()];
  EXPECT_TRUE(std::equal(P.val.begin(), P.val.end(), of.P.val.begin() + begin));
}

// In a hierarchy, also with coarse levels on fewer ranks, and with an R of its own: where R = Pᵀ, a symmetric positive cycle, of whose
// transpose and single precision the same is said as of other methods'.
TYPED_TEST(MatrixTransferTest, MakesACycle)
{
  for (const PetscInt limit : {1, 60, 100000}) {
    for (const auto &[symmetric, factor] : {std::pair{true, 1.0}, {false, 1.0}, {false, 0.5}}) {
      const HostCsr A = symmetric ? grid7(11, 10, 9) : one_sided(grid7(11, 10, 9));
      Solver<TypeParam> solver;
      OK(solver.create(this->ex, A, limit, factor));
      ASSERT_GE(solver.hierarchy.statistics.size(), 3U);
      const auto u = solver.wave(0.3), v = solver.wave(1.1);
      std::vector<double> Bu, Bv, Btv, in_single;
      OK(solver.apply(this->ex, false, false, u, Bu));
      OK(solver.apply(this->ex, false, false, v, Bv));
      OK(solver.apply(this->ex, false, true, v, Btv));
      const double size = std::sqrt(dot(Bu, Bu) * dot(v, v));
      EXPECT_NEAR(dot(Bu, v), dot(u, Btv), 1e-6 * size); // matrices are stored in single precision, and transposed in double
      if (symmetric) {
        EXPECT_NEAR(dot(Bu, v), dot(u, Bv), 1e-12 * size);
        EXPECT_GT(dot(Bu, u), 0);
      }
      ASSERT_EQ(solver.cycle.single(), TypeParam::sliced_rows);
      if (!TypeParam::sliced_rows) continue;
      OK(solver.apply(this->ex, true, false, u, in_single));
      for (std::size_t i = 0; i < in_single.size(); i++) in_single[i] -= Bu[i];
      EXPECT_LE(std::sqrt(dot(in_single, in_single)), 1e-5 * std::sqrt(dot(Bu, Bu)));
      EXPECT_GT(dot(in_single, in_single), 0);
    }
  }
}

// The exported levels tell of an R of its own, and are R A P; of Pᵀ they do not speak.
TYPED_TEST(MatrixTransferTest, IsExportedWithItsRestriction)
{
  for (const double factor : {1.0, 0.5}) {
    Solver<TypeParam> solver;
    LevelMats levels;
    OK(solver.create(this->ex, one_sided(grid7(11, 10, 9)), 60, factor));
    OK(export_levels(this->ex, solver.hierarchy, MATAIJ, levels));
    ASSERT_GE(levels.operators.size(), 2U);
    for (std::size_t l = 0; l < levels.operators.size(); l++) {
      ASSERT_EQ(levels.restrictions[l] != nullptr, factor != 1);
      Mat fine = l == 0 ? static_cast<Mat>(solver.A) : levels.operators[l - 1], P = levels.interpolations[l];
      OwnedMat AP, product, host;
      PetscReal difference, size;
      OK(MatConvert(fine, MATAIJ, MAT_INITIAL_MATRIX, host.out()));
      OK(MatMatMult(host, P, MAT_INITIAL_MATRIX, PETSC_DEFAULT, AP.out()));
      OK(MatTransposeMatMult(factor == 1 ? P : levels.restrictions[l], AP, MAT_INITIAL_MATRIX, PETSC_DEFAULT, product.out()));
      OK(MatAXPY(product, -1, levels.operators[l], DIFFERENT_NONZERO_PATTERN));
      OK(MatNorm(product, NORM_FROBENIUS, &difference));
      OK(MatNorm(levels.operators[l], NORM_FROBENIUS, &size));
      EXPECT_LE(difference, 1e-6 * size); // P may be rounded to single precision
    }
  }
}

// With other values of A and the prolongators of before; back with the first ones the cycle is what it was.
TYPED_TEST(MatrixTransferTest, IsRefreshedWithTheHierarchy)
{
  for (const PetscInt limit : {1, 60, 100000}) {
    Solver<TypeParam> solver;
    OK(solver.create(this->ex, grid7(11, 10, 9), limit));
    const auto u = solver.wave(0.3);
    std::vector<double> before, between, after;
    bool fits = false;
    OK(solver.apply(this->ex, false, false, u, before));
    OK(MatScale(solver.A, 4));
    OK(solver.refresh(this->ex, &fits));
    ASSERT_TRUE(fits);
    OK(solver.apply(this->ex, false, false, u, between));
    for (double &entry : between) entry *= 4;
    expect_close(between, before, 1e-12, "cycle for 4 A");
    OK(MatScale(solver.A, 0.25));
    OK(solver.refresh(this->ex, &fits));
    OK(solver.apply(this->ex, false, false, u, after));
    EXPECT_EQ(after, before);
  }
}

// Each allocation in turn fails on the last rank, of the setup or of a refresh; all ranks learn of it.
TEST(MatrixTransferFailure, EveryAllocationMayFailOnOneRank)
{
  OwnedMat A;
  OK(distribute(grid7(5, 4, 4), false, A.out()));
  for (const bool of_refresh : {false, true}) {
    FailingAllocations failing(true); // columns that are kept, and the places of products
    for (bool more = true; more;) {
      Debug ex;
      AmgParameters parameters;
      bool fits = true;
      Hierarchy<Debug> hierarchy;
      parameters.coarse_eq_limit = 10;
      parameters.process_eq_limit = 15;
      EveryThird<Debug> prolongation;
      if (of_refresh) {
        OK(hierarchy.build(ex, A, parameters, prolongation));
      }
      more = failing.run(
          ex, [&] { return of_refresh ? hierarchy.refresh(ex, parameters, &fits) : hierarchy.build(ex, A, parameters, prolongation); });
      EXPECT_TRUE(fits);
    }
    EXPECT_GE(failing.failures(), of_refresh ? 5 : 50);
  }
}
} // namespace amgkit::test
