// Strength of connection for aggregation: j is strong for i != j iff
//   theta sqrt(d_i d_j) < |a_ij| <= comparable sqrt(d_i d_j), the latter (strength.hpp) only if d_i d_j > 0,
//   relative:  d_i = m_i = max_{k != i} |a_ik|, which does not depend on the size of the diagonal;
//   symmetric: d_i = |a_ii|, so that a_ij^2 > theta^2 |a_ii a_jj| (Vaněk, Mandel, Brezina 1996).
// theta = 0 keeps all that is not 0, except what is above the limit with `comparable`. Weak couplings above a second, smaller theta are
// marked as such. The mean is the product of two roots, which neither overflows nor underflows, so that entries of any size may stand
// beside each other. A coupling that exceeds a limit by less than 1e-12 of it counts as equal, so that rounding does not decide where
// couplings are at a limit. Both sides are the same bits for (i, j) and for (j, i), on any rank, where |a_ij| = |a_ji|: then the marks are
// symmetric, but for those of `soft`.
//
// What is strong by this, but at most `least` times the larger one of d_i and d_j, is marked as kept: it couples a node to one that is much
// stiffer, up to 1 / theta^2 times. A soft node that has such couplings to two stiff parts would join them in one aggregate, though a
// smooth error differs between them.
//
// Let d_i < soft d_j. A coupling that is not strong by the mean of both is marked as kept in row i if it is larger than theta d_i and not
// cancelled. A soft node beside a stiff one then follows it, as it follows a boundary value. The stiff node does not follow the soft one,
// so these marks are not symmetric.
//
// With cancel_positive and theta > 0, rows whose positive couplings cancel negative ones (positive_couplings.hpp) have, for relative, m_i
// of their negative couplings alone. Between two such rows no positive coupling is strong, and no negative one that both of them cancel.
// Any of these may be marked as kept. But on coarse levels the second theta does not hold for couplings of which one row or both cancel:
// what is left of couplings of both signs would no longer cancel. With it, rectangles of 1 : 1000 take 34 iterations in place of 24.
//
// On coarse levels B may be given, the vector that stands there for the constant one. What cancels is then judged by
// b_ij = a_ij (B_i B_j): the columns of a tentative prolongator have norm 1, so B_i is larger where aggregates are, and couplings that
// cancel have a sum of 0 in the b_ij, not in the a_ij. With B, rectangles of 1 : 1000 (360,000 unknowns) took 30 iterations, without it 97.
//
// A matrix of nodes has norms of blocks, which have no signs. What cancels is then judged by c_IJ = tr(B_I^T A_IJ B_J) (nodes.hpp), with
// the vectors that stand for the constants of the components; on the finest level this is the trace of A_IJ. Read c_IJ for b_ij in all that
// is said here. A block with c_IJ = 0 counts as a positive coupling. Elasticity of 100 x 100 rectangles of 1 : 20 so takes 18 iterations in
// place of 136, of 1 : 100 19 in place of 247.
#pragma once
#include "dist/matrix.hpp"
#include "graph/node_matrix.hpp"
#include "graph/strength.hpp"

#include <type_traits>

namespace amgkit
{
enum class StrengthKind { relative, symmetric };

struct SymmetricRule {
  StrengthKind kind = StrengthKind::relative;
  double strong = 0, kept = 0;  // the two theta, kept <= strong
  bool cancel_positive = false; // for near-null spaces that have the constants
  double least = 0;
  double soft = 0;     // 0: no such couplings
  bool coarse = false; // of a level below the finest (positive_couplings.hpp)
};

// Collective. B: a number for each row, of one sign; nullptr, on all ranks or on none: all are 1. It is read only where couplings may
// cancel. The marks are 0 or a CouplingMark: weak_coupling where a_ij is not 0, and neither strong, nor kept, nor cancelled; 0
// where it is above comparable sqrt(d_i d_j), and where it is cancelled and not kept.
// c: of a matrix of nodes, what stands for the b_ij; there is no B then.
template <class Ex>
PetscErrorCode symmetric_strength(Ex &, DistMatrix<Ex> &A, const SymmetricRule &, const std::type_identity_t<Array<double, Ex>> *B,
                                  Strength<Ex> &, const std::type_identity_t<NodeCouplings<Ex>> *c = nullptr);

// B of the rank's rows and of its ghosts; of_rows = nullptr: 1.
struct RowScales {
  const double *of_rows = nullptr, *of_ghosts = nullptr;

  AMGKIT_FN double scaled(double a_ij, std::int64_t i, int j) const { return of_rows ? a_ij * (of_rows[i] * of_rows[j]) : a_ij; }
  AMGKIT_FN double scaled_ghost(double a_ij, std::int64_t i, int j) const { return of_rows ? a_ij * (of_rows[i] * of_ghosts[j]) : a_ij; }
};

// The couplings along vectors that a matrix of nodes has beside its values; nullptr: its values
struct SignedValues {
  const double *diag = nullptr, *offd = nullptr;
};

// The local steps: root_i = sqrt(d_i), and with cancel_positive also w, else nullptr. Where positive couplings of row i cancel negative
// ones, |w_i| is the largest size of a weak b_ij, and w_i has the sign of a_ii; elsewhere it is 0.
template <class Ex>
PetscErrorCode strength_scales(Ex &, CsrView<double> diag, CsrView<double> offd, RowScales, const SignedValues &, const SymmetricRule &,
                               double *root, double *w);
// The marks of a block in these rows, row = nullptr: in all; root, w, column_root, column_w: of its rows and columns. own: whether it holds
// the diagonal.
struct ScaledBlock {
  CsrView<double> A;
  RowScales B;
  const double *c; // as SignedValues has it
  const double *root, *w, *column_root, *column_w;
  bool own;

  AMGKIT_FN double b(std::int64_t i, int k) const
  {
    const double value = c ? c[k] : A.val[k];
    return own ? B.scaled(value, i, A.col[k]) : B.scaled_ghost(value, i, A.col[k]);
  }
};
template <class Ex>
PetscErrorCode mark_symmetric(Ex &, const ScaledBlock &, std::int64_t rows, const int *row, const SymmetricRule &, unsigned char *mark);
} // namespace amgkit
