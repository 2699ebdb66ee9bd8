// Where memory comes from that MPI reads and writes.
#pragma once
#include "base/cuda.hpp"

#include <map>
#include <vector>

namespace amgkit
{
// Communicated memory: blocks of 256 bytes times a power of two, cut from chunks, given back to a list for their size. A larger one, of
// whole chunks, is a chunk of its own.
class CommunicatedMemory {
public:
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
  void release(void *p) { free_[size_of_.at(p)].push_back(p); }
  PetscErrorCode destroy()
  {
    PetscFunctionBegin;
    for (void *chunk : chunks_) AMGKIT_CALL_CUDA(cudaFree(chunk));
    *this = CommunicatedMemory{};
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  bool empty() const { return chunks_.empty(); }

private:
  static constexpr std::size_t chunk_bytes = std::size_t{32} << 20;

  static std::size_t block_size(std::size_t bytes)
  {
    if (bytes > chunk_bytes) return (bytes + chunk_bytes - 1) / chunk_bytes * chunk_bytes;
    std::size_t size = 256;
    while (size < bytes) size *= 2;
    return size;
  }
  cudaError_t cut(std::size_t size, std::vector<void *> &list)
  {
    if (size > chunk_bytes) {
      const cudaError_t status = add_chunk(size);
      if (!status) list.push_back(chunks_.back());
      return status;
    }
    if (rest_ < size) {
      if (const cudaError_t status = add_chunk(chunk_bytes)) return status;
      next_ = static_cast<char *>(chunks_.back());
      rest_ = chunk_bytes;
    }
    list.push_back(next_);
    next_ += size;
    rest_ -= size;
    return cudaSuccess;
  }
  cudaError_t add_chunk(std::size_t bytes)
  {
    void *chunk = nullptr;
    const cudaError_t status = cudaMalloc(&chunk, bytes);
    if (!status) chunks_.push_back(chunk);
    return status;
  }

  std::vector<void *> chunks_;
  std::map<std::size_t, std::vector<void *>> free_; // by block size
  std::map<void *, std::size_t> size_of_;
  char *next_ = nullptr; // what is left of the last chunk
  std::size_t rest_ = 0;
};
} // namespace amgkit
