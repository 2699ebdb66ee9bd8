#include "base/parallel.hpp"
#include "krylov/fcg.hpp"

namespace amgkit
{
namespace
{
// Entry i of vectors of floats is this one of others.
AMGKIT_FN inline std::int64_t entry(const int *order, std::int64_t i) { return order ? order[i] : i; }

AMGKIT_FN inline bool is_finite(double x) { return 0 * x == 0; }

// d·r / d·q; 0 where the method cannot go on, so that x and r stay what they are.
AMGKIT_FN inline double step_along(const FcgScalars &s)
{
  const bool sound = s.w_r > 0 && s.d_q > 0 && is_finite(s.w_r) && is_finite(s.w_q) && is_finite(s.d_q) && is_finite(s.d_r);
  return sound ? s.d_r / s.d_q : 0;
}
} // namespace

template <class Ex> PetscErrorCode fcg_norm(Ex &ex, std::int64_t n, const double *r, double *work, FcgScalars *s)
{
  return sum_into<1>(
      ex, n, [=] AMGKIT_FN(std::int64_t i) { return Sums<1>{{r[i] * r[i]}}; }, work, &s->r_r);
}

template <class Ex> PetscErrorCode fcg_sum(Ex &ex, std::int64_t n, const double *w, double *work, FcgScalars *s)
{
  return sum_into<1>(
      ex, n, [=] AMGKIT_FN(std::int64_t i) { return Sums<1>{{w[i]}}; }, work, &s->w_r);
}

template <class Ex> PetscErrorCode fcg_remove_mean(Ex &ex, std::int64_t n, double rows, const FcgScalars *s, double *w)
{
  return for_each(ex, n, [=] AMGKIT_FN(std::int64_t i) { w[i] -= s->w_r / rows; });
}

template <class Ex, class W, class V>
PetscErrorCode fcg_projections(Ex &ex, std::int64_t n, const int *order, const W *w, const V *r, const V *q, double *work, FcgScalars *s)
{
  struct Read {
    W w;
    V r, q;
  };
  return sum_read_into<2>(
      ex, n, detail::NothingGiven{},
      [=] AMGKIT_FN(std::int64_t i) {
        return Read{w[entry(order, i)], r[i], q ? q[i] : 0};
      },
      [=] AMGKIT_FN(std::int64_t, int, const Read &at) {
        const double w_i = at.w;
        return Sums<2>{{w_i * at.r, w_i * at.q}};
      },
      work, &s->w_r);
}

template <class Ex, class W, class V>
PetscErrorCode fcg_direction(Ex &ex, std::int64_t n, const int *order, bool first, const FcgScalars *s, const W *w, V *d)
{
  struct Read {
    W w;
    V d;
  };
  if (first) return for_each(ex, n, [=] AMGKIT_FN(std::int64_t i) { d[i] = static_cast<V>(w[entry(order, i)]); });
  return for_each_read(
      ex, n, [=] AMGKIT_FN() { return s->w_q / s->d_q; },
      [=] AMGKIT_FN(std::int64_t i) {
        return Read{w[entry(order, i)], d[i]};
      },
      [=] AMGKIT_FN(std::int64_t i, double part, const Read &at) { d[i] = static_cast<V>(at.w - part * at.d); });
}

template <class Ex>
PetscErrorCode fcg_step(Ex &ex, std::int64_t n, const double *d, const double *q, double *x, double *r, double *work, FcgScalars *s)
{
  struct Read {
    double d, q, x, r;
  };
  return sum_read_into<1>(
      ex, n, [=] AMGKIT_FN() { return step_along(*s); },
      [=] AMGKIT_FN(std::int64_t i) {
        return Read{d[i], q[i], x[i], r[i]};
      },
      [=] AMGKIT_FN(std::int64_t i, double alpha, const Read &at) {
        const double r_i = at.r - alpha * at.q;
        x[i] = at.x + alpha * at.d;
        r[i] = r_i;
        return Sums<1>{{r_i * r_i}};
      },
      work, &s->r_r);
}

template <class Ex>
PetscErrorCode fcg_step_in_mixed(Ex &ex, std::int64_t n, const int *order, double scale, const float *d, const float *q, double *x,
                                 float *r, double *wide, const FirstStep<float> &first, double *work, FcgScalars *s)
{
  const FirstStep<float> step = first;
  struct Read {
    float d, q, r;
    double x, scaling;
  };
  return sum_read_into<1>(
      ex, n, [=] AMGKIT_FN() { return step_along(*s); },
      [=] AMGKIT_FN(std::int64_t i) {
        return Read{d[i], q[i], r[i], x[entry(order, i)], step.scaling(i)};
      },
      [=] AMGKIT_FN(std::int64_t i, double alpha, const Read &at) {
        const auto r_i = static_cast<float>(at.r - alpha * at.q);
        const std::int64_t of_x = entry(order, i);
        x[of_x] = at.x + scale * alpha * at.d;
        r[i] = r_i;
        if (wide) wide[of_x] = r_i;
        step.take(i, at.scaling, r_i);
        return Sums<1>{{static_cast<double>(r_i) * r_i}};
      },
      work, &s->r_r);
}

template <class Ex>
PetscErrorCode fcg_residual(Ex &ex, std::int64_t n, const int *order, const double *b, const double *w, double scale, double *r,
                            float *single, double *work, FcgScalars *s)
{
  return sum_into<1>(
      ex, n,
      [=] AMGKIT_FN(std::int64_t i) {
        const std::int64_t k = entry(order, i);
        const double r_i = b[k] - w[k];
        if (single) single[i] = static_cast<float>(scale * r_i);
        r[k] = single ? single[i] : r_i;
        return Sums<1>{{r_i * r_i}};
      },
      work, &s->r_r);
}

template <class Ex> PetscErrorCode fcg_add_in_order(Ex &ex, std::int64_t n, const int *order, double *e, double *x)
{
  return for_each(ex, n, [=] AMGKIT_FN(std::int64_t i) {
    x[order[i]] += e[i];
    e[i] = 0;
  });
}

template <class Ex> PetscErrorCode fcg_take_residual(Ex &ex, std::int64_t n, const int *order, double scale, double *wide, float *r)
{
  return for_each(ex, n, [=] AMGKIT_FN(std::int64_t i) {
    const std::int64_t k = entry(order, i);
    r[i] = static_cast<float>(scale * wide[k]);
    wide[k] = r[i];
  });
}

using Space = AMGKIT_SPACE;
AMGKIT_INSTANTIATE(fcg_norm)
AMGKIT_INSTANTIATE(fcg_sum)
AMGKIT_INSTANTIATE(fcg_remove_mean)
AMGKIT_INSTANTIATE(fcg_step)
AMGKIT_INSTANTIATE(fcg_step_in_mixed)
AMGKIT_INSTANTIATE(fcg_add_in_order)
AMGKIT_INSTANTIATE(fcg_residual)
AMGKIT_INSTANTIATE(fcg_take_residual)
#define INSTANTIATE(W, V)                                                                                                                  \
  template PetscErrorCode fcg_projections(Space &, std::int64_t, const int *, const W *, const V *, const V *, double *, FcgScalars *);    \
  template PetscErrorCode fcg_direction(Space &, std::int64_t, const int *, bool, const FcgScalars *, const W *, V *);
INSTANTIATE(float, float)
INSTANTIATE(double, float)
INSTANTIATE(double, double)
#undef INSTANTIATE
} // namespace amgkit
