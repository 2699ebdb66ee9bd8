// Aggressive coarsening (De Sterck, Yang, Heys 2006; the matrix form of Li, Sjögreen, Yang 2021): the graph S2 of the C points of a first
// coarsening, on which a second one picks among them. Its matrix (S_C: + 2 I) S_:C counts the paths of two steps from i to j, and twice a
// direct one; C point j is a neighbour of i != j where the count is at least 1 (a1) or 2 (a2).
#pragma once
#include "graph/coarse_parts.hpp"
#include "graph/strength.hpp"
#include "sparse/spgemm/spgemm.hpp"

namespace amgkit
{
template <class Ex> struct SecondStrength {
  CoarseBlocks<Ex> edges; // rows and columns are C points; without values
  RankRanges range;
  Halo<Ex> halo;

  // A view of this object; every entry is an edge.
  DistGraph<Ex> graph(MPI_Comm comm)
  {
    const CsrView<double> diag = edges.diag.view(), offd = edges.offd.view();
    return {comm,
            &range,
            &edges.ghosts,
            &halo,
            {diag.rows, diag.nnz, diag.ptr, diag.col, nullptr},
            {offd.rows, offd.nnz, offd.ptr, offd.col, nullptr}};
  }
};

enum class SecondStrengthKind { a1, a2 };
struct SecondStrengthRule {
  SecondStrengthKind kind = SecondStrengthKind::a1;
  SpgemmOptions spgemm;
  std::int64_t slice_bytes = 0; // as in InterpolationRule
};
// Collective, once. marks: of A's entries, the strong ones. A stores its diagonal.
template <class Ex>
PetscErrorCode second_strength(Ex &, DistMatrix<Ex> &A, const Strength<Ex> &marks, const CoarsePoints<Ex> &, const SecondStrengthRule &,
                               SecondStrength<Ex> &);

// second[i] <- whether row i's C point, number[i], is coarse[number[i]]; 0 for F points
template <class Ex> PetscErrorCode spread_coarse(Ex &, int n, const int *number, const unsigned char *coarse, unsigned char *second);

// The local steps. What an entry of A is to the counts:
enum CountKind : unsigned char {
  from_coarse = 1, // in a C row: strong, or the diagonal
  into_coarse = 2  // in any row: strong, in the column of a C point
};
struct CoarseNumbers {
  const int *number;
  const std::uint64_t *ghosts;
};
template <class Ex>
PetscErrorCode mark_counted(Ex &, CsrView<double> diag, CsrView<double> offd, const Strength<Ex> &, CoarseNumbers, unsigned char *mark,
                            unsigned char *ghost_mark);
// val[k] <- 1, and 2 in column first + i of row i
template <class Ex> PetscErrorCode weigh_steps(Ex &, CsrView<double> L, int first, double *val);
// keep[k] <- 1 for counts of at least least_count, but in column first + number[i] of row i, else 0
template <class Ex>
PetscErrorCode mark_edges(Ex &, CsrView<double> counts, const int *number, int first, int least_count, unsigned char *keep);
} // namespace amgkit
