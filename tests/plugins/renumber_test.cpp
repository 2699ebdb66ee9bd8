// -pc_<type>_renumber: the preconditioner has its own order of the rows, and nobody notices.
#include "support/elasticity.hpp"
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
  bool is_renumbered() { return view_of(ksp).find("rows are renumbered inside") != std::string::npos; }
  void expect_the_same_solution(const std::string &type, const std::string &more, const std::string &name);
};

const std::array<const char *, 3> types = {"amgmatching", "amgsa", "amgclassical"};

std::string with(const std::string &type, const std::string &renumber, const std::string &more = "")
{
  return "-ksp_type amgfcg -pc_type " + type + " -pc_" + type + "_coarse_eq_limit 30 -pc_" + type + "_renumber " + renumber +
         (have_gpu() ? "" : " -pc_" + type + "_space debug") + " " + more;
}

// How many nodes this rank has: about as many as others, all on rank 0, or one on rank 0 and the others on the last one.
enum class Share { even, first, one };
PetscInt nodes_of_rank(Share share, PetscInt nodes)
{
  const int rank = rank_of_world(), size = size_of_world();
  if (share == Share::first) return rank == 0 ? nodes : 0;
  if (share == Share::one && size > 1) return rank == 0 ? 1 : rank == size - 1 ? nodes - 1 : 0;
  return nodes * (rank + 1) / size - nodes * rank / size;
}
} // namespace

// With and without an order inside: about as many iterations or fewer, as a coarsening follows the numbers.
void Renumbered::expect_the_same_solution(const std::string &type, const std::string &more, const std::string &name)
{
  OwnedVec in_user_order;
  PetscReal difference, size;
  OK(KSPReset(ksp));
  solve(with(type, "no", more));
  const PetscInt iterations = solution.iterations;
  EXPECT_FALSE(is_renumbered()) << name;
  OK(VecDuplicate(x, in_user_order.out()));
  OK(VecCopy(x, in_user_order));
  OK(KSPReset(ksp));
  solve(with(type, "yes", more));
  EXPECT_TRUE(is_renumbered()) << name;
  EXPECT_TRUE(solution.converged()) << name;
  EXPECT_LE(solution.iterations, iterations + 3 + iterations / 10) << name;
  EXPECT_LE(solution.residual, 1.01e-9) << name;
  OK(VecNorm(x, NORM_2, &size));
  OK(VecAXPY(in_user_order, -1, x));
  OK(VecNorm(in_user_order, NORM_2, &difference));
  EXPECT_LE(difference, 1e-6 * size) << name;
}

// In both precisions, for new values, and when these call for a new setup.
TEST_F(Renumbered, SolvesTheSameSystem)
{
  for (const std::string type : types) {
    for (const char *precision : {"-ksp_amgfcg_precision double", "-ksp_amgfcg_precision mixed", "-ksp_amgfcg_precision auto"}) {
      expect_the_same_solution(type, precision, type + precision);
      for (const double factor : {3.0, 1.0 / 3}) {
        OwnedVec d;
        OK(MatScale(A, factor));
        OK(VecDuplicate(b, d.out()));
        OK(VecSetRandom(d, nullptr));
        OK(MatDiagonalSet(A, d, ADD_VALUES));
        solve(with(type, "yes", precision));
        EXPECT_TRUE(solution.converged()) << type << precision;
        EXPECT_LE(solution.residual, 1.01e-9) << type << precision;
        EXPECT_TRUE(is_renumbered());
      }
    }
  }
}

// Nodes of one, two and three unknowns; ranks without rows, and with one node.
TEST_F(Renumbered, SolvesSystemsOfBlocksOnAllSortsOfRanks)
{
  for (const auto &[bs, M] : {std::pair{1, tetrahedra_laplacian(8, 0.2)}, {2, elasticity(2, 14).A}, {3, elasticity(3, 6).A}}) {
    for (const Share share : {Share::even, Share::first, Share::one}) {
      OK(KSPReset(ksp));
      OK(distribute(M, have_gpu(), A.out(), bs * nodes_of_rank(share, M.rows / bs)));
      OK(MatSetBlockSize(A, bs));
      OK(make_system(A, x.out(), b.out()));
      for (const std::string type : types) {
        for (const std::string precision : {"double", "mixed"})
          expect_the_same_solution(type, "-ksp_amgfcg_precision " + precision, type + " " + precision + " " + std::to_string(bs));
        for (const bool reuse : {false, true}) {
          OK(KSPSetReusePreconditioner(ksp, reuse ? PETSC_TRUE : PETSC_FALSE));
          OwnedVec d; // MatShift() would give ranks without rows another pattern
          OK(VecDuplicate(b, d.out()));
          OK(VecSetRandom(d, nullptr));
          OK(VecScale(d, 0.1));
          OK(VecShift(d, 1));
          OK(MatDiagonalScale(A, d, d));
          solve(with(type, "yes"));
          EXPECT_TRUE(solution.converged()) << type << bs << reuse;
          EXPECT_LE(solution.residual, 1.01e-9) << type << bs << reuse;
        }
        OK(KSPSetReusePreconditioner(ksp, PETSC_FALSE));
      }
    }
  }
}

// How many processes took an order; entries are blocks where there are some.
TEST_F(Renumbered, SaysOnHowManyProcesses)
{
  const int size = size_of_world();
  for (const int bs : {1, 3}) {
    const HostCsr M = bs == 1 ? tetrahedra_laplacian(6, 0.2) : elasticity(3, 5).A;
    OK(KSPReset(ksp));
    OK(distribute(M, have_gpu(), A.out(), bs * nodes_of_rank(Share::first, M.rows / bs)));
    OK(MatSetBlockSize(A, bs));
    OK(make_system(A, x.out(), b.out()));
    solve(with("amgsa", "yes"));
    const std::string where = size > 1 ? " on 1 of " + std::to_string(size) + " processes" : "", view = view_of(ksp);
    EXPECT_NE(view.find("rows are renumbered inside" + where + ": 0."), std::string::npos) << view;
    EXPECT_NE(view.find(bs > 1 ? "of a row's blocks are far" : "of a row's entries are far"), std::string::npos) << view;
  }
}

// Interpolations and coarse operators belong to the user's matrix.
TEST_F(Renumbered, GivesItsLevelsInTheUsersOrder)
{
  for (const auto &[bs, M] : {std::pair{1, tetrahedra_laplacian(8, 0.2)}, {3, elasticity(3, 6).A}}) {
    OK(distribute(M, have_gpu(), A.out(), bs * nodes_of_rank(Share::even, M.rows / bs)));
    OK(MatSetBlockSize(A, bs));
    OK(make_system(A, x.out(), b.out()));
    for (const std::string type : types) {
      PC pc;
      PetscInt levels, again;
      Mat *P, *operators;
      OK(KSPReset(ksp));
      solve(with(type, "yes", "-pc_" + type + "_storage double"));
      OK(KSPGetPC(ksp, &pc));
      OK(PCGetInterpolations(pc, &levels, &P));
      OK(PCGetCoarseOperators(pc, &again, &operators));
      OwnedMat product;
      PetscReal error, size;
      OK(MatPtAP(A, P[levels - 2], MAT_INITIAL_MATRIX, PETSC_DEFAULT, product.out()));
      OK(MatNorm(product, NORM_FROBENIUS, &size));
      OK(MatAXPY(product, -1, operators[levels - 2], DIFFERENT_NONZERO_PATTERN));
      OK(MatNorm(product, NORM_FROBENIUS, &error));
      EXPECT_LE(error, 1e-12 * size) << type << bs;
      for (PetscInt l = 0; l + 1 < levels; l++) {
        OK(MatDestroy(&P[l]));
        OK(MatDestroy(&operators[l]));
      }
      OK(PetscFree(P));
      OK(PetscFree(operators));
    }
  }
}

// The rigid body modes of coordinates, and those of vectors, follow the nodes.
TEST_F(Renumbered, BringsCoordinatesAlong)
{
  for (const int dim : {2, 3}) {
    const Elasticity problem = elasticity(dim, dim == 2 ? 16 : 6);
    PetscInt first, end;
    PC pc;
    std::array<PetscInt, 2> iterations{};
    OK(KSPReset(ksp));
    OK(distribute(problem.A, have_gpu(), A.out(), dim * nodes_of_rank(Share::even, problem.nodes())));
    OK(MatSetBlockSize(A, dim));
    OK(make_system(A, x.out(), b.out()));
    OK(MatGetOwnershipRange(A, &first, &end));
    for (const bool vectors : {false, true}) {
      for (const char *renumber : {"no", "yes"}) {
        std::vector<PetscReal> of_nodes(problem.coordinates.begin() + first, problem.coordinates.begin() + end);
        OK(KSPReset(ksp));
        OK(replace_options(with("amgsa", renumber)));
        OK(KSPSetFromOptions(ksp));
        OK(KSPGetPC(ksp, &pc));
        if (vectors) {
          MatNullSpace modes;
          OwnedVec coordinates;
          OK(VecCreateMPIWithArray(PETSC_COMM_WORLD, dim, end - first, PETSC_DETERMINE, of_nodes.data(), coordinates.out()));
          OK(MatNullSpaceCreateRigidBody(coordinates, &modes));
          OK(MatSetNearNullSpace(A, modes));
          OK(MatNullSpaceDestroy(&modes));
        } else {
          OK(PCSetCoordinates(pc, dim, (end - first) / dim, of_nodes.data()));
        }
        solve(with("amgsa", renumber));
        EXPECT_TRUE(solution.converged());
        EXPECT_EQ(is_renumbered(), renumber == std::string("yes"));
        iterations[renumber == std::string("yes") ? 1 : 0] = solution.iterations;
      }
      EXPECT_NEAR(iterations[0], iterations[1], 2) << dim << vectors;
      EXPECT_LT(iterations[1], 40) << dim << vectors;
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
  PetscScalar one, other;
  for (const auto &[bs, M] : {std::pair{1, tetrahedra_laplacian(9, 0.2)}, {3, elasticity(3, 5).A}}) {
    OwnedVec u, v, Bu, Btv;
    OK(KSPReset(ksp));
    OK(distribute(M, have_gpu(), A.out(), bs * nodes_of_rank(Share::even, M.rows / bs)));
    OK(MatSetBlockSize(A, bs));
    OK(make_system(A, x.out(), b.out()));
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
      EXPECT_NEAR(one, other, 1e-10 * std::abs(one)) << type << bs;
    }
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
    EXPECT_TRUE(is_renumbered()) << view_of(ksp);
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
    EXPECT_TRUE(is_renumbered());
    EXPECT_NEAR(iterations[0], iterations[1], 2) << type;
  }
}

// An error for new values names the user's row; few rows are left alone.
TEST_F(Renumbered, SpeaksOfTheUsersRows)
{
  solve(with("amgsa", "auto"));
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
}

// Ranks may have no order of their own: all learn of a preconditioner that is replaced while a solve goes on, whenever that is, and by
// whatever type.
TEST_F(Renumbered, RefusesAnotherPreconditionerWithinASolve)
{
  struct Replacement {
    PetscInt iteration;
    const char *type; // nullptr: the same
  };
  const auto replace = [](KSP solver, PetscInt iteration, PetscReal, void *context) -> PetscErrorCode {
    const auto &replacement = *static_cast<const Replacement *>(context);
    PC pc;
    Mat P;
    PetscFunctionBegin;
    if (iteration != replacement.iteration) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(KSPGetPC(solver, &pc));
    PetscCall(PCGetOperators(pc, nullptr, &P));
    PetscCall(PetscObjectReference(reinterpret_cast<PetscObject>(P)));
    PetscCall(PCReset(pc));
    if (replacement.type) PetscCall(PCSetType(pc, replacement.type));
    PetscCall(PCSetOperators(pc, P, P));
    PetscCall(MatDestroy(&P));
    PetscCall(PCSetUp(pc));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  const HostCsr M = tetrahedra_laplacian(9, 0.2);
  OK(distribute(M, have_gpu(), A.out(), nodes_of_rank(Share::first, M.rows)));
  OK(make_system(A, x.out(), b.out()));
  for (Replacement replacement : {Replacement{0, nullptr}, {1, nullptr}, {3, nullptr}, {3, "amgmatching"}}) {
    OwnedKSP own;
    OK(replace_options(with("amgsa", "yes", "-ksp_amgfcg_precision mixed")));
    OK(KSPCreate(PETSC_COMM_WORLD, own.out()));
    OK(KSPSetOperators(own, A, A));
    OK(KSPSetTolerances(own, 1e-9, PETSC_DEFAULT, PETSC_DEFAULT, 300));
    OK(KSPMonitorSet(own, replace, &replacement, nullptr));
    OK(KSPSetFromOptions(own));
    const Refusal refusal = refusal_of([&] { return KSPSolve(own, b, x); });
    EXPECT_EQ(static_cast<int>(refusal.code), PETSC_ERR_ARG_WRONGSTATE) << replacement.iteration;
    EXPECT_NE(refusal.message.find("reset while a solve"), std::string::npos) << replacement.iteration << refusal.message;
  }
}
} // namespace amgkit::test
