#include "sparse/rows/search.hpp"
#include "sparse/spgemm/sliced_blocks.hpp"

namespace amgkit
{
template <class Ex> PetscErrorCode cut_rows(Ex &ex, const MarkedRows &rows, int slices, std::vector<RowCut> &cuts)
{
  const CsrView<double> diag = rows.diag, offd = rows.offd;
  Array<RowCut, Ex> all;

  PetscFunctionBegin;
  PetscCall(all.allocate(ex, std::int64_t{slices} + 1));
  RowCut *cut = all.data();
  PetscCall(for_each(ex, std::int64_t{slices} + 1, [=] AMGKIT_FN(std::int64_t s) {
    const int goal = static_cast<int>(s * diag.nnz / slices);
    const int row = s == slices ? diag.rows : diag.nnz > 0 ? lower_bound(diag.ptr, 0, diag.rows, goal) : 0;
    cut[s] = {row, diag.nnz > 0 ? diag.ptr[row] : 0, offd.nnz > 0 ? offd.ptr[row] : 0};
  }));
  PetscCall(download(ex, static_cast<const RowCut *>(cut), all.size(), cuts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex>
PetscErrorCode count_terms(Ex &ex, CsrView<double> A, const unsigned char *mark, unsigned char bits, CsrView<double> B, int before,
                           std::int64_t *terms)
{
  const auto terms_of = [=] AMGKIT_FN(std::int64_t k) {
    if (mark && (mark[k] & bits) == 0) return std::int64_t{0};
    const Segment row = entries_of(B, before + A.col[k]);
    return std::int64_t{1} + row.end - row.begin;
  };
  return reduce<std::int64_t>(ex, A.nnz, terms_of, 0, Sum{}, terms);
}

namespace
{
template <class Ex>
PetscErrorCode slice_block(Ex &ex, const CsrView<double> &A, int row, int rows, int begin, int end, Array<int, Ex> &ptr,
                           CsrView<double> &slice)
{
  PetscFunctionBegin;
  slice = {rows, A.cols, end - begin};
  if (slice.nnz == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(ptr.allocate(ex, std::int64_t{rows} + 1));
  PetscCall(shift_offsets(ex, ptr.size(), A.ptr + row, -begin, ptr.data()));
  slice.ptr = ptr.data();
  slice.col = A.col + begin;
  if (A.val) slice.val = A.val + begin;
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

template <class Ex>
PetscErrorCode slice_rows(Ex &ex, const MarkedRows &all, const RowCut &begin, const RowCut &end, Array<int, Ex> &ptr,
                          Array<int, Ex> &ghost_ptr, MarkedRows &slice)
{
  const int rows = end.row - begin.row;

  PetscFunctionBegin;
  PetscCall(slice_block(ex, all.diag, begin.row, rows, begin.diag, end.diag, ptr, slice.diag));
  PetscCall(slice_block(ex, all.offd, begin.row, rows, begin.offd, end.offd, ghost_ptr, slice.offd));
  slice.mark = all.mark ? all.mark + begin.diag : nullptr;
  slice.ghost_mark = all.ghost_mark ? all.ghost_mark + begin.offd : nullptr;
  slice.first = all.first + begin.row;
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode join_rows(Ex &ex, std::vector<Csr<double, Ex>> &parts, Csr<double, Ex> &whole)
{
  std::int64_t rows = 0, entries = 0, values = 0;

  PetscFunctionBegin;
  if (parts.size() == 1) {
    whole = std::move(parts[0]);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (const Csr<double, Ex> &part : parts) {
    rows += part.rows;
    entries += part.col.size();
    values += part.val.size();
  }
  PetscCheck(entries <= INT32_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "More than 2^31 - 1 entries on one process: use more processes");
  whole.rows = static_cast<int>(rows);
  whole.cols = parts[0].cols;
  PetscCall(whole.ptr.allocate(ex, rows + 1));
  PetscCall(whole.col.allocate(ex, entries));
  PetscCall(whole.val.allocate(ex, values));
  rows = entries = values = 0;
  for (Csr<double, Ex> &part : parts) {
    PetscCall(shift_offsets(ex, part.ptr.size(), part.ptr.data(), static_cast<int>(entries), whole.ptr.data() + rows));
    PetscCall(memory_copy(ex, whole.col.data() + entries, part.col.data(), part.col.bytes()));
    PetscCall(memory_copy(ex, whole.val.data() + values, part.val.data(), part.val.bytes()));
    rows += part.rows;
    entries += part.col.size();
    values += part.val.size();
    part = {};
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

using Space = AMGKIT_SPACE;
template PetscErrorCode cut_rows(Space &, const MarkedRows &, int, std::vector<RowCut> &);
AMGKIT_INSTANTIATE(count_terms)
AMGKIT_INSTANTIATE(slice_rows)
AMGKIT_INSTANTIATE(join_rows)
} // namespace amgkit
