#include "base/given_memory.hpp"
#include "support/spaces.hpp"

#include <algorithm>
#include <random>
#if defined(AMGKIT_HAVE_CUDA)
  #include <cuda_runtime_api.h>
#endif

namespace amgkit::test
{
template <class Ex> using MemoryOf = SpaceTest<Ex>;
TYPED_TEST_SUITE(MemoryOf, Spaces, SpaceName);

TYPED_TEST(MemoryOf, ArraysMoveAndRelease)
{
  Array<double, TypeParam> a, b;
  OK(a.allocate(this->ex, 10));
  b = std::move(a);
  EXPECT_EQ(b.size(), 10);
  EXPECT_EQ(a.size(), 0); // NOLINT(bugprone-use-after-move): the moved-from array is empty by contract
  OK(b.allocate(this->ex, 0));
  EXPECT_EQ(b.data(), nullptr);
}

TEST(HostSpace, ReallocatedArraysKeepWhatFits)
{
  Host ex;
  Array<std::int64_t, Host> a;
  std::int64_t kept = 0;
  for (const std::int64_t n : {1, 1000, 1 << 20, 1 << 18, 7, 0, 3}) {
    OK(a.reallocate(ex, n));
    ASSERT_EQ(a.size(), n);
    for (std::int64_t k = 0; k < std::min(kept, n); k++) ASSERT_EQ(a.data()[k], 3 * k) << n;
    for (std::int64_t k = 0; k < n; k++) a.data()[k] = 3 * k;
    kept = n;
  }
}

// Words by a kernel, other bytes and large arrays by the driver, on a GPU.
TYPED_TEST(MemoryOf, BytesAreCopiedAndZeroed)
{
  for (const std::size_t n : {1, 3, 4, 5, 1000, 1002, 65532, 65536, 65537, 70000}) {
    std::vector<unsigned char> bytes(n + 16), zeroed, copied(n + 16, 7);
    for (std::size_t k = 0; k < bytes.size(); k++) bytes[k] = static_cast<unsigned char>(k % 251 + 1);
    zeroed = bytes;
    for (const std::size_t from : {0, 1, 4, 6}) {
      auto there = this->to_space(bytes), to = this->to_space(copied);
      std::vector<unsigned char> expected = copied;
      std::copy_n(bytes.begin() + from, n, expected.begin() + 4);
      OK(memory_copy(this->ex, to.data() + 4, there.data() + from, n));
      ASSERT_EQ(this->to_host(to), expected) << n << " from " << from;
      expected = zeroed;
      std::fill_n(expected.begin() + from, n, 0);
      OK(memory_zero(this->ex, there.data() + from, n));
      ASSERT_EQ(this->to_host(there), expected) << n << " from " << from;
    }
  }
}

// Small ones are used again without the driver, on a GPU, by what comes next on its stream.
TYPED_TEST(MemoryOf, ArraysThatAreUsedAgainKeepWhatIsWritten)
{
  std::mt19937 random(11);
  std::vector<Array<int, TypeParam>> arrays(40);
  std::vector<std::vector<int>> expected(arrays.size());
  for (int step = 0; step < 2000; step++) {
    const std::size_t k = random() % arrays.size(), n = random() % 8 == 0 ? random() % 200000 : random() % 700;
    arrays[k] = Array<int, TypeParam>();
    expected[k].assign(n, step);
    OK(upload(this->ex, expected[k], arrays[k]));
  }
  for (std::size_t k = 0; k < arrays.size(); k++) ASSERT_EQ(this->to_host(arrays[k]), expected[k]) << k;
}

#if defined(AMGKIT_HAVE_CUDA)
// What is taken from the pool, once all that was queued is done
std::uint64_t taken_from_pool(Cuda &ex)
{
  std::uint64_t bytes = 0;
  EXPECT_EQ(cudaStreamSynchronize(ex.stream), cudaSuccess);
  EXPECT_EQ(cudaMemPoolGetAttribute(ex.pool, cudaMemPoolAttrUsedMemCurrent, &bytes), cudaSuccess);
  return bytes;
}

TEST(CudaSpace, CutsSmallBlocksAndGivesThemBack)
{
  constexpr std::int64_t limit = 16 << 20;
  Cuda ex;
  std::int64_t first = 0, last = 0;
  PetscBool cuts = PETSC_TRUE;
  OK(PetscOptionsGetBool(nullptr, nullptr, "-amgkit_small_blocks", &cuts, nullptr));
  if (!have_cuda_space()) GTEST_SKIP() << "no GPU here";
  OK(open(ex));
  OK(trim(ex));
  const std::uint64_t before = taken_from_pool(ex);
  OK(memory_available(ex, &first));
  {
    Array<unsigned char, Cuda> a, b, c, large;
    OK(allocate_each(ex, 100, a, b));
    if (cuts) {
      EXPECT_EQ(b.data(), a.data() + 512); // both of the first chunk
      b.release();
      OK(b.allocate(ex, 70));
      EXPECT_EQ(b.data(), a.data() + 512);
      OK(memory_available(ex, &last));
      EXPECT_EQ(first - last, 1024); // what is left of the chunk is free
    }
    OK(c.allocate(ex, limit));
    OK(large.allocate(ex, limit + 1));
    const std::uint64_t all = taken_from_pool(ex);
    c.release();
    const std::uint64_t without_c = taken_from_pool(ex);
    EXPECT_EQ(without_c == all, cuts == PETSC_TRUE); // its chunk stays
    large.release();
    EXPECT_LT(taken_from_pool(ex), without_c);
  }
  OK(trim(ex));
  EXPECT_EQ(taken_from_pool(ex), before);
  OK(memory_available(ex, &last));
  EXPECT_EQ(last, first);
  OK(close(ex));
}
// PETSc frees it by itself: were it a part of a chunk, cudaFree() would refuse it.
TEST(CudaSpace, GivesMemoryThatIsNoPartOfAnother)
{
  Cuda ex;
  void *given = nullptr;
  Array<unsigned char, Cuda> a;
  if (!have_cuda_space()) GTEST_SKIP() << "no GPU here";
  OK(open(ex));
  OK(a.allocate(ex, 100));
  OK(memory_to_give(ex, 100, &given));
  EXPECT_EQ(cudaFree(given), cudaSuccess);
  a.release();
  OK(close(ex));
}
#endif

TEST(DebugSpace, PoisonsFreshMemoryAndFailsOnDemand)
{
  Debug ex;
  Array<double, Debug> a;
  OK(a.allocate(ex, 4));
  EXPECT_TRUE(a.data()[3] != a.data()[3]);
  ex.fail_at = ex.allocations;
  EXPECT_EQ(static_cast<int>(a.allocate(ex, 4)), PETSC_ERR_MEM);
  EXPECT_EQ(a.size(), 0);
}
} // namespace amgkit::test
