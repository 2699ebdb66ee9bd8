#include "dist/matrix.hpp"

#include "base/log.hpp"
#include "dist/attempt.hpp"
#include "sparse/rows/rows.hpp"

#include <limits>

namespace amgkit
{
PetscErrorCode number_over_ranks(MPI_Comm comm, int n, RankRanges &range)
{
  int size;
  PetscInt mine = n;
  std::int64_t sum = 0;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCallMPI(MPI_Comm_rank(comm, &range.rank));
  range.assign(static_cast<std::size_t>(size) + 1, 0);
  PetscCallMPI(MPI_Allgather(&mine, 1, MPIU_INT, range.data() + 1, 1, MPIU_INT, comm));
  for (std::size_t r = 1; r < range.size(); r++) {
    sum += range[r];
    PetscCheck(sum <= std::numeric_limits<PetscInt>::max(), comm, PETSC_ERR_ARG_OUTOFRANGE,
               "More than 2^31 - 1 rows on all processes: use a PETSc with 64-bit indices");
    range[r] = static_cast<PetscInt>(sum);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode DistMatrix<Ex>::set_rows(MPI_Comm c, int n)
{
  PetscFunctionBegin;
  comm = c;
  rows = n;
  PetscCall(number_over_ranks(comm, n, range));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode DistMatrix<Ex>::allocate(Ex &ex)
{
  PetscFunctionBegin;
  PetscCall(nonempty_rows(ex, offd, boundary));
  PetscCall(halo.allocate(ex));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode DistMatrix<Ex>::complete(Ex &ex)
{
  PetscFunctionBegin;
  diag = own_diag.view();
  offd = own_offd.view();
  PetscCall(halo.create(comm, range, ghosts));
  PetscCall(attempt(comm, [&] { return allocate(ex); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode DistMatrix<Ex>::store(Ex &ex, Storage storage, BlockForm block, bool compact)
{
  PetscFunctionBegin;
  if (is_stored_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(stored.create(ex, diag, storage, block, compact ? &own_diag : nullptr));
  may_fold = compact && diag.nnz > 0 && own_diag.col.size() == 0; // sliced ELL by rows took them
  fold();
  is_stored_ = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode DistMatrix<Ex>::store_ahead(Ex &ex, Storage storage, BlockForm block)
{
  bool pays = false;

  PetscFunctionBegin;
  if (is_stored_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(stored.look_ahead(ex, diag, block, &pays));
  if (pays) PetscCall(store(ex, storage, block, false));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> void DistMatrix<Ex>::fold()
{
  if (!may_fold) return;
  own_diag.col.release();
  own_diag.val.release();
  diag.forget_rows();
}

template <class Ex> PetscErrorCode DistMatrix<Ex>::unfold(Ex &ex)
{
  PetscFunctionBegin;
  if (!diag.folded()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(allocate_each(ex, diag.nnz, own_diag.col, own_diag.val));
  PetscCall(stored.entries(ex, own_diag.ptr.data(), own_diag.col.data(), nullptr));
  diag = own_diag.view();
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode DistMatrix<Ex>::own_rows(Ex &ex, Csr<double, Ex> &room, CsrView<double> &out) const
{
  PetscFunctionBegin;
  out = diag.perhaps_folded();
  if (!diag.folded()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(allocate_each(ex, diag.nnz, room.col, room.val));
  PetscCall(stored.entries(ex, diag.row_begins(), room.col.data(), room.val.data()));
  out.col = room.col.data();
  out.val = room.val.data();
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Rows that need no ghost are computed while the halo travels.
template <class Ex> template <class V> PetscErrorCode DistMatrix<Ex>::residual(Ex &ex, const V *b, const V *x, V *r)
{
  HaloExchange<Ex> exchange(halo);

  PetscFunctionBegin;
  PetscCall(exchange.begin(ex, x));
  PetscCall(stored.residual(ex, diag.perhaps_folded(), b, x, r));
  PetscCall(exchange.subtract(ex, offd, boundary, 1, unscaled<V>, r));
  PetscCall(log_flops(ex, 2.0 * static_cast<double>(diag.nnz + offd.nnz)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> template <class V> PetscErrorCode DistMatrix<Ex>::subtract_others(Ex &ex, const V *x, V *y)
{
  HaloExchange<Ex> exchange(halo);

  PetscFunctionBegin;
  if (!halo.active()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(exchange.begin(ex, x));
  PetscCall(exchange.subtract(ex, offd, boundary, 1, unscaled<V>, y));
  PetscCall(log_flops(ex, 2.0 * static_cast<double>(offd.nnz)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Whether sums of y before ghosts are added to it can be put right afterwards: see add_rows().
template <int N, class V> bool can_be_corrected(const ProductSums<N, V> &sums) { return std::is_same_v<V, float> || (N < 5 && !sums.of_y); }

// Sums are taken with the product of own columns, and corrected where ghosts add to a row.
template <class Ex>
template <class V, class F, class... S>
PetscErrorCode DistMatrix<Ex>::multiply_with(Ex &ex, const V *x, V *y, F f, const S &...sums)
{
  HaloExchange<Ex> exchange(halo);

  PetscFunctionBegin;
  PetscCall(exchange.begin(ex, x));
  const bool sums_with_product = sizeof...(S) > 0 && (boundary.size() == 0 || (can_be_corrected(sums) && ...));
  if (sums_with_product) {
    PetscCall(f(sums...));
    if constexpr (sizeof...(S) > 0) PetscCall(exchange.add(ex, offd, boundary, x, y, sums...));
  } else {
    PetscCall(f());
    PetscCall(exchange.subtract(ex, offd, boundary, -1, unscaled<V>, y));
    if constexpr (sizeof...(S) > 0) PetscCall(sum_products(ex, rows, x, y, sums...));
  }
  PetscCall(log_flops(ex, 2.0 * static_cast<double>(diag.nnz + offd.nnz)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> template <class V, class... S> PetscErrorCode DistMatrix<Ex>::multiply(Ex &ex, const V *x, V *y, const S &...sums)
{
  return multiply_with(
      ex, x, y, [&](const auto &...s) { return stored.multiply(ex, diag.perhaps_folded(), x, y, s...); }, sums...);
}

template <class Ex>
template <class V, class... S>
PetscErrorCode DistMatrix<Ex>::multiply_exactly(Ex &ex, const V *x, V *y, const S &...sums)
{
  if (!stored.has_own_entries()) return multiply_rows(ex, x, y, sums...);
  return multiply_with(
      ex, x, y, [&](const auto &...s) { return stored.multiply_exactly(ex, x, y, s...); }, sums...);
}

template <class Ex> template <class V, class... S> PetscErrorCode DistMatrix<Ex>::multiply_rows(Ex &ex, const V *x, V *y, const S &...sums)
{
  if (stored.block_columns()) return multiply(ex, x, y, sums...); // the values are diag's
  return multiply_with(
      ex, x, y, [&](const auto &...s) { return spmv(ex, diag.view(), x, y, s...); }, sums...);
}

template <class Ex> template <class... S> PetscErrorCode DistMatrix<Ex>::multiply_long(Ex &ex, const float *x, float *y, const S &...sums)
{
  return multiply_with(
      ex, x, y, [&](const auto &...s) { return stored.multiply_long(ex, x, y, s...); }, sums...);
}

template <class Ex>
template <class D, class V>
PetscErrorCode DistMatrix<Ex>::relax(Ex &ex, const D *d, RelaxStep step, const V *b, const V *x, OptionalVector<V> previous, V *y)
{
  HaloExchange<Ex> exchange(halo);

  PetscFunctionBegin;
  PetscCall(exchange.begin(ex, x));
  PetscCall(stored.relax(ex, diag.perhaps_folded(), d, step, b, x, previous, y));
  PetscCall(exchange.subtract(ex, offd, boundary, step.factor, d, y));
  PetscCall(log_flops(ex, 2.0 * static_cast<double>(diag.nnz + offd.nnz) + 3.0 * rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define INSTANTIATE_RELAX(Ex, D, V)                                                                                                        \
  template PetscErrorCode DistMatrix<Ex>::relax(Ex &, const D *, RelaxStep, const V *, const V *, OptionalVector<V>, V *);
#define INSTANTIATE_VECTORS(Ex, V)                                                                                                         \
  template PetscErrorCode DistMatrix<Ex>::residual(Ex &, const V *, const V *, V *);                                                       \
  template PetscErrorCode DistMatrix<Ex>::subtract_others(Ex &, const V *, V *);                                                           \
  template PetscErrorCode DistMatrix<Ex>::multiply(Ex &, const V *, V *);                                                                  \
  template PetscErrorCode DistMatrix<Ex>::multiply(Ex &, const V *, V *, const ProductSums<2, V> &);                                       \
  template PetscErrorCode DistMatrix<Ex>::multiply(Ex &, const V *, V *, const ProductSums<3, V> &);                                       \
  template PetscErrorCode DistMatrix<Ex>::multiply(Ex &, const V *, V *, const ProductSums<5, V> &);                                       \
  template PetscErrorCode DistMatrix<Ex>::multiply_rows(Ex &, const V *, V *, const ProductSums<2, V> &);                                  \
  template PetscErrorCode DistMatrix<Ex>::multiply_exactly(Ex &, const V *, V *, const ProductSums<2, V> &);                               \
  template PetscErrorCode DistMatrix<Ex>::multiply_rows(Ex &, const V *, V *);                                                             \
  template PetscErrorCode DistMatrix<Ex>::multiply_exactly(Ex &, const V *, V *);
#define INSTANTIATE(Ex)                                                                                                                    \
  template struct DistMatrix<Ex>;                                                                                                          \
  template PetscErrorCode DistMatrix<Ex>::multiply_long(Ex &, const float *, float *);                                                     \
  template PetscErrorCode DistMatrix<Ex>::multiply_long(Ex &, const float *, float *, const ProductSums<2, float> &);                      \
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
