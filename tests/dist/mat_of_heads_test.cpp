// Rows of the processes in the space where their heads compute: from space to space, and through the host.
#include "base/device.hpp"
#include "dist/attempt.hpp"
#include "dist/mat_of_heads.hpp"
#include "dist/space_matrix.hpp"
#include "support/petsc_problems.hpp"

namespace amgkit::test
{
namespace
{
// Sets an option on this process for as long as it lives.
class Option {
public:
  Option(const char *name, const char *value) : name_(name) { static_cast<void>(PetscOptionsSetValue(nullptr, name, value)); }
  Option(const Option &) = delete;
  Option &operator=(const Option &) = delete;
  ~Option() { static_cast<void>(PetscOptionsClearValue(nullptr, name_)); }

private:
  const char *name_;
};

struct HeadRows {
  std::vector<int> ptr[2], col[2];
  std::vector<double> val[2];
  std::vector<PetscInt> ghosts;
  bool operator==(const HeadRows &) const = default;
};
} // namespace

template <class Ex> class MatOfHeadsTest : public ::testing::Test {
protected:
  static constexpr SpaceKind kind = Ex::on_device ? SpaceKind::gpu : SpaceKind::debug;
  void SetUp() override
  {
    if (size_of_world() == 1) GTEST_SKIP() << "nobody works for others";
    if (Ex::on_device && !have_gpu()) GTEST_SKIP() << "no GPU here";
  }
  static PetscErrorCode make_groups(int heads, NodeGroups *groups)
  {
    std::string why_not, device;

    PetscFunctionBegin;
    if (Ex::on_device) PetscCall(name_of_device(&device));
    PetscCall(groups->create(PETSC_COMM_WORLD, heads, device, &why_not));
    EXPECT_EQ(why_not, "");
    PetscCall(groups->need_copies(&why_not));
    EXPECT_EQ(why_not, "");
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  // On heads
  static HeadRows rows_of(const MatOfHeads &made)
  {
    HeadRows rows;
    if (!made.matrix()) return rows;
    const SpaceMatrixIn<Ex> *matrix = space_matrix<Ex>(made.matrix());
    Ex ex;
    EXPECT_EQ(static_cast<int>(open(ex)), 0);
    for (int b : {0, 1}) {
      const Csr<double, Ex> &block = b == 0 ? matrix->own : matrix->others;
      EXPECT_EQ(static_cast<int>(download(ex, block.ptr.data(), block.ptr.size(), rows.ptr[b])), 0);
      EXPECT_EQ(static_cast<int>(download(ex, block.col.data(), block.col.size(), rows.col[b])), 0);
      EXPECT_EQ(static_cast<int>(download(ex, block.val.data(), block.val.size(), rows.val[b])), 0);
    }
    rows.ghosts = matrix->ghosts;
    EXPECT_EQ(static_cast<int>(close(ex)), 0);
    return rows;
  }
  // What the head should have: all rows of its group in ascending columns
  static void expect_rows(const HostCsr &A, const MatOfHeads &made, double scale)
  {
    const HeadRows rows = rows_of(made);
    PetscInt first, last;
    if (!made.matrix()) return;
    OK(MatGetOwnershipRange(made.matrix(), &first, &last));
    ASSERT_EQ(rows.ptr[0].size(), static_cast<std::size_t>(last - first) + 1);
    for (PetscInt i = first; i < last; i++) {
      std::array<std::vector<std::pair<PetscInt, double>>, 2> expected, got;
      for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) expected[A.col[k] < first || A.col[k] >= last].emplace_back(A.col[k], scale * A.val[k]);
      for (int b : {0, 1}) {
        if (rows.ptr[b].empty()) continue;
        for (int k = rows.ptr[b][i - first]; k < rows.ptr[b][i - first + 1]; k++)
          got[b].emplace_back(b == 0 ? first + rows.col[0][k] : rows.ghosts[rows.col[1][k]], rows.val[b][k]);
      }
      ASSERT_EQ(got, expected) << "row " << i;
    }
  }
  // Parts of the user's ranks: as PETSc has them, and with one that is empty.
  static std::vector<PetscInt> local_rows(const HostCsr &A)
  {
    return {-1, rank_of_world() == 1 ? 0 : rank_of_world() == 0 ? A.rows - A.rows / 3 * (size_of_world() - 2) : A.rows / 3};
  }
  static std::string way_of(NodeGroups &groups)
  {
    std::string why_not;
    EXPECT_EQ(static_cast<int>(groups.copies().in_space().reserve(0, true, &why_not)), 0);
    return why_not;
  }
  // Whether a process has another GPU than its head: then all goes through the host. Collective; asks groups of its own.
  static bool gpus_differ(int heads)
  {
    NodeGroups groups;
    EXPECT_EQ(static_cast<int>(make_groups(heads, &groups)), 0);
    int differ = way_of(groups).find("another GPU") != std::string::npos;
    EXPECT_EQ(MPI_Allreduce(MPI_IN_PLACE, &differ, 1, MPI_INT, MPI_MAX, PETSC_COMM_WORLD), MPI_SUCCESS);
    return differ != 0;
  }
};
#if defined(AMGKIT_HAVE_CUDA)
using SpacesOfHeads = ::testing::Types<Debug, Cuda>;
#else
using SpacesOfHeads = ::testing::Types<Debug>;
#endif
TYPED_TEST_SUITE(MatOfHeadsTest, SpacesOfHeads, SpaceName);

TYPED_TEST(MatOfHeadsTest, RowsCrossFromSpaceToSpace)
{
  const HostCsr A = grid7(6, 5, 7, 1, 1, 0.3);
  for (int heads = 1; heads < size_of_world() && heads <= 2; heads++) {
    NodeGroups groups;
    OK(this->make_groups(heads, &groups));
    if (this->gpus_differ(heads)) GTEST_SKIP() << "for processes that share a GPU";
    for (const PetscInt rows : this->local_rows(A)) {
      if (rows >= 0 && size_of_world() < 3) continue;
      OwnedMat user;
      OK(distribute(A, TypeParam::on_device, user.out(), rows));
      MatOfHeads made(groups, this->kind);
      OK(made.create(user, true));
      EXPECT_TRUE(static_cast<bool>(groups.copies().in_space()));
      this->expect_rows(A, made, 1);
      OK(MatScale(user, 3));
      OK(made.take_values(true));
      this->expect_rows(A, made, 3);
      OK(MatScale(user, 2));
      OK(made.take_values(rank_of_world() != 0)); // one process has newer ones on the host: all take that way
      this->expect_rows(A, made, 6);
      OK(MatScale(user, 0.5));
      OK(made.take_values(true));
      this->expect_rows(A, made, 3);
    }
  }
}

// The first values come through the host, and later ones from space to space, which needs what the first way has not left behind.
TYPED_TEST(MatOfHeadsTest, TheWayMayChange)
{
  const HostCsr A = grid7(6, 5, 7);
  NodeGroups groups;
  OwnedMat user;
  OK(this->make_groups(1, &groups));
  if (this->gpus_differ(1)) GTEST_SKIP() << "for processes that share a GPU";
  OK(distribute(A, TypeParam::on_device, user.out()));
  MatOfHeads made(groups, this->kind);
  OK(made.create(user, false));
  EXPECT_FALSE(static_cast<bool>(groups.copies().in_space()));
  this->expect_rows(A, made, 1);
  OK(MatScale(user, 2));
  OK(made.take_values(true));
  EXPECT_TRUE(static_cast<bool>(groups.copies().in_space()));
  this->expect_rows(A, made, 2);
}

// What one process cannot do none does; nobody fails, and nobody waits.
TYPED_TEST(MatOfHeadsTest, AllGoThroughTheHostWhereOneCannotShare)
{
  const HostCsr A = grid7(6, 5, 7);
  NodeGroups groups;
  OwnedMat user;
  OK(this->make_groups(1, &groups));
  if (this->gpus_differ(1)) GTEST_SKIP() << "for processes that share a GPU";
  OK(distribute(A, TypeParam::on_device, user.out()));
  for (int one = 0; one < size_of_world(); one++) {
    MatOfHeads made(groups, this->kind);
    {
      const Option refused(rank_of_world() == one ? "-amgkit_cuda_ipc" : "-amgkit_unused", "no");
      OK(made.create(user, true));
      EXPECT_NE(this->way_of(groups), "");
      this->expect_rows(A, made, 1);
    }
    EXPECT_EQ(this->way_of(groups), "");
    OK(MatScale(user, 2));
    OK(made.take_values(true));
    this->expect_rows(A, made, 2);
    OK(MatScale(user, 0.5));
  }
}

// The user's arrays are freed and made anew between two uses, on other patterns and of other sizes; two matrices take turns.
TYPED_TEST(MatOfHeadsTest, MatricesComeAndGo)
{
  NodeGroups groups;
  OK(this->make_groups(1, &groups));
  const HostCsr first = grid7(6, 5, 7), second = grid7(9, 8, 4);
  OwnedMat kept;
  OK(distribute(second, TypeParam::on_device, kept.out()));
  MatOfHeads of_kept(groups, this->kind);
  OK(of_kept.create(kept, true));
  for (int round = 0; round < 3; round++) {
    OwnedMat user;
    const HostCsr &A = round == 1 ? second : first;
    OK(distribute(A, TypeParam::on_device, user.out()));
    MatOfHeads made(groups, this->kind);
    OK(made.create(user, true));
    OK(MatScale(kept, 2));
    OK(of_kept.take_values(true));
    this->expect_rows(A, made, 1);
    this->expect_rows(second, of_kept, std::ldexp(1.0, round + 1));
  }
}
} // namespace amgkit::test
