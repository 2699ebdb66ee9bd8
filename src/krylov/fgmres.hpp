// Flexible GMRES (Saad 1993), with the Gram-Schmidt process of delayed reorthogonalisation (Bielich, Langou, Thomas, Swirydowicz, Yamazaki,
// Boman 2022). Iteration k of a cycle, with v_0, ..., v_{k-1} orthonormal and u_k of about length 1, orthogonal to them but for rounding:
//
//   z_k = B u_k, w = A z_k
//   s_c = v_c·u_k, h_c = v_c·w for c < k, u_k·u_k, u_k·w, w·w                     one pass over the vectors
//   v_k = (u_k - Σ s_c v_c) / ν,        ν² = u_k·u_k - Σ s_c²                     u_k is orthogonalised a second time
//   u_{k+1} = (w - Σ_{c<=k} h_c v_c) / σ,  h_k = v_k·w = (u_k·w - Σ s_c h_c) / ν,  σ² = w·w - Σ h_c²      the other pass
//
// Each w is so orthogonalised twice against the basis, as with classical Gram-Schmidt applied twice, by two passes an iteration in place of
// four; w and u_k are read once in each. B is applied to what was orthogonalised once, which a flexible method allows: A z_k = Σ h_c v_c +
// σ u_{k+1} is what counts. σ need not be exact, as ||u_{k+1}|| is computed in the pass that makes it, and known with the column.
//
// Scalars stay in the space: in an iteration the host waits once, on one rank, and reads a column of the Hessenberg matrix. On several it
// waits twice, for two sums over the ranks. Its last two entries are those of u_{k+1}; they are corrected when v_{k+1} is known.
#pragma once
#include "krylov/steps.hpp"

#include <complex>
#include <vector>

namespace amgkit
{
// Dot products are computed with so many vectors of the basis in a pass.
inline constexpr int fgmres_block = 8;
struct FgmresBlock {
  const double *vector[fgmres_block];
};
// How many doubles the sums of one block take: w·w, and {v·u, v·w} for each.
inline constexpr int fgmres_sums = 1 + 2 * fgmres_block;
// What an iteration leaves in the space's memory: these numbers, then {s_c, h_c} for c < k, and {ν, h_k}.
struct FgmresNumbers {
  double sigma, w_w, u_u; // σ, w·w, u_{k+1}·u_{k+1}
};
struct FgmresPair {
  double s, h;
};

// The steps on one rank's n rows; sums of this rank. work: fgmres_sums sum_parts_of(n) doubles. None waits.
// u = b - w, or b without w, and *sum = u·u
template <class Ex>
PetscErrorCode fgmres_residual(Ex &, std::int64_t n, const double *b, const double *w, double *u, double *work, double *sum);
// u /= norm
template <class Ex> PetscErrorCode fgmres_normalise(Ex &, std::int64_t n, double norm, double *u);
// w·w, and {v·u, v·w} of the block's first `count` vectors; one pair more may be written
template <class Ex>
PetscErrorCode fgmres_dots(Ex &, std::int64_t n, int count, const FgmresBlock &, const double *u, const double *w, double *work,
                           double *sums);
// From all blocks' sums, of v_0, ..., v_{k-1}, u_k: the pairs, σ and w·w
template <class Ex> PetscErrorCode fgmres_coefficients(Ex &, int k, const double *sums, FgmresNumbers *, FgmresPair *pairs);
// v_k from u = u_k, u = u_{k+1}, and its u·u; basis: k + 1 vectors, the last of which is overwritten
template <class Ex>
PetscErrorCode fgmres_orthogonalise(Ex &, std::int64_t n, int k, double *const *basis, const double *w, double *u, double *work,
                                    FgmresNumbers *, const FgmresPair *pairs);
// to = x + Σ_{c<count} y_c z_c; to may be x
template <class Ex>
PetscErrorCode fgmres_correct(Ex &, std::int64_t n, int count, const double *y, const double *const *z, const double *x, double *to);

// A column of the Hessenberg matrix, over all ranks.
struct FgmresColumn {
  FgmresNumbers numbers{};
  std::vector<FgmresPair> pairs; // the last one is {ν, h_k}
};

// Minimises ||β e_0 - H y|| by Givens rotations, a column at a time.
class HessenbergProblem {
public:
  // From a residual of norm β, of which u_0 is the direction
  void begin(double beta);
  // The next column: what it says of the one before, and its own. Returns the norm of the residual.
  double add(const FgmresColumn &);
  int columns() const { return static_cast<int>(columns_.size()); }
  // Whether w was, but for rounding, a combination of the basis, so that no more direction comes of it; and whether its column was one of
  // those before, too.
  bool exhausted() const { return exhausted_; }
  bool singular() const { return !columns_.empty() && columns_.back().diagonal == 0; }
  // y for the columns that there are
  std::vector<double> solution() const;
  // The norm is that of the residual but for rounding errors. These are of the size of eps Σ |y_c| ||w_c|| at least: large where the
  // columns are, and cancel one another.
  double rounding() const;
  // What the columns tell of A B, as PETSc's gmres says it: the extreme singular values of the triangular factor, 1 without a column, and
  // the eigenvalues of H's square part, by their real parts.
  PetscErrorCode extreme_singular_values(double *most, double *least) const;
  PetscErrorCode eigenvalues(std::vector<std::complex<double>> *) const;

private:
  struct Rotated {
    std::vector<double> above;             // the triangular factor's entries above the diagonal
    double diagonal, cosine, sine, before; // before: the last entry of the right-hand side before the rotation
    double size;                           // ||w||
  };
  void rotate();

  std::vector<Rotated> columns_;
  std::vector<double> right_;               // the rotated right-hand side
  std::vector<double> last_;                // the last column as it was
  double below_ = 0, sigma_ = 0, size_ = 0; // and its entry below the diagonal, its σ and ||w||
  bool exhausted_ = false;
};

// The steps on PETSc's vectors.
class FgmresSteps : public KrylovSteps {
public:
  // Memory for iteration k of a cycle: PETSC_ERR_MEM on all ranks where there is none.
  virtual PetscErrorCode reserve(int k) = 0;
  // u = b - w, or b without w, and its norm; waits
  virtual PetscErrorCode residual(Vec b, Vec w, Vec u, PetscReal *norm) = 0;
  virtual PetscErrorCode normalise(PetscReal norm, Vec u) = 0;
  // f(), in which z's entries are z_k, to be overwritten
  virtual PetscErrorCode with_direction(int k, Vec z, const std::function<PetscErrorCode()> &f) = 0;
  // v_k and u_{k+1} from w and u_k; waits
  virtual PetscErrorCode orthogonalise(int k, Vec w, Vec u, FgmresColumn *) = 0;
  // to = x + Σ y_c z_c; to may be x
  virtual PetscErrorCode correct(const std::vector<double> &y, Vec x, Vec to) = 0;
};
std::unique_ptr<FgmresSteps> make_fgmres_steps(Vec x, Preconditioner *solver);
} // namespace amgkit
