// Constant slices of sliced ELL of blocks: blocks that are the same, found by numbers that stand for them, and the products of their nodes.
#pragma once
#include "sparse/formats/block_sell.hpp"
#include "sparse/formats/sell_products.hpp"
#include "sparse/rows/search.hpp"

namespace amgkit::block_sell
{
// f(J) for the blocks J of node I, ascending
template <int N, class F> AMGKIT_FN void for_blocks(const CsrView<double> &A, std::int64_t I, F f)
{
  int k[N], end[N];
  for (int r = 0; r < N; r++) {
    k[r] = A.ptr[N * I + r];
    end[r] = A.ptr[N * I + r + 1];
  }
  for (;;) {
    int least = INT32_MAX;
    for (int r = 0; r < N; r++) {
      if (k[r] < end[r] && A.col[k[r]] / N < least) least = A.col[k[r]] / N;
    }
    if (least == INT32_MAX) return;
    f(least);
    for (int r = 0; r < N; r++) {
      if (k[r] + N <= end[r] && A.col[k[r] + N - 1] == N * least + N - 1) // as columns ascend, the whole block
        k[r] += N;
      else
        while (k[r] < end[r] && A.col[k[r]] / N == least) k[r]++;
    }
  }
}

// A number from 1 to 2 for block b of node I, whose columns are those of node J. Two blocks may have the same, which does no harm: whether
// the blocks of a list are A's is seen when it is filled.
template <int N> AMGKIT_FN double number_of(const CsrView<double> &A, std::int64_t I, int b, Segment blocks, int J)
{
  constexpr std::uint64_t one = 0x3ff0000000000000ULL;
  std::uint64_t hash = 0;
  for (int r = 0; r < N; r++) {
    const int begin = A.ptr[N * I + r], end = A.ptr[N * I + r + 1];
    const auto add = [&](int c, double a) { hash = hash64(hash ^ bits_of(a)) + static_cast<unsigned>(N * r + c); };
    if (end - begin == N * (blocks.end - blocks.begin)) { // columns need not be read
      for (int c = 0; c < N; c++) add(c, A.val[begin + N * (b - blocks.begin) + c]);
      continue;
    }
    for (int k = lower_bound(A.col, begin, end, N * J); k < end && A.col[k] < N * (J + 1); k++) add(A.col[k] - N * J, A.val[k]);
  }
  return double_of(one | hash64(hash) >> 12);
}
// Of all blocks; lanes that follow one another read entries that do.
template <int N, class Ex> PetscErrorCode number_blocks(Ex &ex, CsrView<double> A, const int *ptr, const int *col, double *number)
{
  return for_rows<16>(ex, A.rows / N, [=] AMGKIT_FN(auto team, std::int64_t I) {
    const Segment blocks{ptr[I], ptr[I + 1]};
    for (int b : team.share(blocks.begin, blocks.end)) number[b] = number_of<N>(A, I, b, blocks, col[b]);
  });
}

// The blocks of the lists, each as the first node of the slice that owns the list has it.
template <int N, class Ex>
PetscErrorCode fill_lists(Ex &ex, CsrView<double> A, const int *owner, const SellStart *start, const SellConstant *list,
                          SellQuad<double> *exact)
{
  constexpr int quads = quads_of_block<N>;
  return for_rows<sell_threads>(ex, sell_slices(A.rows / N), [=] AMGKIT_FN(auto team, std::int64_t s) {
    if (owner[s] != s) return;
    const std::int64_t head = start[s].constant;
    for (int e : team.share(0, 4 * quads * (1 + list[head].offset))) { // the head's block is not used
      const std::int64_t at = head + e / (4 * quads);
      const int r = e % (4 * quads) / N, c = e % (4 * quads) % N;
      double a = 0;
      if (at > head && r < N) {
        const std::int64_t I = s * sell_rows + first_row(list[at].mask), i = N * I + r;
        const int column = static_cast<int>(N * (I + list[at].offset)) + c, k = lower_bound(A.col, A.ptr[i], A.ptr[i + 1], column);
        if (k < A.ptr[i + 1] && A.col[k] == column) a = A.val[k];
      }
      exact[at * quads + e % (4 * quads) / 4].of[e % 4] = a;
    }
  });
}

// Why values are not kept.
enum : unsigned { not_representable = 1, not_constant = 2 };

// Of row r of a node of a constant slice: whether the list has its entries, and whether they are representable in T. They must be numbers:
// nodes that lack a block multiply it by 0.
template <int N, class T>
AMGKIT_FN unsigned lost_of_row(const CsrView<double> &A, int blocks, const SellConstant *list, const SellQuad<double> *exact, int head,
                               std::int64_t i)
{
  const std::int64_t I = i / N;
  const int r = static_cast<int>(i % N), node = static_cast<int>(I % sell_rows), end = A.ptr[i + 1];
  int k = A.ptr[i];
  const bool complete = end - k == N * blocks;
  unsigned lost = 0;
  for (int at = head + 1; at <= head + list[head].offset; at++) {
    if (!has_row(list[at].mask, node)) continue;
    for (int c = 0; c < N; c++) {
      const int e = N * r + c;
      const bool here = complete || (k < end && A.col[k] == N * (I + list[at].offset) + c);
      const double a = here ? A.val[k++] : 0;
      if (bits_of(a) != bits_of(exact[std::int64_t{at} * quads_of_block<N> + e / 4].of[e % 4]) || a - a != 0) lost |= not_constant;
      if (!is_representable<T>(a)) lost |= not_representable;
    }
  }
  return lost;
}
// flag: the reasons for all rows of constant slices
template <int N, class Ex, class T>
PetscErrorCode find_lost(Ex &ex, CsrView<double> A, const int *ptr, const BlockSellView<T> &view, const SellQuad<double> *exact,
                         unsigned *flag)
{
  const SellStart *start = view.start;
  const SellConstant *list = view.list;
  return for_each(ex, A.rows, [=] AMGKIT_FN(std::int64_t i) {
    const std::int64_t I = i / N;
    const int head = start[I / sell_rows].constant;
    const unsigned lost = head < 0 ? 0 : lost_of_row<N, T>(A, ptr[I + 1] - ptr[I], list, exact, head, i);
    if (lost) atomic_or(flag, lost);
  });
}

template <int N, class T> struct BlockValues {
  T of[4 * quads_of_block<N>];
};
template <int N, class T> AMGKIT_FN BlockValues<N, T> block_at(const SellQuad<T> *constant, int element)
{
  BlockValues<N, T> a;
  for (int q = 0; q < quads_of_block<N>; q++) {
    const SellQuad<T> four = constant[std::int64_t{element} * quads_of_block<N> + q];
    for (int e = 0; e < 4; e++) a.of[4 * q + e] = four.of[e];
  }
  return a;
}

// y_i = f(f.read(i), (A x)_i) for the rows i of node I, which lies in a constant slice
template <int N, class Team, class T, class V, class F>
AMGKIT_FN void store_node(const Team &team, const BlockSellView<T> &A, std::int64_t I, const V *x, V *y, const F &f)
{
  const int node = static_cast<int>(I % sell_rows), head = A.start[I / sell_rows].constant, end = head + 1 + A.list[head].offset;
  const std::uint32_t bit = std::uint32_t{1} << node % sell_threads;
  typename F::Read read[N];
  SumOf<T, V> s[N] = {};
  for (int r = 0; r < N; r++) read[r] = f.read(N * I + r);
  for (int at = head + 1 + team.rank(); at < end; at += team.lanes()) {
    const SellConstant here = A.list[at];
    const std::uint32_t nodes = here.mask.of[node / sell_threads];
    if (nodes == 0) continue; // none of the threads that follow one another
    V x_at[N] = {};
    if (nodes & bit) {
      for (int c = 0; c < N; c++) x_at[c] = x[N * (I + here.offset) + c];
    }
    const BlockValues<N, T> a = block_at<N>(A.constant, at);
    for (int r = 0; r < N; r++) {
      for (int c = 0; c < N; c++) s[r] += static_cast<SumOf<T, V>>(a.of[N * r + c]) * x_at[c];
    }
  }
  for (int r = 0; r < N; r++) s[r] = team.sum(s[r]);
  if (team.rank() > 0) return;
  for (int r = 0; r < N; r++) y[N * I + r] = f(read[r], static_cast<V>(s[r]));
}
} // namespace amgkit::block_sell
