#include "base/parallel.hpp"
#include "graph/nodes.hpp"
#include "sparse/formats/long_float.hpp"
#include "sparse/rows/block_patterns.hpp"
#include "sparse/rows/contract.hpp"
#include "sparse/rows/search.hpp"

#include <cmath>

namespace amgkit
{
namespace
{
// 2^e, of which double has this and its inverse.
AMGKIT_FN inline double power_of_two(int e) { return double_of(static_cast<std::uint64_t>(e + 1023) << 52); }

// The sum of squares of a block's entries, each a fraction of the square of a power of two above all entries. The fractions are added as
// integers, so that their order does not matter. visit(use) calls use(a, p, j, q) for the entries: row p of the block, and its column q,
// which is column j of the matrix.
template <class Visit> AMGKIT_FN double root_of_squares(double unit, Visit visit)
{
  double largest = 0;
  int exponent = 0;
  std::uint64_t sum = 0;
  visit([&](double a, int, std::int64_t, int) { largest = Max{}(largest, fabs(a)); });
  if (largest == 0) return 0;
  frexp(largest, &exponent);
  const int half = exponent / 2, other = exponent - half; // 2^-exponent alone may be too large for double
  const double first = power_of_two(-half), second = power_of_two(-other);
  visit([&](double a, int, std::int64_t, int) {
    const double x = a * first * second;
    sum += static_cast<std::uint64_t>(x * x * unit);
  });
  return sqrt(static_cast<double>(sum) / unit) * power_of_two(half) * power_of_two(other);
}

// c_IJ: a trace in the order of p; else its terms are added as integers, as the squares are.
template <class Visit> AMGKIT_FN double coupling_along(const NodeVectors &B, std::int64_t first_row, double unit, Visit visit)
{
  double largest = 0, trace = 0;
  std::int64_t sum = 0;
  if (B.m == 0) {
    visit([&](double a, int p, std::int64_t, int q) { trace += p == q ? a : 0; });
    return trace;
  }
  const auto term = [&](double a, int p, std::int64_t j) {
    double product = 0;
    for (int k = 0; k < B.count; k++) {
      product += (B.scale * B.of_rows[(first_row + p) * B.m + k]) * (B.scale * B.of_columns[j * B.m + k]);
    }
    return a * product;
  };
  visit([&](double a, int p, std::int64_t j, int) { largest = Max{}(largest, fabs(term(a, p, j))); });
  if (!(largest > 0 && largest <= 1e300)) return 0;
  visit([&](double a, int p, std::int64_t j, int) { sum += static_cast<std::int64_t>(term(a, p, j) / largest * unit); });
  return static_cast<double>(sum) / unit * largest;
}

// The largest power of two of which bs^2 fit 62 bits
double unit_of_squares(int bs)
{
  int bits = 62;
  for (int b = 1; b < bs; b *= 2) bits -= 2;
  return std::ldexp(1.0, bits);
}

// Rows 0, ..., bs - 1 form aggregate 0, the next ones aggregate 1, ...
template <class Ex> PetscErrorCode aggregates_of_blocks(Ex &ex, int n, int bs, Aggregation<Ex> &rows)
{
  PetscFunctionBegin;
  rows.fine = n;
  rows.coarse = n / bs;
  PetscCall(allocate_each(ex, n, rows.id, rows.member));
  PetscCall(rows.ptr.allocate(ex, rows.coarse + 1));
  int *id = rows.id.data(), *member = rows.member.data(), *ptr = rows.ptr.data();
  PetscCall(for_each(ex, n, [=] AMGKIT_FN(std::int64_t i) {
    id[i] = static_cast<int>(i) / bs;
    member[i] = static_cast<int>(i);
  }));
  PetscCall(for_each(ex, rows.coarse + 1, [=] AMGKIT_FN(std::int64_t I) { ptr[I] = static_cast<int>(I) * bs; }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// nodes, whose pattern is set: its values
template <class Ex>
PetscErrorCode norms_of_blocks(Ex &ex, CsrView<double> A, int bs, const int *node, const int *component, const NodeVectors &vectors,
                               Csr<double, Ex> &nodes, double *c)
{
  const CsrView<double> N = nodes.view();
  const NodeVectors B = vectors;
  const double unit = unit_of_squares(bs);
  const bool own = !component;
  double *val = nodes.val.data();
  return for_rows(ex, N.rows, N.average(), [=] AMGKIT_FN(auto team, std::int64_t I) {
    const Segment blocks = entries_of(N, I);
    for (int t : team.share(blocks.begin, blocks.end)) {
      const int J = N.col[t];
      const auto visit = [&](auto use) {
        for (std::int64_t i = I * bs; i < (I + 1) * bs; i++) {
          const int end = A.ptr[i + 1];
          int k = first_not_below([=](int at) { return node[A.col[at]]; }, A.ptr[i], end, J);
          for (; k < end && node[A.col[k]] == J; k++) {
            const int j = A.col[k];
            use(A.val[k], static_cast<int>(i - I * bs), std::int64_t{j}, own ? j - J * bs : component[j]);
          }
        }
      };
      const double norm = root_of_squares(unit, visit);
      val[t] = own && J == I ? norm : -norm;
      if (c) c[t] = coupling_along(B, I * bs, unit, visit);
    }
  });
}

// The same where A has all entries of each block that the pattern has.
template <class Ex>
PetscErrorCode norms_of_complete_blocks(Ex &ex, CsrView<double> A, int bs, const NodeVectors &vectors, Csr<double, Ex> &nodes, double *c)
{
  const CsrView<double> N = nodes.view();
  const NodeVectors B = vectors;
  const double unit = unit_of_squares(bs);
  double *val = nodes.val.data();
  return for_rows(ex, N.rows, N.average(), [=] AMGKIT_FN(auto team, std::int64_t I) {
    const Segment blocks = entries_of(N, I);
    const int length = (blocks.end - blocks.begin) * bs; // of each row
    for (int t : team.share(blocks.begin, blocks.end)) {
      const double *corner = A.val + A.ptr[I * bs] + (t - blocks.begin) * bs;
      const std::int64_t first = std::int64_t{N.col[t]} * bs;
      const auto visit = [=](auto use) {
        for (int p = 0; p < bs; p++) {
          for (int q = 0; q < bs; q++) use(corner[p * length + q], p, first + q, q);
        }
      };
      const double norm = root_of_squares(unit, visit);
      val[t] = N.col[t] == I ? norm : -norm;
      if (c) c[t] = coupling_along(B, I * bs, unit, visit);
    }
  });
}

// A general matrix, or one of ghosts' columns: node[j] of column j.
template <class Ex>
PetscErrorCode condense_block(Ex &ex, CsrView<double> A, const Aggregation<Ex> &rows, int bs, const GhostColumns &columns,
                              const NodeVectors &B, Csr<double, Ex> &nodes, Array<double, Ex> *c)
{
  Array<unsigned char, Ex> slot;
  bool all_slots;

  PetscFunctionBegin;
  PetscCall(contract_pattern(ex, A, rows, columns.node, columns.nodes, nodes, slot, &all_slots));
  if (c) PetscCall(c->allocate(ex, nodes.col.size()));
  PetscCall(norms_of_blocks(ex, A, bs, columns.node, columns.component, B, nodes, c ? c->data() : nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode no_entries(Ex &ex, int rows, int columns, Csr<double, Ex> &M)
{
  PetscFunctionBegin;
  M.rows = rows;
  M.cols = columns;
  PetscCall(M.ptr.allocate(ex, rows + 1));
  PetscCall(allocate_each(ex, 0, M.col, M.val));
  PetscCall(memory_zero(ex, M.ptr.data(), M.ptr.bytes()));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

template <class Ex>
PetscErrorCode condense_to_nodes(Ex &ex, CsrView<double> A, int bs, Csr<double, Ex> &nodes, const NodeVectors &B,
                                 std::type_identity_t<Array<double, Ex>> *c)
{
  Aggregation<Ex> rows;
  bool whole = false;

  PetscFunctionBegin;
  if (A.nnz > 0) PetscCall(find_blocks(ex, A, bs, bs, nodes, &whole));
  if (whole) {
    PetscCall(nodes.val.allocate(ex, nodes.col.size()));
    if (c) PetscCall(c->allocate(ex, nodes.col.size()));
    PetscCall(norms_of_complete_blocks(ex, A, bs, B, nodes, c ? c->data() : nullptr));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(aggregates_of_blocks(ex, A.rows, bs, rows));
  PetscCall(condense_block(ex, A, rows, bs, {rows.id.data(), nullptr, rows.coarse}, B, nodes, c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex>
PetscErrorCode condense_to_nodes(Ex &ex, CsrView<double> A, int bs, const GhostColumns &columns, Csr<double, Ex> &nodes,
                                 const NodeVectors &B, std::type_identity_t<Array<double, Ex>> *c)
{
  Aggregation<Ex> rows;

  PetscFunctionBegin;
  if (A.nnz == 0) { // A.ptr may be nullptr
    PetscCall(no_entries(ex, A.rows / bs, columns.nodes, nodes));
    if (c) PetscCall(c->allocate(ex, 0));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(aggregates_of_blocks(ex, A.rows, bs, rows));
  PetscCall(condense_block(ex, A, rows, bs, columns, B, nodes, c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode expand_to_unknowns(Ex &ex, const Aggregation<Ex> &nodes, int bs, Aggregation<Ex> &unknowns)
{
  const int *id = nodes.id.data(), *ptr = nodes.ptr.data(), *member = nodes.member.data();

  PetscFunctionBegin;
  unknowns.fine = nodes.fine * bs;
  unknowns.coarse = nodes.coarse * bs;
  PetscCall(unknowns.id.allocate(ex, unknowns.fine));
  PetscCall(unknowns.ptr.allocate(ex, unknowns.coarse + 1));
  PetscCall(unknowns.member.allocate(ex, nodes.member.size() * bs));
  int *new_id = unknowns.id.data(), *new_ptr = unknowns.ptr.data(), *new_member = unknowns.member.data();
  PetscCall(for_each(ex, unknowns.fine, [=] AMGKIT_FN(std::int64_t i) {
    const int node = static_cast<int>(i) / bs, component = static_cast<int>(i) % bs;
    new_id[i] = id[node] < 0 ? -1 : id[node] * bs + component;
  }));
  const std::int64_t end = unknowns.coarse;
  // aggregate (I, c) has as many members as I, and those of (I, 0), (I, 1), ... follow each other
  PetscCall(for_each(ex, unknowns.coarse + 1, [=] AMGKIT_FN(std::int64_t c) {
    const int I = static_cast<int>(c) / bs, component = static_cast<int>(c) % bs;
    const int size = component == 0 ? 0 : ptr[I + 1] - ptr[I]; // component 0 also stands for the end, where there is no I
    const int begin = ptr[I] * bs + component * size;
    new_ptr[c] = begin;
    if (c == end) return;
    for (int k = ptr[I]; k < ptr[I + 1]; k++) new_member[begin + k - ptr[I]] = member[k] * bs + component;
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

using Space = AMGKIT_SPACE;
template PetscErrorCode condense_to_nodes(Space &, CsrView<double>, int, Csr<double, Space> &, const NodeVectors &, Array<double, Space> *);
template PetscErrorCode condense_to_nodes(Space &, CsrView<double>, int, const GhostColumns &, Csr<double, Space> &, const NodeVectors &,
                                          Array<double, Space> *);
AMGKIT_INSTANTIATE(expand_to_unknowns)
} // namespace amgkit
