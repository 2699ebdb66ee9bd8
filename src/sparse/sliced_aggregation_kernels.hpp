#include "base/parallel.hpp"
#include "sparse/sell_products.hpp"
#include "sparse/sliced_aggregation.hpp"
#include "sparse/spmv.hpp"

namespace amgkit
{
struct Members {
  const int *ptr, *member;

  AMGKIT_FN int smallest(std::int64_t c) const
  {
    int least = member[ptr[c]];
    for (int k = ptr[c] + 1; k < ptr[c + 1]; k++) least = member[k] < least ? member[k] : least;
    return least;
  }
};

template <class Ex> Members members_of(const Aggregation<Ex> &aggregation) { return {aggregation.ptr.data(), aggregation.member.data()}; }

struct OrBits {
  AMGKIT_FN std::uint64_t operator()(std::uint64_t a, std::uint64_t b) const { return a | b; }
};

// Restricted residuals of a slice's rows, p_i r_i.
template <class V> struct SliceResiduals {
  V of[sell_rows];
};

// first, by the slices of the aggregates' smallest rows, which ascend.
template <class Ex> PetscErrorCode slice_first(Ex &ex, std::int64_t coarse, Members members, std::int64_t slices, int *first)
{
  return for_each(ex, coarse + 1, [=] AMGKIT_FN(std::int64_t c) {
    const std::int64_t before = c > 0 ? members.smallest(c - 1) / sell_rows : -1,
                       here = c < coarse ? members.smallest(c) / sell_rows : slices;
    for (std::int64_t s = before + 1; s <= here; s++) first[s] = static_cast<int>(c);
  });
}

// coupled[i]: whether row i has entries in other ranks' columns
template <class Ex>
PetscErrorCode slice_beyond(Ex &ex, std::int64_t coarse, Members members, const unsigned char *coupled, unsigned char *beyond)
{
  return for_each(ex, coarse, [=] AMGKIT_FN(std::int64_t c) {
    const int slice = members.member[members.ptr[c]] / sell_rows;
    bool out = false;
    for (int k = members.ptr[c]; k < members.ptr[c + 1]; k++)
      out = out || members.member[k] / sell_rows != slice || coupled[members.member[k]];
    beyond[c] = out;
  });
}

template <class Ex> PetscErrorCode slice_needed(Ex &ex, int rows, const int *id, const unsigned char *beyond, std::uint64_t *needed)
{
  return for_rows<sell_threads>(ex, sell_slices(rows), [=] AMGKIT_FN(auto team, std::int64_t s) {
    std::uint64_t bits = 0;
    for (int r : team.share(0, sell_rows)) {
      const std::int64_t i = s * sell_rows + r;
      if (i < rows && id[i] >= 0 && beyond[id[i]]) bits |= std::uint64_t{1} << r;
    }
    bits = team.combine(bits, OrBits{});
    team.once([&] { needed[s] = bits; });
  });
}

template <class Ex> PetscErrorCode mark(Ex &ex, const Array<int, Ex> &rows, unsigned char *marks)
{
  const int *row = rows.data();
  return for_each(ex, rows.size(), [=] AMGKIT_FN(std::int64_t k) { marks[row[k]] = 1; });
}

template <class Ex>
PetscErrorCode slice_aggregates(Ex &ex, const Aggregation<Ex> &aggregation, const Array<int, Ex> &coupled, SlicedAggregation<Ex> &out,
                                bool *pays)
{
  const std::int64_t slices = sell_slices(aggregation.fine);
  const Members members = members_of(aggregation);
  std::int64_t count = 0;
  Array<unsigned char, Ex> is_coupled;
  Array<int, Ex> all;

  PetscFunctionBegin;
  out = SlicedAggregation<Ex>{};
  PetscCall(is_coupled.allocate(ex, aggregation.fine));
  PetscCall(memory_zero(ex, is_coupled.data(), is_coupled.bytes()));
  PetscCall(mark(ex, coupled, is_coupled.data()));
  PetscCall(out.beyond.allocate(ex, aggregation.coarse));
  PetscCall(slice_beyond(ex, aggregation.coarse, members, is_coupled.data(), out.beyond.data()));
  PetscCall(all.allocate(ex, aggregation.coarse));
  const unsigned char *beyond = out.beyond.data();
  PetscCall(compact(
      ex, aggregation.coarse, [=] AMGKIT_FN(std::int64_t c) { return beyond[c] != 0; }, all.data(), &count));
  *pays = 2 * count < aggregation.coarse;
  if (!*pays) {
    out = SlicedAggregation<Ex>{};
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(out.list.allocate(ex, count));
  PetscCall(memory_copy(ex, out.list.data(), all.data(), out.list.bytes()));
  PetscCall(out.first.allocate(ex, slices + 1));
  PetscCall(slice_first(ex, aggregation.coarse, members, slices, out.first.data()));
  PetscCall(out.needed.allocate(ex, slices));
  PetscCall(slice_needed(ex, aggregation.fine, aggregation.id.data(), beyond, out.needed.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex, class T, class V>
PetscErrorCode residual_restricted(Ex &ex, SellView<T> A, const Aggregation<Ex> &aggregation, const SlicedAggregation<Ex> &sliced,
                                   const V *p, const V *b, const V *x, V *r, V *coarse)
{
  const Members members = members_of(aggregation);
  const int *first = sliced.first.data();
  const unsigned char *beyond = sliced.beyond.data();
  const std::uint64_t *needed = sliced.needed.data();
  return for_rows_with<sell_threads, SliceResiduals<V>>(ex, sell_slices(A.rows), [=] AMGKIT_FN(auto team, std::int64_t s, auto &residuals) {
    const int row = static_cast<int>(s) * sell_rows;
    team.sync(); // with what came before
    for (int t : team.share(0, sell_threads)) {
      const SellPair<V> Ax = slice_times(A, s, t, x);
      for (int h = 0; h < 2; h++) {
        const int of_slice = t + h * sell_threads, i = row + of_slice;
        if (i >= A.rows) continue;
        const V residual = b[i] - Ax.of[h];
        residuals.of[of_slice] = p[i] * residual;
        if (needed[s] >> of_slice & 1) r[i] = residual;
      }
    }
    team.sync();
    for (int c : team.share(first[s], first[s + 1])) {
      if (beyond[c]) continue;
      V sum = 0;
      for (int k = members.ptr[c]; k < members.ptr[c + 1]; k++) sum += residuals.of[members.member[k] - row];
      coarse[c] = sum;
    }
  });
}

template <class Ex, class V>
PetscErrorCode restrict_beyond(Ex &ex, const Aggregation<Ex> &aggregation, const SlicedAggregation<Ex> &sliced, const V *p, const V *r,
                               V *coarse)
{
  const Members members = members_of(aggregation);
  const int *list = sliced.list.data();
  return for_each(ex, sliced.list.size(), [=] AMGKIT_FN(std::int64_t t) {
    const int c = list[t];
    V sum = 0;
    for (int k = members.ptr[c]; k < members.ptr[c + 1]; k++) sum += p[members.member[k]] * r[members.member[k]];
    coarse[c] = sum;
  });
}

using Space = AMGKIT_SPACE;
template PetscErrorCode slice_aggregates(Space &, const Aggregation<Space> &, const Array<int, Space> &, SlicedAggregation<Space> &,
                                         bool *);
#define INSTANTIATE_RESIDUAL(T, V)                                                                                                         \
  template PetscErrorCode residual_restricted(Space &, SellView<T>, const Aggregation<Space> &, const SlicedAggregation<Space> &,          \
                                              const V *, const V *, const V *, V *, V *);
#define INSTANTIATE(V)                                                                                                                     \
  template PetscErrorCode restrict_beyond(Space &, const Aggregation<Space> &, const SlicedAggregation<Space> &, const V *, const V *, V *);
INSTANTIATE_RESIDUAL(float, float)
INSTANTIATE_RESIDUAL(float, double)
INSTANTIATE_RESIDUAL(double, float)
INSTANTIATE_RESIDUAL(double, double)
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE
#undef INSTANTIATE_RESIDUAL
} // namespace amgkit
