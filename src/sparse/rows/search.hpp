// Rows, and searches in ascending lists, within kernels; included by *_kernels.hpp files only.
#pragma once
#include "base/parallel.hpp"

namespace amgkit
{
// Row i's entries, of anything with ptr. Where there are none at all, ptr may be nullptr.
template <class Rows> AMGKIT_FN Segment entries_of(const Rows &A, std::int64_t i)
{
  return A.nnz > 0 ? Segment{A.ptr[i], A.ptr[i + 1]} : Segment{0, 0};
}

// The first k, begin <= k < end, where x(k), which ascends, is not below value; end: none
template <class X> AMGKIT_FN int first_not_below(X x, int begin, int end, int value)
{
  while (begin < end) {
    const int middle = begin + (end - begin) / 2;
    if (x(middle) < value)
      begin = middle + 1;
    else
      end = middle;
  }
  return begin;
}
AMGKIT_FN inline int lower_bound(const int *x, int begin, int end, int value)
{
  return first_not_below([=](int k) { return x[k]; }, begin, end, value);
}

// Position of column j in row i, -1 when it is not stored
AMGKIT_FN inline int position(const CsrView<double> &A, int i, int j)
{
  const int k = lower_bound(A.col, A.ptr[i], A.ptr[i + 1], j);
  return k < A.ptr[i + 1] && A.col[k] == j ? k : -1;
}

// Position of the mirror image of entry k of row i, a_ji for k of column j, -1 when it is not stored. In the interior of a grid, where all
// rows have the same stencil, it stands as far from the end of its row as k from the beginning of its own.
AMGKIT_FN inline int mirror_of(const CsrView<double> &A, int i, int k)
{
  const int j = A.col[k], guess = A.ptr[j + 1] - 1 - (k - A.ptr[i]);
  return guess >= A.ptr[j] && A.col[guess] == i ? guess : position(A, j, i);
}

// A row in two blocks, its entries t = 0, 1, ... in the order of the global columns; of the ghosts ghosts_before stand before the own
// columns.
struct SplitRow {
  struct Place {
    bool ghost;
    int k; // in its block
  };
  Segment own, other;
  int below; // entries before the own columns

  AMGKIT_FN SplitRow(const CsrView<double> &diag, const CsrView<double> &offd, int ghosts_before, std::int64_t i)
      : own(entries_of(diag, i)), other(entries_of(offd, i)), below(0)
  {
    below = lower_bound(offd.col, other.begin, other.end, ghosts_before) - other.begin;
  }
  AMGKIT_FN int length() const { return own.end - own.begin + other.end - other.begin; }
  AMGKIT_FN Place at(int t) const
  {
    const int here = own.end - own.begin;
    if (t >= below && t < below + here) return {false, own.begin + t - below};
    return {true, other.begin + (t < below ? t : t - here)};
  }
  // f(place) for t = 0, 1, ...: three loops, in each of which the compiler knows the block
  template <class F> AMGKIT_FN void for_each(F f) const
  {
    for (int k = other.begin; k < other.begin + below; k++) f(Place{true, k});
    for (int k = own.begin; k < own.end; k++) f(Place{false, k});
    for (int k = other.begin + below; k < other.end; k++) f(Place{true, k});
  }
};

// The sum of some numbers, of which each lane adds its own, and that of their sizes. The last bits of a sum depend on the order. Where they
// would decide something, as whether two unknowns are coupled, the numbers must be added in order, which is slow; elsewhere this will do.
struct SumAndSizes {
  double sum = 0, sizes = 0;

  AMGKIT_FN void take(double x)
  {
    sum += x;
    sizes += x < 0 ? -x : x;
  }
  template <class Team> AMGKIT_FN void gather(const Team &team)
  {
    sum = team.sum(sum);
    sizes = team.sum(sizes);
  }
  // How far sums of a million such numbers may be apart, and more
  AMGKIT_FN double apart() const { return 1e-9 * sizes; }
};

// The piece that holds k, of pieces that follow each other; some may be empty.
AMGKIT_FN inline int piece_of(const int *begin, int pieces, std::int64_t k)
{
  return lower_bound(begin, 0, pieces, static_cast<int>(k) + 1) - 1;
}
} // namespace amgkit
