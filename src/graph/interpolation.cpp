#include "graph/interpolation.hpp"

#include "dist/agree.hpp"
#include "sparse/spmv.hpp"

namespace amgkit
{
// Local: which entries of A are used, their patterns and values.
template <class Ex>
PetscErrorCode Interpolation<Ex>::choose(Ex &ex, const DistMatrix<Ex> &A, const Strength<Ex> &S, const CoarsePoints<Ex> &points,
                                         const InterpolationRule &rule)
{
  const Splitting splitting = {points.number.data(), points.ghosts.data(), rule.unknown, rule.ghost_unknown, rule.wanted};
  int rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(A.comm, &rank));
  PetscCall(number_.allocate(ex, A.rows));
  PetscCall(memory_copy(ex, number_.data(), points.number.data(), number_.bytes()));
  PetscCall(classify_entries(ex, rows_of(A), S, splitting, kinds_));
  PetscCall(to_coarse_.create(ex, A, kinds_.diag.data(), kinds_.offd.data(), to_coarse));
  PetscCall(coarse_columns(ex, A, to_coarse_, points, points.range[static_cast<std::size_t>(rank)], B_));
  if (paths()) PetscCall(path_.create(ex, A, kinds_.diag.data(), kinds_.offd.data(), on_path));
  if (kind_ == InterpolationKind::ext_i) {
    PetscCall(select_entries(ex, ghost_block(A), kinds_.offd.data(), to_fine, {}, to_fine_));
    PetscCall(selected_pattern(ex, ghost_block(A), to_fine_, F_offd_));
  }
  if (kind_ == InterpolationKind::ext_e) {
    PetscCall(own_mean_.allocate(ex, A.rows));
    PetscCall(mean_.allocate(ex, std::int64_t{A.rows} + ghosts_));
  }
  PetscCall(take_values(ex, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Local: what other ranks will ask for.
template <class Ex> PetscErrorCode Interpolation<Ex>::take_values(Ex &ex, const DistMatrix<Ex> &A)
{
  PetscFunctionBegin;
  PetscCall(selected_values(ex, A.diag, to_coarse_.diag, nullptr, B_.diag.val.data()));
  PetscCall(unit_rows(ex, A.rows, number_.data(), B_.diag.ptr.data(), B_.diag.val.data()));
  PetscCall(selected_values(ex, ghost_block(A), to_coarse_.offd, nullptr, B_.offd.val.data()));
  if (kind_ == InterpolationKind::ext_i) PetscCall(selected_values(ex, ghost_block(A), to_fine_, nullptr, F_offd_.val.data()));
  if (kind_ == InterpolationKind::ext_e) PetscCall(means_of_fine(ex, rows_of(A), kinds_, own_mean_.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Collective
template <class Ex> PetscErrorCode Interpolation<Ex>::exchange_means(Ex &ex, DistMatrix<Ex> &A)
{
  PetscFunctionBegin;
  if (kind_ != InterpolationKind::ext_e) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(A.halo.begin(ex, static_cast<const double *>(own_mean_.data())));
  PetscCall(A.halo.template end<double>());
  PetscCall(stack_vector(ex, A.rows, own_mean_.data(), ghosts_, A.halo.template ghost<double>(), ghosts_before_, mean_.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> ProductColumns Interpolation<Ex>::columns() const
{
  if (paths()) return {gathered_.before(), B_.diag.cols, B_.first, &gathered_.ghosts()};
  return {ghosts_before(B_.ghosts, B_.first), B_.diag.cols, B_.first, &B_.ghosts};
}

// Local, once the others' rows are here: W's pattern and values.
template <class Ex> PetscErrorCode Interpolation<Ex>::make_product(Ex &ex, const DistMatrix<Ex> &A, const SpgemmOptions &options)
{
  PetscFunctionBegin;
  if (!paths()) {
    PetscCall(stack_rows(ex, B_.rows().blocks(), W_));
    PetscCall(weigh_direct(ex, rows_of(A), kinds_, number_.data(), W_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(stack_rows(ex, path_.of(A, ghosts_before_), w_));
  PetscCall(beta_.allocate(ex, product_factor().rows));
  PetscCall(weigh_paths(ex, A));
  PetscCall(spgemm_symbolic(ex, options, w_.view(), product_factor(), W_, plan_));
  PetscCall(spgemm_numeric(ex, plan_, w_.view(), product_factor(), W_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Local: w from the values of A that it holds.
template <class Ex> PetscErrorCode Interpolation<Ex>::weigh_paths(Ex &ex, const DistMatrix<Ex> &A)
{
  const SplitRows rows = rows_of(A);

  PetscFunctionBegin;
  PetscCall(row_sums(ex, product_factor(), beta_.data()));
  switch (kind_) {
  case InterpolationKind::ext:
    PetscCall(weigh_ext(ex, rows, kinds_, number_.data(), beta_.data(), w_));
    break;
  case InterpolationKind::ext_i:
    PetscCall(weigh_ext_i(ex, rows, kinds_, number_.data(), beta_.data(), {ghost_F_.rows(), ghost_F_.before()}, w_));
    break;
  default:
    PetscCall(weigh_ext_e(ex, rows, kinds_, number_.data(), beta_.data(), mean_.data(), w_));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex>
PetscErrorCode Interpolation<Ex>::create(Ex &ex, DistMatrix<Ex> &A, const Strength<Ex> &S, const CoarsePoints<Ex> &points,
                                         const InterpolationRule &rule, CoarseBlocks<Ex> &P, bool *out_of_memory)
{
  int rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(A.comm, &rank));
  kind_ = rule.kind;
  first_row_ = A.first(rank);
  ghosts_ = static_cast<int>(A.ghosts.size());
  ghosts_before_ = ghosts_before(A.ghosts, first_row_);
  PetscCall(attempt(
      A.comm, [&] { return choose(ex, A, S, points, rule); }, out_of_memory));
  if (*out_of_memory) PetscFunctionReturn(PETSC_SUCCESS);
  if (paths()) PetscCall(gathered_.create(ex, A.comm, A.halo, B_.rows(), ghosts_before_, out_of_memory));
  if (*out_of_memory) PetscFunctionReturn(PETSC_SUCCESS);
  if (kind_ == InterpolationKind::ext_i) PetscCall(ghost_F_.create(ex, A.comm, A.halo, couplings(A), out_of_memory));
  if (*out_of_memory) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(exchange_means(ex, A));
  PetscCall(attempt(
      A.comm,
      [&] {
        PetscFunctionBegin;
        PetscCall(make_product(ex, A, rule.spgemm));
        PetscCall(truncated_.create(ex, W_.view(), columns(), rule.truncation, P));
        PetscFunctionReturn(PETSC_SUCCESS);
      },
      out_of_memory));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode Interpolation<Ex>::update(Ex &ex, DistMatrix<Ex> &A, CoarseBlocks<Ex> &P)
{
  PetscFunctionBegin;
  PetscCall(take_values(ex, A));
  if (!paths()) {
    PetscCall(stack_values(ex, B_.rows().blocks(), W_));
    PetscCall(weigh_direct(ex, rows_of(A), kinds_, number_.data(), W_));
  } else {
    PetscCall(gathered_.update(ex, B_.rows()));
    if (kind_ == InterpolationKind::ext_i) PetscCall(ghost_F_.update(ex, couplings(A)));
    PetscCall(exchange_means(ex, A));
    PetscCall(stack_values(ex, path_.of(A, ghosts_before_), w_));
    PetscCall(weigh_paths(ex, A));
    PetscCall(spgemm_numeric(ex, plan_, w_.view(), product_factor(), W_));
  }
  PetscCall(truncated_.values(ex, W_.view(), P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> std::size_t Interpolation<Ex>::bytes() const
{
  return number_.bytes() + kinds_.bytes() + to_coarse_.bytes() + path_.bytes() + to_fine_.bytes() + B_.bytes() + F_offd_.bytes() +
         gathered_.bytes() + ghost_F_.bytes() + beta_.bytes() + mean_.bytes() + own_mean_.bytes() + w_.bytes() + W_.bytes() +
         plan_.row.bytes() + plan_.window.bytes() + truncated_.bytes();
}

#define INSTANTIATE(Ex) template class Interpolation<Ex>;
AMGKIT_FOR_ALL_SPACES(INSTANTIATE)
#undef INSTANTIATE
} // namespace amgkit
