#include "sparse/spgemm/windowed_product.hpp"

#include "sparse/formats/spmv.hpp"

#include <algorithm>

namespace amgkit
{
namespace
{
// What of a window's values is there already, from its first entry on, when the one before it has been computed: they can be moved where
// they do not overlap with themselves.
std::int64_t kept(const ProductWindow &before, const ProductWindow &window)
{
  const std::int64_t by = std::int64_t{window.first} - before.first, stay = std::int64_t{std::min(before.end, window.end)} - window.first;
  return by >= 0 && stay > 0 && (stay <= by || by == 0) ? stay : 0;
}

std::int64_t largest(const std::vector<ProductWindow> &windows)
{
  std::int64_t most = 0;
  for (const ProductWindow &window : windows) most = std::max(most, window.entries());
  return most;
}

// The window of each slice of R that has entries: its rows of A P and their entries.
template <class Ex>
PetscErrorCode place_windows(Ex &ex, const CsrView<double> &R, std::int64_t most, const CsrView<double> &AP,
                             std::vector<ProductWindow> &windows)
{
  std::vector<RowSlice> slices;
  std::vector<int> rows, entries;
  Array<int, Ex> row, entry;

  PetscFunctionBegin;
  windows.clear();
  PetscCall(cut_rows(ex, R, most, slices));
  for (const RowSlice &slice : slices) {
    ProductWindow window;
    if (slice.entries() == 0) continue;
    PetscCall(span_of_columns(ex, R, slice, &window.of_AP.first, &window.of_AP.end));
    window.of_C.first = slice.begin;
    window.of_C.end = slice.end;
    rows.insert(rows.end(), {window.of_AP.first, window.of_AP.end});
    windows.push_back(window);
  }
  PetscCall(upload(ex, rows, row));
  PetscCall(entry.allocate(ex, row.size()));
  PetscCall(gather(ex, row.size(), row.data(), AP.ptr, entry.data()));
  PetscCall(download(ex, entry.data(), entry.size(), entries));
  for (std::size_t s = 0; s < windows.size(); s++) {
    windows[s].first = entries[2 * s];
    windows[s].end = entries[2 * s + 1];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

std::int64_t entries_computed(const std::vector<ProductWindow> &windows)
{
  std::int64_t computed = 0;
  for (std::size_t s = 0; s < windows.size(); s++) computed += windows[s].entries() - (s > 0 ? kept(windows[s - 1], windows[s]) : 0);
  return computed;
}

template <class Ex>
PetscErrorCode find_windows(Ex &ex, std::int64_t bytes, CsrView<double> R, CsrView<double> AP, const SpgemmPlan<Ex> &plan_AP,
                            const SpgemmPlan<Ex> &plan_C, std::vector<ProductWindow> &windows)
{
  std::int64_t slices = (AP.nnz * static_cast<std::int64_t>(sizeof(double)) - 1) / std::max<std::int64_t>(bytes, 1) + 1;
  std::vector<SpgemmPart> of_C, of_AP;

  PetscFunctionBegin;
  windows.clear();
  if (R.nnz == 0 || AP.nnz == 0) PetscFunctionReturn(PETSC_SUCCESS);
  for (; slices > 1; slices /= 2) {
    PetscCall(place_windows(ex, R, slices, AP, windows));
    if (2 * largest(windows) <= AP.nnz && entries_computed(windows) <= AP.nnz) break;
  }
  if (slices <= 1) {
    ProductWindow whole;
    whole.of_C.end = R.rows;
    whole.of_AP.end = AP.rows;
    whole.end = static_cast<int>(AP.nnz);
    windows.assign(1, whole);
  }
  for (std::size_t s = 0; s < windows.size(); s++) {
    SpgemmPart computed = windows[s].of_AP;
    if (s > 0 && kept(windows[s - 1], windows[s]) > 0) computed.first = std::min(windows[s - 1].of_AP.end, computed.end);
    of_C.push_back(windows[s].of_C);
    of_AP.push_back(computed);
  }
  PetscCall(find_parts(ex, plan_C, of_C));
  PetscCall(find_parts(ex, plan_AP, of_AP));
  for (std::size_t s = 0; s < windows.size(); s++) {
    windows[s].of_C = of_C[s];
    windows[s].of_AP = of_AP[s];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex>
PetscErrorCode windowed_product(Ex &ex, const std::vector<ProductWindow> &windows, CsrView<double> R, CsrView<double> A, CsrView<double> P,
                                CsrView<double> AP, const SpgemmPlan<Ex> &plan_AP, const SpgemmPlan<Ex> &plan_C, Csr<double, Ex> &C,
                                const GivenRows &given)
{
  Array<double, Ex> values;

  PetscFunctionBegin;
  PetscCall(values.allocate(ex, largest(windows)));
  for (std::size_t s = 0; s < windows.size(); s++) {
    const ProductWindow &window = windows[s];
    if (s > 0) {
      const std::int64_t by = window.first - windows[s - 1].first, stay = kept(windows[s - 1], window);
      if (by > 0) PetscCall(memory_copy(ex, values.data(), values.data() + by, static_cast<std::size_t>(stay) * sizeof(double)));
    }
    double *first = values.data() - window.first; // entry 0's place, were it in this window
    AP.val = first;
    PetscCall(spgemm_numeric(ex, plan_AP, window.of_AP, A, P, {AP.rows, AP.cols, AP.ptr, AP.col, first}));
    PetscCall(spgemm_put_values(ex, given, window.of_AP.first, window.of_AP.end, AP.ptr, first));
    PetscCall(spgemm_numeric(ex, plan_C, window.of_C, R, AP, {C.rows, C.cols, C.ptr.data(), C.col.data(), C.val.data()}));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

using View = CsrView<double>;
AMGKIT_INSTANTIATE(find_windows)
AMGKIT_INSTANTIATE(windowed_product)
} // namespace amgkit
