#include "base/suballocator.hpp"
#include "support/spaces.hpp"

#include <cstring>
#include <map>
#include <memory>
#include <random>

namespace amgkit::test
{
namespace
{
constexpr std::size_t kilo = 1 << 10;

// Gives a Suballocator chunks of the host's memory.
struct Owner {
  Suballocator blocks{64 * kilo, 256 * kilo};
  std::map<void *, std::unique_ptr<char[]>> chunks;
  std::vector<std::size_t> sizes; // of the chunks, as they were added

  char *take(std::size_t bytes)
  {
    if (void *p = blocks.take(bytes)) return static_cast<char *>(p);
    const std::size_t size = blocks.next_chunk(bytes);
    auto chunk = std::make_unique<char[]>(size);
    blocks.add_chunk(chunk.get(), size);
    sizes.push_back(size);
    void *begin = chunk.get();
    chunks[begin] = std::move(chunk);
    return static_cast<char *>(blocks.take(bytes));
  }
  std::size_t drop_unused()
  {
    const auto unused = blocks.drop_unused_chunks();
    for (void *chunk : unused) EXPECT_EQ(chunks.erase(chunk), 1U);
    return unused.size();
  }
};
} // namespace

TEST(Suballocator, KeepsBlocksApartAndJoinsWhatIsGivenBack)
{
  struct Held {
    char *p;
    std::size_t bytes;
    int mark;
  };
  std::mt19937 random(3);
  Owner owner;
  std::vector<Held> held;
  for (int step = 0; step < 5000; step++) {
    if (held.size() < 60 && random() % 5 < 3) {
      const std::size_t bytes = 1 + random() % (random() % 10 == 0 ? 100 * kilo : 3 * kilo);
      char *p = owner.take(bytes);
      ASSERT_NE(p, nullptr);
      std::memset(p, step % 128, bytes);
      held.push_back({p, bytes, step % 128});
    } else if (!held.empty()) {
      std::swap(held[random() % held.size()], held.back());
      const Held last = held.back();
      held.pop_back();
      for (std::size_t k = 0; k < last.bytes; k++) ASSERT_EQ(last.p[k], last.mark) << step; // the sanitizer watches the chunks' ends
      ASSERT_TRUE(owner.blocks.release(last.p));
      ASSERT_FALSE(owner.blocks.release(last.p));
    }
    if (step % 500 == 499) owner.drop_unused();
  }
  for (const Held &block : held) ASSERT_TRUE(owner.blocks.release(block.p));
  const std::size_t chunks = owner.chunks.size();
  EXPECT_GT(chunks, 1U);
  EXPECT_EQ(owner.drop_unused(), chunks); // each is one free block again
  EXPECT_TRUE(owner.blocks.empty());
  EXPECT_EQ(owner.blocks.free_bytes(), 0U);
}

TEST(Suballocator, TakesTheSmallestBlockThatIsLargeEnough)
{
  Owner owner;
  char *const a = owner.take(8 * kilo), *const b = owner.take(kilo), *const c = owner.take(4 * kilo), *const d = owner.take(kilo);
  EXPECT_EQ(b, a + 8 * kilo);
  EXPECT_EQ(owner.blocks.free_bytes(), 50 * kilo);
  EXPECT_TRUE(owner.blocks.release(a));
  EXPECT_TRUE(owner.blocks.release(c));
  EXPECT_EQ(owner.take(3 * kilo), c);              // of 8, 4 and 50 KB
  EXPECT_EQ(owner.take(kilo - 100), c + 3 * kilo); // what c left, in units of 512 bytes
  EXPECT_TRUE(owner.blocks.release(b));            // joins a
  EXPECT_EQ(owner.take(9 * kilo), a);
  EXPECT_TRUE(owner.blocks.release(d)); // joins the rest of the chunk
  EXPECT_EQ(owner.take(51 * kilo), d);
  EXPECT_EQ(owner.blocks.free_bytes(), 0U);
  EXPECT_EQ(owner.blocks.take(1), nullptr);
}

TEST(Suballocator, TakesLargerChunksTheMoreThereAre)
{
  Owner owner;
  for (int k = 0; k < 14; k++) owner.take(64 * kilo);
  owner.take(300 * kilo);
  EXPECT_EQ(owner.sizes, (std::vector<std::size_t>{64 * kilo, 64 * kilo, 128 * kilo, 256 * kilo, 256 * kilo, 256 * kilo, 300 * kilo}));
  EXPECT_EQ(Suballocator::least_chunk(1), 512U);
  EXPECT_EQ(owner.drop_unused(), 0U);
  int here = 0;
  EXPECT_FALSE(owner.blocks.release(&here));
  EXPECT_EQ(owner.blocks.drop_chunks().size(), 7U);
  EXPECT_TRUE(owner.blocks.empty());
}

// Blocks of two chunks do not join, though the one may begin where the other ends.
TEST(Suballocator, KeepsChunksApart)
{
  std::vector<char> memory(4 * kilo);
  Suballocator blocks(kilo, kilo);
  blocks.add_chunk(memory.data() + 2 * kilo, 2 * kilo);
  blocks.add_chunk(memory.data(), 2 * kilo);
  void *a = blocks.take(2 * kilo), *b = blocks.take(2 * kilo);
  EXPECT_TRUE(blocks.release(a));
  EXPECT_TRUE(blocks.release(b));
  EXPECT_EQ(blocks.take(3 * kilo), nullptr);
  EXPECT_EQ(blocks.drop_unused_chunks().size(), 2U);
}
} // namespace amgkit::test
