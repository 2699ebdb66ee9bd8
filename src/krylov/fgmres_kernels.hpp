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

namespace
{
// The first Width vectors of a block
template <int Width, class Ex>
PetscErrorCode dots_of(Ex &ex, std::int64_t n, const FgmresBlock &v, const double *u, const double *w, double *work, double *sums)
{
  return sum_many_into<1 + 2 * Width>(
      ex, n,
      [=] AMGKIT_FN(std::int64_t i, auto rows) {
        using Numbers = Pack<decltype(rows)>;
        constexpr int together = pack_size<decltype(rows)>;
        Numbers v_u[Width] = {}, v_w[Width] = {}, w_w = {};
        for (int r = 0; r < rows.count; r += together) {
          const auto u_r = load_pack<Numbers>(u + i + r), w_r = load_pack<Numbers>(w + i + r);
          for (int c = 0; c < Width; c++) {
            const auto v_r = load_pack<Numbers>(v.vector[c] + i + r);
            v_u[c] += v_r * u_r;
            v_w[c] += v_r * w_r;
          }
          w_w += w_r * w_r;
        }
        Sums<1 + 2 * Width> sums_of_rows;
        sums_of_rows.of[0] = sum_of_pack(w_w);
        for (int c = 0; c < Width; c++) {
          sums_of_rows.of[1 + 2 * c] = sum_of_pack(v_u[c]);
          sums_of_rows.of[2 + 2 * c] = sum_of_pack(v_w[c]);
        }
        return sums_of_rows;
      },
      work, sums);
}
} // namespace

// Where the number of vectors is odd, u takes part once more: it is read in any case.
template <class Ex>
PetscErrorCode fgmres_dots(Ex &ex, std::int64_t n, int count, const FgmresBlock &block, const double *u, const double *w, double *work,
                           double *sums)
{
  static_assert(fgmres_block == 8);
  FgmresBlock v = block;
  if (count % 2 == 1) v.vector[count] = u;
  if (count <= 2) return dots_of<2>(ex, n, v, u, w, work, sums);
  if (count <= 4) return dots_of<4>(ex, n, v, u, w, work, sums);
  if (count <= 6) return dots_of<6>(ex, n, v, u, w, work, sums);
  return dots_of<8>(ex, n, v, u, w, work, sums);
}

namespace
{
// f(vectors, c) for the vectors c, ..., c + vectors.count - 1 of `count`: four, whose entries are on their way at once, or fewer
template <class F> AMGKIT_FN void by_fours(int count, F f)
{
  int c = 0;
  for (; c + 4 <= count; c += 4) f(Rows<4>{}, c);
  if (c + 2 <= count) f(Rows<2>{}, c);
  if (count % 2 == 1) f(Rows<1>{}, count - 1);
}
} // namespace

// A difference of squares below the rounding of the first one is no number to divide by. Neither hides a NaN: w·w and ||u|| are that then.
template <class Ex> PetscErrorCode fgmres_coefficients(Ex &ex, int k, const double *sums, FgmresNumbers *numbers, FgmresPair *pairs)
{
  return for_rows<32>(ex, 1, [=] AMGKIT_FN(auto team, std::int64_t) {
    constexpr double least = 2.2e-16;
    const auto dots = [=](int c) { return sums + c / fgmres_block * fgmres_sums + 1 + 2 * (c % fgmres_block); };
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
    const double u_u = dots(k)[0], u_w = dots(k)[1], w_w = sums[0];
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
  return sum_many_into<1>(
      ex, n,
      [=] AMGKIT_FN(std::int64_t i, auto rows) {
        using Numbers = Pack<decltype(rows)>;
        constexpr int together = pack_size<decltype(rows)>, packs = decltype(rows)::count / together;
        Numbers v_i[packs], u_i[packs], squares{};
        for (int r = 0; r < packs; r++) {
          v_i[r] = load_pack<Numbers>(u + i + together * r);
          u_i[r] = load_pack<Numbers>(w + i + together * r);
        }
        by_fours(k, [&](auto vectors, int c) {
          constexpr int count = decltype(vectors)::count;
          const double *x[count];
          FgmresPair pair[count];
          for (int t = 0; t < count; t++) x[t] = basis[c + t] + i;
          for (int t = 0; t < count; t++) pair[t] = pairs[c + t];
          for (int r = 0; r < packs; r++) {
            Numbers v_r = v_i[r], u_r = u_i[r], x_r[count];
            for (int t = 0; t < count; t++) x_r[t] = load_pack<Numbers>(x[t] + together * r);
            for (int t = 0; t < count; t++) v_r -= pair[t].s * x_r[t];
            for (int t = 0; t < count; t++) u_r -= pair[t].h * x_r[t];
            v_i[r] = v_r;
            u_i[r] = u_r;
          }
        });
        const double nu = pairs[k].s, h = pairs[k].h, sigma = numbers->sigma;
        double *to = basis[k] + i;
        for (int r = 0; r < packs; r++) {
          const Numbers v_r = v_i[r] / nu, u_r = (u_i[r] - h * v_r) / sigma;
          store_pack(v_r, to + together * r);
          store_pack(u_r, u + i + together * r);
          squares += u_r * u_r;
        }
        return Sums<1>{{sum_of_pack(squares)}};
      },
      work, &numbers->u_u);
}

template <class Ex>
PetscErrorCode fgmres_correct(Ex &ex, std::int64_t n, int count, const double *y, const double *const *z, const double *x, double *to)
{
  return for_many(ex, n, [=] AMGKIT_FN(std::int64_t i, auto rows) {
    using Numbers = Pack<decltype(rows)>;
    constexpr int together = pack_size<decltype(rows)>, packs = decltype(rows)::count / together;
    Numbers sum[packs] = {};
    by_fours(count, [&](auto vectors, int c) {
      constexpr int here = decltype(vectors)::count;
      const double *z_c[here];
      double y_c[here];
      for (int t = 0; t < here; t++) z_c[t] = z[c + t] + i;
      for (int t = 0; t < here; t++) y_c[t] = y[c + t];
      for (int r = 0; r < packs; r++) {
        Numbers sum_r = sum[r], z_r[here];
        for (int t = 0; t < here; t++) z_r[t] = load_pack<Numbers>(z_c[t] + together * r);
        for (int t = 0; t < here; t++) sum_r += y_c[t] * z_r[t];
        sum[r] = sum_r;
      }
    });
    for (int r = 0; r < packs; r++) store_pack(load_pack<Numbers>(x + i + together * r) + sum[r], to + i + together * r);
  });
}

AMGKIT_INSTANTIATE(fgmres_residual)
AMGKIT_INSTANTIATE(fgmres_normalise)
AMGKIT_INSTANTIATE(fgmres_dots)
AMGKIT_INSTANTIATE(fgmres_coefficients)
AMGKIT_INSTANTIATE(fgmres_orthogonalise)
AMGKIT_INSTANTIATE(fgmres_correct)
} // namespace amgkit
