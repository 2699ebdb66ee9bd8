#include "amg/block_ilu.hpp"

#include "dist/attempt.hpp"
#include "support/failing_allocations.hpp"
#include "support/smoothed_matrix.hpp"

namespace amgkit::test
{
template <class Ex> using BlockIlus = SpaceTest<Ex>;
TYPED_TEST_SUITE(BlockIlus, Spaces, SpaceName);

namespace
{
using Row = std::map<int, double>;

// The factors of each rank's block, by the textbook.
struct Textbook {
  const HostCsr &A;
  std::vector<Row> lu;

  Textbook(const HostCsr &whole, const std::vector<PetscInt> &range) : A(whole), lu(static_cast<std::size_t>(whole.rows))
  {
    const auto owner = [&](int i) { return std::upper_bound(range.begin(), range.end(), i) - range.begin(); };
    for (int i = 0; i < A.rows; i++) {
      for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) {
        if (owner(A.col[k]) == owner(i)) lu[i][A.col[k]] = A.val[k];
      }
      for (auto &[k, l_ik] : lu[i]) {
        if (k >= i) break;
        l_ik /= lu[k][k];
        for (auto &[j, a_ij] : lu[i]) {
          if (j > k && lu[k].count(j) > 0) a_ij -= l_ik * lu[k][j];
        }
      }
    }
  }
  std::vector<double> solve(std::vector<double> x) const
  {
    for (int i = 0; i < A.rows; i++) {
      for (const auto &[j, l_ij] : lu[i]) x[i] -= j < i ? l_ij * x[j] : 0;
    }
    for (int i = A.rows - 1; i >= 0; i--) {
      for (const auto &[j, u_ij] : lu[i]) x[i] -= j > i ? u_ij * x[j] : 0;
      x[i] /= lu[i].at(i);
    }
    return x;
  }
  std::vector<double> solve_transposed(std::vector<double> x) const
  {
    for (int i = 0; i < A.rows; i++) {
      x[i] /= lu[i].at(i);
      for (const auto &[j, u_ij] : lu[i]) x[j] -= j > i ? u_ij * x[i] : 0;
    }
    for (int i = A.rows - 1; i >= 0; i--) {
      for (const auto &[j, l_ij] : lu[i]) x[j] -= j < i ? l_ij * x[i] : 0;
    }
    return x;
  }
  // x <- x + (L U)⁻¹ (b - A x), or all of it transposed
  void sweep(bool transposed, const std::vector<double> &b, std::vector<double> &x) const
  {
    std::vector<double> r = b;
    for (int i = 0; i < A.rows; i++) {
      for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) {
        if (transposed)
          r[A.col[k]] -= A.val[k] * x[i];
        else
          r[i] -= A.val[k] * x[A.col[k]];
      }
    }
    r = transposed ? solve_transposed(r) : solve(r);
    for (int i = 0; i < A.rows; i++) x[i] += r[i];
  }
};

double &entry(HostCsr &A, int i, int j)
{
  return A.val[std::lower_bound(A.col.begin() + A.ptr[i], A.col.begin() + A.ptr[i + 1], j) - A.col.begin()];
}

struct Spoiled {
  const char *name, *trouble;
  int row; // with the fault
  HostCsr A;
};

// Rows of the last plane of a 4 x 3 x 8 grid with faults of every kind
std::vector<Spoiled> spoiled(const HostCsr &good)
{
  const auto cut_off = [](HostCsr &A, int i) {
    for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) A.val[k] = entry(A, A.col[k], i) = 0;
  };
  HostCsr zero = good, nan = good, sign = good, growth = good, divergence = good;
  cut_off(zero, 95);
  entry(nan, 94, 95) = NAN;
  entry(sign, 95, 95) = 0.01;
  cut_off(growth, 94);
  cut_off(growth, 95);
  entry(growth, 94, 94) = 1;
  entry(growth, 94, 95) = entry(growth, 95, 94) = -1;
  entry(growth, 95, 95) = 1 + 0x1p-52;
  const int ring[] = {84, 85, 89, 88}; // for itself an indefinite matrix, whose pivots are positive
  for (const int i : ring) cut_off(divergence, i);
  for (int t = 0; t < 4; t++) {
    const int i = ring[t], j = ring[(t + 1) % 4];
    entry(divergence, i, i) = 1;
    entry(divergence, i, j) = entry(divergence, j, i) = 0.55;
  }
  return {{"zero", "has a zero pivot", 95, zero},
          {"NaN", "is not finite", 94, nan},
          {"other sign", "another sign", 95, sign},
          {"growth", "solves that grow", 94, growth},
          {"divergence", "has an error that grows", 84, divergence}};
}
} // namespace

TYPED_TEST(BlockIlus, SweepsAreTheFormula)
{
  for (const auto &[name, M] : smoothed_matrices()) {
    for (const PetscInt rows : layouts(M.rows)) {
      Smoothed<TypeParam> level;
      OK(level.create(this->ex, M, rows));
      ASSERT_EQ(level.smoother.remark(), "") << name;
      const Textbook textbook(M, level.matrix.A.range);
      const auto b = wave(M.rows);
      for (const bool transposed : {false, true}) {
        for (const bool zero_guess : {false, true}) {
          for (const PetscInt sweeps : {0, 1, 3}) {
            std::vector<double> expected(b.size(), zero_guess ? 0 : 0.25), x(level.mine(b).size(), zero_guess ? NAN : 0.25);
            for (PetscInt s = 0; s < sweeps; s++) textbook.sweep(transposed, b, expected);
            OK(level.sweep(this->ex, transposed, sweeps, zero_guess ? Guess::zero : Guess::given, level.mine(b), x));
            const auto part = level.mine(expected);
            for (std::size_t i = 0; i < part.size(); i++) {
              ASSERT_NEAR(x[i], part[i], 1e-12 * (1 + largest(expected))) << name << ", row " << i << transposed << zero_guess << sweeps;
            }
          }
        }
      }
    }
  }
}

// One bad row, of the last rank that has any: all ranks take l1-Jacobi and know why, and come back when its values are better.
TYPED_TEST(BlockIlus, FactorsThatAreNoGoodAreRefusedOnAllRanks)
{
  const HostCsr good = grid7(4, 3, 8);
  for (const Spoiled &c : spoiled(good)) {
    for (const double scale : {0x1p-400, 1.0, 0x1p400}) {
      HostCsr M = c.A;
      for (double &value : M.val) value *= scale;
      for (const PetscInt rows : layouts(M.rows)) {
        Smoothed<TypeParam> level, jacobi, better;
        OK(level.create(this->ex, M, rows));
        OK(jacobi.create(this->ex, M, rows, SmootherKind::l1jacobi));
        EXPECT_NE(level.smoother.remark().find("row " + std::to_string(c.row) + " "), std::string::npos) << level.smoother.remark();
        EXPECT_NE(level.smoother.remark().find(c.trouble), std::string::npos) << level.smoother.remark();
        EXPECT_EQ(level.smoother.bytes(), jacobi.smoother.bytes());
        const auto b = level.mine(wave(M.rows));
        std::vector<double> x = b, y = b;
        OK(level.sweep(this->ex, false, 2, Guess::zero, b, x));
        OK(jacobi.sweep(this->ex, false, 2, Guess::zero, b, y));
        if (std::string(c.name) != "NaN") {
          EXPECT_EQ(x, y);
          for (const double x_i : x) EXPECT_TRUE(std::isfinite(x_i)) << c.name;
        }
        OK(better.create(this->ex, good, rows));
        std::swap(level.matrix.A.diag, better.matrix.A.diag);
        std::swap(level.matrix.A.offd, better.matrix.A.offd);
        OK(level.matrix.A.store_values(this->ex, Storage::in_double));
        OK(level.prepare(this->ex));
        EXPECT_EQ(level.smoother.remark(), "");
        EXPECT_EQ(level.smoother.bytes(), better.smoother.bytes());
      }
    }
  }
}

TYPED_TEST(BlockIlus, ARowWithoutADiagonalEntryIsNamed)
{
  std::map<std::pair<int, int>, double> entries;
  for (int i = 0; i < 10; i++) {
    if (i != 7) entries[{i, i}] = 2;
    if (i > 0) entries[{i, i - 1}] = -1;
  }
  for (const PetscInt rows : layouts(10)) {
    Smoothed<TypeParam> level;
    OK(level.create(this->ex, make_csr(10, 10, entries), rows));
    EXPECT_EQ(level.smoother.remark(), "l1jacobi, as with ILU(0) row 7 has no diagonal entry");
  }
}

// With the analysis that is there, and transposed solves follow; the same bits as anew.
TYPED_TEST(BlockIlus, NewValuesOnTheSamePattern)
{
  const HostCsr first = grid7(6, 5, 4), second = skewed(first);
  for (const PetscInt rows : layouts(first.rows)) {
    Smoothed<TypeParam> kept, anew;
    OK(kept.create(this->ex, first, rows));
    OK(anew.create(this->ex, second, rows));
    const auto b = kept.mine(wave(first.rows));
    for (const bool transposed : {true, false}) {
      std::vector<double> x = b, y = b;
      OK(kept.sweep(this->ex, transposed, 1, Guess::zero, b, x)); // makes the transposes
      std::swap(kept.matrix.A.diag, anew.matrix.A.diag);
      OK(kept.prepare(this->ex));
      OK(kept.sweep(this->ex, transposed, 1, Guess::zero, b, x));
      std::swap(kept.matrix.A.diag, anew.matrix.A.diag);
      OK(anew.sweep(this->ex, transposed, 1, Guess::zero, b, y));
      EXPECT_EQ(x, y) << transposed;
    }
  }
}

TEST(BlockIluMemory, EveryAllocationMayFailOnOneRank)
{
  Debug ex;
  Smoothed<Debug> level;
  OK(level.create(ex, grid7(4, 3, 4), -1));
  FailingAllocations failing;
  for (bool more = true; more;) {
    BlockIlu<Debug> ilu;
    Array<double, Debug> a, d;
    OK(a.allocate(ex, level.matrix.A.rows));
    OK(d.allocate(ex, level.matrix.A.rows));
    OK(diagonal_and_l1(ex, level.matrix.A.diag, level.matrix.A.offd, a.data(), d.data()));
    more = failing.run(ex, [&] {
      PetscFunctionBegin;
      PetscCall(ilu.factor(ex, level.matrix.A, d.data()));
      PetscCall(attempt(PETSC_COMM_WORLD, [&] { return ilu.transpose(ex, level.matrix.A); }));
      PetscFunctionReturn(PETSC_SUCCESS);
    });
  }
  EXPECT_GT(failing.failures(), 20);
}
} // namespace amgkit::test
