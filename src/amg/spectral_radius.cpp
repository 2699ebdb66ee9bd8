#include "amg/spectral_radius.hpp"

#include "amg/lanczos.hpp"
#include "dist/attempt.hpp"
#include "dist/global_sum.hpp"

#include <algorithm>
#include <cmath>
#include <petscblaslapack.h>
#include <utility>

namespace amgkit
{
namespace
{
constexpr int lanczos_steps = 4;

bool same(double xAy, double yAx, double size) // no squares, which may be no numbers
{
  constexpr double rounding = 1e-12;
  return std::abs(xAy - yAx) <= rounding * size;
}

bool is_symmetric(const std::vector<double> &scalars)
{
  const double *step = scalars.data() + lanczos_scalars;
  return same(step[1], step[4], step[2]);
}

// From the scalars of lanczos.hpp: the largest eigenvalue of the tridiagonal matrix T of the steps taken, plus the length of the
// residual of its Ritz vector, |w_m| times the last entry of T's eigenvector. T ends where the space was exhausted. Infinite when T's
// entries are no numbers.
PetscErrorCode largest_eigenvalue(const std::vector<double> &scalars, double *largest)
{
  std::vector<double> diagonal, beside;
  PetscBLASInt n, info = 0;

  PetscFunctionBegin;
  *largest = 0;
  const double *step = scalars.data();
  for (int k = 0; k < lanczos_steps && step[0] > 0; k++, step += lanczos_scalars) {
    if (k > 0) beside.push_back(std::sqrt(step[0]));
    diagonal.push_back(step[3] / step[0]);
  }
  const auto finite = [](double x) { return std::isfinite(x); };
  const double left = std::sqrt(step[0]);
  if (!finite(left) || !std::all_of(diagonal.begin(), diagonal.end(), finite) || !std::all_of(beside.begin(), beside.end(), finite)) {
    *largest = HUGE_VAL;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (diagonal.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  const std::size_t steps = diagonal.size();
  std::vector<double> vectors(steps * steps), work(2 * steps);
  n = static_cast<PetscBLASInt>(steps);
  beside.push_back(0);
  LAPACKsteqr_("I", &n, diagonal.data(), beside.data(), vectors.data(), &n, work.data(), &info);
  PetscCheck(info == 0, PETSC_COMM_SELF, PETSC_ERR_LIB, "LAPACK steqr returned %d", static_cast<int>(info));
  *largest = diagonal.back() + left * std::abs(vectors.back());
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> struct Work {
  Array<double, Ex> x, y, product, work, scalars;

  PetscErrorCode allocate(Ex &ex, const DistMatrix<Ex> &A)
  {
    return attempt(A.comm, [&] {
      PetscFunctionBegin;
      PetscCall(allocate_each(ex, A.rows, x, y, product));
      PetscCall(work.allocate(ex, 3 * sum_parts_of(A.rows)));
      PetscCall(scalars.allocate(ex, (lanczos_steps + 1) * lanczos_scalars));
      PetscFunctionReturn(PETSC_SUCCESS);
    });
  }
};
} // namespace

template <class Ex> PetscErrorCode estimate_spectrum(Ex &ex, DistMatrix<Ex> &A, const double *d, Spectrum *spectrum)
{
  constexpr int half = lanczos_scalars / 2;
  Work<Ex> memory;
  std::vector<double> scalars;

  PetscFunctionBegin;
  *spectrum = {};
  PetscCall(memory.allocate(ex, A));
  double *w = memory.x.data(), *w_before = memory.y.data(), *Aw = memory.product.data(), *s = memory.scalars.data();
  PetscCall(lanczos_start(ex, A.rows, A.range.first(), d, w, memory.work.data(), s));
  for (int k = 0; k < lanczos_steps; k++) {
    double *step = s + static_cast<std::ptrdiff_t>(k) * lanczos_scalars;
    PetscCall(sum_over_ranks(ex, A.comm, half, step));
    PetscCall(A.multiply(ex, w, Aw));
    PetscCall(lanczos_product(ex, A.rows, d, w, Aw, w_before, memory.work.data(), s, k));
    PetscCall(sum_over_ranks(ex, A.comm, half, step + half));
    PetscCall(lanczos_next(ex, A.rows, d, w, Aw, w_before, memory.work.data(), s, k));
    std::swap(w, w_before);
  }
  PetscCall(sum_over_ranks(ex, A.comm, half, s + static_cast<std::ptrdiff_t>(lanczos_steps) * lanczos_scalars));
  PetscCall(download(ex, s, lanczos_steps * lanczos_scalars + half, scalars));
  PetscCall(largest_eigenvalue(scalars, &spectrum->radius));
  spectrum->symmetric = is_symmetric(scalars);
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode test_symmetry(Ex &ex, DistMatrix<Ex> &A, bool *symmetric)
{
  Work<Ex> memory;
  std::vector<double> xAy, yAx;

  PetscFunctionBegin;
  *symmetric = false;
  PetscCall(memory.allocate(ex, A));
  double *x = memory.x.data(), *y = memory.y.data(), *product = memory.product.data(), *s = memory.scalars.data();
  PetscCall(hash_vector(ex, A.rows, A.range.first(), 1, x));
  PetscCall(hash_vector(ex, A.rows, A.range.first(), 2, y));
  PetscCall(A.multiply(ex, y, product));
  PetscCall(dot_and_size(ex, A.rows, x, product, memory.work.data(), s));
  PetscCall(A.multiply(ex, x, product));
  PetscCall(dot_and_size(ex, A.rows, y, product, memory.work.data(), s + 2));
  PetscCall(sum_over_ranks(ex, A.comm, 4, s));
  PetscCall(download(ex, s, 2, xAy));
  PetscCall(download(ex, s + 2, 2, yAx));
  *symmetric = same(xAy[0], yAx[0], xAy[1]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

AMGKIT_INSTANTIATE(estimate_spectrum)
AMGKIT_INSTANTIATE(test_symmetry)
} // namespace amgkit
