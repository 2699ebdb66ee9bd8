#include "dist/node_groups.hpp"

#include "support/petsc_problems.hpp"

#include <filesystem>
#include <set>
#include <unistd.h>

namespace amgkit::test
{
namespace
{
void expect_blocks(const std::vector<int> &devices, int groups, int different)
{
  const Blocks blocks = blocks_of(devices, groups);
  std::set<int> taken;
  ASSERT_EQ(blocks.heads.size(), static_cast<std::size_t>(groups));
  for (std::size_t r = 1; r < devices.size(); r++) {
    EXPECT_GE(blocks.groups[r], blocks.groups[r - 1]);
    EXPECT_LE(blocks.groups[r], blocks.groups[r - 1] + 1);
  }
  for (int g = 0; g < groups; g++) {
    EXPECT_EQ(blocks.groups[blocks.heads[g]], g);
    taken.insert(devices[blocks.heads[g]]);
  }
  EXPECT_EQ(static_cast<int>(taken.size()), different);
}
} // namespace

TEST(NodeGroups, HeadsHaveDifferentDevices)
{
  expect_blocks({0, 0, 0, 0}, 1, 1);
  expect_blocks({0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3}, 4, 4); // as PETSc deals them
  expect_blocks({0, 0, 1, 1, 2, 2}, 3, 3);
  expect_blocks({0, 0, 1, 1, 2, 2, 0, 0}, 3, 3); // the first block gives way to the last
  expect_blocks({0, 0, 0, 0}, 2, 1);
  expect_blocks({0}, 1, 1);
}

TEST(NodeGroups, WordsArriveInOrderAndOnce)
{
  for (int heads = 1; heads < size_of_world(); heads++) {
    NodeGroups groups;
    std::string why_not;
    OK(groups.create(PETSC_COMM_WORLD, heads, "", &why_not));
    ASSERT_EQ(why_not, "");
    EXPECT_EQ(groups.count(), heads);
    EXPECT_EQ(groups.processes(), size_of_world());
    for (int k = 0; k < 300; k++) {
      Word word = {k, 2 * k, 0.5 * k, 0};
      if (k % 7 == 0) {
        OK(groups.gather());
      }
      OK(groups.is_head() ? groups.tell(word) : groups.hear(&word));
      ASSERT_EQ(word.what, k);
      ASSERT_EQ(word.number, 2 * k);
      ASSERT_EQ(word.value, 0.5 * k);
    }
    std::string text = groups.is_head() ? "what a head says" : "";
    OK(groups.share(&text));
    EXPECT_EQ(text, "what a head says");
  }
}

TEST(NodeGroups, AllKnowOfAnErrorOfOne)
{
  if (size_of_world() == 1) GTEST_SKIP();
  NodeGroups groups;
  std::string why_not;
  OK(groups.create(PETSC_COMM_WORLD, 1, "", &why_not));
  const Refusal refusal =
      refusal_of([&] { return groups.on_heads([]() -> PetscErrorCode { SETERRQ(PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG, "no"); }); });
  EXPECT_EQ(static_cast<int>(refusal.code), PETSC_ERR_ARG_WRONG);
  EXPECT_EQ(static_cast<int>(quietly([&] { return groups.on_heads([]() -> PetscErrorCode { throw std::runtime_error("no"); }); })),
            PETSC_ERR_LIB);
  OK(groups.on_heads([] { return PETSC_SUCCESS; }));
}

TEST(NodeGroups, AllKnowWhereTheNodeHasTooLittleToShare)
{
  SharedMemory memory;
  EXPECT_TRUE(can_share(8));
  EXPECT_FALSE(can_share(1e15));
  const Refusal refusal = refusal_of([&] { return memory.allocate(PETSC_COMM_WORLD, std::size_t{1} << 45); });
  EXPECT_EQ(static_cast<int>(refusal.code), PETSC_ERR_SYS);
  EXPECT_NE(refusal.message.find("/dev/shm"), std::string::npos) << refusal.message;
  SharedMemory little;
  OK(little.allocate(PETSC_COMM_WORLD, 8));
  EXPECT_NE(little.at<double>(0), nullptr);
}

TEST(NodeGroups, OneProcessAloneSharesNothing)
{
  NodeGroups groups;
  std::string why_not;
  OK(groups.create(PETSC_COMM_SELF, 0, "", &why_not));
  EXPECT_NE(why_not, "");
}

TEST(NodeGroups, AreMadeOnceForACommunicator)
{
  if (size_of_world() == 1) GTEST_SKIP();
  std::shared_ptr<NodeGroups> first, second, other;
  std::string why_not;
  MPI_Comm comm;
  MPI_Comm_dup(PETSC_COMM_WORLD, &comm);
  OK(groups_of(comm, 1, "", &first, &why_not));
  OK(groups_of(comm, 1, "", &second, &why_not));
  EXPECT_EQ(first, second);
  OK(groups_of(comm, 1, rank_of_world() == 0 ? "a device" : "", &other, &why_not)); // where one process has another one
  EXPECT_NE(first, other);
  OK(first->need_copies(&why_not));
  EXPECT_EQ(why_not, "");
  const std::weak_ptr<NodeGroups> left = first;
  first.reset();
  second.reset();
  EXPECT_FALSE(left.expired());
  MPI_Comm_free(&comm);
  EXPECT_TRUE(left.expired());
  other.reset();
}

// Which is not found out anew: where each process works for itself there is nothing to make.
TEST(NodeGroups, ACommunicatorKnowsWhyItHasNone)
{
  std::shared_ptr<NodeGroups> groups;
  MPI_Comm comm;
  MPI_Comm_dup(PETSC_COMM_WORLD, &comm);
  for (int round = 0; round < 2; round++) {
    std::string why_not;
    OK(groups_of(comm, 0, "of rank " + std::to_string(rank_of_world()), &groups, &why_not));
    EXPECT_EQ(groups, nullptr);
    EXPECT_EQ(why_not, "each process has a GPU of its own");
    OK(groups_of(comm, size_of_world(), "", &groups, &why_not));
    EXPECT_EQ(groups, nullptr);
    EXPECT_EQ(why_not, "no process would work for another");
  }
  MPI_Comm_free(&comm);
}

// However a process ends, the system frees what it has shared.
TEST(NodeGroups, SharedMemoryHasNoNameAfterwards)
{
  const auto names = [] {
    std::set<std::string> all;
    for (const auto &file : std::filesystem::directory_iterator("/dev/shm")) {
      const std::string name = file.path().filename();
      if (name.find("amgkit-" + std::to_string(getpid()) + "-") == 0) all.insert(name);
    }
    return all;
  };
  SharedMemory memory;
  OK(memory.allocate(PETSC_COMM_WORLD, 1000));
  EXPECT_TRUE(names().empty());
  memory.at<int>(0)[rank_of_world()] = rank_of_world() + 1;
  MPI_Barrier(PETSC_COMM_WORLD);
  for (int r = 0; r < size_of_world(); r++) EXPECT_EQ(memory.at<int>(0)[r], r + 1);
}
} // namespace amgkit::test
