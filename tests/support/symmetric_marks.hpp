// Strength of connection as the formulas of graph/symmetric_strength.hpp have it, and as all ranks find it.
#pragma once
#include "graph/symmetric_strength.hpp"
#include "support/distributed_graph.hpp"
#include "support/positive_couplings.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

namespace amgkit::test
{
using Marks = std::vector<int>; // one an entry

// exponents: B_i = 2^exponents(i), if it is not empty. sizes <- the largest that each row cancels, or -1
using Exponents = std::function<int(int)>;
// The formulas of the header, with a wider range of exponents than double has.
inline Marks strong_entries(const HostCsr &A, StrengthKind kind, long double theta, bool cancel = false, bool coarse = false,
                            const Exponents &exponents = {}, std::vector<double> *sizes = nullptr)
{
  std::vector<long double> d(A.rows, 0);
  std::vector<double> weak(A.rows, -1); // of rows judged by signs
  Marks marks;
  for (int i = 0; i < A.rows; i++) {
    for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) {
      if ((A.col[k] == i) == (kind == StrengthKind::symmetric)) d[i] = std::max(d[i], std::abs(static_cast<long double>(A.val[k])));
    }
  }
  const auto b = [&](int i, int j) { return exponents ? std::ldexp(A.at(i, j), exponents(i) + exponents(j)) : A.at(i, j); };
  for (int i = 0; i < A.rows && cancel && theta > 0; i++) {
    OppositeCouplings couplings;
    double largest = 0, largest_b = 0; // negative ones
    for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) {
      const int j = A.col[k];
      if (j == i) continue;
      couplings.take(A.at(i, i), b(i, j), b(j, i));
      largest = std::max(largest, A.at(i, i) < 0 ? A.val[k] : -A.val[k]);
      largest_b = std::max(largest_b, -couplings.here.back());
    }
    const long double of_signs = kind == StrengthKind::symmetric ? d[i] : largest;
    const double size = kind == StrengthKind::symmetric ? std::abs(b(i, i)) : largest_b;
    weak[i] = couplings.largest_cancelled(std::abs(b(i, i)), static_cast<double>(theta * size), coarse ? 20 : 10, coarse ? 20 : 6);
    if (weak[i] >= 0) d[i] = of_signs;
  }
  if (sizes) *sizes = weak;
  for (int i = 0; i < A.rows; i++) {
    for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) {
      const int j = A.col[k];
      const double side = A.at(i, i) < 0 ? -1 : 1;
      const bool by_sign = weak[i] >= 0 && weak[j] >= 0 && side * A.at(j, j) > 0;
      if (by_sign && (side * A.val[k] > 0 || -side * b(i, j) <= std::min(weak[i], weak[j]))) {
        marks.push_back(0);
        continue;
      }
      const long double a = A.val[k];
      const long double product = d[i] * d[A.col[k]], most = static_cast<long double>(comparable) * comparable * product;
      marks.push_back(A.col[k] != i && a * a > theta * theta * product && (product == 0 || a * a <= most));
    }
  }
  return marks;
}

template <class Ex> PetscErrorCode copy_values(Ex &ex, const CsrView<double> &A, Array<double, Ex> &to)
{
  PetscFunctionBegin;
  PetscCall(to.allocate(ex, A.nnz));
  PetscCall(memory_copy(ex, to.data(), A.val, to.bytes()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// All ranks' marks, in the order of A's entries; each rank's are its rows'. along: the couplings along vectors, if they are not A's.
template <class Ex>
PetscErrorCode all_marks_of(Ex &ex, const HostCsr &A, const SymmetricRule &rule, PetscInt local_rows, Marks &all,
                            const Exponents &exponents = {}, const HostCsr *along = nullptr)
{
  DistributedGraph<Ex> problem, of_couplings;
  Strength<Ex> S;
  Array<double, Ex> B;
  NodeCouplings<Ex> c;
  std::vector<double> own_B;
  std::vector<int> ptr(1, 0), ghost_ptr(1, 0), col, ghost_col;
  std::vector<unsigned char> mark, ghost_mark;

  PetscFunctionBegin;
  PetscCall(problem.create(ex, A, local_rows));
  const DistMatrix<Ex> &M = problem.A;
  if (exponents) {
    for (int i = 0; i < M.rows; i++) own_B.push_back(std::ldexp(1, exponents(static_cast<int>(M.range.first()) + i)));
    PetscCall(upload(ex, own_B, B));
  }
  if (along) {
    PetscCall(of_couplings.create(ex, *along, local_rows));
    PetscCall(copy_values(ex, of_couplings.A.diag, c.diag));
    PetscCall(copy_values(ex, of_couplings.A.offd, c.offd));
  }
  PetscCall(symmetric_strength(ex, problem.A, rule, exponents ? &B : nullptr, S, along ? &c : nullptr));
  if (M.diag.nnz > 0) PetscCall(download(ex, M.diag.view().ptr, M.rows + 1, ptr));
  if (M.offd.nnz > 0) PetscCall(download(ex, M.offd.ptr, M.rows + 1, ghost_ptr));
  PetscCall(download(ex, M.diag.view().col, M.diag.nnz, col));
  PetscCall(download(ex, M.offd.col, M.offd.nnz, ghost_col));
  PetscCall(download(ex, S.diag.data(), S.diag.size(), mark));
  PetscCall(download(ex, S.offd.data(), S.offd.size(), ghost_mark));
  const PetscInt first = M.range.first();
  const auto place = [&](PetscInt i, PetscInt j) {
    return std::lower_bound(A.col.begin() + A.ptr[i], A.col.begin() + A.ptr[i + 1], j) - A.col.begin();
  };
  all.assign(A.col.size(), -1);
  for (int i = 0; i + 1 < static_cast<int>(ptr.size()); i++) {
    for (int k = ptr[i]; k < ptr[i + 1]; k++) all[place(first + i, first + col[k])] = mark[k];
  }
  for (int i = 0; i + 1 < static_cast<int>(ghost_ptr.size()); i++) {
    for (int k = ghost_ptr[i]; k < ghost_ptr[i + 1]; k++) all[place(first + i, M.ghosts[ghost_col[k]])] = ghost_mark[k];
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, all.data(), static_cast<int>(all.size()), MPI_INT, MPI_MAX, PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace amgkit::test
