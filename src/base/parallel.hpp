// The parallel vocabulary every kernel is written in; included by *_kernels.hpp files only.
//
//   for_each(ex, n, f)                 f(i) for 0 <= i < n, in any order
//   for_each<Registers>(ex, n, f)      the same for an f that has much on its way at once: so many registers a thread on Cuda, not the
//                                      fewer that nvcc may choose
//   for_each_read(ex, n, given, read, use)   use(i, given(), read(i)) for 0 <= i < n, in any order, with several reads under way at once:
//                                      what use(i) writes no other read(j) may read; given() is the same for all i
//   for_each_read(ex, n, read, use)    the same with use(i, read(i))
//   for_rows<Lanes>(ex, n, f)          f(team, i): Lanes threads share index i (one thread on the host)
//   for_rows(ex, n, average, f)        the same, Lanes chosen from the average number of things a team shares
//   for_rows_of(ex, n, lanes, f)       the same, lanes a power of two up to 32; the team has rank(), lanes() and sum()
//   for_rows_with<Lanes, S>(ex, n, f)  f(team, i, s): the same with an S of scratch per team, uninitialised
//   reduce(ex, n, f, init, op, &r)     r = op over f(i); waits
//   sum_into<N>(ex, n, f, work, sums)  sums[k] = sum of f(i).of[k], k < N, left in the space's memory; neither waits nor allocates
//   sum_read_into<N>(ex, n, given, read, use, work, sums)   the same of use(i, given(), read(i)), as for_each_read() has these
//   sum_rows_into<N, Registers>(ex, n, lanes, f, work, sums)   the same of f(team, i), the teams as for_rows_of() has them; f returns its
//                                      terms on one lane and zeros on the others; 80 registers at least where lanes > 1. work: as for 32 n
//                                      terms
//   for_many(ex, n, f)                 f(i, rows) for the rows i, ..., i + rows.count - 1: one on Cuda, many on the host, where f's loops
//                                      over them read memory in long pieces and use vector registers (Pack)
//   sum_many_into<N>(ex, n, f, work, sums)   sum_into() of such an f, which returns the sums of its rows
//   exclusive_scan(ex, n, x, &total, also, &value)   x[i] <- x[0] + ... + x[i-1] for 0 <= i <= n; x has room for n + 1; waits, unless total
//                                      is nullptr. The last two, which may be left out: value <- *also of the space's memory, without a
//                                      wait of its own
//   stable_sort_pairs(ex, n, key, val, bits)   by the low `bits` bits of the keys, of 32 or 64; takes as much memory as the pairs on Cuda
//   compact(ex, n, f, out, &count)     the i with f(i), ascending; waits
//   partition(ex, n, f, out, &sizes)   the i with f(i).part = 0, ascending, then those with 1, ...; without those with part >= Parts.
//                                      sizes: how many each part has, and the sums of f(i).numbers[k] over all i. Calls f twice for
//                                      each i; waits
//
// A team offers: share(begin, end), the indices one lane visits; sum, max, any, combine over lanes; once(f), one lane runs f;
// sync(); ordered_sum(begin, end, f, s): s (0) + f(begin) + ... + f(end - 1), added in this order, for every lane;
// for_entries(rows, range, load, use): use(k, load(r, k)) on some lane for 0 <= r < rows and range(r).begin <= k < range(r).end, with
// several loads under way at once; for_entries_by(lanes, ...): the same, where groups of so many lanes, a power of 2, take four rows
// each in turn; for_entries_of_few: the same, faster with up to four rows, slower with many; for_entries_in_order: the same, the
// uses of a row complete for all lanes before those of the next; for_numbered_entries_in_order: with load(r, k, n), the n-th entry of all;
// for_chosen(begin, end, load, keep, use): use(k, n, x) on some lane for the n-th index k, from 0 on, whose x = load(k) has keep(x);
// several loads are under way at once; returns how many there are, for every lane;
// lane(): the lane as a team of its own, whose calls the others need not make;
// sum_in_order(rows, range, term, n, sums): sums[t], in scratch of the team, = the values of all
// {position, value} = term(r, k) with position t < n, for r and k as before, added to 0 in this order of r and k, position -1 left out.
// term may be called more than once for an entry where n > 4 Lanes. Complete for all lanes after a sync().
// for_sorted<Most, Room>(n, x, f): f(t, the t-th smallest) on some lane for the n <= Most distinct numbers x, which are lost; x lies in
// scratch of the team and has room for Room numbers, more than Most rounded up to a multiple of the lanes.
// for_sorted_by(n, keys, key, count, f): f(t, r, key[r]) on some lane for r < n < 32768, the t-th by its key 0 <= key[r] < keys <= 65536,
// equal ones in the order of r; n keys and room for `keys` counts lie in scratch of the team and are lost.
//
// Atomic, relaxed: atomic_compare_swap(p, expected, desired), atomic_increment(p) and atomic_or(p, bits) return what was there;
// atomic_min(p, x); atomic_load(p).
#pragma once
#include "base/array.hpp"
#include "base/part_sizes.hpp"

#include <algorithm>
#include <numeric>
#include <random>

namespace amgkit
{
struct Sum {
  template <class T> AMGKIT_FN T operator()(T a, T b) const { return a + b; }
};
struct Max {
  template <class T> AMGKIT_FN T operator()(T a, T b) const { return a < b ? b : a; }
};
struct Min {
  template <class T> AMGKIT_FN T operator()(T a, T b) const { return b < a ? b : a; }
};
struct Or {
  template <class T> AMGKIT_FN T operator()(T a, T b) const { return a | b; }
};

// A team of one thread, as for_rows_of() has teams.
struct Alone {
  AMGKIT_FN static int rank() { return 0; }
  AMGKIT_FN static int lanes() { return 1; }
  template <class T> AMGKIT_FN static T sum(T x) { return x; }
};

// N sums that are taken together.
template <int N> struct Sums {
  double of[N];
};
// The ranges of indices that sum_into() sums on a host, of a multiple of so many, by n alone: the same bits in every run of a space.
struct SumRanges {
  std::int64_t n, length;
  explicit SumRanges(std::int64_t terms, std::int64_t multiple = 1)
      : n(terms), length(std::max<std::int64_t>(sum_least, (terms + sum_parts - 1) / sum_parts))
  {
    length = (length + multiple - 1) / multiple * multiple;
  }
  std::int64_t count() const { return (n + length - 1) / length; }
  AMGKIT_FN std::int64_t end_of(std::int64_t begin) const { return begin + length < n ? begin + length : n; }
};

struct Term {
  int position;
  double value;
};
struct Segment {
  int begin, end;
};

// The indices begin, begin + step, ... that lie before end (after it, for a negative step).
struct Strided {
  int first, last, step;
  struct Iterator {
    int k, last, step;
    AMGKIT_FN int operator*() const { return k; }
    AMGKIT_FN Iterator &operator++()
    {
      k += step;
      return *this;
    }
    AMGKIT_FN bool operator!=(const Iterator &) const { return step > 0 ? k < last : k > last; }
  };
  AMGKIT_FN Iterator begin() const { return {first, last, step}; }
  AMGKIT_FN Iterator end() const { return {last, last, step}; }
};
} // namespace amgkit

namespace amgkit
{
// So many consecutive rows, for for_many().
template <int Count> struct Rows {
  static constexpr int count = Count;
};
} // namespace amgkit

#if defined(__CUDACC__)
  #include "base/parallel_cuda.hpp"
#else
  #include "base/parallel_host.hpp"
#endif

namespace amgkit
{
namespace detail
{
struct NothingGiven {
  AMGKIT_FN int operator()() const { return 0; }
};
template <class Use> struct WithoutGiven {
  Use use;
  template <class Read> AMGKIT_FN void operator()(std::int64_t i, int, const Read &at) const { use(i, at); }
};
} // namespace detail
template <class Ex, class Read, class Use> PetscErrorCode for_each_read(Ex &ex, std::int64_t n, Read read, Use use)
{
  return for_each_read(ex, n, detail::NothingGiven{}, read, detail::WithoutGiven<Use>{use});
}

// for_rows with the number of lanes that suits rows of this average length.
// Four lanes on rows of 4 to 32 entries measured best on an H200, see share/amgkit/bench/NOTES.md.
template <class Ex, class F> PetscErrorCode for_rows(Ex &ex, std::int64_t n, double average, F f)
{
  if constexpr (teams_are_threads) {
    return for_rows<1>(ex, n, f); // or the same would be compiled four times
  } else {
    if (average <= 3) return for_rows<2>(ex, n, f);
    if (average <= 32) return for_rows<4>(ex, n, f);
    if (average <= 96) return for_rows<16>(ex, n, f);
    return for_rows<32>(ex, n, f);
  }
}
} // namespace amgkit
