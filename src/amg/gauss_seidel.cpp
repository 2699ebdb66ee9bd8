#include "amg/gauss_seidel.hpp"

#include "amg/block_ilu.hpp"
#include "base/log.hpp"
#include "dist/attempt.hpp"
#include "sparse/formats/spmv.hpp"

namespace amgkit
{
namespace
{
PetscErrorCode unavailable()
{
  PetscFunctionBegin;
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_PLIB, "Gauss-Seidel sweeps are for a plain host");
}

double flops(const CsrView<double> &A) { return 2.0 * static_cast<double>(A.nnz); }
} // namespace

template <class Ex> PetscErrorCode GaussSeidel<Ex>::split(Ex &ex, const CsrView<double> &A, Storage storage, Split &out)
{
  Array<int, Ex> next;

  PetscFunctionBegin;
  if (out.below.size() != A.rows) PetscCall(out.below.allocate(ex, A.rows));
  split_rows(A, out.below.data());
  out.alike = rows_are_alike(A, out.below.data());
  PetscCall(next.allocate(ex, A.rows));
  out.symmetric = halves_agree(A, out.below.data(), next.data());
  if (storage == Storage::in_double) {
    out.rounded.release();
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (out.rounded.size() != A.nnz) {
    const PetscErrorCode status = out.rounded.allocate(ex, A.nnz);
    if (status == PETSC_ERR_MEM) PetscFunctionReturn(PETSC_SUCCESS); // sweeps read doubles
    PetscCall(status);
  }
  if (!round_values(A, out.rounded.data())) out.rounded.release();
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The blocks of A, where its columns are stored, and each node has its own one.
template <class Ex> PetscErrorCode GaussSeidel<Ex>::take_blocks(Ex &ex, const DistMatrix<Ex> &A, Split &out)
{
  const BlockColumns<Ex> *blocks = A.stored.block_columns();

  PetscFunctionBegin;
  out.blocks = nullptr;
  if (!blocks) PetscFunctionReturn(PETSC_SUCCESS);
  const BlockCsrView<double> view = blocks->view(A.own_block());
  if (out.own.size() != view.nodes()) PetscCall(out.own.allocate(ex, view.nodes()));
  if (find_own_blocks(view, out.own.data())) out.blocks = blocks;
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode GaussSeidel<Ex>::prepare(Ex &ex, const DistMatrix<Ex> &A, Storage storage, double *d)
{
  PetscFunctionBegin;
  storage_ = storage;
  transposed_ = {};
  if constexpr (available) {
    PetscCall(split(ex, A.diag, storage, rows_));
    PetscCall(take_blocks(ex, A, rows_));
    damp_coupled_rows(A.offd, A.boundary.size(), A.boundary.data(), d);
  } else {
    PetscCall(unavailable());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode GaussSeidel<Ex>::test_sweeps(Ex &ex, DistMatrix<Ex> &A, const double *d, bool *reduce) const
{
  constexpr int sweeps = 4;
  Array<double, Ex> x, work, zero;
  int row = 0, grows = 0;

  PetscFunctionBegin;
  PetscCall(attempt(A.comm, [&] {
    PetscFunctionBegin;
    PetscCall(allocate_each(ex, A.rows, x, work, zero));
    PetscCall(memory_zero(ex, zero.data(), zero.bytes()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  for (SweepOrder order : {SweepOrder::forward, SweepOrder::backward}) {
    Iterate<double> iterate{x.data(), work.data()};
    PetscCall(random_error(ex, A.rows, A.range.first(), d, x.data()));
    PetscCall(apply(ex, A, order, sweeps, Guess::given, d, static_cast<const double *>(zero.data()), iterate));
    PetscCall(first_large_error(ex, A.rows, d, x.data(), &row));
    if (row < A.rows) grows = 1;
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &grows, 1, MPI_INT, MPI_MAX, A.comm));
  *reduce = grows == 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode GaussSeidel<Ex>::prepare_transposed(Ex &ex, const TransposedMatrix<Ex> &At)
{
  return available ? split(ex, At.own_block(), storage_, transposed_) : unavailable();
}

template <class Ex>
template <class Operator>
PetscErrorCode GaussSeidel<Ex>::apply(Ex &ex, Operator &A, SweepOrder order, PetscInt sweeps, Guess guess, const double *d, const double *b,
                                      Iterate<double> &x) const
{
  constexpr bool transposed = std::is_same_v<Operator, TransposedMatrix<Ex>>;
  const Split &split = split_of(A);
  const PetscInt count = order == SweepOrder::alternating ? sweeps + sweeps % 2 : sweeps;

  PetscFunctionBegin;
  if constexpr (available) {
    const CsrView<double> block = A.own_block();
    if (count == 0 && guess == Guess::zero) PetscCall(fill(ex, A.rows, 0, x.here));
    for (PetscInt s = 0; s < count; s++) {
      const bool backward = order == SweepOrder::backward || (order == SweepOrder::alternating && s % 2 == 1);
      const double *rhs = b;
      if (s == 0 && guess == Guess::zero && !backward) {
        split.with_rows(block, [&](const auto &rows) { sweep_from_zero(rows, split.symmetric, d, b, x.here, x.there); });
        PetscCall(log_flops(ex, flops(block) * (split.symmetric ? 1 : 0.5)));
        if (tied_) solve_tied_rows(block, *tied_, false, transposed, b, x.here, split.symmetric ? x.there : nullptr);
        continue;
      }
      if (s == 0 && guess == Guess::zero) PetscCall(fill(ex, A.rows, 0, x.here));
      if (A.halo_active()) {
        PetscCall(memory_copy(ex, x.there, b, static_cast<std::size_t>(A.rows) * sizeof(double)));
        PetscCall(A.subtract_others(ex, static_cast<const double *>(x.here), x.there));
        rhs = x.there;
      }
      if (tied_ && backward) solve_tied_rows(block, *tied_, true, transposed, rhs, x.here, nullptr);
      split.with_rows(block,
                      [&](const auto &rows) { backward ? sweep_backward(rows, d, rhs, x.here) : sweep_forward(rows, d, rhs, x.here); });
      if (tied_ && !backward) solve_tied_rows(block, *tied_, false, transposed, rhs, x.here, nullptr);
      PetscCall(log_flops(ex, flops(block)));
    }
  } else {
    PetscCall(unavailable());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex>
template <class Operator>
PetscErrorCode GaussSeidel<Ex>::residual(Ex &ex, Operator &A, PetscInt sweeps, Guess guess, const double *d, const double *b,
                                         Iterate<double> &x) const
{
  const Split &split = split_of(A);

  PetscFunctionBegin;
  if constexpr (available) {
    const CsrView<double> block = A.own_block();
    if (sweeps != 1 || guess != Guess::zero) { // of the matrix that sweeps read: else the cycle would not be as symmetric as that is
      if (split.rounded.size() == 0) PetscFunctionReturn(A.residual(ex, b, static_cast<const double *>(x.here), x.there));
      split.with_rows(block, [&](const auto &rows) { swept_residual(rows, b, x.here, x.there); });
      PetscCall(log_flops(ex, flops(block)));
      PetscCall(A.subtract_others(ex, static_cast<const double *>(x.here), x.there));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    if (!split.symmetric && tied_) { // x has changed since the sweep
      PetscCall(amgkit::residual(ex, block, b, static_cast<const double *>(x.here), x.there));
      PetscCall(log_flops(ex, flops(block)));
    } else if (!split.symmetric) {
      split.with_rows(block, [&](const auto &rows) { subtract_upper(rows, d, x.here, x.there); });
      PetscCall(log_flops(ex, flops(block) / 2));
    }
    PetscCall(A.subtract_others(ex, static_cast<const double *>(x.here), x.there));
  } else {
    PetscCall(unavailable());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define INSTANTIATE_OPERATOR(Ex, Operator)                                                                                                 \
  template PetscErrorCode GaussSeidel<Ex>::apply(Ex &, Operator &, SweepOrder, PetscInt, Guess, const double *, const double *,            \
                                                 Iterate<double> &) const;                                                                 \
  template PetscErrorCode GaussSeidel<Ex>::residual(Ex &, Operator &, PetscInt, Guess, const double *, const double *, Iterate<double> &)  \
      const;
#define INSTANTIATE(Ex)                                                                                                                    \
  template class GaussSeidel<Ex>;                                                                                                          \
  INSTANTIATE_OPERATOR(Ex, DistMatrix<Ex>)                                                                                                 \
  INSTANTIATE_OPERATOR(Ex, TransposedMatrix<Ex>)
AMGKIT_FOR_ALL_SPACES(INSTANTIATE)
#undef INSTANTIATE
#undef INSTANTIATE_OPERATOR
} // namespace amgkit
