// The weights of classical interpolation, on one rank's rows; which formula is which: graph/interpolation.hpp.
#pragma once
#include "graph/strength.hpp"
#include "sparse/rows/rearrange.hpp"
#include "sparse/spgemm/sliced_blocks.hpp"

namespace amgkit
{
// What an entry of A is to the interpolation of its row; 0: nothing.
enum EntryKind : unsigned char {
  to_coarse = 1, // of an F row: strong, C column; of a C row: the diagonal
  to_fine = 2,   // of an F row: strong, F column, or the diagonal; of a C row: the diagonal
  lumped = 4,    // of an F row: weak, or the diagonal
  on_path = 8    // what is to_fine in the rows that are wanted
};
template <class Ex> struct EntryKinds {
  Array<unsigned char, Ex> diag, offd;

  std::size_t bytes() const { return diag.bytes() + offd.bytes(); }
};
// Which points are C: as in CoarsePoints. Entries between different unknowns are nothing, unknown as in StrengthRule. wanted: as in
// InterpolationRule.
struct Splitting {
  const int *number = nullptr;
  const std::uint64_t *ghosts = nullptr;
  const int *unknown = nullptr, *ghost_unknown = nullptr;
  const int *wanted = nullptr;
};
template <class Ex> PetscErrorCode classify_entries(Ex &, const SplitRows &A, const Strength<Ex> &, const Splitting &, EntryKinds<Ex> &);

// val[ptr[i]] <- 1 for the C points i
template <class Ex> PetscErrorCode unit_rows(Ex &, int n, const int *number, const int *ptr, double *val);
// sum[i] <- sum of row i
template <class Ex> PetscErrorCode row_sums(Ex &, CsrView<double> A, double *sum);

// Rows of A with the kinds of their entries. number: as in CoarsePoints, of all of A's rows; ghosts_before: as in SplitRows.
struct PointRows {
  MarkedRows A;
  const int *number = nullptr;
  int ghosts_before = 0;
};
// mean[i] <- mean of the strong a_ij, j in F, 0 where there are none
template <class Ex> PetscErrorCode means_of_fine(Ex &, const PointRows &, double *mean);

// A's F points and the ghosts are the columns k of w, in their common order: the ghosts before the own points, these, the others. On entry
// w_ik = a_ik for the entries that are on_path, the diagonal included; C rows hold their diagonal alone. w's rows are the given ones.
// On return P = w B, where B has the rows A^s_kC, and the identity in C rows. beta: sums of B's rows.
template <class Ex> PetscErrorCode weigh_ext(Ex &, const PointRows &, const double *beta, Csr<double, Ex> &w);
// Of the ghosts k the strong a_kj, j in F; A's row i is column first + i.
struct GhostCouplings {
  CsrView<double> rows;
  int first = 0;
};
// all: of A, where the a_ki of own k are.
template <class Ex>
PetscErrorCode weigh_ext_i(Ex &, const PointRows &, const MarkedRows &all, const double *beta, const GhostCouplings &, Csr<double, Ex> &w);
// mean: of all points, in the order of w's columns
template <class Ex> PetscErrorCode weigh_ext_e(Ex &, const PointRows &, const double *beta, const double *mean, Csr<double, Ex> &w);
// P: on entry B's own rows, on return the prolongator.
template <class Ex> PetscErrorCode weigh_direct(Ex &, const PointRows &, Csr<double, Ex> &P);
} // namespace amgkit
