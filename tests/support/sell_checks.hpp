// Both kinds of sliced ELL beside compressed rows: products, bits and bytes.
#pragma once
#include "sparse/formats/block_sell.hpp"
#include "support/gallery.hpp"
#include "support/spaces.hpp"
#include "support/vectors.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <unordered_map>

namespace amgkit::test
{
// Both formats; a block of 1 for rows
template <class Ex, class T> PetscErrorCode store(Ex &ex, CsrView<double> A, int, Sell<T, Ex> &S, bool *fits, bool *kept)
{
  return sell_create(ex, A, S, fits, kept);
}
template <class Ex, class T> PetscErrorCode store(Ex &ex, CsrView<double> A, int block, BlockSell<T, Ex> &S, bool *fits, bool *kept)
{
  return block_sell_create(ex, A, block, S, fits, kept);
}
template <class Ex, class T> PetscErrorCode store_values(Ex &ex, CsrView<double> A, Sell<T, Ex> &S, bool *kept)
{
  bool fits;
  PetscFunctionBegin;
  PetscCall(sell_fill(ex, A, SellValues::perhaps_others, S, kept));
  if (!*kept) PetscCall(sell_create(ex, A, S, &fits, kept));
  PetscFunctionReturn(PETSC_SUCCESS);
}
template <class Ex, class T> PetscErrorCode store_values(Ex &ex, CsrView<double> A, BlockSell<T, Ex> &S, bool *kept)
{
  bool fits;
  PetscFunctionBegin;
  PetscCall(block_sell_fill(ex, A, S, kept));
  if (!*kept) PetscCall(block_sell_create(ex, A, S.block, S, &fits, kept));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// So many lanes share two rows, which changes the order of sums.
template <class Ex, class T> void set_lanes(Sell<T, Ex> &S, int lanes) { S.lanes = lanes; }
template <class Ex, class T> void set_lanes(BlockSell<T, Ex> &S, int lanes) { S.nodes.lanes = lanes; }

// How many allocations work has, each of which fails once; the last time none does. Local.
inline int failing_allocations(Debug &ex, const std::function<PetscErrorCode()> &work)
{
  int failed = 0;
  PetscPushErrorHandler(PetscReturnErrorHandler, nullptr);
  for (bool more = true; more; failed += more) {
    ex.fail_at = ex.allocations + failed;
    const PetscErrorCode code = work();
    more = ex.allocations > ex.fail_at;
    ex.fail_at = -1;
    EXPECT_EQ(code, more ? PETSC_ERR_MEM : PETSC_SUCCESS);
  }
  PetscPopErrorHandler();
  return failed;
}

// A product with sums gives the bits of the one without, whatever the lanes, and the sums of what it gives, to rounding.
template <int N, class Ex, class Stored, class V>
void check_summed_products(Ex &ex, Stored &S, const Array<V, Ex> &x, const Array<V, Ex> &r, const Array<V, Ex> &z, const std::string &name)
{
  const std::int64_t n = x.size();
  Array<V, Ex> y;
  Array<double, Ex> sums, work;
  std::vector<V> alone, with, xs, rs, zs;
  std::vector<double> got;
  OK(y.allocate(ex, n));
  OK(sums.allocate(ex, N));
  const std::vector<double> beyond(64, 17); // what comes after the work array
  const std::int64_t room = N * product_sum_parts_of(n);
  std::vector<double> kept(static_cast<std::size_t>(room), NAN);
  kept.insert(kept.end(), beyond.begin(), beyond.end());
  OK(upload(ex, kept, work));
  OK(download(ex, x.data(), n, xs));
  OK(download(ex, r.data(), n, rs));
  OK(download(ex, z.data(), n, zs));
  for (int lanes : {1, N == 5 ? 32 : 4}) {
    set_lanes(S, lanes);
    OK(spmv(ex, S.view(), x.data(), y.data()));
    OK(download(ex, y.data(), n, alone));
    for (bool of_y : {false, true}) {
      OK(upload(ex, std::vector<V>(static_cast<std::size_t>(n), V(NAN)), y));
      OK(spmv(ex, S.view(), x.data(), y.data(), ProductSums<N, V>{of_y, r.data(), z.data(), work.data(), sums.data()}));
      OK(download(ex, y.data(), n, with));
      OK(download(ex, sums.data(), N, got));
      ASSERT_EQ(with, alone) << name;
      OK(download(ex, work.data() + room, 64, kept));
      ASSERT_EQ(kept, beyond) << name << ", lanes " << lanes;
      long double expected[N] = {}, size[N] = {}; // whose sums one after the other are exact enough
      for (std::size_t i = 0; i < with.size(); i++) {
        const double y_i = with[i], r_i = rs[i], u = of_y ? y_i : xs[i];
        const double terms[] = {u * y_i, u * r_i, N == 3 ? u * zs[i] : r_i * r_i, r_i * y_i, y_i * y_i};
        for (int k = 0; k < N; k++) {
          expected[k] += terms[k];
          size[k] += std::abs(terms[k]);
        }
      }
      for (int k = 0; k < N; k++)
        ASSERT_LE(std::abs(got[k] - expected[k]), 1e-13L * size[k]) << name << ", sum " << k << ", lanes " << lanes;
    }
  }
}

// What fits computes what compressed rows do; what does not fit says so.
// Values of T, vectors of V
template <template <class, class> class Format, class T, class V, class Ex>
void check_products(Ex &ex, const HostCsr &A, int block, double tolerance, const std::string &name, int *stored)
{
  const int n = A.rows;
  Csr<double, Ex> M;
  Format<T, Ex> S;
  bool fits = false, kept = false;
  OK(upload(ex, A, M));
  OK(store(ex, M.view(), block, S, &fits, &kept));
  if (!fits) {
    EXPECT_EQ(S.bytes(), 0U);
    return;
  }
  (*stored)++;
  Array<V, Ex> x, b, d, before, y, z;
  OK(upload(ex, rounded<V>(wave(n, 0.7)), x));
  OK(upload(ex, rounded<V>(wave(n, 0.3)), b));
  OK(upload(ex, rounded<V>(wave(n, 0.1)), d));
  OK(upload(ex, rounded<V>(wave(n, 0.9)), before));
  OK(y.allocate(ex, n));
  OK(z.allocate(ex, n));
  auto expect_same = [&] {
    std::vector<V> got, expected;
    OK(download(ex, y.data(), n, got));
    OK(download(ex, z.data(), n, expected));
    expect_close(rounded<double>(got), rounded<double>(expected), tolerance, name);
  };
  OK(spmv(ex, M.view(), x.data(), z.data()));
  for (int lanes = 1; lanes <= 32; lanes *= 2) {
    set_lanes(S, lanes);
    OK(upload(ex, std::vector<V>(n, V(NAN)), y));
    OK(spmv(ex, S.view(), x.data(), y.data()));
    expect_same();
  }
  if (n < 20000) check_summed_products<2>(ex, S, x, b, before, name);
  if (n < 20000) check_summed_products<3>(ex, S, x, b, before, name);
  check_summed_products<5>(ex, S, x, b, before, name);
  set_lanes(S, n % 3 == 0 ? 4 : 1);
  OK(residual(ex, S.view(), b.data(), x.data(), y.data()));
  OK(residual(ex, M.view(), b.data(), x.data(), z.data()));
  expect_same();
  OK(relax(ex, S.view(), d.data(), {0.25, 2}, b.data(), x.data(), nullptr, y.data()));
  OK(relax(ex, M.view(), d.data(), {0.25, 2}, b.data(), x.data(), nullptr, z.data()));
  expect_same();
  OK(upload(ex, rounded<V>(wave(n, 0.9)), z));
  OK(relax(ex, S.view(), d.data(), {0.25, 2}, b.data(), x.data(), before.data(), before.data()));
  OK(relax(ex, M.view(), d.data(), {0.25, 2}, b.data(), x.data(), z.data(), z.data()));
  std::swap(y, before);
  expect_same();
}

// Row i has the columns that are given, reduced to those of an n x n matrix.
inline HostCsr from_columns(int n, const std::function<std::vector<int>(int)> &columns_of)
{
  HostCsr A;
  A.rows = A.cols = n;
  for (int i = 0; i < n; i++) {
    std::vector<int> columns = columns_of(i);
    for (int &j : columns) j = (j % n + n) % n;
    std::sort(columns.begin(), columns.end());
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    for (int j : columns) {
      A.col.push_back(j);
      A.val.push_back(std::sin(0.1 * i + j));
    }
    A.ptr.push_back(static_cast<int>(A.col.size()));
  }
  return A;
}

// Sums of products in ascending order of the columns, values rounded to T.
template <class T> std::vector<double> product(const HostCsr &A, const std::vector<double> &x)
{
  std::vector<double> y(static_cast<std::size_t>(A.rows));
  for (int i = 0; i < A.rows; i++) {
    for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) y[i] += static_cast<double>(static_cast<T>(A.val[k])) * x[A.col[k]];
  }
  return y;
}

// To the rounding of sums in another order, of entries of one size
inline void expect_products(const std::vector<double> &got, const std::vector<double> &expected)
{
  double largest = 0;
  for (const double y : expected) largest = std::isfinite(y) ? std::max(largest, std::abs(y)) : largest;
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); i++) {
    if (std::isfinite(expected[i]))
      ASSERT_NEAR(got[i], expected[i], 1e-13 * largest) << "row " << i;
    else
      ASSERT_FALSE(std::isfinite(got[i])) << "row " << i;
  }
}

// Of all slices' positions; wide: of slices with a position whose columns do not lie within 65536
struct Positions {
  std::int64_t plain = 0, wide = 0, stencil = 0, constant = 0, slices = 0;
  std::set<std::vector<std::uint64_t>> lists; // of constant slices, with their lengths
  std::int64_t in_lists() const
  {
    std::int64_t n = 0;
    for (const auto &list : lists) n += 1 + static_cast<std::int64_t>(list.size() / 3);
    return n;
  }
  std::int64_t all() const { return plain + stencil + constant; }
  double bytes() const // with floats
  {
    return 388 * static_cast<double>(plain) + 268 * static_cast<double>(stencil) + 24 * static_cast<double>(in_lists());
  }
};
// The slices that there may be besides plain ones.
struct Allowed {
  bool stencil;
  int constants; // for each entry of the longest row
};
constexpr Allowed nothing_else{false, 0}, of_rows{true, 2}, of_nodes{false, 8}, of_nodes_beside_plain{false, 2};
// Of the slice with these rows
inline Positions positions_of_slice(const HostCsr &A, const std::vector<int> &rows, const Allowed &allowed)
{
  std::vector<std::pair<int, int>> range;                                     // of columns, by position
  std::map<int, std::vector<std::pair<std::uint64_t, std::uint64_t>>> values; // and their rows, in the order of these
  bool finite = true;
  for (std::size_t r = 0; r < rows.size(); r++) {
    const int i = rows[r];
    for (std::size_t j = 0; j < static_cast<std::size_t>(A.ptr[i + 1] - A.ptr[i]); j++) {
      const int column = A.col[A.ptr[i] + j];
      const double value = A.val[A.ptr[i] + j];
      if (j == range.size()) range.emplace_back(column, column);
      range[j] = {std::min(range[j].first, column), std::max(range[j].second, column)};
      auto &here = values[column - i];
      const auto bits = std::bit_cast<std::uint64_t>(value);
      auto found = std::find_if(here.begin(), here.end(), [=](const auto &seen) { return seen.first == bits; });
      if (found == here.end()) found = here.insert(here.end(), {bits, 0});
      found->second |= std::uint64_t{1} << r;
      finite = finite && std::isfinite(value);
    }
  }
  const auto is_wide = [](const auto &r) { return r.second - r.first >= 65536; };
  Positions as_plain, stencil, constant;
  as_plain.slices = stencil.slices = constant.slices = 1;
  as_plain.plain = static_cast<std::int64_t>(range.size());
  if (std::any_of(range.begin(), range.end(), is_wide)) as_plain.wide = as_plain.plain;
  stencil.stencil = static_cast<std::int64_t>(values.size());
  std::vector<std::uint64_t> list;
  for (const auto &[offset, distinct] : values) {
    constant.constant += static_cast<std::int64_t>(distinct.size());
    for (const auto &[bits, which] : distinct) list.insert(list.end(), {static_cast<std::uint64_t>(offset), bits, which});
  }
  constant.lists = {list};
  Positions best = as_plain;
  if (allowed.stencil && stencil.bytes() < best.bytes()) best = stencil;
  if (finite && constant.constant <= allowed.constants * as_plain.plain && constant.bytes() < best.bytes()) best = constant;
  return best;
}
// With the rows in this order.
inline Positions count_positions(const HostCsr &A, const std::vector<int> &order, const Allowed &allowed)
{
  Positions count;
  for (int first = 0; first < A.rows; first += 64) {
    const Positions slice = positions_of_slice(A, {order.begin() + first, order.begin() + std::min(A.rows, first + 64)}, allowed);
    count.plain += slice.plain;
    count.wide += slice.wide;
    count.stencil += slice.stencil;
    count.constant += slice.constant;
    count.lists.insert(slice.lists.begin(), slice.lists.end());
    count.slices++;
  }
  return count;
}

// Descending by length within windows, rows of the same length in their order; a window of 1: as they are
inline std::vector<int> sorted_rows(const HostCsr &A, int window)
{
  std::vector<int> order(static_cast<std::size_t>(A.rows));
  std::iota(order.begin(), order.end(), 0);
  for (int first = 0; first < A.rows; first += window) {
    std::stable_sort(order.begin() + first, order.begin() + std::min(A.rows, first + window),
                     [&](int i, int k) { return A.ptr[i + 1] - A.ptr[i] > A.ptr[k + 1] - A.ptr[k]; });
  }
  return order;
}

// As the rows are stored. *sorted: whether that is sorted, which must save a twentieth of the bytes, those of floats.
inline Positions count_positions(const HostCsr &A, bool *sorted)
{
  const Positions kept = count_positions(A, sorted_rows(A, 1), of_rows),
                  moved = count_positions(A, sorted_rows(A, sell_window), nothing_else);
  *sorted = moved.bytes() + 128 * static_cast<double>(moved.slices) < 0.95 * kept.bytes();
  return *sorted ? moved : kept;
}

// Which blocks of so many rows and columns have entries. Blocks with the same ones have the same value.
inline HostCsr nodes_of(const HostCsr &A, int block)
{
  HostCsr nodes;
  std::unordered_map<std::string, double> seen;
  nodes.rows = A.rows / block;
  nodes.cols = A.cols / block;
  for (int i = 0; i < nodes.rows; i++) {
    std::map<int, std::string> blocks; // of this node: where their entries lie, and their bytes
    for (int r = 0; r < block; r++) {
      for (int k = A.ptr[block * i + r]; k < A.ptr[block * i + r + 1]; k++) {
        std::string &bytes = blocks[A.col[k] / block];
        bytes.push_back(static_cast<char>(block * r + A.col[k] % block));
        bytes.append(reinterpret_cast<const char *>(&A.val[k]), sizeof(double));
      }
    }
    for (const auto &[j, bytes] : blocks) {
      nodes.col.push_back(j);
      nodes.val.push_back(seen.emplace(bytes, 1 + static_cast<double>(seen.size())).first->second);
    }
    nodes.ptr.push_back(static_cast<int>(nodes.col.size()));
  }
  return nodes;
}

// As the nodes are stored: long lists only where all slices are constant.
inline Positions count_positions_of_nodes(const HostCsr &nodes)
{
  const std::vector<int> order = sorted_rows(nodes, 1);
  const Positions count = count_positions(nodes, order, of_nodes);
  return count.constant > 0 && count.plain > 0 ? count_positions(nodes, order, of_nodes_beside_plain) : count;
}

// The stored sums to the last bit, before and after new values, and the bytes that they take.
template <template <class, class> class Format, class T, class Ex>
void check_bits_and_bytes(Ex &ex, HostCsr A, int block, const std::string &name, Positions *count)
{
  Csr<double, Ex> M;
  Format<T, Ex> S;
  bool fits = false, kept = false;
  OK(upload(ex, A, M));
  OK(store(ex, M.view(), block, S, &fits, &kept));
  if (!fits) return;
  bool sorted = false;
  *count = block > 1 ? count_positions_of_nodes(nodes_of(A, block)) : count_positions(A, &sorted);
  const std::int64_t pairs = count->plain + count->stencil, values = block * block * static_cast<std::int64_t>(sizeof(T));
  const std::int64_t indices =
      4 * (count->slices + 1) + pairs + (count->wide > 0 ? count->slices + 1 : 0) + (block > 1 ? A.rows / block + 1 : 0);
  const std::int64_t entries = pairs * values + 2 * (count->plain + count->wide);
  // of a block in a list, in double, and rounded
  const std::int64_t constant_values =
      block > 1 ? (block * block + 3) / 4 * 4 * static_cast<std::int64_t>(sizeof(double) + (sizeof(T) == 4 ? sizeof(T) : 0)) : 8;
  EXPECT_EQ(static_cast<std::int64_t>(S.bytes()), 4 * indices + 64 * entries + 8 * count->stencil +
                                                      (16 + constant_values) * count->in_lists() + (sorted ? 128 * count->slices : 0))
      << name;
  const auto x = wave(A.cols, 0.7);
  Array<double, Ex> X, Y;
  std::vector<double> got;
  set_lanes(S, 1);
  OK(upload(ex, x, X));
  OK(upload(ex, std::vector<double>(A.rows, NAN), Y));
  OK(spmv(ex, S.view(), X.data(), Y.data()));
  OK(download(ex, Y.data(), A.rows, got));
  EXPECT_EQ(got, product<T>(A, x)) << name;
  for (double &v : A.val) v = 1 / (3 + v * v);
  OK(upload(ex, A, M));
  OK(store_values(ex, M.view(), S, &kept));
  set_lanes(S, 1);
  OK(spmv(ex, S.view(), X.data(), Y.data()));
  OK(download(ex, Y.data(), A.rows, got));
  EXPECT_EQ(got, product<T>(A, x)) << name << ", new values";
}
} // namespace amgkit::test
