#include "base/ordered_rows.hpp"
#include "base/parallel_checks.hpp"

namespace amgkit::test
{
template <class Ex> PetscErrorCode check_for_each(Ex &ex, std::int64_t n, int *out)
{
  return for_each(ex, n, [=] AMGKIT_FN(std::int64_t i) { out[i] = static_cast<int>(3 * i); });
}

template <int Lanes, class Ex> PetscErrorCode check_team(Ex &ex, int n, int *out)
{
  return for_rows<Lanes>(ex, n, [=] AMGKIT_FN(auto team, std::int64_t i) {
    int sum = 0, most = -1, least = 1000000;
    bool seven = false;
    for (int k : team.share(0, static_cast<int>(i))) {
      sum += k;
      most = k > most ? k : most;
      least = k < least ? k : least;
      seven = seven || k == 7;
    }
    sum = team.sum(sum);
    most = team.max(most);
    least = team.combine(least, Min{});
    seven = team.any(seven);
    team.once([&] {
      out[5 * i] = sum;
      out[5 * i + 1] = most;
      out[5 * i + 2] = seven;
      out[5 * i + 3] = least;
      out[5 * i + 4] += 1;
    });
  });
}

// Values whose sum depends on the order, many at one position at times, some at none.
AMGKIT_FN inline Term term_to_add(int k, int positions)
{
  return {k % 7 == 5 ? -1 : k % 80 < 60 ? k % positions : 1, 1.0 / (1 + k * k % 97)};
}

struct CheckedSums {
  double of[sums_in_order];
};
template <int Lanes, class Ex> PetscErrorCode check_sum_in_order(Ex &ex, int n, int positions, double *out)
{
  return for_rows_with<Lanes, CheckedSums>(ex, n, [=] AMGKIT_FN(auto team, std::int64_t i, auto &sums) {
    const int terms = static_cast<int>(i), rows = terms / 10 + 1; // of 10 terms each, the last shorter
    team.sum_in_order(
        rows,
        [&](int r) {
          return Segment{10 * r, terms < 10 * r + 10 ? terms : 10 * r + 10};
        },
        [&](int, int k) { return term_to_add(k, positions); }, positions, sums.of);
    team.sync();
    for (int t : team.share(0, positions)) out[sums_in_order * i + t] = sums.of[t];
  });
}

template <int Lanes, class Ex> PetscErrorCode check_ordered_sum(Ex &ex, int n, double *out)
{
  return for_rows<Lanes>(ex, n, [=] AMGKIT_FN(auto team, std::int64_t i) {
    const double s = team.ordered_sum(3, 3 + static_cast<int>(i), [](int k) { return term_to_add(k, 1).value; });
    team.once([&] { out[i] = s; });
  });
}

struct InOrder {
  int x[entries_in_order];
};
template <int Lanes, class Ex> PetscErrorCode check_entries_in_order(Ex &ex, int n, int *out)
{
  return for_rows_with<Lanes, InOrder>(ex, n, [=] AMGKIT_FN(auto team, std::int64_t i, auto &scratch) {
    for (int p : team.share(0, entries_in_order)) scratch.x[p] = 0;
    team.sync();
    team.for_entries_in_order(
        static_cast<int>(i),
        [&](int r) {
          return Segment{0, 13 * (r + 1) % entries_in_order};
        },
        [&](int r, int) { return r + 1; },
        [&](int q, int r) {
          int &x = scratch.x[(q + r) % entries_in_order];
          x = (3 * x + r) % 1000003;
        });
    team.sync();
    for (int p : team.share(0, entries_in_order)) out[entries_in_order * i + p] = scratch.x[p];
  });
}

template <int Lanes, class Ex> PetscErrorCode check_entries(Ex &ex, int n, EntriesBy by, int *out)
{
  return for_rows<Lanes>(ex, n, [=] AMGKIT_FN(auto team, std::int64_t i) {
    const int rows = static_cast<int>(i);
    const auto range = [](int r) { return Segment{100 * r, 100 * r + 13 * r % 7 * 11}; };
    const auto load = [](int r, int k) { return k + r + 1; };
    const auto use = [&](int k, int x) { atomic_add(&out[entries_in_rows * i + k], x); };
    if (by.few)
      team.for_entries_of_few(rows, range, load, use);
    else if (by.lanes > 0)
      team.for_entries_by(by.lanes, rows, range, load, use);
    else
      team.for_entries(rows, range, load, use);
  });
}

struct NumberedEntry {
  int number, what;
};
template <int Lanes, class Ex> PetscErrorCode check_numbered_entries(Ex &ex, int n, int *out)
{
  return for_rows<Lanes>(ex, n, [=] AMGKIT_FN(auto team, std::int64_t i) {
    team.for_numbered_entries_in_order(
        static_cast<int>(i),
        [&](int r) {
          return Segment{r, r + 13 * (r + 1) % entries_in_order};
        },
        [&](int r, int k, int number) {
          return NumberedEntry{number, 100 * (r + 1) + k - r};
        },
        [&](int, const NumberedEntry &entry) { out[numbered_entries * i + entry.number] = entry.what; });
  });
}

template <int Lanes, class Ex> PetscErrorCode check_single_lanes(Ex &ex, int n, int *out)
{
  return for_rows<Lanes>(ex, n, [=] AMGKIT_FN(auto team, std::int64_t i) {
    for (int q : team.share(0, single_lanes)) {
      int x = q, sum = 0;
      team.lane().for_entries_in_order(
          static_cast<int>(i),
          [&](int r) {
            return Segment{q, q + (r + 1 + q) % 4};
          },
          [&](int r, int) { return r + 1; },
          [&](int k, int r) {
            x = (3 * x + r) % 1000003;
            sum += k;
          });
      out[2 * (single_lanes * i + q)] = x;
      out[2 * (single_lanes * i + q) + 1] = sum;
    }
  });
}

template <int Lanes, class Ex> PetscErrorCode check_chosen(Ex &ex, int n, int *out)
{
  return for_rows<Lanes>(ex, n, [=] AMGKIT_FN(auto team, std::int64_t i) {
    const int count = team.for_chosen(
        3, 3 + static_cast<int>(i), [](int k) { return 2 * k; }, [](int x) { return x % 10 == 2 || x % 10 == 6; },
        [&](int k, int t, int x) { out[n * i + t] = x - k; });
    team.once([&] {
      if (count < n) out[n * i + count] = -2;
    });
  });
}

struct ToSort {
  static constexpr int most = 200, room = 225;
  int x[room];
};
template <int Lanes, class Ex> PetscErrorCode check_sorted(Ex &ex, int n, int *out)
{
  return for_rows_with<Lanes, ToSort>(ex, n, [=] AMGKIT_FN(auto team, std::int64_t i, auto &scratch) {
    for (int k : team.share(0, static_cast<int>(i))) scratch.x[k] = 7 * k % n - 3;
    team.sync();
    team.template for_sorted<ToSort::most, ToSort::room>(static_cast<int>(i), scratch.x, [&](int t, int x) { out[n * i + t] = x; });
  });
}

struct ToCount {
  int key[200];
  std::uint16_t count[200];
};
template <int Lanes, class Ex> PetscErrorCode check_sorted_by(Ex &ex, int n, int keys, int *out)
{
  return for_rows_with<Lanes, ToCount>(ex, n, [=] AMGKIT_FN(auto team, std::int64_t i, auto &scratch) {
    for (int k : team.share(0, static_cast<int>(i))) scratch.key[k] = 7 * k * k % keys;
    team.sync();
    team.for_sorted_by(static_cast<int>(i), keys, scratch.key, scratch.count, [&](int t, int r, int key) { out[n * i + t] = n * key + r; });
  });
}

template <class Ex> PetscErrorCode check_many(Ex &ex, std::int64_t n, const double *x, double *out, double *work, double *sums)
{
  PetscFunctionBegin;
  PetscCall(for_many(ex, n, [=] AMGKIT_FN(std::int64_t i, auto rows) {
    using Numbers = Pack<decltype(rows)>;
    constexpr int together = pack_size<decltype(rows)>;
    for (int r = 0; r < rows.count; r += together) store_pack(2 * load_pack<Numbers>(x + i + r), out + i + r);
    for (int r = 0; r < rows.count; r++) out[i + r] += static_cast<double>(i + r);
  }));
  PetscCall(sum_many_into<2>(
      ex, n,
      [=] AMGKIT_FN(std::int64_t i, auto rows) {
        using Numbers = Pack<decltype(rows)>;
        constexpr int together = pack_size<decltype(rows)>;
        Numbers sum{};
        for (int r = 0; r < rows.count; r += together) sum += load_pack<Numbers>(x + i + r);
        return Sums<2>{{sum_of_pack(sum), static_cast<double>(rows.count)}};
      },
      work, sums));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode check_reads(Ex &ex, std::int64_t n, const double *given, double *x, double *work, double *sums)
{
  const auto number = [=] AMGKIT_FN() { return *given; };
  const auto read = [=] AMGKIT_FN(std::int64_t i) { return x[i]; };

  PetscFunctionBegin;
  PetscCall(for_each_read(ex, n, number, read, [=] AMGKIT_FN(std::int64_t i, double more, double at) { x[i] = 2 * at + more; }));
  PetscCall(for_each_read(ex, n, read, [=] AMGKIT_FN(std::int64_t i, double at) { x[i] = at + static_cast<double>(i); }));
  PetscCall(sum_read_into<2>(
      ex, n, number, read,
      [=] AMGKIT_FN(std::int64_t i, double more, double at) {
        x[i] = at + more;
        return Sums<2>{{at, 1}};
      },
      work, sums));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode check_sums_of_rows(Ex &ex, std::int64_t n, int lanes, double *out, double *work, double *sums)
{
  return sum_rows_into<2, 48>(
      ex, n, lanes,
      [=] AMGKIT_FN(auto team, std::int64_t i) {
        double mine = 0;
        for (int k = team.rank(); k < i % 7; k += team.lanes()) mine += 1;
        const double s = team.sum(mine);
        if (team.rank() > 0) return Sums<2>{{0, 0}};
        out[i] = 3 * static_cast<double>(i);
        return Sums<2>{{s, 1}};
      },
      work, sums);
}

template <int N, class Ex> PetscErrorCode check_sums(Ex &ex, std::int64_t n, int round, double *work, double *sums)
{
  return sum_into<N>(
      ex, n,
      [=] AMGKIT_FN(std::int64_t i) {
        Sums<N> term;
        for (int k = 0; k < N; k++) term.of[k] = static_cast<double>(i % (k + 2) + round);
        return term;
      },
      work, sums);
}

template <class Ex> PetscErrorCode check_or(Ex &ex, std::int64_t n, unsigned *bits)
{
  return for_each(ex, n, [=] AMGKIT_FN(std::int64_t i) {
    if (i % 3 == 0) atomic_or(bits, 1U << i % 32);
  });
}

template <class Ex> PetscErrorCode check_atomic_add(Ex &ex, std::int64_t n, int bins, int *out)
{
  return for_each(ex, n, [=] AMGKIT_FN(std::int64_t i) { atomic_add(out + i % bins, static_cast<int>(i)); });
}

template <class Ex> PetscErrorCode check_reduce(Ex &ex, std::int64_t n, std::int64_t *sum, int *maximum)
{
  PetscFunctionBegin;
  PetscCall(reduce<std::int64_t>(
      ex, n, [=] AMGKIT_FN(std::int64_t i) { return i * i; }, 0, Sum{}, sum));
  PetscCall(reduce<int>(
      ex, n, [=] AMGKIT_FN(std::int64_t i) { return static_cast<int>(7 * i % n); }, -1, Max{}, maximum));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode check_scan(Ex &ex, std::int64_t n, int *x, std::int64_t *total, const unsigned *also, unsigned *value)
{
  return exclusive_scan(ex, n, x, total, also, value);
}

template <class Ex, class Key> PetscErrorCode check_sort(Ex &ex, std::int64_t n, Key *key, int *value, int bits)
{
  return stable_sort_pairs(ex, n, key, value, bits);
}

template <class Ex> PetscErrorCode check_compact(Ex &ex, std::int64_t n, int *out, std::int64_t *count)
{
  return compact(
      ex, n, [=] AMGKIT_FN(std::int64_t i) { return i % 3 == 1; }, out, count);
}

template <class Ex> PetscErrorCode check_partition(Ex &ex, std::int64_t n, int base, int *out, PartSizes<parts_checked, 2> *sizes)
{
  return partition(
      ex, n,
      [=] AMGKIT_FN(std::int64_t i) {
        return Member<2>{static_cast<int>(i * i % base), {i % 5, i}};
      },
      out, sizes);
}

// x is the cells of the sums; what follows for the trail needs more than a cell of those before.
struct CheckedOrder {
  double *x, *trail;
  template <class Team> struct Known {
    int i, k, next;
    double s, largest;
    Ahead<Team> ahead;
  };
  static AMGKIT_FN int needed(int i, int k) { return Max{}(i - 1 - k * k % 60, 0); }
  struct Needed {
    const double *x;
    int i;
    AMGKIT_FN const double *operator()(int k) const { return x + needed(i, k); }
  };
  struct Eighth {
    AMGKIT_FN double operator()(int) const { return -0.125; }
  };

  template <class Team> AMGKIT_FN Known<Team> begin(const Team &team, std::int64_t p) const
  {
    const int i = static_cast<int>(p);
    return {i, 0, 0, 1.0 / (1 + i), 0, look_ahead(team, 0, i % 43, Needed{x, i}, Eighth{})};
  }
  template <class Team> AMGKIT_FN bool advance(const Team &team, Known<Team> &known) const
  {
    const int i = known.i, terms = i % 43;
    known.k = subtract_while_ready<16>(team, known.ahead, known.k, terms, known.s, Needed{x, i}, Eighth{});
    if (known.k < terms) return false;
    for (; known.next < terms; known.next++) {
      const int j = needed(i, known.next);
      if (team.any(is_pending(peek_cell_first(trail + 3 * j)))) return false;
      known.largest = Max{}(known.largest, trail[3 * j + 2]);
    }
    for (int t : team.share(1, 3)) trail[3 * i + t] = known.largest + t - 1;
    team.sync();
    team.once([&] {
      set_cell(x + i, known.s);
      set_cell_after(trail + 3 * i, known.s);
    });
    return true;
  }
};
template <int Lanes, class Ex>
PetscErrorCode check_rows_in_order(Ex &ex, std::int64_t n, std::int64_t at_once, unsigned *tickets, double *x, double *trail)
{
  PetscFunctionBegin;
  PetscCall(clear_cells(ex, n, x));
  PetscCall(clear_cells(ex, 3 * n, trail));
  PetscCall(for_rows_in_order<Lanes>(ex, n, RowOrder{tickets, at_once}, CheckedOrder{x, trail}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

using Space = AMGKIT_SPACE;
template PetscErrorCode check_for_each(Space &, std::int64_t, int *);
template PetscErrorCode check_team<4>(Space &, int, int *);
template PetscErrorCode check_team<32>(Space &, int, int *);
template PetscErrorCode check_sum_in_order<8>(Space &, int, int, double *);
template PetscErrorCode check_sum_in_order<32>(Space &, int, int, double *);
template PetscErrorCode check_ordered_sum<4>(Space &, int, double *);
template PetscErrorCode check_ordered_sum<32>(Space &, int, double *);
template PetscErrorCode check_entries_in_order<4>(Space &, int, int *);
template PetscErrorCode check_entries_in_order<32>(Space &, int, int *);
template PetscErrorCode check_entries<4>(Space &, int, EntriesBy, int *);
template PetscErrorCode check_entries<32>(Space &, int, EntriesBy, int *);
template PetscErrorCode check_numbered_entries<4>(Space &, int, int *);
template PetscErrorCode check_numbered_entries<32>(Space &, int, int *);
template PetscErrorCode check_single_lanes<4>(Space &, int, int *);
template PetscErrorCode check_single_lanes<32>(Space &, int, int *);
template PetscErrorCode check_chosen<4>(Space &, int, int *);
template PetscErrorCode check_chosen<32>(Space &, int, int *);
template PetscErrorCode check_sorted<4>(Space &, int, int *);
template PetscErrorCode check_sorted<32>(Space &, int, int *);
template PetscErrorCode check_sorted_by<4>(Space &, int, int, int *);
template PetscErrorCode check_sorted_by<32>(Space &, int, int, int *);
template PetscErrorCode check_many(Space &, std::int64_t, const double *, double *, double *, double *);
template PetscErrorCode check_reads(Space &, std::int64_t, const double *, double *, double *, double *);
template PetscErrorCode check_sums_of_rows(Space &, std::int64_t, int, double *, double *, double *);
template PetscErrorCode check_sums<1>(Space &, std::int64_t, int, double *, double *);
template PetscErrorCode check_sums<5>(Space &, std::int64_t, int, double *, double *);
template PetscErrorCode check_sums<17>(Space &, std::int64_t, int, double *, double *);
template PetscErrorCode check_or(Space &, std::int64_t, unsigned *);
template PetscErrorCode check_atomic_add(Space &, std::int64_t, int, int *);
template PetscErrorCode check_reduce(Space &, std::int64_t, std::int64_t *, int *);
template PetscErrorCode check_scan(Space &, std::int64_t, int *, std::int64_t *, const unsigned *, unsigned *);
template PetscErrorCode check_sort(Space &, std::int64_t, std::uint32_t *, int *, int);
template PetscErrorCode check_sort(Space &, std::int64_t, std::uint64_t *, int *, int);
template PetscErrorCode check_compact(Space &, std::int64_t, int *, std::int64_t *);
template PetscErrorCode check_partition(Space &, std::int64_t, int, int *, PartSizes<parts_checked, 2> *);
template PetscErrorCode check_rows_in_order<1>(Space &, std::int64_t, std::int64_t, unsigned *, double *, double *);
template PetscErrorCode check_rows_in_order<4>(Space &, std::int64_t, std::int64_t, unsigned *, double *, double *);
template PetscErrorCode check_rows_in_order<32>(Space &, std::int64_t, std::int64_t, unsigned *, double *, double *);
} // namespace amgkit::test
