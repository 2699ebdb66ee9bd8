// No allocation of AMGKit's in a solve, and none of a work vector, may fail without every rank's learning of it, and nothing may leak then:
// each one fails in turn, on one rank.
#include "support/failing_allocations.hpp"
#include "support/flexible_krylov.hpp"

#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <petsc/private/vecimpl.h>
#include <utility>

namespace amgkit::test
{
namespace
{
// Stands before PETSc's allocator, and counts and fails what AMGKit's spaces on the host allocate.
struct Watch {
  Debug counter; // its numbers alone
  std::int64_t live = 0;
  decltype(PetscTrMalloc) allocate = PetscTrMalloc;
  decltype(PetscTrFree) free = PetscTrFree;
};
Watch *watch = nullptr;

bool is_ours(const char *file) { return file && std::strstr(file, "base/memory.cpp") != nullptr; }
PetscErrorCode watched_malloc(std::size_t bytes, PetscBool clear, int line, const char function[], const char file[], void **p)
{
  const bool ours = is_ours(file);
  if (ours && watch->counter.allocations++ == watch->counter.fail_at) return PETSC_ERR_MEM;
  const PetscErrorCode code = watch->allocate(bytes, clear, line, function, file, p);
  watch->live += ours && code == PETSC_SUCCESS;
  return code;
}
PetscErrorCode watched_free(void *p, int line, const char function[], const char file[])
{
  watch->live -= is_ours(file) && p;
  return watch->free(p, line, function, file);
}

class FailingSolves : public ::testing::Test {
protected:
  void SetUp() override
  {
    OK(AMGKitRegister());
    OK(distribute(grid7(6, 6, 6), false, A.out()));
    OK(make_system(A, x.out(), b.out()));
    watch = &watched;
    PetscTrMalloc = watched_malloc;
    PetscTrFree = watched_free;
  }
  void TearDown() override
  {
    PetscTrMalloc = watched.allocate;
    PetscTrFree = watched.free;
    watch = nullptr;
  }
  void create(const std::string &options, KSP *ksp)
  {
    OK(KSPCreate(PETSC_COMM_WORLD, ksp));
    OK(replace_options("-ksp_rtol 1e-8 " + options));
    OK(KSPSetOperators(*ksp, A, A));
    OK(KSPSetFromOptions(*ksp));
  }
  Watch watched;
  OwnedMat A;
  OwnedVec x, b;
};

// On three ranks the last one is a head, with a member of another head's beside it.
const std::string on_heads = " -pc_amgmatching_consolidate_to 2"; // by default, in the debug space
const std::string with_levels = "amgmatching -pc_amgmatching_coarse_eq_limit 20 -pc_amgmatching_space debug";

// How a solve ends in which an allocation fails: with an error, or, where that is one of the preconditioner's setup, with a reason, as
// always if a setup fails; the same on every rank. The next solve works, after a failed setup once that is begun anew; change: before it.
void expect_a_solve_after(
    FailingAllocations &failing, Watch &watched, KSP ksp, Vec b, Vec x, const std::string &name, bool *more,
    const std::function<PetscErrorCode()> &change = [] { return PETSC_SUCCESS; })
{
  KSPConvergedReason reason;
  Solution solution;
  failing.begin(watched.counter);
  OK(VecSet(x, 0));
  const PetscErrorCode code = quietly([&] { return KSPSolve(ksp, b, x); });
  OK(KSPGetConvergedReason(ksp, &reason));
  EXPECT_TRUE(code == PETSC_SUCCESS || code == PETSC_ERR_MEM) << static_cast<int>(code) << ' ' << name;
  const bool no_setup = code == PETSC_SUCCESS && reason == KSP_DIVERGED_PC_FAILED;
  EXPECT_TRUE(code || no_setup || reason > 0) << KSPConvergedReasons[reason] << ' ' << name;
  std::array<int, 4> extremes = {code, -static_cast<int>(code), no_setup, -static_cast<int>(no_setup)};
  MPI_Allreduce(MPI_IN_PLACE, extremes.data(), 4, MPI_INT, MPI_MAX, PETSC_COMM_WORLD);
  EXPECT_TRUE(extremes[0] == -extremes[1] && extremes[2] == -extremes[3]) << name;
  *more = failing.next(watched.counter, code == PETSC_ERR_MEM || no_setup);
  if (no_setup) {
    Mat A;
    OK(KSPGetOperators(ksp, &A, nullptr));
    OK(KSPReset(ksp));
    OK(KSPSetOperators(ksp, A, A));
  }
  OK(change());
  OK(VecSet(x, 0));
  OK(solve(ksp, b, x, &solution));
  EXPECT_TRUE(solution.converged()) << KSPConvergedReasons[solution.reason] << ' ' << name;
  EXPECT_LE(solution.residual, 1e-7) << name;
}

} // namespace

TEST_F(FailingSolves, TellAllRanksAndTheNextOneWorks)
{
  for (const std::string &pc : {std::string("jacobi"), with_levels, with_levels + on_heads}) {
    if (pc == with_levels + on_heads && size_of_world() != 3) continue;
    for (const std::string type :
         {"amgfgmres", "amgfcg -ksp_amgfcg_precision double", "amgfcg -ksp_amgfcg_precision mixed", "amgfcg -ksp_amgfcg_precision auto"}) {
      if (pc == with_levels + on_heads && !full_run() && type != "amgfcg -ksp_amgfcg_precision auto") continue;
      const std::string name = "-ksp_type " + type + " -pc_type " + pc;
      const std::int64_t live = watched.live;
      FailingAllocations failing(true);
      for (bool more = true; more;) {
        OwnedKSP ksp;
        create(name, ksp.out());
        expect_a_solve_after(failing, watched, ksp, b, x, name, &more);
      }
      EXPECT_EQ(watched.live, live) << name;
      EXPECT_GE(failing.failures(), pc == "jacobi" ? 2 : 50) << name;
    }
  }
}

// Levels that are on one process, and are asked for: all get them on all processes, or all hear that there is no memory.
TEST_F(FailingSolves, TellAllRanksWhereLevelsCannotComeBack)
{
  if (size_of_world() == 1) GTEST_SKIP();
  const std::int64_t live = watched.live;
  FailingAllocations failing(true);
  for (bool more = true; more;) {
    OwnedKSP ksp;
    PC pc;
    PetscInt levels = 0;
    Mat *mats = nullptr;
    create("-pc_type " + with_levels + " -pc_amgmatching_consolidate_to 1", ksp.out());
    OK(KSPSetUp(ksp));
    OK(KSPGetPC(ksp, &pc));
    failing.begin(watched.counter);
    const PetscErrorCode code = quietly([&] { return PCGetInterpolations(pc, &levels, &mats); });
    EXPECT_TRUE(code == PETSC_SUCCESS || code == PETSC_ERR_MEM) << static_cast<int>(code);
    std::array<int, 2> extremes = {code, -static_cast<int>(code)};
    MPI_Allreduce(MPI_IN_PLACE, extremes.data(), 2, MPI_INT, MPI_MAX, PETSC_COMM_WORLD);
    EXPECT_EQ(extremes[0], -extremes[1]);
    more = failing.next(watched.counter, code == PETSC_ERR_MEM);
    for (PetscInt l = 0; l + 1 < levels; l++) OK(MatDestroy(&mats[l]));
    OK(PetscFree(mats));
  }
  EXPECT_EQ(watched.live, live);
  EXPECT_GE(failing.failures(), 50);
}

// Once the preconditioner is set up, what fails is the steps' own memory. The next solve may be in another precision, with other vectors.
TEST_F(FailingSolves, LeaveNothingForTheOtherPrecision)
{
  for (const auto &[first, then] : {std::pair{"mixed", "double"}, std::pair{"double", "mixed"}}) {
    const std::string options = "-ksp_type amgfcg -pc_type " + with_levels + " -ksp_amgfcg_precision ";
    FailingAllocations failing(true);
    for (bool more = true; more;) {
      OwnedKSP ksp;
      create(options + first, ksp.out());
      OK(KSPSetUp(ksp));
      OK(replace_options("-ksp_rtol 1e-8 " + options + then));
      expect_a_solve_after(failing, watched, ksp, b, x, first, &more, [&] { return KSPSetFromOptions(ksp); });
    }
    EXPECT_GE(failing.failures(), 2) << first;
  }
}

// A product reads the user's rows where there is no memory for what rounding took of them.
TEST_F(FailingSolves, GoOnWithoutLongEntries)
{
  OwnedVec scaling;
  PetscInt first, end;
  FailingAllocations failing(true);
  OK(VecDuplicate(x, scaling.out()));
  OK(VecGetOwnershipRange(scaling, &first, &end));
  for (PetscInt i = first; i < end; i++) OK(VecSetValue(scaling, i, 1 + 0.1 * std::sin(i), INSERT_VALUES));
  OK(VecAssemblyBegin(scaling));
  OK(VecAssemblyEnd(scaling));
  OK(MatDiagonalScale(A, scaling, scaling));
  const std::string name = "-ksp_type amgfcg -ksp_amgfcg_precision mixed -pc_type " + with_levels;
  for (bool more = true; more;) {
    OwnedKSP ksp;
    create(name, ksp.out());
    OK(KSPSetUp(ksp));
    expect_a_solve_after(failing, watched, ksp, b, x, name, &more);
  }
  EXPECT_GE(failing.gone_without(), 1);
}

namespace
{
// Duplicates that fail on one rank, after so many. The rank takes the tags of a duplicate all the same: without them no message of PETSc's
// on this communicator arrives any more.
int duplicates_left = 0;
decltype(_VecOps::duplicate) duplicate = nullptr;
PetscErrorCode fail_to_duplicate(Vec x, Vec *out)
{
  PetscFunctionBegin;
  PetscCall(duplicate(x, out));
  if (rank_of_world() != size_of_world() - 1 || duplicates_left-- != 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecDestroy(out));
  PetscFunctionReturn(PETSC_ERR_MEM);
}
} // namespace

// Neither work vectors that one rank could not make, nor a part of them. They are duplicates of the solution where that is not copied to
// another space; there the steps make them, whose allocations fail above.
TEST_F(FailingSolves, LeaveNoHalfOfTheWorkVectors)
{
  duplicate = static_cast<Vec>(x)->ops->duplicate;
  for (const auto &[type, count] : {std::pair{"amgfgmres", 3}, std::pair{"amgfcg -ksp_amgfcg_precision double", 4}}) {
    for (int k = 0; k < count; k++) {
      OwnedKSP ksp;
      Solution solution;
      create("-pc_type amgmatching -pc_amgmatching_coarse_eq_limit 20 -ksp_type " + std::string(type), ksp.out());
      OK(KSPSetUp(ksp));
      OK(VecSet(x, 0));
      duplicates_left = k;
      static_cast<Vec>(x)->ops->duplicate = fail_to_duplicate;
      EXPECT_EQ(static_cast<int>(quietly([&] { return KSPSolve(ksp, b, x); })), PETSC_ERR_MEM) << type << k;
      static_cast<Vec>(x)->ops->duplicate = duplicate;
      OK(solve(ksp, b, x, &solution));
      EXPECT_TRUE(solution.converged()) << type << k;
      EXPECT_LE(solution.residual, 1e-7) << type << k;
    }
  }
}
} // namespace amgkit::test
