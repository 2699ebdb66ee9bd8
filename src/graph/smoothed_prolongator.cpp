#include "graph/smoothed_prolongator.hpp"

#include "dist/attempt.hpp"
#include "dist/near_null.hpp"
#include "sparse/rows/rearrange.hpp"
#include "sparse/rows/rows.hpp"

#include <algorithm>

namespace amgkit
{
namespace
{
// Place of each of A's ghosts among the unknowns of the ghosts of nodes
template <class Ex>
PetscErrorCode unknowns_of_ghosts(Ex &ex, const DistMatrix<Ex> &A, const StrongNodes<Ex> &strong, Array<int, Ex> &unknown)
{
  const std::vector<PetscInt> &nodes = strong.nodes->ghosts;
  std::vector<int> place;

  PetscFunctionBegin;
  if (&nodes == &A.ghosts) { // a row is a node
    PetscCall(unknown.allocate(ex, static_cast<std::int64_t>(nodes.size())));
    PetscCall(count_up(ex, unknown.size(), unknown.data()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (const PetscInt g : A.ghosts) {
    const auto node = std::lower_bound(nodes.begin(), nodes.end(), g / strong.bs);
    PetscCheck(node != nodes.end() && *node == g / strong.bs, PETSC_COMM_SELF, PETSC_ERR_ARG_INCOMP,
               "The matrix of nodes has no column for row %" PetscInt_FMT, g);
    place.push_back(static_cast<int>((node - nodes.begin()) * strong.bs + g % strong.bs));
  }
  PetscCall(upload(ex, place, unknown));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

// Local: Q, pattern and values.
template <class Ex>
PetscErrorCode SmoothingStep<Ex>::make_product(Ex &ex, CsrView<double> S, const CoarseBlocks<Ex> &T, const SpgemmOptions &options,
                                               CoarseBlocks<Ex> &Q)
{
  PetscFunctionBegin;
  Q.first = T.first;
  Q.ghosts.clear();
  PetscCall(spgemm_product(ex, options, S, right_.rows(T.rows()), product(Q), plan_));
  if (apart()) {
    PetscCall(Q.offd.make_empty(ex, S.rows));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(split_rows(ex, product_rows(T.diag.cols), static_cast<int>(right_.ghosts().size()), Q.diag, Q.offd));
  PetscCall(keep_used_ghosts(ex, Q.offd, right_.ghosts(), Q.ghosts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex>
PetscErrorCode SmoothingStep<Ex>::create(Ex &ex, DistMatrix<Ex> &A, CsrView<double> S, const CoarseBlocks<Ex> &T,
                                         const SpgemmOptions &options, CoarseBlocks<Ex> &Q)
{
  PetscFunctionBegin;
  PetscCall(right_.create(ex, A.comm, A.halo, T.rows(), A.ghosts_before(), [&] { return make_product(ex, S, T, options, Q); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Local, and so is a lack of memory: the rank goes without.
template <class Ex> PetscErrorCode SmoothingStep<Ex>::note_places(Ex &ex, CsrView<double> S, const CoarseBlocks<Ex> &T, CoarseBlocks<Ex> &Q)
{
  return without_memory_go_on([&] { return spgemm_note_places(ex, S, right_.rows(T.rows()), product(Q), plan_); });
}

template <class Ex> PetscErrorCode SmoothingStep<Ex>::multiply(Ex &ex, CsrView<double> S, const CoarseBlocks<Ex> &T, CoarseBlocks<Ex> &Q)
{
  PetscFunctionBegin;
  PetscCall(note_places(ex, S, T, Q));
  PetscCall(spgemm_numeric(ex, plan_, S, right_.rows(T.rows()), product(Q)));
  if (!apart()) PetscCall(split_values(ex, product_rows(Q.diag.cols), Q.diag, Q.offd));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Local: which entries of A are used, and where S's rows begin.
template <class Ex> PetscErrorCode SmoothedProlongator<Ex>::choose(Ex &ex, const DistMatrix<Ex> &A, const StrongNodes<Ex> &strong)
{
  Array<int, Ex> unknown, length;
  std::int64_t missing = 0, entries = 0;

  PetscFunctionBegin;
  PetscCheck(bs_ >= 1 && bs_ <= entry_stays && A.rows % bs_ == 0, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "%d rows cannot be smoothed in blocks of %d: at most %d that divide them", A.rows, bs_, static_cast<int>(entry_stays));
  PetscCall(diagonal_.allocate(ex, A.rows));
  PetscCall(diagonal_positions(ex, A.diag, diagonal_.data()));
  PetscCall(count_missing(ex, A.rows, diagonal_.data(), &missing));
  if (!strong.marks && missing == 0 && A.ghosts.empty()) { // nothing to count
    as_A_ = true;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(length.allocate(ex, A.rows));
  if (strong.marks) {
    PetscCall(unknowns_of_ghosts(ex, A, strong, unknown));
    PetscCall(lumping_of(ex, rows_of(A), strong.nodes->diag, strong.nodes->offd, *strong.marks, bs_, unknown.data(), diagonal_.data(),
                         lumping_, length.data()));
  } else {
    PetscCall(lengths_as_in_A(ex, rows_of(A), diagonal_.data(), length.data()));
  }
  PetscCall(S_.ptr.allocate(ex, std::int64_t{A.rows} + 1));
  PetscCall(offsets_of_rows(ex, A.rows, nullptr, length.data(), S_.ptr.data(), &entries));
  if (missing == 0 && entries == A.diag.nnz + A.offd.nnz) {
    lumping_ = {};
    as_A_ = A.ghosts.empty();
  }
  if (as_A_) {
    S_ = {};
  } else {
    S_.rows = A.rows;
    S_.cols = A.diag.cols + A.offd.cols;
    PetscCall(allocate_each(ex, entries, S_.col, S_.val));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Collective: B, for this setup's values and later ones.
template <class Ex> PetscErrorCode SmoothedProlongator<Ex>::keep_near_null(Ex &ex, DistMatrix<Ex> &A, const StrongNodes<Ex> &strong)
{
  const auto ghosts = static_cast<std::int64_t>(A.ghosts.size());
  Array<double, Ex> x;

  PetscFunctionBegin;
  if (!strong.near_null || !strong.marks) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(attempt(A.comm, [&] {
    PetscFunctionBegin;
    PetscCall(near_null_.allocate(ex, std::int64_t{A.rows} * bs_));
    PetscCall(ghost_near_null_.allocate(ex, ghosts * bs_));
    if (A.halo.active()) PetscCall(x.allocate(ex, A.rows));
    PetscCall(memory_copy(ex, near_null_.data(), strong.near_null->data(), near_null_.bytes()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscCall(exchange_vectors(ex, A, bs_, bs_, near_null_.data(), x.data(), ghost_near_null_.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Local: S's values; with `columns` also its columns, unless S shares A's pattern.
template <class Ex> PetscErrorCode SmoothedProlongator<Ex>::fill(Ex &ex, const DistMatrix<Ex> &A, double rho, bool columns)
{
  PetscFunctionBegin;
  if (S_.val.size() == 0) PetscCall(S_.val.allocate(ex, as_A_ ? A.diag.nnz : S_.col.size()));
  // Steps are shortened, never lengthened: by rho / g_i, rounding would grow as well.
  const double step = rho > 0 ? omega_ / (has_row_bounds(rho) ? least_row_bound : rho) : 0;
  PetscCall(smoothing_entries(ex, rows_of(A), diagonal_.data(), lumping_, {near_null_.data(), ghost_near_null_.data()}, bs_, step, S_of(A),
                              columns && !as_A_ ? S_.col.data() : nullptr, S_.val.data()));
  if (has_row_bounds(rho)) PetscCall(damp_each_row(ex, S_of(A), ghosts_before_, omega_, rho, S_.val.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex>
PetscErrorCode SmoothedProlongator<Ex>::create(Ex &ex, DistMatrix<Ex> &A, const StrongNodes<Ex> &strong, double rho,
                                               const SmoothingRule &rule, CoarseBlocks<Ex> &&T, CoarseBlocks<Ex> &P)
{
  const auto steps = static_cast<std::size_t>(std::max(rule.steps, 0));

  PetscFunctionBegin;
  omega_ = rule.omega;
  bs_ = strong.bs;
  ghosts_before_ = A.ghosts_before();
  if (steps == 0) {
    P = std::move(T);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  T_ = std::move(T);
  between_.resize(steps - 1);
  PetscCall(keep_near_null(ex, A, strong));
  PetscCall(attempt(A.comm, [&] {
    PetscFunctionBegin;
    PetscCall(choose(ex, A, strong));
    if (lumping_.bytes() == 0) near_null_ = {};
    if (lumping_.bytes() == 0) ghost_near_null_ = {};
    PetscCall(fill(ex, A, rho, true));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  for (std::size_t k = 0; k < steps; k++) {
    step_.push_back(std::make_unique<SmoothingStep<Ex>>());
    PetscCall(step_[k]->create(ex, A, S_of(A), k == 0 ? T_ : between_[k - 1], rule.spgemm, k + 1 == steps ? P : between_[k]));
  }
  S_.val.release(); // many setups have no new values after them
  if (step_[0]->has_copy(T_)) T_.diag = {};
  T_.offd = {};
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode SmoothedProlongator<Ex>::update(Ex &ex, DistMatrix<Ex> &A, double rho, CoarseBlocks<Ex> &P)
{
  const std::size_t steps = step_.size();

  PetscFunctionBegin;
  if (steps == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(attempt(A.comm, [&] { return fill(ex, A, rho, false); }));
  for (std::size_t k = 0; k < steps; k++) {
    const CoarseBlocks<Ex> &from = k == 0 ? T_ : between_[k - 1];
    if (k > 0) PetscCall(step_[k]->take(ex, from));
    PetscCall(step_[k]->multiply(ex, S_of(A), from, k + 1 == steps ? P : between_[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> std::size_t SmoothedProlongator<Ex>::bytes() const
{
  std::size_t sum = diagonal_.bytes() + lumping_.bytes() + near_null_.bytes() + ghost_near_null_.bytes() + S_.bytes() + T_.bytes();
  for (const auto &step : step_) sum += step->bytes();
  for (const auto &P : between_) sum += P.bytes();
  return sum;
}

AMGKIT_INSTANTIATE_TYPE(class, SmoothingStep)
AMGKIT_INSTANTIATE_TYPE(class, SmoothedProlongator)
} // namespace amgkit
