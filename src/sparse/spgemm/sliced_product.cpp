#include "sparse/spgemm/sliced_product.hpp"

#include <algorithm>
#include <cmath>

namespace amgkit
{
namespace
{
// A slice of R, its columns numbered anew, and the rows of A P that it is multiplied with.
template <class Ex> class Part {
public:
  Csr<double, Ex> AP;

  // Without values of A P, unless the back end wants arrays for them.
  PetscErrorCode form(Ex &ex, SpgemmOptions options, const RowSlice &rows, bool with_values, CsrView<double> R, CsrView<double> A,
                      CsrView<double> P)
  {
    Array<int, Ex> columns;
    Csr<double, Ex> rows_of_A;
    SpgemmPlan<Ex> plan;

    PetscFunctionBegin;
    PetscCall(compress_columns(ex, R, rows, slice_, columns));
    val_ = R.val + rows.first_entry;
    PetscCall(copy_rows(ex, A, columns, with_values || options.kind != SpgemmKind::native, rows_of_A));
    columns.release();
    options.with_values = with_values;
    PetscCall(with_values ? spgemm_product(ex, options, rows_of_A.view(), P, AP, plan)
                          : spgemm_symbolic(ex, options, rows_of_A.view(), P, AP, plan));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  CsrView<double> R() const
  {
    CsrView<double> view = slice_.view();
    view.val = val_;
    return view;
  }

private:
  Csr<double, Ex> slice_;
  const double *val_ = nullptr;
};

// C's row offsets for the slice, whose first entry is known, and its columns.
template <class Ex>
PetscErrorCode find_slice(Ex &ex, SpgemmOptions options, CsrView<double> R, CsrView<double> A, CsrView<double> P, Csr<double, Ex> &C,
                          typename SlicedPlan<Ex>::Slice &slice, Array<int, Ex> &col)
{
  Part<Ex> part;
  Csr<double, Ex> rows;
  SpgemmPlan<Ex> plan;

  PetscFunctionBegin;
  options.with_values = false;
  PetscCall(part.form(ex, options, slice.rows, false, R, A, P));
  PetscCall(spgemm_symbolic(ex, options, part.R(), part.AP.view(), rows, plan));
  slice.entries = rows.col.size();
  PetscCheck(slice.first + slice.entries <= INT32_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "More than 2^31 - 1 entries on one process: use more processes");
  PetscCall(shift_offsets(ex, rows.ptr.size(), rows.ptr.data(), static_cast<int>(slice.first), C.ptr.data() + slice.rows.begin));
  col = std::move(rows.col);
  if (options.kind == SpgemmKind::native) slice.plan = std::move(plan);
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex>
PetscErrorCode fill_slice(Ex &ex, const SpgemmOptions &options, CsrView<double> R, CsrView<double> A, CsrView<double> P,
                          const typename SlicedPlan<Ex>::Slice &slice, Csr<double, Ex> &C)
{
  Part<Ex> part;
  Csr<double, Ex> rows;
  SpgemmPlan<Ex> plan;

  PetscFunctionBegin;
  PetscCall(part.form(ex, options, slice.rows, true, R, A, P));
  if (options.kind == SpgemmKind::native) {
    const SpgemmRows here = {slice.rows.rows(), C.cols, C.ptr.data() + slice.rows.begin, C.col.data(), C.val.data()};
    PetscCall(spgemm_numeric(ex, slice.plan, part.R(), part.AP.view(), here));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(spgemm_product(ex, options, part.R(), part.AP.view(), rows, plan));
  PetscCheck(rows.val.size() == slice.entries, PETSC_COMM_SELF, PETSC_ERR_PLIB, "A product's pattern has changed");
  PetscCall(memory_copy(ex, C.val.data() + slice.first, rows.val.data(), rows.val.bytes()));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

template <class Ex>
PetscErrorCode slices_of_product(Ex &ex, const SpgemmOptions &options, std::int64_t entries_of_A, const CsrView<double> &P,
                                 std::int64_t *slices)
{
  const double bytes_of_A = 12.0 * static_cast<double>(entries_of_A), bytes_of_AP = bytes_of_A * P.average() / 2;
  double bytes = 0;

  PetscFunctionBegin;
  *slices = 1;
  PetscCall(memory_for_product(ex, options.product_bytes, bytes_of_AP, &bytes));
  if (bytes_of_AP > bytes) *slices = static_cast<std::int64_t>(std::min(std::ceil((bytes_of_A + bytes_of_AP) / bytes), 1.0 * INT32_MAX));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex>
PetscErrorCode sliced_product_symbolic(Ex &ex, const SpgemmOptions &options, std::int64_t slices, CsrView<double> R, CsrView<double> A,
                                       CsrView<double> P, Csr<double, Ex> &C, SlicedPlan<Ex> &plan)
{
  std::vector<RowSlice> cut;
  std::vector<Array<int, Ex>> cols;
  std::int64_t entries = 0;

  PetscFunctionBegin;
  PetscCheck(R.cols == A.rows && A.cols == P.rows, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ, "A product of %d x %d, %d x %d and %d x %d entries",
             R.rows, R.cols, A.rows, A.cols, P.rows, P.cols);
  plan = {};
  plan.options = options;
  C = {};
  C.rows = R.rows;
  C.cols = P.cols;
  PetscCall(C.ptr.allocate(ex, std::int64_t{C.rows} + 1));
  PetscCall(cut_rows(ex, R, slices, cut));
  plan.slices.resize(cut.size());
  cols.resize(cut.size());
  for (std::size_t s = 0; s < cut.size(); s++) {
    plan.slices[s].rows = cut[s];
    plan.slices[s].first = entries;
    PetscCall(find_slice(ex, options, R, A, P, C, plan.slices[s], cols[s]));
    entries += plan.slices[s].entries;
  }
  PetscCall(C.col.allocate(ex, entries));
  for (std::size_t s = 0; s < cut.size(); s++) {
    PetscCall(memory_copy(ex, C.col.data() + plan.slices[s].first, cols[s].data(), cols[s].bytes()));
    cols[s].release();
  }
  PetscCall(C.val.allocate(ex, entries));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex>
PetscErrorCode sliced_product_numeric(Ex &ex, const SlicedPlan<Ex> &plan, CsrView<double> R, CsrView<double> A, CsrView<double> P,
                                      Csr<double, Ex> &C)
{
  PetscFunctionBegin;
  for (const auto &slice : plan.slices) PetscCall(fill_slice(ex, plan.options, R, A, P, slice, C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

using View = CsrView<double>;
AMGKIT_INSTANTIATE(slices_of_product)
AMGKIT_INSTANTIATE(sliced_product_symbolic)
AMGKIT_INSTANTIATE(sliced_product_numeric)
} // namespace amgkit
