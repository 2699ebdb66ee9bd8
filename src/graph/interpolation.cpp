#include "graph/interpolation.hpp"

#include "dist/agree.hpp"
#include "sparse/spmv.hpp"

#include <algorithm>
#include <numeric>

namespace amgkit
{
namespace
{
int count_before(const std::vector<PetscInt> &ghosts, PetscInt first)
{
  return static_cast<int>(std::lower_bound(ghosts.begin(), ghosts.end(), first) - ghosts.begin());
}

// A's block of ghost columns, with A's rows even where it is none.
template <class Ex> CsrView<double> ghost_block(const DistMatrix<Ex> &A)
{
  CsrView<double> block = A.offd;
  block.rows = A.rows;
  return block;
}

// column[g] <- g for the ghosts before the own columns, g + own for the others
template <class Ex> PetscErrorCode columns_of_ghosts(Ex &ex, int ghosts, int before, int own, Array<int, Ex> &column)
{
  std::vector<int> columns(static_cast<std::size_t>(ghosts));

  PetscFunctionBegin;
  PetscCheck(std::int64_t{ghosts} + own <= INT32_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "More than 2^31 - 1 columns on one process: use more processes");
  std::iota(columns.begin(), columns.begin() + before, 0);
  std::iota(columns.begin() + before, columns.end(), before + own);
  PetscCall(upload(ex, columns, column));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The selection as a matrix with the columns of A; values not set.
template <class Ex> PetscErrorCode pattern_of(Ex &ex, const CsrView<double> &A, const Selection<Ex> &chosen, Csr<double, Ex> &M)
{
  PetscFunctionBegin;
  M.rows = A.rows;
  M.cols = A.cols;
  PetscCall(M.ptr.allocate(ex, chosen.ptr.size()));
  PetscCall(memory_copy(ex, M.ptr.data(), chosen.ptr.data(), chosen.ptr.bytes()));
  PetscCall(M.col.allocate(ex, chosen.size()));
  PetscCall(M.val.allocate(ex, chosen.size()));
  PetscCall(selected_columns(ex, A, chosen, 0, M.col.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}
// Columns j of M become number[j].
template <class Ex> PetscErrorCode rename_columns(Ex &ex, int cols, const int *number, Csr<double, Ex> &M)
{
  M.cols = cols;
  return gather(ex, M.col.size(), M.col.data(), number, M.col.data());
}
} // namespace

// The C points among A's ghosts become the columns of B's block of ghosts.
template <class Ex> PetscErrorCode Interpolation<Ex>::number_coarse_ghosts(Ex &ex, const CoarsePoints<Ex> &points)
{
  std::vector<std::uint64_t> distinct;
  Array<std::uint64_t, Ex> key;
  Array<int, Ex> position;

  PetscFunctionBegin;
  PetscCall(key.allocate(ex, points.ghosts.size()));
  PetscCall(memory_copy(ex, key.data(), points.ghosts.data(), key.bytes()));
  PetscCall(position.allocate(ex, key.size()));
  PetscCall(number_distinct(ex, key, position.data(), distinct));
  coarse_ghosts_.assign(distinct.begin(), distinct.end());
  PetscCall(rename_columns(ex, static_cast<int>(distinct.size()), position.data(), B_offd_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Local: which entries of A are used, their patterns and values.
template <class Ex>
PetscErrorCode Interpolation<Ex>::choose(Ex &ex, const DistMatrix<Ex> &A, const Strength<Ex> &S, const CoarsePoints<Ex> &points,
                                         const InterpolationRule &rule)
{
  PetscFunctionBegin;
  PetscCall(number_.allocate(ex, A.rows));
  PetscCall(memory_copy(ex, number_.data(), points.number.data(), number_.bytes()));
  PetscCall(classify_entries(ex, rows_of(A), S, {points.number.data(), points.ghosts.data(), rule.unknown, rule.ghost_unknown}, kinds_));
  PetscCall(select_entries(ex, A.diag, kinds_.diag.data(), to_coarse, {}, to_coarse_.diag));
  PetscCall(select_entries(ex, ghost_block(A), kinds_.offd.data(), to_coarse, {}, to_coarse_.offd));
  PetscCall(pattern_of(ex, A.diag, to_coarse_.diag, B_diag_));
  PetscCall(rename_columns(ex, coarse_, points.number.data(), B_diag_));
  PetscCall(pattern_of(ex, ghost_block(A), to_coarse_.offd, B_offd_));
  PetscCall(number_coarse_ghosts(ex, points));
  if (paths()) {
    PetscCall(select_entries(ex, A.diag, kinds_.diag.data(), to_fine, {}, to_fine_.diag));
    PetscCall(select_entries(ex, ghost_block(A), kinds_.offd.data(), to_fine, {}, to_fine_.offd));
  }
  if (kind_ == InterpolationKind::ext_i) PetscCall(pattern_of(ex, ghost_block(A), to_fine_.offd, F_offd_));
  if (kind_ == InterpolationKind::ext_e) {
    PetscCall(own_mean_.allocate(ex, A.rows));
    PetscCall(mean_.allocate(ex, std::int64_t{A.rows} + fine_ghosts_));
  }
  PetscCall(take_values(ex, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Local: what other ranks will ask for.
template <class Ex> PetscErrorCode Interpolation<Ex>::take_values(Ex &ex, const DistMatrix<Ex> &A)
{
  PetscFunctionBegin;
  PetscCall(selected_values(ex, A.diag, to_coarse_.diag, nullptr, B_diag_.val.data()));
  PetscCall(unit_rows(ex, A.rows, number_.data(), B_diag_.ptr.data(), B_diag_.val.data()));
  PetscCall(selected_values(ex, ghost_block(A), to_coarse_.offd, nullptr, B_offd_.val.data()));
  if (kind_ == InterpolationKind::ext_i) PetscCall(selected_values(ex, ghost_block(A), to_fine_.offd, nullptr, F_offd_.val.data()));
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
  PetscCall(stack_vector(ex, A.rows, own_mean_.data(), fine_ghosts_, A.halo.template ghost<double>(), ghosts_before_, mean_.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> StackedRows Interpolation<Ex>::stacked_coarse_rows() const
{
  const int *column = paths() ? ghost_B_.column_of_ghost().data() : column_of_coarse_ghost_.data();
  const CsrView<double> others = paths() ? ghost_B_.rows() : CsrView<double>{};
  return {{B_diag_.view()},
          {B_offd_.view()},
          columns_,
          coarse_before_,
          count_before(coarse_ghosts_, first_),
          column,
          others,
          paths() ? ghosts_before_ : 0};
}

template <class Ex> StackedRows Interpolation<Ex>::stacked_weights(const DistMatrix<Ex> &A) const
{
  return {{A.diag, to_fine_.diag.ptr.data(), to_fine_.diag.at.data()},
          {ghost_block(A), to_fine_.offd.ptr.data(), to_fine_.offd.at.data()},
          A.rows + fine_ghosts_,
          ghosts_before_,
          ghosts_before_,
          column_of_ghost_.data(),
          {},
          0};
}

// Local, once the others' rows are here: W's pattern and values.
template <class Ex> PetscErrorCode Interpolation<Ex>::make_product(Ex &ex, const DistMatrix<Ex> &A, const SpgemmOptions &options)
{
  PetscFunctionBegin;
  if (!paths()) {
    coarse_before_ = count_before(coarse_ghosts_, first_);
    PetscCall(columns_of_ghosts(ex, B_offd_.cols, coarse_before_, coarse_, column_of_coarse_ghost_));
    columns_ = B_offd_.cols + coarse_;
    PetscCall(stack_rows(ex, stacked_coarse_rows(), W_));
    PetscCall(weigh_direct(ex, rows_of(A), kinds_, number_.data(), W_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  coarse_before_ = ghost_B_.before();
  columns_ = ghost_B_.rows().cols;
  if (!alone()) PetscCall(stack_rows(ex, stacked_coarse_rows(), B_));
  PetscCall(columns_of_ghosts(ex, fine_ghosts_, ghosts_before_, A.rows, column_of_ghost_));
  PetscCall(stack_rows(ex, stacked_weights(A), w_));
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

// Local: the ghosts that are left in P's block, whose columns were W's.
template <class Ex> PetscErrorCode Interpolation<Ex>::number_ghosts(Ex &ex, Prolongator<Ex> &P)
{
  const std::vector<PetscInt> &all = paths() ? ghost_B_.ghosts() : coarse_ghosts_;
  std::vector<std::uint64_t> distinct;
  Array<std::uint64_t, Ex> key;

  PetscFunctionBegin;
  PetscCall(key.allocate(ex, P.offd.col.size()));
  PetscCall(keys_of_columns(ex, P.offd.col.size(), P.offd.col.data(), key.data()));
  PetscCall(number_distinct(ex, key, P.offd.col.data(), distinct));
  P.ghosts.clear();
  for (const std::uint64_t column : distinct) {
    const auto j = static_cast<int>(column);
    P.ghosts.push_back(all[static_cast<std::size_t>(j < coarse_before_ ? j : j - coarse_)]);
  }
  P.offd.cols = static_cast<int>(P.ghosts.size());
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Local: which entries of W are P's, and P.
template <class Ex> PetscErrorCode Interpolation<Ex>::truncate(Ex &ex, const Truncation &truncation, Prolongator<Ex> &P)
{
  const CsrView<double> W = W_.view();
  const int end = coarse_before_ + coarse_;

  PetscFunctionBegin;
  PetscCall(keep_.allocate(ex, W.nnz));
  PetscCall(mark_largest(ex, W, truncation, keep_.data()));
  PetscCall(select_entries(ex, W, keep_.data(), 1, {coarse_before_, end, true}, kept_diag_));
  PetscCall(select_entries(ex, W, keep_.data(), 1, {coarse_before_, end, false}, kept_offd_));
  PetscCall(scale_.allocate(ex, W.rows));
  PetscCall(pattern_of(ex, W, kept_diag_, P.diag));
  PetscCall(selected_columns(ex, W, kept_diag_, coarse_before_, P.diag.col.data()));
  P.diag.cols = coarse_;
  P.first = first_;
  PetscCall(pattern_of(ex, W, kept_offd_, P.offd));
  PetscCall(number_ghosts(ex, P));
  PetscCall(values(ex, P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Local: P's values from W's.
template <class Ex> PetscErrorCode Interpolation<Ex>::values(Ex &ex, Prolongator<Ex> &P)
{
  PetscFunctionBegin;
  PetscCall(scales_of_truncation(ex, W_.view(), keep_.data(), scale_.data()));
  PetscCall(selected_values(ex, W_.view(), kept_diag_, scale_.data(), P.diag.val.data()));
  PetscCall(selected_values(ex, W_.view(), kept_offd_, scale_.data(), P.offd.val.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex>
PetscErrorCode Interpolation<Ex>::create(Ex &ex, DistMatrix<Ex> &A, const Strength<Ex> &S, const CoarsePoints<Ex> &points,
                                         const InterpolationRule &rule, Prolongator<Ex> &P, bool *out_of_memory)
{
  int rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(A.comm, &rank));
  kind_ = rule.kind;
  first_row_ = A.first(rank);
  first_ = points.range[static_cast<std::size_t>(rank)];
  coarse_ = points.count;
  fine_ghosts_ = static_cast<int>(A.ghosts.size());
  ghosts_before_ = count_before(A.ghosts, first_row_);
  PetscCall(attempt(
      A.comm, [&] { return choose(ex, A, S, points, rule); }, out_of_memory));
  if (*out_of_memory) PetscFunctionReturn(PETSC_SUCCESS);
  if (paths()) PetscCall(ghost_B_.create(ex, A.comm, A.halo, coarse_rows(), out_of_memory));
  if (*out_of_memory) PetscFunctionReturn(PETSC_SUCCESS);
  if (kind_ == InterpolationKind::ext_i) PetscCall(ghost_F_.create(ex, A.comm, A.halo, couplings(A), out_of_memory));
  if (*out_of_memory) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(exchange_means(ex, A));
  PetscCall(attempt(
      A.comm,
      [&] {
        PetscFunctionBegin;
        PetscCall(make_product(ex, A, rule.spgemm));
        PetscCall(truncate(ex, rule.truncation, P));
        PetscFunctionReturn(PETSC_SUCCESS);
      },
      out_of_memory));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode Interpolation<Ex>::update(Ex &ex, DistMatrix<Ex> &A, Prolongator<Ex> &P)
{
  PetscFunctionBegin;
  PetscCall(take_values(ex, A));
  if (!paths()) {
    PetscCall(stack_values(ex, stacked_coarse_rows(), W_));
    PetscCall(weigh_direct(ex, rows_of(A), kinds_, number_.data(), W_));
  } else {
    PetscCall(ghost_B_.update(ex, coarse_rows()));
    if (kind_ == InterpolationKind::ext_i) PetscCall(ghost_F_.update(ex, couplings(A)));
    PetscCall(exchange_means(ex, A));
    if (!alone()) PetscCall(stack_values(ex, stacked_coarse_rows(), B_));
    PetscCall(stack_values(ex, stacked_weights(A), w_));
    PetscCall(weigh_paths(ex, A));
    PetscCall(spgemm_numeric(ex, plan_, w_.view(), product_factor(), W_));
  }
  PetscCall(values(ex, P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> std::size_t Interpolation<Ex>::bytes() const
{
  return number_.bytes() + kinds_.bytes() + to_coarse_.bytes() + to_fine_.bytes() + B_diag_.bytes() + B_offd_.bytes() + F_offd_.bytes() +
         ghost_B_.bytes() + ghost_F_.bytes() + column_of_coarse_ghost_.bytes() + column_of_ghost_.bytes() + beta_.bytes() + mean_.bytes() +
         own_mean_.bytes() + w_.bytes() + B_.bytes() + W_.bytes() + plan_.row.bytes() + plan_.window.bytes() + keep_.bytes() +
         kept_diag_.bytes() + kept_offd_.bytes() + scale_.bytes();
}

#define INSTANTIATE(Ex) template class Interpolation<Ex>;
AMGKIT_FOR_ALL_SPACES(INSTANTIATE)
#undef INSTANTIATE
} // namespace amgkit
