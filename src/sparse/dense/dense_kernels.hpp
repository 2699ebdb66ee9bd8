#include "base/parallel.hpp"
#include "sparse/dense/dense.hpp"

#include <cmath>

namespace amgkit
{
template <class Ex>
PetscErrorCode dense_rows(Ex &ex, CsrView<double> diag, CsrView<double> offd, int first, const int *ghost, int n, double *rows)
{
  PetscFunctionBegin;
  PetscCall(memory_zero(ex, rows, static_cast<std::size_t>(diag.rows) * n * sizeof(double)));
  PetscCall(for_rows<32>(ex, diag.rows, [=] AMGKIT_FN(auto team, std::int64_t i) {
    for (int k : team.share(diag.ptr[i], diag.ptr[i + 1])) rows[i * n + first + diag.col[k]] = diag.val[k];
    for (int k : team.share(offd.ptr[i], offd.ptr[i + 1])) rows[i * n + ghost[offd.col[k]]] = offd.val[k];
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex, class V> PetscErrorCode dense_apply(Ex &ex, int n, const double *A, const V *x, V *y)
{
  return for_rows<32>(ex, n, [=] AMGKIT_FN(auto team, std::int64_t i) {
    double s = 0;
    for (int j : team.share(0, n)) s += A[i * n + j] * x[j];
    s = team.sum(s);
    team.once([&] { y[i] = static_cast<V>(s); });
  });
}

template <class Ex> PetscErrorCode dense_apply_transposed(Ex &ex, int n, const double *A, const double *x, double *y)
{
  return for_each(ex, n, [=] AMGKIT_FN(std::int64_t j) {
    double s = 0;
    for (std::int64_t i = 0; i < n; i++) s += A[i * n + j] * x[i];
    y[j] = s;
  });
}

template <class Ex> PetscErrorCode dense_add_outer(Ex &ex, int n, double factor, const double *z, double *A)
{
  return for_rows<32>(ex, n, [=] AMGKIT_FN(auto team, std::int64_t i) {
    for (int j : team.share(0, n)) A[i * n + j] += factor * z[i] * z[j];
  });
}

namespace
{
AMGKIT_FN inline double size_of(double x)
{
  const double size = x < 0 ? -x : x;
  return size == size ? size : HUGE_VAL;
}
struct LargerNorms {
  AMGKIT_FN DenseNorms operator()(const DenseNorms &a, const DenseNorms &b) const
  {
    const Max larger;
    return {larger(a.matrix, b.matrix), larger(a.vector, b.vector), larger(a.image, b.image), larger(a.asymmetry, b.asymmetry)};
  }
};
} // namespace

template <class Ex> PetscErrorCode dense_scale_rows(Ex &ex, int n, double *A, double *scale)
{
  return for_rows<32>(ex, n, [=] AMGKIT_FN(auto team, std::int64_t i) {
    double most = 0;
    for (int j : team.share(0, n)) most = Max{}(most, size_of(A[i * n + j]));
    most = team.max(most);
    const bool scales = most > 0 && most < HUGE_VAL;
    const double factor = scales ? ldexp(1.0, -Max{}(ilogb(most), -1022)) : 1; // 1 / most may be infinite
    for (int j : team.share(0, n)) A[i * n + j] *= factor;
    team.once([&] { scale[i] = factor; });
  });
}

template <class Ex> PetscErrorCode dense_scale_columns(Ex &ex, int n, const double *scale, double *A)
{
  return for_rows<32>(ex, n, [=] AMGKIT_FN(auto team, std::int64_t i) {
    for (int j : team.share(0, n)) A[i * n + j] *= scale[j];
  });
}

template <class Ex> PetscErrorCode dense_norms(Ex &ex, int n, const double *A, const double *x, DenseNorms *norms)
{
  Array<double, Ex> sums, images, differences;

  PetscFunctionBegin;
  PetscCall(allocate_each(ex, n, sums, images, differences));
  double *sum = sums.data(), *image = images.data(), *difference = differences.data();
  PetscCall(for_rows<32>(ex, n, [=] AMGKIT_FN(auto team, std::int64_t i) {
    double s = 0, y = 0, d = 0;
    for (int j : team.share(0, n)) {
      const double a = A[i * n + j];
      s += size_of(a);
      y += a * x[j];
      d += size_of(a - A[static_cast<std::int64_t>(j) * n + i]);
    }
    s = team.sum(s);
    y = team.sum(y);
    d = team.sum(d);
    team.once([&] {
      sum[i] = s;
      image[i] = size_of(y);
      difference[i] = d;
    });
  }));
  PetscCall(reduce<DenseNorms>(
      ex, n,
      [=] AMGKIT_FN(std::int64_t i) {
        return DenseNorms{sum[i], size_of(x[i]), image[i], sum[i] > 0 ? difference[i] / sum[i] : 0};
      },
      {}, LargerNorms{}, norms));
  PetscFunctionReturn(PETSC_SUCCESS);
}

using Space = AMGKIT_SPACE;
AMGKIT_INSTANTIATE(dense_rows)
template PetscErrorCode dense_apply(Space &, int, const double *, const float *, float *);
template PetscErrorCode dense_apply(Space &, int, const double *, const double *, double *);
AMGKIT_INSTANTIATE(dense_apply_transposed)
AMGKIT_INSTANTIATE(dense_add_outer)
AMGKIT_INSTANTIATE(dense_scale_rows)
AMGKIT_INSTANTIATE(dense_scale_columns)
AMGKIT_INSTANTIATE(dense_norms)
} // namespace amgkit
