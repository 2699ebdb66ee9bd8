// -pc_<type>_renumber: the preconditioner has its own order of the rows, and nobody notices.
#include "support/flexible_krylov.hpp"
#include "support/unstructured.hpp"

#include <array>
#include <cmath>
#include <limits>

namespace amgkit::test
{
namespace
{
class Renumbered : public FlexibleKrylov {
protected:
  void SetUp() override { set_up(tetrahedra_laplacian(9, 0.2)); }
  // On one rank, where the space is not the host
  static bool possible() { return size_of_world() == 1; }
  bool is_renumbered() { return view_of(ksp).find("rows are renumbered inside") != std::string::npos; }
};

const std::array<const char *, 3> types = {"amgmatching", "amgsa", "amgclassical"};

std::string with(const std::string &type, const std::string &renumber, const std::string &more = "")
{
  return "-ksp_type amgfcg -pc_type " + type + " -pc_" + type + "_coarse_eq_limit 30 -pc_" + type + "_renumber " + renumber +
         (have_gpu() ? "" : " -pc_" + type + "_space debug") + " " + more;
}
} // namespace

// In both precisions, for new values, and when these call for a new setup.
TEST_F(Renumbered, SolvesTheSameSystem)
{
  for (const std::string type : types) {
    for (const char *precision : {"-ksp_amgfcg_precision double", "-ksp_amgfcg_precision mixed", "-ksp_amgfcg_precision auto"}) {
      OK(KSPReset(ksp));
      solve(with(type, "no", precision));
      const PetscInt iterations = solution.iterations;
      EXPECT_FALSE(is_renumbered());
      OK(KSPReset(ksp));
      solve(with(type, "yes", precision));
      EXPECT_EQ(is_renumbered(), possible());
      EXPECT_TRUE(solution.converged()) << type << precision;
      EXPECT_NEAR(solution.iterations, iterations, 3) << type << precision;
      EXPECT_LE(solution.residual, 1.01e-9) << type << precision;
      for (const double factor : {3.0, 1.0 / 3}) {
        OwnedVec d;
        OK(MatScale(A, factor));
        OK(VecDuplicate(b, d.out()));
        OK(VecSetRandom(d, nullptr));
        OK(MatDiagonalSet(A, d, ADD_VALUES));
        solve(with(type, "yes", precision));
        EXPECT_TRUE(solution.converged()) << type << precision;
        EXPECT_LE(solution.residual, 1.01e-9) << type << precision;
        EXPECT_EQ(is_renumbered(), possible());
      }
    }
  }
}

// Values that change while the preconditioner stays: products are taken with the new ones.
TEST_F(Renumbered, MultipliesByTheOperatorAsItIs)
{
  for (const char *precision : {"double", "mixed", "auto"}) {
    OK(KSPReset(ksp));
    solve(with("amgsa", "yes", std::string("-ksp_amgfcg_precision ") + precision));
    OK(KSPSetReusePreconditioner(ksp, PETSC_TRUE));
    OK(MatScale(A, 1.1));
    OK(MatShift(A, 0.01));
    OK(test::solve(ksp, b, x, &solution));
    EXPECT_TRUE(solution.converged()) << precision;
    EXPECT_LE(solution.residual, 1.01e-9) << precision;
    OK(KSPSetReusePreconditioner(ksp, PETSC_FALSE));
  }
}

TEST_F(Renumbered, TransposeIsThatOfThePreconditioner)
{
  PC pc;
  OwnedVec u, v, Bu, Btv;
  PetscScalar one, other;
  for (Vec *y : {u.out(), v.out(), Bu.out(), Btv.out()}) OK(VecDuplicate(b, y));
  OK(VecSetRandom(u, nullptr));
  OK(VecSetRandom(v, nullptr));
  for (const std::string type : types) {
    OK(KSPReset(ksp));
    solve(with(type, "yes", "-ksp_type cg -pc_" + type + "_storage double -pc_" + type + "_cycle_type f"));
    OK(KSPGetPC(ksp, &pc));
    OK(PCApply(pc, u, Bu));
    OK(PCApplyTranspose(pc, v, Btv));
    OK(VecDot(Bu, v, &one));
    OK(VecDot(u, Btv, &other));
    EXPECT_NEAR(one, other, 1e-10 * std::abs(one)) << type;
  }
}

// With the constant null space of a problem without boundary, in either precision.
TEST_F(Renumbered, SolvesASingularSystem)
{
  std::map<std::pair<int, int>, double> edges;
  constexpr int n = 900, width = 30;
  for (int i = 0; i + 1 < n; i++) edges[{i, i + 1}] = 1;
  for (int i = 0; i + width < n; i++) edges[{i, i + width}] = 1;
  OK(distribute(from_edges(n, edges, 0), have_gpu(), A.out()));
  MatNullSpace constants;
  OK(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, nullptr, &constants));
  OK(MatSetNullSpace(A, constants));
  OK(make_system(A, x.out(), b.out()));
  OK(VecSetRandom(b, nullptr));
  OK(MatNullSpaceRemove(constants, b));
  OK(MatNullSpaceDestroy(&constants));
  for (const char *precision : {"double", "mixed"}) {
    OK(KSPReset(ksp));
    solve(with("amgmatching", "yes", std::string("-ksp_amgfcg_precision ") + precision));
    EXPECT_TRUE(solution.converged()) << precision;
    EXPECT_LE(solution.residual, 1.01e-9) << precision;
    EXPECT_EQ(is_renumbered(), possible()) << view_of(ksp);
  }
}

// The monitor sees the solution of each iteration in the user's order.
TEST_F(Renumbered, ShowsItsSolution)
{
  const auto compare = [](KSP solver, PetscInt, PetscReal norm, void *) -> PetscErrorCode {
    OwnedVec r;
    Vec residual;
    PetscReal size;
    Vec rhs;
    PetscFunctionBegin;
    PetscCall(KSPGetRhs(solver, &rhs));
    PetscCall(VecDuplicate(rhs, r.out()));
    PetscCall(KSPBuildResidual(solver, nullptr, r, &residual));
    PetscCall(VecNorm(residual, NORM_2, &size));
    EXPECT_NEAR(size, norm, 1e-3 * norm);
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  OK(KSPMonitorSet(ksp, compare, nullptr, nullptr));
  solve(with("amgsa", "yes", "-ksp_amgfcg_precision mixed -ksp_rtol 1e-4"));
  EXPECT_TRUE(solution.converged());
}

// Vectors of a near-null space, by the matrix or by its DM, are brought into the order. With rows of different size they are not constant.
TEST_F(Renumbered, BringsTheNearNullSpaceAlong)
{
  OwnedVec scale, inverse;
  OK(VecDuplicate(b, scale.out()));
  OK(VecDuplicate(b, inverse.out()));
  OK(VecSetRandom(scale, nullptr));
  OK(VecShift(scale, 0.1));
  OK(MatDiagonalScale(A, scale, scale));
  OK(VecCopy(scale, inverse));
  OK(VecReciprocal(inverse));
  OK(VecNormalize(inverse, nullptr));
  Vec vector = inverse;
  MatNullSpace space;
  OK(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_FALSE, 1, &vector, &space));
  OK(MatSetNearNullSpace(A, space));
  OK(MatNullSpaceDestroy(&space));
  for (const std::string type : {"amgsa", "amgmatching"}) {
    std::array<PetscInt, 2> iterations{};
    for (const char *renumber : {"no", "yes"}) {
      OK(KSPReset(ksp));
      solve(with(type, renumber));
      EXPECT_TRUE(solution.converged()) << type;
      iterations[renumber == std::string("yes") ? 1 : 0] = solution.iterations;
    }
    EXPECT_EQ(is_renumbered(), possible());
    EXPECT_NEAR(iterations[0], iterations[1], 2) << type;
  }
}

// An error for new values names the user's row; blocks and few rows are left alone.
TEST_F(Renumbered, SpeaksOfTheUsersRows)
{
  solve(with("amgsa", "auto")); // few rows
  EXPECT_FALSE(is_renumbered());
  OK(KSPReset(ksp));
  solve(with("amgsa", "yes"));
  if (rank_of_world() == 0) {
    OK(MatSetValue(A, 3, 3, std::numeric_limits<double>::quiet_NaN(), INSERT_VALUES));
  }
  OK(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  OK(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  OK(KSPSetOperators(ksp, A, A));
  const Refusal refusal = refusal_of([&] { return KSPSetUp(ksp); });
  EXPECT_EQ(static_cast<int>(refusal.code), PETSC_ERR_FP);
  EXPECT_NE(refusal.message.find("Row 3 of the matrix"), std::string::npos) << refusal.message;
  if (!possible()) return;
  set_up(grid7(8, 6, 5)); // 240 rows
  OK(MatSetBlockSize(A, 3));
  solve(with("amgsa", "yes"));
  EXPECT_TRUE(solution.converged());
  EXPECT_FALSE(is_renumbered());
}
} // namespace amgkit::test
