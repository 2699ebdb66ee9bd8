#include "ilu/ordering.hpp"

#include "dist/mat_view.hpp"
#include "sparse/rows/rows.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>

namespace amgkit
{
namespace
{
// ptr, col <- the pattern of A + Aᵀ, A of ascending columns
void symmetrise(std::vector<int> &ptr, std::vector<int> &col)
{
  const std::size_t n = ptr.size() - 1;
  std::vector<int> end(n + 1, 0), row(col.size()), all, all_ptr = {0}; // row: of each column, ascending; end: where a column's ends
  for (int j : col) end[j + 1]++;
  std::partial_sum(end.begin(), end.end(), end.begin());
  for (std::size_t i = 0; i < n; i++) {
    for (int k = ptr[i]; k < ptr[i + 1]; k++) row[end[col[k]]++] = static_cast<int>(i);
  }
  all.reserve(col.size());
  for (std::size_t i = 0; i < n; i++) {
    std::set_union(col.begin() + ptr[i], col.begin() + ptr[i + 1], row.begin() + (i == 0 ? 0 : end[i - 1]), row.begin() + end[i],
                   std::back_inserter(all));
    all_ptr.push_back(static_cast<int>(all.size()));
  }
  ptr = std::move(all_ptr);
  col = std::move(all);
}

template <class Ex> PetscErrorCode order_by_rcm(Ex &ex, const CsrView<double> &A, int *order)
{
  std::vector<int> ptr, col, host_order;

  PetscFunctionBegin;
  PetscCheck(A.nnz <= INT32_MAX / 2, PETSC_COMM_SELF, PETSC_ERR_SUP, "Reverse Cuthill-McKee takes at most 2^30 entries a process");
  PetscCall(download(ex, A.ptr, std::int64_t{A.rows} + 1, ptr));
  PetscCall(download(ex, A.col, A.nnz, col));
  symmetrise(ptr, col);
  PetscCall(rcm_order(ptr, col, host_order));
  PetscCall(memory_from_host(ex, order, host_order.data(), host_order.size() * sizeof(int)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

template <class Ex> PetscErrorCode order_block(Ex &ex, OrderingKind kind, CsrView<double> A, const int *part, Array<int, Ex> &order)
{
  Array<int, Ex> colour;
  int colours = 0;

  PetscFunctionBegin;
  PetscCheck(A.rows == A.cols, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ, "An order of the rows and columns of a matrix of %d x %d", A.rows,
             A.cols);
  PetscCall(order.allocate(ex, A.rows));
  if (kind == OrderingKind::rcm && A.nnz > 0)
    PetscCall(order_by_rcm(ex, A, order.data()));
  else
    PetscCall(count_up(ex, A.rows, order.data()));
  if (kind == OrderingKind::multicolor) {
    PetscCall(colour.allocate(ex, A.rows));
    PetscCall(colour_rows(ex, A, part, colour.data(), &colours));
  }
  if (part || colours > 0) PetscCall(sort_by_part_and_colour(ex, A.rows, part, colour.data(), colours, order.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

AMGKIT_INSTANTIATE(order_block)
} // namespace amgkit
