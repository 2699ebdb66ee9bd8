#include "sparse/dense/dense.hpp"

#include <petscblaslapack.h>

#include <algorithm>
#include <cmath>
#include <numeric>

// LAPACK stores matrices by columns: what it reads is Aᵀ, the rows of A being its columns. Factors and the inverse of Aᵀ, read the same
// way, serve A.
namespace amgkit
{
namespace
{
// PETSC_ERR_MEM of f() is no reason to leave traps off.
template <class F> PetscErrorCode without_traps(F f)
{
  PetscFunctionBegin;
  PetscCall(PetscFPTrapPush(PETSC_FP_TRAP_OFF));
  const PetscErrorCode status = f();
  PetscCall(PetscFPTrapPop());
  PetscFunctionReturn(status);
}

// A <- the factors of A = L Lᵀ as those of LU without pivots, so that LAPACK's getrs takes them: with OpenBLAS it is two to three
// times as fast for one right-hand side as potrs. Where there are none, *done = false and A stays, made symmetric by its lower triangle.
PetscErrorCode factor_by_cholesky(Host &ex, int n, double *A, Array<PetscBLASInt, Host> &pivots, bool *done)
{
  Array<double, Host> diagonal;
  PetscBLASInt size = 0, info = 0;

  PetscFunctionBegin;
  PetscCall(PetscBLASIntCast(n, &size));
  PetscCall(diagonal.allocate(ex, n));
  PetscCall(pivots.allocate(ex, n));
  for (std::int64_t i = 0; i < n; i++) {
    diagonal.data()[i] = A[i * n + i];
    pivots.data()[i] = static_cast<PetscBLASInt>(i + 1);
  }
  PetscCallBLAS("LAPACKpotrf", LAPACKpotrf_("L", &size, A, &size, &info)); // its lower triangle is A's upper one
  PetscCheck(info >= 0, PETSC_COMM_SELF, PETSC_ERR_LIB, "LAPACK potrf: argument %d", static_cast<int>(-info));
  *done = info == 0;
  for (std::int64_t i = 0; i < n; i++) {
    const double pivot = A[i * n + i];
    A[i * n + i] = *done ? pivot * pivot : diagonal.data()[i];
    for (std::int64_t j = i + 1; j < n; j++) {
      double &l = A[i * n + j], &u = A[j * n + i];
      if (*done) {
        u = pivot * l;
        l /= pivot;
      } else {
        l = u;
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode factor_by_lu(Host &ex, int n, double *A, Array<PetscBLASInt, Host> &pivots, bool *done)
{
  PetscBLASInt size = 0, info = 0;

  PetscFunctionBegin;
  PetscCall(PetscBLASIntCast(n, &size));
  PetscCall(pivots.allocate(ex, n));
  PetscCallBLAS("LAPACKgetrf", LAPACKgetrf_(&size, &size, A, &size, pivots.data(), &info));
  PetscCheck(info >= 0, PETSC_COMM_SELF, PETSC_ERR_LIB, "LAPACK getrf: argument %d", static_cast<int>(-info));
  *done = info == 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

double sum_of_sizes(int n, const double *x)
{
  return std::accumulate(x, x + n, 0.0, [](double sum, double v) { return sum + std::abs(v); });
}

// *norm <- an estimate of |A⁻¹| in the maximum norm, from below. The norm is |B|_1 of B = A⁻ᵀ: |B x|_1, a convex function of x in
// |x|_1 <= 1, is followed uphill from vertex to vertex (Higham, ACM Transactions on Mathematical Software 14 (1988), pages 381 to 396).
PetscErrorCode estimate_inverse_norm(Host &ex, int n, const double *factors, const Array<PetscBLASInt, Host> &pivots, double *norm)
{
  constexpr int most_vertices = 5;
  Array<double, Host> work;
  int vertex = -1;

  PetscFunctionBegin;
  PetscCall(work.allocate(ex, n));
  double *x = work.data();
  *norm = 0;
  std::fill_n(x, n, 1.0 / n);
  for (int step = 0; step < most_vertices; step++) {
    PetscCall(dense_solve(n, factors, pivots, true, x));
    const double reached = sum_of_sizes(n, x);
    if (reached <= *norm) break;
    *norm = reached;                                             // NaN, too: the comparison is then false
    for (int i = 0; i < n; i++) x[i] = std::copysign(1.0, x[i]); // |B x|_1 grows along Bᵀ times these signs
    PetscCall(dense_solve(n, factors, pivots, false, x));
    const auto steepest = static_cast<int>(std::max_element(x, x + n, [](double a, double b) { return std::abs(a) < std::abs(b); }) - x);
    if (steepest == vertex) break;
    vertex = steepest;
    std::fill_n(x, n, 0.0);
    x[vertex] = 1;
  }
  // Some matrices mislead the climb. A vector of alternating signs gives a second bound.
  for (int i = 0; i < n; i++) x[i] = (i % 2 == 0 ? 1 : -1) * (1 + i / std::max(1.0, n - 1.0));
  PetscCall(dense_solve(n, factors, pivots, true, x));
  const double reached = 2 * sum_of_sizes(n, x) / (3.0 * n);
  if (!(reached <= *norm)) *norm = reached;
  if (std::isnan(*norm)) *norm = HUGE_VAL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode factor(Host &ex, int n, bool symmetric, double *A, Array<PetscBLASInt, Host> &pivots, double *inverse_norm)
{
  bool done = false;

  PetscFunctionBegin;
  if (symmetric) PetscCall(factor_by_cholesky(ex, n, A, pivots, &done));
  if (!done) PetscCall(factor_by_lu(ex, n, A, pivots, &done));
  *inverse_norm = HUGE_VAL;
  if (done) PetscCall(estimate_inverse_norm(ex, n, A, pivots, inverse_norm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode invert(Host &ex, int n, double *A, bool *singular)
{
  PetscBLASInt size = 0, work_size = 0, info = 0;
  Array<PetscBLASInt, Host> pivots;
  Array<double, Host> work;
  bool done = false;

  PetscFunctionBegin;
  PetscCall(PetscBLASIntCast(n, &size));
  PetscCall(PetscBLASIntCast(64 * static_cast<PetscInt>(n), &work_size));
  PetscCall(work.allocate(ex, work_size));
  PetscCall(factor_by_lu(ex, n, A, pivots, &done));
  if (done) PetscCallBLAS("LAPACKgetri", LAPACKgetri_(&size, A, &size, pivots.data(), work.data(), &work_size, &info));
  PetscCheck(info >= 0, PETSC_COMM_SELF, PETSC_ERR_LIB, "LAPACK getri: argument %d", static_cast<int>(-info));
  *singular = !done || info > 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode dense_invert(Host &ex, int n, bool, double *A, bool *singular)
{
  return without_traps([&] { return invert(ex, n, A, singular); });
}

PetscErrorCode dense_factor(Host &ex, int n, bool symmetric, double *A, Array<PetscBLASInt, Host> &pivots, double *inverse_norm)
{
  return without_traps([&] { return factor(ex, n, symmetric, A, pivots, inverse_norm); });
}

PetscErrorCode dense_solve(int n, const double *factors, const Array<PetscBLASInt, Host> &pivots, bool transposed, double *x)
{
  PetscBLASInt size = 0, info = 0;
  const PetscBLASInt one = 1;

  PetscFunctionBegin;
  PetscCall(PetscBLASIntCast(n, &size));
  PetscCallBLAS("LAPACKgetrs", LAPACKgetrs_(transposed ? "N" : "T", &size, &one, factors, &size, pivots.data(), x, &size, &info));
  PetscCheck(info == 0, PETSC_COMM_SELF, PETSC_ERR_LIB, "LAPACK getrs: argument %d", static_cast<int>(-info));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace amgkit
