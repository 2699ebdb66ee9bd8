#include "sparse/formats/stored_matrix.hpp"

#include "sparse/rows/block_patterns.hpp"

#include <utility>

namespace amgkit
{
namespace
{
// Calls f with what the cycle reads: a view of the stored format, or the compressed rows.
template <class Ex, class Format, class F> PetscErrorCode with_view(const Ex &, const Format &format, CsrView<double> A, F f)
{
  return std::visit(
      [&](const auto &stored) {
        using Stored = std::decay_t<decltype(stored)>;
        if constexpr (std::is_same_v<Stored, BlockColumns<Ex>> && Ex::one_by_one)
          return f(stored.view(A));
        else if constexpr (std::is_same_v<Stored, std::monostate> || std::is_same_v<Stored, BlockColumns<Ex>>)
          return f(A);
        else
          return f(stored.view());
      },
      format);
}

// New values. *kept: the format stays. Not so where its precision changes, as from double where all entries are representable in single and
// that is asked for, and where a slice is constant no more.
template <class Ex> PetscErrorCode refill(Ex &, CsrView<double>, bool, std::monostate &, bool *) { return PETSC_SUCCESS; }
template <class Ex> PetscErrorCode refill(Ex &, CsrView<double>, bool, BlockColumns<Ex> &, bool *) { return PETSC_SUCCESS; }
template <class Ex> PetscErrorCode refill(Ex &ex, CsrView<double> A, bool, Sell<float, Ex> &stored, bool *kept)
{
  return sell_fill(ex, A, SellValues::perhaps_others, stored, kept);
}
template <class Ex> PetscErrorCode refill(Ex &ex, CsrView<double> A, bool, BlockSell<float, Ex> &stored, bool *kept)
{
  return block_sell_fill(ex, A, stored, kept);
}
template <class Ex> PetscErrorCode refill(Ex &ex, CsrView<double> A, bool single, Sell<double, Ex> &stored, bool *kept)
{
  *kept = !single;
  return single ? PETSC_SUCCESS : sell_fill(ex, A, SellValues::perhaps_others, stored, kept);
}
template <class Ex> PetscErrorCode refill(Ex &ex, CsrView<double> A, bool single, BlockSell<double, Ex> &stored, bool *kept)
{
  *kept = !single;
  return single ? PETSC_SUCCESS : block_sell_fill(ex, A, stored, kept);
}
} // namespace

// As blocks, where these fit.
template <class Ex> template <class T> PetscErrorCode StoredMatrix<Ex>::store_blocks(Ex &ex, CsrView<double> A, bool *fits, bool *kept)
{
  PetscFunctionBegin;
  PetscCall(block_sell_create(ex, A, block_, format_.template emplace<BlockSell<T, Ex>>(), fits, kept));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex>
template <class T>
PetscErrorCode StoredMatrix<Ex>::store_rows(Ex &ex, CsrView<double> A, SellPattern<Ex> &pattern, bool *kept)
{
  auto &rows = format_.template emplace<Sell<T, Ex>>();

  PetscFunctionBegin;
  static_cast<SellPattern<Ex> &>(rows) = std::move(pattern);
  PetscCall(sell_fill(ex, A, SellValues::known, rows, kept));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// On a plain host; elsewhere nothing.
template <class Ex> PetscErrorCode StoredMatrix<Ex>::store_block_columns(Ex &ex, CsrView<double> A)
{
  const BlockSize block = {block_.size, block_.cols};

  PetscFunctionBegin;
  if constexpr (Ex::one_by_one) {
    bool fits = false;
    BlockColumns<Ex> columns = {block, {}};
    if (!block_csr_has(block) || A.nnz == 0) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(find_blocks(ex, A, block.rows, block.cols, columns.pattern, &fits));
    if (fits) format_ = std::move(columns);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex>
PetscErrorCode StoredMatrix<Ex>::create(Ex &ex, CsrView<double> A, Storage storage, BlockForm block, Csr<double, Ex> *memory, SellForm form)
{
  bool fits = false, kept = false;

  PetscFunctionBegin;
  std::optional<SellPlan<Ex>> ahead = std::exchange(ahead_, std::nullopt);
  format_ = std::monostate{};
  block_ = block;
  form_ = form;
  single_ = false;
  if (!Ex::sliced_rows) PetscFunctionReturn(store_block_columns(ex, A));
  const bool in_single = storage == Storage::in_single;
  if (block_sell_has(block.size)) {
    if (in_single) PetscCall(store_blocks<float>(ex, A, &fits, &kept));
    single_ = fits && kept;
    if (!single_ && (fits || !in_single)) PetscCall(store_blocks<double>(ex, A, &fits, &kept));
    if (fits) PetscFunctionReturn(PETSC_SUCCESS);
  }
  SellPattern<Ex> pattern;
  if (ahead && ahead->form == form_)
    PetscCall(planned_sell_pattern(ex, A, std::move(*ahead), pattern, &fits));
  else
    PetscCall(sell_pattern(ex, A, form_, pattern, &fits));
  if (!fits) {
    format_ = std::monostate{};
    if (in_single) PetscCall(representable_in_single(ex, A, &single_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (memory) memory->col.release();
  if (in_single) PetscCall(store_rows<float>(ex, A, pattern, &single_));
  if (in_single && !single_) pattern = std::move(static_cast<SellPattern<Ex> &>(std::get<Sell<float, Ex>>(format_)));
  if (!single_) PetscCall(store_rows<double>(ex, A, pattern, &kept));
  if (memory) memory->val.release();
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode StoredMatrix<Ex>::look_ahead(Ex &ex, CsrView<double> A, BlockForm block, bool *pays)
{
  SellPlan<Ex> plan;

  PetscFunctionBegin;
  *pays = !Ex::sliced_rows && block_csr_has({block.size, block.cols});
  if (!Ex::sliced_rows || block_sell_has(block.size)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(sell_plan(ex, A, SellForm::by_bytes, plan));
  *pays = plan.all_constant();
  ahead_ = std::move(plan);
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode StoredMatrix<Ex>::entries(Ex &ex, const int *ptr, int *col, double *val) const
{
  PetscFunctionBegin;
  if (const auto *stored = std::get_if<Sell<float, Ex>>(&format_)) PetscCall(sell_entries(ex, stored->view(), ptr, col, val));
  if (const auto *stored = std::get_if<Sell<double, Ex>>(&format_)) PetscCall(sell_entries(ex, stored->view(), ptr, col, val));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode StoredMatrix<Ex>::refresh(Ex &ex, CsrView<double> A, Storage storage)
{
  const bool in_single = std::holds_alternative<Sell<float, Ex>>(format_) || std::holds_alternative<BlockSell<float, Ex>>(format_);
  bool kept = true;

  PetscFunctionBegin;
  if (!Ex::sliced_rows) PetscFunctionReturn(PETSC_SUCCESS);
  ahead_.reset(); // it is of other values
  if (!in_single && storage == Storage::in_single) PetscCall(representable_in_single(ex, A, &single_));
  PetscCall(std::visit([&](auto &stored) { return refill(ex, A, single_, stored, &kept); }, format_));
  if (!kept) PetscCall(create(ex, A, storage, block_, nullptr, form_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> const SellPattern<Ex> *StoredMatrix<Ex>::rows() const
{
  if (const auto *in_single = std::get_if<Sell<float, Ex>>(&format_)) return in_single;
  return std::get_if<Sell<double, Ex>>(&format_);
}

template <class Ex> const SellPattern<Ex> *StoredMatrix<Ex>::nodes() const
{
  if (const auto *in_single = std::get_if<BlockSell<float, Ex>>(&format_)) return &in_single->nodes;
  const auto *in_double = std::get_if<BlockSell<double, Ex>>(&format_);
  return in_double ? &in_double->nodes : nullptr;
}

template <class Ex> const char *StoredMatrix<Ex>::description() const
{
  static const char *const names[][2] = {{"CSR, double", "block CSR, double"},
                                         {"block SELL, double", "block SELL, single"},
                                         {"SELL, double", "SELL, single"},
                                         {"sorted SELL, double", "sorted SELL, single"},
                                         {"stencil SELL, double", "stencil SELL, single"},
                                         {"constant SELL, double", "constant SELL, single"},
                                         {"partly constant block SELL, double", "partly constant block SELL, single"},
                                         {"constant block SELL, double", "constant block SELL, single"}};
  if (const SellPattern<Ex> *blocks = nodes()) return names[blocks->all_constant() ? 7 : blocks->constant.size() > 0 ? 6 : 1][single_];
  const SellPattern<Ex> *pattern = rows();
  if (!pattern) return names[0][block_columns() != nullptr];
  const bool offsets = pattern->mask.size() > 0 || pattern->constant.size() > 0;
  return names[pattern->all_constant() ? 5 : offsets ? 4 : pattern->sorted() ? 3 : 2][single_];
}

template <class Ex> std::size_t StoredMatrix<Ex>::bytes() const
{
  return std::visit(
      [](const auto &stored) -> std::size_t {
        if constexpr (std::is_same_v<std::decay_t<decltype(stored)>, std::monostate>)
          return 0;
        else
          return stored.bytes();
      },
      format_);
}

template <class Ex> double StoredMatrix<Ex>::bytes_read(const CsrView<double> &A) const
{
  const auto entries = static_cast<double>(A.nnz), stored = static_cast<double>(bytes());
  if (block_columns()) return sizeof(double) * entries + stored;
  return stored > 0 ? stored : (sizeof(double) + sizeof(int)) * entries;
}

template <class Ex>
template <class V, class... S>
PetscErrorCode StoredMatrix<Ex>::multiply(Ex &ex, CsrView<double> A, const V *x, V *y, const S &...sums) const
{
  return with_view(ex, format_, A, [&](auto view) { return spmv(ex, view, x, y, sums...); });
}

template <class Ex> template <class V> PetscErrorCode StoredMatrix<Ex>::add_product(Ex &ex, CsrView<double> A, const V *x, V *y) const
{
  return with_view(ex, format_, A, [&](auto view) { return amgkit::add_product(ex, view, x, y); });
}

template <class Ex> bool StoredMatrix<Ex>::has_own_entries() const
{
  const SellPattern<Ex> *pattern = rows() ? rows() : nodes();
  return pattern && (pattern->all_constant() || !single_);
}

template <class Ex> PetscErrorCode StoredMatrix<Ex>::is_exact(Ex &ex, CsrView<double> A, bool *exact) const
{
  const auto *rows = std::get_if<Sell<float, Ex>>(&format_);

  PetscFunctionBegin;
  if (rows)
    *exact = !rows->rounded;
  else
    PetscCall(exact_in_single(ex, A, exact));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex>
template <class V, class... S>
PetscErrorCode StoredMatrix<Ex>::multiply_exactly(Ex &ex, const V *x, V *y, const S &...sums) const
{
  if (const auto *rows = std::get_if<Sell<float, Ex>>(&format_)) return spmv(ex, rows->exact_view(), x, y, sums...);
  if (const auto *blocks = std::get_if<BlockSell<float, Ex>>(&format_)) return spmv(ex, blocks->exact_view(), x, y, sums...);
  return multiply(ex, CsrView<double>{}, x, y, sums...);
}

template <class Ex> PetscErrorCode StoredMatrix<Ex>::keep_rests(Ex &ex, CsrView<double> A, bool *kept)
{
  auto *const rows = std::get_if<Sell<float, Ex>>(&format_);

  PetscFunctionBegin;
  *kept = false;
  if (!rows) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(sell_fill_rests(ex, A, *rows));
  *kept = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex>
template <class... S>
PetscErrorCode StoredMatrix<Ex>::multiply_long(Ex &ex, const float *x, float *y, const S &...sums) const
{
  return spmv(ex, std::get<Sell<float, Ex>>(format_).long_view(), x, y, sums...);
}

template <class Ex>
template <class V>
PetscErrorCode StoredMatrix<Ex>::residual(Ex &ex, CsrView<double> A, const V *b, const V *x, V *r) const
{
  return with_view(ex, format_, A, [&](auto view) { return amgkit::residual(ex, view, b, x, r); });
}

template <class Ex>
template <class D, class V>
PetscErrorCode StoredMatrix<Ex>::relax(Ex &ex, CsrView<double> A, const D *d, RelaxStep step, const V *b, const V *x,
                                       OptionalVector<V> previous, V *y) const
{
  return with_view(ex, format_, A, [&](auto view) { return amgkit::relax(ex, view, d, step, b, x, previous, y); });
}

#define INSTANTIATE_RELAX(Ex, D, V)                                                                                                        \
  template PetscErrorCode StoredMatrix<Ex>::relax(Ex &, CsrView<double>, const D *, RelaxStep, const V *, const V *, OptionalVector<V>,    \
                                                  V *) const;
#define INSTANTIATE_SUMS(Ex, N, V)                                                                                                         \
  template PetscErrorCode StoredMatrix<Ex>::multiply(Ex &, CsrView<double>, const V *, V *, const ProductSums<N, V> &) const;
#define INSTANTIATE_VECTORS(Ex, V)                                                                                                         \
  INSTANTIATE_SUMS(Ex, 2, V)                                                                                                               \
  INSTANTIATE_SUMS(Ex, 3, V)                                                                                                               \
  INSTANTIATE_SUMS(Ex, 5, V)                                                                                                               \
  template PetscErrorCode StoredMatrix<Ex>::multiply_exactly(Ex &, const V *, V *, const ProductSums<2, V> &) const;                       \
  template PetscErrorCode StoredMatrix<Ex>::multiply(Ex &, CsrView<double>, const V *, V *) const;                                         \
  template PetscErrorCode StoredMatrix<Ex>::multiply_exactly(Ex &, const V *, V *) const;                                                  \
  template PetscErrorCode StoredMatrix<Ex>::add_product(Ex &, CsrView<double>, const V *, V *) const;                                      \
  template PetscErrorCode StoredMatrix<Ex>::residual(Ex &, CsrView<double>, const V *, const V *, V *) const;
#define INSTANTIATE(Ex)                                                                                                                    \
  template class StoredMatrix<Ex>;                                                                                                         \
  template PetscErrorCode StoredMatrix<Ex>::multiply_long(Ex &, const float *, float *) const;                                             \
  template PetscErrorCode StoredMatrix<Ex>::multiply_long(Ex &, const float *, float *, const ProductSums<2, float> &) const;              \
  INSTANTIATE_VECTORS(Ex, float)                                                                                                           \
  INSTANTIATE_VECTORS(Ex, double)                                                                                                          \
  INSTANTIATE_RELAX(Ex, float, float)                                                                                                      \
  INSTANTIATE_RELAX(Ex, float, double)                                                                                                     \
  INSTANTIATE_RELAX(Ex, double, double)
AMGKIT_FOR_ALL_SPACES(INSTANTIATE)
#undef INSTANTIATE
#undef INSTANTIATE_SUMS
#undef INSTANTIATE_VECTORS
#undef INSTANTIATE_RELAX
} // namespace amgkit
