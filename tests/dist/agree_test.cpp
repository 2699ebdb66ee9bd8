#include "dist/agree.hpp"

#include "support/petsc_problems.hpp"

#include <new>

namespace amgkit::test
{
TEST(Attempt, EveryRankLearnsOfSuccess)
{
  bool out_of_memory = true;
  OK(attempt(
      PETSC_COMM_WORLD, [] { return PETSC_SUCCESS; }, &out_of_memory));
  EXPECT_FALSE(out_of_memory);
}

TEST(Attempt, EveryRankLearnsOfMemoryMissingOnOne)
{
  for (int culprit = 0; culprit < size_of_world(); culprit++) {
    bool out_of_memory = false;
    OK(attempt(
        PETSC_COMM_WORLD, [=] { return rank_of_world() == culprit ? PETSC_ERR_MEM : PETSC_SUCCESS; }, &out_of_memory));
    EXPECT_TRUE(out_of_memory);
    out_of_memory = false;
    OK(attempt(
        PETSC_COMM_WORLD,
        [=]() -> PetscErrorCode {
          if (rank_of_world() == culprit) throw std::bad_alloc();
          return PETSC_SUCCESS;
        },
        &out_of_memory));
    EXPECT_TRUE(out_of_memory);
  }
}

TEST(Attempt, AnErrorOfOneRankIsRaisedOnAll)
{
  const int culprit = size_of_world() - 1;
  bool out_of_memory = false;
  const auto work = [=]() -> PetscErrorCode {
    PetscCheck(rank_of_world() != culprit, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "thing %d", 17);
    return PETSC_SUCCESS;
  };
  EXPECT_EQ(static_cast<int>(quietly([&] { return attempt(PETSC_COMM_WORLD, work, &out_of_memory); })), PETSC_ERR_ARG_OUTOFRANGE);
}
} // namespace amgkit::test
