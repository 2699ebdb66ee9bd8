#include "base/parallel.hpp"
#include "sparse/dense.hpp"

namespace amgkit
{
template <class Ex>
PetscErrorCode dense_rows(Ex &ex, CsrView<double> diag, CsrView<double> offd, int first, const int *ghost, int n, double *rows)
{
  PetscFunctionBegin;
  PetscCall(memory_zero(ex, rows, static_cast<std::size_t>(diag.rows) * n * sizeof(double)));
  PetscCall(for_each(ex, diag.rows, [=] AMGKIT_FN(std::int64_t i) {
    for (int k = diag.ptr[i]; k < diag.ptr[i + 1]; k++) rows[i * n + first + diag.col[k]] = diag.val[k];
    for (int k = offd.ptr[i]; k < offd.ptr[i + 1]; k++) rows[i * n + ghost[offd.col[k]]] = offd.val[k];
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

template <class Ex> PetscErrorCode max_norm(Ex &ex, int n, const double *x, double *norm)
{
  return reduce<double>(
      ex, n,
      [=] AMGKIT_FN(std::int64_t i) {
        const double size = x[i] < 0 ? -x[i] : x[i];
        return size == size ? size : HUGE_VAL;
      },
      0.0, Max{}, norm);
}

template <class Ex> PetscErrorCode dense_norm(Ex &ex, int n, const double *A, double *norm)
{
  Array<double, Ex> sums;

  PetscFunctionBegin;
  PetscCall(sums.allocate(ex, n));
  double *sum = sums.data();
  PetscCall(for_rows<32>(ex, n, [=] AMGKIT_FN(auto team, std::int64_t i) {
    double s = 0;
    for (int j : team.share(0, n)) s += A[i * n + j] < 0 ? -A[i * n + j] : A[i * n + j];
    s = team.sum(s);
    team.once([&] { sum[i] = s == s ? s : HUGE_VAL; });
  }));
  PetscCall(reduce<double>(
      ex, n, [=] AMGKIT_FN(std::int64_t i) { return sum[i]; }, 0.0, Max{}, norm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

using Space = AMGKIT_SPACE;
template PetscErrorCode dense_rows(Space &, CsrView<double>, CsrView<double>, int, const int *, int, double *);
template PetscErrorCode dense_apply(Space &, int, const double *, const float *, float *);
template PetscErrorCode dense_apply(Space &, int, const double *, const double *, double *);
template PetscErrorCode dense_apply_transposed(Space &, int, const double *, const double *, double *);
template PetscErrorCode dense_add_outer(Space &, int, double, const double *, double *);
template PetscErrorCode max_norm(Space &, int, const double *, double *);
template PetscErrorCode dense_norm(Space &, int, const double *, double *);
} // namespace amgkit
