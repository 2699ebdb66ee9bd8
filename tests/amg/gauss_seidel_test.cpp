#include "amg/gauss_seidel.hpp"

#include "amg/hierarchy.hpp"
#include "amg/prolongation_matching.hpp"
#include "sparse/formats/gauss_seidel.hpp"
#include "support/amg_solver.hpp"
#include "support/block_matrices.hpp"
#include "support/smoothed_matrix.hpp"

#include <cmath>

namespace amgkit::test
{
namespace
{
HostCsr transpose_of(const HostCsr &A)
{
  std::map<std::pair<int, int>, double> entries;
  for (int i = 0; i < A.rows; i++) {
    for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) entries[{A.col[k], i}] = A.val[k];
  }
  return make_csr(A.rows, A.rows, entries);
}

// Sweeps by the formula, with M⁻¹ of the untransposed matrix.
struct HybridReference {
  HostCsr A;
  std::vector<PetscInt> range;
  std::vector<double> d;

  HybridReference(const HostCsr &whole, const std::vector<PetscInt> &of, bool transposed) : A(whole), range(of)
  {
    for (int i = 0; i < A.rows; i++) {
      double others = 0;
      for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) others += owner(A.col[k]) == owner(i) ? 0 : std::abs(A.val[k]);
      const double a_ii = A.at(i, i), size = std::max(std::abs(a_ii), 2 * std::abs(a_ii) / 3 + others / 2);
      d.push_back(a_ii == 0 ? 0 : std::copysign(1 / size, a_ii));
    }
    if (transposed) A = transpose_of(A);
  }
  // Own blocks' values as floats.
  void round()
  {
    for (int i = 0; i < A.rows; i++) {
      for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) A.val[k] = owner(A.col[k]) == owner(i) ? static_cast<float>(A.val[k]) : A.val[k];
    }
  }
  std::ptrdiff_t owner(int i) const { return std::upper_bound(range.begin(), range.end(), i) - range.begin(); }
  void sweep(bool backward, const std::vector<double> &b, std::vector<double> &x) const
  {
    const std::vector<double> before = x;
    for (int t = 0; t < A.rows; t++) {
      const int i = backward ? A.rows - 1 - t : t;
      double s = b[i];
      for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) s -= A.val[k] * (owner(A.col[k]) == owner(i) ? x : before)[A.col[k]];
      x[i] += d[i] * s;
    }
  }
  std::vector<double> residual(const std::vector<double> &b, const std::vector<double> &x) const
  {
    std::vector<double> Ax(b.size(), 0), r = b;
    add_product(A, false, x, Ax);
    for (std::size_t i = 0; i < r.size(); i++) r[i] -= Ax[i];
    return r;
  }
};

// Definite; a row has as many entries as the one before now and then.
HostCsr uneven_rows()
{
  std::map<std::pair<int, int>, double> entries;
  for (int i = 0; i < 60; i++) {
    entries[{i, i}] = 12;
    for (int j = i - 1 - i * i % 5; j < i; j++) {
      if (j >= 0) entries[{i, j}] = entries[{j, i}] = -1.0 / (1 + (i + j) % 3);
    }
  }
  return make_csr(60, 60, entries);
}

// Those of every smoother, symmetric ones, and rows without a diagonal entry or with 0 there.
std::vector<Named> swept_matrices()
{
  std::vector<Named> all = smoothed_matrices();
  all.push_back({"symmetric grid", grid7(6, 5, 4)});
  all.push_back({"negative", grid7(3, 4, 5)});
  for (double &value : all.back().A.val) value = -value;
  std::map<std::pair<int, int>, double> entries;
  for (int i = 0; i < 20; i++) {
    if (i % 7 != 3) entries[{i, i}] = i % 7 == 5 ? 0 : 3;
    if (i > 0) entries[{i, i - 1}] = entries[{i - 1, i}] = -1;
    if (i > 4) entries[{i, i - 5}] = entries[{i - 5, i}] = 0.5;
  }
  all.push_back({"without diagonals", make_csr(20, 20, entries)});
  all.push_back({"uneven rows", uneven_rows()});
  return all;
}

void expect_sweeps(Smoothed<Host> &level, const HostCsr &M, bool transposed, SweepOrder order, const std::string &name,
                   bool rounded = false)
{
  Host ex;
  HybridReference reference(M, level.matrix.A.range, transposed);
  if (rounded) reference.round();
  const auto b = wave(M.rows, 0.7);
  for (const bool zero_guess : {true, false}) {
    for (const PetscInt sweeps : {0, 1, 2, 3}) {
      std::vector<double> expected(b.size(), zero_guess ? 0 : 0.25), x(level.mine(b).size(), zero_guess ? NAN : 0.25), r;
      const bool alternating = order == SweepOrder::alternating;
      const std::string which = name + " " + std::to_string(sweeps) + (zero_guess ? " from zero" : "");
      for (PetscInt s = 0; s < (alternating ? sweeps + sweeps % 2 : sweeps); s++)
        reference.sweep(order == SweepOrder::backward || (alternating && s % 2 == 1), b, expected);
      const bool with_residual = order == SweepOrder::forward && sweeps > 0;
      OK(level.sweep(ex, transposed, sweeps, zero_guess ? Guess::zero : Guess::given, level.mine(b), x, order,
                     with_residual ? &r : nullptr));
      expect_close(x, level.mine(expected), 1e-12 * (1 + largest(expected)), which);
      if (with_residual)
        expect_close(r, level.mine(reference.residual(b, expected)), 1e-11 * (1 + largest(expected)), which + ", residual");
    }
  }
}

bool is_symmetric(const HostCsr &A)
{
  std::vector<int> below(A.rows), next(A.rows);
  split_rows(A.view(), below.data());
  for (int i = 0; i < A.rows; i++) {
    for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) EXPECT_EQ(A.col[k] < i, k < below[i]);
  }
  return halves_agree(A.view(), below.data(), next.data());
}
} // namespace

TEST(GaussSeidel, SweepsAndResidualsAreTheFormula)
{
  Host ex;
  for (const auto &[name, M] : swept_matrices()) {
    for (const PetscInt rows : layouts(M.rows)) {
      Smoothed<Host> level;
      OK(level.create(ex, M, rows, SmootherKind::gauss_seidel));
      ASSERT_EQ(level.smoother.remark(), "") << name;
      for (const bool transposed : {false, true}) {
        for (SweepOrder order : {SweepOrder::forward, SweepOrder::backward, SweepOrder::alternating})
          expect_sweeps(level, M, transposed, order, name + (transposed ? " transposed" : ""));
      }
    }
  }
}

// By blocks, or row by row where a node has no block of its own.
TEST(GaussSeidel, SweepsByBlocksAreTheFormula)
{
  Host ex;
  const HostCsr grid = grid7(5, 4, 3),
                without = make_csr(5, 5, {{{0, 0}, 2}, {{0, 4}, 1}, {{1, 2}, 1}, {{2, 2}, 3}, {{3, 3}, 1}, {{4, 4}, 1}});
  for (int block : {2, 3, 6}) {
    for (const auto &[name, M] : {Named{"symmetric", definite_blocks(grid, block, true)},
                                  {"grid", definite_blocks(grid, block, false)},
                                  {"node without its block", definite_blocks(without, block, false)}}) {
      for (const PetscInt nodes : layouts(M.rows / block)) {
        Smoothed<Host> level;
        OK(level.create(ex, M, nodes < 0 ? nodes : nodes * block, SmootherKind::gauss_seidel, block));
        ASSERT_EQ(level.smoother.remark(), "") << name;
        const bool whole_nodes = level.matrix.A.rows % block == 0 && level.matrix.A.range.first() % block == 0;
        const bool lacks_one = name == "node without its block";
        if (!lacks_one || size_of_world() == 1) { // else it is one rank's
          EXPECT_EQ(level.smoother.sweeps_by_blocks(), !lacks_one && whole_nodes && level.matrix.A.diag.nnz > 0) << name;
        }
        for (SweepOrder order : {SweepOrder::forward, SweepOrder::backward, SweepOrder::alternating})
          expect_sweeps(level, M, false, order, name + ", blocks of " + std::to_string(block));
      }
    }
  }
}

// Where the values are many, as floats, if all can be; those of the transpose, too.
TEST(GaussSeidel, SweepsReadFloatsWhereTheyMay)
{
  Host ex;
  const HostCsr grid = definite_blocks(grid7(6, 5, 4), 3, true);
  HostCsr large = grid;
  for (int i = 0; i < large.rows; i++) {
    for (int k = large.ptr[i]; k < large.ptr[i + 1]; k++) large.val[k] *= (i < 12 ? 1e12 : 1) * (large.col[k] < 12 ? 1e12 : 1);
  }
  for (const int block : {1, 3}) {
    for (const auto &[name, M, rounded] :
         {std::tuple{"grid", grid, true}, {"grid27", skewed(grid27(6)), true}, {"too large", large, false}}) {
      const PetscInt all = rank_of_world() == 0 ? M.rows / block : 0; // on one rank, as what is too large is
      for (const PetscInt nodes : rounded ? layouts(M.rows / block) : std::vector<PetscInt>{all}) {
        Smoothed<Host> level;
        level.parameters.entries_worth_single = 0;
        OK(level.create(ex, M, nodes < 0 ? nodes : nodes * block, SmootherKind::gauss_seidel, block));
        for (const bool transposed : {false, true}) {
          for (SweepOrder order : {SweepOrder::forward, SweepOrder::backward})
            expect_sweeps(level, M, transposed, order, name + std::to_string(block) + (transposed ? " transposed" : ""), rounded);
        }
        EXPECT_EQ(level.smoother.sweeps_in_single(), rounded && level.matrix.A.diag.nnz > 0) << name;
        for (const Storage storage : {Storage::in_double, Storage::in_single}) { // anew
          level.parameters.storage = storage;
          OK(level.prepare(ex));
          expect_sweeps(level, M, false, SweepOrder::forward, name, rounded && storage == Storage::in_single);
        }
        level.parameters.entries_worth_single = M.val.size() + 1;
        OK(level.prepare(ex));
        EXPECT_FALSE(level.smoother.sweeps_in_single());
      }
    }
  }
}

// The transposed of forward is backward: <forward b, c> = <b, backward c> with Aᵀ.
TEST(GaussSeidel, BackwardSweepsAreTheAdjoint)
{
  Host ex;
  for (const auto &[name, M] : swept_matrices()) {
    for (const PetscInt rows : layouts(M.rows)) {
      for (const bool in_single : {false, true}) {
        Smoothed<Host> level;
        if (in_single) level.parameters.entries_worth_single = 0;
        OK(level.create(ex, M, rows, SmootherKind::gauss_seidel));
        const auto b = level.mine(wave(M.rows, 0.3)), c = level.mine(wave(M.rows, 1.1));
        for (const PetscInt sweeps : {1, 2, 3}) {
          std::vector<double> Bb = b, Bc = c;
          OK(level.sweep(ex, false, sweeps, Guess::zero, b, Bb, SweepOrder::forward));
          OK(level.sweep(ex, true, sweeps, Guess::zero, c, Bc, SweepOrder::backward));
          const double size = std::sqrt(dot(Bb, Bb) * dot(c, c)) + std::sqrt(dot(Bc, Bc) * dot(b, b));
          EXPECT_NEAR(dot(Bb, c), dot(b, Bc), 1e-13 * size) << name << sweeps << in_single;
        }
      }
    }
  }
}

// Couplings all but as large as the diagonal, of all rows with all: without more on the diagonal sweeps on two ranks or more would diverge.
TEST(GaussSeidel, EverySweepReducesTheEnergyOfDefiniteMatrices)
{
  Host ex;
  std::map<std::pair<int, int>, double> full;
  for (int i = 0; i < 24; i++) {
    for (int j = 0; j < 24; j++) full[{i, j}] = i == j ? 1 : 0.95;
  }
  for (const auto &[name, M] : {Named{"full", make_csr(24, 24, full)}, {"grid", grid7(5, 5, 5)}, {"27 points", grid27(5)}}) {
    for (const PetscInt rows : layouts(M.rows)) {
      Smoothed<Host> level;
      OK(level.create(ex, M, rows, SmootherKind::gauss_seidel));
      const HybridReference reference(M, level.matrix.A.range, false);
      const std::vector<double> zero(M.rows, 0);
      std::vector<double> x = level.mine(wave(M.rows, 0.9));
      double before = HUGE_VAL;
      for (int sweep = 0; sweep < 10; sweep++) {
        std::vector<double> r;
        OK(level.sweep(ex, false, 1, Guess::given, level.mine(zero), x, sweep % 2 == 1 ? SweepOrder::backward : SweepOrder::forward, &r));
        const double energy = -dot(x, r);
        EXPECT_LT(energy, before) << name << sweep;
        before = energy;
      }
    }
  }
}

TEST(GaussSeidel, KnowsRowsThatAreAlike)
{
  const auto alike = [](const HostCsr &A) {
    std::vector<int> below(A.rows);
    split_rows(A.view(), below.data());
    return rows_are_alike(A.view(), below.data());
  };
  EXPECT_TRUE(alike(grid7(12, 6, 5)));
  EXPECT_TRUE(alike(tridiagonal(50)));
  EXPECT_TRUE(alike(make_csr(1, 1, {{{0, 0}, 3}})));
  EXPECT_TRUE(alike(make_csr(0, 0, {})));
  EXPECT_FALSE(alike(uneven_rows()));
  EXPECT_FALSE(alike(random_graph(200, 700, 5)));
}

TEST(GaussSeidel, KnowsSymmetricBlocks)
{
  const HostCsr A = grid7(5, 4, 3), B = grid27(4);
  EXPECT_TRUE(is_symmetric(A));
  EXPECT_TRUE(is_symmetric(B));
  EXPECT_TRUE(is_symmetric(make_csr(0, 0, {})));
  EXPECT_TRUE(is_symmetric(make_csr(3, 3, {{{0, 1}, 2}, {{1, 0}, 2}})));
  EXPECT_FALSE(is_symmetric(skewed(A)));
  EXPECT_FALSE(is_symmetric(one_sided(A)));
  EXPECT_FALSE(is_symmetric(transpose_of(one_sided(A))));
  EXPECT_FALSE(is_symmetric(make_csr(3, 3, {{{0, 0}, 1}, {{0, 2}, 2}})));
  for (auto [change, symmetric] : {std::pair{1e-15, true}, {1e-9, false}}) {
    for (double scale : {0x1p-600, 1.0, 0x1p600}) {
      HostCsr C = B;
      C.val[1] += change;
      for (double &value : C.val) value *= scale;
      EXPECT_EQ(is_symmetric(C), symmetric) << change << " " << scale;
    }
  }
}

// Programs that drop zeros store one of two entries that should be, where it is 1e-17 by rounding.
TEST(GaussSeidel, EntriesOfOneSideMayBeRounding)
{
  const HostCsr A = grid7(5, 4, 3);
  std::map<std::pair<int, int>, double> entries;
  for (int i = 0; i < A.rows; i++) {
    for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) entries[{i, A.col[k]}] = A.val[k];
  }
  const double a_ii = entries[{0, 0}];
  for (const auto &places : {std::vector<std::pair<int, int>>{{0, 59}},
                             {{59, 0}},
                             {{0, 2}, {0, 3}, {0, 58}, {0, 59}},
                             {{59, 57}, {58, 0}, {59, 1}},
                             {{30, 7}, {7, 31}, {31, 9}}}) {
    for (const auto &[size, symmetric] : {std::pair{1e-16, true}, {0.0, true}, {1e-9, false}}) {
      for (std::size_t large = 0; large < places.size(); large++) {
        auto some = entries;
        for (std::size_t p = 0; p < places.size(); p++) {
          ASSERT_EQ(entries.count(places[p]), 0U);
          some[places[p]] = (p == large ? size : -1e-17) * a_ii;
        }
        EXPECT_EQ(is_symmetric(make_csr(A.rows, A.rows, some)), symmetric)
            << size << " " << places[large].first << " " << places[large].second;
      }
    }
  }
}

// Rows that turn: each sweep makes x nine times as large. On all ranks chebyshev takes its place, until there are better values.
TEST(GaussSeidel, SweepsThatLetErrorsGrowAreRefusedOnAllRanks)
{
  Host ex;
  std::map<std::pair<int, int>, double> entries;
  for (int i = 0; i < 20; i++) {
    entries[{i, i}] = 1;
    if (i % 2 == 1) {
      entries[{i, i - 1}] = i == 17 ? -3 : 0.1;
      entries[{i - 1, i}] = i == 17 ? 3 : -0.1;
    }
  }
  const HostCsr turning = make_csr(20, 20, entries);
  HostCsr better = turning;
  for (double &value : better.val) value = std::abs(value) == 3 ? value / 30 : value;
  const PetscInt rows = 2 * (10 / size_of_world() + (rank_of_world() < 10 % size_of_world() ? 1 : 0)); // pairs are on one rank
  Smoothed<Host> level, chebyshev, good;
  OK(level.create(ex, turning, rows, SmootherKind::gauss_seidel));
  OK(chebyshev.create(ex, turning, rows, SmootherKind::chebyshev));
  OK(good.create(ex, better, rows, SmootherKind::gauss_seidel));
  EXPECT_EQ(level.smoother.remark(), "chebyshev, as with Gauss-Seidel sweeps an error grows");
  EXPECT_EQ(good.smoother.remark(), "");
  const auto b = level.mine(wave(20, 0.3));
  std::vector<double> x = b, y = b, r;
  OK(level.sweep(ex, false, 2, Guess::zero, b, x, SweepOrder::forward, &r));
  OK(chebyshev.sweep(ex, false, 2, Guess::zero, b, y, SweepOrder::forward, &r));
  EXPECT_EQ(x, y);
  std::swap(level.matrix.A.diag, good.matrix.A.diag);
  OK(level.prepare(ex));
  EXPECT_EQ(level.smoother.remark(), "");
  OK(level.sweep(ex, false, 2, Guess::zero, b, x));
  std::swap(level.matrix.A.diag, good.matrix.A.diag);
  OK(good.sweep(ex, false, 2, Guess::zero, b, y));
  EXPECT_EQ(x, y);
}

// auto: in the spaces that have it, unless the degree of chebyshev is given; that alone needs a spectrum.
template <class Ex> bool chooses_chebyshev(PetscInt degree)
{
  Ex ex;
  AmgSolver<Ex> solver;
  AmgParameters parameters;
  parameters.coarse_eq_limit = 20;
  parameters.chebyshev_degree = degree;
  EXPECT_EQ(static_cast<int>(solver.create(ex, grid7(7, 6, 5), parameters, *make_matching_prolongation<Ex>({}))), 0);
  return solver.hierarchy.levels.front()->smoother.spectrum().has_value();
}

TEST(GaussSeidel, IsChosenWhereNothingElseIsAskedFor)
{
  EXPECT_FALSE(chooses_chebyshev<Host>(0));
  EXPECT_TRUE(chooses_chebyshev<Host>(2));
  EXPECT_TRUE(chooses_chebyshev<Debug>(0));
}

TEST(GaussSeidel, IsRefusedWhereRowsAreNotReadOneByOne)
{
  Debug ex;
  OwnedMat A;
  AmgParameters parameters;
  Hierarchy<Debug> hierarchy;
  parameters.smoother = SmootherKind::gauss_seidel;
  OK(distribute(grid7(5, 4, 3), false, A.out()));
  const auto prolongation = make_matching_prolongation<Debug>({});
  const Refusal refusal = refusal_of([&] { return hierarchy.build(ex, A, parameters, *prolongation); });
  EXPECT_EQ(static_cast<int>(refusal.code), PETSC_ERR_SUP);
  EXPECT_NE(refusal.message.find("gauss_seidel"), std::string::npos) << refusal.message;
}
} // namespace amgkit::test
