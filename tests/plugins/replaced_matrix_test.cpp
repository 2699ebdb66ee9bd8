// The contents of a matrix are replaced by another's, and neither its address nor, now and then, its nonzero state tells of it.
#include "support/every_type.hpp"
#include "support/ilu_beside_petsc.hpp"
#include "support/vectors.hpp"

namespace amgkit::test
{
namespace
{
// As many rows and entries as the other one, in another pattern
HostCsr matrix(int step) { return step % 2 == 0 ? grid7(8, 7, 6) : grid7(6, 7, 8); }

PetscErrorCode replace_header(Mat A, const HostCsr &by, bool on_device, PetscInt local_rows = -1)
{
  Mat C;
  PetscFunctionBegin;
  PetscCall(distribute(by, on_device, &C, local_rows));
  PetscCall(MatHeaderReplace(A, &C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode preallocate_again(Mat A, const HostCsr &by, bool)
{
  PetscInt first, last;

  PetscFunctionBegin;
  PetscCall(MatSeqAIJSetPreallocation(A, 7, nullptr));
  PetscCall(MatMPIAIJSetPreallocation(A, 7, nullptr, 7, nullptr));
  PetscCall(MatGetOwnershipRange(A, &first, &last));
  for (PetscInt i = first; i < last; i++) {
    for (int k = by.ptr[i]; k < by.ptr[i + 1]; k++) PetscCall(MatSetValue(A, i, by.col[k], by.val[k], INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode take_coordinates(Mat A, const HostCsr &by, bool)
{
  PetscInt first, last;
  std::vector<PetscInt> row, col;

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(A, &first, &last));
  for (PetscInt i = first; i < last; i++) {
    for (int k = by.ptr[i]; k < by.ptr[i + 1]; k++) {
      row.push_back(i);
      col.push_back(by.col[k]);
    }
  }
  PetscCall(MatSetPreallocationCOO(A, static_cast<PetscInt>(row.size()), row.data(), col.data()));
  PetscCall(MatSetValuesCOO(A, by.val.data() + by.ptr[first], INSERT_VALUES));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// To another type and back, with new values on the pattern that was there
PetscErrorCode convert_and_back(Mat A, const HostCsr &, bool on_device)
{
  PetscFunctionBegin;
  PetscCall(MatConvert(A, on_device ? MATAIJ : MATBAIJ, MAT_INPLACE_MATRIX, &A));
  PetscCall(MatConvert(A, on_device ? MATAIJCUSPARSE : MATAIJ, MAT_INPLACE_MATRIX, &A));
  PetscCall(MatScale(A, 3));
  PetscFunctionReturn(PETSC_SUCCESS);
}

struct Way {
  const char *name;
  PetscErrorCode (*replace)(Mat, const HostCsr &, bool on_device);
};
const Way ways[] = {{"header", [](Mat A, const HostCsr &by, bool on_device) { return replace_header(A, by, on_device); }},
                    {"preallocation", preallocate_again},
                    {"coordinates", take_coordinates},
                    {"conversion", convert_and_back}};

class ReplacedMatrix : public EveryType {
protected:
  static bool multigrid() { return std::string(type()) != PCILU2LEVEL; }
  // What holds the matrix in different ways
  static std::vector<std::string> settings()
  {
    if (multigrid()) return {" -pc_amgmatching_coarse_eq_limit 20", " -pc_amgmatching_coarse_eq_limit 20 -pc_amgmatching_export_mg"};
    return {"", " -pc_ilu2level_ordering rcm", " -ksp_type fgmres -pc_ilu2level_levels 2"};
  }

  // What a preconditioner gives that was set up for another matrix before is what a new one gives, bit by bit. But a PCMG of matrices on a
  // GPU calls PETSc's kernels, whose sums have no fixed order, and so does GMRES for the Schur complement.
  static void expect_as_new(PC pc, const std::string &options, const std::string &name)
  {
    OwnedPC anew;
    Mat A;
    std::vector<double> got, expected;
    OK(PCGetOperators(pc, nullptr, &A));
    OK(PCSetUp(pc));
    OK(applied(pc, false, got));
    OK(make_pc(A, options, anew.out()));
    OK(PCSetUp(anew));
    OK(applied(anew, false, expected));
    PetscBool on_device;
    OK(PetscObjectTypeCompareAny(reinterpret_cast<PetscObject>(A), &on_device, MATSEQAIJCUSPARSE, MATMPIAIJCUSPARSE, ""));
    if (on_device && (options.find("export_mg") != std::string::npos || options.find("levels 2") != std::string::npos))
      expect_close(got, expected, 1e-12, name);
    else
      EXPECT_EQ(got, expected) << name;
  }

  static void expect_solves(KSP ksp, Mat A, const std::string &name)
  {
    OwnedVec x, b;
    Solution solution;
    OK(make_system(A, x.out(), b.out()));
    OK(KSPSetOperators(ksp, A, A));
    OK(solve(ksp, b, x, &solution));
    EXPECT_TRUE(solution.converged()) << name << ", " << KSPConvergedReasons[solution.reason];
    EXPECT_LE(solution.residual, 1e-6) << name;
  }

  // An error on every rank, of this code and with these words
  static void expect_refusal(PC pc, int code, const std::string &words, const std::string &name)
  {
    std::vector<double> got;
    const Refusal refusal = refusal_of([&] { return applied(pc, false, got); });
    EXPECT_EQ(static_cast<int>(refusal.code), code) << name;
    EXPECT_NE(refusal.message.find(words), std::string::npos) << name << ": " << refusal.message;
  }
};
} // namespace

TEST_P(ReplacedMatrix, IsSetUpAnew)
{
  for (const Use &use : uses_and_shared()) {
    for (const Way &way : ways) {
      for (const std::string &setting : settings()) {
        const std::string options = use.option + setting, name = std::string(way.name) + ", " + use.name + setting;
        OwnedMat A;
        OwnedKSP ksp;
        PC pc;
        OK(distribute(matrix(0), use.on_device, A.out()));
        if (way.replace == take_coordinates) {
          OK(take_coordinates(A, matrix(0), use.on_device));
        }
        OK(make_ksp(A, options, ksp.out()));
        OK(KSPGetPC(ksp, &pc));
        expect_solves(ksp, A, name);
        for (int step = 1; step < 5; step++) {
          OK(way.replace(A, matrix(step), use.on_device));
          expect_as_new(pc, options, name + ", step " + std::to_string(step));
          expect_solves(ksp, A, name + ", step " + std::to_string(step));
        }
      }
    }
  }
}

// From the CPU to the GPU and back. Blocks are converted in place, too. PETSc's Krylov methods keep the work vectors that they have, and
// with vectors of another type end with a wrong answer, whatever the preconditioner (3.26.1, also with jacobi and none): they are reset.
TEST_P(ReplacedMatrix, MayMoveByConversion)
{
  if (!have_gpu()) GTEST_SKIP() << "no GPU here";
  for (const std::string &setting : settings()) {
    OwnedMat owner;
    OwnedKSP ksp;
    PC pc;
    OK(distribute(matrix(0), false, owner.out()));
    Mat A = owner;
    OK(make_ksp(A, setting, ksp.out()));
    OK(KSPGetPC(ksp, &pc));
    expect_solves(ksp, A, "aij" + setting);
    for (const char *other : {MATAIJCUSPARSE, MATAIJ, MATAIJCUSPARSE}) {
      OK(MatConvert(A, other, MAT_INPLACE_MATRIX, &A));
      expect_as_new(pc, setting, other + setting);
      OK(KSPReset(ksp));
      expect_solves(ksp, A, other + setting);
    }
    OK(MatBindToCPU(A, PETSC_TRUE));
    expect_as_new(pc, setting, "bound to the CPU" + setting);
  }
}

// Other sizes, or the same on other ranks
TEST_P(ReplacedMatrix, MayHaveOtherRows)
{
  const bool last = rank_of_world() == size_of_world() - 1;
  const HostCsr M = matrix(0), small = grid7(3, 5, 4);
  for (const Use &use : uses()) {
    for (const std::string &setting : settings()) {
      const std::string options = use.option + setting, name = use.name + setting;
      OwnedMat A;
      OwnedPC pc;
      OK(distribute(M, use.on_device, A.out()));
      OK(make_pc(A, options, pc.out()));
      OK(PCSetUp(pc));
      OK(replace_header(A, small, use.on_device));
      expect_as_new(pc, options, name + ", fewer rows");
      OK(replace_header(A, matrix(1), use.on_device));
      expect_as_new(pc, options, name + ", more rows");
      OK(replace_header(A, M, use.on_device, last ? M.rows : 0));
      expect_as_new(pc, options, name + ", all on one rank");
    }
  }
}

// An old preconditioner may be kept for new values, not for another matrix: multigrid reads it. Incomplete factors do not.
TEST_P(ReplacedMatrix, IsRefusedWhereThePreconditionerIsKept)
{
  for (const Use &use : uses()) {
    for (const Way &way : ways) {
      const std::string name = std::string(way.name) + ", " + use.name;
      OwnedMat A;
      OwnedPC pc;
      std::vector<double> before, after;
      OK(distribute(matrix(0), use.on_device, A.out()));
      if (way.replace == take_coordinates) {
        OK(take_coordinates(A, matrix(0), use.on_device));
      }
      OK(make_pc(A, std::string(use.option) + " -pc_amgmatching_coarse_eq_limit 20", pc.out()));
      OK(PCSetUp(pc));
      OK(PCSetReusePreconditioner(pc, PETSC_TRUE));
      OK(MatScale(A, 1 + 1e-9));
      OK(applied(pc, false, before));
      OK(way.replace(A, matrix(1), use.on_device));
      OK(PCSetUp(pc));
      if (multigrid()) {
        for (int time = 0; time < 2; time++)
          expect_refusal(pc, PETSC_ERR_ARG_WRONGSTATE, "KSPSetReusePreconditioner(ksp, PETSC_FALSE)", name);
      } else {
        OK(applied(pc, false, after));
        EXPECT_EQ(after, before) << name;
      }
      OK(PCSetReusePreconditioner(pc, PETSC_FALSE));
      expect_as_new(pc, use.option + std::string(" -pc_amgmatching_coarse_eq_limit 20"), name);
    }
  }
}

// New values cost one sum over all ranks, at the first application that meets them.
TEST_P(ReplacedMatrix, IsLookedForAfterAChangeAlone)
{
  OwnedMat A;
  OwnedPC pc;
  std::vector<double> got;
  std::vector<PetscLogDouble> sums;
  OK(distribute(matrix(0), false, A.out()));
  OK(make_pc(A, "", pc.out()));
  OK(PCSetUp(pc));
  OK(PCSetReusePreconditioner(pc, PETSC_TRUE));
  for (int application = 0; application < 4; application++) {
    if (application == 2) {
      OK(MatScale(A, 2));
    }
    const PetscLogDouble before = petsc_allreduce_ct;
    OK(applied(pc, false, got));
    sums.push_back(petsc_allreduce_ct - before);
  }
  EXPECT_EQ(sums[1], sums[0]);
  EXPECT_EQ(sums[2], sums[0] + (multigrid() && size_of_world() > 1));
  EXPECT_EQ(sums[3], sums[0]);
}

// A kept preconditioner of other rows would read and write what is not there.
TEST_P(ReplacedMatrix, OfOtherRowsIsRefusedWhereThePreconditionerIsKept)
{
  const bool last = rank_of_world() == size_of_world() - 1;
  const HostCsr M = matrix(0), small = grid7(3, 5, 4);
  for (const Use &use : uses()) {
    for (const std::string &setting : settings()) {
      const std::string options = use.option + setting, name = use.name + setting;
      OwnedMat A;
      OwnedPC pc;
      OK(distribute(M, use.on_device, A.out()));
      OK(make_pc(A, options, pc.out()));
      OK(PCSetUp(pc));
      OK(PCSetReusePreconditioner(pc, PETSC_TRUE));
      OK(replace_header(A, small, use.on_device));
      expect_refusal(pc, PETSC_ERR_ARG_SIZ, "other rows", name);
      OK(replace_header(A, M, use.on_device, last ? M.rows : 0));
      if (size_of_world() > 1) expect_refusal(pc, PETSC_ERR_ARG_SIZ, "other rows", name);
      OK(PCSetReusePreconditioner(pc, PETSC_FALSE));
      expect_as_new(pc, options, name);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, ReplacedMatrix, all_types(), [](const auto &info) { return info.param; });
} // namespace amgkit::test
