#include "dist/attempt.hpp"

#include "support/petsc_problems.hpp"

#include <array>
#include <new>

namespace amgkit::test
{
TEST(Attempt, EveryRankLearnsOfSuccess)
{
  bool none_left = true;
  OK(out_of_memory([] { return attempt(PETSC_COMM_WORLD, [] { return PETSC_SUCCESS; }); }, &none_left));
  EXPECT_FALSE(none_left);
}

// As they are when the work has ended
TEST(Attempt, EveryRankLearnsTheLargestNumbers)
{
  std::array<std::int64_t, 2> numbers = {7, 7};
  const auto work = [&] {
    numbers = {(std::int64_t{1} << 40) + rank_of_world(), -rank_of_world()};
    return PETSC_SUCCESS;
  };
  OK(attempt(PETSC_COMM_WORLD, work, numbers));
  EXPECT_EQ(numbers[0], (std::int64_t{1} << 40) + size_of_world() - 1);
  EXPECT_EQ(numbers[1], 0);
}

// Counts what a user would read.
PetscErrorCode count(MPI_Comm, int, const char *, const char *, PetscErrorCode code, PetscErrorType, const char *, void *messages)
{
  ++*static_cast<int *>(messages);
  return code;
}

PetscErrorCode keep_said(MPI_Comm, int, const char *, const char *, PetscErrorCode code, PetscErrorType type, const char *said, void *kept)
{
  if (type == PETSC_ERROR_INITIAL) *static_cast<std::string *>(kept) = said; // the last one is the outermost attempt()'s
  return code;
}

TEST(Attempt, AttemptsWithinAttemptsNameTheRankOnce)
{
  const int culprit = size_of_world() - 1;
  std::string said;
  OK(PetscPushErrorHandler(keep_said, &said));
  const PetscErrorCode code = attempt(PETSC_COMM_WORLD, [&] {
    return attempt(PETSC_COMM_WORLD, [&]() -> PetscErrorCode {
      PetscCheck(rank_of_world() != culprit, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG, "the thing is missing");
      return PETSC_SUCCESS;
    });
  });
  OK(PetscPopErrorHandler());
  EXPECT_EQ(static_cast<int>(code), PETSC_ERR_ARG_WRONG);
  EXPECT_EQ(said, "On rank " + std::to_string(culprit) + ": the thing is missing");
}

TEST(Attempt, EveryRankLearnsOfMemoryMissingOnOneAndNothingIsPrinted)
{
  int messages = 0;
  OK(PetscPushErrorHandler(count, &messages));
  for (int culprit = 0; culprit < size_of_world(); culprit++) {
    const auto by_code = [=]() -> PetscErrorCode {
      PetscCheck(rank_of_world() != culprit, PETSC_COMM_SELF, PETSC_ERR_MEM, "none");
      return PETSC_SUCCESS;
    };
    const auto by_exception = [=]() -> PetscErrorCode {
      if (rank_of_world() == culprit) throw std::bad_alloc();
      return PETSC_SUCCESS;
    };
    for (const std::function<PetscErrorCode()> &work :
         {std::function<PetscErrorCode()>(by_code), std::function<PetscErrorCode()>(by_exception)}) {
      const auto deep = [&] {
        PetscFunctionBegin;
        PetscCall(attempt(PETSC_COMM_WORLD, [&] { return attempt(PETSC_COMM_SELF, work); }));
        ADD_FAILURE() << "goes on";
        PetscFunctionReturn(PETSC_SUCCESS);
      };
      bool none_left = false;
      OK(out_of_memory(deep, &none_left));
      EXPECT_TRUE(none_left);
    }
  }
  OK(PetscPopErrorHandler());
  EXPECT_EQ(messages, 0);
}

// PETSC_ERR_MEM is an outcome where attempt() has found it, on all ranks; where it was raised on one, as by PETSc itself, it is an error.
TEST(Attempt, OtherErrorsAreReportedAsEver)
{
  for (const PetscErrorCode raised : {PETSC_ERR_MEM, PETSC_ERR_ARG_WRONG}) {
    int messages = 0;
    bool none_left = true;
    const auto work = [=]() -> PetscErrorCode {
      PetscCheck(false, PETSC_COMM_SELF, raised, "raised here");
      return PETSC_SUCCESS;
    };
    OK(PetscPushErrorHandler(count, &messages));
    EXPECT_EQ(static_cast<int>(out_of_memory(work, &none_left)), static_cast<int>(raised));
    OK(PetscPopErrorHandler());
    EXPECT_FALSE(none_left);
    EXPECT_GE(messages, 1);
  }
}

TEST(Attempt, WhoNeedsMemorySaysForWhat)
{
  const auto none = [] { return attempt(PETSC_COMM_WORLD, []() -> PetscErrorCode { throw std::bad_alloc(); }); };
  EXPECT_EQ(static_cast<int>(quietly([&] { return need_memory_for("a thing", PETSC_COMM_WORLD, none); })), PETSC_ERR_MEM);
}

TEST(Attempt, AnErrorOfOneRankIsRaisedOnAll)
{
  const int culprit = size_of_world() - 1;
  const auto work = [=]() -> PetscErrorCode {
    PetscCheck(rank_of_world() != culprit, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "thing %d", 17);
    return PETSC_SUCCESS;
  };
  EXPECT_EQ(static_cast<int>(quietly([&] { return attempt(PETSC_COMM_WORLD, work); })), PETSC_ERR_ARG_OUTOFRANGE);
}
} // namespace amgkit::test
