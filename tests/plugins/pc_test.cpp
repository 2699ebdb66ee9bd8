#include "amgkit.h"
#include "support/petsc_problems.hpp"
#include "support/positive_couplings.hpp"

#include <cmath>
#include <petscviewer.h>

namespace amgkit::test
{
namespace
{
class PCTest : public ::testing::Test {
protected:
  void SetUp() override { OK(AMGKitRegister()); }

  // Solves and checks the true residual.
  void expect_solves(KSP ksp, Mat A, PetscInt most_iterations, const std::string &name)
  {
    OwnedVec x, b;
    Solution solution;
    OK(make_system(A, x.out(), b.out()));
    OK(solve(ksp, b, x, &solution));
    EXPECT_TRUE(solution.converged()) << name;
    EXPECT_LE(solution.iterations, most_iterations) << name;
    EXPECT_LE(solution.residual, 1e-6) << name;
  }

  std::string view_of(KSP ksp)
  {
    PetscViewer viewer;
    char text[8192] = "";
    PC pc;
    EXPECT_EQ(static_cast<int>(PetscViewerStringOpen(PETSC_COMM_WORLD, text, sizeof text, &viewer)), 0);
    EXPECT_EQ(static_cast<int>(KSPGetPC(ksp, &pc)), 0);
    EXPECT_EQ(static_cast<int>(PCView(pc, viewer)), 0);
    EXPECT_EQ(static_cast<int>(PetscViewerDestroy(&viewer)), 0);
    return text;
  }
};
} // namespace

TEST_F(PCTest, SolvesWithEveryKrylovMethodInEverySpace)
{
  for (const Use &use : uses_and_shared()) {
    OwnedMat A;
    OK(distribute(grid7(14, 13, 12), use.on_device, A.out()));
    for (const char *krylov : {"cg", "fcg", "amgfcg", "gmres", "fgmres", "amgfgmres"}) {
      OwnedKSP ksp;
      OK(make_ksp(A, std::string(use.option) + " -pc_amgmatching_coarse_eq_limit 50 -ksp_type " + krylov, ksp.out()));
      expect_solves(ksp, A, 40, std::string(use.name) + " " + krylov);
    }
  }
}

// A k-cycle under a method that takes its preconditioner for a fixed one converges to a wrong answer, unnoticed: it is refused when
// asked for, and auto does not choose it there, nor where nobody can tell who applies the preconditioner.
TEST_F(PCTest, TheKCycleIsForFlexibleMethodsOnly)
{
  for (const Use &use : uses_and_shared()) {
    OwnedMat A;
    OwnedVec x, b;
    OK(distribute(grid7(20, 20, 20, 1, 1, 0.01), use.on_device, A.out()));
    OK(make_system(A, x.out(), b.out()));
    const std::string options = std::string(use.option) + " -pc_amgmatching_coarse_eq_limit 50 -pc_amgmatching_matching_steps 2";
    for (const char *krylov : {"gmres", "bcgs", "minres"}) {
      OwnedKSP ksp;
      OK(make_ksp(A, options + " -pc_amgmatching_cycle_type k -ksp_type " + krylov, ksp.out()));
      EXPECT_EQ(static_cast<int>(quietly([&] { return KSPSolve(ksp, b, x); })), PETSC_ERR_ARG_INCOMP) << krylov;
      OK(make_ksp(A, options + " -ksp_type " + krylov, ksp.out()));
      expect_solves(ksp, A, 40, krylov);
    }
    for (const char *krylov : {"amgfcg", "amgfgmres", "fgmres", "gcr", "richardson"}) {
      OwnedKSP ksp;
      OK(make_ksp(A, options + " -pc_amgmatching_cycle_type k -ksp_type " + krylov, ksp.out()));
      expect_solves(ksp, A, 40, krylov);
    }
  }
}

// Inside another preconditioner, an outer gmres sees a fixed operator.
TEST_F(PCTest, WorksInsideOtherPreconditioners)
{
  for (const Use &use : uses_and_shared()) {
    if (use.on_device && std::string(use.name) == "host") continue;
    OwnedMat A;
    OK(distribute(grid7(20, 20, 10), use.on_device, A.out()));
    for (const char *outer : {"bjacobi", "asm", "ksp", "composite -pc_composite_pcs amgmatching,jacobi"}) {
      OwnedKSP ksp;
      const bool ksp_inside = std::string(outer) == "ksp";
      const std::string prefix = ksp_inside ? "ksp_" : std::string(outer).rfind("composite", 0) == 0 ? "sub_0_" : "sub_";
      OK(make_ksp(A,
                  "-ksp_type gmres -pc_type " + std::string(outer) + (ksp_inside ? " -ksp_ksp_type preonly" : "") + " -" + prefix +
                      "pc_type amgmatching -" + prefix + "pc_amgmatching_coarse_eq_limit 50" +
                      (use.shared ? option_inside(use, prefix) : ""),
                  ksp.out()));
      expect_solves(ksp, A, 60, outer);
    }
  }
}

// Steps in time: values change a little every step, then very much, then an option does.
TEST_F(PCTest, TakesNewValuesStepByStep)
{
  for (const Use &use : uses_and_shared()) {
    for (const char *reuse : {"0", "1"}) {
      OwnedMat A;
      OwnedKSP ksp;
      OK(distribute(grid7(12, 12, 12), use.on_device, A.out()));
      OK(make_ksp(
          A, std::string(use.option) + " -ksp_type amgfcg -pc_amgmatching_coarse_eq_limit 50 -pc_amgmatching_reuse_interpolation " + reuse,
          ksp.out()));
      for (int step = 0; step < 4; step++) {
        expect_solves(ksp, A, 25, std::string(use.name) + " step " + std::to_string(step));
        OK(MatShift(A, step < 2 ? 0.5 : 1000));
        OK(MatScale(A, 1.5));
      }
      OK(PetscOptionsInsertString(nullptr, "-pc_amgmatching_matching_steps 3"));
      OK(KSPSetFromOptions(ksp));
      OK(MatScale(A, 2));
      expect_solves(ksp, A, 25, "another option");
      EXPECT_NE(view_of(ksp).find("matching_steps=3"), std::string::npos);
    }
  }
}

TEST_F(PCTest, TakesAnOptionsPrefix)
{
  OwnedMat A;
  OwnedKSP ksp;
  OK(distribute(grid7(8, 8, 8), false, A.out()));
  OK(make_ksp(A, "-mine_pc_amgmatching_matching_steps 3", ksp.out()));
  OK(KSPSetOptionsPrefix(ksp, "mine_"));
  OK(KSPSetFromOptions(ksp));
  EXPECT_NE(view_of(ksp).find("matching_steps=3"), std::string::npos);
}

TEST_F(PCTest, FollowsNewValuesAndNewPatterns)
{
  for (const Use &use : uses_and_shared()) {
    OwnedMat A, B;
    OwnedKSP ksp;
    OK(distribute(grid7(10, 10, 10), use.on_device, A.out()));
    OK(distribute(grid7(11, 9, 10, 1, 5, 1), use.on_device, B.out()));
    OK(make_ksp(A, std::string(use.option) + " -ksp_type cg -pc_amgmatching_coarse_eq_limit 50", ksp.out()));
    expect_solves(ksp, A, 40, use.name);
    OK(MatScale(A, 1e4)); // the same pattern
    expect_solves(ksp, A, 40, use.name);
    OK(KSPReset(ksp));
    OK(KSPSetOperators(ksp, B, B)); // another size
    expect_solves(ksp, B, 60, use.name);
  }
}

// The operator and its vectors on the host, the preconditioner's matrix on the device.
TEST_F(PCTest, VectorsMayLiveOnTheOtherSide)
{
  if (!have_gpu()) GTEST_SKIP() << "no GPU here";
  OwnedMat A, H;
  OwnedKSP ksp;
  const HostCsr M = grid7(9, 9, 9);
  OK(distribute(M, true, A.out()));
  OK(distribute(M, false, H.out()));
  OK(make_ksp(A, "-ksp_type cg -pc_amgmatching_coarse_eq_limit 50", ksp.out()));
  OK(KSPSetOperators(ksp, H, A));
  expect_solves(ksp, H, 40, "host vectors");
}

TEST_F(PCTest, NegativeDefiniteMatricesSolveAsTheirPositiveOnes)
{
  OwnedMat A;
  OwnedKSP ksp;
  OK(distribute(grid7(8, 8, 8), false, A.out()));
  OK(MatScale(A, -1));
  OK(make_ksp(A, "-ksp_type gmres", ksp.out()));
  expect_solves(ksp, A, 40, "negative");
}

TEST_F(PCTest, SmallestSystems)
{
  for (const Use &use : uses_and_shared()) {
    for (int n : {0, 1, 2}) { // with more ranks than rows, some have none
      OwnedMat A;
      OwnedKSP ksp;
      std::map<std::pair<int, int>, double> entries;
      for (int i = 0; i < n; i++) entries[{i, i}] = 2;
      OK(distribute(make_csr(n, n, entries), use.on_device, A.out()));
      OK(make_ksp(A, std::string(use.option) + " -ksp_type cg", ksp.out()));
      expect_solves(ksp, A, 2, std::string(use.name) + " n = " + std::to_string(n));
    }
  }
}

TEST_F(PCTest, AllRowsOnOneRank)
{
  for (const Use &use : uses_and_shared()) {
    OwnedMat A;
    OwnedKSP ksp;
    const HostCsr M = grid7(10, 10, 10);
    OK(distribute(M, use.on_device, A.out(), rank_of_world() == size_of_world() - 1 ? M.rows : 0));
    OK(make_ksp(A, std::string(use.option) + " -ksp_type cg -pc_amgmatching_coarse_eq_limit 50", ksp.out()));
    expect_solves(ksp, A, 40, use.name);
  }
}

TEST_F(PCTest, RegistersOnceAndAnswersToItsName)
{
  OwnedPC pc;
  PCType type;
  OK(AMGKitRegister());
  OK(PCCreate(PETSC_COMM_WORLD, pc.out()));
  OK(PCSetType(pc, "amgmatching"));
  OK(PCGetType(pc, &type));
  EXPECT_STREQ(type, PCAMGMATCHING);
  OK(PCReset(pc));
}

// After one setup and one solve, each phase has been logged.
TEST_F(PCTest, PhasesAreLogged)
{
  OwnedMat A;
  OwnedKSP ksp;
  OK(PetscLogDefaultBegin());
  OK(distribute(grid7(8, 8, 8), false, A.out()));
  OK(make_ksp(A, "-ksp_type cg -pc_amgmatching_coarse_eq_limit 50", ksp.out()));
  expect_solves(ksp, A, 40, "logged");
  for (const char *name :
       {"AMGKitStrength", "AMGKitCoarsen", "AMGKitInterp", "AMGKitRAP", "AMGKitSmooth", "AMGKitTransfer", "AMGKitCoarse"}) {
    PetscLogEvent event;
    PetscEventPerfInfo info;
    OK(PetscLogEventGetId(name, &event));
    ASSERT_GE(event, 0) << name;
    OK(PetscLogEventGetPerfInfo(0, event, &info));
    if (rank_of_world() == 0 || std::string(name) != "AMGKitCoarse") { // the coarsest level is on the first rank
      EXPECT_GT(info.count, 0) << name;
    }
  }
}

// Once the matrix is on the device, neither setup nor apply moves anything of the size of a matrix or a vector.
TEST_F(PCTest, NothingLargeLeavesTheDevice)
{
#if defined(AMGKIT_HAVE_CUDA) && defined(PETSC_HAVE_CUDA)
  if (!have_gpu()) GTEST_SKIP() << "no GPU here";
  if (size_of_world() > 1) GTEST_SKIP() << "halos are staged through the host where MPI is not GPU-aware";
  OwnedMat A;
  OwnedVec x, b;
  OwnedKSP ksp;
  PC pc;
  PetscLogStage stage;
  PetscLogEvent setup, apply;
  PetscEventPerfInfo info;
  constexpr double small = 100000; // bytes; the matrix has 9 million, a vector 0.9 million
  OK(PetscLogDefaultBegin());
  OK(distribute(grid7(48, 48, 48), true, A.out()));
  OK(make_system(A, x.out(), b.out())); // MatMult brings it to the device
  OK(make_ksp(A, "-ksp_type cg", ksp.out()));
  OK(PetscLogStageRegister("NothingLarge", &stage));
  OK(PetscLogStagePush(stage));
  OK(KSPGetPC(ksp, &pc));
  OK(PCSetUp(pc));
  for (int k = 0; k < 3; k++) OK(PCApply(pc, b, x));
  OK(PetscLogStagePop());
  OK(PetscLogEventGetId("PCSetUp", &setup));
  OK(PetscLogEventGetId("PCApply", &apply));
  OK(PetscLogEventGetPerfInfo(stage, setup, &info));
  EXPECT_GT(info.count, 0);
  EXPECT_LT(info.GpuToCpuSize, small);
  EXPECT_LT(info.CpuToGpuSize, small);
  OK(PetscLogEventGetPerfInfo(stage, apply, &info));
  EXPECT_EQ(info.count, 3);
  EXPECT_EQ(info.GpuToCpuSize, 0);
  EXPECT_EQ(info.CpuToGpuSize, 0);
#else
  GTEST_SKIP() << "built without CUDA";
#endif
}

TEST_F(PCTest, AsciiViewShowsTheLevelTable)
{
  OwnedMat A;
  OwnedKSP ksp;
  PC pc;
  OK(distribute(grid7(12, 12, 12), false, A.out()));
  OK(make_ksp(A, "-ksp_type cg -pc_amgmatching_coarse_eq_limit 50", ksp.out()));
  expect_solves(ksp, A, 40, "viewed");
  OK(KSPGetPC(ksp, &pc));
  const std::string text = test::view_of(pc);
  for (const char *expected :
       {"type: amgmatching", "level         rows", "    0         1728", "operator complexity 1.", "coarsest level: dense ", "space=auto"})
    EXPECT_NE(text.find(expected), std::string::npos) << expected << "\n" << text;
}

// What the matching allows where else coarsening would stall; the same on all ranks.
TEST_F(PCTest, SaysWhatItAllowsInOrderToCoarsen)
{
  const std::string of_ranks =
      size_of_world() > 1 ? ", on " + std::to_string(size_of_world()) + " of " + std::to_string(size_of_world()) + " processes" : "";
  struct Case {
    HostCsr A;
    const char *options, *expected;
  };
  for (const Case &c :
       {Case{bricks(12, 1, 1, 1, 0, 1), "",
             ": single rows were matched by positive couplings, or because they share a neighbour; otherwise"},
        Case{grid27(12), "-pc_amgmatching_kappa 8", ": rows were matched by any coupling, whatever its sign and bound; otherwise"},
        Case{grid27(12), "", nullptr}}) {
    OwnedMat A;
    OwnedKSP ksp;
    OK(distribute(c.A, false, A.out()));
    OK(make_ksp(A, c.options, ksp.out()));
    OK(KSPSetUp(ksp));
    const std::string view = test::view_of(static_cast<KSP>(ksp));
    if (c.expected) {
      EXPECT_NE(view.find("level 1" + of_ranks + c.expected), std::string::npos) << view;
    } else {
      EXPECT_EQ(view.find("otherwise"), std::string::npos) << view;
    }
  }
}
} // namespace amgkit::test
