// Smoothers of matrices with tied rows: sparse/rows/tied_rows.hpp.
#include "amg/chebyshev.hpp"
#include "support/flat_elements.hpp"
#include "support/smoothed_matrix.hpp"
#include "support/vectors.hpp"

#include <cmath>

namespace amgkit::test
{
namespace
{
// Flat elements whose rows are scattered over the ranks, symmetric or not
std::vector<Named> tied_matrices()
{
  return {{"flat", with_flat_elements(8, 0.98)}, {"nonsymmetric", with_lower_times(0.98, with_flat_elements(8, 0.9))}};
}

template <class Ex> struct TiedLevel : Smoothed<Ex> {
  PetscErrorCode create(Ex &ex, const HostCsr &whole, PetscInt local_rows, SmootherKind kind)
  {
    this->coupling = HUGE_VAL;
    return Smoothed<Ex>::create(ex, whole, local_rows, kind);
  }
};

// The groups, and M⁻¹ by them, from the rows of one rank each.
struct BlockReference {
  HostCsr A;
  std::vector<std::vector<double>> inverse; // a row a row

  BlockReference(const HostCsr &whole, const std::vector<PetscInt> &range) : A(whole), inverse(whole.rows)
  {
    Host ex;
    for (std::size_t r = 0; r + 1 < range.size(); r++) {
      const int first = static_cast<int>(range[r]), rows = static_cast<int>(range[r + 1] - range[r]);
      std::map<std::pair<int, int>, double> own;
      for (const auto &[at, value] : entries_of(whole)) {
        if (at.first >= first && at.first < first + rows && at.second >= first && at.second < first + rows)
          own[{at.first - first, at.second - first}] = value;
      }
      const HostCsr block = make_csr(rows, rows, own);
      const std::vector<double> d = inverse_diagonal(block);
      TiedRows<Host> tied;
      EXPECT_EQ(static_cast<int>(find_tied_rows(ex, block.view(), {}, d.data(), tied)), 0);
      EXPECT_EQ(static_cast<int>(invert_tied_blocks(ex, block.view(), {}, 1, d.data(), TiedStep::of_sweep, tied)), 0);
      for (int i = 0; i < rows; i++) {
        inverse[first + i].assign(whole.rows, 0);
        inverse[first + i][first + i] = d[i];
      }
      for (int g = 0; g < tied.groups(); g++) {
        for (int t = tied.begin.data()[g]; t < tied.begin.data()[g + 1]; t++) {
          for (int s = tied.begin.data()[g]; s < tied.begin.data()[g + 1]; s++)
            inverse[first + tied.row.data()[t]][first + tied.row.data()[s]] = tied.blocks.data()[most_tied * t + s - tied.begin.data()[g]];
        }
      }
      groups += tied.groups();
    }
  }
  std::vector<double> apply(bool transposed, const std::vector<double> &r) const
  {
    std::vector<double> z(r.size(), 0);
    for (std::size_t i = 0; i < r.size(); i++) {
      for (std::size_t j = 0; j < r.size(); j++) z[i] += (transposed ? inverse[j][i] : inverse[i][j]) * r[j];
    }
    return z;
  }
  int groups = 0;
};
} // namespace

template <class Ex> using TiedSmootherTest = SpaceTest<Ex>;
TYPED_TEST_SUITE(TiedSmootherTest, Spaces, SpaceName);

// A sweep of degree m is the polynomial of M⁻¹ A, for A and for its transpose, whatever x is at first.
TYPED_TEST(TiedSmootherTest, ChebyshevIsAPolynomialOfTheBlocks)
{
  for (const auto &[name, M] : tied_matrices()) {
    for (const PetscInt rows : layouts(M.rows)) {
      for (const PetscInt degree : {1, 2, 3}) {
        TiedLevel<TypeParam> level;
        level.parameters.chebyshev_degree = degree;
        OK(level.create(this->ex, M, rows, SmootherKind::chebyshev));
        const BlockReference reference(M, level.matrix.A.range);
        ASSERT_GT(reference.groups, 3) << name;
        EXPECT_EQ(level.smoother.tied_groups(), reference.groups) << name;
        EXPECT_EQ(level.smoother.remark(), std::to_string(reference.groups) + " groups of tied rows are smoothed together");
        const double rho = level.smoother.spectral_radius();
        const auto steps = chebyshev_steps(degree, {0.1 * rho, 1.15 * rho});
        const auto b = wave(M.rows, 0.7);
        for (const bool transposed : {false, true}) {
          for (const bool from_zero : {true, false}) {
            std::vector<double> x = from_zero ? std::vector<double>(M.rows, 0) : wave(M.rows, 0.2), before = x;
            std::vector<double> got = level.mine(x);
            for (const RelaxStep &step : steps) {
              std::vector<double> r = b, next = x;
              std::vector<double> Ax(M.rows, 0);
              add_product(M, transposed, x, Ax);
              for (int i = 0; i < M.rows; i++) r[i] -= Ax[i];
              const auto z = reference.apply(transposed, r);
              for (int i = 0; i < M.rows; i++) next[i] += step.momentum * (x[i] - before[i]) + step.factor * z[i];
              before = std::exchange(x, next);
            }
            OK(level.sweep(this->ex, transposed, 1, from_zero ? Guess::zero : Guess::given, level.mine(b), got));
            expect_close(got, level.mine(x), 1e-10, name + (transposed ? " transposed" : "") + " of degree " + std::to_string(degree));
          }
        }
      }
    }
  }
}

// Where no tied rows are looked for, by option, by the entries' size or by the kind of smoother, there are none.
TYPED_TEST(TiedSmootherTest, RowsAreTiedWhereThatIsAskedFor)
{
  const HostCsr M = with_flat_elements(8, 0.98);
  for (const SmootherKind kind : {SmootherKind::jacobi, SmootherKind::l1jacobi, SmootherKind::ilu0}) {
    TiedLevel<TypeParam> level;
    OK(level.create(this->ex, M, -1, kind));
    EXPECT_EQ(level.smoother.tied_groups(), 0);
  }
  TiedLevel<TypeParam> without, with;
  without.parameters.smooth_tied_rows = PETSC_FALSE;
  OK(without.create(this->ex, M, -1, SmootherKind::chebyshev));
  EXPECT_EQ(without.smoother.tied_groups(), 0);
  OK(with.create(this->ex, M, -1, SmootherKind::chebyshev));
  EXPECT_GT(with.smoother.tied_groups(), 0);
  EXPECT_GT(with.smoother.bytes(), without.smoother.bytes());
  with.coupling = 0.7;
  OK(with.prepare(this->ex));
  EXPECT_EQ(with.smoother.tied_groups(), 0);
  EXPECT_EQ(with.smoother.bytes(), without.smoother.bytes());
}

// A level on which rho overflows is not smoothed, and its tied rows neither.
TYPED_TEST(TiedSmootherTest, OverflowingSpectraUntieRows)
{
  const HostCsr M = make_csr(
      4, 4, {{{0, 0}, 1}, {{0, 1}, 0.9}, {{1, 0}, 0.9}, {{1, 1}, 1}, {{2, 2}, 1e-300}, {{2, 3}, 1e300}, {{3, 2}, 1e300}, {{3, 3}, 1e-300}});
  TiedLevel<TypeParam> level;
  OK(level.create(this->ex, M, rank_of_world() == 0 ? 4 : 0, SmootherKind::chebyshev));
  EXPECT_FALSE(std::isfinite(level.smoother.spectral_radius()));
  EXPECT_EQ(level.smoother.tied_groups(), 0);
  const std::vector<double> b = level.mine({1, 1, 1, 1});
  std::vector<double> x = b;
  OK(level.sweep(this->ex, false, 2, Guess::zero, b, x));
  EXPECT_EQ(x, std::vector<double>(b.size(), 0));
}

// Forward from zero, and the residual after it, for symmetric rows and for others; adjoints; and energies that fall.
TEST(TiedGaussSeidel, SolvesGroupsAfterForwardSweepsAndBeforeBackwardOnes)
{
  Host ex;
  for (const auto &[name, M] : tied_matrices()) {
    for (const PetscInt rows : layouts(M.rows)) {
      TiedLevel<Host> level;
      OK(level.create(ex, M, rows, SmootherKind::gauss_seidel));
      ASSERT_GT(level.smoother.tied_groups(), 3) << name;
      const auto all_b = wave(M.rows, 0.3), all_c = wave(M.rows, 1.1);
      const auto b = level.mine(all_b), c = level.mine(all_c);
      for (const PetscInt sweeps : {1, 2, 3}) {
        std::vector<double> Bb = b, Bc = c, given(b.size(), 0), r;
        OK(level.sweep(ex, false, sweeps, Guess::zero, b, Bb, SweepOrder::forward, &r));
        OK(level.sweep(ex, false, sweeps, Guess::given, b, given, SweepOrder::forward));
        expect_close(Bb, given, 1e-12, name);
        OK(level.sweep(ex, true, sweeps, Guess::zero, c, Bc, SweepOrder::backward));
        const double size = std::sqrt(dot(Bb, Bb) * dot(c, c)) + std::sqrt(dot(Bc, Bc) * dot(b, b));
        EXPECT_NEAR(dot(Bb, c), dot(b, Bc), 1e-13 * size) << name << sweeps;
        DistMatrix<Host> &A = level.matrix.A;
        std::vector<double> expected(b.size());
        OK(A.residual(ex, b.data(), Bb.data(), expected.data()));
        expect_close(r, expected, 1e-11, name + " residual");
      }
      std::vector<double> x = level.mine(wave(M.rows, 0.9)), r;
      double before = HUGE_VAL;
      for (int sweep = 0; sweep < 8 && name == "flat"; sweep++) {
        OK(level.sweep(ex, false, 1, Guess::given, std::vector<double>(b.size(), 0), x,
                       sweep % 2 == 1 ? SweepOrder::backward : SweepOrder::forward, &r));
        const double energy = -dot(x, r);
        EXPECT_LT(energy, before) << sweep;
        before = energy;
      }
    }
  }
}
} // namespace amgkit::test
