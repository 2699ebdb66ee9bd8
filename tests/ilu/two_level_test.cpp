#include "ilu/two_level.hpp"

#include "ilu/ordering.hpp"
#include "support/dist_system.hpp"
#include "support/failing_allocations.hpp"
#include "support/ilu_matrices.hpp"
#include "support/two_level_reference.hpp"

#include <fstream>

namespace amgkit::test
{
template <class Ex> class TwoLevel : public SpaceTest<Ex> {
protected:
  // The rank's part of a vector of all rows
  std::vector<double> part(const DistMatrix<Ex> &A, const std::vector<double> &x)
  {
    const auto begin = x.begin() + A.range.first();
    return {begin, begin + A.rows};
  }
  // All of a vector, on every rank
  std::vector<double> gathered(const DistMatrix<Ex> &A, const std::vector<double> &mine)
  {
    std::vector<double> all(static_cast<std::size_t>(A.global_rows()));
    std::vector<int> count, first(A.range.begin(), A.range.end());
    for (std::size_t r = 0; r + 1 < first.size(); r++) count.push_back(first[r + 1] - first[r]);
    EXPECT_EQ(MPI_Allgatherv(mine.data(), A.rows, MPI_DOUBLE, all.data(), count.data(), first.data(), MPI_DOUBLE, PETSC_COMM_WORLD), 0);
    return all;
  }
  // B b, on every rank
  void apply(IluMethod<Ex> &B, DistMatrix<Ex> &A, const std::vector<double> &b, std::vector<double> &x)
  {
    const auto mine = this->to_space(part(A, b));
    auto result = this->to_space(std::vector<double>(static_cast<std::size_t>(A.rows), -7));
    OK(B.apply(this->ex, A, mine.data(), result.data()));
    x = gathered(A, this->to_host(result));
  }
  void create(IluMethod<Ex> &B, DistMatrix<Ex> &A)
  {
    IluSetup setup;
    OK(B.create(this->ex, A, setup));
    ASSERT_TRUE(setup.ready()) << static_cast<int>(setup.fault) << ", row " << setup.row;
  }
};
TYPED_TEST_SUITE(TwoLevel, Spaces, SpaceName);

namespace
{
constexpr SchurKind kinds[] = {SchurKind::schur, SchurKind::rap};

IluParameters parameters_of(SchurKind kind, int steps)
{
  IluParameters parameters;
  parameters.levels = 2;
  parameters.type = kind;
  parameters.schur_its = steps;
  return parameters;
}

// One coupling between the first rank and the last, if there are several; the others are alone.
HostCsr coupled_at_the_ends(int n)
{
  std::map<std::pair<int, int>, double> entries;
  for (int i = 0; i < n; i++) entries[{i, i}] = 4;
  entries[{0, n - 1}] = -1;
  return make_csr(n, n, entries);
}

// Matrices for which every pattern of interiors and interfaces occurs on some number of ranks
std::vector<Named> small_matrices()
{
  std::vector<Named> all;
  for (const auto &[name, A] : ilu_matrices()) {
    if (A.rows <= 60) all.push_back({name, A});
  }
  all.push_back({"grid", skewed(grid7(3, 3, 9))});
  all.push_back({"one-sided small grid", one_sided(skewed(grid7(3, 3, 8)))});
  all.push_back({"tridiagonal", tridiagonal(40)});
  all.push_back({"dense row", arrow(50, 20)});
  all.push_back({"coupled at the ends", coupled_at_the_ends(30)});
  return all;
}

// What view() prints, on every rank
template <class Ex> PetscErrorCode shown(const IluMethod<Ex> &B, std::string &text)
{
  const std::string file = ::testing::TempDir() + "two_level_view_" + std::to_string(size_of_world());
  PetscViewer viewer;

  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIOpen(PETSC_COMM_WORLD, file.c_str(), &viewer));
  PetscCall(B.view(viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  std::ifstream stream(file);
  text.assign(std::istreambuf_iterator<char>(stream), {});
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class F> void for_small_matrices(F f)
{
  for (const auto &[name, A] : small_matrices()) {
    for (const Split split : {Split::even, Split::gap, Split::last}) {
      SCOPED_TRACE(name + ", split " + std::to_string(static_cast<int>(split)));
      f(A, split_range(split, A.rows));
      int failed = ::testing::Test::HasFatalFailure(); // on any rank: the next ones are for all of them
      MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, PETSC_COMM_WORLD);
      if (failed) return;
    }
  }
}

// Diagonal inside, and each rank's last three rows coupled with all of its rows and with those of the rank after it: the blocks of all
// rows have exact factors.
HostCsr combs(int n, const std::vector<PetscInt> &range)
{
  std::map<std::pair<int, int>, double> entries;
  const auto add = [&](int i, int j) {
    if (i != j) entries[{i, j}] = -1 - 0.1 * ((3 * i + 5 * j) % 7);
  };
  for (int i = 0; i < n; i++) entries[{i, i}] = 40 + i % 5;
  for (std::size_t r = 0; r + 1 < range.size(); r++) {
    const auto first = static_cast<int>(range[r]), last = static_cast<int>(range[r + 1]), spine = std::max(first, last - 3);
    for (int i = spine; i < last; i++) {
      for (int j = first; j < last; j++) {
        add(i, j);
        add(j, i);
      }
      if (last == n) continue;
      const auto after = static_cast<int>(*std::upper_bound(range.begin(), range.end(), last)), to = after - 1;
      add(i, to);
      add(to, i);
    }
  }
  return make_csr(n, n, entries);
}

void expect_near(const std::vector<double> &got, const std::vector<double> &expected, double tolerance)
{
  ASSERT_EQ(got.size(), expected.size());
  const double size = largest(expected);
  for (std::size_t i = 0; i < got.size(); i++) ASSERT_NEAR(got[i], expected[i], tolerance * size) << "row " << i;
}
} // namespace

TYPED_TEST(TwoLevel, PartsAreThoseOfTheDenseMatrix)
{
  for_small_matrices([&](const HostCsr &M, const std::vector<PetscInt> &range) {
    for (const SchurKind kind : kinds) {
      const TwoLevelReference reference(M, range, kind == SchurKind::rap);
      DistSystem<TypeParam> system;
      OK(system.create(this->ex, M, range));
      DistMatrix<TypeParam> &A = system.A;
      SchurFactors<TypeParam> factors(parameters_of(kind, 5));
      IluReport report;
      OK(factors.analyse(this->ex, A, &report));
      OK(factors.factor(this->ex, A, &report));
      ASSERT_EQ(report.fault, IluFault::none);

      const Vector b = wave(M.rows), ordered = reference.ordered(b);
      const int first = static_cast<int>(A.range.first()), n_B = factors.interior(), n_S = factors.interface();
      ASSERT_EQ(n_B + n_S, A.rows);
      for (int p = 0; p < A.rows; p++) ASSERT_EQ(reference.on_interface(first + p), p >= n_B);
      // what the reference has on this rank's interface
      const auto mine = [&](const Vector &x) { return std::vector<double>(x.begin() + first + n_B, x.begin() + first + A.rows); };
      const auto whole = this->to_space(this->part(A, b));
      auto on_interface = this->to_space(std::vector<double>(static_cast<std::size_t>(n_S), -7));
      const double size = 1e-11 * (1 + largest(M.val));
      const auto check = [&](const Vector &expected) { expect_near(this->to_host(on_interface), mine(expected), 1e-11 + size); };
      OK(factors.eliminate(this->ex, whole.data(), on_interface.data()));
      check(reference.eliminate(ordered));
      const auto y = this->to_space(mine(ordered));
      OK(factors.precondition(this->ex, y.data(), on_interface.data()));
      check(reference.precondition(ordered));
      auto x = this->to_space(std::vector<double>(static_cast<std::size_t>(A.rows), -7));
      OK(factors.substitute(this->ex, whole.data(), y.data(), x.data()));
      expect_near(this->gathered(A, this->to_host(x)), reference.natural(reference.substitute(ordered, ordered)), 1e-11);
      if (!A.halo.active()) continue;
      for (int repeat = 0; repeat < 2; repeat++) {
        OK(factors.multiply(this->ex, A.halo, y.data(), on_interface.data()));
        check(reference.multiply(ordered));
      }
    }
  });
}

TYPED_TEST(TwoLevel, ApplicationIsTheOneWrittenDown)
{
  for_small_matrices([&](const HostCsr &M, const std::vector<PetscInt> &range) {
    for (const SchurKind kind : kinds) {
      const TwoLevelReference reference(M, range, kind == SchurKind::rap);
      DistSystem<TypeParam> system;
      OK(system.create(this->ex, M, range));
      for (const int steps : {1, 3, 200}) {
        if (steps == 200 && (M.rows > 25 || kind == SchurKind::rap)) continue; // each step is a sum over all ranks
        TwoLevelIlu<TypeParam> B(parameters_of(kind, steps), nullptr);
        std::vector<double> x;
        this->create(B, system.A);
        EXPECT_EQ(B.linear(), !system.A.halo.active());
        EXPECT_GT(B.bytes(), 0U);
        this->apply(B, system.A, wave(M.rows), x);
        if (steps < 200)
          expect_near(x, reference.apply(wave(M.rows), steps), 1e-9);
        else // as many as there are rows, and so for long sums that are no longer quite orthogonal
          expect_near(x, reference.apply(wave(M.rows), 0), 1e-6);
      }
    }
  });
}

// Where the factors are exact, S is the Schur complement, and enough steps solve A x = b; in every order of the rows.
TYPED_TEST(TwoLevel, SolvesExactlyWithExactFactorsAndManySteps)
{
  for (const Split split : {Split::even, Split::gap}) {
    const auto range = split_range(split, 60);
    const HostCsr comb = combs(60, range), chain = tridiagonal(60);
    for (const SchurKind kind : kinds) {
      for (const OrderingKind order : {OrderingKind::natural, OrderingKind::rcm, OrderingKind::multicolor}) {
        // the interior of a chain has exact factors while it is taken along the chain
        const bool chained = kind == SchurKind::rap && order != OrderingKind::multicolor;
        for (const HostCsr &M : {comb, chained ? chain : comb}) {
          IluParameters parameters = parameters_of(kind, 60);
          parameters.ordering = order;
          DistSystem<TypeParam> system;
          TwoLevelIlu<TypeParam> B(parameters, nullptr);
          const auto x = wave(M.rows);
          std::vector<double> b(x.size(), 0), got;
          for (int i = 0; i < M.rows; i++) {
            for (int k = M.ptr[i]; k < M.ptr[i + 1]; k++) b[i] += M.val[k] * x[M.col[k]];
          }
          OK(system.create(this->ex, M, range));
          if (!system.A.halo.active() && order != OrderingKind::natural) continue; // one level's
          this->create(B, system.A);
          this->apply(B, system.A, b, got);
          expect_near(got, x, 1e-10);
        }
      }
    }
  }
}

TYPED_TEST(TwoLevel, SweepsAsManyAsThereAreRowsSolve)
{
  const HostCsr M = skewed(grid7(4, 3, 10));
  DistSystem<TypeParam> system;
  OK(system.create(this->ex, M, split_range(Split::even, M.rows)));
  for (const SchurKind kind : kinds) {
    std::vector<double> exact, swept, few;
    IluParameters parameters = parameters_of(kind, 3);
    for (auto *x : {&exact, &swept, &few}) {
      TwoLevelIlu<TypeParam> B(parameters, nullptr);
      this->create(B, system.A);
      this->apply(B, system.A, wave(M.rows), *x);
      parameters.triangular_solve = TriangularSolve::jacobi;
      parameters.triangular_sweeps = x == &exact ? M.rows : 2;
    }
    expect_near(swept, exact, 1e-13);
    EXPECT_NE(few, exact);
  }
}

TYPED_TEST(TwoLevel, NewValuesGiveTheFactorsOfAFreshStartAndTakeNoMemory)
{
  const HostCsr M = skewed(grid7(4, 3, 10));
  HostCsr other = M;
  for (std::size_t k = 0; k < other.val.size(); k++) other.val[k] *= 1 + 0.05 * std::cos(static_cast<double>(k));
  const auto range = split_range(Split::even, M.rows);
  for (const SchurKind kind : kinds) {
    DistSystem<TypeParam> system;
    TwoLevelIlu<TypeParam> B(parameters_of(kind, 4), nullptr), fresh(parameters_of(kind, 4), nullptr);
    IluSetup setup;
    std::vector<double> first, x, expected;
    OK(system.create(this->ex, M, range));
    this->create(B, system.A);
    this->apply(B, system.A, wave(M.rows), first);
    OK(system.replace_values(this->ex, other));
    [[maybe_unused]] std::int64_t before = 0;
    if constexpr (std::is_same_v<TypeParam, Debug>) before = this->ex.allocations;
    OK(B.update_values(this->ex, system.A, setup));
    ASSERT_TRUE(setup.ready());
    const auto mine = this->to_space(this->part(system.A, wave(M.rows)));
    auto result = this->to_space(this->part(system.A, first));
    OK(B.apply(this->ex, system.A, mine.data(), result.data()));
    if constexpr (std::is_same_v<TypeParam, Debug>) {
      EXPECT_EQ(this->ex.allocations, before + (system.A.rows > 0 ? 2 : 0)); // those two vectors
    }
    x = this->gathered(system.A, this->to_host(result));
    this->create(fresh, system.A);
    this->apply(fresh, system.A, wave(M.rows), expected);
    expect_near(x, expected, TypeParam::on_device ? 1e-12 : 0); // PETSc's sums on a GPU
    EXPECT_NE(x, first);
    OK(system.replace_values(this->ex, M));
    this->create(B, system.A); // once more
    this->apply(B, system.A, wave(M.rows), x);
    expect_near(x, first, TypeParam::on_device ? 1e-12 : 0);
  }
}

TYPED_TEST(TwoLevel, NamesTheFirstRowWithAFaultOnAllRanks)
{
  const auto range = split_range(Split::even, 40);
  HostCsr M = tridiagonal(40), hole = M;
  for (const int row : {15, 31}) {
    for (int k = hole.ptr[row]; k < hole.ptr[row + 1]; k++) hole.val[k] = 0;
  }
  for (const SchurKind kind : kinds) {
    DistSystem<TypeParam> system;
    IluParameters parameters = parameters_of(kind, 5);
    IluSetup setup;
    OK(system.create(this->ex, hole, range));
    {
      TwoLevelIlu<TypeParam> B(parameters, nullptr);
      OK(B.create(this->ex, system.A, setup));
      EXPECT_EQ(setup.fault, IluFault::zero_pivot);
      EXPECT_EQ(setup.row, 15);
      OK(system.replace_values(this->ex, M)); // with which it is ready
      OK(B.update_values(this->ex, system.A, setup));
      EXPECT_TRUE(setup.ready());
      std::vector<double> x;
      this->apply(B, system.A, wave(40), x);
      expect_near(x, TwoLevelReference(M, range, kind == SchurKind::rap).apply(wave(40), 5), 1e-9);
    }
    OK(system.replace_values(this->ex, hole));
    parameters.shift_type = IluShift::inblocks;
    parameters.shift_amount = 1;
    TwoLevelIlu<TypeParam> B(parameters, nullptr);
    this->create(B, system.A);
    OK(B.update_values(this->ex, system.A, setup));
    EXPECT_EQ(setup.shifts, 2);
  }
  std::map<std::pair<int, int>, double> entries;
  for (int i = 0; i < 40; i++) {
    for (int k = M.ptr[i]; k < M.ptr[i + 1]; k++) {
      if (M.col[k] != i || (i != 22 && i != 35)) entries[{i, M.col[k]}] = M.val[k];
    }
  }
  DistSystem<TypeParam> system;
  TwoLevelIlu<TypeParam> B(parameters_of(SchurKind::schur, 5), nullptr);
  IluSetup setup;
  OK(system.create(this->ex, make_csr(40, 40, entries), range));
  OK(B.create(this->ex, system.A, setup));
  EXPECT_EQ(setup.fault, IluFault::no_diagonal);
  EXPECT_EQ(setup.row, 22);
}

// The solver of the interface is the user's to choose, by its prefix.
TYPED_TEST(TwoLevel, TakesOptionsForTheInterfaceAndShowsThem)
{
  const HostCsr M = skewed(grid7(4, 3, 10));
  const auto range = split_range(Split::even, M.rows);
  DistSystem<TypeParam> system;
  std::vector<double> x;
  std::string text;
  OK(system.create(this->ex, M, range));
  const char *options = "-sub_ilu2level_schur_ksp_max_it 2 -sub_ilu2level_schur_ksp_pc_side right";
  OK(replace_options(size_of_world() > 1 ? options : "")); // one rank has no interface
  TwoLevelIlu<TypeParam> B(parameters_of(SchurKind::schur, 5), "sub_");
  this->create(B, system.A);
  this->apply(B, system.A, wave(M.rows), x);
  OK(replace_options());
  OK(shown(B, text));
  EXPECT_NE(text.find(size_of_world() > 1 ? "rows of the interface on " : "no process is coupled with another"), std::string::npos) << text;
  EXPECT_EQ(text.find("sub_ilu2level_schur_") != std::string::npos, size_of_world() > 1) << text;
  EXPECT_EQ(B.linear(), size_of_world() == 1);
  auto u = this->to_space(this->part(system.A, x)), v = this->to_space(this->part(system.A, x));
  const PetscErrorCode transposed = quietly([&] { return B.apply_transpose(this->ex, system.A, u.data(), v.data()); });
  EXPECT_EQ(transposed, size_of_world() == 1 ? PETSC_SUCCESS : PETSC_ERR_SUP);
  if (size_of_world() == 1) return;
  TwoLevelIlu<TypeParam> two(parameters_of(SchurKind::schur, 2), nullptr);
  std::vector<double> of_two;
  this->create(two, system.A);
  this->apply(two, system.A, wave(M.rows), of_two);
  expect_near(of_two, TwoLevelReference(M, range, false).apply(wave(M.rows), 2), 1e-9);
  EXPECT_NE(x, of_two); // right of it
}

TEST(TwoLevelFailure, EveryAllocationMayFailOnOneRank)
{
  const HostCsr M = skewed(grid7(3, 3, 8));
  for (const SchurKind kind : kinds) {
    FailingAllocations failing;
    for (bool more = true; more;) {
      Debug ex;
      IluSetup setup;
      DistSystem<Debug> system;
      IluParameters parameters = parameters_of(kind, 3);
      parameters.triangular_solve = TriangularSolve::jacobi;
      OK(system.create(ex, M, split_range(Split::even, M.rows)));
      TwoLevelIlu<Debug> B(parameters, nullptr);
      more = failing.run(ex, [&] { return B.create(ex, system.A, setup); });
      EXPECT_TRUE(setup.ready());
    }
    EXPECT_GT(failing.failures(), size_of_world() > 1 ? 50 : 10);
  }
}
} // namespace amgkit::test
