// One level in natural order is PETSc's bjacobi with ilu; in other orders, with new values and transposed, it stays what it is.
#include "support/convection.hpp"
#include "support/ilu_beside_petsc.hpp"
#include "support/ilu_matrices.hpp"
#include "support/unstructured.hpp"

#include <petscviewer.h>

extern "C" {
#include "../share/amgkit/bench/model_problem.h"
}

namespace amgkit::test
{
namespace
{
const std::string strong_convection = "2D, rotating wind, strong";

bool has_symmetric_pattern(const HostCsr &M)
{
  for (int i = 0; i < M.rows; i++) {
    for (int k = M.ptr[i]; k < M.ptr[i + 1]; k++) {
      if (M.val[k] != 0 && M.at(M.col[k], i) == 0) return false;
    }
  }
  return true;
}

// What iterations are counted on
std::vector<Named> systems()
{
  return {{"aniso", grid7(10, 9, 8, 1, 1, 0.01)},
          {"2D, constant wind", convection_diffusion(2, 24, 10, Wind::constant)},
          {strong_convection, convection_diffusion(2, 24, 100, Wind::rotating)},
          {"3D, rotating wind", convection_diffusion(3, 9, 1, Wind::rotating)},
          {"triangles", delaunay_laplacian(700)},
          {"tetrahedra", tetrahedra_laplacian(8, 0.3)},
          {"random, not symmetric", random_graph(500, 1500, 5, false)},
          {"skewed, one-sided", one_sided(skewed(grid7(10, 9, 8)))}};
}

std::vector<Named> all_matrices()
{
  std::vector<Named> all = systems();
  for (const auto &named : ilu_matrices()) all.push_back(named);
  return all;
}

PetscErrorCode model_problem(System system, bool on_device, Mat *A)
{
  PetscFunctionBegin;
  PetscCall(replace_options(std::string("-mat_type ") + (on_device ? MATAIJCUSPARSE : MATAIJ)));
  PetscCall(ModelProblemCreateMat(PETSC_COMM_WORLD, system, 16, 16, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Of gmres, with a factor that PETSc has too
void expect_as_many_iterations(Mat A, KSP ours, KSP theirs, const std::string &name)
{
  OwnedVec x, b;
  Solution solution, expected;
  OK(make_system(A, x.out(), b.out()));
  OK(solve(theirs, b, x, &expected));
  OK(VecSet(x, 0));
  OK(solve(ours, b, x, &solution));
  EXPECT_TRUE(solution.converged()) << name;
  EXPECT_EQ(solution.iterations, expected.iterations) << name;
  EXPECT_NEAR(solution.residual, expected.residual, 1e-3 * expected.residual) << name;
}

// B b and Bᵀ b with these options, after the space's, are those of PETSc's with its.
class Ilu2LevelBesidePetsc : public Ilu2Level {
protected:
  static void expect_same_application(const Named &named, const std::string &options, const std::string &petsc_options)
  {
    OwnedMat P;
    OwnedPC petsc;
    std::vector<double> expected, expected_t;
    OK(distribute(named.A, false, P.out()));
    OK(petsc_pc(P, petsc_options, petsc.out()));
    OK(applied(petsc, false, expected));
    OK(applied(petsc, true, expected_t));
    for (const Use &use : uses()) {
      OwnedMat A;
      OwnedPC pc;
      std::vector<double> got;
      OK(distribute(named.A, use.on_device, A.out()));
      OK(make_pc(A, use.option + options, pc.out()));
      OK(applied(pc, false, got));
      expect_same_vector(got, expected, 1e-11, named.name + ", " + use.name);
      OK(applied(pc, true, got));
      expect_same_vector(got, expected_t, 1e-11, named.name + ", transposed, " + use.name);
    }
  }
};
} // namespace

TEST_F(Ilu2LevelBesidePetsc, AppliesAsPETScsBlockJacobiDoes)
{
  for (const Named &named : all_matrices()) expect_same_application(named, "", "");
}

TEST_F(Ilu2Level, TakesAsManyIterationsAsPETScsBlockJacobi)
{
  for (const Use &use : uses()) {
    for (const auto &[name, M] : systems()) {
      OwnedMat A;
      OwnedKSP ours, theirs;
      OK(distribute(M, use.on_device, A.out()));
      OK(make_ksp(A, std::string(use.option) + " -ksp_type gmres", ours.out()));
      OK(petsc_ksp(A, "-ksp_type gmres", theirs.out()));
      expect_as_many_iterations(A, ours, theirs, name + ", " + use.name);
    }
    for (const System system : {SYSTEM_7, SYSTEM_27, SYSTEM_ANISO, SYSTEM_JUMP}) {
      for (const std::string krylov : {"-ksp_type gmres", "-ksp_type cg", "-ksp_type bcgs"}) {
        OwnedMat A;
        OwnedKSP ours, theirs;
        OK(model_problem(system, use.on_device, A.out()));
        OK(make_ksp(A, use.option + (" " + krylov), ours.out()));
        OK(petsc_ksp(A, krylov, theirs.out()));
        expect_as_many_iterations(A, ours, theirs, SystemNames[system] + (", " + krylov) + ", " + use.name);
      }
    }
  }
}

// Of a pattern that is not symmetric PETSc's rcm sees the lower triangle alone, ours all.
TEST_F(Ilu2LevelBesidePetsc, RcmIsPETScs)
{
  for (const Named &named : systems()) {
    if (has_symmetric_pattern(named.A))
      expect_same_application(named, " -pc_ilu2level_ordering rcm", "-sub_pc_factor_mat_ordering_type rcm");
  }
}

// At a price, but for strong convection, where colours are no preconditioner: there the natural order follows the flow.
TEST_F(Ilu2Level, EveryOrderPreconditions)
{
  for (const auto &[name, M] : systems()) {
    if (name == strong_convection) continue;
    for (const Use &use : uses()) {
      OwnedMat A;
      OwnedVec x, b;
      PetscInt natural = 0;
      OK(distribute(M, use.on_device, A.out()));
      OK(make_system(A, x.out(), b.out()));
      for (const std::string order : {"natural", "rcm", "multicolor"}) {
        const std::string what = name + ", " + order + ", " + use.name;
        OwnedKSP ksp;
        Solution solution;
        OK(make_ksp(A, use.option + (" -ksp_type gmres -pc_ilu2level_ordering " + order), ksp.out()));
        OK(VecSet(x, 0));
        OK(solve(ksp, b, x, &solution));
        if (order == "natural") natural = solution.iterations;
        EXPECT_TRUE(solution.converged()) << what;
        EXPECT_LE(solution.iterations, 2 * natural + 10) << what;
      }
    }
  }
}

// And it fails where PETSc does, and nowhere else.
TEST_F(Ilu2Level, ShiftsAsPETScDoes)
{
  int failures = 0, shifts = 0;
  for (const auto &[name, M] : troubled()) {
    for (const std::string shift : {"none", "nonzero", "positive_definite", "inblocks"}) {
      OwnedMat P;
      OwnedPC petsc;
      bool petsc_failed, failed;
      std::vector<double> expected, got;
      OK(distribute(M, false, P.out()));
      OK(petsc_pc(P, "-sub_pc_factor_zeropivot 1e-10 -sub_pc_factor_shift_amount 1e-4 -sub_pc_factor_shift_type " + shift, petsc.out()));
      OK(has_failed(petsc, &petsc_failed));
      if (!petsc_failed) {
        OK(applied(petsc, false, expected));
      }
      for (const Use &use : uses()) {
        const std::string what = name + ", " + shift + ", " + use.name;
        OwnedMat A;
        OwnedPC pc;
        OK(distribute(M, use.on_device, A.out()));
        OK(make_pc(A, use.option + (" -pc_ilu2level_zero_pivot 1e-10 -pc_ilu2level_shift_amount 1e-4 -pc_ilu2level_shift_type " + shift),
                   pc.out()));
        OK(has_failed(pc, &failed));
        EXPECT_EQ(failed, petsc_failed) << what;
        failures += failed;
        if (failed) continue;
        OK(applied(pc, false, got));
        expect_same_vector(got, expected, 1e-11, what);
        const std::string view = view_of(pc);
        shifts += rank_of_world() != 0 || view.find("shifted") != std::string::npos;
      }
    }
  }
  EXPECT_GT(failures, 0);
  EXPECT_GT(shifts, 0);
}

// Whatever the units: a matrix times 2^k has the preconditioner of the matrix, times 2^-k.
TEST_F(Ilu2Level, ScalesOfMatricesChangeNothing)
{
  const HostCsr M = skewed(grid7(8, 7, 6));
  for (const Use &use : uses()) {
    for (const std::string setting :
         {"", " -pc_ilu2level_ordering multicolor", " -pc_ilu2level_shift_type nonzero", " -pc_ilu2level_shift_type positive_definite",
          " -pc_ilu2level_shift_type inblocks", " -pc_ilu2level_levels 2", " -pc_ilu2level_levels 2 -pc_ilu2level_type rap"}) {
      std::vector<double> expected, got;
      for (const int exponent : {0, -100, 100}) {
        OwnedMat A;
        OwnedPC pc;
        bool failed;
        const std::string what = use.name + setting + ", 2^" + std::to_string(exponent);
        OK(distribute(M, use.on_device, A.out()));
        OK(MatScale(A, std::ldexp(1, exponent)));
        OK(make_pc(A, use.option + setting, pc.out()));
        OK(has_failed(pc, &failed));
        ASSERT_FALSE(failed) << what;
        OK(applied(pc, false, got));
        for (double &x : got) x = std::ldexp(x, exponent);
        if (exponent == 0) expected = got;
        expect_same_vector(got, expected, 1e-12, what);
        EXPECT_EQ(view_of(pc).find("shifted"), std::string::npos) << what;
      }
    }
  }
}

// New values take no new analysis, a new pattern does; what comes of it is what a new preconditioner gives.
TEST_F(Ilu2Level, FollowsNewValuesAndNewPatterns)
{
  OK(PetscLogDefaultBegin());
  for (const Use &use : uses()) {
    for (const std::string order : {"natural", "rcm", "multicolor"}) {
      OwnedMat A;
      OwnedPC pc;
      std::vector<double> got, expected;
      const std::string options = use.option + (" -pc_ilu2level_ordering " + order);
      OK(distribute(one_sided(skewed(grid7(8, 7, 6))), use.on_device, A.out()));
      OK(make_pc(A, options, pc.out()));
      OK(applied(pc, true, got));
      for (int step = 0; step < 6; step++) {
        OwnedPC fresh;
        const bool new_pattern = step == 3;
        const int analyses = count_of("AMGKitILUSym"), factors = count_of("AMGKitILUNum");
        if (new_pattern) {
          OK(MatSetOption(A, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_FALSE));
          for (PetscInt i = 0; i < 330; i += 30) OK(MatSetValue(A, i, i + 3, -0.5, ADD_VALUES));
          OK(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
          OK(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
        } else {
          OK(MatScale(A, 1.25));
          OK(MatShift(A, 0.5));
        }
        OK(PCSetOperators(pc, A, A));
        OK(PCSetUp(pc));
        EXPECT_EQ(count_of("AMGKitILUSym"), analyses + new_pattern) << use.name << step;
        EXPECT_EQ(count_of("AMGKitILUNum"), factors + 1) << use.name << step;
        OK(make_pc(A, options, fresh.out()));
        for (const bool transposed : {false, true}) {
          OK(applied(fresh, transposed, expected));
          OK(applied(pc, transposed, got));
          EXPECT_EQ(got, expected) << use.name << step;
        }
      }
    }
  }
}

TEST_F(Ilu2Level, SmallestChangeOfAnOptionTakesANewAnalysis)
{
  OwnedMat A;
  OwnedPC pc;
  OK(PetscLogDefaultBegin());
  OK(distribute(grid7(8, 7, 6), false, A.out()));
  OK(make_pc(A, "-pc_ilu2level_zero_pivot 0.25", pc.out()));
  OK(PCSetUp(pc));
  for (const auto &[value, anew] : {std::pair{"0.25", false}, {"0.2500001", true}, {"0.2500001", false}}) {
    const int before = count_of("AMGKitILUSym");
    OK(replace_options(std::string("-pc_ilu2level_zero_pivot ") + value));
    OK(PCSetFromOptions(pc));
    OK(MatScale(A, 2));
    OK(PCSetUp(pc));
    EXPECT_EQ(count_of("AMGKitILUSym") > before, anew) << value;
  }
}

TEST_F(Ilu2Level, TransposedIsTheAdjoint)
{
  for (const Use &use : uses()) {
    for (const std::string how : {"triangular_solve exact", "triangular_solve jacobi", "ordering rcm", "ordering multicolor"}) {
      OwnedMat A;
      OwnedPC pc;
      OwnedVec x, y, Bx, Bty;
      PetscScalar one, other;
      PetscReal size, length;
      OK(distribute(one_sided(skewed(grid7(9, 8, 7))), use.on_device, A.out()));
      OK(MatCreateVecs(A, x.out(), y.out()));
      OK(VecDuplicate(x, Bx.out()));
      OK(VecDuplicate(x, Bty.out()));
      OK(VecSetRandom(x, nullptr));
      OK(VecSetRandom(y, nullptr));
      OK(make_pc(A, use.option + (" -pc_ilu2level_" + how), pc.out()));
      OK(PCApply(pc, x, Bx));
      OK(PCApplyTranspose(pc, y, Bty));
      OK(VecDot(Bx, y, &one));
      OK(VecDot(x, Bty, &other));
      OK(VecNorm(Bx, NORM_2, &size));
      OK(VecNorm(y, NORM_2, &length));
      EXPECT_NEAR(one, other, 1e-13 * size * length) << use.name << how;
    }
  }
}

// As many sweeps as there are steps are exact; fewer still precondition.
TEST_F(Ilu2Level, JacobiSweepsComeCloseToExactSolves)
{
  for (const Use &use : uses()) {
    OwnedMat A;
    OwnedVec x, b;
    OwnedPC exact, jacobi;
    std::vector<double> expected, got;
    PetscInt before = 200;
    OK(distribute(convection_diffusion(2, 20, 10, Wind::rotating), use.on_device, A.out()));
    OK(make_system(A, x.out(), b.out()));
    OK(make_pc(A, use.option, exact.out()));
    OK(applied(exact, false, expected));
    OK(make_pc(A, use.option + std::string(" -pc_ilu2level_triangular_solve jacobi -pc_ilu2level_triangular_sweeps 400"), jacobi.out()));
    OK(applied(jacobi, false, got));
    expect_same_vector(got, expected, 1e-14, use.name);
    for (const char *sweeps : {"3", "5", "12", "400"}) {
      OwnedKSP ksp;
      Solution solution;
      OK(make_ksp(
          A, use.option + std::string(" -ksp_type gmres -pc_ilu2level_triangular_solve jacobi -pc_ilu2level_triangular_sweeps ") + sweeps,
          ksp.out()));
      OK(VecSet(x, 0));
      OK(solve(ksp, b, x, &solution));
      EXPECT_TRUE(solution.converged()) << use.name << sweeps;
      EXPECT_LE(solution.iterations, before) << use.name << sweeps;
      before = solution.iterations;
    }
  }
}

// The factors need no matrix: KSPSetReusePreconditioner() holds also when its pattern has changed.
TEST_F(Ilu2Level, OldFactorsMayServeANewPattern)
{
  for (const Use &use : uses()) {
    OwnedMat A, B;
    OwnedKSP ksp;
    OwnedVec x, b;
    Solution solution;
    PC pc;
    std::vector<double> before, after;
    OK(distribute(grid7(8, 7, 6), use.on_device, A.out()));
    OK(distribute(one_sided(skewed(grid7(8, 7, 6))), use.on_device, B.out()));
    OK(make_system(B, x.out(), b.out()));
    OK(make_ksp(A, use.option + std::string(" -ksp_type gmres"), ksp.out()));
    OK(KSPSetUp(ksp));
    OK(KSPGetPC(ksp, &pc));
    OK(applied(pc, true, before)); // takes the transposes
    OK(KSPSetReusePreconditioner(ksp, PETSC_TRUE));
    OK(KSPSetOperators(ksp, B, B));
    OK(applied(pc, true, after));
    EXPECT_EQ(after, before) << use.name;
    OK(solve(ksp, b, x, &solution));
    EXPECT_TRUE(solution.converged()) << use.name;
    EXPECT_LE(solution.residual, 1e-6) << use.name;
  }
}

TEST_F(Ilu2Level, ViewTellsWhatThereIs)
{
  OwnedMat A;
  OwnedPC pc;
  OK(distribute(grid7(9, 8, 7), false, A.out()));
  OK(make_pc(A, "", pc.out()));
  EXPECT_EQ(view_of(pc).find("one level"), std::string::npos);
  OK(PCSetUp(pc));
  const std::string text = view_of(pc);
  if (rank_of_world() > 0) return;
  for (const char *expected : {"type: ilu2level", "levels=1", "ordering=natural", "factorization=native", "runs in the host space",
                               "one level: ILU(0)", "entries of the factors: ", "steps of a triangular solve", "memory: "})
    EXPECT_NE(text.find(expected), std::string::npos) << expected << "\n" << text;
  if (size_of_world() == 1) {
    EXPECT_NE(text.find("at most 22 with L, 22 with U"), std::string::npos) << text;
  }
}

// In every matrix's shape and scale, with rows on some ranks only: what PETSc gives, finite or not.
TEST_F(Ilu2Level, RandomMatricesGiveWhatPETScGives)
{
  for (unsigned seed = 0; seed < 150; seed++) {
    const RandomMatrix matrix = random_matrix(seed, size_of_world());
    OwnedMat P;
    OwnedPC petsc;
    bool petsc_failed, failed;
    std::vector<double> expected;
    OK(distribute(matrix.A, false, P.out(), matrix.local_rows[rank_of_world()]));
    OK(petsc_pc(P, "-sub_pc_factor_zeropivot 0", petsc.out()));
    OK(has_failed(petsc, &petsc_failed));
    if (!petsc_failed) {
      OK(applied(petsc, false, expected));
    }
    for (const Use &use : uses()) {
      const std::string what = matrix.description + ", " + use.name;
      OwnedMat A;
      OwnedPC pc;
      std::vector<double> got, again;
      OK(distribute(matrix.A, use.on_device, A.out(), matrix.local_rows[rank_of_world()]));
      OK(MatSetBlockSize(A, matrix.block_size));
      OK(make_pc(A, use.option + std::string(" -pc_ilu2level_zero_pivot 0"), pc.out()));
      OK(has_failed(pc, &failed));
      EXPECT_EQ(failed, petsc_failed) << what;
      if (failed) continue;
      OK(applied(pc, false, got));
      OK(applied(pc, false, again));
      EXPECT_EQ(got, again) << what;
      if (matrix.tame) expect_same_vector(got, expected, 1e-10, what);
    }
  }
}

namespace
{
// Other settings for every seed
std::string settings(unsigned seed)
{
  std::string all;
  for (const std::vector<const char *> &choice :
       {std::vector<const char *>{"ordering natural", "ordering rcm", "ordering multicolor"},
        {"triangular_solve exact", "triangular_solve jacobi", "triangular_solve jacobi -pc_ilu2level_triangular_sweeps 1"},
        {"shift_type none", "shift_type nonzero", "shift_type positive_definite", "shift_type inblocks"}}) {
    all += std::string(" -pc_ilu2level_") + choice[seed % choice.size()];
    seed = seed / static_cast<unsigned>(choice.size()) + seed;
  }
  return all;
}
} // namespace

// The same every time, and in every space; with new values what a new one gives; finite, where the matrix lets it be.
TEST_F(Ilu2Level, RandomMatricesBreakNoSetting)
{
  for (unsigned seed = 0; seed < 100; seed++) {
    const RandomMatrix matrix = random_matrix(seed, size_of_world());
    std::vector<double> on_host, on_host_t;
    for (const Use &use : uses()) {
      const std::string options = use.option + settings(seed), what = matrix.description + ", " + options;
      OwnedMat A;
      OwnedPC pc, fresh;
      bool failed;
      std::vector<double> got, got_t, again;
      OK(distribute(matrix.A, use.on_device, A.out(), matrix.local_rows[rank_of_world()]));
      OK(make_pc(A, options, pc.out()));
      OK(has_failed(pc, &failed));
      EXPECT_TRUE(!failed || !matrix.tame) << what;
      OK(MatScale(A, 0.5));
      OK(PCSetOperators(pc, A, A));
      OK(has_failed(pc, &failed));
      if (failed) continue;
      OK(applied(pc, false, got));
      OK(applied(pc, true, got_t));
      OK(make_pc(A, options, fresh.out()));
      OK(applied(fresh, true, again));
      EXPECT_EQ(got_t, again) << what;
      OK(applied(fresh, false, again));
      EXPECT_EQ(got, again) << what;
      if (!matrix.tame) continue;
      for (double x : got) EXPECT_TRUE(std::isfinite(x)) << what;
      if (on_host.empty()) on_host = got;
      if (on_host_t.empty()) on_host_t = got_t;
      expect_same_vector(got, on_host, 1e-11, what);
      expect_same_vector(got_t, on_host_t, 1e-11, what);
    }
  }
}
} // namespace amgkit::test
