// Rows that wait for one another; included by *_kernels.hpp files only.
//
//   for_rows_in_order<Lanes>(ex, n, order, work)     for the indices 0, 1, ..., n - 1, which need earlier ones only
//   for_rows_in_order_with<Lanes, S>(ex, n, order, work)   with an S of scratch per team, uninitialised, as the last argument of the
//                                                    work's calls for one index
//
// work.begin(team, i) gives what is known of index i at first, of a type of its own; work.advance(team, known) goes on from there: true
// when the index is done, false when one that it needs is not there yet; it is called again then, with what it left in `known`. Team as for
// for_rows. Indices are begun in their order, on Cuda as many at once as order.at_once says, without any launch or barrier between those
// that depend on one another; a host does them one by one, Debug keeps some of them under way and advances any of these.
//
// What tells that an index is there is a cell, a number that is pending before, which clear_cells() makes it, and set once:
//   set_cell(p, x)               x, or another NaN where x is the NaN that means pending
//   peek_cell(p)                 what is there, perhaps pending; a team's lanes may see different things
//   set_cell_after(p, x)         the same as set_cell, and who sees x by peek_cell_first sees also what this thread wrote or saw before
//   peek_cell_first(p)
//   is_pending(x)
//   subtract_while_ready<Together>(team, ahead, begin, end, s, cell_of, factor_of)
//                                s <- s - factor_of(begin) *cell_of(begin) - ..., in this order, up to the first k whose cell is
//                                pending, which is returned, or end; cells of doubles, s the same for all lanes. Together: so many k
//                                does a lane by itself read at once. ahead, an Ahead<Team>: what is known of some of the next k, at first
//                                look_ahead(team, begin, end, cell_of, factor_of)
//   lane_of(team), lanes_of<Team>
//
// A cell that is the result itself needs neither a flag nor a fence: from one level of a triangular solve to the next it takes one write to
// the second-level cache and one read of it (Liu, Li, Hogg, Duff, Vinter 2016, with flags; Anzt et al.'s Ginkgo, with NaN).
#pragma once
#include "base/parallel.hpp"
#include "base/unroll.hpp"

namespace amgkit
{
// What for_rows_in_order() needs of the caller. tickets: two zeros before the first use, and after each.
struct RowOrder {
  unsigned *tickets = nullptr;
  std::int64_t at_once = 0; // Cuda: about so many indices under way, 0: as many as the device has room for
};

inline constexpr std::uint64_t pending_bits = UINT64_MAX; // a NaN that no arithmetic gives
inline constexpr std::uint64_t other_nan_bits = 0x7ff8000000000000U;
AMGKIT_FN inline bool is_pending(int x) { return x == -1; }
template <class Team> inline constexpr int lanes_of = 1;
} // namespace amgkit

#if defined(__CUDACC__)
  #include "base/ordered_rows_cuda.hpp"
#else
  #include "base/ordered_rows_host.hpp"
#endif

namespace amgkit
{
template <class Ex> PetscErrorCode clear_cells(Ex &ex, std::int64_t n, double *cells)
{
  return for_each(ex, n, [=] AMGKIT_FN(std::int64_t i) { cells[i] = pending_cell(); });
}
template <class Ex> PetscErrorCode clear_cells(Ex &ex, std::int64_t n, int *cells)
{
  return for_each(ex, n, [=] AMGKIT_FN(std::int64_t i) { cells[i] = -1; });
}

namespace detail
{
struct NoScratch {};
template <class Work> struct WithoutScratch {
  Work work;
  template <class Team> AMGKIT_FN auto begin(const Team &team, std::int64_t i, NoScratch &) const { return work.begin(team, i); }
  template <class Team, class Known> AMGKIT_FN bool advance(const Team &team, Known &known, NoScratch &) const
  {
    return work.advance(team, known);
  }
};
} // namespace detail

template <int Lanes, class Ex, class Work> PetscErrorCode for_rows_in_order(Ex &ex, std::int64_t n, RowOrder order, Work work)
{
  return for_rows_in_order_with<Lanes, detail::NoScratch>(ex, n, order, detail::WithoutScratch<Work>{work});
}
} // namespace amgkit
