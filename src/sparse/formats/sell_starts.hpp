// Where the slices of sliced ELL begin: what each takes, in the form with the fewest bytes, and the order of sorted rows.
#pragma once
#include "base/struct_scan.hpp"
#include "sparse/formats/sell_offsets.hpp"

namespace amgkit
{
constexpr int counted_lengths = 1024; // of rows of a window, which are sorted by counting where all are shorter
struct SellWindow {
  int key[sell_window + 1];
  std::uint16_t count[counted_lengths];
};

// order: see sell.hpp. Places of the last slice that no row takes have numbers beyond A's rows. start: of each slice, what it has.
template <class Ex> PetscErrorCode sell_sort(Ex &ex, CsrView<double> A, SellPair<std::uint16_t> *order, SellStart *start)
{
  constexpr int most = INT32_MAX / sell_window - 1; // longer rows count as this long
  const std::int64_t stored = sell_slices(A.rows) * sell_rows, windows = (stored + sell_window - 1) / sell_window;
  return for_rows_with<sell_threads, SellWindow>(ex, windows, [=] AMGKIT_FN(auto team, std::int64_t w, auto &window) {
    const std::int64_t first = w * sell_window;
    const int rows = stored - first < sell_window ? static_cast<int>(stored - first) : sell_window;
    int longest = 0;
    for (int r : team.share(0, rows)) {
      window.key[r] = row_range(A, first + r).length;
      longest = longest < window.key[r] ? window.key[r] : longest;
    }
    longest = team.max(longest);
    const bool counted = longest < counted_lengths;
    for (int r : team.share(0, rows)) {
      const int length = window.key[r];
      window.key[r] = counted ? longest - length : (length < most ? most - length : 0) * sell_window + r; // the others distinct
    }
    team.sync();
    const auto put = [&](int t, int r, int length) {
      const std::int64_t slice = (first + t) / sell_rows;
      order[slice * sell_threads + t % sell_threads].of[t % sell_rows / sell_threads] = static_cast<std::uint16_t>(r);
      if (t % sell_rows == 0) start[slice] = {length, length, 0, 0}; // its other rows are no longer
    };
    if (counted)
      team.for_sorted_by(rows, longest + 1, window.key, window.count, [&](int t, int r, int key) { put(t, r, longest - key); });
    else
      team.template for_sorted<sell_window, sell_window + 1>(rows, window.key, [&](int t, int key) {
        const int shorter = key / sell_window;
        put(t, key % sell_window, shorter > 0 ? most - shorter : longest);
      });
  });
}

// start of each slice, all of them plain, from what each has; and the counts of all, which are at most A.nnz.
template <class Ex> PetscErrorCode add_plain(Ex &ex, std::int64_t slices, SellStart *start, SellStart *all)
{
  PetscFunctionBegin;
  PetscCall(exclusive_scan_of_structs(ex, slices, start, all, SellStart{0, 0, 0, -1})); // none is constant
  all->constant = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}
template <class Ex> PetscErrorCode plain_starts(Ex &ex, CsrView<double> A, Array<SellStart, Ex> &starts, SellStart *all)
{
  const std::int64_t slices = sell_slices(A.rows);

  PetscFunctionBegin;
  PetscCall(starts.allocate(ex, slices + 1));
  SellStart *start = starts.data();
  PetscCall(for_rows<sell_threads>(ex, slices, [=] AMGKIT_FN(auto team, std::int64_t s) {
    int longest = 0;
    for (int r : team.share(0, sell_rows)) {
      const int length = row_range(A, s * sell_rows + r).length;
      longest = longest < length ? length : longest;
    }
    longest = team.max(longest);
    team.once([&] { start[s] = {longest, longest, 0, 0}; });
  }));
  PetscCall(add_plain(ex, slices, start, all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The same with each slice in the form with the fewest bytes. owner[s]: the slice whose list is that of s, -1 where s is not constant.
//
// To find what the rows of a slice have in common takes ten times as long as to read it, and most slices of a grid are equal to another. So
// those that may be constant are hashed, and of equal ones the first alone is searched.
template <class Ex>
PetscErrorCode cheapest_starts(Ex &ex, CsrView<double> A, SliceKinds kinds, Array<SellStart, Ex> &starts, Array<int, Ex> &owners,
                               SellStart *all)
{
  constexpr int plain = -1, perhaps_stencil = -2; // in place of a place in the table
  const std::int64_t slices = sell_slices(A.rows), places = 2 * slices;
  Array<std::uint64_t, Ex> hash;
  Array<int, Ex> table_owner;
  Array<SliceHash, Ex> of_slice;

  PetscFunctionBegin;
  PetscCall(allocate_each(ex, places, hash, table_owner));
  PetscCall(allocate_each(ex, slices, of_slice, owners));
  PetscCall(starts.allocate(ex, slices + 1));
  PetscCall(memory_zero(ex, hash.data(), hash.bytes()));
  PetscCall(memory_zero(ex, table_owner.data(), table_owner.bytes()));
  SellStart *start = starts.data();
  int *place = owners.data(), *owner = place; // the owner in the end
  const SliceTable table{places, slices, hash.data(), table_owner.data(), of_slice.data(), place};
  PetscCall(for_rows_with<sell_threads, OffsetTile>(ex, slices, [=] AMGKIT_FN(auto team, std::int64_t s, auto &tile) {
    const SliceSize size = size_of_slice(team, A, s, kinds);
    const SliceLook look = look_at_slice(team, tile, A, s, size);
    if (look == SliceLook::perhaps_constant) {
      const SliceHash mine = hash_of_slice(team, tile, A, s);
      team.once([&] { enter(table, s, mine); });
    } else {
      team.once([&] {
        start[s] = {size.longest, size.longest, 0, 0};
        place[s] = look == SliceLook::plain ? plain : perhaps_stencil;
      });
    }
  }));
  PetscCall(for_rows_with<sell_threads, OffsetTile>(ex, slices, [=] AMGKIT_FN(auto team, std::int64_t s, auto &tile) {
    const bool constant = place[s] >= 0;
    if (place[s] == plain || (constant && owner_of(table, s) != s)) return;
    const SellStart form = fewest_bytes(team, tile, A, s, kinds, constant);
    team.once([&] { start[s] = form; });
  }));
  PetscCall(for_each(ex, slices, [=] AMGKIT_FN(std::int64_t s) {
    const int first = place[s] < 0 ? static_cast<int>(s) : owner_of(table, s);
    SellStart of_first = start[first];
    owner[s] = of_first.constant > 0 ? first : -1;
    if (first == s) return;
    of_first.constant = 0; // the list is the first one's
    start[s] = of_first;
  }));
  PetscCall(exclusive_scan_of_structs(ex, slices, start, all));
  PetscCall(for_each(ex, slices, [=] AMGKIT_FN(std::int64_t s) {
    if (owner[s] != s) start[s].constant = owner[s] < 0 ? -1 : start[owner[s]].constant;
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// start, order and the numbers of all positions with rows sorted, where that saves more than this share of the bytes.
template <class Ex> PetscErrorCode sort_where_it_pays(Ex &ex, CsrView<double> A, SellPattern<Ex> &out, SellStart *all)
{
  // A warp's rows, sorted, lie in some 25 sectors of each vector, in place of 4 or 8. The other warps of its block want the same ones, so
  // that memory is read as before, but what is saved must pay for the way from the caches.
  constexpr double least_saving = 0.05;
  const std::int64_t slices = sell_slices(A.rows);
  const double orders = sizeof(std::uint16_t) * sell_rows * static_cast<double>(slices);
  Array<SellPair<std::uint16_t>, Ex> order;
  Array<SellStart, Ex> start;
  SellStart sorted;

  PetscFunctionBegin;
  const double enough = (1 - least_saving) * bytes_of(*all);
  if (plain_bytes * static_cast<double>(A.nnz) / sell_rows + orders >= enough) PetscFunctionReturn(PETSC_SUCCESS); // the least there is
  PetscCall(order.allocate(ex, slices * sell_threads));
  PetscCall(start.allocate(ex, slices + 1));
  PetscCall(sell_sort(ex, A, order.data(), start.data()));
  PetscCall(add_plain(ex, slices, start.data(), &sorted));
  if (bytes_of(sorted) + orders >= enough) PetscFunctionReturn(PETSC_SUCCESS);
  out.order = std::move(order);
  out.start = std::move(start);
  *all = sorted;
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace amgkit
