#include "sparse/stored_matrix.hpp"

namespace amgkit
{
namespace
{
// Calls f with what the cycle reads: a view of the stored format, or the compressed rows.
template <class Format, class F> PetscErrorCode with_view(const Format &format, CsrView<double> A, F f)
{
  return std::visit(
      [&](const auto &stored) {
        if constexpr (std::is_same_v<std::decay_t<decltype(stored)>, std::monostate>)
          return f(A);
        else
          return f(stored.view());
      },
      format);
}
} // namespace

template <class Ex> PetscErrorCode StoredMatrix<Ex>::create(Ex &ex, CsrView<double> A, Storage storage, Csr<double, Ex> *memory)
{
  bool fits = false, kept = false;

  PetscFunctionBegin;
  format_ = std::monostate{};
  single_ = false;
  if (!Ex::sliced_rows) PetscFunctionReturn(PETSC_SUCCESS);
  auto &in_single = format_.template emplace<1>();
  PetscCall(sell_pattern(ex, A, in_single, &fits));
  if (!fits) {
    format_ = std::monostate{};
    if (storage == Storage::in_single) PetscCall(representable_in_single(ex, A, &single_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (memory) memory->col.release();
  if (storage == Storage::in_single) PetscCall(sell_fill(ex, A, in_single, &kept));
  single_ = storage == Storage::in_single && kept;
  if (!single_) {
    Sell<double, Ex> in_double = {in_single.rows,
                                  std::move(in_single.start),
                                  std::move(in_single.base),
                                  std::move(in_single.high_start),
                                  std::move(in_single.low),
                                  std::move(in_single.high),
                                  {}};
    PetscCall(sell_fill(ex, A, format_.template emplace<2>(std::move(in_double)), &kept));
  }
  if (memory) memory->val.release();
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode StoredMatrix<Ex>::entries(Ex &ex, const int *ptr, int *col, double *val) const
{
  PetscFunctionBegin;
  if (const auto *stored = std::get_if<1>(&format_)) PetscCall(sell_entries(ex, stored->view(), ptr, col, val));
  if (const auto *stored = std::get_if<2>(&format_)) PetscCall(sell_entries(ex, stored->view(), ptr, col, val));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode StoredMatrix<Ex>::refresh(Ex &ex, CsrView<double> A, Storage storage)
{
  bool kept = true;

  PetscFunctionBegin;
  if (!Ex::sliced_rows) PetscFunctionReturn(PETSC_SUCCESS);
  if (auto *stored = std::get_if<1>(&format_)) {
    PetscCall(sell_fill(ex, A, *stored, &kept));
  } else {
    if (storage == Storage::in_single) PetscCall(representable_in_single(ex, A, &single_));
    auto *in_double = std::get_if<2>(&format_);
    kept = !in_double || !single_;
    if (in_double && kept) PetscCall(sell_fill(ex, A, *in_double, &kept));
  }
  if (!kept) PetscCall(create(ex, A, storage)); // the precision changes
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> const char *StoredMatrix<Ex>::description() const
{
  return format_.index() == 1 ? "SELL, single" : format_.index() == 2 ? "SELL, double" : "CSR, double";
}

template <class Ex> std::size_t StoredMatrix<Ex>::bytes() const
{
  if (const auto *stored = std::get_if<1>(&format_)) return stored->bytes();
  if (const auto *stored = std::get_if<2>(&format_)) return stored->bytes();
  return 0;
}

template <class Ex> template <class V> PetscErrorCode StoredMatrix<Ex>::multiply(Ex &ex, CsrView<double> A, const V *x, V *y) const
{
  return with_view(format_, A, [&](auto view) { return spmv(ex, view, x, y); });
}

template <class Ex>
template <class V>
PetscErrorCode StoredMatrix<Ex>::residual(Ex &ex, CsrView<double> A, const V *b, const V *x, V *r) const
{
  return with_view(format_, A, [&](auto view) { return amgkit::residual(ex, view, b, x, r); });
}

template <class Ex>
template <class D, class V>
PetscErrorCode StoredMatrix<Ex>::relax(Ex &ex, CsrView<double> A, const D *d, RelaxStep step, const V *b, const V *x,
                                       OptionalVector<V> previous, V *y) const
{
  return with_view(format_, A, [&](auto view) { return amgkit::relax(ex, view, d, step, b, x, previous, y); });
}

#define INSTANTIATE_RELAX(Ex, D, V)                                                                                                        \
  template PetscErrorCode StoredMatrix<Ex>::relax(Ex &, CsrView<double>, const D *, RelaxStep, const V *, const V *, OptionalVector<V>,    \
                                                  V *) const;
#define INSTANTIATE_VECTORS(Ex, V)                                                                                                         \
  template PetscErrorCode StoredMatrix<Ex>::multiply(Ex &, CsrView<double>, const V *, V *) const;                                         \
  template PetscErrorCode StoredMatrix<Ex>::residual(Ex &, CsrView<double>, const V *, const V *, V *) const;
#define INSTANTIATE(Ex)                                                                                                                    \
  template class StoredMatrix<Ex>;                                                                                                         \
  INSTANTIATE_VECTORS(Ex, float)                                                                                                           \
  INSTANTIATE_VECTORS(Ex, double)                                                                                                          \
  INSTANTIATE_RELAX(Ex, float, float)                                                                                                      \
  INSTANTIATE_RELAX(Ex, float, double)                                                                                                     \
  INSTANTIATE_RELAX(Ex, double, double)
AMGKIT_FOR_ALL_SPACES(INSTANTIATE)
#undef INSTANTIATE
#undef INSTANTIATE_VECTORS
#undef INSTANTIATE_RELAX
} // namespace amgkit
