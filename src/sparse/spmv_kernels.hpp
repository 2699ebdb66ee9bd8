#include "base/parallel.hpp"
#include "sparse/spmv.hpp"

namespace amgkit
{
namespace
{
// (A x)_i, known to every lane
template <class Team> AMGKIT_FN double row_times(const Team &team, const CsrView<double> &A, std::int64_t i, const double *x)
{
  double s = 0;
  for (int k : team.share(A.ptr[i], A.ptr[i + 1])) s += A.val[k] * x[A.col[k]];
  return team.sum(s);
}
} // namespace

template <class Ex> PetscErrorCode spmv(Ex &ex, CsrView<double> A, const double *x, double *y)
{
  return for_rows(ex, A.rows, A.average(), [=] AMGKIT_FN(auto team, std::int64_t i) {
    const double s = row_times(team, A, i, x);
    team.once([&] { y[i] = s; });
  });
}

template <class Ex> PetscErrorCode residual(Ex &ex, CsrView<double> A, const double *b, const double *x, double *r)
{
  return for_rows(ex, A.rows, A.average(), [=] AMGKIT_FN(auto team, std::int64_t i) {
    const double s = row_times(team, A, i, x);
    team.once([&] { r[i] = b[i] - s; });
  });
}

template <class Ex>
PetscErrorCode relax(Ex &ex, CsrView<double> A, const double *d, RelaxStep step, const double *b, const double *x, const double *previous,
                     double *y)
{
  return for_rows(ex, A.rows, A.average(), [=] AMGKIT_FN(auto team, std::int64_t i) {
    const double s = row_times(team, A, i, x);
    team.once([&] {
      double moved = 0;
      if (step.momentum != 0) moved = step.momentum * (previous ? x[i] - previous[i] : x[i]);
      y[i] = x[i] + moved + step.factor * d[i] * (b[i] - s);
    });
  });
}

template <class Ex> PetscErrorCode scale(Ex &ex, std::int64_t n, double factor, const double *d, const double *b, double *x)
{
  return for_each(ex, n, [=] AMGKIT_FN(std::int64_t i) { x[i] = factor * d[i] * b[i]; });
}

template <class Ex> PetscErrorCode add(Ex &ex, std::int64_t n, const double *x, double *y)
{
  return for_each(ex, n, [=] AMGKIT_FN(std::int64_t i) { y[i] += x[i]; });
}

template <class Ex, class T> PetscErrorCode gather(Ex &ex, std::int64_t n, const int *index, const T *from, T *to)
{
  return for_each(ex, n, [=] AMGKIT_FN(std::int64_t k) { to[k] = from[index[k]]; });
}

template <class Ex> PetscErrorCode fill(Ex &ex, std::int64_t n, double value, double *x)
{
  return for_each(ex, n, [=] AMGKIT_FN(std::int64_t i) { x[i] = value; });
}

template <class Ex>
PetscErrorCode subtract_rows(Ex &ex, CsrView<double> A, std::int64_t nrows, const int *rows, double factor, const double *s,
                             const double *x, double *y)
{
  const double average = nrows > 0 ? static_cast<double>(A.nnz) / static_cast<double>(nrows) : 0;
  return for_rows(ex, nrows, average, [=] AMGKIT_FN(auto team, std::int64_t r) {
    const int i = rows[r];
    const double t = factor * row_times(team, A, i, x);
    team.once([&] { y[i] -= s ? s[i] * t : t; });
  });
}

using Space = AMGKIT_SPACE;
template PetscErrorCode spmv(Space &, CsrView<double>, const double *, double *);
template PetscErrorCode residual(Space &, CsrView<double>, const double *, const double *, double *);
template PetscErrorCode relax(Space &, CsrView<double>, const double *, RelaxStep, const double *, const double *, const double *,
                              double *);
template PetscErrorCode scale(Space &, std::int64_t, double, const double *, const double *, double *);
template PetscErrorCode add(Space &, std::int64_t, const double *, double *);
template PetscErrorCode gather(Space &, std::int64_t, const int *, const double *, double *);
template PetscErrorCode gather(Space &, std::int64_t, const int *, const int *, int *);
template PetscErrorCode gather(Space &, std::int64_t, const int *, const std::uint64_t *, std::uint64_t *);
template PetscErrorCode fill(Space &, std::int64_t, double, double *);
template PetscErrorCode subtract_rows(Space &, CsrView<double>, std::int64_t, const int *, double, const double *, const double *,
                                      double *);
} // namespace amgkit
