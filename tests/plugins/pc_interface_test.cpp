// What PETSc asks of a preconditioner beside its application: transposes, Richardson's iteration, several right-hand sides, its levels.
#include "support/every_type.hpp"

#include <cmath>
#include <petscviewer.h>

namespace amgkit::test
{
namespace
{
class PCInterface : public EveryType {};

const std::string coarse_30 = " -pc_amgmatching_coarse_eq_limit 30 ";

PetscErrorCode random_vector(Mat A, PetscInt seed, Vec *x)
{
  PetscRandom random;
  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, x, nullptr));
  PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &random));
  PetscCall(PetscRandomSetSeed(random, static_cast<unsigned long>(seed)));
  PetscCall(PetscRandomSeed(random));
  PetscCall(VecSetRandom(*x, random));
  PetscCall(PetscRandomDestroy(&random));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

// y·(B x) = x·(Bᵀ y), also after new values, and after a failing call: the k-cycle has no transpose.
TEST_P(PCInterface, AppliesTheTranspose)
{
  for (const Use &use : uses_and_shared()) {
    OwnedMat A;
    OwnedVec x, y, Bx, Bty;
    OK(distribute(one_sided(grid7(11, 10, 9)), use.on_device, A.out()));
    OK(random_vector(A, 1, x.out()));
    OK(random_vector(A, 2, y.out()));
    OK(VecDuplicate(x, Bx.out()));
    OK(VecDuplicate(x, Bty.out()));
    for (const char *cycle : {"auto", "v", "w", "f"}) {
      OwnedPC pc;
      OK(make_pc(A, use.option + coarse_30 + "-pc_amgmatching_storage double -pc_amgmatching_cycle_type " + cycle, pc.out()));
      for (double scale : {1.0, 0.5}) {
        PetscScalar one, other;
        PetscReal size, length;
        OK(MatScale(A, scale));
        OK(PCSetOperators(pc, A, A));
        OK(PCApply(pc, x, Bx));
        OK(PCApplyTranspose(pc, y, Bty));
        OK(VecDot(Bx, y, &one));
        OK(VecDot(x, Bty, &other));
        OK(VecNorm(Bx, NORM_2, &size));
        OK(VecNorm(y, NORM_2, &length));
        EXPECT_NEAR(one, other, 1e-12 * size * length) << use.name << " " << cycle;
      }
      OK(MatScale(A, 2));
    }
    OwnedPC pc;
    OK(make_pc(A, use.option + coarse_30 + "-pc_amgmatching_cycle_type k", pc.out()));
    EXPECT_EQ(static_cast<int>(quietly([&] { return PCApplyTranspose(pc, x, y); })), PETSC_ERR_SUP);
  }
}

// Methods that need Aᵀ, and KSPSolveTranspose
TEST_P(PCInterface, SolvesWithTheTranspose)
{
  for (const Use &use : uses_and_shared()) {
    OwnedMat A;
    OwnedVec x, b, r;
    Solution solution;
    OK(distribute(one_sided(grid7(11, 10, 9)), use.on_device, A.out()));
    OK(make_system(A, x.out(), b.out()));
    OK(VecDuplicate(b, r.out()));
    OwnedKSP bicg, gmres;
    OK(make_ksp(A, use.option + coarse_30 + "-ksp_type bicg", bicg.out()));
    OK(solve(bicg, b, x, &solution));
    EXPECT_TRUE(solution.converged()) << use.name;
    EXPECT_LE(solution.iterations, 30) << use.name;
    EXPECT_LE(solution.residual, 1e-6) << use.name;
    OK(make_ksp(A, use.option + coarse_30 + "-ksp_type gmres", gmres.out()));
    OK(VecSet(x, 0));
    OK(KSPSolveTranspose(gmres, b, x));
    OK(MatMultTranspose(A, x, r));
    OK(VecAXPY(r, -1, b));
    PetscReal error, size;
    OK(VecNorm(r, NORM_2, &error));
    OK(VecNorm(b, NORM_2, &size));
    EXPECT_LE(error, 1e-6 * size) << use.name;
  }
}

// KSPRICHARDSON hands its iteration over when nobody watches; then, and when somebody does, it gives the same steps, and says the truth
// about them.
TEST_P(PCInterface, IteratesRichardson)
{
  for (const Use &use : uses_and_shared()) {
    OwnedMat A;
    OwnedVec b, watched, alone;
    Solution solution;
    OK(distribute(grid7(12, 11, 10), use.on_device, A.out()));
    OK(make_system(A, watched.out(), b.out()));
    OK(VecDuplicate(b, alone.out()));
    const std::string options = use.option + coarse_30 + "-pc_amgmatching_storage double -ksp_type richardson ";
    for (const char *guess : {"", "-ksp_initial_guess_nonzero "}) {
      OwnedKSP one, other;
      PetscReal difference;
      OK(VecSet(watched, 0.25));
      OK(VecSet(alone, 0.25));
      OK(make_ksp(A, options + guess + "-ksp_max_it 4 -ksp_convergence_test skip -ksp_norm_type none", one.out()));
      OK(solve(one, b, alone, &solution));
      EXPECT_EQ(solution.reason, KSP_CONVERGED_ITS) << use.name;
      EXPECT_EQ(solution.iterations, 4) << use.name;
      OK(make_ksp(
          A, options + guess + "-ksp_max_it 4 -ksp_convergence_test skip -ksp_richardson_self_scale 0 -ksp_richardson_scale 1.0000000001",
          other.out())); // not 1: without the shortcut
      OK(solve(other, b, watched, &solution));
      OK(VecAXPY(watched, -1, alone));
      OK(VecNorm(watched, NORM_2, &difference));
      EXPECT_LE(difference, 1e-7) << use.name << guess;
    }
    OwnedKSP enough, few;
    OK(make_ksp(A, options, enough.out()));
    OK(solve(enough, b, alone, &solution));
    EXPECT_EQ(solution.reason, KSP_CONVERGED_RTOL) << use.name;
    EXPECT_LE(solution.residual, 1e-8) << use.name;
    OK(make_ksp(A, options + "-ksp_max_it 2", few.out()));
    OK(solve(few, b, alone, &solution));
    EXPECT_EQ(solution.reason, KSP_DIVERGED_ITS) << use.name;
    EXPECT_EQ(solution.iterations, 2) << use.name;
  }
}

// Also when the operator changes and the preconditioner's matrix does not.
TEST_P(PCInterface, RichardsonSolvesWithTheOperatorNotWithThePreconditionersMatrix)
{
  OwnedMat A, P;
  OwnedVec x, b;
  OwnedKSP ksp;
  Solution solution;
  OK(distribute(grid7(12, 11, 10, 1, 1, 0.5), false, A.out()));
  OK(distribute(grid7(12, 11, 10), false, P.out()));
  OK(make_system(A, x.out(), b.out()));
  OK(make_ksp(P, coarse_30 + "-ksp_type richardson", ksp.out()));
  OK(solve(ksp, b, x, &solution));
  EXPECT_TRUE(solution.converged());
  OK(KSPSetOperators(ksp, A, P));
  OK(VecSet(x, 0));
  OK(solve(ksp, b, x, &solution));
  EXPECT_TRUE(solution.converged());
  EXPECT_LE(solution.residual, 1e-6); // of A
}

TEST_P(PCInterface, AppliesToSeveralVectorsAtOnce)
{
  for (const Use &use : uses_and_shared()) {
    OwnedMat A, X, Y;
    OwnedPC pc;
    OwnedVec x, y, expected;
    PetscInt m;
    OK(distribute(grid7(9, 8, 7), use.on_device, A.out()));
    OK(make_pc(A, use.option + coarse_30, pc.out()));
    OK(MatGetLocalSize(A, &m, nullptr));
    OK(MatCreateDense(PETSC_COMM_WORLD, m, PETSC_DECIDE, PETSC_DETERMINE, 3, nullptr, X.out()));
    OK(MatCreateDense(PETSC_COMM_WORLD, m, PETSC_DECIDE, PETSC_DETERMINE, 3, nullptr, Y.out()));
    OK(MatSetRandom(X, nullptr));
    OK(MatAssemblyBegin(Y, MAT_FINAL_ASSEMBLY));
    OK(MatAssemblyEnd(Y, MAT_FINAL_ASSEMBLY));
    OK(PCSetUp(pc));
    OK(PCMatApply(pc, X, Y));
    OK(MatCreateVecs(X, nullptr, x.out()));
    OK(VecDuplicate(x, y.out()));
    OK(VecDuplicate(x, expected.out()));
    for (PetscInt j = 0; j < 3; j++) {
      PetscReal error;
      OK(MatGetColumnVector(X, x, j));
      OK(MatGetColumnVector(Y, y, j));
      OK(PCApply(pc, x, expected));
      OK(VecAXPY(y, -1, expected));
      OK(VecNorm(y, NORM_INFINITY, &error));
      EXPECT_EQ(error, 0) << use.name << j;
    }
  }
}

// Interpolations and coarse operators belong together: each coarse operator is Pᵀ A P, rounded where large ones are stored in single
// precision alone; whatever ranks hold them.
TEST_P(PCInterface, GivesItsLevelsAsMatrices)
{
  for (const Use &use : uses_and_shared()) {
    for (const std::string way : {"1", "100", "0", "1 -pc_amgmatching_storage double", "1 -pc_amgmatching_renumber yes"}) {
      const double rounding = way.find("double") < way.size() ? 1e-13 : 1e-6;
      OwnedMat A;
      OwnedPC pc;
      PetscInt levels, again;
      Mat *P, *operators;
      OK(distribute(one_sided(grid7(11, 10, 9)), use.on_device, A.out()));
      OK(make_pc(A, use.option + coarse_30 + "-pc_amgmatching_process_eq_limit " + way, pc.out()));
      OK(PCSetUp(pc));
      OK(PCGetInterpolations(pc, &levels, &P));
      OK(PCGetCoarseOperators(pc, &again, &operators));
      ASSERT_EQ(levels, again);
      ASSERT_GE(levels, 3); // so that there is a matrix between the finest and the coarsest
      for (PetscInt l = 0; l + 1 < levels; l++) {
        OwnedMat product;
        PetscReal error, size;
        Mat fine = l + 2 < levels ? operators[l + 1] : static_cast<Mat>(A);
        OK(MatPtAP(fine, P[l], MAT_INITIAL_MATRIX, PETSC_DEFAULT, product.out()));
        OK(MatNorm(product, NORM_FROBENIUS, &size));
        OK(MatAXPY(product, -1, operators[l], DIFFERENT_NONZERO_PATTERN));
        OK(MatNorm(product, NORM_FROBENIUS, &error));
        EXPECT_LE(error, rounding * size) << use.name << " level " << l;
        OK(MatDestroy(&P[l]));
      }
      for (PetscInt l = 0; l + 1 < levels; l++) OK(MatDestroy(&operators[l]));
      OK(PetscFree(P));
      OK(PetscFree(operators));
    }
  }
}

TEST_P(PCInterface, LevelsThatAreNotThereAreAnError)
{
  OwnedMat A;
  OwnedPC pc;
  PetscInt levels;
  Mat *P;
  OK(distribute(grid7(5, 5, 5), false, A.out()));
  OK(make_pc(A, "", pc.out()));
  EXPECT_EQ(static_cast<int>(quietly([&] { return PCGetInterpolations(pc, &levels, &P); })), PETSC_ERR_ARG_WRONGSTATE);
}

// The inner PCMG takes PCMG's options, is told of new values, and leaves when it is no longer asked for.
TEST_P(PCInterface, HandsItsLevelsToPCMG)
{
  for (const Use &use : uses_and_shared()) {
    OwnedMat A;
    OwnedVec x, b;
    OwnedKSP ksp;
    Solution solution;
    PetscInt before;
    OK(distribute(grid7(12, 11, 10), use.on_device, A.out()));
    OK(make_system(A, x.out(), b.out()));
    OK(make_ksp(A, use.option + coarse_30 + "-pc_amgmatching_export_mg -ksp_type fgmres", ksp.out()));
    OK(solve(ksp, b, x, &solution));
    EXPECT_TRUE(solution.converged()) << use.name;
    EXPECT_LE(solution.residual, 1e-6) << use.name;
    before = solution.iterations;
    OK(MatScale(A, 3));
    OK(KSPSetOperators(ksp, A, A));
    OK(solve(ksp, b, x, &solution));
    EXPECT_NEAR(solution.iterations, before, 1) << use.name; // PETSc estimates eigenvalues from other random numbers each time
    EXPECT_LE(solution.residual, 1e-6) << use.name;

    OwnedKSP chosen;
    OK(make_ksp(A,
                use.option + coarse_30 +
                    "-pc_amgmatching_export_mg -ksp_type fgmres -mg_levels_ksp_type richardson -mg_levels_ksp_max_it 3 "
                    "-mg_levels_ksp_richardson_scale 0.6 -mg_coarse_pc_type jacobi -mg_coarse_ksp_type cg -mg_coarse_ksp_max_it 7 "
                    "-pc_mg_cycle_type w",
                chosen.out()));
    OK(solve(chosen, b, x, &solution));
    EXPECT_TRUE(solution.converged()) << use.name;
    EXPECT_LE(solution.residual, 1e-6) << use.name;
    for (const char *option : {"mg_coarse_ksp_max_it", "pc_mg_cycle_type", "mg_levels_ksp_richardson_scale"}) {
      PetscBool used; // names in the database have no dash
      OK(PetscOptionsUsed(nullptr, option, &used));
      EXPECT_TRUE(used) << use.name << " " << option;
    }
  }
}

namespace
{
// Handed to a PCMG whose coarse solver finds no pivot large enough.
struct FailingSystem {
  OwnedMat A;
  OwnedVec x, b;
  OwnedKSP ksp;
  Solution solution;

  void solve_with(const std::string &krylov, const char *type)
  {
    OK(distribute(grid7(9, 8, 7), false, A.out()));
    OK(make_system(A, x.out(), b.out()));
    OK(make_ksp(A,
                coarse_30 +
                    "-pc_amgmatching_export_mg -mg_coarse_pc_type redundant -mg_coarse_redundant_pc_type lu "
                    "-mg_coarse_redundant_pc_factor_shift_type none -mg_coarse_redundant_pc_factor_zeropivot 1e10 " +
                    krylov,
                ksp.out(), type));
    OK(solve(ksp, b, x, &solution));
  }
};
} // namespace

// As PETSc's own PCs with parts do; and the next matrix gets another chance.
TEST_P(PCInterface, TellsThatAPartOfItsPCMGFailed)
{
  FailingSystem system;
  PC pc;
  PCFailedReason reason;
  system.solve_with("-ksp_type fgmres", type());
  EXPECT_EQ(system.solution.reason, KSP_DIVERGED_PC_FAILED);
  OK(KSPGetPC(system.ksp, &pc));
  OK(PCGetFailedReason(pc, &reason));
  EXPECT_EQ(reason, PC_SUBPC_ERROR);

  OK(MatScale(system.A, 1e14));
  OK(VecScale(system.b, 1e14));
  OK(KSPSetOperators(system.ksp, system.A, system.A));
  OK(solve(system.ksp, system.b, system.x, &system.solution));
  EXPECT_TRUE(system.solution.converged()) << system.solution.reason;
  EXPECT_LE(system.solution.residual, 1e-6);
}

// Also where nobody looks at a residual.
TEST_P(PCInterface, RichardsonTellsThatAPartOfThePCMGFailed)
{
  FailingSystem system;
  system.solve_with("-ksp_type richardson -ksp_convergence_test skip -ksp_max_it 3", type());
  EXPECT_EQ(system.solution.reason, KSP_DIVERGED_PC_FAILED);
}

// New values alone keep what was chosen, a changed option does not, however little it has changed.
TEST_P(PCInterface, SmallestChangeOfAnOptionBuildsEverythingAnew)
{
  const std::string name = "-pc_amgmatching_jacobi_omega";
  OwnedMat A;
  OwnedPC pc;
  OK(PetscLogDefaultBegin());
  OK(distribute(grid7(10, 10, 10), false, A.out()));
  OK(make_pc(A, coarse_30 + name + " 0.25", pc.out()));
  OK(PCSetUp(pc));
  for (const auto &[value, anew] : {std::pair{" 0.25", false}, {" 0.2500001", true}, {" 0.2500001", false}, {" 0.25", true}}) {
    const int before = count_of("AMGKitCoarsen");
    OK(replace_options(renamed(coarse_30 + name + value)));
    OK(PCSetFromOptions(pc));
    OK(MatScale(A, 2));
    OK(PCSetUp(pc));
    EXPECT_EQ(count_of("AMGKitCoarsen") > before, anew) << value;
  }
}

INSTANTIATE_TEST_SUITE_P(Types, PCInterface, multigrid_types(), [](const auto &info) { return info.param; });
} // namespace amgkit::test
