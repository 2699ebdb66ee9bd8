// Rows that wait for one another, on the host: see ordered_rows.hpp.
#pragma once
#include "base/ordered_rows.hpp"

#include <bit>
#include <memory>

namespace amgkit
{
inline double pending_cell() { return std::bit_cast<double>(pending_bits); }
inline bool is_pending(double x) { return std::bit_cast<std::uint64_t>(x) == pending_bits; }
inline void set_cell(int *p, int x) { *p = x; }
inline void set_cell(double *p, double x) { *p = is_pending(x) ? std::bit_cast<double>(other_nan_bits) : x; }
template <class T> T peek_cell(const T *p) { return *p; }
template <class T> void set_cell_after(T *p, T x) { set_cell(p, x); }
template <class T> T peek_cell_first(const T *p) { return *p; }

template <class Team> int lane_of(const Team &) { return 0; }
template <class Team> struct Ahead {};
template <class Team, class Cell, class Factor> Ahead<Team> look_ahead(const Team &, int, int, Cell, Factor) { return {}; }

template <int, class Team, class Cell, class Factor>
int subtract_while_ready(const Team &, Ahead<Team> &, int begin, int end, double &s, Cell cell_of, Factor factor_of)
{
  for (int k = begin; k < end; k++) {
    const double x = peek_cell(cell_of(k));
    if (is_pending(x)) return k;
    s -= factor_of(k) * x;
  }
  return end;
}

namespace detail
{
inline PetscErrorCode not_in_order(std::int64_t i)
{
  PetscFunctionBegin;
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_PLIB, "Index %lld needs one that does not come before it", static_cast<long long>(i));
}

template <class S, class Work> PetscErrorCode in_order(Host &, std::int64_t n, Work work)
{
  const SerialTeam<false> team;
  S scratch;

  PetscFunctionBegin;
  for (std::int64_t i = 0; i < n; i++) {
    auto known = work.begin(team, i, scratch);
    if (!work.advance(team, known, scratch)) PetscCall(not_in_order(i));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Those that are under way take their turns at random; the one that was begun first waits for none.
template <class S, class Work> PetscErrorCode in_order(Debug &ex, std::int64_t n, Work work)
{
  constexpr std::int64_t room = 50;
  const SerialTeam<true> team;
  using Known = decltype(work.begin(team, 0, std::declval<S &>()));
  struct Index {
    std::int64_t i;
    std::unique_ptr<S> scratch;
    Known known;
  };
  std::vector<Index> under_way;
  std::mt19937_64 engine{ex.seed++};
  std::int64_t begun = 0;

  PetscFunctionBegin;
  while (begun < n || !under_way.empty()) {
    while (begun < n && std::ssize(under_way) < room) {
      auto scratch = std::make_unique<S>();
      std::fill_n(reinterpret_cast<unsigned char *>(scratch.get()), sizeof(S), 0xff);
      Known known = work.begin(team, begun, *scratch);
      under_way.push_back({begun++, std::move(scratch), std::move(known)});
    }
    std::shuffle(under_way.begin(), under_way.end(), engine);
    const std::size_t before = under_way.size();
    std::erase_if(under_way, [&](auto &one) { return work.advance(team, one.known, *one.scratch); });
    if (under_way.size() == before) PetscCall(not_in_order(under_way.front().i));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace detail

template <int Lanes, class S, class Ex, class Work> PetscErrorCode for_rows_in_order_with(Ex &ex, std::int64_t n, RowOrder, Work work)
{
  return detail::in_order<S>(ex, n, work);
}
} // namespace amgkit
