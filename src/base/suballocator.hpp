// Blocks of memory, cut from larger chunks and joined again when they are given back.
#pragma once
#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace amgkit
{
// Keeps account of the chunks and touches no memory: whoever owns it brings the chunks. A block is the smallest free one that is large
// enough (best fit), less what it does not need. A block that is given back joins its free neighbours of the same chunk, and may be taken
// again at once: who gives it back sees to it that what used it has ended, or comes before on the stream.
class Suballocator {
public:
  // Chunks have `least` bytes at first, then as many as there are already, up to `most`.
  Suballocator(std::size_t least, std::size_t most) : least_(least), most_(most) {}

  // nullptr if no free block is large enough. bytes > 0.
  void *take(std::size_t bytes)
  {
    const std::size_t size = rounded(bytes);
    const auto found = free_.lower_bound({size, nullptr});
    if (found == free_.end()) return nullptr;
    char *const p = found->second;
    free_.erase(found);
    Block &block = blocks_.at(p);
    if (block.size > size) {
      add_free(p + size, {block.size - size, block.chunk, true});
      block.size = size;
    }
    block.free = false;
    return p;
  }
  // How large a chunk should be from which so many bytes are to be taken, and how large it must be
  std::size_t next_chunk(std::size_t bytes) const { return std::max(rounded(bytes), std::clamp(bytes_, least_, most_)); }
  static std::size_t least_chunk(std::size_t bytes) { return rounded(bytes); }
  // bytes: as one of these said
  void add_chunk(void *p, std::size_t bytes)
  {
    char *const begin = static_cast<char *>(p);
    chunks_[begin] = bytes;
    bytes_ += bytes;
    add_free(begin, {bytes, begin, true});
  }
  // False where this is no block of these.
  bool release(void *p)
  {
    auto block = blocks_.find(static_cast<char *>(p));
    if (block == blocks_.end() || block->second.free) return false;
    block->second.free = true;
    if (const auto next = std::next(block); joins(block, next)) absorb(block, next);
    if (block != blocks_.begin()) {
      if (const auto previous = std::prev(block); joins(previous, block)) {
        free_.erase({previous->second.size, previous->first});
        absorb(previous, block);
        block = previous;
      }
    }
    free_.emplace(block->second.size, block->first);
    return true;
  }
  // Forgets the chunks without a block in use, which are the owner's to free.
  std::vector<void *> drop_unused_chunks()
  {
    std::vector<void *> unused;
    for (const auto &[begin, bytes] : chunks_) {
      if (const Block &first = blocks_.at(begin); first.free && first.size == bytes) unused.push_back(begin);
    }
    for (void *chunk : unused) drop(static_cast<char *>(chunk));
    return unused;
  }
  // The same for all chunks.
  std::vector<void *> drop_chunks()
  {
    std::vector<void *> all;
    for (const auto &[begin, bytes] : chunks_) all.push_back(begin);
    *this = Suballocator(least_, most_);
    return all;
  }
  bool empty() const { return chunks_.empty(); }
  std::size_t free_bytes() const
  {
    std::size_t bytes = 0;
    for (const auto &[size, p] : free_) bytes += size;
    return bytes;
  }

private:
  struct Block {
    std::size_t size;
    char *chunk;
    bool free;
  };
  using Blocks = std::map<char *, Block>; // all of them, by address

  static constexpr std::size_t unit = 512; // as the pools of CUDA
  static std::size_t rounded(std::size_t bytes) { return (bytes + unit - 1) / unit * unit; }
  bool joins(Blocks::iterator a, Blocks::iterator next) const
  {
    return next != blocks_.end() && a->second.free && next->second.free && a->second.chunk == next->second.chunk;
  }
  // a, which is not in free_, takes in next, which may be.
  void absorb(Blocks::iterator a, Blocks::iterator next)
  {
    free_.erase({next->second.size, next->first});
    a->second.size += next->second.size;
    blocks_.erase(next);
  }
  void add_free(char *p, Block block)
  {
    free_.emplace(block.size, p);
    blocks_.emplace(p, block);
  }
  void drop(char *chunk)
  {
    const std::size_t bytes = chunks_.at(chunk);
    free_.erase({bytes, chunk});
    blocks_.erase(chunk);
    chunks_.erase(chunk);
    bytes_ -= bytes;
  }

  std::size_t least_, most_, bytes_ = 0;
  std::map<char *, std::size_t> chunks_; // their bytes
  Blocks blocks_;
  std::set<std::pair<std::size_t, char *>> free_; // by size
};
} // namespace amgkit
