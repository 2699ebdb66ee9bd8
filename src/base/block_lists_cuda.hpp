// Blocks of a GPU's memory that are taken and given back without the driver.
#pragma once
#include "base/cuda.hpp"

#include <map>
#include <unordered_map>
#include <vector>

namespace amgkit
{
// Blocks of 256 bytes times a power of two, cut from chunks, given back to a list for their size. A larger one, of whole chunks, is a chunk
// of its own; the rest of a chunk that is too small for the next block is not used. Chunks are taken by cudaMalloc, or from a
// stream-ordered pool. A block that is given back may be taken again at once: who gives it back sees to it that what used it has ended, or
// comes before on the stream.
class BlockLists {
public:
  explicit BlockLists(std::size_t chunk_bytes, cudaMemPool_t pool = nullptr, cudaStream_t stream = nullptr)
      : chunk_bytes_(chunk_bytes), pool_(pool), stream_(stream)
  {}

  cudaError_t allocate(std::size_t bytes, void **p)
  {
    const std::size_t size = block_size(bytes);
    std::vector<void *> &list = free_[size];
    if (list.empty()) {
      if (const cudaError_t status = cut(size, list)) return status;
    }
    *p = list.back();
    list.pop_back();
    size_of_[*p] = size;
    return cudaSuccess;
  }
  // False where the block is not one of these.
  bool release(void *p)
  {
    const auto found = size_of_.find(p);
    if (found == size_of_.end()) return false;
    free_[found->second].push_back(p);
    size_of_.erase(found);
    return true;
  }
  // Gives all chunks back to their pool, in stream order; with nothing in use.
  PetscErrorCode give_back()
  {
    PetscFunctionBegin;
    for (void *chunk : chunks_) AMGKIT_CALL_CUDA(cudaFreeAsync(chunk, stream_));
    *this = BlockLists(chunk_bytes_, pool_, stream_);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  // Frees all chunks at the end of the program, when the stream may be gone and what is in use no longer counts.
  PetscErrorCode destroy()
  {
    PetscFunctionBegin;
    for (void *chunk : chunks_) AMGKIT_CALL_CUDA(cudaFree(chunk));
    *this = BlockLists(chunk_bytes_, pool_, stream_);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  bool empty() const { return chunks_.empty(); }
  bool in_use() const { return !size_of_.empty(); }

private:
  std::size_t block_size(std::size_t bytes) const
  {
    if (bytes > chunk_bytes_) return (bytes + chunk_bytes_ - 1) / chunk_bytes_ * chunk_bytes_;
    std::size_t size = 256;
    while (size < bytes) size *= 2;
    return size;
  }
  cudaError_t cut(std::size_t size, std::vector<void *> &list)
  {
    if (size > chunk_bytes_) {
      const cudaError_t status = add_chunk(size);
      if (!status) list.push_back(chunks_.back());
      return status;
    }
    if (rest_ < size) {
      if (const cudaError_t status = add_chunk(chunk_bytes_)) return status;
      next_ = static_cast<char *>(chunks_.back());
      rest_ = chunk_bytes_;
    }
    list.push_back(next_);
    next_ += size;
    rest_ -= size;
    return cudaSuccess;
  }
  cudaError_t add_chunk(std::size_t bytes)
  {
    void *chunk = nullptr;
    const cudaError_t status = pool_ ? cudaMallocFromPoolAsync(&chunk, bytes, pool_, stream_) : cudaMalloc(&chunk, bytes);
    if (!status) chunks_.push_back(chunk);
    return status;
  }

  std::size_t chunk_bytes_;
  cudaMemPool_t pool_;
  cudaStream_t stream_;
  std::vector<void *> chunks_;
  std::map<std::size_t, std::vector<void *>> free_; // by block size
  std::unordered_map<void *, std::size_t> size_of_; // of those in use
  char *next_ = nullptr;                            // what is left of the last chunk
  std::size_t rest_ = 0;
};
} // namespace amgkit
