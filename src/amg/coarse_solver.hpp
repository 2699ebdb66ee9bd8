// The coarsest level: a dense direct solver on the first rank; where it has too many rows for that, a polynomial; or sweeps of the
// smoother.
#pragma once
#include "amg/level.hpp"
#include "amg/parameters.hpp"
#include "dist/redistribution.hpp"
#include "sparse/dense/dense_solver.hpp"

namespace amgkit
{
template <class Ex> class CoarseSolver {
public:
  CoarseSolver() = default;
  CoarseSolver(const CoarseSolver &) = delete;
  CoarseSolver &operator=(const CoarseSolver &) = delete;
  CoarseSolver(CoarseSolver &&) = delete;
  CoarseSolver &operator=(CoarseSolver &&) = delete;
  ~CoarseSolver() = default;

  // Before the first create(): of this rank's rows.
  void set_smooth_vectors(SmoothVectors<Ex> &&vectors) { smooth_ = std::move(vectors); }
  // Why coarsening has ended, if not because the level is small: for description().
  void set_reason(const char *reason) { reason_ = reason; }
  // Collective, and again for new values of the same level. Gathers the matrix to rank 0 and factors or inverts it there, when the
  // parameters ask for it and it has at most dense_limit() rows. A matrix that is singular along the smooth vector, as a pure Neumann
  // problem's is, is made regular on that vector first. One that is singular in another way, or has too many rows, is solved by a
  // polynomial of the smoother's D⁻¹ A, or else by sweeps; the smoother is prepared for that. Singular: the condition number in the maximum
  // norm, of the matrix with rows of one size unless it is symmetric, is 1/eps or more. symmetric: whether A is known to be.
  PetscErrorCode create(Ex &, DistMatrix<Ex> &A, Smoother<Ex> &, const AmgParameters &, bool symmetric = false);
  // Of the smoother; 0 where the dense solver does.
  PetscInt sweeps() const { return is_direct() ? 0 : sweeps_; }
  // Collective: x ~ A⁻¹ b. Operator: DistMatrix, or TransposedMatrix for x ~ A⁻ᵀ b, in double precision only. work: as long as x.
  template <class Operator, class V> PetscErrorCode solve(Ex &, Operator &A, const Smoother<Ex> &, const V *b, V *x, V *work);
  // Whether create() makes a dense solver of this matrix.
  static bool is_dense(const AmgParameters &parameters, const DistMatrix<Ex> &A)
  {
    return parameters.coarse_solver == CoarseKind::dense && A.global_rows() <= parameters.dense_limit<Ex>();
  }
  std::size_t bytes() const
  {
    return smooth_.bytes() + parts_.bytes() + dense_.bytes() + b_.bytes() + x_.bytes() + (gather_ ? gather_->bytes() : 0);
  }
  // Whether the level should have been solved as a dense matrix, and has too many rows.
  bool too_large() const { return kind_ == Kind::large; }
  // For the view: "dense inverse", "dense factorization", "a polynomial of degree 35, as ...", "20 sweeps of the smoother", ...
  std::string description() const;

private:
  bool is_direct() const { return kind_ == Kind::direct || kind_ == Kind::regularised; }
  PetscErrorCode create_dense(Ex &, const DistMatrix<Ex> &A);
  PetscErrorCode separate_parts(Ex &);
  PetscErrorCode gather_matrix(Ex &, const DistMatrix<Ex> &);
  PetscErrorCode fill_dense(Ex &, const DistMatrix<Ex> &whole);
  template <class V> PetscErrorCode gather_vector(Ex &, const V *owned, std::int64_t n);
  template <class V> PetscErrorCode solve_dense(Ex &, bool transposed, const V *b, V *x);

  enum class Kind { smoother, direct, regularised, large, singular };
  Kind kind_ = Kind::smoother;
  const char *reason_ = "";
  PetscInt sweeps_ = 0, degree_ = 0; // degree_: of the polynomial that a sweep is, where there is one; else 0
  int n_ = 0, gathered_ = 0;         // rows of the level; of those, on this rank after the gather: n on rank 0, else 0
  // To rank 0, where the level has not moved there: the finest one, or one at which coarsening ended early.
  std::unique_ptr<Redistribution<Ex>> gather_;
  SmoothVectors<Ex> smooth_; // of this rank's rows, where the matrix is solved
  Array<double, Ex> parts_;  // gathered, and one after the other, if there are several
  DenseSolver<Ex> dense_;    // on rank 0
  Array<double, Ex> b_, x_;  // gathered
};
} // namespace amgkit
