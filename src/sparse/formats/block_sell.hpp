// Sliced ELL of blocks: for matrices whose rows come in nodes of N unknowns, with blocks of N x N entries that are mostly complete.
//
// The matrix of the nodes is sliced as in sell.hpp, 64 nodes a slice, so that a block has one column of 16 bits. Position p of slice s,
// that is block p - start[s] of its nodes, has N columns of values, column c of them 32 N pairs, one for each thread of the slice: thread t
// has rows t and t + 32 N of the slice, that is row t % N of the nodes t / N and t / N + 32. Threads that follow each other read values
// that do, those of a node the same column and entries of x, and write entries that follow each other.
//
// Nodes of grids say the same again and again, as rows do (sell.hpp). A constant slice has a list of positions, each an offset, column of
// nodes less node, a mask of the nodes that have a block there, and the block; an offset with several blocks takes several positions.
// Slices with the same list share it. Here a thread has a node.
//
// Bytes an entry: 4 + 2 / N² in single precision, 8 + 2 / N² in double, where sell.hpp takes 6 and 10: of elasticity's finest level, 81
// entries a row, a sweep with vectors in double moves 374 in place of 518, a product 358 in place of 502, with constant slices 50 and 34.
// Missing entries of blocks are stored as zeros.
#pragma once
#include "sparse/formats/sell.hpp"

namespace amgkit
{
// The sizes N of blocks that there are.
constexpr bool block_sell_has(int block) { return block == 2 || block == 3 || block == 6; }

// Blocks of so many rows and columns, where these fit, and whether slices of theirs may be constant. Sliced ELL has square ones alone.
struct BlockForm {
  BlockForm(int rows, bool may_be_constant = true) : size(rows), cols(rows), constant(may_be_constant) {}
  static BlockForm rectangular(int rows, int cols)
  {
    BlockForm form = rows;
    form.cols = cols;
    return form;
  }
  int size, cols;
  bool constant;
};

// Four entries of a block, by rows; the last ones of a block may be padding.
template <class T> struct alignas(16) SellQuad {
  T of[4];
};
template <int N> constexpr int quads_of_block = (N * N + 3) / 4;

// T: float or double. start to list: SellView's members of the nodes' matrix, constant as list. constant: the blocks of the lists' elements
template <class T> struct BlockSellView {
  int rows = 0, block = 0, lanes = 1;
  const SellStart *start = nullptr;
  const int *base = nullptr, *high_start = nullptr;
  const SellPair<std::uint16_t> *low = nullptr, *high = nullptr;
  const SellConstant *list = nullptr;
  const SellPair<T> *val = nullptr;
  const SellQuad<T> *constant = nullptr;
};

template <class T, class Ex> struct BlockSell {
  int rows = 0, block = 0;
  SellPattern<Ex> nodes; // lanes: threads that share two rows, or a node
  Array<int, Ex> ptr;    // of the nodes' blocks
  Array<SellPair<T>, Ex> val;
  Array<SellQuad<double>, Ex> exact;
  Array<SellQuad<float>, Ex> rounded; // where T is float

  BlockSellView<T> view() const
  {
    if constexpr (std::is_same_v<T, float>)
      return view_of(val.data(), rounded.data());
    else
      return view_of(val.data(), exact.data());
  }
  // A's own entries, where all slices are constant.
  BlockSellView<double> exact_view() const { return view_of(static_cast<const SellPair<double> *>(nullptr), exact.data()); }
  std::size_t bytes() const { return nodes.bytes() + ptr.bytes() + val.bytes() + exact.bytes() + rounded.bytes(); }

private:
  template <class U> BlockSellView<U> view_of(const SellPair<U> *values, const SellQuad<U> *constants) const
  {
    return {rows,
            block,
            nodes.lanes,
            nodes.start.data(),
            nodes.base.data(),
            nodes.high_start.data(),
            nodes.low.data(),
            nodes.high.data(),
            nodes.constant.data(),
            values,
            constants};
  }
};

// *fits = false, and nothing stored, when rows or columns are no multiple of the block, when the entries that blocks lack are more than an
// eighth of A's, or when the slices of nodes would be padded too much (sell_pattern()). *kept: whether every entry is representable in T.
template <class Ex, class T>
PetscErrorCode block_sell_create(Ex &, CsrView<double> A, BlockForm, BlockSell<T, Ex> &, bool *fits, bool *kept);
// New values of the same pattern. *kept = false: an entry is not representable in T, or a slice is constant no more; waits where T is float
// or slices are constant.
template <class Ex, class T> PetscErrorCode block_sell_fill(Ex &, CsrView<double> A, BlockSell<T, Ex> &, bool *kept);

// As in sell.hpp.
template <class Ex, class T, class V> PetscErrorCode spmv(Ex &, BlockSellView<T> A, const V *x, V *y);
template <int N, class Ex, class T, class V>
PetscErrorCode spmv(Ex &ex, BlockSellView<T> A, const V *x, V *y, const ProductSums<N, V> &sums)
{
  PetscFunctionBegin;
  PetscCall(spmv(ex, A, x, y));
  PetscCall(sum_products(ex, A.rows, x, y, sums));
  PetscFunctionReturn(PETSC_SUCCESS);
}
template <class Ex, class T, class V> PetscErrorCode add_product(Ex &, BlockSellView<T> A, const V *x, V *y);
template <class Ex, class T, class V> PetscErrorCode residual(Ex &, BlockSellView<T> A, const V *b, const V *x, V *r);
template <class Ex, class T, class D, class V>
PetscErrorCode relax(Ex &, BlockSellView<T> A, const D *d, RelaxStep, const V *b, const V *x, OptionalVector<V> previous, V *y);
} // namespace amgkit
