#include "support/flexible_gmres.hpp"

#include <array>
#include <cmath>
#include <map>

namespace amgkit::test
{
namespace
{
// What a monitor sees: the norm that the method says, and that of b - A x for the solution of the moment
struct Seen {
  std::vector<PetscReal> said, is;
};
PetscErrorCode look(KSP ksp, PetscInt its, PetscReal norm, void *context)
{
  Seen &seen = *static_cast<Seen *>(context);
  Vec residual, solution, b;
  PetscReal is;
  Mat A;

  PetscFunctionBegin;
  EXPECT_EQ(its, static_cast<PetscInt>(seen.said.size()));
  PetscCall(KSPBuildResidual(ksp, nullptr, nullptr, &residual));
  PetscCall(VecNorm(residual, NORM_2, &is));
  // the same from the solution
  PetscCall(KSPBuildSolution(ksp, nullptr, &solution));
  PetscCall(KSPGetOperators(ksp, &A, nullptr));
  PetscCall(KSPGetRhs(ksp, &b));
  PetscCall(MatMult(A, solution, residual));
  PetscCall(VecAYPX(residual, -1, b));
  PetscReal again;
  PetscCall(VecNorm(residual, NORM_2, &again));
  EXPECT_NEAR(again, is, 1e-12 * is);
  PetscCall(VecDestroy(&residual));
  seen.said.push_back(norm);
  seen.is.push_back(is);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// What the singular values and the eigenvalues are in each iteration, and after the solve
struct Spectrum {
  std::vector<std::array<PetscReal, 2>> extremes;
  std::vector<PetscReal> real, imaginary;
};
PetscErrorCode watch_spectrum(KSP ksp, PetscInt, PetscReal, void *context)
{
  std::array<PetscReal, 2> extremes{};
  PetscFunctionBegin;
  PetscCall(KSPComputeExtremeSingularValues(ksp, &extremes[0], &extremes[1]));
  static_cast<Spectrum *>(context)->extremes.push_back(extremes);
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode spectrum_of(Mat A, Vec b, Vec x, const std::string &options, Spectrum *spectrum, const std::string &pc = "jacobi")
{
  OwnedKSP ksp;
  Solution solution;
  PetscInt count;
  std::array<PetscReal, 40> real{}, imaginary{};

  PetscFunctionBegin;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp.out()));
  PetscCall(replace_options(options + " -pc_type " + pc));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 400));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSetComputeSingularValues(ksp, PETSC_TRUE));
  PetscCall(KSPMonitorSet(ksp, watch_spectrum, spectrum, nullptr));
  PetscCall(VecSet(x, 0));
  PetscCall(solve(ksp, b, x, &solution));
  PetscCall(watch_spectrum(ksp, 0, 0, spectrum));
  PetscCall(KSPComputeEigenvalues(ksp, 40, real.data(), imaginary.data(), &count));
  spectrum->real.assign(real.begin(), real.begin() + count);
  for (PetscInt k = 0; k < count; k++) spectrum->imaginary.push_back(std::abs(imaginary[k])); // either of a pair comes first
  EXPECT_NE(static_cast<int>(quietly([&] { return KSPComputeEigenvalues(ksp, count - 1, real.data(), imaginary.data(), &count); })), 0);
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

TEST_F(FlexibleGMRES, HasTheSingularValuesAndEigenvaluesOfPETScsFgmres)
{
  for (const std::string restart : {"30", "7"}) {
    Spectrum ours, theirs;
    OK(spectrum_of(A, b, x, "-ksp_type fgmres -ksp_gmres_cgs_refinement_type refine_always -ksp_gmres_restart " + restart, &theirs));
    OK(spectrum_of(A, b, x, "-ksp_type amgfgmres -ksp_amgfgmres_restart " + restart, &ours));
    ASSERT_EQ(ours.extremes.size(), theirs.extremes.size()) << restart;
    for (std::size_t k = 0; k < ours.extremes.size(); k++) {
      for (const std::size_t which : {0, 1})
        EXPECT_NEAR(ours.extremes[k][which], theirs.extremes[k][which], 1e-6 * theirs.extremes[k][which]) << restart << ' ' << k;
    }
    ASSERT_EQ(ours.real.size(), theirs.real.size()) << restart;
    for (std::size_t k = 0; k < ours.real.size(); k++) {
      EXPECT_NEAR(ours.real[k], theirs.real[k], 1e-5) << restart << ' ' << k;
      EXPECT_NEAR(ours.imaginary[k], theirs.imaginary[k], 1e-5) << restart << ' ' << k;
    }
  }
}

// A happy breakdown ends a solve with all eigenvalues that the right-hand side knows of.
TEST_F(FlexibleGMRES, HasTheEigenvaluesOfAHappyBreakdown)
{
  std::map<std::pair<int, int>, double> diagonal, shift;
  for (int i = 0; i < 12; i++) diagonal[{i, i}] = 1 + i % 3;
  for (int i = 0; i < 6; i++) shift[{i, (i + 1) % 6}] = 1;
  struct Case {
    HostCsr A;
    std::size_t eigenvalues;
    PetscReal most, least;
  };
  for (const Case &c : {Case{make_csr(12, 12, diagonal), 3, 3, 1}, Case{make_csr(6, 6, shift), 6, 1, 1}}) {
    OwnedMat M;
    OwnedVec y, f;
    Spectrum found;
    OK(distribute(c.A, have_gpu(), M.out()));
    OK(make_system(M, y.out(), f.out()));
    OK(VecSet(f, 0));
    for (int i = 0; i < c.A.rows; i++) OK(VecSetValue(f, i, i % 3 + (i == 0) + 0.5, INSERT_VALUES));
    OK(VecAssemblyBegin(f));
    OK(VecAssemblyEnd(f));
    OK(spectrum_of(M, f, y, "-ksp_type amgfgmres", &found, "none"));
    ASSERT_EQ(found.real.size(), c.eigenvalues);
    // diag(1, 2, 3) has these, and the shift the sixth roots of 1
    for (std::size_t k = 0; k < c.eigenvalues; k++) {
      const PetscReal size = std::hypot(found.real[k], found.imaginary[k]);
      EXPECT_NEAR(size, c.eigenvalues == 3 ? static_cast<PetscReal>(k + 1) : 1, 1e-8) << k;
    }
    EXPECT_NEAR(found.extremes.back()[0], c.most, 1e-8);
    EXPECT_NEAR(found.extremes.back()[1], c.least, 0.5 * c.least);
  }
}

// On flows, with fixed and changing preconditioners and restarts.
TEST_F(FlexibleGMRES, TakesTheIterationsOfPETScsFgmres)
{
  const std::string kcycle = "amgmatching -pc_amgmatching_cycle_type k -pc_amgmatching_coarse_eq_limit 20" + in_debug("amgmatching");
  for (const Wind wind : {Wind::constant, Wind::rotating}) {
    for (const double peclet : {1.0, 100.0}) {
      OwnedMat M;
      OwnedVec y, f;
      OK(distribute(convection_diffusion(2, 30, peclet, wind), have_gpu(), M.out()));
      OK(make_system(M, y.out(), f.out()));
      for (const std::string &pc :
           {std::string("none"), std::string("jacobi"), std::string("amgclassical"), std::string("ilu2level"), kcycle}) {
        for (const char *restart : {"30", "7"}) {
          Solution ours, theirs;
          OK(solve_alone(M, f, y, "-ksp_type fgmres -pc_type " + pc + " -ksp_gmres_restart " + restart, &theirs));
          OK(VecSet(y, 0));
          OK(solve_alone(M, f, y, "-ksp_type amgfgmres -pc_type " + pc + " -ksp_amgfgmres_restart " + restart, &ours));
          EXPECT_EQ(ours.reason, theirs.reason) << pc << ' ' << restart;
          // rounding decides the last of many iterations
          EXPECT_NEAR(ours.iterations, theirs.iterations, 1 + theirs.iterations / 50) << pc << ' ' << restart << ' ' << peclet;
          EXPECT_TRUE(!ours.converged() || ours.residual <= 1.1e-8) << pc << ' ' << restart << ' ' << ours.residual;
        }
      }
    }
  }
}

TEST_F(FlexibleGMRES, AgreesWithPETScsFgmresOnOddMatrices)
{
  for (const Named &named : odd_matrices()) {
    OwnedMat M;
    OwnedVec y, f;
    OK(distribute(named.A, have_gpu(), M.out()));
    OK(make_system(M, y.out(), f.out()));
    for (const char *pc : {"none", "jacobi", "amgsa"}) {
      Solution ours, theirs;
      const std::string method = std::string("-ksp_max_it 400 -pc_type ") + pc;
      OK(solve_alone(M, f, y, method + " -ksp_type amgfgmres", &ours));
      OK(VecSet(y, 0));
      OK(solve_alone(M, f, y, method + " -ksp_type fgmres -ksp_gmres_cgs_refinement_type refine_always", &theirs));
      EXPECT_EQ(ours.converged(), theirs.converged()) << named.name << ' ' << pc;
      if (!ours.converged()) continue;
      EXPECT_NEAR(ours.iterations, theirs.iterations, 1 + theirs.iterations / 50) << named.name << ' ' << pc;
      EXPECT_LE(ours.residual, 1e-7) << named.name << ' ' << pc;
    }
  }
}

// In the middle of a cycle and where one begins; also where nobody watches.
TEST_F(FlexibleGMRES, ShowsItsSolution)
{
  for (const std::string &pc : {std::string("jacobi"), "amgsa -pc_amgsa_coarse_eq_limit 50" + in_debug("amgsa")}) {
    for (const char *restart : {"3", "30"}) {
      Seen seen;
      const std::string options = "-ksp_type amgfgmres -pc_type " + pc + " -ksp_amgfgmres_restart " + restart;
      OK(KSPMonitorCancel(ksp));
      OK(VecSet(x, 0));
      solve(options);
      const PetscInt iterations = solution.iterations;
      OK(KSPMonitorSet(ksp, look, &seen, nullptr));
      solve(options);
      EXPECT_TRUE(solution.converged()) << options;
      EXPECT_EQ(solution.iterations, iterations) << options;
      ASSERT_EQ(seen.said.size(), static_cast<std::size_t>(solution.iterations) + 1) << options;
      for (std::size_t k = 0; k < seen.said.size(); k++) EXPECT_NEAR(seen.said[k], seen.is[k], 1e-12 * seen.is[0]) << options << ' ' << k;
      EXPECT_LE(seen.is.back(), 1.01e-9 * seen.is[0]);
    }
  }
}

TEST_F(FlexibleGMRES, MayBeSetUpEarlyResetAndReplaced)
{
  set_up_early_reset_and_replace("amgfgmres", {"gmres", "bcgs", "amgfcg", "richardson"});
}

TEST_F(FlexibleGMRES, TakesTheRestartOfPETScsInterface)
{
  PetscInt restart;
  OK(KSPSetType(ksp, "amgfgmres"));
  OK(KSPGMRESGetRestart(ksp, &restart));
  EXPECT_EQ(restart, 30);
  OK(KSPGMRESSetRestart(ksp, 4));
  solve("-ksp_type amgfgmres -pc_type jacobi");
  const PetscInt of_four = solution.iterations;
  EXPECT_TRUE(solution.converged());
  solve("-ksp_type amgfgmres -pc_type jacobi -ksp_amgfgmres_restart 100");
  EXPECT_LT(solution.iterations, of_four);
  OK(KSPGMRESGetRestart(ksp, &restart));
  EXPECT_EQ(restart, 100);
  solve("-ksp_type amgfgmres -pc_type jacobi -ksp_amgfgmres_restart 1");
  const Refusal refusal = refusal_of([&] { return KSPGMRESSetRestart(ksp, -2); });
  EXPECT_EQ(static_cast<int>(refusal.code), PETSC_ERR_ARG_OUTOFRANGE);
}

TEST_F(FlexibleGMRES, KnowsTheNormsTheSideAndTheGuess)
{
  for (const char *restart : {"3", "30"}) {
    solve(std::string("-ksp_type amgfgmres -pc_type jacobi -ksp_norm_type none -ksp_max_it 7 -ksp_amgfgmres_restart ") + restart);
    EXPECT_EQ(solution.reason, KSP_CONVERGED_ITS);
    EXPECT_EQ(solution.iterations, 7);
    EXPECT_LT(solution.residual, 0.5);
  }
  OK(VecSet(x, 0));
  solve("-ksp_type amgfgmres -pc_type jacobi -ksp_norm_type unpreconditioned -ksp_max_it 400");
  const PetscInt from_zero = solution.iterations;
  OK(VecScale(x, 1 + 1e-6));
  solve("-ksp_type amgfgmres -pc_type jacobi -ksp_norm_type unpreconditioned -ksp_max_it 400 -ksp_initial_guess_nonzero");
  EXPECT_TRUE(solution.converged());
  EXPECT_LT(solution.iterations, from_zero);
  EXPECT_LE(solution.residual, 2e-9);
  for (const char *refused : {"-ksp_pc_side left", "-ksp_norm_type natural", "-ksp_norm_type preconditioned"}) {
    OwnedKSP other;
    OK(KSPCreate(PETSC_COMM_WORLD, other.out()));
    OK(KSPSetOperators(other, A, A));
    OK(replace_options(std::string("-ksp_type amgfgmres -pc_type jacobi ") + refused));
    OK(KSPSetFromOptions(other));
    EXPECT_NE(static_cast<int>(quietly([&] { return KSPSolve(other, b, x); })), 0) << refused;
  }
}

TEST_F(FlexibleGMRES, SaysWhyItCannotGoOn)
{
  OK(VecZeroEntries(b));
  for (const char *norm : {"none", "unpreconditioned"}) {
    solve(std::string("-ksp_type amgfgmres -pc_type jacobi -ksp_norm_type ") + norm);
    EXPECT_TRUE(solution.converged()) << norm;
    EXPECT_EQ(solution.iterations, 0);
  }
  OK(VecSet(b, 1));
  for (const char *its : {"0", "2", "6"}) { // 6: two cycles
    solve(std::string("-ksp_type amgfgmres -pc_type jacobi -ksp_amgfgmres_restart 3 -ksp_max_it ") + its);
    EXPECT_EQ(solution.reason, KSP_DIVERGED_ITS);
    EXPECT_EQ(solution.iterations, std::stoi(its));
  }
  EXPECT_LT(solution.residual, 0.9);
  OK(VecSet(b, std::nan("")));
  solve("-ksp_type amgfgmres -pc_type none");
  EXPECT_EQ(solution.reason, KSP_DIVERGED_NANORINF);
  OK(KSPSetErrorIfNotConverged(ksp, PETSC_TRUE));
  EXPECT_EQ(static_cast<int>(quietly([&] { return KSPSolve(ksp, b, x); })), PETSC_ERR_NOT_CONVERGED);
}

// The solution found, and no direction left: an exact preconditioner. And none where A is singular: A e_0 = 0.
TEST_F(FlexibleGMRES, KnowsABreakdown)
{
  constexpr int n = 40;
  std::map<std::pair<int, int>, double> entries;
  for (int i = 0; i < n; i++) entries[{i, i}] = 1 + i;
  OwnedMat diagonal, singular;
  OwnedVec y, f;
  OK(distribute(make_csr(n, n, entries), have_gpu(), diagonal.out()));
  OK(make_system(diagonal, y.out(), f.out()));
  OK(solve_alone(diagonal, f, y, "-ksp_type amgfgmres -pc_type jacobi -ksp_rtol 1e-14", &solution));
  EXPECT_TRUE(solution.converged());
  EXPECT_EQ(solution.iterations, 1);
  OK(VecSet(y, 0));
  OK(solve_alone(diagonal, f, y, "-ksp_type amgfgmres -pc_type jacobi -ksp_norm_type none -ksp_max_it 9", &solution));
  EXPECT_EQ(solution.reason, KSP_CONVERGED_HAPPY_BREAKDOWN);
  EXPECT_EQ(solution.iterations, 1);
  EXPECT_LE(solution.residual, 1e-15);
  OK(VecSet(y, 0));
  OK(solve_alone(diagonal, f, y, "-ksp_type amgfgmres -pc_type jacobi -ksp_rtol 1e-30", &solution)); // more than doubles can
  EXPECT_TRUE(solution.reason == KSP_DIVERGED_BREAKDOWN || solution.converged());
  EXPECT_LE(solution.iterations, 10);
  EXPECT_LE(solution.residual, 1e-15);

  entries[{0, 0}] = 0;
  OK(distribute(make_csr(n, n, entries), have_gpu(), singular.out()));
  OK(VecSet(f, 0));
  OK(VecSetValue(f, 0, 1, INSERT_VALUES));
  OK(VecAssemblyBegin(f));
  OK(VecAssemblyEnd(f));
  for (const char *norm : {"none", "unpreconditioned"}) {
    OK(VecSet(y, 0));
    OK(solve_alone(singular, f, y, std::string("-ksp_type amgfgmres -pc_type none -ksp_norm_type ") + norm, &solution));
    EXPECT_EQ(solution.reason, KSP_DIVERGED_BREAKDOWN) << norm;
    EXPECT_EQ(solution.iterations, 1);
  }
}

// Two pairs of entries of 1e12 in the matrix of a grid: the least squares problem would say 1e-8 where the residual is 1e-5.
TEST_F(FlexibleGMRES, DoesNotBelieveANormThatRoundingSpoilt)
{
  constexpr int n = 36;
  std::map<std::pair<int, int>, double> entries = entries_of(grid7(6, 6, 1));
  for (const auto &[i, j] : {std::pair{3, 20}, std::pair{10, 31}}) entries[{i, j}] = entries[{j, i}] = 1e12;
  std::vector<double> right;
  PetscInt first, last;
  OwnedMat large;
  OwnedVec y, f;
  OK(distribute(make_csr(n, n, entries), have_gpu(), large.out()));
  OK(MatCreateVecs(large, y.out(), f.out()));
  OK(VecGetOwnershipRange(f, &first, &last));
  for (PetscInt i = first; i < last; i++) right.push_back(std::cos(static_cast<double>(i + 1)));
  OK(set_entries(f, right));
  for (const char *pc : {"none", "jacobi"}) {
    OK(VecSet(y, 0));
    OK(solve_alone(large, f, y, std::string("-ksp_type amgfgmres -ksp_rtol 1e-8 -ksp_max_it 200 -pc_type ") + pc, &solution));
    EXPECT_TRUE(solution.converged()) << pc;
    EXPECT_LE(solution.residual, 1.01e-8) << pc;
  }
}

TEST_F(FlexibleGMRES, KeepsTheHistoryAndAsksTheUsersTest)
{
  std::array<PetscReal, 200> history{};
  PetscInt count;
  OK(KSPSetResidualHistory(ksp, history.data(), static_cast<PetscInt>(history.size()), PETSC_TRUE));
  solve("-ksp_type amgfgmres -pc_type jacobi -ksp_amgfgmres_restart 10");
  OK(KSPGetResidualHistory(ksp, nullptr, &count));
  EXPECT_EQ(count, solution.iterations + 1);
  PetscReal norm, size;
  OK(KSPGetResidualNorm(ksp, &norm));
  OK(VecNorm(b, NORM_2, &size));
  EXPECT_EQ(norm, history[static_cast<std::size_t>(solution.iterations)]);
  EXPECT_NEAR(norm / size, solution.residual, 1e-12);
  for (PetscInt k = 0; k < solution.iterations; k++) EXPECT_LE(history[k + 1], history[k] * (1 + 1e-12));
  const auto third = [](KSP, PetscInt its, PetscReal, KSPConvergedReason *reason, void *) -> PetscErrorCode {
    *reason = its == 3 ? KSP_CONVERGED_HAPPY_BREAKDOWN : KSP_CONVERGED_ITERATING;
    return PETSC_SUCCESS;
  };
  OK(KSPSetConvergenceTest(ksp, third, nullptr, nullptr));
  OK(test::solve(ksp, b, x, &solution));
  EXPECT_EQ(solution.reason, KSP_CONVERGED_HAPPY_BREAKDOWN);
  EXPECT_EQ(solution.iterations, 3);
}

// The operator counts, not the matrix that the preconditioner was made of; and its transpose in a solve with that.
TEST_F(FlexibleGMRES, MultipliesByTheOperator)
{
  const std::string options = "-ksp_type amgfgmres -ksp_rtol 1e-9 -pc_type amgsa -pc_amgsa_coarse_eq_limit 50" + in_debug("amgsa");
  OwnedMat twice;
  PetscReal residual;
  OK(MatDuplicate(A, MAT_COPY_VALUES, twice.out()));
  OK(MatScale(twice, 2));
  OK(replace_options(options));
  OK(KSPSetOperators(ksp, twice, A));
  OK(KSPSetFromOptions(ksp));
  OK(test::solve(ksp, b, x, &solution));
  EXPECT_TRUE(solution.converged());
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

  OwnedVec r;
  PetscReal size;
  OK(KSPSolveTranspose(ksp, b, x));
  OK(VecDuplicate(b, r.out()));
  OK(MatMultTranspose(A, x, r));
  OK(VecAYPX(r, -1, b));
  OK(VecNorm(r, NORM_2, &residual));
  OK(VecNorm(b, NORM_2, &size));
  EXPECT_LE(residual, 2e-9 * size);
}

// A singular system with its null space: see PETSc's fgmres. What the solution has of the null space does no harm.
TEST_F(FlexibleGMRES, SolvesASingularSystemWithItsNullSpace)
{
  std::map<std::pair<int, int>, double> edges;
  constexpr int n = 400;
  for (int i = 0; i + 1 < n; i++) edges[{i, i + 1}] = 1;
  for (int i = 0; i + 20 < n; i++) edges[{i, i + 20}] = 1;
  OwnedMat M;
  OwnedVec y, f;
  OwnedNullSpace constants;
  OK(distribute(from_edges(n, edges, 0), have_gpu(), M.out()));
  OK(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, nullptr, constants.out()));
  OK(MatSetNullSpace(M, constants));
  OK(make_system(M, y.out(), f.out()));
  OK(VecSetRandom(f, nullptr));
  OK(MatNullSpaceRemove(constants, f));
  for (const char *pc : {"jacobi", "amgsa", "amgmatching"}) {
    OK(VecSet(y, 0));
    OK(solve_alone(M, f, y, std::string("-ksp_type amgfgmres -ksp_rtol 1e-8 -pc_type ") + pc, &solution));
    EXPECT_TRUE(solution.converged()) << pc;
    EXPECT_LE(solution.residual, 2e-8) << pc;
  }
}

// As many flops and events as there are iterations
TEST_F(FlexibleGMRES, LogsItsWork)
{
  OK(PetscLogDefaultBegin());
  solve("-ksp_type amgfgmres -pc_type amgsa -pc_amgsa_coarse_eq_limit 50" + in_debug("amgsa"));
  const int products = count_of("MatMult"), applications = count_of("PCApply"), krylov = count_of("AMGKitKrylov");
  PetscLogDouble before, after;
  OK(VecSet(x, 0));
  OK(PetscGetFlops(&before));
  OK(KSPSolve(ksp, b, x));
  OK(PetscGetFlops(&after));
  EXPECT_EQ(count_of("MatMult") - products, solution.iterations);
  EXPECT_EQ(count_of("PCApply") - applications, solution.iterations);
  EXPECT_GE(count_of("AMGKitKrylov") - krylov, solution.iterations + 2);
  PetscInt rows;
  OK(VecGetLocalSize(x, &rows));
  const double its = solution.iterations;
  EXPECT_GE(after - before, (4 * its * its + 12 * its) * rows * 0.9);
}
} // namespace amgkit::test
