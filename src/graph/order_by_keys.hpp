// Orders in which plain hosts visit vertices, one after the other.
#pragma once
#include "base/array.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace amgkit
{
// order <- 0, ..., n - 1 by decreasing keys. Where the leading bits of the keys are evenly distributed, as those of hashes are, a bucket
// for each of their values has about one key.
inline PetscErrorCode order_by_hashes(Host &ex, int n, const std::uint64_t *key, int *order)
{
  int bits = 1;
  Array<int, Host> begins;

  PetscFunctionBegin;
  while ((std::int64_t{1} << bits) < n) bits++;
  const auto buckets = std::int64_t{1} << bits;
  const auto bucket_of = [=](int i) { return ~key[i] >> (64 - bits); };
  PetscCall(begins.allocate(ex, buckets + 1));
  int *const begin = begins.data();
  std::fill_n(begin, buckets + 1, 0);
  for (int i = 0; i < n; i++) begin[bucket_of(i) + 1]++;
  std::partial_sum(begin, begin + buckets + 1, begin);
  for (int i = 0; i < n; i++) order[begin[bucket_of(i)]++] = i; // now begin[b] is where bucket b ends
  for (std::int64_t b = 0, first = 0; b < buckets; first = begin[b++]) {
    if (begin[b] - first > 1) std::sort(order + first, order + begin[b], [key](int i, int j) { return key[i] > key[j]; });
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// list <- its n vertices by decreasing words. word[i] of vertex i has a number in its upper 32 bits and a hash in its lower ones; equal
// words are in any order.
inline PetscErrorCode order_by_words(Host &ex, int n, const std::uint64_t *word, int *list)
{
  Array<std::uint64_t, Host> hashes;
  Array<int, Host> by_hash, begins, sorted;
  const auto number = [=](int i) { return static_cast<std::int64_t>(word[i] >> 32); };
  std::int64_t most = 0;

  PetscFunctionBegin;
  for (int t = 0; t < n; t++) most = std::max(most, number(list[t]));
  if (most > n) { // a bucket for each number would take more memory than the list
    std::sort(list, list + n, [word](int i, int j) { return word[i] > word[j]; });
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(hashes.allocate(ex, n));
  PetscCall(allocate_each(ex, n, by_hash, sorted));
  for (int t = 0; t < n; t++) hashes.data()[t] = word[list[t]] << 32;
  PetscCall(order_by_hashes(ex, n, hashes.data(), by_hash.data()));
  PetscCall(begins.allocate(ex, most + 2));
  int *const begin = begins.data();
  std::fill_n(begin, most + 2, 0);
  for (int t = 0; t < n; t++) begin[most - number(list[t]) + 1]++;
  std::partial_sum(begin, begin + most + 2, begin);
  for (int t = 0; t < n; t++) {
    const int i = list[by_hash.data()[t]];
    sorted.data()[begin[most - number(i)]++] = i;
  }
  std::copy_n(sorted.data(), n, list);
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace amgkit
