// What goes between the user's memory on the host and a space that is apart from it, counted by PETSc's log. The debug space is one.
#include "support/flexible_krylov.hpp"
#include "support/gallery.hpp"

#include <array>
#include <cmath>
#include <map>

namespace amgkit::test
{
namespace
{
struct Counts {
  int patterns, values, up, down;
  bool operator==(const Counts &) const = default;
  Counts operator-(const Counts &before) const
  {
    return {patterns - before.patterns, values - before.values, up - before.up, down - before.down};
  }
};
Counts counts_now()
{
  return {count_of("AMGKitPatternUp"), count_of("AMGKitValuesUp"), count_of("AMGKitVectorUp"), count_of("AMGKitVectorDown")};
}
std::ostream &operator<<(std::ostream &out, const Counts &c)
{
  return out << c.patterns << " patterns, " << c.values << " values, " << c.up << " up, " << c.down << " down";
}

class Copies : public ::testing::Test {
protected:
  void SetUp() override
  {
    OK(AMGKitRegister());
    OK(PetscLogDefaultBegin());
    spaces_ = {"debug"};
    if (have_cuda_space()) spaces_.push_back("gpu");
    OK(distribute(grid7(12, 11, 10, 1, 1, 0.1), false, A.out()));
    OK(make_system(A, x.out(), b.out()));
    blocks_ = size_of_world() > 1 ? 2 : 1;
  }
  void make(const std::string &krylov, const std::string &pc, const std::string &space)
  {
    OK(KSPCreate(PETSC_COMM_WORLD, ksp.out()));
    OK(replace_options("-ksp_type " + krylov + " -ksp_norm_type unpreconditioned -pc_type " + pc + " -pc_" + pc + "_space " + space +
                       " -pc_" + pc + "_consolidate no" + // every process counts its own
                       (pc == PCILU2LEVEL ? " -pc_ilu2level_levels 1" : "")));
    OK(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 300));
    OK(KSPSetOperators(ksp, A, A));
    OK(KSPSetFromOptions(ksp));
  }
  // What a solve copies from zero, or from the guess that x is
  Counts solve(bool from_zero = true)
  {
    if (from_zero) {
      EXPECT_EQ(static_cast<int>(VecSet(x, 0)), 0);
    }
    const Counts before = counts_now();
    EXPECT_EQ(static_cast<int>(test::solve(ksp, b, x, &solution)), 0);
    EXPECT_TRUE(solution.converged());
    EXPECT_LE(solution.residual, 1.01e-8);
    return counts_now() - before;
  }

  std::vector<std::string> spaces_;
  int blocks_ = 1; // of the matrix on this rank
  OwnedMat A;
  OwnedVec x, b;
  OwnedKSP ksp;
  Solution solution;
};

// At each iteration: the residual of the solution that the KSP builds, and of the one that it has, is the residual that it builds, and of
// the norm that it says.
PetscErrorCode compare_norms(KSP ksp, PetscInt, PetscReal norm, void *context)
{
  OwnedVec v, r;
  Vec built, present, rhs;
  PetscReal of_built, of_present, of_residual;
  Mat A;

  PetscFunctionBegin;
  PetscCall(KSPGetOperators(ksp, &A, nullptr));
  PetscCall(KSPGetRhs(ksp, &rhs));
  PetscCall(KSPGetSolution(ksp, &present));
  PetscCall(VecDuplicate(rhs, v.out()));
  PetscCall(VecDuplicate(rhs, r.out()));
  PetscCall(KSPBuildSolution(ksp, v, nullptr)); // once there is a reason, it gives nothing but the entries
  const auto norm_of = [&](Vec y, PetscReal *size) {
    PetscFunctionBegin;
    PetscCall(MatMult(A, y, r));
    PetscCall(VecAYPX(r, -1, rhs));
    PetscCall(VecNorm(r, NORM_2, size));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  PetscCall(norm_of(v, &of_built));
  PetscCall(norm_of(present, &of_present));
  PetscCall(KSPBuildResidual(ksp, nullptr, v, &built));
  PetscCall(VecNorm(built, NORM_2, &of_residual));
  const auto is_near = [=](PetscReal other) { return std::abs(other - norm) <= 1e-6 * norm + 1e-12; };
  EXPECT_TRUE(is_near(of_built)) << norm << ' ' << of_built;
  EXPECT_TRUE(is_near(of_residual)) << norm << ' ' << of_residual;
  KSPType type;
  PetscCall(KSPGetType(ksp, &type));
  if (std::string(type) == KSPAMGFCG) { // FGMRES makes it at the end of a cycle
    EXPECT_TRUE(is_near(of_present)) << norm << ' ' << of_present;
  }
  ++*static_cast<int *>(context);
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

// b goes up and x comes down once a solve; of the matrix the pattern once, and the values when they have changed.
TEST_F(Copies, AreOfASolveUnderOurMethods)
{
  for (const std::string &space : spaces_) {
    for (const char *krylov : {"amgfcg", "amgfgmres"}) {
      for (const char *pc : {PCAMGSA, PCAMGMATCHING, PCILU2LEVEL}) {
        make(krylov, pc, space);
        OK(KSPSetUp(ksp));
        EXPECT_EQ(solve(), (Counts{0, 0, 1, 1})) << krylov << pc << space;
        EXPECT_EQ(solve(), (Counts{0, 0, 1, 1})) << krylov << pc << space;
        EXPECT_GT(solution.iterations, 3);
        OK(MatScale(A, 2));
        EXPECT_EQ(solve(), (Counts{0, blocks_, 1, 1})) << krylov << pc << space;
        OK(VecScale(x, 0.999));
        OK(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
        EXPECT_EQ(solve(false), (Counts{0, 0, 2, 1})) << krylov << pc << space; // the guess goes up, too
      }
    }
  }
}

TEST_F(Copies, OfAPatternAndOfValuesComeWithTheSetup)
{
  for (const std::string &space : spaces_) {
    for (const char *pc : {PCAMGSA, PCAMGCLASSICAL, PCILU2LEVEL}) {
      make("amgfcg", pc, space);
      const Counts before = counts_now();
      OK(KSPSetUp(ksp));
      EXPECT_EQ(counts_now() - before, (Counts{blocks_, blocks_, 0, 0})) << pc;
      PC made;
      OK(KSPGetPC(ksp, &made));
      EXPECT_NE(view_of(made).find("copies of the matrix: its pattern 1 times, its values 1 times"), std::string::npos);
    }
  }
}

// A residual up and a correction down an application
TEST_F(Copies, AreOfAnApplicationUnderOtherMethods)
{
  for (const std::string &space : spaces_) {
    make("cg", PCAMGSA, space);
    OK(KSPSetUp(ksp));
    const Counts copies = solve();
    EXPECT_EQ(copies, (Counts{0, 0, copies.up, copies.up}));
    EXPECT_GE(copies.up, solution.iterations);
    EXPECT_LE(copies.up, solution.iterations + 1);
  }
}

TEST_F(Copies, AreMadeForWhoeverAsks)
{
  for (const std::string &space : spaces_) {
    for (const char *krylov : {"amgfcg -ksp_amgfcg_precision double", "amgfgmres"}) {
      int asked = 0;
      make(krylov, PCAMGSA, space);
      OK(KSPMonitorSet(ksp, compare_norms, &asked, nullptr));
      solve();
      EXPECT_EQ(asked, solution.iterations + 1);
    }
  }
}

// The user's test looks at the solution, and ends the solve by it.
TEST_F(Copies, AreMadeForTheUsersTest)
{
  const auto large_enough = [](KSP one, PetscInt, PetscReal, KSPConvergedReason *reason, void *context) -> PetscErrorCode {
    Vec built;
    PetscReal size;
    PetscFunctionBegin;
    PetscCall(KSPBuildSolution(one, nullptr, &built));
    PetscCall(VecNorm(built, NORM_2, &size));
    *reason = size >= 0.999 * *static_cast<PetscReal *>(context) ? KSP_CONVERGED_RTOL : KSP_CONVERGED_ITERATING;
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  for (const std::string &space : spaces_) {
    for (const char *krylov : {"amgfcg", "amgfgmres"}) {
      PetscReal size, reached;
      KSPConvergedReason reason;
      make(krylov, PCAMGSA, space);
      solve();
      OK(VecNorm(x, NORM_2, &size));
      OK(KSPSetConvergenceTest(ksp, large_enough, &size, nullptr));
      OK(VecSet(x, 0));
      OK(KSPSolve(ksp, b, x));
      OK(KSPGetConvergedReason(ksp, &reason));
      EXPECT_EQ(reason, KSP_CONVERGED_RTOL);
      OK(VecNorm(x, NORM_2, &reached));
      EXPECT_GE(reached, 0.999 * size);
    }
  }
}

// The constants are projected out where the vectors are.
TEST_F(Copies, LeaveASingularSystemSolvable)
{
  OwnedNullSpace constants;
  std::map<std::pair<int, int>, double> edges;
  const int n = 300;
  for (int i = 0; i + 1 < n; i++) edges[{i, i + 1}] = 1;
  OK(distribute(from_edges(n, edges, 0), false, A.out()));
  OK(make_system(A, x.out(), b.out()));
  OK(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, nullptr, constants.out()));
  OK(MatSetNullSpace(A, constants));
  for (const std::string &space : spaces_) {
    for (const char *krylov : {"amgfcg", "amgfgmres"}) {
      make(krylov, PCAMGSA, space);
      OK(KSPSetUp(ksp));
      EXPECT_EQ(solve(), (Counts{0, 0, 1, 1})) << krylov << space;
    }
  }
}
} // namespace amgkit::test
