// The parallel vocabulary on the host: see parallel.hpp.
#pragma once
#include "base/log.hpp"
#include "base/parallel.hpp"

#include <cstring>
#include <utility>

namespace amgkit
{
inline constexpr bool teams_are_threads = true; // whatever their lanes

// for_many(): 16 KiB of a vector at once. A core that takes few rows of each of thirty vectors in turn waits for memory twice as long.
inline constexpr int most_rows = 2048;

// Neighbouring numbers in a vector register, as many as divide the count of rows. Compilers do not find them in sums, whose order counts.
template <int Rows> struct PackOf {
  using Type = double __attribute__((vector_size(16)));
};
template <> struct PackOf<1> {
  using Type = double;
};
template <class Rows> using Pack = typename PackOf<Rows::count>::Type;
template <class Rows> inline constexpr int pack_size = Rows::count == 1 ? 1 : 2;
template <class P> P load_pack(const double *from)
{
  P pack;
  std::memcpy(&pack, from, sizeof pack);
  return pack;
}
template <class P> void store_pack(P pack, double *to) { std::memcpy(to, &pack, sizeof pack); }
inline double sum_of_pack(double pack) { return pack; }
inline double sum_of_pack(PackOf<2>::Type pack) { return pack[0] + pack[1]; }

namespace detail
{
// Where the host of a GPU waits for a number.
inline void log_wait(Host &) {}
inline void log_wait(Debug &) { const LogPhase logged(Phase::wait); }

template <int Count, int... Smaller, class F> void many_rows(std::int64_t begin, std::int64_t end, const F &f)
{
  std::int64_t i = begin;
  for (; i + Count <= end; i += Count) f(i, Rows<Count>{});
  if constexpr (sizeof...(Smaller) > 0) many_rows<Smaller...>(i, end, f);
}
} // namespace detail

// A team of one. Debug visits shares backwards: what a kernel computes must not depend on the order of its lanes.
template <bool Backwards> struct SerialTeam {
  Strided share(int begin, int end) const
  {
    if constexpr (Backwards)
      return {end - 1, begin - 1, -1};
    else
      return {begin, end, 1};
  }
  template <class T> T sum(T x) const { return x; }
  template <class T> T max(T x) const { return x; }
  bool any(bool x) const { return x; }
  template <class T, class Op> T combine(T x, Op) const { return x; }
  template <class F> void once(F f) const { f(); }
  void sync() const {}
  SerialTeam lane() const { return *this; }
  template <class F> double ordered_sum(int begin, int end, F f, double s = 0) const
  {
    for (int k = begin; k < end; k++) s += f(k);
    return s;
  }
  template <class F> void for_many(std::int64_t begin, std::int64_t end, F f) const
  {
    detail::many_rows<most_rows, 128, 8, 1>(begin, end, f);
  }
  template <class Range, class Load, class Use> void for_entries_by(int /* lanes */, int rows, Range range, Load load, Use use) const
  {
    for_entries(rows, range, load, use);
  }
  template <class Range, class Load, class Use> void for_entries(int rows, Range range, Load load, Use use) const
  {
    for (int r = 0; r < rows; r++) {
      const Segment row = range(r);
      for (int k : share(row.begin, row.end)) use(k, load(r, k));
    }
  }
  template <class Range, class Load, class Use> void for_entries_of_few(int rows, Range range, Load load, Use use) const
  {
    for_entries(rows, range, load, use);
  }
  template <class Range, class Load, class Use> void for_entries_in_order(int rows, Range range, Load load, Use use) const
  {
    for_entries(rows, range, load, use);
  }
  template <class Range, class Load, class Use> void for_numbered_entries_in_order(int rows, Range range, Load load, Use use) const
  {
    int before = 0;
    for (int r = 0; r < rows; r++) {
      const Segment row = range(r);
      for (int k : share(row.begin, row.end)) use(k, load(r, k, before + k - row.begin));
      before += row.end - row.begin;
    }
  }
  template <class Load, class Keep, class Use> int for_chosen(int begin, int end, Load load, Keep keep, Use use) const
  {
    int n = 0;
    for (int k = begin; k < end; k++) {
      const auto loaded = load(k);
      if (keep(loaded)) use(k, n++, loaded);
    }
    return n;
  }
  template <int Most, int Room, class F> void for_sorted(int n, int *x, F f) const
  {
    std::sort(x, x + n);
    for (int t : share(0, n)) f(t, x[t]);
  }
  template <class F> void for_sorted_by(int n, int keys, int *key, std::uint16_t *count, F f) const
  {
    int smaller = 0;
    std::fill(count, count + keys, std::uint16_t{0});
    for (int r = 0; r < n; r++) count[key[r]]++;
    for (int k = 0; k < keys; k++) smaller += std::exchange(count[k], static_cast<std::uint16_t>(smaller));
    for (int r = 0; r < n; r++) f(count[key[r]]++, r, key[r]);
  }
  template <class Range, class F> void sum_in_order(int rows, Range range, F term, int positions, double *sums) const
  {
    for (int t = 0; t < positions; t++) sums[t] = 0;
    for (int r = 0; r < rows; r++) {
      const Segment row = range(r);
      for (int k = row.begin; k < row.end; k++) {
        const Term t = term(r, k);
        if (t.position >= 0) sums[t.position] += t.value;
      }
    }
  }
};

inline void visit(Host &, std::int64_t n, auto f)
{
  for (std::int64_t i = 0; i < n; i++) f(i);
}
inline void visit(Debug &ex, std::int64_t n, auto f)
{
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937_64{ex.seed++});
  for (auto i : order) f(i);
}

template <class Ex, class F> PetscErrorCode for_each(Ex &ex, std::int64_t n, F f)
{
  visit(ex, n, f);
  return PETSC_SUCCESS;
}

template <int Registers, class Ex, class F> PetscErrorCode for_each(Ex &ex, std::int64_t n, F f) { return for_each(ex, n, f); }

template <class Ex, class Given, class Read, class Use>
PetscErrorCode for_each_read(Ex &ex, std::int64_t n, Given given, Read read, Use use)
{
  const auto value = given();
  return for_each(ex, n, [=](std::int64_t i) { use(i, value, read(i)); });
}

template <class Ex, class F> PetscErrorCode for_many(Ex &ex, std::int64_t n, F f)
{
  visit(ex, (n + most_rows - 1) / most_rows,
        [&](std::int64_t part) { SerialTeam<false>{}.for_many(part * most_rows, std::min(n, (part + 1) * most_rows), f); });
  return PETSC_SUCCESS;
}

template <int Lanes, class Ex, class F> PetscErrorCode for_rows(Ex &ex, std::int64_t n, F f)
{
  visit(ex, n, [&](std::int64_t i) { f(SerialTeam<std::is_same_v<Ex, Debug>>{}, i); });
  return PETSC_SUCCESS;
}

template <class Ex, class F> PetscErrorCode for_rows_of(Ex &ex, std::int64_t n, int, F f)
{
  return for_each(ex, n, [=](std::int64_t i) { f(Alone{}, i); });
}

namespace detail
{
// of_range(begin, end): the sums of these terms
template <int N, class Ex, class OfRange>
PetscErrorCode sum_ranges_into(Ex &ex, const SumRanges &ranges, OfRange of_range, double *work, double *sums)
{
  PetscFunctionBegin;
  PetscCall(for_each(ex, ranges.count(), [=](std::int64_t t) {
    const Sums<N> part = of_range(t * ranges.length, ranges.end_of(t * ranges.length));
    for (int k = 0; k < N; k++) work[t * N + k] = part.of[k];
  }));
  PetscCall(for_each(ex, N, [=](std::int64_t k) {
    sums[k] = 0;
    for (std::int64_t t = 0; t < ranges.count(); t++) sums[k] += work[t * N + k];
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace detail

template <int N, class Ex, class F> PetscErrorCode sum_into(Ex &ex, std::int64_t n, F f, double *work, double *sums)
{
  const auto of_range = [=](std::int64_t begin, std::int64_t end) {
    const auto add = [&](Sums<N> &to, std::int64_t i) {
      const Sums<N> term = f(i);
      for (int k = 0; k < N; k++) to.of[k] += term.of[k];
    };
    Sums<N> mine{}, four[4]{}; // that do not wait for one another
    std::int64_t i = begin;
    for (; i + 4 <= end; i += 4) {
      for (int j = 0; j < 4; j++) add(four[j], i + j);
    }
    for (; i < end; i++) add(mine, i);
    for (int k = 0; k < N; k++) mine.of[k] += (four[0].of[k] + four[1].of[k]) + (four[2].of[k] + four[3].of[k]);
    return mine;
  };
  return detail::sum_ranges_into<N>(ex, SumRanges(n), of_range, work, sums);
}

template <int N, class Ex, class Given, class Read, class Use>
PetscErrorCode sum_read_into(Ex &ex, std::int64_t n, Given given, Read read, Use use, double *work, double *sums)
{
  const auto value = given();
  return sum_into<N>(
      ex, n, [=](std::int64_t i) { return use(i, value, read(i)); }, work, sums);
}

template <int N, int Registers, class Ex, class F>
PetscErrorCode sum_rows_into(Ex &ex, std::int64_t n, int, F f, double *work, double *sums)
{
  return sum_into<N>(
      ex, n, [=](std::int64_t i) { return f(Alone{}, i); }, work, sums);
}

template <int N, class Ex, class F> PetscErrorCode sum_many_into(Ex &ex, std::int64_t n, F f, double *work, double *sums)
{
  const auto of_range = [=](std::int64_t begin, std::int64_t end) {
    Sums<N> mine{};
    SerialTeam<false>{}.for_many(begin, end, [&](std::int64_t i, auto rows) {
      const Sums<N> term = f(i, rows);
      for (int k = 0; k < N; k++) mine.of[k] += term.of[k];
    });
    return mine;
  };
  return detail::sum_ranges_into<N>(ex, SumRanges(n, most_rows), of_range, work, sums);
}

template <int Lanes, class S, class Ex, class F> PetscErrorCode for_rows_with(Ex &ex, std::int64_t n, F f)
{
  visit(ex, n, [&](std::int64_t i) {
    S scratch;
    if constexpr (std::is_same_v<Ex, Debug>) std::fill_n(reinterpret_cast<unsigned char *>(&scratch), sizeof(S), 0xff);
    f(SerialTeam<std::is_same_v<Ex, Debug>>{}, i, scratch);
  });
  return PETSC_SUCCESS;
}

template <class T, class Ex, class F, class Op> PetscErrorCode reduce(Ex &ex, std::int64_t n, F f, T init, Op op, T *result)
{
  T r = init;
  if (n > 0) detail::log_wait(ex);
  for (std::int64_t i = 0; i < n; i++) r = op(r, f(i));
  *result = r;
  return PETSC_SUCCESS;
}

template <class Ex>
PetscErrorCode exclusive_scan(Ex &ex, std::int64_t n, int *x, std::int64_t *total, const unsigned *also = nullptr,
                              unsigned *value = nullptr)
{
  std::int64_t sum = 0;

  PetscFunctionBegin;
  for (std::int64_t i = 0; i < n; i++) {
    const int here = x[i];
    x[i] = static_cast<int>(sum);
    sum += here;
    PetscCheck(sum <= INT32_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
               "More than 2^31 - 1 entries on one process: use more processes");
  }
  x[n] = static_cast<int>(sum);
  if (total) detail::log_wait(ex);
  if (total) *total = sum;
  if (also) *value = *also;
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Key, class T, class Ex> PetscErrorCode stable_sort_pairs(Ex &, std::int64_t n, Key *key, T *value, int bits)
{
  const std::uint64_t mask = bits >= 64 ? UINT64_MAX : (std::uint64_t{1} << bits) - 1;
  std::vector<std::pair<Key, T>> pairs(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; i++) pairs[i] = {key[i], value[i]};
  std::stable_sort(pairs.begin(), pairs.end(), [=](const auto &a, const auto &b) { return (a.first & mask) < (b.first & mask); });
  for (std::int64_t i = 0; i < n; i++) {
    key[i] = pairs[i].first;
    value[i] = pairs[i].second;
  }
  return PETSC_SUCCESS;
}

template <class Ex, class F> PetscErrorCode compact(Ex &ex, std::int64_t n, F f, int *out, std::int64_t *count)
{
  std::int64_t found = 0;
  if (n > 0) detail::log_wait(ex);
  for (std::int64_t i = 0; i < n; i++) {
    if (f(i)) out[found++] = static_cast<int>(i);
  }
  *count = found;
  return PETSC_SUCCESS;
}

template <int Parts, int Numbers, class Ex, class F>
PetscErrorCode partition(Ex &ex, std::int64_t n, F f, int *out, PartSizes<Parts, Numbers> *sizes)
{
  std::int64_t next[Parts] = {};
  *sizes = {};
  if (n > 0) detail::log_wait(ex);
  for (std::int64_t i = 0; i < n; i++) sizes->add(f(i));
  for (int p = 1; p < Parts; p++) next[p] = next[p - 1] + sizes->of[p - 1];
  for (std::int64_t i = 0; i < n; i++) {
    const int p = f(i).part;
    if (p < Parts) out[next[p]++] = static_cast<int>(i);
  }
  return PETSC_SUCCESS;
}

// Atomics: a team or for_each on the host is one thread.
template <class T> T atomic_compare_swap(T *p, T expected, T desired)
{
  const T old = *p;
  if (old == expected) *p = desired;
  return old;
}
inline int atomic_increment(int *p) { return (*p)++; }
inline unsigned atomic_or(unsigned *p, unsigned bits) { return std::exchange(*p, *p | bits); }
inline void atomic_min(int *p, int x) { *p = std::min(*p, x); }
inline void atomic_add(int *p, int x) { *p += x; }
template <class T> T atomic_load(const T *p) { return *p; }
template <class T> void atomic_store(T *p, T x) { *p = x; }
} // namespace amgkit
