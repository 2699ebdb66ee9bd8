#include "base/parallel.hpp"
#include "sparse/rows/aggregation.hpp"

#include <array>
#include <climits>

namespace amgkit
{
namespace
{
// *misfits <- 1 where numbers of one base are too far apart
template <class Ex> PetscErrorCode shorten_numbers(Ex &ex, const Array<int, Ex> &numbers, ShortNumbers<Ex> &out, unsigned *misfits)
{
  const std::int64_t n = numbers.size(), bases = (n + Numbers::of_a_base - 1) / Numbers::of_a_base;

  PetscFunctionBegin;
  PetscCall(out.over.allocate(ex, n));
  PetscCall(out.base.allocate(ex, bases));
  const int *number = numbers.data();
  unsigned short *over = out.over.data();
  int *base = out.base.data();
  PetscCall(for_rows<32>(ex, bases, [=] AMGKIT_FN(auto team, std::int64_t c) {
    const std::int64_t begin = c * Numbers::of_a_base;
    const int count = static_cast<int>(n - begin < Numbers::of_a_base ? n - begin : Numbers::of_a_base);
    int low = INT_MAX, high = -1;
    for (int t : team.share(0, count)) {
      const int at = number[begin + t];
      low = at >= 0 && at < low ? at : low;
      high = at > high ? at : high;
    }
    low = team.combine(low, Min{});
    high = team.max(high);
    const bool fits = high < 0 || high - low < Numbers::none;
    for (int t : team.share(0, count)) {
      const int at = number[begin + t];
      over[begin + t] = static_cast<unsigned short>(fits && at >= 0 ? at - low : Numbers::none);
    }
    team.once([&] {
      base[c] = low;
      if (!fits) atomic_or(misfits, 1U);
    });
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

template <class Ex> PetscErrorCode shorten(Ex &ex, Aggregation<Ex> &aggregation)
{
  Array<unsigned, Ex> flags;
  std::array<unsigned, 2> misfits{};

  PetscFunctionBegin;
  PetscCall(flags.allocate(ex, 2));
  PetscCall(memory_zero(ex, flags.data(), flags.bytes()));
  PetscCall(shorten_numbers(ex, aggregation.id, aggregation.short_id, flags.data()));
  PetscCall(shorten_numbers(ex, aggregation.member, aggregation.short_member, flags.data() + 1));
  PetscCall(memory_to_host(ex, misfits.data(), flags.data(), flags.bytes()));
  if (misfits[0]) aggregation.short_id = {};
  if (misfits[1]) aggregation.short_member = {};
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex, class V>
PetscErrorCode restrict_sum(Ex &ex, const Aggregation<Ex> &aggregation, const V *weights, const V *r, V *b, const FirstStep<V> &first)
{
  const OrOnes<V> p = {weights};
  const FirstStep<V> step = first;
  const int *ptr = aggregation.ptr.data();
  const Numbers member = aggregation.members();
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
  const Numbers id = aggregation.ids();
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

AMGKIT_INSTANTIATE(shorten)
using Space = AMGKIT_SPACE;
#define INSTANTIATE(V)                                                                                                                     \
  template PetscErrorCode restrict_sum(Space &, const Aggregation<Space> &, const V *, const V *, V *, const FirstStep<V> &);              \
  template PetscErrorCode prolongate_add(Space &, const Aggregation<Space> &, const V *, const V *, V *);
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE
} // namespace amgkit
