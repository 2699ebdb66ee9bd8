// The prolongator of smoothed aggregation (Vaněk, Mandel, Brezina 1996), distributed: P = S T, as many times S as there are steps,
//   S = I - omega G^-1 D^-1 A_f,  D = diag(A),  G = diag(g_i),  T the tentative prolongator,
//   g_i = min(rho, max(2, s_i)),  rho = rho(D^-1 A),  s_i = sum_j |(A_f)_ij| / |a_ii|,  but g_i = rho if rho <= 2.2.
// The textbook's S has rho in place of g_i. But rho may be large because of a few rows, and of couplings that A_f no longer has. Then the
// other rows would take steps, omega / g_i, that are too short. s_i is Gershgorin's bound for row i of D^-1 A_f: with s_i in place of g_i,
// the spectral radius of G^-1 D^-1 A_f is at most 1, as that of D^-1 A / rho is. In an M-matrix whose row sums are zero all s_i are 2, and
// so is rho, which estimates see up to a tenth too large. On meshes of flat elements this saves a tenth of the iterations.
//
// A_f is A, or A with its weak blocks lumped: each entry of a block that couples the nodes I and J weakly is added to the diagonal block,
//   a_(Ip)(Iq) += a_(Ip)(Jq),  p and q the components,
// or dropped if a_(Ip)(Iq) is not stored. So A_f does to translations what A does, unless entries were dropped. Diagonal blocks are strong.
// Given bs vectors B, a block of bs rows for each node, A_II += A_IJ B_J B_I^-1 instead, so that A_f B = A B, unless entries were dropped
// or B_I is singular. The near-null space of a coarse level is no translation: B_I is the R of an aggregate, and for bs = 1 the root of its
// size. Parts of a system that are hardly coupled need it exactly: 100 squares of 20 x 20 cells, coupled by 1e-4 of what couples cells,
// take 16 iterations in place of 240. D^-1 is 0 where a_ii is 0: P's row is T's then. A row that does not store a_ii has T's pattern, too.
//
// P's pattern is that of the product, entries that are 0 by chance included. T's rows have their entries in whole runs of columns
// m I, ..., m I + m - 1, and so have P's. All sums are taken in the order of the global indices: the same bits in every space, by native
// products, and on any number of ranks.
#pragma once
#include "dist/gathered_rows.hpp"
#include "graph/coarse_blocks.hpp"
#include "graph/strength.hpp"
#include "sparse/spgemm/spgemm.hpp"

#include <memory>

namespace amgkit
{
struct SmoothingRule {
  double omega = 4.0 / 3;
  int steps = 1; // 0: P = T
  SpgemmOptions spgemm;
};

// Which couplings stay: those of smoothing_couplings among the marks of the entries of `nodes`, the matrix of A's bs x bs blocks, for bs =
// 1 A itself. Without marks: all.
template <class Ex> struct StrongNodes {
  const DistMatrix<Ex> *nodes = nullptr;
  const Strength<Ex> *marks = nullptr;
  int bs = 1;
  const Array<double, Ex> *near_null =
      nullptr; // B[i * bs + k], row i of vector k, B_I upper triangular; nullptr, on all ranks: translations
};
// B of A's rows and ghosts; nullptr: translations
struct NearNullValues {
  const double *own = nullptr, *ghost = nullptr;
};

// Whether rows have such g_i, and the least of these; else g_i = rho
inline constexpr double least_row_bound = 2;
inline bool has_row_bounds(double rho) { return rho > 1.1 * least_row_bound; }

// What becomes of A's entries.
inline constexpr unsigned char entry_stays = 128; // less than that: the component q to which a weak entry is lumped
template <class Ex> struct Lumping {
  Array<unsigned char, Ex> diag, offd;

  std::size_t bytes() const { return diag.bytes() + offd.bytes(); }
};

// One step, Q = S T.
template <class Ex> class SmoothingStep {
public:
  // Collective, once; S has A's rows, its columns in the order of the global indices.
  PetscErrorCode create(Ex &, DistMatrix<Ex> &A, CsrView<double> S, const CoarseBlocks<Ex> &T, const SpgemmOptions &, CoarseBlocks<Ex> &Q);
  // Collective: T's values have changed.
  PetscErrorCode take(Ex &ex, const CoarseBlocks<Ex> &T) { return right_.update(ex, T.rows()); }
  // Local: Q's values, for S's on the same pattern. With native products waits and allocates the first time only.
  PetscErrorCode multiply(Ex &, CsrView<double> S, const CoarseBlocks<Ex> &T, CoarseBlocks<Ex> &Q);
  // Whether T's blocks are no longer read but by take().
  bool has_copy(const CoarseBlocks<Ex> &T) const { return right_.rows(T.rows()).ptr != T.diag.ptr.data(); }
  std::size_t bytes() const { return right_.bytes() + W_.bytes() + plan_.bytes(); }

private:
  PetscErrorCode make_product(Ex &, CsrView<double> S, const CoarseBlocks<Ex> &T, const SpgemmOptions &, CoarseBlocks<Ex> &Q);
  PetscErrorCode note_places(Ex &, CsrView<double> S, const CoarseBlocks<Ex> &T, CoarseBlocks<Ex> &Q);
  // The product, whose columns are in the order of the global indices: Q's own block where there are no others.
  bool apart() const { return right_.ghosts().empty(); }
  Csr<double, Ex> &product(CoarseBlocks<Ex> &Q) { return apart() ? Q.diag : W_; }
  ChosenRows product_rows(int own) const { return {W_.rows, own, {W_.view(), right_.before()}}; }

  GatheredRows<Ex> right_; // of T
  Csr<double, Ex> W_;
  SpgemmPlan<Ex> plan_;
};

// Makes P, and P's values again. Holds what the latter needs; P is complete without this object.
template <class Ex> class SmoothedProlongator {
public:
  // Collective, once. A's halo has its buffers. It must outlive this object; nothing else need. T is taken; its rows of a node have
  // all columns of one aggregate, or none. bs divides the rows of every rank, and is 128 at most. rho = 0 stands for S = I.
  PetscErrorCode create(Ex &, DistMatrix<Ex> &A, const StrongNodes<Ex> &, double rho, const SmoothingRule &, CoarseBlocks<Ex> &&T,
                        CoarseBlocks<Ex> &P);
  // Collective: P's values for other values of A on the same pattern, and their rho; T and what is strong stay what they are. The same bits
  // as create() gives. Allocates the first time only: S's values, and with native products what it can do without.
  PetscErrorCode update(Ex &, DistMatrix<Ex> &A, double rho, CoarseBlocks<Ex> &P);
  std::size_t bytes() const;

private:
  SplitRows rows_of(const DistMatrix<Ex> &A) const { return {A.diag, A.offd, 0, nullptr, ghosts_before_}; }
  CsrView<double> S_of(const DistMatrix<Ex> &A) const
  {
    CsrView<double> S = as_A_ ? A.diag : S_.view();
    S.val = S_.val.data();
    return S;
  }
  PetscErrorCode choose(Ex &, const DistMatrix<Ex> &A, const StrongNodes<Ex> &);
  PetscErrorCode keep_near_null(Ex &, DistMatrix<Ex> &A, const StrongNodes<Ex> &);
  PetscErrorCode fill(Ex &, const DistMatrix<Ex> &A, double rho, bool columns);

  double omega_ = 0;
  int bs_ = 1, ghosts_before_ = 0;                // of A's ghosts
  Array<int, Ex> diagonal_;                       // position of a_ii in A.diag, -1 where it is not stored
  Lumping<Ex> lumping_;                           // empty where S has all of A's entries
  Array<double, Ex> near_null_, ghost_near_null_; // of A's rows and ghosts; empty: translations
  bool as_A_ = false;                             // S has the pattern of A.diag, and holds none
  Csr<double, Ex> S_;
  CoarseBlocks<Ex> T_;
  std::vector<std::unique_ptr<SmoothingStep<Ex>>> step_;
  std::vector<CoarseBlocks<Ex>> between_; // what the steps but the last make
};

// The local steps. diagonal[i]: the position of a_ii in A.diag, or -1 if it is not stored; row i of S is then that of the identity.
// length[i]: the number of entries in row i of S. unknown[g] of A's ghost g: bs J + q for component q of the J-th ghost of nodes.
template <class Ex>
PetscErrorCode lumping_of(Ex &, const SplitRows &A, CsrView<double> nodes, CsrView<double> ghost_nodes, const Strength<Ex> &, int bs,
                          const int *unknown, const int *diagonal, Lumping<Ex> &, int *length);
// Without lumping.
template <class Ex> PetscErrorCode lengths_as_in_A(Ex &, const SplitRows &A, const int *diagonal, int *length);
// How many rows do not store a_ii. Waits.
template <class Ex> PetscErrorCode count_missing(Ex &, std::int64_t n, const int *diagonal, std::int64_t *missing);
// Writes S = I - factor D^-1 A_f: val, and col unless it is nullptr. S.ptr must be set, and S.col too where col is nullptr. Neither waits
// nor allocates.
template <class Ex>
PetscErrorCode smoothing_entries(Ex &, const SplitRows &A, const int *diagonal, const Lumping<Ex> &, const NearNullValues &, int bs,
                                 double factor, CsrView<double> S, int *col, double *val);
// Replaces least_row_bound by g_i in the rows of S = I - omega / least_row_bound D^-1 A_f. ghosts_before: S's columns before row 0's own.
// Neither waits nor allocates.
template <class Ex> PetscErrorCode damp_each_row(Ex &, CsrView<double> S, int ghosts_before, double omega, double rho, double *val);
} // namespace amgkit
