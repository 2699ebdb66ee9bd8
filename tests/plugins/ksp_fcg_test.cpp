#include "plugins/pc_plugin.hpp"
#include "support/flexible_krylov.hpp"
#include "support/gallery.hpp"

#include <array>
#include <cmath>
#include <map>

namespace amgkit::test
{
namespace
{
class FlexibleCG : public FlexibleKrylov {
protected:
  void SetUp() override { set_up(grid7(12, 11, 10, 1, 1, 0.1)); }
};
} // namespace

// With a fixed preconditioner it is conjugate gradients; with a changing one, PETSc's fcg of one direction.
TEST_F(FlexibleCG, TakesTheIterationsOfPETScsMethods)
{
  const std::string unpreconditioned = " -ksp_norm_type unpreconditioned";
  solve("-ksp_type cg -pc_type jacobi" + unpreconditioned);
  const PetscInt cg = solution.iterations;
  solve("-ksp_type amgfcg -pc_type jacobi");
  EXPECT_NEAR(solution.iterations, cg, 1);
  EXPECT_LE(solution.residual, 2e-9);
  const std::string kcycle = " -pc_type amgmatching -pc_amgmatching_cycle_type k -pc_amgmatching_coarse_eq_limit 20";
  solve("-ksp_type fcg -ksp_fcg_mmax 1" + kcycle + unpreconditioned);
  const PetscInt fcg = solution.iterations;
  OK(KSPReset(ksp)); // in PETSc 3.26, fcg loses its vectors when another type takes its place
  solve("-ksp_type amgfcg" + kcycle);
  EXPECT_NEAR(solution.iterations, fcg, 1);
  EXPECT_LE(solution.residual, 2e-9);
}

TEST_F(FlexibleCG, MayBeSetUpEarlyResetAndReplaced) { set_up_early_reset_and_replace("amgfcg", {"cg", "gmres", "bcgs", "richardson"}); }

TEST_F(FlexibleCG, TakesVectorsOfEitherSide) { take_vectors_of_either_side("amgfcg", grid7(12, 11, 10)); }

TEST_F(FlexibleCG, KnowsTheNormsAndTheGuess)
{
  solve("-ksp_type amgfcg -pc_type jacobi -ksp_norm_type natural");
  EXPECT_TRUE(solution.converged());
  EXPECT_LE(solution.residual, 1e-7);
  solve("-ksp_type amgfcg -pc_type jacobi -ksp_norm_type none -ksp_max_it 7");
  EXPECT_EQ(solution.reason, KSP_CONVERGED_ITS);
  EXPECT_EQ(solution.iterations, 7);
  solve("-ksp_type amgfcg -pc_type jacobi -ksp_norm_type unpreconditioned -ksp_max_it 400");
  const PetscInt from_zero = solution.iterations;
  solve("-ksp_type amgfcg -pc_type jacobi -ksp_norm_type unpreconditioned -ksp_max_it 400 -ksp_initial_guess_nonzero");
  EXPECT_TRUE(solution.converged());
  EXPECT_LT(solution.iterations, from_zero);
  EXPECT_LE(solution.residual, 2e-9);
}

TEST_F(FlexibleCG, SaysWhyItCannotGoOn)
{
  OK(VecZeroEntries(b));
  solve("-ksp_type amgfcg -pc_type jacobi");
  EXPECT_TRUE(solution.converged());
  EXPECT_EQ(solution.iterations, 0);
  OK(VecSet(b, 1));
  solve("-ksp_type amgfcg -pc_type jacobi -ksp_max_it 2");
  EXPECT_EQ(solution.reason, KSP_DIVERGED_ITS);
  EXPECT_EQ(solution.iterations, 2);
  OK(MatScale(A, -1));
  solve("-ksp_type amgfcg -pc_type none -ksp_max_it 100");
  EXPECT_EQ(solution.reason, KSP_DIVERGED_INDEFINITE_MAT);
  solve("-ksp_type amgfcg -pc_type jacobi -ksp_max_it 100");
  EXPECT_EQ(solution.reason, KSP_DIVERGED_INDEFINITE_PC);
  OK(VecSet(b, std::nan("")));
  solve("-ksp_type amgfcg -pc_type none");
  EXPECT_EQ(solution.reason, KSP_DIVERGED_NANORINF);
}

// PETSc's fcg of one direction, on matrices that are hard on a coarsening.
TEST_F(FlexibleCG, AgreesWithPETScsFcg)
{
  const std::string method = " -ksp_norm_type unpreconditioned -ksp_max_it 400 -pc_type ";
  for (const Named &named : odd_matrices()) {
    OwnedMat M;
    OwnedVec y, f;
    OK(distribute(named.A, have_gpu(), M.out()));
    OK(make_system(M, y.out(), f.out()));
    for (const char *pc : {"none", "jacobi", "amgsa"}) {
      Solution ours, theirs;
      for (auto [solution, type] : {std::pair(&ours, "amgfcg"), {&theirs, "fcg -ksp_fcg_mmax 1"}}) {
        OwnedKSP one;
        OK(KSPCreate(PETSC_COMM_WORLD, one.out()));
        OK(replace_options("-ksp_type " + (type + method) + pc));
        OK(KSPSetOperators(one, M, M));
        OK(KSPSetTolerances(one, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 400));
        OK(KSPSetFromOptions(one));
        OK(test::solve(one, f, y, solution));
      }
      EXPECT_EQ(ours.converged(), theirs.converged()) << named.name << ' ' << pc;
      // without a preconditioner rounding decides the last of many iterations
      if (!ours.converged()) continue;
      EXPECT_NEAR(ours.iterations, theirs.iterations, 1 + ours.iterations / 50) << named.name << ' ' << pc;
      EXPECT_LE(ours.residual, 1e-7) << named.name << ' ' << pc;
    }
  }
}

// The operator counts, not the matrix that the preconditioner was made of, nor what that was then.
TEST_F(FlexibleCG, MultipliesByTheOperatorAsItIs)
{
  const std::string options = "-ksp_type amgfcg -ksp_rtol 1e-9 -pc_type amgsa -pc_amgsa_coarse_eq_limit 50";
  OwnedMat twice;
  OK(MatDuplicate(A, MAT_COPY_VALUES, twice.out()));
  OK(MatScale(twice, 2));
  OK(replace_options(options));
  OK(KSPSetOperators(ksp, twice, A));
  OK(KSPSetFromOptions(ksp));
  OK(test::solve(ksp, b, x, &solution));
  EXPECT_TRUE(solution.converged());
  PetscReal residual;
  OK(true_residual(twice, b, x, &residual));
  EXPECT_LE(residual, 2e-9);
  OK(KSPSetOperators(ksp, A, A));
  OK(test::solve(ksp, b, x, &solution));
  EXPECT_LE(solution.residual, 2e-9);
  OK(KSPSetReusePreconditioner(ksp, PETSC_TRUE));
  OK(MatScale(A, 0.9)); // a cycle made for A serves still
  OK(test::solve(ksp, b, x, &solution));
  EXPECT_TRUE(solution.converged());
  EXPECT_LE(solution.residual, 2e-9);
}

TEST_F(FlexibleCG, KeepsTheHistoryAndAsksTheUsersTest)
{
  std::array<PetscReal, 100> history{};
  PetscInt count;
  OK(KSPSetResidualHistory(ksp, history.data(), static_cast<PetscInt>(history.size()), PETSC_TRUE));
  solve("-ksp_type amgfcg -pc_type jacobi");
  OK(KSPGetResidualHistory(ksp, nullptr, &count));
  EXPECT_EQ(count, solution.iterations + 1);
  PetscReal norm, size;
  OK(KSPGetResidualNorm(ksp, &norm));
  OK(VecNorm(b, NORM_2, &size));
  EXPECT_EQ(norm, history[static_cast<std::size_t>(solution.iterations)]);
  EXPECT_NEAR(norm / size, solution.residual, 1e-10);
  const auto third = [](KSP, PetscInt its, PetscReal, KSPConvergedReason *reason, void *) -> PetscErrorCode {
    *reason = its == 3 ? KSP_CONVERGED_HAPPY_BREAKDOWN : KSP_CONVERGED_ITERATING;
    return PETSC_SUCCESS;
  };
  OK(KSPSetConvergenceTest(ksp, third, nullptr, nullptr));
  OK(test::solve(ksp, b, x, &solution));
  EXPECT_EQ(solution.reason, KSP_CONVERGED_HAPPY_BREAKDOWN);
  EXPECT_EQ(solution.iterations, 3);
}

// Where the space runs alone, B is applied before the host has seen the norm, though not where the solve is likely to end, nor where nobody
// knows.
TEST_F(FlexibleCG, AppliesThePreconditionerAhead)
{
  struct Applied {
    int before, ahead = 0;
  };
  OK(PetscLogDefaultBegin());
  for (const char *space : {"host", "debug"}) {
    for (const char *precision : {"double", "mixed"}) {
      const std::string options = std::string("-ksp_type amgfcg -pc_type amgsa -pc_amgsa_coarse_eq_limit 20 -ksp_amgfcg_precision ") +
                                  precision + (have_gpu() ? "" : std::string(" -pc_amgsa_space ") + space);
      const bool alone = have_gpu() || std::string(space) == "debug";
      OK(KSPReset(ksp)); // for the next space
      Applied applied{count_of("PCApply")};
      const auto watch = [](KSP, PetscInt its, PetscReal, void *of) -> PetscErrorCode {
        auto &a = *static_cast<Applied *>(of);
        if (its > 0) a.ahead += count_of("PCApply") - a.before - static_cast<int>(its);
        return PETSC_SUCCESS;
      };
      OK(KSPMonitorSet(ksp, watch, &applied, nullptr));
      solve(options);
      OK(KSPMonitorCancel(ksp));
      EXPECT_TRUE(solution.converged());
      EXPECT_LE(solution.residual, 1.01e-9);
      EXPECT_EQ(applied.ahead > 0, alone) << options;
      EXPECT_EQ(count_of("PCApply") - applied.before, solution.iterations) << options;
      applied.before = count_of("PCApply");
      solve(options + " -ksp_max_it 3");
      EXPECT_EQ(count_of("PCApply") - applied.before, 3);
    }
  }
  const auto third = [](KSP, PetscInt its, PetscReal, KSPConvergedReason *reason, void *) -> PetscErrorCode {
    *reason = its == 3 ? KSP_CONVERGED_HAPPY_BREAKDOWN : KSP_CONVERGED_ITERATING;
    return PETSC_SUCCESS;
  };
  const int before = count_of("PCApply");
  OK(KSPSetConvergenceTest(ksp, third, nullptr, nullptr));
  OK(test::solve(ksp, b, x, &solution));
  EXPECT_EQ(count_of("PCApply") - before, 3);
}

// Not where B is another solve, whose scalars come to the host the same way.
TEST_F(FlexibleCG, MayBeNested)
{
  for (const char *where : {"coarse", "levels"}) {
    const std::string inner = std::string(" -mg_") + where;
    solve("-ksp_type amgfcg -ksp_amgfcg_precision double -pc_type amgsa -pc_amgsa_coarse_eq_limit 100 -pc_amgsa_export_mg" + inner +
          "_ksp_type amgfcg" + inner + "_ksp_rtol 1e-3" + inner + "_pc_type jacobi" + (have_gpu() ? "" : " -pc_amgsa_space debug"));
    EXPECT_TRUE(solution.converged()) << where;
    EXPECT_LE(solution.residual, 1.1e-9) << where;
    OK(KSPReset(ksp));
  }
}

// A Laplacian without a boundary and its constant null space: the answer has no part of it.
TEST_F(FlexibleCG, SolvesASingularSystemWithItsNullSpace)
{
  std::map<std::pair<int, int>, double> edges;
  constexpr int n = 400;
  for (int i = 0; i + 1 < n; i++) edges[{i, i + 1}] = 1;
  for (int i = 0; i + 20 < n; i++) edges[{i, i + 20}] = 1;
  OwnedMat M;
  OwnedVec y, f;
  MatNullSpace constants;
  OK(distribute(from_edges(n, edges, 0), have_gpu(), M.out()));
  OK(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, nullptr, &constants));
  OK(MatSetNullSpace(M, constants));
  OK(make_system(M, y.out(), f.out()));
  OK(VecSetRandom(f, nullptr));
  OK(MatNullSpaceRemove(constants, f));
  OK(MatNullSpaceDestroy(&constants));
  for (const char *pc : {"jacobi", "amgsa", "amgmatching"}) {
    PetscReal sum;
    PetscScalar mean;
    OK(replace_options(std::string("-ksp_type amgfcg -ksp_rtol 1e-8 -pc_type ") + pc));
    OK(KSPSetOperators(ksp, M, M));
    OK(KSPSetFromOptions(ksp));
    OK(test::solve(ksp, f, y, &solution));
    EXPECT_TRUE(solution.converged()) << pc;
    OK(VecSum(y, &mean));
    OK(VecNorm(y, NORM_1, &sum));
    EXPECT_LE(std::abs(mean), 1e-10 * sum) << pc;
    OK(KSPReset(ksp));
  }
}

namespace
{
// With a cycle in single precision, on a machine without a GPU, too
std::string mixed_with(const std::string &type)
{
  return "-ksp_type amgfcg -ksp_amgfcg_precision mixed -pc_type " + type + " -pc_" + type + "_coarse_eq_limit 50" +
         (have_gpu() ? "" : " -pc_" + type + "_space debug");
}

bool was_mixed(KSP ksp) { return view_of(ksp).find("the last solve was in mixed precision") != std::string::npos; }
} // namespace

// As many iterations as in double precision, and a true residual that meets the tolerance, also close to what doubles can.
TEST_F(FlexibleCG, MixedPrecisionMeetsTheTolerance)
{
  for (const char *type : {"amgsa", "amgclassical", "amgmatching"}) {
    for (const double rtol : {1e-3, 1e-8, 1e-12}) {
      for (const double size : {1.0, 1e-30, 1e30}) {
        const std::string tolerance = " -ksp_rtol " + std::to_string(rtol * 1e15) + "e-15";
        OK(VecSet(b, size));
        solve(mixed_with(type) + tolerance + " -ksp_amgfcg_precision double");
        const PetscInt in_double = solution.iterations;
        EXPECT_FALSE(was_mixed(ksp));
        solve(mixed_with(type) + tolerance);
        EXPECT_TRUE(was_mixed(ksp)) << view_of(ksp);
        EXPECT_TRUE(solution.converged()) << type << rtol;
        EXPECT_LE(solution.iterations, in_double + (rtol > 1e-10 ? 1 : 2)) << type << rtol;
        EXPECT_LE(solution.residual, 1.001 * rtol) << type;
      }
    }
  }
}

// The true residual of every iteration is what the method says, whoever looks at the solution on the way.
TEST_F(FlexibleCG, MixedPrecisionShowsItsSolution)
{
  struct Seen {
    int count = 0;
    PetscReal worst = 0;
  } seen;
  const auto look = [](KSP k, PetscInt, PetscReal norm, void *context) -> PetscErrorCode {
    Seen &seen = *static_cast<Seen *>(context);
    Vec residual;
    PetscReal is;
    PetscFunctionBegin;
    PetscCall(KSPBuildResidual(k, nullptr, nullptr, &residual));
    PetscCall(VecNorm(residual, NORM_2, &is));
    PetscCall(VecDestroy(&residual));
    seen.count++;
    seen.worst = std::max(seen.worst, std::abs(is - norm) / norm);
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  OK(KSPMonitorSet(ksp, look, &seen, nullptr));
  solve(mixed_with("amgsa"));
  EXPECT_TRUE(was_mixed(ksp));
  EXPECT_TRUE(solution.converged());
  EXPECT_EQ(seen.count, solution.iterations + 1);
  EXPECT_LE(seen.worst, 1e-3);
}

// Whoever looks may also apply the preconditioner, in whose memory a first smoothing step waits.
TEST_F(FlexibleCG, MixedPrecisionSharesItsPreconditioner)
{
  const auto norm = [](KSP k, PetscInt, PetscReal, void *) -> PetscErrorCode {
    PC pc;
    Vec r, z;
    PetscFunctionBegin;
    PetscCall(KSPGetPC(k, &pc));
    PetscCall(KSPBuildResidual(k, nullptr, nullptr, &r));
    PetscCall(VecDuplicate(r, &z));
    PetscCall(VecScale(r, 1e30));
    PetscCall(PCApply(pc, r, z));
    PetscCall(VecDestroy(&r));
    PetscCall(VecDestroy(&z));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  for (const char *type : {"amgsa", "amgmatching"}) {
    OK(KSPMonitorCancel(ksp));
    solve(mixed_with(type));
    const PetscInt alone = solution.iterations;
    OK(KSPMonitorSet(ksp, norm, nullptr, nullptr));
    solve(mixed_with(type));
    EXPECT_TRUE(was_mixed(ksp));
    EXPECT_TRUE(solution.converged()) << type;
    EXPECT_EQ(solution.iterations, alone) << type;
  }
}

// Products of vectors of floats, where rounded entries would show, also after new values.
TEST_F(FlexibleCG, MixedPrecisionHasTheOperatorsEntries)
{
  OwnedMat M;
  OwnedVec f, y, scaling;
  OwnedKSP own;
  PetscInt first, end;
  OK(distribute(grid7(12, 11, 10), false, M.out()));
  OK(make_system(M, y.out(), f.out()));
  OK(VecDuplicate(f, scaling.out()));
  OK(VecGetOwnershipRange(f, &first, &end));
  OK(KSPCreate(PETSC_COMM_WORLD, own.out()));
  OK(replace_options("-ksp_type amgfcg -pc_type amgsa -pc_amgsa_coarse_eq_limit 50 -pc_amgsa_space debug"));
  OK(KSPSetFromOptions(own));
  std::vector<float> x(static_cast<std::size_t>(end - first), 1), product(x.size());
  for (const double wave : {0.3, 0.9}) {
    for (PetscInt i = first; i < end; i++) {
      const double s = 1 + 0.3 * std::sin(wave * static_cast<double>(i));
      OK(VecSetValue(scaling, i, s, INSERT_VALUES));
      x[static_cast<std::size_t>(i - first)] /= static_cast<float>(s); // so that inner rows nearly cancel
    }
    OK(VecAssemblyBegin(scaling));
    OK(VecAssemblyEnd(scaling));
    OK(MatDiagonalScale(M, scaling, scaling));
    OK(KSPSetOperators(own, M, M));
    OK(KSPSetUp(own));
    PC pc;
    OK(KSPGetPC(own, &pc));
    auto *const with = dynamic_cast<UserProduct<Debug> *>(solver_of(pc));
    ASSERT_NE(with, nullptr);
    ASSERT_TRUE(with->in_single());
    OK(with->multiply(x.data(), product.data(), nullptr));
    for (PetscInt i = first; i < end; i++) OK(VecSetValue(f, i, x[static_cast<std::size_t>(i - first)], INSERT_VALUES));
    OK(VecAssemblyBegin(f));
    OK(VecAssemblyEnd(f));
    OK(MatMult(M, f, y));
    const PetscScalar *expected;
    OK(VecGetArrayRead(y, &expected));
    double smallest = 1;
    // rows that are coupled to other ranks are rounded between the two parts of their sums
    const std::size_t plane = 12 * 11, coupled = size_of_world() > 1 ? plane : 0;
    for (std::size_t i = coupled; i + coupled < x.size(); i++) {
      ASSERT_NEAR(product[i], expected[i], 0x1p-38 * 40 + 0x1p-23 * std::abs(expected[i])) << i; // sums of sizes below 40
      smallest = std::min(smallest, std::abs(expected[i]));
    }
    EXPECT_LT(smallest, 1e-5); // beside which the rounding of floats would be 1e-6
    OK(VecRestoreArrayRead(y, &expected));
  }
}

// Nothing for ever: a tolerance beyond double precision, and what a method of conjugate gradients cannot do.
TEST_F(FlexibleCG, MixedPrecisionSaysWhyItCannotGoOn)
{
  solve(mixed_with("amgsa") + " -ksp_rtol 1e-20 -ksp_max_it 200");
  EXPECT_EQ(solution.reason, KSP_DIVERGED_BREAKDOWN);
  EXPECT_LE(solution.residual, 1e-13);
  solve(mixed_with("amgsa") + " -ksp_rtol 1e-8 -ksp_max_it 3");
  EXPECT_EQ(solution.reason, KSP_DIVERGED_ITS);
  EXPECT_LE(solution.residual, 0.1); // x has all three steps
  OK(VecZeroEntries(b));
  solve(mixed_with("amgsa") + " -ksp_max_it 100");
  EXPECT_TRUE(solution.converged());
  EXPECT_EQ(solution.iterations, 0);
  OK(VecSet(b, std::nan("")));
  solve(mixed_with("amgsa"));
  EXPECT_EQ(solution.reason, KSP_DIVERGED_NANORINF);
}

// The precision that nobody asked for does not end a solve that double precision goes on with: after the same steps, for the same reason.
TEST_F(FlexibleCG, AutomaticPrecisionGoesOnInDouble)
{
  const std::string automatic = mixed_with("amgmatching") + " -ksp_amgfcg_precision auto";
  if (!have_gpu()) { // where few rows do not matter
    solve(automatic);
    EXPECT_TRUE(was_mixed(ksp)) << view_of(ksp);
    EXPECT_TRUE(solution.converged());
    solve(automatic + " -ksp_rtol 1e-18 -ksp_max_it 100");
    EXPECT_FALSE(was_mixed(ksp)) << view_of(ksp);
    EXPECT_TRUE(solution.converged()) << KSPConvergedReasons[solution.reason];
    EXPECT_LE(solution.residual, 1e-13);
  }
  solve(automatic + " -ksp_rtol 0 -ksp_max_it 60");
  EXPECT_EQ(solution.reason, KSP_DIVERGED_ITS);
  EXPECT_EQ(solution.iterations, 60);
  EXPECT_LE(solution.residual, 1e-13);
  solve(automatic + " -ksp_max_it 60 -ksp_convergence_test skip");
  EXPECT_EQ(solution.reason, KSP_CONVERGED_ITS);
  EXPECT_EQ(solution.iterations, 60);
  EXPECT_LE(solution.residual, 1e-13);
}

// All ranks take the same precision where one has an entry that no float holds.
TEST_F(FlexibleCG, TakesDoubleWhereOneRankHasNoFloats)
{
  for (const double entry : {1e30, 1e39}) {
    for (const char *type : {"amgsa", "amgclassical", "amgmatching"}) {
      HostCsr matrix = grid7(12, 12, 12);
      const int last = matrix.rows - 1;
      for (int k = matrix.ptr[last]; k < matrix.ptr[last + 1]; k++)
        if (matrix.col[k] == last) matrix.val[k] = entry;
      OwnedMat M;
      OwnedVec y, f;
      OK(distribute(matrix, have_gpu(), M.out()));
      OK(make_system(M, y.out(), f.out()));
      OK(VecSet(f, 1));
      for (const char *precision : {"mixed", "auto"}) {
        OK(VecSet(y, 0));
        OK(solve_alone(M, f, y, mixed_with(type) + " -ksp_rtol 1e-8 -ksp_amgfcg_precision " + precision, &solution));
        EXPECT_TRUE(solution.converged()) << type << entry << KSPConvergedReasons[solution.reason];
        EXPECT_LE(solution.residual, 1.01e-8) << type << entry;
      }
    }
  }
}

// Where there is no product in single precision of the operator as it is, the iterations are in double.
TEST_F(FlexibleCG, MixedPrecisionGivesWay)
{
  solve(mixed_with("amgsa") + " -ksp_norm_type natural");
  EXPECT_FALSE(was_mixed(ksp));
  OK(KSPReset(ksp));
  solve(mixed_with("amgsa") + " -ksp_norm_type unpreconditioned -pc_amgsa_storage double");
  EXPECT_FALSE(was_mixed(ksp));
  EXPECT_LE(solution.residual, 2e-9);
  OK(KSPReset(ksp));
  solve(mixed_with("amgsa") + " -ksp_norm_type unpreconditioned -pc_amgsa_storage single -ksp_initial_guess_nonzero");
  EXPECT_TRUE(was_mixed(ksp));
  OK(KSPSetReusePreconditioner(ksp, PETSC_TRUE));
  OK(MatScale(A, 0.9));
  OK(test::solve(ksp, b, x, &solution));
  EXPECT_FALSE(was_mixed(ksp));
  EXPECT_LE(solution.residual, 2e-9);
  OK(KSPSetReusePreconditioner(ksp, PETSC_FALSE));
  OK(test::solve(ksp, b, x, &solution));
  EXPECT_TRUE(was_mixed(ksp)) << view_of(ksp);
  EXPECT_LE(solution.residual, 2e-9);
}
} // namespace amgkit::test
