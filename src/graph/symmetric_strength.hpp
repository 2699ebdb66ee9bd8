// Strength of connection for aggregation: j is strong for i != j iff
//   theta sqrt(d_i d_j) < |a_ij| <= comparable sqrt(d_i d_j), the latter (strength.hpp) only if d_i d_j > 0,
//   relative:  d_i = m_i = max_{k != i} |a_ik|, which does not depend on the size of the diagonal;
//   symmetric: d_i = |a_ii|, so that a_ij^2 > theta^2 |a_ii a_jj| (Vaněk, Mandel, Brezina 1996).
// theta = 0 keeps all that is not 0, but those. Weak couplings above a second, smaller theta are marked as such. Both sides are the same
// bits for (i, j) and for (j, i), on any rank, where |a_ij| = |a_ji|: then the marks are symmetric. Entries of any size may stand beside
// each other: d_i d_j neither overflows nor underflows.
#pragma once
#include "dist/matrix.hpp"
#include "graph/strength.hpp"

namespace amgkit
{
enum class StrengthKind { relative, symmetric };

struct StrengthThresholds {
  double strong, kept; // kept <= strong

  StrengthThresholds(double theta) : strong(theta), kept(theta) {}
  StrengthThresholds(double of_strong, double of_kept) : strong(of_strong), kept(of_kept) {}
};

// Collective. The marks are 0, strong_coupling or kept_coupling.
template <class Ex> PetscErrorCode symmetric_strength(Ex &, DistMatrix<Ex> &A, StrengthKind, const StrengthThresholds &, Strength<Ex> &);

// The local steps: d
template <class Ex> PetscErrorCode strength_scales(Ex &, CsrView<double> diag, CsrView<double> offd, StrengthKind, double *d);
// The marks of a block in these rows, row = nullptr: in all; d, column_d: of its rows and columns. own: whether it holds the diagonal.
struct ScaledBlock {
  CsrView<double> A;
  const double *d, *column_d;
  bool own;
};
template <class Ex>
PetscErrorCode mark_symmetric(Ex &, const ScaledBlock &, std::int64_t rows, const int *row, const StrengthThresholds &,
                              unsigned char *mark);
} // namespace amgkit
