#include "base/parallel.hpp"
#include "krylov/fgmres.hpp"

namespace amgkit
{
template <class Ex>
PetscErrorCode fgmres_residual(Ex &ex, std::int64_t n, const double *b, const double *w, double *u, double *work, double *sum)
{
  return sum_into<1>(
      ex, n,
      [=] AMGKIT_FN(std::int64_t i) {
        const double u_i = w ? b[i] - w[i] : b[i];
        u[i] = u_i;
        return Sums<1>{{u_i * u_i}};
      },
      work, sum);
}

template <class Ex> PetscErrorCode fgmres_normalise(Ex &ex, std::int64_t n, double norm, double *u)
{
  return for_each(ex, n, [=] AMGKIT_FN(std::int64_t i) { u[i] /= norm; });
}

template <class Ex>
PetscErrorCode fgmres_dots(Ex &ex, std::int64_t n, int count, const FgmresBlock &block, const double *u, const double *w, double *work,
                           double *sums)
{
  const FgmresBlock v = block;
  return sum_into<fgmres_sums>(
      ex, n,
      [=] AMGKIT_FN(std::int64_t i) {
        const double u_i = u[i], w_i = w[i];
        Sums<fgmres_sums> terms;
        for (int c = 0; c < fgmres_block; c++) {
          const double v_i = c < count ? v.vector[c][i] : 0;
          terms.of[2 * c] = v_i * u_i;
          terms.of[2 * c + 1] = v_i * w_i;
        }
        terms.of[2 * fgmres_block] = w_i * w_i;
        return terms;
      },
      work, sums);
}

// A difference of squares below the rounding of the first one is no number to divide by. Neither hides a NaN: w·w and ||u|| are that then.
template <class Ex> PetscErrorCode fgmres_coefficients(Ex &ex, int k, const double *sums, FgmresNumbers *numbers, FgmresPair *pairs)
{
  return for_rows<32>(ex, 1, [=] AMGKIT_FN(auto team, std::int64_t) {
    constexpr double least = 2.2e-16;
    const auto dots = [=](int c) { return sums + c / fgmres_block * fgmres_sums + 2 * (c % fgmres_block); };
    double s_s = 0, s_h = 0, h_h = 0;
    for (int c : team.share(0, k)) {
      const double s = dots(c)[0], h = dots(c)[1];
      pairs[c] = {s, h};
      s_s += s * s;
      s_h += s * h;
      h_h += h * h;
    }
    s_s = team.sum(s_s);
    s_h = team.sum(s_h);
    h_h = team.sum(h_h);
    const double u_u = dots(k)[0], u_w = dots(k)[1], w_w = sums[k / fgmres_block * fgmres_sums + 2 * fgmres_block];
    const double nu = sqrt(u_u - s_s > least * u_u ? u_u - s_s : least * u_u), h = (u_w - s_h) / nu;
    const double rest = w_w - h_h - h * h;
    team.once([&] {
      pairs[k] = {nu, h};
      numbers->sigma = w_w > 0 ? sqrt(rest > least * w_w ? rest : least * w_w) : 1;
      numbers->w_w = w_w;
    });
  });
}

template <class Ex>
PetscErrorCode fgmres_orthogonalise(Ex &ex, std::int64_t n, int k, double *const *basis, const double *w, double *u, double *work,
                                    FgmresNumbers *numbers, const FgmresPair *pairs)
{
  return sum_into<1>(
      ex, n,
      [=] AMGKIT_FN(std::int64_t i) {
        constexpr int together = 4; // that are on their way at once
        double v_i = u[i], u_i = w[i], x[together];
        const auto subtract = [&](int c, double x_i) {
          v_i -= pairs[c].s * x_i;
          u_i -= pairs[c].h * x_i;
        };
        int c = 0;
        for (; c + together <= k; c += together) {
          for (int t = 0; t < together; t++) x[t] = basis[c + t][i];
          for (int t = 0; t < together; t++) subtract(c + t, x[t]);
        }
        for (; c < k; c++) subtract(c, basis[c][i]);
        v_i /= pairs[k].s;
        u_i = (u_i - pairs[k].h * v_i) / numbers->sigma;
        basis[k][i] = v_i;
        u[i] = u_i;
        return Sums<1>{{u_i * u_i}};
      },
      work, &numbers->u_u);
}

template <class Ex>
PetscErrorCode fgmres_correct(Ex &ex, std::int64_t n, int count, const double *y, const double *const *z, const double *x, double *to)
{
  return for_each(ex, n, [=] AMGKIT_FN(std::int64_t i) {
    constexpr int together = 4;
    double sum = 0, z_i[together];
    int c = 0;
    for (; c + together <= count; c += together) {
      for (int t = 0; t < together; t++) z_i[t] = z[c + t][i];
      for (int t = 0; t < together; t++) sum += y[c + t] * z_i[t];
    }
    for (; c < count; c++) sum += y[c] * z[c][i];
    to[i] = x[i] + sum;
  });
}

AMGKIT_INSTANTIATE(fgmres_residual)
AMGKIT_INSTANTIATE(fgmres_normalise)
AMGKIT_INSTANTIATE(fgmres_dots)
AMGKIT_INSTANTIATE(fgmres_coefficients)
AMGKIT_INSTANTIATE(fgmres_orthogonalise)
AMGKIT_INSTANTIATE(fgmres_correct)
} // namespace amgkit
