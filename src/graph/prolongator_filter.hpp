// Filter of a smoothed prolongator, as GAMG's of PETSc 3.26 with a correction of ours: the bs x m blocks of P, rows of a node I and columns
// of an aggregate J, with |P_IJ|_F < threshold max_K |P_IK|_F go. What stays of a row is corrected so that P B_c = B holds still: the row
// keeps p_i B_c, B_c the coarse near-null space, m numbers b_j a column j.
//   m = 1    p_i is scaled by f = old p_i B_c / cut p_i B_c;
//   m > 1    the smallest change within the entries that stay: p_ij += r_i G^-1 b_j^T, r_i = (old p_i - cut p_i) B_c, G = sum of b_j^T b_j.
// A row stays as it was where a tenth <= f <= 10 does not hold; where G is singular, a Cholesky pivot at most 1e-10 of its diagonal entry,
// as with fewer entries than m; or where the change would be more than 10 times as long as what stays.
//
// All sums are taken in the order of the global indices: the same bits in every space and on any number of ranks.
#pragma once
#include "graph/coarse_blocks.hpp"
#include "graph/strength.hpp"

namespace amgkit
{
struct FilterRule {
  double threshold = 0; // 0: nothing goes
  int bs = 1, m = 1;
  double least_share = 0; // of the entries of all ranks; where less would go, nothing does
};

// What stays of P.
template <class Ex> class ProlongatorFilter {
public:
  static constexpr int most_m = 32;

  // Collective over comm, the ranks of P, once: F = what stays. P's rows have their entries in whole runs of columns m J, ..., m J + m - 1.
  // bs divides every rank's rows, m its coarse points. B_c: of the rank's own coarse points, m numbers each.
  PetscErrorCode create(Ex &, MPI_Comm comm, const CoarseBlocks<Ex> &P, const double *B_c, const FilterRule &, CoarseBlocks<Ex> &F);
  // Whether the rule's least_share goes, the same on all ranks. Else F has not been made.
  bool pays() const { return pays_; }
  // Local: the same entries when P's values have changed, for the same B_c. A row that scaling cannot correct takes the smallest change.
  // Neither waits nor allocates.
  PetscErrorCode values(Ex &, const CoarseBlocks<Ex> &P, CoarseBlocks<Ex> &F);
  std::size_t bytes() const { return keep_.bytes() + chosen_.bytes() + B_.bytes() + ghost_B_.bytes(); }

private:
  PetscErrorCode begin(Ex &, const CoarseBlocks<Ex> &P, const double *B_c);
  PetscErrorCode fetch(Ex &, MPI_Comm, const CoarseBlocks<Ex> &P);
  PetscErrorCode mark(Ex &, const CoarseBlocks<Ex> &P, std::int64_t *kept);
  PetscErrorCode choose(Ex &, const CoarseBlocks<Ex> &P);
  PetscErrorCode judge(MPI_Comm, std::int64_t kept);
  PetscErrorCode make(Ex &, const CoarseBlocks<Ex> &P, CoarseBlocks<Ex> &F);

  FilterRule rule_;
  bool pays_ = true;
  Array<double, Ex> B_, ghost_B_; // m numbers a column of P's blocks
  Strength<Ex> keep_;             // of P's entries; 1: stays
  BlockSelection<Ex> chosen_;
};

// The local steps.
struct FilterRows {
  CsrView<double> diag, offd; // P's
  int ghosts_before = 0;
  const double *B = nullptr, *ghost_B = nullptr;
};
// keep[k] <- 0 for the entries of small blocks, else 1
template <class Ex> PetscErrorCode mark_large_blocks(Ex &, const FilterRows &, const FilterRule &, Strength<Ex> &keep);
// keep[k] <- 1 in rows that cannot be corrected
template <class Ex> PetscErrorCode keep_uncorrectable(Ex &, const FilterRows &, int m, Strength<Ex> &keep);
// F's values
template <class Ex>
PetscErrorCode corrected_values(Ex &, const FilterRows &, int m, const Strength<Ex> &keep, const BlockSelection<Ex> &chosen,
                                CoarseBlocks<Ex> &F);
} // namespace amgkit
