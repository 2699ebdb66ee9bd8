#include "base/parallel.hpp"
#include "sparse/rows/aggregation.hpp"

namespace amgkit
{
template <class Ex, class V>
PetscErrorCode restrict_sum(Ex &ex, const Aggregation<Ex> &aggregation, const V *weights, const V *r, V *b, const FirstStep<V> &first)
{
  const OrOnes<V> p = {weights};
  const FirstStep<V> step = first;
  const int *ptr = aggregation.ptr.data(), *member = aggregation.member.data();
  return for_each(ex, aggregation.coarse, [=] AMGKIT_FN(std::int64_t c) {
    const double d = step.scaling(c);
    V s = 0;
    for (int k = ptr[c]; k < ptr[c + 1]; k++) {
      const int i = member[k];
      s += p[i] * r[i];
    }
    b[c] = s;
    step.take(c, d, s);
  });
}

template <class Ex, class V> PetscErrorCode prolongate_add(Ex &ex, const Aggregation<Ex> &aggregation, const V *weights, const V *e, V *x)
{
  const OrOnes<V> p = {weights};
  const int *id = aggregation.id.data();
  struct Read {
    int id;
    V x, p, e;
  };
  return for_each_read(
      ex, aggregation.fine,
      [=] AMGKIT_FN(std::int64_t i) {
        const int c = id[i];
        return Read{c, x[i], p[i], c >= 0 ? e[c] : 0};
      },
      [=] AMGKIT_FN(std::int64_t i, const Read &at) {
        if (at.id >= 0) x[i] = at.x + at.p * at.e;
      });
}

using Space = AMGKIT_SPACE;
#define INSTANTIATE(V)                                                                                                                     \
  template PetscErrorCode restrict_sum(Space &, const Aggregation<Space> &, const V *, const V *, V *, const FirstStep<V> &);              \
  template PetscErrorCode prolongate_add(Space &, const Aggregation<Space> &, const V *, const V *, V *);
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE
} // namespace amgkit
