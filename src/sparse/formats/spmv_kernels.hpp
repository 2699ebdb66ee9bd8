#include "base/peer_memory.hpp"
#include "base/peer_values.hpp"
#include "sparse/formats/product_sums.hpp"

namespace amgkit
{
namespace
{
// (A x)_i, known to every lane
template <class Team, class T, class V> AMGKIT_FN double row_times(const Team &team, const CsrView<T> &A, std::int64_t i, const V *x)
{
  double s = 0;
  for (int k : team.share(A.ptr[i], A.ptr[i + 1])) s += static_cast<double>(A.val[k]) * x[A.col[k]];
  return team.sum(s);
}
// The same by lanes that follow one another
template <class Team, class T, class V>
AMGKIT_FN double row_times_of_lanes(const Team &team, const CsrView<T> &A, std::int64_t i, const V *x)
{
  double s = 0;
  for (int k = A.ptr[i] + team.rank(); k < A.ptr[i + 1]; k += team.lanes()) s += static_cast<double>(A.val[k]) * x[A.col[k]];
  return team.sum(s);
}

// Values of other ranks, as each index of a kernel begins with them. Those of peers are awaited by whole blocks of threads: so the number
// of indices is rounded up, and those beyond n only wait.
template <class V> AMGKIT_FN const V *arrived(const V *x) { return x; }
template <class V> AMGKIT_FN const V *arrived(const PeerValues<V> &x) { return x.await(); }
template <class V> std::int64_t indices(std::int64_t n, const V *) { return n; }
template <class V> std::int64_t indices(std::int64_t n, const PeerValues<V> &)
{
  constexpr std::int64_t threads = 256;
#if defined(__CUDACC__)
  static_assert(threads % detail::threads == 0 && most_peers <= detail::threads);
#endif
  return (n + threads - 1) / threads * threads;
}

// X: const V *, or PeerValues<V>
template <class Ex, class D, class X, class V>
PetscErrorCode subtract_rows_of(Ex &ex, CsrView<double> A, std::int64_t nrows, const int *rows, double factor, const D *s, X x, V *y)
{
  const double average = nrows > 0 ? static_cast<double>(A.nnz) / static_cast<double>(nrows) : 0;
  return for_rows(ex, indices(nrows, x), average, [=] AMGKIT_FN(auto team, std::int64_t r) {
    const V *values = arrived(x);
    if (r >= nrows) return;
    const int i = rows[r];
    const double t = factor * row_times(team, A, i, values);
    team.once([&] { y[i] = static_cast<V>(y[i] - (s ? s[i] * t : t)); });
  });
}
} // namespace

template <class Ex, class T, class V> PetscErrorCode spmv(Ex &ex, CsrView<T> A, const V *x, V *y)
{
  return for_rows(ex, A.rows, A.average(), [=] AMGKIT_FN(auto team, std::int64_t i) {
    const double s = row_times(team, A, i, x);
    team.once([&] { y[i] = static_cast<V>(s); });
  });
}

template <class Ex, class V> PetscErrorCode spmv(Ex &ex, CsrView<float> A, const V *x, V *y, const FirstStep<V> &first)
{
  const FirstStep<V> step = first;
  return for_rows(ex, A.rows, A.average(), [=] AMGKIT_FN(auto team, std::int64_t i) {
    const V s = static_cast<V>(row_times(team, A, i, x));
    team.once([&] {
      y[i] = s;
      step(i, s);
    });
  });
}

template <int N, class Ex, class V>
PetscErrorCode sum_products(Ex &ex, std::int64_t n, const V *x, const V *y, const ProductSums<N, V> &products)
{
  const ProductSums<N, V> p = products;
  return sum_into<N>(
      ex, n, [=] AMGKIT_FN(std::int64_t i) { return terms_of(p, read_terms(p, x, i), y[i]); }, p.work, p.sums);
}

template <class Ex, class T, class V> PetscErrorCode add_product(Ex &ex, CsrView<T> A, const V *x, V *y)
{
  return for_rows(ex, A.rows, A.average(), [=] AMGKIT_FN(auto team, std::int64_t i) {
    const double s = row_times(team, A, i, x);
    team.once([&] { y[i] = static_cast<V>(y[i] + s); });
  });
}

template <class Ex, class V> PetscErrorCode residual(Ex &ex, CsrView<double> A, const V *b, const V *x, V *r)
{
  return for_rows(ex, A.rows, A.average(), [=] AMGKIT_FN(auto team, std::int64_t i) {
    const double s = row_times(team, A, i, x);
    team.once([&] { r[i] = static_cast<V>(b[i] - s); });
  });
}

template <class Ex, class D, class V>
PetscErrorCode relax(Ex &ex, CsrView<double> A, const D *d, RelaxStep step, const V *b, const V *x, OptionalVector<V> previous, V *y)
{
  return for_rows(ex, A.rows, A.average(), [=] AMGKIT_FN(auto team, std::int64_t i) {
    const double s = row_times(team, A, i, x);
    team.once([&] { y[i] = step(i, s, d, b, x, previous); });
  });
}

template <class Ex, class D, class V> PetscErrorCode scale(Ex &ex, std::int64_t n, double factor, const D *d, const V *b, V *x)
{
  struct Read {
    D d;
    V b;
  };
  return for_each_read(
      ex, n,
      [=] AMGKIT_FN(std::int64_t i) {
        return Read{d[i], b[i]};
      },
      [=] AMGKIT_FN(std::int64_t i, const Read &at) { x[i] = static_cast<V>(factor * at.d * at.b); });
}

template <class Ex, class V> PetscErrorCode take(Ex &ex, const FirstStep<V> &first, const V *b)
{
  const FirstStep<V> step = first;
  return for_each(ex, step.rows, [=] AMGKIT_FN(std::int64_t i) { step(i, b[i]); });
}

template <class Ex, class V> PetscErrorCode add(Ex &ex, std::int64_t n, const V *x, V *y)
{
  return for_each(ex, n, [=] AMGKIT_FN(std::int64_t i) { y[i] += x[i]; });
}

template <class Ex, class T> PetscErrorCode gather(Ex &ex, std::int64_t n, const int *index, const T *from, T *to)
{
  return for_each(ex, n, [=] AMGKIT_FN(std::int64_t k) { to[k] = from[index[k]]; });
}

template <class Ex, class From, class To> PetscErrorCode convert(Ex &ex, std::int64_t n, const From *from, To *to)
{
  return for_each(ex, n, [=] AMGKIT_FN(std::int64_t k) { to[k] = static_cast<To>(from[k]); });
}

template <class Ex, class V> PetscErrorCode fill(Ex &ex, std::int64_t n, double value, V *x)
{
  return for_each(ex, n, [=] AMGKIT_FN(std::int64_t i) { x[i] = static_cast<V>(value); });
}

template <class Ex, class D, class V>
PetscErrorCode subtract_rows(Ex &ex, CsrView<double> A, std::int64_t nrows, const int *rows, double factor, const D *s, const V *x, V *y)
{
  return subtract_rows_of(ex, A, nrows, rows, factor, s, x, y);
}

template <class Ex, class D, class V>
PetscErrorCode subtract_rows(Ex &ex, CsrView<double> A, std::int64_t nrows, const int *rows, double factor, const D *s,
                             const PeerValues<V> &x, V *y)
{
  return subtract_rows_of(ex, A, nrows, rows, factor, s, x, y);
}

// The sums before are the terms of one more row.
template <int N, class Ex, class Others, class V>
PetscErrorCode add_rows(Ex &ex, CsrView<double> A, std::int64_t nrows, const int *rows, const Others &of_others, const V *x, V *y,
                        const ProductSums<N, V> &sums)
{
  const ProductSums<N, V> p = sums;
  const Others others = of_others;
  const std::int64_t few = 4, some = 16; // entries a row. More lanes: more turns of the blocks that run at once, and each turn waits
  const int lanes = A.nnz <= few * nrows ? 1 : A.nnz <= some * nrows ? 2 : 8;
  constexpr int registers = 64;
  return sum_rows_into<N, registers>(
      ex, indices(nrows + 1, others), lanes,
      [=] AMGKIT_FN(auto team, std::int64_t r) {
        const V *values = arrived(others);
        Sums<N> change{};
        if (r > nrows) return change;
        if (r == nrows) {
          for (int k = 0; k < N && team.rank() == 0; k++) change.of[k] = p.sums[k];
          return change;
        }
        const int i = rows[r];
        const double more = row_times_of_lanes(team, A, i, values);
        if (team.rank() > 0) return change;
        const V before = y[i], after = static_cast<V>(before + more);
        const ProductTerms<V> at = read_terms(p, x, i);
        const Sums<N> old = terms_of(p, at, before);
        change = terms_of(p, at, after);
        for (int k = 0; k < N; k++) change.of[k] -= old.of[k];
        y[i] = after;
        return change;
      },
      p.work, p.sums);
}

using Space = AMGKIT_SPACE;
template PetscErrorCode gather(Space &, std::int64_t, const int *, const int *, int *);
template PetscErrorCode gather(Space &, std::int64_t, const int *, const std::uint64_t *, std::uint64_t *);
template PetscErrorCode convert(Space &, std::int64_t, const double *, float *);
template PetscErrorCode convert(Space &, std::int64_t, const float *, double *);
#define INSTANTIATE_MATRIX(T, V)                                                                                                           \
  template PetscErrorCode spmv(Space &, CsrView<T>, const V *, V *);                                                                       \
  template PetscErrorCode add_product(Space &, CsrView<T>, const V *, V *);
INSTANTIATE_MATRIX(float, float)
INSTANTIATE_MATRIX(float, double)
INSTANTIATE_MATRIX(double, float)
INSTANTIATE_MATRIX(double, double)
#undef INSTANTIATE_MATRIX
#define INSTANTIATE(V)                                                                                                                     \
  template PetscErrorCode residual(Space &, CsrView<double>, const V *, const V *, V *);                                                   \
  template PetscErrorCode take(Space &, const FirstStep<V> &, const V *);                                                                  \
  INSTANTIATE_SUMS(2, V)                                                                                                                   \
  INSTANTIATE_SUMS(3, V)                                                                                                                   \
  INSTANTIATE_SUMS(5, V)                                                                                                                   \
  template PetscErrorCode spmv(Space &, CsrView<float>, const V *, V *, const FirstStep<V> &);                                             \
  template PetscErrorCode add(Space &, std::int64_t, const V *, V *);                                                                      \
  template PetscErrorCode gather(Space &, std::int64_t, const int *, const V *, V *);                                                      \
  template PetscErrorCode fill(Space &, std::int64_t, double, V *);
#define INSTANTIATE_SCALED(D, V)                                                                                                           \
  template PetscErrorCode relax(Space &, CsrView<double>, const D *, RelaxStep, const V *, const V *, OptionalVector<V>, V *);             \
  template PetscErrorCode scale(Space &, std::int64_t, double, const D *, const V *, V *);                                                 \
  template PetscErrorCode subtract_rows(Space &, CsrView<double>, std::int64_t, const int *, double, const D *, const V *, V *);           \
  INSTANTIATE_SUBTRACTED_PEERS(D, V)
#define INSTANTIATE_SUMS(N, V)                                                                                                             \
  template PetscErrorCode sum_products(Space &, std::int64_t, const V *, const V *, const ProductSums<N, V> &);                            \
  INSTANTIATE_ADDED(N, const V *, V)                                                                                                       \
  INSTANTIATE_ADDED_PEERS(N, V)
#define INSTANTIATE_ADDED(N, Others, V)                                                                                                    \
  template PetscErrorCode add_rows(Space &, CsrView<double>, std::int64_t, const int *, Others const &, const V *, V *,                    \
                                   const ProductSums<N, V> &);
#if defined(__CUDACC__)
  #define INSTANTIATE_ADDED_PEERS(N, V) INSTANTIATE_ADDED(N, PeerValues<V>, V)
  #define INSTANTIATE_SUBTRACTED_PEERS(D, V)                                                                                               \
    template PetscErrorCode subtract_rows(Space &, CsrView<double>, std::int64_t, const int *, double, const D *, const PeerValues<V> &,   \
                                          V *);
#else
  #define INSTANTIATE_ADDED_PEERS(N, V)
  #define INSTANTIATE_SUBTRACTED_PEERS(D, V)
#endif
INSTANTIATE(float)
INSTANTIATE(double)
INSTANTIATE_SCALED(float, float)
INSTANTIATE_SCALED(float, double)
INSTANTIATE_SCALED(double, double)
#undef INSTANTIATE
#undef INSTANTIATE_SCALED
#undef INSTANTIATE_SUMS
#undef INSTANTIATE_ADDED
#undef INSTANTIATE_ADDED_PEERS
#undef INSTANTIATE_SUBTRACTED_PEERS
} // namespace amgkit
