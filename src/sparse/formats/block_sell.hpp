// Sliced ELL of blocks: for matrices whose rows come in nodes of N unknowns, with blocks of N x N entries that are mostly complete.
//
// The matrix of the nodes is sliced as in sell.hpp, 64 nodes a slice, so that a block has one column of 16 bits. Position p of slice s,
// that is block p - start[s] of its nodes, has N columns of values, column c of them 32 N pairs, one for each thread of the slice: thread t
// has rows t and t + 32 N of the slice, that is row t % N of the nodes t / N and t / N + 32. Threads that follow each other read values
// that do, those of a node the same column and entries of x, and write entries that follow each other.
//
// Bytes an entry: 4 + 2 / N² in single precision, 8 + 2 / N² in double, where sell.hpp takes 6 and 10: of elasticity's finest level, 81
// entries a row, a sweep with vectors in double moves 374 in place of 518, a product 358 in place of 502. Missing entries of blocks are
// stored as zeros.
#pragma once
#include "sparse/formats/sell.hpp"

namespace amgkit
{
// The sizes N of blocks that there are.
constexpr bool block_sell_has(int block) { return block == 2 || block == 3 || block == 6; }

// T: float or double. nodes: SellView's members of the nodes' matrix, but values
template <class T> struct BlockSellView {
  int rows = 0, block = 0;
  const SellStart *start = nullptr;
  const int *base = nullptr, *high_start = nullptr;
  const SellPair<std::uint16_t> *low = nullptr, *high = nullptr;
  const SellPair<T> *val = nullptr;
};

template <class T, class Ex> struct BlockSell {
  int rows = 0, block = 0;
  SellPattern<Ex> nodes;
  Array<int, Ex> ptr; // of the nodes' blocks
  Array<SellPair<T>, Ex> val;

  BlockSellView<T> view() const
  {
    return {rows, block, nodes.start.data(), nodes.base.data(), nodes.high_start.data(), nodes.low.data(), nodes.high.data(), val.data()};
  }
  std::size_t bytes() const { return nodes.bytes() + ptr.bytes() + val.bytes(); }
};

// *fits = false, and nothing stored, when rows or columns are no multiple of the block, when the entries that blocks lack are more than an
// eighth of A's, or when the slices of nodes would be padded too much (sell_pattern()). *representable: as block_sell_fill() has it.
template <class Ex, class T>
PetscErrorCode block_sell_create(Ex &, CsrView<double> A, int block, BlockSell<T, Ex> &, bool *fits, bool *representable);
// New values of the same pattern. *representable: whether every entry is representable in T; waits where T is float.
template <class Ex, class T> PetscErrorCode block_sell_fill(Ex &, CsrView<double> A, BlockSell<T, Ex> &, bool *representable);

// As in sell.hpp, with the same sums where x is finite.
template <class Ex, class T, class V> PetscErrorCode spmv(Ex &, BlockSellView<T> A, const V *x, V *y);
template <class Ex, class T, class V> PetscErrorCode add_product(Ex &, BlockSellView<T> A, const V *x, V *y);
template <class Ex, class T, class V> PetscErrorCode residual(Ex &, BlockSellView<T> A, const V *b, const V *x, V *r);
template <class Ex, class T, class D, class V>
PetscErrorCode relax(Ex &, BlockSellView<T> A, const D *d, RelaxStep, const V *b, const V *x, OptionalVector<V> previous, V *y);
} // namespace amgkit
