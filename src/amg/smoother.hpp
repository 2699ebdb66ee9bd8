// The smoother of a level: sweeps of a polynomial in D⁻¹ A, or of incomplete factors.
//
//   l1jacobi   x <- x + D⁻¹ (b - A x), D_ii = sign(a_ii) sum_j |a_ij|. Converges for every symmetric definite A
//              (Baker, Falgout, Kolev, Yang 2011).
//   jacobi     x <- x + omega D⁻¹ (b - A x), D the diagonal.
//   chebyshev  the Chebyshev polynomial of D⁻¹ A, D the diagonal, on [0.1 rho, 1.15 rho], rho its spectral radius
//              (Saad, Iterative Methods for Sparse Linear Systems, algorithm 12.1). Degree 1 is Jacobi with 1 / (0.625 rho).
//   ilu0       x <- x + (L U)⁻¹ (b - A x), L U the incomplete factors of each rank's diagonal block, see block_ilu.hpp; where these are no
//              good, l1jacobi.
//   gauss_seidel  x <- x + M⁻¹ (b - A x), M a triangle of each rank's diagonal block, see gauss_seidel.hpp: forward before the coarse
//              correction, backward after it; where errors grow, chebyshev. On a plain host only.
// A level on which rho overflows is not smoothed.
//
// With chebyshev and gauss_seidel, groups of rows that are tied to each other (sparse/rows/tied_rows.hpp) are smoothed together on the
// finest level. chebyshev uses M⁻¹, with the inverses of the groups' blocks, in place of D⁻¹, and the spectrum is that of M⁻¹ A.
// gauss_seidel solves the groups in turn, after a forward sweep and before a backward one.
//
// A row that is coupled to no column, a Dirichlet row, is solved by each sweep: D⁻¹ is there a root of the polynomial over a_ii. Else the
// product of preconditioner and matrix has an eigenvalue there that is none of the smooth vectors', and where other rows are coupled to its
// column, as in PETSc's ex45, conjugate gradients take 154 iterations in place of 9.
#pragma once
#include "amg/block_ilu.hpp"
#include "amg/gauss_seidel.hpp"
#include "amg/parameters.hpp"
#include "amg/spectral_radius.hpp"
#include "sparse/rows/tied_rows.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace amgkit
{
template <class Ex> class Smoother {
public:
  // auto: what measured the fastest in this space, see share/amgkit/bench/NOTES.md; chebyshev where its degree is given.
  static SmootherKind kind(const AmgParameters &parameters)
  {
    if (parameters.smoother != SmootherKind::automatic) return parameters.smoother;
    return GaussSeidel<Ex>::available && parameters.chebyshev_degree == 0 ? SmootherKind::gauss_seidel : SmootherKind::chebyshev;
  }
  // Whether D⁻¹ is sign(a_ii) / sum_j |a_ij|; else it is 1 / a_ii.
  static bool needs_l1(const AmgParameters &parameters)
  {
    return kind(parameters) == SmootherKind::l1jacobi || kind(parameters) == SmootherKind::ilu0;
  }
  // Takes D⁻¹ over, and the rows that are coupled to nothing, for l1jacobi and ilu0 none. Forgets the spectrum, and what
  // round_scaling() made.
  void set_scaling(Array<double, Ex> &&d, Array<int, Ex> &&lone)
  {
    d_ = std::move(d);
    lone_ = std::move(lone);
    single_.release();
    known_.reset();
    symmetry_.reset();
    raised_ = growing_ = false;
  }
  // Collective, after that: looks for tied rows where the smoother has a use for them. coupling: the largest |a_ij| / |a_ii| of columns j
  // != i of the ranks' own blocks.
  PetscErrorCode find_ties(Ex &, const DistMatrix<Ex> &A, const AmgParameters &, double coupling);
  // Forgets them.
  void untie()
  {
    if (gauss_seidel_) gauss_seidel_->tie(nullptr);
    tied_.reset();
    tied_groups_ = 0;
    residual_.release();
  }
  bool scaled() const { return d_.size() > 0 || single_.size() > 0; }
  // The spectrum of D⁻¹ A, D the diagonal. prepare() then does not estimate it, unless there are tied rows.
  void set_spectrum(const Spectrum &spectrum) { known_ = spectrum; }
  // Collective, once after set_scaling(): rho or factors where they are needed, and the steps of a sweep.
  // For new values of the same pattern factors are made by the analysis that is there. bound: as estimate_spectrum() has it. symmetric:
  // whether A is known to be.
  PetscErrorCode prepare(Ex &, DistMatrix<Ex> &A, const AmgParameters &, double bound = HUGE_VAL, bool symmetric = false);
  // Collective, in place of prepare(), for a level that nothing coarser corrects: one sweep is then a polynomial of D⁻¹ A that leaves at
  // most a fifth of an error, but more at eigenvalues so small that 40 steps of Lanczos do not see them. z: as estimate_ends() has it.
  // *solves = false: there is none, as A is not symmetric or not semidefinite, or numbers overflow, and prepare() is to be called.
  PetscErrorCode prepare_to_solve(Ex &, DistMatrix<Ex> &A, const AmgParameters &, const Array<double, Ex> *z, bool *solves);
  // Local, once prepared, before the first apply() to a transposed matrix.
  PetscErrorCode prepare_transposed(Ex &, const DistMatrix<Ex> &A, const TransposedMatrix<Ex> &At);
  // Local, once prepared: rounds D⁻¹ to floats, which vectors of floats need. *unfit: as round_factors() has it.
  PetscErrorCode round_scaling(Ex &, int *unfit);
  // Local, after that: the floats stay in place of D⁻¹, or go.
  void keep_rounded(bool fit);
  // sweeps sweeps on A x = b from x.here to x.here. order: of the rows, for gauss_seidel, to which it matters.
  // Operator: DistMatrix, or TransposedMatrix of the matrix prepared for: as p(D⁻¹ A) D⁻¹ transposed is p(D⁻¹ Aᵀ) D⁻¹, and with factors
  // p((L U)⁻ᵀ Aᵀ) (L U)⁻ᵀ, that smoother is the transpose of this one. V: double, or float for a DistMatrix where keep_rounded() has kept
  // floats.
  template <class Operator, class V>
  PetscErrorCode apply(Ex &, Operator &A, SweepOrder order, PetscInt sweeps, Guess, const V *b, Iterate<V> &x) const;
  // x.there = b - A x.here, right after forward sweeps with the same arguments.
  template <class Operator, class V> PetscErrorCode residual(Ex &, Operator &A, PetscInt sweeps, Guess, const V *b, Iterate<V> &x) const;
  // The first step from a zero guess into x, of rows rows, for whoever makes b; none where it is more than that.
  template <class V> FirstStep<V> first_step(int rows, PetscInt sweeps, V *x) const;
  // How often apply() lets the two arrays change places.
  PetscInt flips(PetscInt sweeps, Guess) const;
  // How many products with the matrix it takes as long as, about: a solve with factors as long as one. Of a forward Gauss-Seidel sweep from
  // a zero guess: with the residual after it one.
  PetscInt products(PetscInt sweeps, Guess guess) const
  {
    if (gauss_seidel_) return sweeps - (guess == Guess::given || sweeps == 0 ? 0 : 1);
    return has_factors() ? sweeps * (guess == Guess::given ? 2 : 1) : flips(sweeps, guess);
  }
  // Of D⁻¹ A, with tied rows of M⁻¹ A; 0 when it was not needed.
  double spectral_radius() const { return spectrum_ ? spectrum_->radius : 0; }
  const std::optional<Spectrum> &spectrum() const { return spectrum_; } // the same, and whether A is symmetric
  // The same on all ranks: whether A is found to be symmetric, where prepare() has looked.
  std::optional<bool> symmetry() const { return spectrum_ ? spectrum_->symmetric : symmetry_; }
  // Local: whether Gauss-Seidel sweeps read the values as floats.
  bool sweeps_in_single() const { return gauss_seidel_ && gauss_seidel_->in_single(); }
  // Local: whether they go by blocks.
  bool sweeps_by_blocks() const { return gauss_seidel_ && gauss_seidel_->by_blocks(); }
  // Why the smoother is not the one that was asked for, or of a higher degree than others, and what it smooths together.
  std::string remark() const;
  PetscInt tied_groups() const { return tied_groups_; } // of all ranks; 0: no rows are tied
  std::size_t bytes() const
  {
    return d_.bytes() + single_.bytes() + (ilu_ ? ilu_->bytes() : 0) + (gauss_seidel_ ? gauss_seidel_->bytes() : 0) +
           (tied_ ? tied_->bytes() : 0) + residual_.bytes();
  }

private:
  PetscErrorCode prepare_gauss_seidel(Ex &, DistMatrix<Ex> &A, const AmgParameters &, bool symmetric);
  PetscErrorCode prepare_ties(Ex &, const DistMatrix<Ex> &A, TiedStep);
  template <class Operator, class V> PetscErrorCode step_of_tied_rows(Ex &, Operator &A, double factor, const V *b, const V *x, V *y) const;
  template <class Operator, class D, class V>
  PetscErrorCode apply_scaled(Ex &, Operator &A, const D *d, PetscInt sweeps, Guess, const V *b, Iterate<V> &x) const;

  template <class Operator, class V>
  PetscErrorCode apply_factors(Ex &, Operator &A, PetscInt sweeps, Guess, const V *b, Iterate<V> &x) const;
  bool has_factors() const { return ilu_ && ilu_->good(); }
  bool takes_steps() const { return !has_factors() && !gauss_seidel_; }

  Array<double, Ex> d_;
  Array<float, Ex> single_;      // instead of d_
  Array<int, Ex> lone_;          // until prepared
  std::vector<RelaxStep> steps_; // of one sweep
  bool raised_ = false;          // whether they are more than the least, by choice
  std::optional<Spectrum> known_, spectrum_;
  std::unique_ptr<BlockIlu<Ex>> ilu_;
  std::unique_ptr<GaussSeidel<Ex>> gauss_seidel_;
  std::optional<bool> symmetry_;       // by Gauss-Seidel
  bool growing_ = false;               // with gauss_seidel, for which chebyshev stands in
  std::unique_ptr<TiedRows<Ex>> tied_; // nothing, on all ranks, where there are none
  PetscInt tied_groups_ = 0;
  mutable Array<double, Ex> residual_; // a row, for tied rows of the transposed matrix
};
} // namespace amgkit
