// amgsa with what the user says of the near-null space, right and wrong, and with odd matrices.
#include "amgkit.h"
#include "support/combinations.hpp"
#include "support/elasticity.hpp"
#include "support/petsc_problems.hpp"
#include "support/positive_couplings.hpp"
#include "support/random_matrices.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>

namespace amgkit::test
{
namespace
{
const std::string cg = "-ksp_type cg -ksp_norm_type unpreconditioned ";

class NearNullSpace : public ::testing::Test {
protected:
  void SetUp() override { OK(AMGKitRegister()); }

  // Whole nodes on every rank
  void make_matrix(const HostCsr &from, int bs, bool on_device, Mat *A)
  {
    const int nodes = from.rows / bs, size = size_of_world();
    OK(distribute(from, on_device, A, bs * (nodes / size + (rank_of_world() < nodes % size ? 1 : 0))));
    OK(MatSetBlockSize(*A, bs));
  }
  // With a solution that is a wave; coordinates: the rank's own, or nothing
  void solve(Mat A, const std::string &options, Solution &solution, const std::vector<double> &coordinates = {}, int dim = 0)
  {
    OwnedVec x, b;
    OwnedKSP ksp;
    PC pc;
    std::vector<double> copy = coordinates;
    OK(make_system(A, x.out(), b.out()));
    OK(make_ksp(A, cg + options, ksp.out(), PCAMGSA));
    OK(KSPGetPC(ksp, &pc));
    if (dim > 0) {
      OK(PCSetCoordinates(pc, dim, static_cast<PetscInt>(copy.size()) / dim, copy.data()));
    }
    OK(test::solve(ksp, b, x, &solution));
    EXPECT_TRUE(solution.converged()) << options << ": " << KSPConvergedReasons[solution.reason];
    EXPECT_LE(solution.residual, 1e-8 * 1.01) << options;
  }
  // Those of the rank's nodes
  static std::vector<double> own_coordinates(Mat A, const Elasticity &problem)
  {
    PetscInt first = 0, last = 0;
    EXPECT_EQ(static_cast<int>(MatGetOwnershipRange(A, &first, &last)), 0);
    return {problem.coordinates.begin() + first, problem.coordinates.begin() + last}; // dim rows a node, dim coordinates
  }
  static void attach_modes(Mat A, const std::vector<double> &coordinates, int dim, bool exact)
  {
    OwnedVec where;
    OwnedNullSpace space;
    OK(MatCreateVecs(A, where.out(), nullptr));
    OK(VecSetBlockSize(where, dim));
    OK(set_entries(where, coordinates));
    OK(MatNullSpaceCreateRigidBody(where, space.out()));
    OK(MatSetNearNullSpace(A, space));
    if (exact) {
      OK(MatSetNullSpace(A, space));
    }
  }
  // Vectors v[k] = f(row, k). PETSc wants orthonormal ones: they get their values afterwards.
  template <class F> static void attach(Mat A, int count, F f)
  {
    std::vector<OwnedVec> owned(count);
    std::vector<Vec> v;
    OwnedNullSpace space;
    PetscInt first, last;
    OK(MatGetOwnershipRange(A, &first, &last));
    for (int pass : {0, 1}) {
      for (int k = 0; k < count; k++) {
        if (pass == 0) {
          OK(MatCreateVecs(A, owned[k].out(), nullptr));
          v.push_back(owned[k]);
        }
        PetscInt locked; // by the null space, in newer versions of PETSc
        OK(VecLockGet(owned[k], &locked));
        if (locked > 0) {
          OK(VecLockReadPop(owned[k]));
        }
        for (PetscInt i = first; i < last; i++)
          OK(VecSetValue(owned[k], i, pass == 0 ? (i == k ? 1 : 0) : f(static_cast<int>(i), k), INSERT_VALUES));
        OK(VecAssemblyBegin(owned[k]));
        OK(VecAssemblyEnd(owned[k]));
        if (locked > 0) {
          OK(VecLockReadPush(owned[k]));
        }
      }
      if (pass == 0) {
        OK(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_FALSE, count, v.data(), space.out()));
      }
    }
    OK(MatSetNearNullSpace(A, space));
  }
  // The setup ends in this error on every rank; afterwards the same PC, its coordinates forgotten, is of use.
  static void expect_error(Mat A, const std::string &options, int dim, std::vector<double> coordinates, int expected,
                           const std::string &name)
  {
    OwnedPC pc;
    OK(make_pc(A, options, pc.out(), PCAMGSA));
    if (dim > 0) {
      OK(PCSetCoordinates(pc, dim, static_cast<PetscInt>(coordinates.size()) / dim, coordinates.data()));
    }
    EXPECT_EQ(static_cast<int>(quietly([&] { return PCSetUp(pc); })), expected) << name;
  }
};
} // namespace

TEST_F(NearNullSpace, RotationsHelpElasticity)
{
  for (const Use &use : uses()) {
    for (const auto &[dim, n] : {std::pair{2, 40}, {3, 10}}) {
      const std::string name = use.name + (" in " + std::to_string(dim)) + "D",
                        options = use.option + std::string(" -pc_amgsa_coarse_eq_limit 60");
      const Elasticity problem = elasticity(dim, n);
      OwnedMat A;
      Solution constants, coordinates, modes;
      make_matrix(problem.A, dim, use.on_device, A.out());
      const std::vector<double> x = own_coordinates(A, problem);
      solve(A, options, constants);
      solve(A, options, coordinates, x, dim);
      attach_modes(A, x, dim, false);
      solve(A, options, modes);
      EXPECT_LT(coordinates.iterations, constants.iterations) << name;
      EXPECT_LE(coordinates.iterations, 25) << name;
      EXPECT_EQ(modes.iterations, coordinates.iterations) << name;
      RecordProperty(name, std::to_string(coordinates.iterations) + ", constants " + std::to_string(constants.iterations));
    }
  }
}

// Aggregates follow the strong couplings across the elements, whatever is known of the rigid body modes. With norms of blocks alone, the
// three took 149, 114 and 114 iterations on 100 x 100 rectangles, and 18 now.
TEST_F(NearNullSpace, LongElementsCostFewIterations)
{
  constexpr int n = 60, inner = n - 1;
  Elasticity problem{elasticity_of_rectangles(n, 20), {}, 2};
  for (int node = 0; node < inner * inner; node++) {
    problem.coordinates.push_back(node / inner + 1);
    problem.coordinates.push_back(20 * (node % inner + 1));
  }
  for (const Use &use : uses()) {
    const std::string options = use.option + std::string(" -pc_amgsa_coarse_eq_limit 60 -ksp_max_it 300 -pc_amgsa_cancel_positive ");
    OwnedMat A;
    Solution without, constants, coordinates, modes;
    make_matrix(problem.A, 2, use.on_device, A.out());
    const std::vector<double> x = own_coordinates(A, problem);
    solve(A, options + "0", without, x, 2);
    solve(A, options + "1", constants);
    solve(A, options + "1", coordinates, x, 2);
    attach_modes(A, x, 2, false);
    solve(A, options + "1", modes);
    EXPECT_GE(without.iterations, 3 * coordinates.iterations) << use.name;
    EXPECT_LE(constants.iterations, 22) << use.name;
    EXPECT_LE(coordinates.iterations, 20) << use.name;
    EXPECT_LE(std::abs(modes.iterations - coordinates.iterations), 2) << use.name;
  }
}

// An entry that is 0 is not stored: the products of its rank are slower, and the view says so.
TEST_F(NearNullSpace, IncompleteBlocksAreShown)
{
  Elasticity problem = elasticity(3, 6, false);
  for (const bool complete : {true, false}) {
    OwnedMat A;
    OwnedPC pc;
    PetscViewer viewer;
    if (!complete) {
      const int k = problem.A.ptr[1] + 4;
      problem.A.col.erase(problem.A.col.begin() + k);
      problem.A.val.erase(problem.A.val.begin() + k);
      for (int i = 2; i <= problem.A.rows; i++) problem.A.ptr[i]--;
    }
    make_matrix(problem.A, 3, false, A.out());
    std::vector<double> own = own_coordinates(A, problem);
    OK(make_pc(A, "-pc_amgsa_coarse_eq_limit 100", pc.out(), PCAMGSA));
    OK(PCSetCoordinates(pc, 3, static_cast<PetscInt>(own.size()) / 3, own.data()));
    OK(PCSetUp(pc));
    const std::string file = ::testing::TempDir() + "amgkit_blocks_" + std::to_string(size_of_world());
    OK(PetscViewerASCIIOpen(PETSC_COMM_WORLD, file.c_str(), &viewer));
    OK(PCView(pc, viewer));
    OK(PetscViewerDestroy(&viewer));
    if (rank_of_world() > 0) continue;
    std::ifstream in(file);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    EXPECT_NE(text.find("operator complexity"), std::string::npos) << text;
    EXPECT_EQ(text.find("level 0: not all entries of its blocks of 3 are stored on 1 of the ranks") == std::string::npos, complete) << text;
    EXPECT_EQ(text.find("level 1: not all"), std::string::npos) << text;
  }
}

// PETSc's modes are orthonormal, ours are not: what they span on an aggregate is the same, and so is the preconditioner.
TEST_F(NearNullSpace, AttachedModesAreThoseOfCoordinates)
{
  for (const Use &use : uses()) {
    for (const auto &[dim, n] : {std::pair{2, 20}, {3, 7}}) {
      const Elasticity problem = elasticity(dim, n);
      OwnedMat A;
      OwnedPC by_coordinates, by_modes;
      OwnedVec x, y, b;
      PetscReal size, difference;
      const std::string options = use.option + std::string(" -pc_amgsa_storage double -pc_amgsa_coarse_eq_limit 60");
      make_matrix(problem.A, dim, use.on_device, A.out());
      std::vector<double> own = own_coordinates(A, problem);
      OK(make_system(A, x.out(), b.out()));
      OK(VecDuplicate(x, y.out()));
      OK(make_pc(A, options, by_coordinates.out(), PCAMGSA));
      OK(PCSetCoordinates(by_coordinates, dim, static_cast<PetscInt>(own.size()) / dim, own.data()));
      OK(PCApply(by_coordinates, b, x));
      attach_modes(A, own, dim, false);
      OK(make_pc(A, options, by_modes.out(), PCAMGSA));
      OK(PCApply(by_modes, b, y));
      OK(VecNorm(x, NORM_2, &size));
      OK(VecAXPY(y, -1, x));
      OK(VecNorm(y, NORM_2, &difference));
      EXPECT_LE(difference, 1e-6 * size) << use.name << " in " << dim << "D"; // 4 Lanczos steps start from the vectors' sum
    }
  }
}

// Of length, of entries
TEST_F(NearNullSpace, WrongCoordinatesAreAnErrorOnEveryRank)
{
  const bool last = rank_of_world() == size_of_world() - 1;
  for (const Use &use : uses()) {
    const Elasticity problem = elasticity(2, 12);
    OwnedMat A;
    make_matrix(problem.A, 2, use.on_device, A.out());
    const std::vector<double> good = own_coordinates(A, problem);
    std::vector<double> longer = good, shorter = good, bad = good;
    if (last) {
      longer.resize(longer.size() + 2);
      shorter.resize(shorter.size() - 2);
      bad.back() = std::numeric_limits<double>::quiet_NaN();
    }
    expect_error(A, use.option, 2, longer, PETSC_ERR_ARG_SIZ, "one node too many");
    expect_error(A, use.option, 2, shorter, PETSC_ERR_ARG_SIZ, "one node too few");
    expect_error(A, use.option, 2, bad, PETSC_ERR_FP, "NaN");
    expect_error(A, use.option, 3, good, PETSC_ERR_ARG_SIZ, "three numbers a node for two");
    expect_error(A, use.option, 2, good, 0, "good");
    Solution solution;
    solve(A, use.option, solution, good, 2);
  }
}

TEST_F(NearNullSpace, NotANumberIsAnErrorOnEveryRank)
{
  for (const Use &use : uses()) {
    OwnedMat A;
    make_matrix(grid7(6, 5, 4), 1, use.on_device, A.out());
    for (double value : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
      attach(A, 2, [=](int i, int k) { return i == 119 && k == 1 ? value : i + k + 1; });
      expect_error(A, use.option, 0, {}, PETSC_ERR_FP, use.name);
    }
    attach(A, 1, [](int, int) { return 1; });
    Solution solution;
    solve(A, use.option, solution);
  }
}

// The vectors say little, nothing, or the same again somewhere or everywhere.
TEST_F(NearNullSpace, PoorVectorsStillGiveAPreconditioner)
{
  constexpr int nx = 14, ny = 13, nz = 12;
  struct Vectors {
    const char *name;
    int count;
    std::function<double(int, int)> entry;
    PetscInt iterations;
  };
  const std::vector<Vectors> all = {
      {"constant", 1, [](int, int) { return 1; }, 20},
      {"vanishes in a corner", 1, [](int i, int) { return i % nx < 5 && i / nx % ny < 5 && i / (nx * ny) < 5 ? 0 : 1; }, 60},
      {"two halves", 2, [](int i, int k) { return (i < nx * ny * nz / 2) == (k == 0) ? 1 : 0; }, 20},
      {"the same twice", 2, [](int, int) { return 3; }, 20},
      {"dependent on most aggregates", 2, [](int i, int k) { return k == 1 && i < nx * ny * nz / 2 ? -1 : 1; }, 20},
      {"zero beside the constant", 3, [](int, int k) { return k == 1 ? 1 : 0; }, 20},
      {"of very different sizes", 2, [](int i, int k) { return k == 0 ? 1e120 : 1e-120 * (i % nx); }, 20},
      {"so small that squares vanish", 1, [](int, int) { return 1e-200; }, 150},
      {"zero", 1, [](int, int) { return 0; }, 150},
      {"four polynomials", 4, [](int i, int k) { return k == 0   ? 1
                                                        : k == 1 ? i % nx
                                                        : k == 2 ? i / nx % ny
                                                                 : i / (nx * ny); }, 20}};
  for (const Use &use : uses()) {
    for (const Vectors &vectors : all) {
      for (const char *own : {"", " -pc_amgsa_prolongator_filter 0.1"}) {
        const std::string name = use.name + std::string(", ") + vectors.name + own;
        OwnedMat A;
        Solution solution;
        make_matrix(grid7(nx, ny, nz), 1, use.on_device, A.out());
        attach(A, vectors.count, vectors.entry);
        solve(A, use.option + std::string(own) + " -pc_amgsa_coarse_eq_limit 60", solution);
        EXPECT_LE(solution.iterations, vectors.iterations) << name;
        RecordProperty(name, static_cast<int>(solution.iterations));
      }
    }
  }
}

// Nobody holds the body: six motions cost nothing.
TEST_F(NearNullSpace, FreeBodiesWithTheirNullSpaceAttached)
{
  for (const Use &use : uses()) {
    for (const auto &[dim, n] : {std::pair{2, 24}, {3, 7}}) {
      for (const char *limit : {"1000", "60"}) {
        const Elasticity problem = elasticity(dim, n, false);
        const std::string name = use.name + (" in " + std::to_string(dim)) + "D, " + limit;
        OwnedMat A;
        Solution solution;
        make_matrix(problem.A, dim, use.on_device, A.out());
        attach_modes(A, own_coordinates(A, problem), dim, true);
        solve(A, use.option + std::string(" -pc_amgsa_coarse_eq_limit ") + limit, solution);
        EXPECT_LE(solution.iterations, 40) << name;
        RecordProperty(name, static_cast<int>(solution.iterations));
      }
    }
  }
}

// Squares of 16 x 16 cells, each joined to the next by one coupling: a small error of what coarse levels take for constant joins them, too.
TEST_F(NearNullSpace, PartsThatHardlyCouple)
{
  constexpr int side = 16, cells = side * side, parts = 25;
  for (const Use &use : uses()) {
    for (const double eps : {1e-2, 1e-4}) {
      std::map<std::pair<int, int>, double> edges;
      for (int i = 0; i < parts * cells; i++) {
        if (i % side + 1 < side) edges[{i, i + 1}] = 1;
        if (i % cells + side < cells) edges[{i, i + side}] = 1;
        if (i % cells == 0 && i > 0) edges[{i - 1, i}] = eps;
      }
      HostCsr problem = from_edges(parts * cells, edges, 0);
      problem.val[0] += 1; // a_00
      OwnedMat A;
      Solution solution;
      make_matrix(problem, 1, use.on_device, A.out());
      solve(A, use.option + std::string(" -pc_amgsa_coarse_eq_limit 30"), solution);
      EXPECT_LE(solution.iterations, 25) << use.name << " " << eps;
    }
  }
}

// Two unknowns a node that were one: nodes two by two along x
TEST_F(NearNullSpace, AScalarProblemInBlocksOfTwo)
{
  for (const Use &use : uses()) {
    OwnedMat A;
    Solution solution;
    make_matrix(grid7(16, 14, 12), 2, use.on_device, A.out());
    solve(A, use.option + std::string(" -pc_amgsa_coarse_eq_limit 60"), solution);
    EXPECT_LE(solution.iterations, 25) << use.name;
  }
}

TEST_F(NearNullSpace, OddMatricesAreSolved)
{
  for (const Use &use : uses()) {
    for (const Named &odd : odd_matrices()) {
      for (int bs : {1, 2}) {
        if (odd.A.rows % bs) continue;
        for (const char *own : {"", "-pc_amgsa_coarse_solver smoother", "-pc_amgsa_strength_type symmetric -pc_amgsa_threshold 0",
                                "-pc_amgsa_threshold 1", "-pc_amgsa_prolongator_filter 0.3 -pc_amgsa_agg_nsmooths 2",
                                "-pc_amgsa_agg_nsmooths 0 -pc_amgsa_aggressive_coarsening 2", "-pc_amgsa_lump_weak 0"}) {
          const std::string name = use.name + (", " + odd.name) + ", " + std::to_string(bs) + ", " + own;
          OwnedMat A;
          Solution solution;
          make_matrix(odd.A, bs, use.on_device, A.out());
          solve(A, use.option + std::string(" -pc_amgsa_coarse_eq_limit 5 ") + own, solution);
          EXPECT_LE(solution.iterations, 60) << name;
        }
      }
    }
  }
}

// Random matrices, with isolated and Dirichlet rows, in blocks of 1, 2, 3 and 6, with 1, 3 and 6 vectors: random ones, one of which
// vanishes on the first third of the rows, and one depends on another there or everywhere. The gate takes 15 seeds, others on each number
// of ranks.
TEST_F(NearNullSpace, RandomMatricesWithRandomVectors)
{
  const unsigned begin = full_run() ? 0 : 15 * static_cast<unsigned>(size_of_world() - 1), end = full_run() ? 60 : begin + 15;
  for (unsigned seed = begin; seed < end; seed++) {
    RandomMatrix random = random_matrix(seed, size_of_world());
    if (!random.definite) continue;
    const std::vector<int> &parts = random.local_rows;
    const bool sixes = std::all_of(parts.begin(), parts.end(), [](int n) { return n % 6 == 0; });
    for (const int m : {1, 3, 6}) {
      if (random.A.rows < m) continue; // PETSc wants them orthonormal
      for (const Use &use : uses()) {
        const std::string name = random.description + ", " + use.name + ", " + std::to_string(m) + " vectors";
        OwnedMat A;
        OwnedVec x, b;
        OwnedKSP ksp;
        OwnedPC pc;
        Solution solution;
        PetscReal size;
        OK(distribute(random.A, use.on_device, A.out(), parts[rank_of_world()]));
        OK(MatSetBlockSize(A, sixes ? 6 : random.block_size));
        attach(A, m, [&](int i, int k) {
          const bool early = 3 * i < random.A.rows;
          if (k == 1 && early) return 0.0;
          if (k == 2 && (early || seed % 2 == 0)) return 2 + std::cos(0.7 * i); // twice the first
          return (k == 0 || k == 2 ? 1 + 0.5 * std::cos(0.7 * i) : std::sin(1.3 * k * i + seed));
        });
        const std::string options = use.option + std::string(" -pc_amgsa_coarse_eq_limit 12 -pc_amgsa_storage double ") +
                                    (seed % 3 == 0 ? "-pc_amgsa_prolongator_filter 0.1 " : "");
        OK(make_system(A, x.out(), b.out()));
        OK(make_pc(A, options, pc.out(), PCAMGSA));
        OK(PCApply(pc, b, x));
        OK(VecNorm(x, NORM_INFINITY, &size));
        EXPECT_TRUE(std::isfinite(size)) << name;
        OK(make_ksp(A, options + "-ksp_type fgmres -ksp_atol 0 -ksp_gmres_cgs_refinement_type refine_always", ksp.out(), PCAMGSA));
        OK(VecSet(x, 0));
        OK(test::solve(ksp, b, x, &solution));
        EXPECT_TRUE(solution.converged() || !random.tame) << name << ": " << KSPConvergedReasons[solution.reason];
        EXPECT_TRUE(!solution.converged() || solution.residual <= 1e-8 * 1.1) << name << ", residual " << solution.residual;
      }
    }
  }
}

// Whatever the matrix, the preconditioner is there, and finite.
TEST_F(NearNullSpace, NeverNotANumber)
{
  const std::vector<Use> all_uses = uses();
  const std::vector<Named> matrices = gallery();
  const char *const extremes[] = {"", " -pc_amgsa_threshold 1", " -pc_amgsa_strength_type symmetric -pc_amgsa_threshold 0",
                                  " -pc_amgsa_prolongator_filter 1 -pc_amgsa_lump_weak 0", " -pc_amgsa_agg_nsmooths 3"};
  for (const Combination &c : combinations({static_cast<int>(all_uses.size()), static_cast<int>(matrices.size()), 5})) {
    const Use &use = all_uses[c[0]];
    const Named &matrix = matrices[c[1]];
    const std::string own = extremes[c[2]];
    PetscReal size;
    OK(size_of_application(matrix.A, use, use.option + std::string(" -pc_amgsa_coarse_eq_limit 5") + own, PCAMGSA, &size));
    EXPECT_TRUE(std::isfinite(size)) << use.name << ", " << matrix.name << own;
  }
}
} // namespace amgkit::test
