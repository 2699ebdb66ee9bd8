// The preconditioner among PETSc's own parts: inside fieldsplits, on subcommunicators, with every matrix and vector type that comes.
#include "support/every_type.hpp"

#include <array>
#include <petscdmda.h>
#include <petscviewer.h>

namespace amgkit::test
{
namespace
{
class Citizenship : public EveryType {
protected:
  static bool is_multigrid() { return std::string(type()) != PCILU2LEVEL; }
  // Iterations that multigrid takes no more of; others get three times as many.
  static PetscInt most(PetscInt of_multigrid) { return is_multigrid() ? of_multigrid : 3 * of_multigrid; }
};

// Field k of point i is row 2 i + k: two grids of different couplings, bound to each other point by point, and not symmetrically.
HostCsr two_fields(int n)
{
  const HostCsr first = grid7(n, n, 6), second = grid7(n, n, 6, 1, 1, 0.1);
  std::map<std::pair<int, int>, double> entries;
  for (int i = 0; i < first.rows; i++) {
    for (int k = first.ptr[i]; k < first.ptr[i + 1]; k++) {
      entries[{2 * i, 2 * first.col[k]}] = first.val[k];
      entries[{2 * i + 1, 2 * first.col[k] + 1}] = second.val[k];
    }
    entries[{2 * i, 2 * i + 1}] = 0.4;
    entries[{2 * i + 1, 2 * i}] = -0.3;
  }
  return make_csr(2 * first.rows, 2 * first.rows, entries);
}

// The rows of one field among those of this rank
PetscErrorCode field(Mat A, PetscInt k, IS *is)
{
  PetscInt first, last;
  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(A, &first, &last));
  PetscCall(ISCreateStride(PETSC_COMM_WORLD, (last - first) / 2, first + k, 2, is));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode add_fields(Mat A, KSP ksp)
{
  PC pc;
  PetscFunctionBegin;
  PetscCall(KSPGetPC(ksp, &pc));
  for (PetscInt k = 0; k < 2; k++) {
    OwnedIS is;
    PetscCall(field(A, k, is.out()));
    PetscCall(PCFieldSplitSetIS(pc, k == 0 ? "u" : "v", is));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

void expect_types_of_fields(KSP ksp, const char *expected, const std::string &name)
{
  PC pc;
  PetscInt count;
  KSP *fields;
  OK(KSPGetPC(ksp, &pc));
  OK(PCFieldSplitGetSubKSP(pc, &count, &fields));
  EXPECT_EQ(count, 2);
  for (PetscInt k = 0; k < count; k++) {
    PCType type;
    OK(KSPGetPC(fields[k], &pc));
    OK(PCGetType(pc, &type));
    EXPECT_STREQ(type, expected) << name;
  }
  OK(PetscFree(fields));
}

void expect_solves(KSP ksp, Mat A, PetscInt most_iterations, const std::string &name)
{
  OwnedVec x, b;
  Solution solution;
  OK(make_system(A, x.out(), b.out()));
  OK(solve(ksp, b, x, &solution));
  EXPECT_TRUE(solution.converged()) << name << ": " << KSPConvergedReasons[solution.reason];
  EXPECT_LE(solution.iterations, most_iterations) << name;
  EXPECT_LE(solution.residual, 1e-6) << name;
}

// On n x n points of a grid that a DM distributes: its matrix, of the type that the options say
PetscErrorCode dm_laplacian(PetscInt n, DM *dm, Mat *A)
{
  DMDALocalInfo info;
  PetscFunctionBegin;
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, n, n, PETSC_DECIDE, PETSC_DECIDE, 1, 1,
                         nullptr, nullptr, dm));
  PetscCall(DMSetFromOptions(*dm));
  PetscCall(DMSetUp(*dm));
  PetscCall(DMCreateMatrix(*dm, A));
  PetscCall(DMDAGetLocalInfo(*dm, &info));
  for (PetscInt j = info.ys; j < info.ys + info.ym; j++) {
    for (PetscInt i = info.xs; i < info.xs + info.xm; i++) {
      MatStencil row{}, cols[5] = {};
      PetscScalar values[5];
      PetscInt count = 0;
      row.i = i;
      row.j = j;
      for (auto [di, dj] : {std::pair{0, 0}, {-1, 0}, {1, 0}, {0, -1}, {0, 1}}) {
        if (i + di < 0 || i + di >= n || j + dj < 0 || j + dj >= n) continue;
        cols[count].i = static_cast<PetscInt>(i + di);
        cols[count].j = static_cast<PetscInt>(j + dj);
        values[count++] = di == 0 && dj == 0 ? 4 : -1;
      }
      PetscCall(MatSetValuesStencil(*A, 1, &row, count, cols, values, INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}
using OwnedDM = Owner<DM, DMDestroy>;

// aij...: a name for two types
bool this_petsc_has(const std::string &type)
{
  PetscErrorCode (*create)(Mat) = nullptr;
  EXPECT_EQ(PetscFunctionListFind(MatList, ("seq" + type).c_str(), &create), 0);
  return create != nullptr;
}

PetscErrorCode multiply(Mat shell, Vec x, Vec y)
{
  Mat A;
  PetscFunctionBegin;
  PetscCall(MatShellGetContext(shell, &A));
  PetscCall(MatMult(A, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}
// The function pointer's type is another one since PETSc 3.24.
template <class F> PetscErrorCode set_multiply(Mat shell, PetscErrorCode (*set)(Mat, MatOperation, F))
{
  return set(shell, MATOP_MULT, reinterpret_cast<F>(multiply));
}
PetscErrorCode make_shell(Mat A, Mat *shell)
{
  PetscInt rows, cols;
  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(A, &rows, &cols));
  PetscCall(MatCreateShell(PETSC_COMM_WORLD, rows, cols, PETSC_DETERMINE, PETSC_DETERMINE, A, shell));
  PetscCall(set_multiply(*shell, MatShellSetOperation));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

TEST_P(Citizenship, SolvesTheFieldsOfAFieldSplit)
{
  const std::string fields = " -fieldsplit_u_pc_type amgmatching -fieldsplit_u_pc_amgmatching_coarse_eq_limit 50"
                             " -fieldsplit_v_pc_type amgmatching -fieldsplit_v_pc_amgmatching_coarse_eq_limit 50" +
                             std::string(GetParam() == std::string(PCAMGMATCHING) ? " -fieldsplit_u_pc_amgmatching_matching_steps 2"
                                                                                    " -fieldsplit_v_pc_amgmatching_matching_steps 2"
                                                                                  : "");
  for (const Use &use : uses_and_shared()) {
    OwnedMat A;
    const std::string shared = use.shared ? option_inside(use, "fieldsplit_u_") + option_inside(use, "fieldsplit_v_") : "";
    OK(distribute(two_fields(10), use.on_device, A.out(),
                  rank_of_world() == 0 ? 1200 - 2 * (600 / size_of_world()) * (size_of_world() - 1) : 2 * (600 / size_of_world())));
    for (const char *type : {"additive", "multiplicative", "symmetric_multiplicative", "schur -pc_fieldsplit_schur_fact_type full",
                             "schur -pc_fieldsplit_schur_fact_type lower -pc_fieldsplit_schur_precondition selfp",
                             "schur -pc_fieldsplit_schur_fact_type diag -pc_fieldsplit_schur_precondition a11"}) {
      for (const char *inner : {"-ksp_type gmres -fieldsplit_u_ksp_type preonly -fieldsplit_v_ksp_type preonly",
                                "-ksp_type fgmres -fieldsplit_u_ksp_type amgfcg -fieldsplit_u_ksp_rtol 1e-2"
                                " -fieldsplit_v_ksp_type amgfgmres -fieldsplit_v_ksp_rtol 1e-2"}) {
        OwnedKSP ksp;
        const std::string options = std::string(" -pc_type fieldsplit -pc_fieldsplit_type ") + type + " " + inner;
        OK(make_ksp(A, options + fields + shared, ksp.out()));
        OK(add_fields(A, ksp));
        expect_solves(ksp, A, most(40), use.name + options);
        expect_types_of_fields(ksp, GetParam(), use.name + options);
      }
    }
  }
}

// A program that keeps its blocks apart: none of the matrices that the fields see was ever one.
TEST_P(Citizenship, SolvesTheFieldsOfANest)
{
  for (const Use &use : uses()) {
    OwnedMat blocks[2], coupling, nest;
    OwnedVec x, b;
    OwnedKSP ksp;
    Solution solution;
    IS rows[2];
    PC pc;
    OK(distribute(grid7(10, 10, 6), use.on_device, blocks[0].out()));
    OK(distribute(grid7(10, 10, 6, 1, 1, 0.1), use.on_device, blocks[1].out()));
    std::map<std::pair<int, int>, double> diagonal;
    for (int i = 0; i < 600; i++) diagonal[{i, i}] = 0.3;
    OK(distribute(make_csr(600, 600, diagonal), use.on_device, coupling.out()));
    Mat all[4] = {blocks[0], coupling, coupling, blocks[1]};
    OK(MatCreateNest(PETSC_COMM_WORLD, 2, nullptr, 2, nullptr, all, nest.out()));
    OK(MatNestGetISs(nest, rows, nullptr));
    OK(make_ksp(nest,
                "-ksp_type gmres -pc_type fieldsplit -pc_fieldsplit_type multiplicative -fieldsplit_u_pc_type amgmatching"
                " -fieldsplit_u_ksp_type preonly -fieldsplit_v_pc_type amgmatching -fieldsplit_v_ksp_type preonly",
                ksp.out()));
    OK(KSPGetPC(ksp, &pc));
    OK(PCFieldSplitSetIS(pc, "u", rows[0]));
    OK(PCFieldSplitSetIS(pc, "v", rows[1]));
    OK(MatCreateVecs(nest, x.out(), b.out()));
    OK(VecSet(b, 1));
    OK(solve(ksp, b, x, &solution));
    EXPECT_TRUE(solution.converged()) << use.name;
    EXPECT_LE(solution.iterations, 40) << use.name;
    EXPECT_LE(solution.residual, 1e-6) << use.name;
    expect_types_of_fields(ksp, GetParam(), use.name);
  }
}

// On a part of the processes, and on each of them with the whole matrix.
TEST_P(Citizenship, WorksOnSubcommunicators)
{
  const std::array<std::string, 2> outers[] = {{"telescope -pc_telescope_reduction_factor 2 -telescope_pc_type amgmatching", "telescope_"},
                                               {"redundant -redundant_ksp_type preonly -redundant_pc_type amgmatching", "redundant_"},
                                               {"gamg -mg_coarse_ksp_type preonly -mg_coarse_pc_type amgmatching", "mg_coarse_"}};
  for (const auto &[outer, prefix] : outers) {
    if (size_of_world() == 1 && prefix == "telescope_") continue;
    std::vector<std::string> inside = {""};
    for (const Use &use : uses_and_shared())
      if (use.shared) inside.push_back(option_inside(use, prefix));
    for (const std::string &options : inside) {
      OwnedMat A;
      OwnedKSP ksp;
      PetscBool there;
      OK(distribute(grid7(14, 14, 10), false, A.out()));
      OK(make_ksp(A, "-ksp_type gmres -pc_type " + outer + options, ksp.out()));
      expect_solves(ksp, A, 40, outer + options);
      for (const char *name : {"space", "consolidate_to"}) // which those read that have a part
        OK(PetscOptionsHasName(nullptr, nullptr, renamed("-" + prefix + "pc_amgmatching_" + name).c_str(), &there));
    }
  }
}

TEST_P(Citizenship, TakesTheMatrixOfADM)
{
  for (const char *bind : {"", " -dm_bind_below 10000", " -dm_bind_below 10"}) {
    OwnedDM dm;
    OwnedMat A;
    OwnedVec x, b;
    OwnedKSP ksp;
    Solution solution;
    OK(replace_options(std::string(have_gpu() ? "-dm_mat_type aijcusparse -dm_vec_type cuda" : "") + bind));
    OK(dm_laplacian(40, dm.out(), A.out()));
    OK(DMCreateGlobalVector(dm, b.out()));
    OK(VecDuplicate(b, x.out()));
    OK(VecSet(b, 1));
    OK(make_ksp(A, "-ksp_type cg -pc_amgmatching_coarse_eq_limit 50", ksp.out()));
    OK(solve(ksp, b, x, &solution));
    EXPECT_TRUE(solution.converged()) << bind;
    EXPECT_LE(solution.iterations, most(30)) << bind;
    EXPECT_LE(solution.residual, 1e-6) << bind;
  }
}

// The answer does not depend on where the vectors are, nor on whether the matrix was moved since the setup.
TEST_P(Citizenship, MatrixAndVectorsMayLiveOnDifferentSides)
{
  if (!have_gpu()) GTEST_SKIP() << "no GPU here";
  for (bool matrix_on_device : {false, true}) {
    OwnedMat A;
    OwnedPC pc;
    OK(distribute(grid7(12, 11, 10), matrix_on_device, A.out()));
    OK(make_pc(A, "-pc_amgmatching_coarse_eq_limit 50", pc.out()));
    OwnedVec host_b, host_x;
    OK(make_system(A, host_x.out(), host_b.out()));
    OK(VecSetType(host_b, VECSTANDARD));
    OK(VecSetType(host_x, VECSTANDARD));
    OK(PCApply(pc, host_b, host_x));
    for (const char *type_of_b : {VECSTANDARD, VECCUDA}) {
      for (const char *type_of_x : {VECSTANDARD, VECCUDA}) {
        OwnedVec b, x, on_host;
        PetscBool same;
        OK(VecDuplicate(host_b, b.out()));
        OK(VecDuplicate(host_b, x.out()));
        OK(VecDuplicate(host_b, on_host.out()));
        OK(VecSetType(b, type_of_b));
        OK(VecSetType(x, type_of_x));
        OK(VecCopy(host_b, b));
        OK(VecSet(x, 7));
        OK(PCApply(pc, b, x));
        OK(VecCopy(x, on_host));
        OK(VecEqual(on_host, host_x, &same));
        EXPECT_TRUE(same) << matrix_on_device << " " << type_of_b << " " << type_of_x;
      }
    }
  }
}

// Bound to the CPU before the setup, and after it.
TEST_P(Citizenship, FollowsAMatrixThatIsBoundToTheCPU)
{
  for (const Use &use : uses_and_shared()) {
    OwnedMat A;
    OwnedKSP ksp;
    OK(distribute(grid7(12, 11, 10), use.on_device, A.out()));
    OK(make_ksp(A, std::string(use.option) + " -ksp_type cg -pc_amgmatching_coarse_eq_limit 50", ksp.out()));
    expect_solves(ksp, A, 40, use.name);
    for (PetscBool bound : {PETSC_TRUE, PETSC_FALSE}) {
      OK(MatBindToCPU(A, bound));
      expect_solves(ksp, A, 40, std::string(use.name) + " as it was set up");
      OK(MatScale(A, 2));
      expect_solves(ksp, A, 40, std::string(use.name) + " set up again");
    }
  }
}

// MATAIJKOKKOS is taken for the AIJ it is derived from: PETSc brings its values to the host.
TEST_P(Citizenship, TakesWhatIsDerivedFromAIJ)
{
  for (const char *type : {MATAIJ, MATAIJPERM, MATAIJSELL, MATAIJCRL}) EXPECT_TRUE(this_petsc_has(type)) << type;
  for (const char *type : {MATAIJ, MATAIJPERM, MATAIJSELL, MATAIJCRL, MATAIJMKL, MATAIJKOKKOS, MATAIJCUSPARSE}) {
    OwnedMat A, derived;
    OwnedKSP ksp;
    OK(distribute(grid7(12, 11, 10), false, A.out()));
    if (PetscDefined(HAVE_CUDA) && !have_gpu() && (std::string(type) == MATAIJCUSPARSE || std::string(type) == MATAIJKOKKOS)) continue;
    if (!this_petsc_has(type)) continue;
    OK(MatConvert(A, type, MAT_INITIAL_MATRIX, derived.out()));
    OK(make_ksp(derived, "-ksp_type cg -pc_amgmatching_coarse_eq_limit 50", ksp.out()));
    expect_solves(ksp, derived, 40, type);
    OK(MatScale(derived, 3));
    expect_solves(ksp, derived, 40, type);
  }
}

TEST_P(Citizenship, RefusesOtherTypesByName)
{
  OwnedMat A, nest, shell;
  OK(distribute(grid7(6, 6, 6), false, A.out()));
  OK(MatSetOption(A, MAT_SYMMETRIC, PETSC_TRUE)); // for sbaij
  Mat one = A;
  OK(MatCreateNest(PETSC_COMM_WORLD, 1, nullptr, 1, nullptr, &one, nest.out()));
  OK(make_shell(A, shell.out()));
  auto expect_refused = [&](Mat refused, const std::string &name) {
    OwnedPC pc;
    OK(make_pc(refused, "", pc.out()));
    const Refusal refusal = refusal_of([&] { return PCSetUp(pc); });
    EXPECT_EQ(static_cast<int>(refusal.code), PETSC_ERR_SUP) << name;
    EXPECT_NE(refusal.message.find("Matrix type " + name), std::string::npos) << refusal.message;
    EXPECT_NE(refusal.message.find("MatConvert()"), std::string::npos) << refusal.message;
  };
  expect_refused(nest, MATNEST);
  expect_refused(shell, MATSHELL);
  for (const char *type : {MATBAIJ, MATSBAIJ, MATSELL, MATDENSE}) {
    OwnedMat converted;
    MatType name;
    OK(MatConvert(A, type, MAT_INITIAL_MATRIX, converted.out()));
    OK(MatGetType(converted, &name));
    expect_refused(converted, name);
  }
}

// An operator that cannot be looked into, with a matrix to build from.
TEST_P(Citizenship, TakesTheMatrixBesideAShell)
{
  for (const Use &use : uses_and_shared()) {
    OwnedMat A, shell;
    OwnedKSP ksp;
    OK(distribute(grid7(12, 11, 10), use.on_device, A.out()));
    OK(make_shell(A, shell.out()));
    OK(make_ksp(A, std::string(use.option) + " -ksp_type cg", ksp.out()));
    OK(KSPSetOperators(ksp, shell, A));
    expect_solves(ksp, A, 40, use.name);
  }
}

// Several at once, their setups and solves interleaved, each with a prefix of its own, give what each gives alone.
TEST_P(Citizenship, SeveralDoNotDisturbOneAnother)
{
  for (const Use &use : uses_and_shared()) {
    constexpr int count = 3;
    const HostCsr systems[count] = {grid7(12, 11, 10), grid7(9, 9, 9, 1, 1, 0.01), grid27(9)};
    const std::string options[count] = {"pc_amgmatching_coarse_eq_limit 50", "pc_amgmatching_smoother l1jacobi",
                                        "pc_amgmatching_chebyshev_degree 3"};
    OwnedMat A[count];
    OwnedVec x[count], alone[count], b[count];
    OwnedKSP ksp[count];
    std::string all = "-pc_amgmatching_chebyshev_degree 2"; // for one without a prefix, of which there is none
    for (int k = 0; k < count; k++) {
      for (const char *option : {"ksp_type amgfcg", options[k].c_str(), use.option + 1}) all += " -p" + std::to_string(k) + "_" + option;
      OK(distribute(systems[k], use.on_device, A[k].out()));
      OK(make_system(A[k], x[k].out(), b[k].out()));
      OK(VecDuplicate(x[k], alone[k].out()));
    }
    auto create = [&](int k) {
      OK(make_ksp_of_present_options(A[k], ksp[k].out(), type()));
      OK(KSPSetOptionsPrefix(ksp[k], (std::string("p") + std::to_string(k) + "_").c_str()));
      OK(KSPSetFromOptions(ksp[k]));
    };
    OK(replace_options(renamed(all)));
    for (int k = 0; k < count; k++) {
      Solution solution;
      create(k);
      OK(solve(ksp[k], b[k], alone[k], &solution));
      EXPECT_TRUE(solution.converged()) << use.name << k;
      OK(KSPReset(ksp[k]));
    }
    for (int k = 0; k < count; k++) create(k);
    for (int k = count - 1; k >= 0; k--) OK(KSPSetUp(ksp[k]));
    for (int k = 0; k < count; k++) {
      PetscBool same;
      OK(KSPSolve(ksp[k], b[k], x[k]));
      OK(VecEqual(x[k], alone[k], &same));
      EXPECT_TRUE(same) << use.name << k;
    }
  }
}

TEST_P(Citizenship, ViewersOfEveryKind)
{
  OwnedMat A;
  OwnedPC pc, read;
  PetscViewer viewer;
  PCType loaded;
  char text[4096] = ""; // PETSc 3.18 writes beyond what is too short, once it has cut a text
  const std::string file = ::testing::TempDir() + "amgkit_pc_" + std::to_string(size_of_world());
  OK(distribute(grid7(8, 8, 8), false, A.out()));
  OK(make_pc(A, is_multigrid() ? "-pc_amgmatching_chebyshev_degree 3" : "-pc_amgmatching_triangular_sweeps 3", pc.out()));
  for (bool ready : {false, true}) {
    if (ready) {
      OK(PCSetUp(pc));
    }
    OK(PetscViewerStringOpen(PETSC_COMM_WORLD, text, sizeof text, &viewer));
    OK(PCView(pc, viewer));
    OK(PetscViewerDestroy(&viewer));
    for (const std::string &expected :
         {renamed("AMGKit amgmatching"), std::string(is_multigrid() ? "chebyshev_degree=3" : "triangular_sweeps=3"),
          std::string("space=auto")})
      EXPECT_NE(std::string(text).find(expected), std::string::npos) << text;
  }
  OK(PetscViewerBinaryOpen(PETSC_COMM_WORLD, file.c_str(), FILE_MODE_WRITE, &viewer));
  OK(PCView(pc, viewer));
  OK(PetscViewerDestroy(&viewer));
  OK(PetscViewerBinaryOpen(PETSC_COMM_WORLD, file.c_str(), FILE_MODE_READ, &viewer));
  OK(PCCreate(PETSC_COMM_WORLD, read.out()));
  OK(PCLoad(read, viewer));
  OK(PetscViewerDestroy(&viewer));
  OK(PCGetType(read, &loaded));
  EXPECT_STREQ(loaded, type());
}

// Rows of the boundary that are 3 times the identity's, while other rows keep their entries in those columns: any smoother solves them at
// once, and conjugate gradients, which the matrix is not made for, do as well as elsewhere.
TEST_P(Citizenship, DirichletRowsAreSolvedAtOnce)
{
  if (!is_multigrid()) GTEST_SKIP() << "without a smoother";
  constexpr int n = 13;
  HostCsr from = grid7(n, n, n);
  const auto inner = [](int x) { return x > 0 && x < n - 1; };
  const auto fixed = [=](int i) { return !(inner(i % n) && inner(i / n % n) && inner(i / (n * n))); };
  for (int i = 0; i < from.rows; i++) {
    for (int k = from.ptr[i]; fixed(i) && k < from.ptr[i + 1]; k++) from.val[k] = from.col[k] == i ? 3 : 0;
  }
  for (const Use &use : uses()) {
    OwnedMat A;
    OwnedVec x, b;
    OK(distribute(from, use.on_device, A.out()));
    OK(make_system(A, x.out(), b.out()));
    for (const char *smoother : {"smoother l1jacobi", "smoother jacobi", "smoother jacobi -pc_amgmatching_jacobi_omega 0.7",
                                 "chebyshev_degree 1", "chebyshev_degree 2", "chebyshev_degree 3", "chebyshev_degree 4"}) {
      const std::string name = use.name + std::string(" ") + smoother,
                        options = use.option +
                                  std::string(" -pc_amgmatching_storage double -pc_amgmatching_coarse_eq_limit 50 -pc_amgmatching_") +
                                  smoother;
      OwnedPC pc;
      OwnedKSP ksp;
      Solution solution;
      PetscInt first, last;
      const PetscScalar *of_b, *of_x;
      OK(make_pc(A, options, pc.out()));
      OK(PCApply(pc, b, x));
      OK(MatGetOwnershipRange(A, &first, &last));
      OK(VecGetArrayRead(b, &of_b));
      OK(VecGetArrayRead(x, &of_x));
      for (PetscInt i = first; i < last; i++) {
        if (fixed(static_cast<int>(i))) {
          EXPECT_NEAR(of_x[i - first], of_b[i - first] / 3, 1e-13) << name;
        }
      }
      OK(VecRestoreArrayRead(x, &of_x));
      OK(VecRestoreArrayRead(b, &of_b));
      OK(make_ksp(A, options + " -pc_amgmatching_cycle_type w -ksp_type cg -ksp_norm_type unpreconditioned", ksp.out()));
      OK(solve(ksp, b, x, &solution));
      EXPECT_TRUE(solution.converged()) << name;
      EXPECT_LE(solution.iterations, 25) << name;
      RecordProperty(name, static_cast<int>(solution.iterations));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, Citizenship, all_types(), [](const auto &info) { return info.param; });
} // namespace amgkit::test
