// Bad input: a named error or KSP_DIVERGED_PC_FAILED on every rank, nothing lost, and the object usable afterwards.
#include "support/full_device.hpp"
#include "support/ilu_beside_petsc.hpp"

#include <limits>

namespace amgkit::test
{
namespace
{
constexpr double infinite = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
constexpr int n = 30;

// A chain whose last rows, which the last rank owns, are changed; nothing of row `without`'s diagonal is stored.
HostCsr chain(const std::map<std::pair<int, int>, double> &change = {}, int without = -1)
{
  std::map<std::pair<int, int>, double> entries;
  for (int i = 0; i < n; i++) {
    if (i != without) entries[{i, i}] = 2.5;
    if (i > 0) entries[{i, i - 1}] = entries[{i - 1, i}] = -1;
  }
  for (const auto &[where, value] : change) entries[where] = value;
  return make_csr(n, n, entries);
}

void expect_solves(KSP ksp, Mat A, const std::string &name)
{
  OwnedVec x, b;
  Solution solution;
  OK(make_system(A, x.out(), b.out()));
  OK(solve(ksp, b, x, &solution));
  EXPECT_TRUE(solution.converged()) << name << ", " << KSPConvergedReasons[solution.reason];
  EXPECT_LE(solution.residual, 1e-6) << name;
}

void expect_infinity(PC pc, Mat A, const std::string &name)
{
  OwnedVec x, b;
  PetscReal norm;
  OK(make_system(A, x.out(), b.out()));
  OK(PCApply(pc, b, x));
  OK(VecNorm(x, NORM_INFINITY, &norm));
  EXPECT_FALSE(norm < infinite) << name;
}

class Ilu2LevelBadInput : public Ilu2Level {
protected:
  // The solve ends with KSP_DIVERGED_PC_FAILED, for this reason; other values of the same matrix are solved, in the same analysis.
  void expect_failure(const HostCsr &bad, PCFailedReason expected, const std::string &name)
  {
    for (const Use &use : uses()) {
      OwnedMat A, good;
      OwnedKSP ksp;
      OwnedVec x, b;
      PC pc;
      PCFailedReason why;
      KSPConvergedReason reason;
      const std::string what = name + ", " + use.name;
      OK(distribute(bad, use.on_device, A.out()));
      OK(distribute(chain(), use.on_device, good.out()));
      OK(make_system(good, x.out(), b.out()));
      OK(make_ksp(A, std::string(use.option) + " -ksp_type gmres", ksp.out()));
      OK(KSPGetPC(ksp, &pc));
      OK(KSPSolve(ksp, b, x));
      OK(KSPGetConvergedReason(ksp, &reason));
      EXPECT_EQ(reason, KSP_DIVERGED_PC_FAILED) << what;
      OK(PCGetFailedReason(pc, &why));
      EXPECT_EQ(why, expected) << what;
      expect_infinity(pc, A, what);
      OK(MatCopy(good, A, SAME_NONZERO_PATTERN));
      OK(KSPSetOperators(ksp, A, A));
      expect_solves(ksp, A, what);
      OK(PCGetFailedReason(pc, &why));
      EXPECT_EQ(why, PC_NOERROR) << what;
    }
  }

  // An error of this code and words on every rank; afterwards the same KSP solves a good system.
  void expect_error(Mat A, int code, const std::string &words)
  {
    OwnedMat good;
    OwnedKSP ksp;
    PC pc;
    OK(make_ksp(A, "", ksp.out()));
    OK(KSPGetPC(ksp, &pc));
    const Refusal refusal = refusal_of([&] { return PCSetUp(pc); });
    EXPECT_EQ(static_cast<int>(refusal.code), code) << words;
    EXPECT_NE(refusal.message.find(words), std::string::npos) << refusal.message;
    OK(distribute(chain(), false, good.out()));
    OK(KSPReset(ksp));
    OK(KSPSetOperators(ksp, good, good));
    expect_solves(ksp, good, words);
  }
};
} // namespace

TEST_F(Ilu2LevelBadInput, BadPivotsEndTheSolve)
{
  const HostCsr zero = chain({{{29, 29}, 0}, {{29, 28}, 0}}), almost = chain({{{29, 29}, 1e-15}, {{28, 29}, 0}});
  expect_failure(zero, PC_FACTOR_NUMERIC_ZEROPIVOT, "zero");
  expect_failure(almost, PC_FACTOR_NUMERIC_ZEROPIVOT, "almost zero");
  expect_failure(chain({{{29, 28}, nan}}), PC_FACTOR_OTHER, "NaN");
  expect_failure(chain({{{28, 28}, infinite}}), PC_FACTOR_OTHER, "infinity");
}

// The first of several ranks' rows is named.
TEST_F(Ilu2LevelBadInput, ErrorsAreRaisedWhereTheyAreWanted)
{
  OwnedMat A;
  OwnedKSP ksp;
  OK(distribute(chain({{{29, 29}, 0}, {{29, 28}, 0}, {{17, 17}, 0}, {{17, 16}, 0}}), false, A.out()));
  OK(make_ksp(A, "-ksp_error_if_not_converged", ksp.out()));
  const Refusal refusal = refusal_of([&] { return KSPSetUp(ksp); });
  EXPECT_EQ(static_cast<int>(refusal.code), PETSC_ERR_MAT_LU_ZRPVT);
  EXPECT_NE(refusal.message.find("the pivot of row 17 is zero"), std::string::npos) << refusal.message;
}

// A pivot that is zero, and one that becomes negative.
TEST_F(Ilu2LevelBadInput, ShiftsHelp)
{
  const HostCsr zero = chain({{{29, 29}, 0}, {{28, 29}, 1}, {{29, 28}, 0}, {{29, 0}, 1}, {{0, 29}, 1}}), negative = chain({{{29, 29}, 0}});
  for (const Use &use : uses()) {
    for (const std::string shift : {"nonzero", "positive_definite", "inblocks"}) {
      OwnedMat A;
      OwnedKSP ksp;
      OK(distribute(shift == "positive_definite" ? negative : zero, use.on_device, A.out()));
      OK(make_ksp(A, use.option + (" -ksp_type gmres -pc_ilu2level_shift_amount 0.1 -pc_ilu2level_shift_type " + shift), ksp.out()));
      expect_solves(ksp, A, shift + ", " + use.name);
    }
  }
}

TEST_F(Ilu2LevelBadInput, MatricesThatCannotBeTaken)
{
  OwnedMat no_diagonal, rectangle, dense, loose;
  PetscInt rows, cols;
  OK(distribute(chain({}, 27), false, no_diagonal.out()));
  expect_error(no_diagonal, PETSC_ERR_ARG_WRONG, "Row 27 of the matrix has no diagonal entry");
  OK(distribute(make_csr(12, 9, {{{0, 0}, 1}}), false, rectangle.out()));
  OK(MatGetSize(rectangle, &rows, &cols));
  expect_error(rectangle, PETSC_ERR_ARG_SIZ, "not square: 12 rows, 9 columns");
  OK(MatCreateDense(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, 8, 8, nullptr, dense.out()));
  OK(MatShift(dense, 1));
  expect_error(dense, PETSC_ERR_SUP, "Matrix type");
  OwnedPC pc;
  OK(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, 10, 10, 3, nullptr, 3, nullptr, loose.out()));
  OK(make_pc(loose, "", pc.out()));
  EXPECT_NE(static_cast<int>(quietly([&] { return PCSetUp(pc); })), 0);
}

// Columns that do not ascend would be taken for missing.
TEST_F(Ilu2LevelBadInput, UnsortedColumnsAreAnError)
{
  OwnedMat A;
  OwnedPC pc;
  PetscInt ptr[] = {0, 2, 4}, col[] = {1, 0, 0, 1};
  PetscScalar val[] = {-1, 2, -1, 2};
  OK(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, 2, 2, ptr, col, val, A.out()));
  OK(make_pc(A, "", pc.out()));
  const Refusal refusal = refusal_of([&] { return PCSetUp(pc); });
  EXPECT_EQ(static_cast<int>(refusal.code), PETSC_ERR_ARG_WRONG);
  EXPECT_NE(refusal.message.find("Row 0 of the matrix has columns that are not in ascending order"), std::string::npos) << refusal.message;
}

TEST_F(Ilu2LevelBadInput, CusparseIsForGPUsAndDoesNotShift)
{
  OwnedMat A;
  OK(distribute(chain(), have_gpu(), A.out()));
  for (const char *more : {" -pc_ilu2level_space host", " -pc_ilu2level_shift_type nonzero", " -pc_ilu2level_triangular_solve jacobi"}) {
    OwnedPC pc;
    OK(make_pc(A, std::string("-pc_ilu2level_factorization cusparse") + more, pc.out()));
    EXPECT_EQ(static_cast<int>(quietly([&] { return PCSetUp(pc); })), PETSC_ERR_SUP) << more;
  }
}

TEST_F(Ilu2LevelBadInput, SmallestSystemsAndEmptyRanks)
{
  for (const Use &use : uses()) {
    for (const int rows : {0, 1, 2, 30}) {
      for (const bool on_last : {false, true}) {
        OwnedMat A;
        OwnedKSP ksp;
        std::map<std::pair<int, int>, double> entries;
        for (int i = 0; i < rows; i++) entries[{i, i}] = 2;
        const PetscInt mine = on_last ? (rank_of_world() == size_of_world() - 1 ? rows : 0) : -1;
        OK(distribute(make_csr(rows, rows, entries), use.on_device, A.out(), mine));
        OK(make_ksp(A, std::string(use.option) + " -ksp_type gmres", ksp.out()));
        expect_solves(ksp, A, std::string(use.name) + ", " + std::to_string(rows));
      }
    }
  }
}

// NaN in a coupling that one level leaves out is the Krylov method's to find.
TEST_F(Ilu2LevelBadInput, NaNTowardsAnotherRankDoesNotConverge)
{
  OwnedMat A;
  OwnedKSP ksp;
  OwnedVec x, b;
  KSPConvergedReason reason;
  OK(distribute(chain({{{0, 29}, nan}}), false, A.out()));
  OK(MatCreateVecs(A, x.out(), b.out()));
  OK(VecSet(b, 1));
  OK(make_ksp(A, "-ksp_type gmres", ksp.out()));
  OK(KSPSolve(ksp, b, x));
  OK(KSPGetConvergedReason(ksp, &reason));
  EXPECT_LT(static_cast<int>(reason), 0);
}

TEST_F(Ilu2LevelBadInput, AfterAnErrorApplyGivesInfinity)
{
  OwnedMat A;
  OwnedPC pc;
  OK(distribute(chain({}, 28), false, A.out()));
  OK(make_pc(A, "", pc.out()));
  EXPECT_EQ(static_cast<int>(quietly([&] { return PCSetUp(pc); })), PETSC_ERR_ARG_WRONG);
  OwnedVec x, b;
  PetscReal norm;
  OK(make_system(A, x.out(), b.out()));
  if (quietly([&] { return PCApply(pc, b, x); }) == 0) {
    OK(VecNorm(x, NORM_INFINITY, &norm));
    EXPECT_FALSE(norm < infinite);
  }
}

TEST_F(Ilu2LevelBadInput, OutOfDeviceMemory) { solve_on_full_device(PCILU2LEVEL); }
} // namespace amgkit::test
