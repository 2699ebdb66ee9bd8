#include "amg/coarse_solver.hpp"

#include "dist/attempt.hpp"
#include "sparse/rows/multivector.hpp"

#include <array>

namespace amgkit
{
// Local, on the rank that has the whole matrix.
template <class Ex> PetscErrorCode CoarseSolver<Ex>::fill_dense(Ex &ex, const DistMatrix<Ex> &whole)
{
  PetscFunctionBegin;
  if (gathered_ == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(dense_.allocate(ex, n_));
  if (gather_) PetscCall(b_.allocate(ex, n_));
  if (gather_) PetscCall(x_.allocate(ex, n_));
  PetscCall(dense_rows(ex, whole.diag, whole.offd, 0, nullptr, n_, dense_.matrix()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode CoarseSolver<Ex>::gather_matrix(Ex &ex, const DistMatrix<Ex> &A)
{
  DistMatrix<Ex> moved;
  int size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(A.comm, &size));
  if (size > 1 && !gather_) {
    gather_ = std::make_unique<Redistribution<Ex>>();
    PetscCall(gather_->create(ex, A, 1));
    if (smooth_.count > 0) PetscCall(gather_->move_vectors(ex, smooth_.count, smooth_.parts));
  }
  if (gather_) PetscCall(gather_->move_matrix(ex, A, &moved));
  PetscCall(attempt(A.comm, [&] { return fill_dense(ex, gather_ ? moved : A); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Local: parts_ <- the gathered parts, one after the other. Does so once.
template <class Ex> PetscErrorCode CoarseSolver<Ex>::separate_parts(Ex &ex)
{
  const int m = smooth_.count;

  PetscFunctionBegin;
  if (smooth_.parts.size() == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(parts_.allocate(ex, smooth_.parts.size()));
  for (int k = 0; k < m; k++) PetscCall(get_vector(ex, n_, m, k, smooth_.parts.data(), parts_.data() + std::int64_t{n_} * k));
  smooth_.parts.release();
  PetscFunctionReturn(PETSC_SUCCESS);
}

// b_ <- the vector's entries of all ranks, on rank 0; n of them are this rank's
template <class Ex> template <class V> PetscErrorCode CoarseSolver<Ex>::gather_vector(Ex &ex, const V *owned, std::int64_t n)
{
  PetscFunctionBegin;
  PetscCall(memory_copy(ex, gather_->template part<V>(), owned, static_cast<std::size_t>(n) * sizeof(V)));
  PetscCall(gather_->collect(ex, b_.template as<V>()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// kind_ <- singular where the matrix is.
template <class Ex> PetscErrorCode CoarseSolver<Ex>::create_dense(Ex &ex, const DistMatrix<Ex> &A)
{
  bool singular = false, regularised = false;

  PetscFunctionBegin;
  PetscCall(gather_matrix(ex, A));
  if (gather_) PetscCall(gather_vector<double>(ex, smooth_.sum.data(), A.rows));
  PetscCall(attempt(A.comm, [&] {
    PetscFunctionBegin;
    if (gathered_ == 0) smooth_.parts.release();
    if (gathered_ == 0) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(separate_parts(ex));
    const NullVectors z = {gather_ ? b_.data() : smooth_.sum.data(), parts_.size() > 0 ? smooth_.count : 0, parts_.data()};
    PetscCall(dense_.prepare(ex, z, &singular, &regularised));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  std::array<int, 2> any = {singular, regularised};
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, any.data(), 2, MPI_INT, MPI_MAX, A.comm));
  kind_ = any[0] ? Kind::singular : any[1] ? Kind::regularised : Kind::direct;
  if (kind_ == Kind::singular) dense_.release();
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex>
PetscErrorCode CoarseSolver<Ex>::create(Ex &ex, DistMatrix<Ex> &A, Smoother<Ex> &smoother, const AmgParameters &parameters, bool symmetric)
{
  bool solves = false;

  PetscFunctionBegin;
  kind_ = parameters.coarse_solver == CoarseKind::smoother ? Kind::smoother : is_dense(parameters, A) ? Kind::direct : Kind::large;
  n_ = static_cast<int>(A.global_rows());
  gathered_ = A.range.rank == 0 && kind_ == Kind::direct ? n_ : 0;
  if (kind_ == Kind::smoother) smooth_ = {};
  if (kind_ == Kind::large) smooth_.parts.release();
  if (kind_ == Kind::direct && n_ > 0) PetscCall(create_dense(ex, A));
  if (is_direct()) PetscFunctionReturn(PETSC_SUCCESS);
  if (kind_ != Kind::smoother) {
    int known = smooth_.sum.size() == A.rows; // not where coarsening has ended without a next level
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &known, 1, MPI_INT, MPI_MIN, A.comm));
    PetscCall(smoother.prepare_to_solve(ex, A, parameters, known ? &smooth_.sum : nullptr, &solves));
  }
  if (!solves) PetscCall(smoother.prepare(ex, A, parameters, HUGE_VAL, symmetric));
  sweeps_ = solves ? 1 : parameters.coarse_sweeps;
  degree_ = solves ? smoother.flips(1, Guess::zero) + 1 : 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> template <class V> PetscErrorCode CoarseSolver<Ex>::solve_dense(Ex &ex, bool transposed, const V *b, V *x)
{
  if (gathered_ == 0) return PETSC_SUCCESS;
  if constexpr (std::is_same_v<V, double>) {
    if (transposed) return dense_.solve_transposed(ex, b, x);
  }
  return dense_.solve(ex, b, x);
}

template <class Ex>
template <class Operator, class V>
PetscErrorCode CoarseSolver<Ex>::solve(Ex &ex, Operator &A, const Smoother<Ex> &smoother, const V *b, V *x, V *work)
{
  constexpr bool transposed = std::is_same_v<Operator, TransposedMatrix<Ex>>;
  Iterate<V> iterate{x, work};

  PetscFunctionBegin;
  if (!is_direct()) {
    if (smoother.flips(sweeps_, Guess::zero) % 2 == 1) std::swap(iterate.here, iterate.there);
    PetscCall(smoother.apply(ex, A, SweepOrder::alternating, sweeps_, Guess::zero, b, iterate));
  } else if (!gather_) {
    PetscCall(solve_dense(ex, transposed, b, x));
  } else {
    PetscCall(gather_vector(ex, b, A.rows));
    PetscCall(solve_dense<V>(ex, transposed, b_.template as<V>(), x_.template as<V>()));
    PetscCall(gather_->template spread<V>(ex, x_.template as<V>()));
    PetscCall(memory_copy(ex, x, gather_->template part<V>(), static_cast<std::size_t>(A.rows) * sizeof(V)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> std::string CoarseSolver<Ex>::description() const
{
  std::string how = degree_ > 0 ? "a polynomial of degree " + std::to_string(degree_) : std::to_string(sweeps_) + " sweeps of the smoother";
  const std::string rows = ", as the " + std::to_string(n_) + " rows are too many for the dense solver";
  switch (kind_) {
  case Kind::smoother:
    return how;
  case Kind::direct:
    return DenseSolver<Ex>::name;
  case Kind::regularised:
    return DenseSolver<Ex>::name + std::string("; the matrix is singular along the smooth vector and was made nonsingular there");
  case Kind::large:
    return how + rows + (*reason_ ? "; " : "") + reason_;
  case Kind::singular:
    return how + ", as the matrix is singular";
  }
  return "";
}

#define INSTANTIATE(Ex)                                                                                                                    \
  template class CoarseSolver<Ex>;                                                                                                         \
  template PetscErrorCode CoarseSolver<Ex>::solve(Ex &, DistMatrix<Ex> &, const Smoother<Ex> &, const float *, float *, float *);          \
  template PetscErrorCode CoarseSolver<Ex>::solve(Ex &, DistMatrix<Ex> &, const Smoother<Ex> &, const double *, double *, double *);       \
  template PetscErrorCode CoarseSolver<Ex>::solve(Ex &, TransposedMatrix<Ex> &, const Smoother<Ex> &, const double *, double *, double *);
AMGKIT_FOR_ALL_SPACES(INSTANTIATE)
#undef INSTANTIATE
} // namespace amgkit
