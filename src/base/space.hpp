// Execution spaces: where the arrays live and where a kernel runs.
//
//   Host   plain loops.
//   Debug  Host, but for_each visits its indices in a shuffled order, teams visit their share backwards, fresh memory is
//          poisoned, and an allocation can be made to fail: finds races, uninitialised reads and leaks without a GPU.
//          Matrices are stored as on a GPU, and what the user has on the host is copied as to a GPU.
//   Cuda   one stream of one NVIDIA GPU; scratch memory comes from a stream-ordered pool of the process.
//
// A space is passed by reference to everything that allocates or launches, and outlives the arrays it gave.
#pragma once
#include "base/compat.hpp"

#include <cstdint>

#if defined(__CUDACC__)
  #define AMGKIT_FN __device__
#else
  #define AMGKIT_FN
#endif

struct CUstream_st;
struct CUmemPoolHandle_st;

namespace amgkit
{
struct Host {
  static constexpr const char *name = "host";
  static constexpr bool on_device = false;
  static constexpr bool apart = false;       // whether its memory is another than that of the user's matrices and vectors on the host
  static constexpr bool sliced_rows = false; // whether the cycle's matrices are sliced ELL, and may then be in single precision
  // Whether a single thread takes index after index: one may leave something to the next, and rows that wait for one another are taken in
  // their sequence. Elsewhere such rows are taken level by level.
  static constexpr bool one_by_one = true;
};

struct Debug : Host {
  static constexpr const char *name = "debug";
  static constexpr bool apart = true;
  static constexpr bool sliced_rows = true;
  static constexpr bool one_by_one = false;
  std::uint64_t seed = 1;             // of the next shuffle
  std::int64_t allocations = 0;       // counted so far
  std::int64_t fail_at = -1;          // the allocation with this number fails with PETSC_ERR_MEM; -1: none
  std::int64_t available = INT64_MAX; // what memory_available() says
};

struct Cuda {
  static constexpr const char *name = "cuda";
  static constexpr bool on_device = true;
  static constexpr bool apart = true;
  static constexpr bool sliced_rows = true;
  static constexpr bool one_by_one = false;
  CUstream_st *stream = nullptr;
  CUmemPoolHandle_st *pool = nullptr;
  void *host_scalars = nullptr; // page-locked, host_scalars_bytes for results of reductions, then room for post_to_host()
  static constexpr std::size_t host_scalars_bytes = 256;
  void *scratch = nullptr; // see scratch_memory()
  std::size_t scratch_bytes = 0;
  unsigned *arrived = nullptr;  // 0 between launches, or no memory was left for it; see sum_into()
  bool kernels_overlap = false; // whether a kernel may be launched before the one before it has ended; see launch()
};

// open: takes the resources of a space (Cuda: PETSc's current stream, or where it has none a stream of the process, and the device's memory
// pool); close: gives them back.
inline PetscErrorCode open(Host &) { return PETSC_SUCCESS; }
inline PetscErrorCode close(Host &) { return PETSC_SUCCESS; }
PetscErrorCode open(Cuda &);
PetscErrorCode close(Cuda &);
// Returns what the pool keeps for reuse to the device, from the second call on but for an eighth of the device's memory. For the process
// it is free either way: the driver takes it when anything else asks for memory that is not there.
inline PetscErrorCode trim(Host &) { return PETSC_SUCCESS; }
PetscErrorCode trim(Cuda &);
} // namespace amgkit

// Explicit instantiation: in kernel files, each compiled once a space, for that one, AMGKIT_SPACE; in files that g++ compiles for all of
// them, for every space of this build.
//   AMGKIT_INSTANTIATE(f)              a function template with the space as its one parameter, not overloaded
//   AMGKIT_INSTANTIATE_TYPE(class, C)  a class template, or a struct
//   AMGKIT_FOR_ALL_SPACES(M)           M(space), for templates with more parameters
#if defined(AMGKIT_SPACE)
  #define AMGKIT_FOR_ALL_SPACES(M) M(AMGKIT_SPACE)
  #define AMGKIT_FOR_ALL_SPACES_OF(M, ...) M(AMGKIT_SPACE, __VA_ARGS__)
#elif defined(AMGKIT_HAVE_CUDA)
  #define AMGKIT_FOR_ALL_SPACES(M) M(Host) M(Debug) M(Cuda)
  #define AMGKIT_FOR_ALL_SPACES_OF(M, ...) M(Host, __VA_ARGS__) M(Debug, __VA_ARGS__) M(Cuda, __VA_ARGS__)
#else
  #define AMGKIT_FOR_ALL_SPACES(M) M(Host) M(Debug)
  #define AMGKIT_FOR_ALL_SPACES_OF(M, ...) M(Host, __VA_ARGS__) M(Debug, __VA_ARGS__)
#endif
#define AMGKIT_INSTANTIATE(f) AMGKIT_FOR_ALL_SPACES_OF(AMGKIT_INSTANTIATE_FUNCTION, f)
#define AMGKIT_INSTANTIATE_TYPE(key, name) AMGKIT_FOR_ALL_SPACES_OF(AMGKIT_INSTANTIATE_TYPE_IN, key, name)
#define AMGKIT_INSTANTIATE_FUNCTION(Ex, f) template decltype(f<Ex>) f<Ex>;
#define AMGKIT_INSTANTIATE_TYPE_IN(Ex, key, name) template key name<Ex>;
