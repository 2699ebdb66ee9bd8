#include "graph/prolongator_filter.hpp"

#include "dist/attempt.hpp"
#include "sparse/rows/rows.hpp"

#include <array>

namespace amgkit
{
namespace
{
template <class Ex> FilterRows rows_of(const CoarseBlocks<Ex> &P, const Array<double, Ex> &B, const Array<double, Ex> &ghost_B)
{
  return {P.diag.view(), P.offd.view(), ghosts_before(P.ghosts, P.first), B.data(), ghost_B.data()};
}
} // namespace

// Local
template <class Ex> PetscErrorCode ProlongatorFilter<Ex>::begin(Ex &ex, const CoarseBlocks<Ex> &P, const double *B_c)
{
  const int bs = rule_.bs, m = rule_.m;

  PetscFunctionBegin;
  PetscCheck(m >= 1 && m <= most_m, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "A prolongator with %d near-null vectors cannot be filtered: at most %d", m, most_m);
  PetscCheck(bs >= 1 && P.diag.rows % bs == 0 && P.diag.cols % m == 0 && P.offd.cols % m == 0, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "A prolongator of %d rows and %d + %d columns is not made of blocks of %d x %d", P.diag.rows, P.diag.cols, P.offd.cols, bs, m);
  PetscCall(B_.allocate(ex, std::int64_t{m} * P.diag.cols));
  PetscCall(memory_copy(ex, B_.data(), B_c, B_.bytes()));
  PetscCall(ghost_B_.allocate(ex, std::int64_t{m} * P.offd.cols));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Collective: the ghosts' B_c, by a halo in which every one of the m numbers of a coarse point is a row.
template <class Ex> PetscErrorCode ProlongatorFilter<Ex>::fetch(Ex &ex, MPI_Comm comm, const CoarseBlocks<Ex> &P)
{
  Halo<Ex> halo;
  RankRanges range;
  std::vector<PetscInt> ghosts;

  PetscFunctionBegin;
  PetscCall(number_over_ranks(comm, P.diag.cols, range));
  PetscCheck(range.back() <= PETSC_MAX_INT / rule_.m, comm, PETSC_ERR_ARG_OUTOFRANGE, "Too many coarse points for PetscInt");
  for (PetscInt &first : range) first *= rule_.m;
  for (const PetscInt g : P.ghosts) {
    for (int c = 0; c < rule_.m; c++) ghosts.push_back(g * rule_.m + c);
  }
  PetscCall(halo.create(comm, range, ghosts));
  PetscCall(attempt(comm, [&] { return halo.allocate(ex); }));
  PetscCall(halo.exchange_into(ex, static_cast<const double *>(B_.data()), ghost_B_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Local: marks the large blocks and, if the rule has a least share, counts their entries.
template <class Ex> PetscErrorCode ProlongatorFilter<Ex>::mark(Ex &ex, const CoarseBlocks<Ex> &P, std::int64_t *kept)
{
  std::int64_t ghosts = 0;

  PetscFunctionBegin;
  PetscCall(mark_large_blocks(ex, rows_of(P, B_, ghost_B_), rule_, keep_));
  if (rule_.least_share == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(count_marks(ex, keep_.diag, kept));
  PetscCall(count_marks(ex, keep_.offd, &ghosts));
  *kept += ghosts;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Local: what stays.
template <class Ex> PetscErrorCode ProlongatorFilter<Ex>::choose(Ex &ex, const CoarseBlocks<Ex> &P)
{
  const FilterRows rows = rows_of(P, B_, ghost_B_);

  PetscFunctionBegin;
  PetscCall(keep_uncorrectable(ex, rows, rule_.m, keep_));
  PetscCall(select_entries(ex, rows.diag, keep_.diag.data(), 1, {}, chosen_.diag));
  PetscCall(select_entries(ex, rows.offd, keep_.offd.data(), 1, {}, chosen_.offd));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Local: F's pattern and values.
template <class Ex> PetscErrorCode ProlongatorFilter<Ex>::make(Ex &ex, const CoarseBlocks<Ex> &P, CoarseBlocks<Ex> &F)
{
  const FilterRows rows = rows_of(P, B_, ghost_B_);

  PetscFunctionBegin;
  PetscCall(selected_pattern(ex, rows.diag, chosen_.diag, F.diag));
  PetscCall(selected_pattern(ex, rows.offd, chosen_.offd, F.offd));
  PetscCall(keep_used_ghosts(ex, F.offd, P.ghosts, F.ghosts));
  F.first = P.first;
  PetscCall(values(ex, P, F));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Collective: pays_ <- whether the least share goes if so many of the rank's entries stay.
template <class Ex> PetscErrorCode ProlongatorFilter<Ex>::judge(MPI_Comm comm, std::int64_t kept)
{
  std::array<double, 2> entries = {static_cast<double>(kept), static_cast<double>(keep_.diag.size() + keep_.offd.size())};

  PetscFunctionBegin;
  if (rule_.least_share > 0) {
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, entries.data(), 2, MPI_DOUBLE, MPI_SUM, comm));
    pays_ = entries[0] <= (1 - rule_.least_share) * entries[1];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex>
PetscErrorCode ProlongatorFilter<Ex>::create(Ex &ex, MPI_Comm comm, const CoarseBlocks<Ex> &P, const double *B_c, const FilterRule &rule,
                                             CoarseBlocks<Ex> &F)
{
  std::int64_t kept = 0;

  PetscFunctionBegin;
  rule_ = rule;
  PetscCall(attempt(comm, [&] { return begin(ex, P, B_c); }));
  PetscCall(fetch(ex, comm, P));
  PetscCall(attempt(comm, [&] { return mark(ex, P, &kept); }));
  PetscCall(judge(comm, kept)); // at most as many will go: rows that cannot be corrected keep theirs
  if (!pays_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(attempt(comm, [&] { return choose(ex, P); }));
  PetscCall(judge(comm, chosen_.diag.at.size() + chosen_.offd.at.size()));
  if (pays_) PetscCall(attempt(comm, [&] { return make(ex, P, F); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode ProlongatorFilter<Ex>::values(Ex &ex, const CoarseBlocks<Ex> &P, CoarseBlocks<Ex> &F)
{
  return corrected_values(ex, rows_of(P, B_, ghost_B_), rule_.m, keep_, chosen_, F);
}

AMGKIT_INSTANTIATE_TYPE(class, ProlongatorFilter)
} // namespace amgkit
