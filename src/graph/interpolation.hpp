// Classical interpolation in matrix-matrix form (Li, Sjögreen, Yang 2021), distributed: P is the identity in C rows; in F row i
//   P_i = -(1 / theta_i) (A^s_iC + sum over strong F points k of w_ik A^s_kC),
// A^s the strong part of A, alpha_i = a_ii, gamma_i the sum of i's weak a_ij, beta_k the sum of A^s_kC.
//   ext     w_ik = a_ik / beta_k;            theta_i = alpha_i + gamma_i; beta_k = 0: w_ik = 0, theta_i += a_ik
//   ext_i   b = beta_k + a^s_ki, w_ik = a_ik / b; theta_i = alpha_i + gamma_i + sum of w_ik a^s_ki; b = 0: w_ik = 0, theta_i += a_ik
//   ext_e   mu_k the mean of the strong a_kj, j in F, w_ik = a_ik / (beta_k + mu_k); theta_i = alpha_i + gamma_i + sum of w_ik mu_k;
//           1 / 0 counts as 0
//   direct  P_ij = -(N / C) a_ij / d for strong j in C: N the sum of i's off-diagonal entries of a_ij's sign, C that of the strong ones
//           in C among them, d = a_ii and the entries of a sign that has no C (Stüben 2001)
// Rows whose entries sum to 0 interpolate constants, except that ext_e loses a path to a k that depends on nothing. F rows without a C
// point within reach are empty.
//
// All sums are taken in the order of the global indices: the same bits in every space, by native products, and on any number of ranks.
#pragma once
#include "dist/gathered_rows.hpp"
#include "graph/coarse_parts.hpp"
#include "graph/interpolation_weights.hpp"
#include "sparse/spgemm/spgemm.hpp"

#include <optional>
#include <utility>

namespace amgkit
{
enum class InterpolationKind { direct, ext, ext_i, ext_e };

struct InterpolationRule {
  InterpolationKind kind = InterpolationKind::ext_i;
  Truncation truncation;
  SpgemmOptions spgemm;
  // Block systems by the unknown approach, as in StrengthRule.
  const int *unknown = nullptr, *ghost_unknown = nullptr;
  // F rows i with wanted[i] < 0 are left empty, but by direct; nullptr: none.
  const int *wanted = nullptr;
  // Whether update() shall be possible. If not, the product is made in slices of about so many bytes, and the object is of no more use.
  bool keep = false;
  std::int64_t slice_bytes = 0;
};

// Makes P, and P's values again. Holds what the latter needs, the product before truncation among it; forgotten with the object, without
// which P is complete.
//
// 7-point 256³ without keep, 117 M entries, 52 M in P: strength and kinds of the entries, 0.23 GB, B and beta, 0.56 GB, a slice, 0.26 GB,
// and P, 0.7 GB, twice for a moment when all but strength has gone.
template <class Ex> class Interpolation {
public:
  // Collective, once. A's rows store their diagonals, and A's halo has its buffers; A's halo must outlive this object.
  PetscErrorCode create(Ex &, DistMatrix<Ex> &A, const Strength<Ex> &, const CoarsePoints<Ex> &, const InterpolationRule &,
                        CoarseBlocks<Ex> &P);
  // The same; frees strength when it has been read.
  PetscErrorCode create(Ex &ex, DistMatrix<Ex> &A, Strength<Ex> &&S, const CoarsePoints<Ex> &points, const InterpolationRule &rule,
                        CoarseBlocks<Ex> &P)
  {
    strength_ = std::move(S);
    return create(ex, A, strength_, points, rule, P);
  }
  // Collective, after create() with keep: P's values for other values of A on the same pattern; splitting, strength and the entries that
  // truncation kept stay what they are. Allocates nothing with native products.
  PetscErrorCode update(Ex &, DistMatrix<Ex> &A, CoarseBlocks<Ex> &P);
  std::size_t bytes() const;

private:
  // From A's rows to P's
  struct Steps {
    BlockSelection<Ex> path;
    Csr<double, Ex> w, W; // W = w B, direct: this rank's rows of B; columns in global order
    SpgemmPlan<Ex> plan;
    TruncatedProduct<Ex> truncated;

    std::size_t bytes() const { return path.bytes() + w.bytes() + W.bytes() + plan.bytes() + truncated.bytes(); }
  };
  bool paths() const { return kind_ != InterpolationKind::direct; }
  MarkedRows rows_of(const DistMatrix<Ex> &A) const { return marked_rows(A, kinds_.diag, kinds_.offd); }
  PointRows points_of(const MarkedRows &rows) const { return {rows, number_, ghosts_before_}; }
  DistRows couplings(const DistMatrix<Ex> &A) const { return {{A.rows, A.rows}, F_offd_.view(), first_row_, &A.ghosts}; }
  CsrView<double> product_factor() const { return gathered_.rows(B_.rows()); }
  ProductColumns columns() const;

  PetscErrorCode choose(Ex &, const DistMatrix<Ex> &A, const Strength<Ex> &, const CoarsePoints<Ex> &, const InterpolationRule &);
  PetscErrorCode take_values(Ex &, const DistMatrix<Ex> &A);
  PetscErrorCode exchange_means(Ex &, DistMatrix<Ex> &A);
  PetscErrorCode make_part(Ex &, const MarkedRows &, const MarkedRows &all, const InterpolationRule &, Steps &, CoarseBlocks<Ex> &part);
  PetscErrorCode make_rows(Ex &, const DistMatrix<Ex> &A, const InterpolationRule &, CoarseBlocks<Ex> &P);
  PetscErrorCode weigh_paths(Ex &, const MarkedRows &, const MarkedRows &all, Csr<double, Ex> &w);
  void forget_own_rows();
  void forget_weights();
  void forget_product();

  InterpolationKind kind_ = InterpolationKind::ext_i;
  PetscInt first_row_ = 0;             // this rank's
  int ghosts_ = 0, ghosts_before_ = 0; // A's, and those before this rank's rows
  Array<int, Ex> kept_number_;
  const int *number_ = nullptr; // of the C points
  Strength<Ex> strength_;       // until the kinds are there
  EntryKinds<Ex> kinds_;
  BlockSelection<Ex> to_coarse_;
  Selection<Ex> to_fine_;     // in the block of ghost columns
  CoarseBlocks<Ex> B_;        // A^s_FC, and the identity in C rows
  Csr<double, Ex> F_offd_;    // A^s_FF in the columns of other ranks
  GatheredRows<Ex> gathered_; // of B
  GhostRows<Ex> ghost_F_;
  Array<double, Ex> beta_, mean_, own_mean_;
  std::optional<Steps> steps_; // kept
  bool whole_ = false;         // one part, not kept: what it is made of is freed as soon as it has been read
};
} // namespace amgkit
