// What the parallel vocabulary must do, written as kernels: each call leaves its result in `out` for the test to compare.
#pragma once
#include "base/array.hpp"
#include "base/part_sizes.hpp"

namespace amgkit::test
{
// out[i] = 3 i
template <class Ex> PetscErrorCode check_for_each(Ex &, std::int64_t n, int *out);
// out[8 i ..]: sum, maximum, any, combined minimum of 0 <= k < i over a team, and how many lanes once() ran
template <int Lanes, class Ex> PetscErrorCode check_team(Ex &, int n, int *out);
// out[40 i + t], t < positions <= 40: what sum_in_order() sums at position t for 0 <= k < i: 1 / (1 + k² mod 97) at -1 for k mod 7 = 5,
// else at k mod positions for k mod 80 < 60, else at 1
inline constexpr int sums_in_order = 40;
template <int Lanes, class Ex> PetscErrorCode check_sum_in_order(Ex &, int n, int positions, double *out);
// out[i]: ordered_sum() of 1 / (1 + k² mod 97) for 3 <= k < 3 + i
template <int Lanes, class Ex> PetscErrorCode check_ordered_sum(Ex &, int n, double *out);
// out[70 i + p]: x_p after x_(q + r mod 70) <- 3 x_(q + r mod 70) + r modulo 1000003, for 0 <= q < 13 r mod 70, r = 1, 2, ..., i in this
// order; x = 0 before
inline constexpr int entries_in_order = 70;
template <int Lanes, class Ex> PetscErrorCode check_entries_in_order(Ex &, int n, int *out);
// out[2000 i + k], 0 before: the sum of k + r + 1 over all uses of entry k by rows 0 <= r < i <= 20, which have 100 r <= k < 100 r +
// 11 (13 r mod 7)
inline constexpr int entries_in_rows = 2000;
struct EntriesBy { // for_entries_of_few(), for_entries_by() so many lanes, or else for_entries()
  bool few = false;
  int lanes = 0;
};
template <int Lanes, class Ex> PetscErrorCode check_entries(Ex &, int n, EntriesBy by, int *out);
// out[1400 i + t] = 100 r + q for the t-th of all q with 0 <= q < 13 r mod 70, r = 1, 2, ..., i; i <= 20
inline constexpr int numbered_entries = 1400;
template <int Lanes, class Ex> PetscErrorCode check_numbered_entries(Ex &, int n, int *out);
// out[9 i + q], 0 <= q < 9: x after x <- 3 x + r modulo 1000003 has been repeated (r + q) mod 4 times for r = 1, 2, ..., i in this order,
// by a lane alone; x = q before
inline constexpr int single_lanes = 9;
template <int Lanes, class Ex> PetscErrorCode check_single_lanes(Ex &, int n, int *out);
// out[i n + t]: the t-th 3 <= k < 3 + i that leaves 1 or 3 when divided by 5, then -2 if there is room
template <int Lanes, class Ex> PetscErrorCode check_chosen(Ex &, int n, int *out);
// out[i n + t]: the t-th smallest of the numbers (7 k) mod n - 3, 0 <= k < i; n is no multiple of 7
template <int Lanes, class Ex> PetscErrorCode check_sorted(Ex &, int n, int *out);
// out[i n + t] = n key_k + k for the t-th smallest of the keys 7 k^2 mod `keys`, 0 <= k < i, of equal ones the first k first; n, keys <=
// 200
template <int Lanes, class Ex> PetscErrorCode check_sorted_by(Ex &, int n, int keys, int *out);
// out[i] = 2 x[i] + i for i < n; sums: of x, and n
template <class Ex> PetscErrorCode check_many(Ex &, std::int64_t n, const double *x, double *out, double *work, double *sums);
// x[i] <- 2 x[i] + *given, by for_each_read(), then x[i] <- x[i] + i and sums: of these and n, by sum_read_into()
template <class Ex> PetscErrorCode check_reads(Ex &, std::int64_t n, const double *given, double *x, double *work, double *sums);
// out[i] = 3 i, and sums: of i mod 7 and n, each team's parts by its lanes
template <class Ex> PetscErrorCode check_sums_of_rows(Ex &, std::int64_t n, int lanes, double *out, double *work, double *sums);
// sums[k] = the sum of i mod (k + 2) + round over 0 <= i < n, for k < N; N: 1, 5 or 17
template <int N, class Ex> PetscErrorCode check_sums(Ex &, std::int64_t n, int round, double *work, double *sums);
// bits |= 1 << i mod 32 for 0 <= i < n, i mod 3 = 0
template <class Ex> PetscErrorCode check_or(Ex &, std::int64_t n, unsigned *bits);
// out[b] += i for 0 <= i < n with i % bins = b, all at once
template <class Ex> PetscErrorCode check_atomic_add(Ex &, std::int64_t n, int bins, int *out);
// Sum of i² and maximum of (7 i) mod n for 0 <= i < n
template <class Ex> PetscErrorCode check_reduce(Ex &, std::int64_t n, std::int64_t *sum, int *maximum);
template <class Ex>
PetscErrorCode check_scan(Ex &, std::int64_t n, int *x, std::int64_t *total, const unsigned *also = nullptr, unsigned *value = nullptr);
template <class Ex, class Key> PetscErrorCode check_sort(Ex &, std::int64_t n, Key *key, int *value, int bits);
// The i with i % 3 == 1
template <class Ex> PetscErrorCode check_compact(Ex &, std::int64_t n, int *out, std::int64_t *count);
// the parts of i² mod base; for base = 7 that is 0, 1, 2 and, in none, 4; numbers: i mod 5, and i
inline constexpr int parts_checked = 3;
template <class Ex> PetscErrorCode check_partition(Ex &, std::int64_t n, int base, int *out, PartSizes<parts_checked, 2> *sizes);
// x[i] = 1 / (1 + i) + the sum of x[j] / 8, in this order, over the i mod 43 indices j = max(i - 1 - k² mod 60, 0), k = 0, 1, ...
// trail[3 i ..] = x[i], the largest of trail[3 j + 2], j as before, and 1 more than this; 0 and 1 where there is no j.
template <int Lanes, class Ex>
PetscErrorCode check_rows_in_order(Ex &, std::int64_t n, std::int64_t at_once, unsigned *tickets, double *x, double *trail);
} // namespace amgkit::test
