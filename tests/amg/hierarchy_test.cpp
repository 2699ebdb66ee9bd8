#include "amg/hierarchy.hpp"

#include "amg/cycle.hpp"
#include "amg/prolongation_classical.hpp"
#include "amg/prolongation_matching.hpp"
#include "support/amg_solver.hpp"
#include "support/hierarchy_shape.hpp"
#include "support/petsc_problems.hpp"

#include <cmath>
#include <numeric>

namespace amgkit::test
{
template <class Ex> using HierarchyTest = SpaceTest<Ex>;
TYPED_TEST_SUITE(HierarchyTest, Spaces, SpaceName);

namespace
{
template <class Ex> PetscErrorCode shape_of(Ex &ex, const HostCsr &M, const AmgParameters &parameters, Shape &out)
{
  OwnedMat A;

  PetscFunctionBegin;
  PetscCall(distribute(M, Ex::on_device, A.out()));
  PetscCall(test::shape_of(ex, static_cast<Mat>(A), parameters, out));
  PetscFunctionReturn(PETSC_SUCCESS);
}

HostCsr four_times(HostCsr A)
{
  for (double &value : A.val) value *= 4;
  return A;
}

AmgParameters small()
{
  AmgParameters parameters;
  parameters.coarse_eq_limit = 30;
  return parameters;
}

// The values of a level's blocks, as they are to be had.
template <class Ex> std::vector<std::vector<double>> values_of(Ex &ex, const DistMatrix<Ex> &A)
{
  Csr<double, Ex> room;
  CsrView<double> diag;
  std::vector<std::vector<double>> values(2);
  EXPECT_EQ(A.own_rows(ex, room, diag), PETSC_SUCCESS);
  EXPECT_EQ(download(ex, diag.val, diag.nnz, values[0]), PETSC_SUCCESS);
  EXPECT_EQ(download(ex, A.offd.val, A.offd.nnz, values[1]), PETSC_SUCCESS);
  return values;
}
} // namespace

// By choice, and as the user says.
TYPED_TEST(HierarchyTest, CoarseningEndsWhereTheSpaceSolvesDirectly)
{
  AmgParameters parameters;
  const bool host = std::is_same_v<TypeParam, Host>;
  const PetscInt least = host ? 250 : 1500;
  EXPECT_EQ(parameters.coarsening_limit<TypeParam>(9999), host ? 1000 : 1500);
  EXPECT_EQ(parameters.dense_limit<TypeParam>(), host ? 1000 : 1500);
  for (const int n : {10, 22}) { // 1000 and 10648 rows
    AmgSolver<TypeParam> solver;
    OK(solver.create(this->ex, grid7(n, n, n), parameters, *make_matching_prolongation<TypeParam>({})));
    const auto &levels = solver.hierarchy.statistics;
    EXPECT_EQ(levels.size() == 1, n == 10);
    if (n == 10) continue;
    EXPECT_GT(levels[levels.size() - 2].rows, least);
    EXPECT_LE(levels.back().rows, least);
  }
  parameters.coarse_eq_limit = 70;
  EXPECT_EQ(parameters.coarsening_limit<TypeParam>(100000), 70);
  EXPECT_EQ(parameters.finest_limit(), 70);
  EXPECT_EQ(parameters.dense_limit<TypeParam>(), 70);
}

TYPED_TEST(HierarchyTest, IsTheSameInEverySpace)
{
  for (const auto &[name, M] : gallery()) {
    if (name == "positive couplings") continue; // indefinite: its coarse matrix may be singular
    Host host;
    Shape expected, got;
    AmgParameters parameters = small();
    parameters.storage = Storage::in_double;
    OK(shape_of(host, M, parameters, expected));
    OK(shape_of(this->ex, M, parameters, got));
    EXPECT_EQ(got.rows, expected.rows) << name;
    EXPECT_EQ(got.patterns, expected.patterns) << name;
    EXPECT_EQ(got.values, expected.values) << name; // contract() sums in one order in every space
  }
}

TYPED_TEST(HierarchyTest, StopsAtTheLimitTheLevelsAndTheStall)
{
  Shape limited, levels, stalled, uncoupled;
  AmgParameters parameters = small();
  OK(shape_of(this->ex, grid7(10, 10, 10), parameters, limited));
  EXPECT_LE(limited.rows.back(), 30 + 2 * size_of_world());
  parameters.max_levels = 2;
  OK(shape_of(this->ex, grid7(10, 10, 10), parameters, levels));
  EXPECT_EQ(levels.rows.size(), 2U);
  parameters = small();
  parameters.coarse_eq_limit = 2;
  std::map<std::pair<int, int>, double> diagonal;
  for (int i = 0; i < 100; i++) diagonal[{i, i}] = 1 + i;
  OK(shape_of(this->ex, make_csr(100, 100, diagonal), parameters, uncoupled));
  EXPECT_EQ(uncoupled.rows, std::vector<PetscInt>{100});
  std::map<std::pair<int, int>, double> above; // nothing matches: no entry below the diagonal
  for (int i = 0; i < 100; i++) above[{i, i}] = 4;
  for (int i = 0; i < 99; i++) above[{i, i + 1}] = -1;
  OK(shape_of(this->ex, make_csr(100, 100, above), parameters, stalled));
  EXPECT_EQ(stalled.rows, std::vector<PetscInt>{100});
}

// A refreshed hierarchy is a fresh one, bit for bit, where the aggregates are the same: here all values are halved. And back.
TYPED_TEST(HierarchyTest, RefreshEqualsAFreshSetup)
{
  for (const char *name :
       {"singular", "regular", "regular, on fewer ranks", "singular, incomplete factors", "regular, on fewer ranks, incomplete factors"}) {
    const auto is = [&](const char *what) { return std::string(name).find(what) != std::string::npos; };
    const HostCsr M = grid7(12, 11, 10, 1, 1, 0.1);
    HostCsr N = M;
    AmgParameters parameters = small();
    if (is("incomplete factors")) parameters.smoother = SmootherKind::ilu0;
    if (is("on fewer ranks")) parameters.process_eq_limit = 170; // of 4: 2 ranks hold 330 rows, 1 holds 82
    if (is("singular")) {                                        // the coarsest matrix is treated in another way then
      for (int i = 0; i < N.rows; i++) {
        double sum = 0;
        for (int k = N.ptr[i]; k < N.ptr[i + 1]; k++) sum += N.col[k] == i ? 0 : -N.val[k];
        for (int k = N.ptr[i]; k < N.ptr[i + 1]; k++)
          if (N.col[k] == i) N.val[k] = sum;
      }
    }
    {
      AmgSolver<TypeParam> refreshed, fresh;
      bool fits = false;
      OK(refreshed.create(this->ex, four_times(N), parameters, *make_matching_prolongation<TypeParam>({})));
      Mat A = refreshed.A;
      EXPECT_EQ(refreshed.cycle.single(), TypeParam::sliced_rows);
      OK(MatScale(A, 0.25 * std::ldexp(1.0, -70))); // too small for vectors in single precision
      OK(refreshed.refresh(this->ex, &fits));
      EXPECT_TRUE(fits);
      EXPECT_FALSE(refreshed.cycle.single());
      OK(MatScale(A, std::ldexp(1.0, 70)));
      OK(refreshed.refresh(this->ex, &fits));
      EXPECT_TRUE(fits);
      EXPECT_EQ(refreshed.cycle.single(), TypeParam::sliced_rows);
      OK(fresh.create(this->ex, N, parameters, *make_matching_prolongation<TypeParam>({})));
      const auto &levels = fresh.hierarchy.levels;
      ASSERT_EQ(refreshed.hierarchy.levels.size(), levels.size());
      EXPECT_EQ(refreshed.hierarchy.bytes(), fresh.hierarchy.bytes());
      EXPECT_EQ(refreshed.cycle.bytes(), fresh.cycle.bytes());
      EXPECT_EQ(refreshed.hierarchy.coarse_solver.description(), fresh.hierarchy.coarse_solver.description());
      for (std::size_t l = 1; l < levels.size(); l++) {
        EXPECT_EQ(values_of(this->ex, refreshed.hierarchy.levels[l]->A), values_of(this->ex, levels[l]->A));
      }
      std::vector<double> b(fresh.rows()), x[2];
      for (std::size_t i = 0; i < b.size(); i++) b[i] = static_cast<double>(i % 17) - 8;
      for (AmgSolver<TypeParam> *solver : {&refreshed, &fresh})
        OK(solver->apply(this->ex, {CycleKind::k, solver->cycle.single()}, b, x[solver == &fresh]));
      EXPECT_EQ(x[0], x[1]);
    }
  }
}

// Values that change and come back give the levels of a fresh setup, bit for bit, whether interpolation gets new weights or not.
TYPED_TEST(HierarchyTest, ClassicalFollowsNewValues)
{
  const HostCsr M = grid7(10, 9, 8, 1, 10, 0.1);
  AmgParameters parameters = small();
  for (const PetscInt aggressive : {0, 1}) {
    for (const PetscBool reweight : {PETSC_FALSE, PETSC_TRUE}) {
      OwnedMat A;
      OwnedVec d;
      ClassicalParameters classical;
      PetscInt first, end;
      classical.agg_nl = aggressive;
      classical.reweight = reweight;
      OK(distribute(M, TypeParam::on_device, A.out()));
      OK(MatCreateVecs(A, d.out(), nullptr));
      OK(VecGetOwnershipRange(d, &first, &end));
      for (PetscInt i = first; i < end; i++) OK(VecSetValue(d, i, std::ldexp(1.0, static_cast<int>(i * i % 7) - 3), INSERT_VALUES));
      OK(VecAssemblyBegin(d));
      OK(VecAssemblyEnd(d));
      Hierarchy<TypeParam> hierarchy;
      bool fits = false;
      const auto prolongation = make_classical_prolongation<TypeParam>(classical);
      OK(hierarchy.build(this->ex, A, parameters, *prolongation));
      ASSERT_GT(hierarchy.statistics.size(), 2U);
      const auto values = [&] {
        std::vector<std::vector<double>> all;
        for (std::size_t l = 1; l < hierarchy.levels.size(); l++) { // the finest one is the user's
          for (auto &block : values_of(this->ex, hierarchy.levels[l]->A)) all.push_back(std::move(block));
        }
        return all;
      };
      const auto fresh = values();
      OK(MatDiagonalScale(A, d, d));
      OK(hierarchy.refresh(this->ex, parameters, &fits));
      EXPECT_TRUE(fits);
      const auto changed = values();
      const bool has_rows = hierarchy.levels.size() > 1 && hierarchy.levels[1]->A.rows > 0;
      EXPECT_TRUE(changed != fresh || !has_rows);
      OK(VecReciprocal(d));
      OK(MatDiagonalScale(A, d, d));
      OK(hierarchy.refresh(this->ex, parameters, &fits));
      EXPECT_EQ(values(), fresh) << aggressive << reweight;
    }
  }
}

// New values may give a coarse matrix that multigrid cannot go on with, which all ranks are told of: rows scaled apart, whose interpolation
// was made before.
TYPED_TEST(HierarchyTest, TellsThatItsLevelsDoNotFitNewValues)
{
  int outdated = 0;
  for (const char *limit : {"", "fewer ranks"}) {
    for (int most = 2; most <= 60; most += 10) {
      OwnedMat A;
      OwnedVec d;
      AmgParameters parameters = small();
      PetscInt first, end;
      if (*limit) parameters.process_eq_limit = 100;
      OK(distribute(grid7(9, 8, 7), TypeParam::on_device, A.out()));
      OK(MatCreateVecs(A, d.out(), nullptr));
      OK(VecGetOwnershipRange(d, &first, &end));
      for (PetscInt i = first; i < end; i++) OK(VecSetValue(d, i, std::pow(10, most * std::sin(1.7 * i * i)), INSERT_VALUES));
      OK(VecAssemblyBegin(d));
      OK(VecAssemblyEnd(d));
      Hierarchy<TypeParam> hierarchy;
      bool fits = false;
      OK(hierarchy.build(this->ex, A, parameters, *make_classical_prolongation<TypeParam>({})));
      OK(MatDiagonalScale(A, d, nullptr));
      OK(hierarchy.refresh(this->ex, parameters, &fits));
      int answers[2] = {fits, -static_cast<int>(fits)};
      MPI_Allreduce(MPI_IN_PLACE, answers, 2, MPI_INT, MPI_MAX, PETSC_COMM_WORLD);
      EXPECT_EQ(answers[0], -answers[1]);
      outdated += !fits;
    }
  }
  EXPECT_GE(outdated, 2);
}

// Identity rows of Dirichlet conditions do not come along to coarser levels.
TYPED_TEST(HierarchyTest, LeavesDirichletRowsToTheSmoother)
{
  Shape inner, with_boundary;
  std::map<std::pair<int, int>, double> entries;
  const HostCsr M = grid7(10, 10, 10);
  OK(shape_of(this->ex, M, small(), inner));
  for (int i = 0; i < M.rows; i++) {
    for (int k = M.ptr[i]; k < M.ptr[i + 1]; k++) entries[{i + 100, M.col[k] + 100}] = M.val[k];
    if (i < 100) entries[{i + 100, i}] = -1; // an interior row refers to a boundary row, not the reverse
  }
  for (int i = 0; i < 100; i++) entries[{i, i}] = 1;
  OK(shape_of(this->ex, make_csr(1100, 1100, entries), small(), with_boundary));
  ASSERT_EQ(with_boundary.rows[0], 1100);
  if (size_of_world() > 1) {
    EXPECT_LE(with_boundary.rows[1], 1000 / 3);
    return;
  }
  with_boundary.rows[0] = 1000;
  EXPECT_EQ(with_boundary.rows, inner.rows);
  EXPECT_EQ(with_boundary.values, inner.values);
}

// Of constants P is ones, so that the entries of A and of each coarse matrix have the same sum. Where the user has attached the constant
// vector itself, P has weights, and the levels are the same.
TYPED_TEST(HierarchyTest, ProlongatesConstantsByOnes)
{
  OwnedMat A;
  OwnedVec constant;
  OwnedNullSpace space;
  Shape of_ones, of_vector;
  AmgParameters parameters = small();
  parameters.storage = Storage::in_double;
  OK(distribute(grid7(16, 16, 4), TypeParam::on_device, A.out()));
  OK(test::shape_of(this->ex, static_cast<Mat>(A), parameters, of_ones));
  OK(MatCreateVecs(A, constant.out(), nullptr));
  OK(VecSet(constant, 1 / 32.));
  Vec vectors[] = {constant};
  OK(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_FALSE, 1, vectors, space.out()));
  OK(MatSetNearNullSpace(A, space));
  OK(test::shape_of(this->ex, static_cast<Mat>(A), parameters, of_vector));
  EXPECT_EQ(of_ones.rows, of_vector.rows);
  EXPECT_EQ(of_ones.patterns, of_vector.patterns);
  double of_levels = std::accumulate(of_ones.values.begin(), of_ones.values.end(), 0.0);
  MPI_Allreduce(MPI_IN_PLACE, &of_levels, 1, MPI_DOUBLE, MPI_SUM, PETSC_COMM_WORLD);
  OwnedVec image;
  PetscScalar of_A;
  OK(VecDuplicate(constant, image.out()));
  OK(MatMult(A, constant, image));
  OK(VecSum(image, &of_A));
  EXPECT_NEAR(of_levels, 32 * of_A * static_cast<double>(of_ones.rows.size() - 1), 1e-9 * of_levels);
}

TYPED_TEST(HierarchyTest, MemoryAndComplexityStayWithinTheTargets)
{
  Mat A;
  Hierarchy<TypeParam> hierarchy;
  AmgParameters parameters;
  Cycle<TypeParam> cycle(hierarchy, parameters);
  parameters.cycle_type = CycleKind::v;
  // What does not grow with the matrix would hide the rest on a small grid: the dense inverse, and the copies of the levels that are small
  // enough to be moved to fewer ranks.
  parameters.coarse_eq_limit = 150;
  parameters.process_eq_limit = 1;
  const HostCsr M = grid7(28, 28, 28);
  OK(distribute(M, TypeParam::on_device, &A));
  OK(hierarchy.build(this->ex, A, parameters, *make_matching_prolongation<TypeParam>({3})));
  OK(cycle.prepare(this->ex));
  double bytes = static_cast<double>(hierarchy.bytes() + cycle.bytes()), entries = 0;
  // Debug stores what a GPU does; a CPU's copy of 64-bit indices, which a GPU does not need, would come on top of that.
  if (TypeParam::sliced_rows && !TypeParam::on_device) bytes -= static_cast<double>(hierarchy.finest.bytes());
  MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_DOUBLE, MPI_SUM, PETSC_COMM_WORLD);
  for (const auto &s : hierarchy.statistics) entries += s.entries;
  EXPECT_LE(entries, 1.16 * hierarchy.statistics[0].entries);
  EXPECT_LE(bytes, 1.5 * (12 * hierarchy.statistics[0].entries + 4.0 * M.rows));
  OK(MatDestroy(&A));
}

// On a GPU only where plain slices take 90 MB, 22.5 million floats or half as many doubles; never on a coarse level.
TYPED_TEST(HierarchyTest, BlocksMayBeConstantOnALargeFinestLevel)
{
  struct Case {
    std::int64_t entries;
    Storage storage;
    bool on_device;
  };
  Level<TypeParam> level;
  level.block_size = 3;
  for (const Case &c : {Case{23'000'000, Storage::in_single, true}, Case{22'000'000, Storage::in_single, false},
                        Case{12'000'000, Storage::in_double, true}, Case{11'000'000, Storage::in_double, false}}) {
    CsrView<double> A;
    A.nnz = c.entries;
    level.A.diag = A;
    for (level.number = 0; level.number < 3; level.number++) {
      const BlockForm blocks = level.blocks(c.storage);
      EXPECT_EQ(blocks.size, 3);
      EXPECT_EQ(blocks.constant, level.number == 0 && (c.on_device || !TypeParam::on_device)) << c.entries << " " << level.number;
    }
  }
}

// Where memory is short, products are made in slices, and give the same hierarchy.
TEST(HierarchyInLittleMemory, IsTheSame)
{
  OwnedMat A;
  AmgParameters parameters = small();
  parameters.storage = Storage::in_double;
  OK(distribute(grid7(10, 9, 8), false, A.out()));
  for (const PetscInt aggressive : {0, 1}) {
    ClassicalParameters classical;
    classical.agg_nl = aggressive;
    std::vector<std::vector<double>> values[2];
    std::int64_t allocations[2];
    for (const bool little : {false, true}) {
      Debug ex;
      if (little) ex.available = 40000;
      Hierarchy<Debug> hierarchy;
      OK(hierarchy.build(ex, A, parameters, *make_classical_prolongation<Debug>(classical)));
      allocations[little] = ex.allocations;
      for (std::size_t l = 1; l < hierarchy.levels.size(); l++) {
        for (auto &block : values_of(ex, hierarchy.levels[l]->A)) values[little].push_back(std::move(block));
      }
    }
    EXPECT_EQ(values[0], values[1]) << aggressive;
    EXPECT_GT(allocations[1], allocations[0] + 20) << aggressive; // in slices, indeed
  }
}
} // namespace amgkit::test
