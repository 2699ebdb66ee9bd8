#include "sparse/formats/block_sell_constants.hpp"
#include "sparse/rows/block_patterns.hpp"

namespace amgkit
{
namespace block_sell
{
constexpr int batch_columns = 6; // whose entries of x are on their way at once
constexpr int batch_registers = 64;

template <int Count> struct Block {
  static constexpr int value = Count;
};
// f(Block<N>), for a block that there is
template <class F> PetscErrorCode with_block(int block, F f)
{
  if (block == 2) return f(Block<2>{});
  if (block == 3) return f(Block<3>{});
  return f(Block<6>{});
}

// The blocks of each node that have an entry; *fits: only few of them are incomplete. A thread takes a node: where all blocks are complete,
// amgkit::find_blocks() takes a tenth of the time.
template <int N, class Ex> PetscErrorCode search_blocks(Ex &ex, CsrView<double> A, Array<int, Ex> &ptrs, Array<int, Ex> &cols, bool *fits)
{
  constexpr double most = 1.125;
  const std::int64_t nodes = A.rows / N;
  std::int64_t blocks = 0;

  PetscFunctionBegin;
  PetscCall(ptrs.allocate(ex, nodes + 1));
  int *ptr = ptrs.data();
  PetscCall(for_each(ex, nodes, [=] AMGKIT_FN(std::int64_t I) {
    int n = 0;
    for_blocks<N>(A, I, [&](int) { n++; });
    ptr[I] = n;
  }));
  PetscCall(exclusive_scan(ex, nodes, ptr, &blocks));
  *fits = static_cast<double>(N * N) * static_cast<double>(blocks) <= most * static_cast<double>(A.nnz);
  if (!*fits) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(cols.allocate(ex, blocks));
  int *col = cols.data();
  PetscCall(for_each(ex, nodes, [=] AMGKIT_FN(std::int64_t I) {
    int next = ptr[I];
    for_blocks<N>(A, I, [&](int J) { col[next++] = J; });
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The blocks of each node, and the numbers that stand for them.
template <int N, class Ex>
PetscErrorCode find_blocks(Ex &ex, CsrView<double> A, Array<int, Ex> &ptr, Array<int, Ex> &col, Array<double, Ex> &numbers, bool *fits)
{
  Csr<double, Ex> complete;

  PetscFunctionBegin;
  *fits = false;
  if (A.nnz > 0) PetscCall(amgkit::find_blocks(ex, A, N, N, complete, fits));
  if (*fits) {
    ptr = std::move(complete.ptr);
    col = std::move(complete.col);
  } else {
    complete = {};
    PetscCall(search_blocks<N>(ex, A, ptr, col, fits));
  }
  if (!*fits) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(numbers.allocate(ex, col.size()));
  PetscCall(number_blocks<N>(ex, A, ptr.data(), col.data(), numbers.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class T> AMGKIT_FN int column_at(const BlockSellView<T> &A, std::int64_t slice, int position, int node)
{
  const int h = node / sell_threads, q = node % sell_threads, high = A.high_start ? A.high_start[slice] : 0;
  const int upper = A.high_start && high < A.high_start[slice + 1] ? A.high[(std::int64_t{high} + position) * sell_threads + q].of[h] : 0;
  const std::int64_t p = std::int64_t{A.start[slice].pair} + position;
  return A.base[p] + (upper << 16 | A.low[p * sell_threads + q].of[h]);
}

// Where the entry is that stands in column c of block p of row i of A, which is row r of the slice; -1 where there is none. Rows are mostly
// complete, and need no search.
template <int N, class T>
AMGKIT_FN int entry_at(const CsrView<double> &A, const int *ptr, const BlockSellView<T> &out, std::int64_t slice, int r, int p, int c)
{
  const std::int64_t i = slice * sell_rows * N + r;
  if (i >= A.rows) return -1;
  const int blocks = ptr[i / N + 1] - ptr[i / N], begin = A.ptr[i], end = A.ptr[i + 1];
  if (p >= blocks) return -1;
  if (end - begin == N * blocks) return begin + N * p + c;
  const int column = N * column_at(out, slice, p, r / N) + c, k = lower_bound(A.col, begin, end, column);
  return k < end && A.col[k] == column ? k : -1;
}

// A team for every 32 threads of a slice, or several; constant slices have no positions here. flag: whether an entry is not representable
// in T.
template <int N, class Ex, class T>
PetscErrorCode fill_values(Ex &ex, CsrView<double> A, const int *ptr, BlockSellView<T> out, SellPair<T> *val, unsigned *flag)
{
  const std::int64_t slices = sell_slices(A.rows / N);
  const int shares = teams_of_slice(slices * N, A.average());
  return for_rows_with<sell_threads, SliceTile<T>>(ex, slices * N * shares, [=] AMGKIT_FN(auto team, std::int64_t nth, auto &tile) {
    const std::int64_t part = nth / shares, s = part / N;
    const int first = static_cast<int>(part % N) * sell_threads, columns = N * (out.start[s + 1].pair - out.start[s].pair);
    bool lost = false;
    for (int p = static_cast<int>(nth % shares) * tile_positions; p < columns; p += shares * tile_positions) {
      read_tile(team, tile, [&](int r, int j) {
        const int row = first + r % sell_threads + r / sell_threads * sell_threads * N;
        const int k = p + j < columns ? entry_at<N>(A, ptr, out, s, row, (p + j) / N, (p + j) % N) : -1;
        const double a = k < 0 ? 0 : A.val[k];
        if constexpr (std::is_same_v<T, float>) lost = lost || !is_representable_in_single(a);
        return static_cast<T>(a);
      });
      for (int e : team.share(0, tile_positions * sell_threads)) {
        const int j = e / sell_threads, t = e % sell_threads;
        const std::int64_t column = std::int64_t{out.start[s].pair} * N + p + j;
        if (p + j < columns) val[column * sell_threads * N + first + t] = {{tile.of[j][t], tile.of[j][t + sell_threads]}};
      }
    }
    if (lost) atomic_or(flag, not_representable);
  });
}

// A thread's place in its slice: what add_batch() reads is there.
struct Thread {
  int node, row; // pairs of each position, of each column of values
};

// s += the entries of a thread's two rows at some positions, the upper halves of whose columns begin at position high.
// Whole: a batch of them, else the last `left`, of which the last one is read again to have a batch.
template <int N, bool Wide, bool Whole, class T, class V>
AMGKIT_FN void add_batch(const BlockSellView<T> &A, int position, int high, int left, const Thread &thread, const V *x, SellPair<V> &s)
{
  constexpr int batch = batch_columns / N;
  SellPair<T> a[batch][N];
  SellPair<V> x_at[batch][N];
  for (int j = 0; j < batch; j++) {
    const std::int64_t p = position + (Whole || j < left ? j : left - 1), k = p * sell_threads + thread.node;
    const int base = A.base[p];
    const SellPair<std::uint16_t> low = A.low[k];
    SellPair<std::uint16_t> upper{};
    if constexpr (Wide) upper = A.high[k + (std::int64_t{high} - position) * sell_threads];
    for (int c = 0; c < N; c++) a[j][c] = A.val[(p * N + c) * (sell_threads * N) + thread.row];
    for (int h = 0; h < 2; h++) {
      const V *x_block = x + std::int64_t{N} * (base + (Wide ? upper.of[h] << 16 | low.of[h] : low.of[h]));
      for (int c = 0; c < N; c++) x_at[j][c].of[h] = x_block[c];
    }
  }
  for (int j = 0; j < batch && (Whole || j < left); j++) {
    for (int c = 0; c < N; c++) {
      for (int h = 0; h < 2; h++) s.of[h] += static_cast<V>(a[j][c].of[h]) * x_at[j][c].of[h];
    }
  }
}

// (A x)_i of the two rows of a thread of a slice with positions begin to end - 1; a team's lanes take batches in turn
template <int N, bool Wide, class Team, class T, class V>
AMGKIT_FN SellPair<V> rows_times(const Team &team, const BlockSellView<T> &A, int begin, int end, int high, const Thread &thread,
                                 const V *x)
{
  constexpr int batch = batch_columns / N;
  SellPair<V> s{{0, 0}};
  int p = begin + batch * team.rank();
  for (; p + batch <= end; p += batch * team.lanes()) add_batch<N, Wide, true>(A, p, high + p - begin, batch, thread, x, s);
  if (p < end) add_batch<N, Wide, false>(A, p, high + p - begin, end - p, thread, x, s);
  return s;
}

// y_i = f(f.read(i), (A x)_i) for both rows i of thread t of all slices' threads
template <int N, class Team, class T, class V, class F>
AMGKIT_FN void store_products(const Team &team, const BlockSellView<T> &A, std::int64_t t, const V *x, V *y, const F &f)
{
  constexpr int threads = sell_threads * N;
  const int slice = static_cast<int>(t) / threads, row = static_cast<int>(t) % threads;
  if (A.list && A.start[slice].constant >= 0) {
    const std::int64_t I = std::int64_t{slice} * sell_rows + row;
    if (row < sell_rows && N * I < A.rows) store_node<N>(team, A, I, x, y, f);
    return;
  }
  const Thread thread{row / N, row};
  const std::int64_t i = std::int64_t{slice} * sell_rows * N + row;
  const int begin = A.start[slice].pair, end = A.start[slice + 1].pair;
  const int high = A.high_start ? A.high_start[slice] : 0, high_end = A.high_start ? A.high_start[slice + 1] : 0;
  SellPair<V> s =
      high < high_end ? rows_times<N, true>(team, A, begin, end, high, thread, x) : rows_times<N, false>(team, A, begin, end, 0, thread, x);
  for (int h = 0; h < 2; h++) s.of[h] = team.sum(s.of[h]);
  if (team.rank() > 0) return;
  const SellPair<std::int64_t> rows{{i, i + threads}};
  store_two(A.rows, rows, f, read_two(A.rows, rows, f), s, y);
}

template <int N, class Ex, class T, class V, class F>
PetscErrorCode for_products(Ex &ex, const BlockSellView<T> &view, const V *x, V *y, F f)
{
  const BlockSellView<T> A = view;
  const std::int64_t threads = sell_slices(A.rows / N) * sell_threads * N;
  if (A.lanes > 1)
    return for_rows_of(ex, threads, A.lanes, [=] AMGKIT_FN(auto team, std::int64_t t) { store_products<N>(team, A, t, x, y, f); });
  return for_each<batch_registers>(ex, threads, [=] AMGKIT_FN(std::int64_t t) { store_products<N>(Alone{}, A, t, x, y, f); });
}

// Everything but values. Constant slices only if asked for, as two blocks may have the same number.
template <int N, class Ex, class T>
PetscErrorCode find_pattern(Ex &ex, CsrView<double> A, bool constants, BlockSell<T, Ex> &out, bool *fits)
{
  Array<int, Ex> ptr, col, owner;
  Array<double, Ex> number;

  PetscFunctionBegin;
  out = {};
  PetscCall(find_blocks<N>(ex, A, ptr, col, number, fits));
  if (!*fits) PetscFunctionReturn(PETSC_SUCCESS);
  const CsrView<double> nodes{A.rows / N, A.cols / N, col.size(), ptr.data(), col.data(), number.data()};
  PetscCall(sell_pattern(ex, nodes, constants ? SellForm::of_nodes : SellForm::plain, out.nodes, fits, &owner));
  if (!*fits) PetscFunctionReturn(PETSC_SUCCESS);
  out.rows = A.rows;
  out.block = N;
  out.ptr = std::move(ptr);
  out.nodes.exact.release(); // the numbers
  if (Ex::on_device) out.nodes.lanes = lanes_of_rows(sell_slices(nodes.rows) * sell_threads * N, nodes.average() * N / batch_columns);
  PetscCall(out.val.allocate(ex, out.nodes.low.size() * N * N));
  const std::int64_t elements = out.nodes.constant.size();
  if (elements == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(out.exact.allocate(ex, elements * quads_of_block<N>));
  PetscCall(fill_lists<N>(ex, A, owner.data(), out.nodes.start.data(), out.nodes.constant.data(), out.exact.data()));
  if constexpr (std::is_same_v<T, float>) {
    PetscCall(out.rounded.allocate(ex, out.exact.size()));
    const SellQuad<double> *exact = out.exact.data();
    SellQuad<float> *rounded = out.rounded.data();
    PetscCall(for_each(ex, out.exact.size(), [=] AMGKIT_FN(std::int64_t q) {
      for (int e = 0; e < 4; e++) rounded[q].of[e] = static_cast<float>(exact[q].of[e]);
    }));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Values of the pattern that was found. *lost: the reasons why they are not kept.
template <class Ex, class T> PetscErrorCode fill(Ex &ex, CsrView<double> A, BlockSell<T, Ex> &out, unsigned *lost)
{
  const bool constants = out.exact.size() > 0;
  Array<unsigned, Ex> flag;

  PetscFunctionBegin;
  *lost = 0;
  if (std::is_same_v<T, float> || constants) {
    PetscCall(flag.allocate(ex, 1));
    PetscCall(memory_zero(ex, flag.data(), flag.bytes()));
  }
  PetscCall(with_block(out.block, [&](auto block) {
    constexpr int N = decltype(block)::value;
    PetscFunctionBegin;
    PetscCall(fill_values<N>(ex, A, out.ptr.data(), out.view(), out.val.data(), flag.data()));
    if (constants) PetscCall(find_lost<N>(ex, A, out.ptr.data(), out.view(), out.exact.data(), flag.data()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  if (flag.size() > 0) PetscCall(memory_to_host(ex, lost, flag.data(), flag.bytes()));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace block_sell

template <class Ex, class T>
PetscErrorCode block_sell_create(Ex &ex, CsrView<double> A, BlockForm block, BlockSell<T, Ex> &out, bool *fits, bool *kept)
{
  unsigned lost = 0;

  PetscFunctionBegin;
  out = {};
  *kept = false;
  *fits = block_sell_has(block.size) && A.rows % block.size == 0 && A.cols % block.size == 0;
  for (;; block.constant = false) {
    if (!*fits) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(block_sell::with_block(
        block.size, [&](auto N) { return block_sell::find_pattern<decltype(N)::value>(ex, A, block.constant, out, fits); }));
    if (*fits) PetscCall(block_sell::fill(ex, A, out, &lost));
    if ((lost & block_sell::not_constant) == 0) break;
  }
  *kept = *fits && lost == 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex, class T> PetscErrorCode block_sell_fill(Ex &ex, CsrView<double> A, BlockSell<T, Ex> &out, bool *kept)
{
  unsigned lost = 0;

  PetscFunctionBegin;
  PetscCall(block_sell::fill(ex, A, out, &lost));
  *kept = lost == 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex, class T, class V> PetscErrorCode spmv(Ex &ex, BlockSellView<T> A, const V *x, V *y)
{
  return block_sell::with_block(A.block,
                                [&](auto N) { return block_sell::for_products<decltype(N)::value>(ex, A, x, y, SellProduct<V>{}); });
}

template <class Ex, class T, class V> PetscErrorCode add_product(Ex &ex, BlockSellView<T> A, const V *x, V *y)
{
  return block_sell::with_block(A.block,
                                [&](auto N) { return block_sell::for_products<decltype(N)::value>(ex, A, x, y, SellAdded<V>{y}); });
}

template <class Ex, class T, class V> PetscErrorCode residual(Ex &ex, BlockSellView<T> A, const V *b, const V *x, V *r)
{
  return block_sell::with_block(A.block,
                                [&](auto N) { return block_sell::for_products<decltype(N)::value>(ex, A, x, r, SellResidual<V>{b}); });
}

template <class Ex, class T, class D, class V>
PetscErrorCode relax(Ex &ex, BlockSellView<T> A, const D *d, RelaxStep step, const V *b, const V *x, OptionalVector<V> previous, V *y)
{
  const SellRelaxed<D, V> relaxed{static_cast<V>(step.momentum), static_cast<V>(step.factor), d, b, x, previous};
  return block_sell::with_block(A.block, [&](auto N) { return block_sell::for_products<decltype(N)::value>(ex, A, x, y, relaxed); });
}

using Space = AMGKIT_SPACE;
#define INSTANTIATE_RELAX(T, D, V)                                                                                                         \
  template PetscErrorCode relax(Space &, BlockSellView<T>, const D *, RelaxStep, const V *, const V *, OptionalVector<V>, V *);
#define INSTANTIATE_PRODUCTS(T, V)                                                                                                         \
  template PetscErrorCode spmv(Space &, BlockSellView<T>, const V *, V *);                                                                 \
  template PetscErrorCode add_product(Space &, BlockSellView<T>, const V *, V *);                                                          \
  template PetscErrorCode residual(Space &, BlockSellView<T>, const V *, const V *, V *);
#define INSTANTIATE(T)                                                                                                                     \
  template PetscErrorCode block_sell_create(Space &, CsrView<double>, BlockForm, BlockSell<T, Space> &, bool *, bool *);                   \
  template PetscErrorCode block_sell_fill(Space &, CsrView<double>, BlockSell<T, Space> &, bool *);                                        \
  INSTANTIATE_PRODUCTS(T, float)                                                                                                           \
  INSTANTIATE_PRODUCTS(T, double)                                                                                                          \
  INSTANTIATE_RELAX(T, float, float)                                                                                                       \
  INSTANTIATE_RELAX(T, float, double)                                                                                                      \
  INSTANTIATE_RELAX(T, double, double)
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE
#undef INSTANTIATE_PRODUCTS
#undef INSTANTIATE_RELAX
} // namespace amgkit
