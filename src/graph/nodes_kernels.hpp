#include "base/parallel.hpp"
#include "graph/nodes.hpp"
#include "sparse/contract.hpp"

#include <cmath>

namespace amgkit
{
template <class Ex> PetscErrorCode condense_to_nodes(Ex &ex, CsrView<double> A, int bs, Csr<double, Ex> &nodes)
{
  Aggregation<Ex> rows;
  Array<double, Ex> squares, ones;
  Array<unsigned char, Ex> slot;

  PetscFunctionBegin;
  rows.fine = A.rows;
  rows.coarse = A.rows / bs;
  PetscCall(rows.id.allocate(ex, A.rows));
  PetscCall(rows.member.allocate(ex, A.rows));
  PetscCall(rows.ptr.allocate(ex, rows.coarse + 1));
  PetscCall(ones.allocate(ex, A.rows));
  PetscCall(squares.allocate(ex, A.nnz));
  int *id = rows.id.data(), *member = rows.member.data(), *ptr = rows.ptr.data();
  double *one = ones.data(), *square = squares.data();
  PetscCall(for_each(ex, A.rows, [=] AMGKIT_FN(std::int64_t i) {
    id[i] = static_cast<int>(i) / bs;
    member[i] = static_cast<int>(i);
    one[i] = 1;
  }));
  PetscCall(for_each(ex, rows.coarse + 1, [=] AMGKIT_FN(std::int64_t I) { ptr[I] = static_cast<int>(I) * bs; }));
  PetscCall(for_each(ex, A.nnz, [=] AMGKIT_FN(std::int64_t k) { square[k] = A.val[k] * A.val[k]; }));
  CsrView<double> of_squares = A;
  of_squares.val = square;
  PetscCall(contract(ex, of_squares, rows, one, id, one, rows.coarse, nodes, slot));
  const int *node_ptr = nodes.ptr.data(), *node_col = nodes.col.data();
  double *val = nodes.val.data();
  PetscCall(for_each(ex, nodes.rows, [=] AMGKIT_FN(std::int64_t I) {
    for (int k = node_ptr[I]; k < node_ptr[I + 1]; k++) val[k] = node_col[k] == I ? sqrt(val[k]) : -sqrt(val[k]);
  }));
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
template PetscErrorCode condense_to_nodes(Space &, CsrView<double>, int, Csr<double, Space> &);
template PetscErrorCode expand_to_unknowns(Space &, const Aggregation<Space> &, int, Aggregation<Space> &);
} // namespace amgkit
