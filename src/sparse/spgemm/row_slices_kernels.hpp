#include "sparse/rows/search.hpp"
#include "sparse/spgemm/row_slices.hpp"

namespace amgkit
{
template <class Ex> PetscErrorCode cut_rows(Ex &ex, CsrView<double> A, std::int64_t most, std::vector<RowSlice> &slices)
{
  const std::int64_t n = A.nnz > 0 ? std::clamp<std::int64_t>(most, 1, A.rows) : 1;
  Array<int, Ex> cuts;
  std::vector<int> cut;

  PetscFunctionBegin;
  slices.clear();
  PetscCall(cuts.allocate(ex, 2 * (n + 1)));
  int *row = cuts.data(), *entry = row + n + 1;
  PetscCall(for_each(ex, n + 1, [=] AMGKIT_FN(std::int64_t s) {
    const int here = s == 0 ? 0 : s == n ? A.rows : lower_bound(A.ptr, 0, A.rows, static_cast<int>(A.nnz * s / n));
    row[s] = here;
    entry[s] = A.nnz > 0 ? A.ptr[here] : 0;
  }));
  PetscCall(download(ex, cuts.data(), cuts.size(), cut));
  for (std::int64_t s = 0, begin = 0; s < n; s++) {
    const auto b = static_cast<std::size_t>(begin), e = static_cast<std::size_t>(s + 1), entries = static_cast<std::size_t>(n + 1);
    if (cut[b] == cut[e] && n > 1) continue; // in the middle of a long row
    slices.push_back({cut[b], cut[e], cut[b + entries], cut[e + entries]});
    begin = s + 1;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Columns ascend within a row.
template <class Ex> PetscErrorCode span_of_columns(Ex &ex, CsrView<double> A, const RowSlice &range, int *first, int *end)
{
  const int *ptr = A.ptr + range.begin, *col = A.col;
  int last = -1;

  PetscFunctionBegin;
  PetscCall(reduce<int>(
      ex, range.rows(), [=] AMGKIT_FN(std::int64_t i) { return ptr[i] < ptr[i + 1] ? col[ptr[i]] : INT32_MAX; }, INT32_MAX, Min{}, first));
  PetscCall(reduce<int>(
      ex, range.rows(), [=] AMGKIT_FN(std::int64_t i) { return ptr[i] < ptr[i + 1] ? col[ptr[i + 1] - 1] : -1; }, -1, Max{}, &last));
  if (last < 0) *first = 0;
  *end = last + 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex>
PetscErrorCode compress_columns(Ex &ex, CsrView<double> A, const RowSlice &range, Csr<double, Ex> &slice, Array<int, Ex> &columns)
{
  const std::int64_t n = range.entries();
  const int *from_ptr = A.ptr, *from_col = A.col + range.first_entry;
  const int begin = range.begin, first = range.first_entry;
  Array<int, Ex> places;
  std::int64_t count = 0;
  int lowest = 0, highest = -1;

  PetscFunctionBegin;
  PetscCall(reduce<int>(
      ex, n, [=] AMGKIT_FN(std::int64_t k) { return from_col[k]; }, INT32_MAX, Min{}, &lowest));
  PetscCall(reduce<int>(
      ex, n, [=] AMGKIT_FN(std::int64_t k) { return from_col[k]; }, -1, Max{}, &highest));
  const std::int64_t width = n > 0 ? std::int64_t{highest} - lowest + 1 : 0;
  PetscCall(places.allocate(ex, width + 1));
  PetscCall(memory_zero(ex, places.data(), places.bytes()));
  int *place = places.data();
  PetscCall(for_each(ex, n, [=] AMGKIT_FN(std::int64_t k) { atomic_store(&place[from_col[k] - lowest], 1); }));
  PetscCall(exclusive_scan(ex, width, place, &count));
  PetscCall(columns.allocate(ex, count));
  int *list = columns.data();
  PetscCall(for_each(ex, width, [=] AMGKIT_FN(std::int64_t j) {
    if (place[j] < place[j + 1]) list[place[j]] = lowest + static_cast<int>(j);
  }));
  slice = {};
  slice.rows = range.rows();
  slice.cols = static_cast<int>(count);
  PetscCall(slice.ptr.allocate(ex, std::int64_t{slice.rows} + 1));
  PetscCall(slice.col.allocate(ex, n));
  int *ptr = slice.ptr.data(), *col = slice.col.data();
  PetscCall(for_each(ex, slice.ptr.size(), [=] AMGKIT_FN(std::int64_t i) { ptr[i] = n > 0 ? from_ptr[begin + i] - first : 0; }));
  PetscCall(for_each(ex, n, [=] AMGKIT_FN(std::int64_t k) { col[k] = place[from_col[k] - lowest]; }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode copy_rows(Ex &ex, CsrView<double> A, const Array<int, Ex> &rows, bool with_values, Csr<double, Ex> &some)
{
  const int *row = rows.data();
  std::int64_t entries = 0;

  PetscFunctionBegin;
  some = {};
  some.rows = static_cast<int>(rows.size());
  some.cols = A.cols;
  PetscCall(some.ptr.allocate(ex, rows.size() + 1));
  int *ptr = some.ptr.data();
  PetscCall(for_each(ex, rows.size(), [=] AMGKIT_FN(std::int64_t t) {
    const Segment from = entries_of(A, row[t]);
    ptr[t] = from.end - from.begin;
  }));
  PetscCall(exclusive_scan(ex, rows.size(), ptr, &entries));
  PetscCall(some.col.allocate(ex, entries));
  if (with_values) PetscCall(some.val.allocate(ex, entries));
  int *col = some.col.data();
  double *val = some.val.data();
  PetscCall(for_rows(ex, rows.size(), A.average(), [=] AMGKIT_FN(auto team, std::int64_t t) {
    const Segment from = entries_of(A, row[t]);
    for (int k : team.share(from.begin, from.end)) {
      const int to = ptr[t] + k - from.begin;
      col[to] = A.col[k];
      if (val) val[to] = A.val[k];
    }
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode shift_offsets(Ex &ex, std::int64_t n, const int *from, int by, int *to)
{
  return for_each(ex, n, [=] AMGKIT_FN(std::int64_t i) { to[i] = from[i] + by; });
}

AMGKIT_INSTANTIATE(cut_rows)
AMGKIT_INSTANTIATE(span_of_columns)
AMGKIT_INSTANTIATE(compress_columns)
AMGKIT_INSTANTIATE(copy_rows)
AMGKIT_INSTANTIATE(shift_offsets)
} // namespace amgkit
