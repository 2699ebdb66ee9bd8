#include "base/bits.hpp"
#include "base/parallel.hpp"
#include "sparse/rows/rearrange.hpp"
#include "sparse/rows/search.hpp"

namespace amgkit
{
namespace
{
AMGKIT_FN inline bool is_own(std::uint64_t global, const GhostedColumns &columns)
{
  return global >= columns.first && global - columns.first < static_cast<std::uint64_t>(columns.own);
}

// write(place in the message, whether it is a ghost's, its position in the block) for the entries of row t.
template <class Team, class Write>
AMGKIT_FN void for_message(const Team &team, const RowMessage &message, const SplitRows &from, std::int64_t t, Write write)
{
  const Segment own = entries_of(from.diag, message.row[t]), other = entries_of(from.offd, message.row[t]);
  const int above = lower_bound(from.offd.col, other.begin, other.end, from.ghosts_before); // the first ghost after the own columns
  const std::int64_t at = message.ptr[t] + message.shift[piece_of(message.piece, message.pieces, t)];
  for (int k : team.share(other.begin, other.end)) write(at + k - other.begin + (k < above ? 0 : own.end - own.begin), true, k);
  for (int k : team.share(own.begin, own.end)) write(at + above - other.begin + k - own.begin, false, k);
}

// Whether the key at i of a sorted list is the first of its kind.
AMGKIT_FN inline bool begins_key(const std::uint64_t *key, std::int64_t i) { return key[i] != no_key && (i == 0 || key[i] != key[i - 1]); }
} // namespace

template <class Ex> PetscErrorCode row_lengths(Ex &ex, CsrView<double> A, int *length)
{
  return for_each(ex, A.rows, [=] AMGKIT_FN(std::int64_t i) { length[i] = A.ptr[i + 1] - A.ptr[i]; });
}

template <class Ex> PetscErrorCode row_lengths(Ex &ex, const SplitRows &rows, int *length)
{
  const CsrView<double> diag = rows.diag, offd = rows.offd;
  return for_each(ex, diag.rows, [=] AMGKIT_FN(std::int64_t i) {
    const Segment own = entries_of(diag, i), other = entries_of(offd, i);
    length[i] = own.end - own.begin + other.end - other.begin;
  });
}

template <class Ex>
PetscErrorCode offsets_of_rows(Ex &ex, std::int64_t n, const int *row, const int *length, int *ptr, std::int64_t *entries)
{
  PetscFunctionBegin;
  PetscCall(for_each(ex, n, [=] AMGKIT_FN(std::int64_t t) { ptr[t] = length[row ? row[t] : t]; }));
  PetscCall(exclusive_scan(ex, n, ptr, entries));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode pack_columns(Ex &ex, const RowMessage &to, const SplitRows &rows, std::uint64_t *out)
{
  const RowMessage message = to;
  const SplitRows from = rows;
  return for_rows(ex, message.rows, from.diag.average(), [=] AMGKIT_FN(auto team, std::int64_t t) {
    for_message(team, message, from, t, [&](std::int64_t at, bool ghost, int k) {
      out[at] = static_cast<std::uint64_t>(ghost ? from.ghost[from.offd.col[k]] : from.first + from.diag.col[k]);
    });
  });
}

template <class Ex> PetscErrorCode pack_values(Ex &ex, const RowMessage &to, const SplitRows &rows, double *out)
{
  const RowMessage message = to;
  const SplitRows from = rows;
  return for_rows(ex, message.rows, from.diag.average(), [=] AMGKIT_FN(auto team, std::int64_t t) {
    for_message(team, message, from, t, [&](std::int64_t at, bool ghost, int k) { out[at] = ghost ? from.offd.val[k] : from.diag.val[k]; });
  });
}

template <class Ex, class T> PetscErrorCode unpack(Ex &ex, const RowMessage &from, const T *in, T *entry)
{
  const RowMessage message = from;
  const double average = from.rows > 0 ? static_cast<double>(from.entries) / from.rows : 0;
  return for_rows(ex, message.rows, average, [=] AMGKIT_FN(auto team, std::int64_t t) {
    const std::int64_t shift = message.shift[piece_of(message.piece, message.pieces, t)];
    for (int k : team.share(message.ptr[t], message.ptr[t + 1])) entry[k] = in[k + shift];
  });
}

template <class Ex>
PetscErrorCode keys_of_ghosts(Ex &ex, std::int64_t n, const std::uint64_t *global, const GhostedColumns &merged, std::uint64_t *key)
{
  const GhostedColumns columns = merged;
  return for_each(ex, n, [=] AMGKIT_FN(std::int64_t k) { key[k] = is_own(global[k], columns) ? no_key : global[k]; });
}

template <class Ex>
PetscErrorCode merged_numbers(Ex &ex, std::int64_t n, const std::uint64_t *global, const int *position, const GhostedColumns &merged,
                              int *col)
{
  const GhostedColumns columns = merged;
  return for_each(ex, n, [=] AMGKIT_FN(std::int64_t k) {
    if (is_own(global[k], columns))
      col[k] = columns.before + static_cast<int>(global[k] - columns.first);
    else
      col[k] = position[k] < columns.before ? position[k] : position[k] + columns.own;
  });
}

template <class Ex>
PetscErrorCode join_pieces(Ex &ex, const Pieces &pieces, int rows, const int *slot, const int *first_row, Csr<double, Ex> &whole)
{
  const int most_rows = pieces.most_rows;
  const std::int64_t most_entries = pieces.most_entries;
  const int *length = pieces.length, *piece_col = pieces.col;
  const double *piece_val = pieces.val;
  std::int64_t total = 0;

  PetscFunctionBegin;
  whole.rows = whole.cols = rows;
  PetscCall(whole.ptr.allocate(ex, rows + 1));
  int *ptr = whole.ptr.data();
  PetscCall(for_each(ex, rows, [=] AMGKIT_FN(std::int64_t i) { ptr[i] = length[slot[i]]; }));
  PetscCall(exclusive_scan(ex, rows, ptr, &total));
  PetscCall(allocate_each(ex, total, whole.col, whole.val));
  int *col = whole.col.data();
  double *val = whole.val.data();
  PetscCall(for_rows(ex, rows, whole.view().average(), [=] AMGKIT_FN(auto team, std::int64_t i) {
    const int q = slot[i] / most_rows;
    const std::int64_t from = most_entries * q - ptr[first_row[q]];
    for (int k : team.share(ptr[i], ptr[i + 1])) {
      col[k] = piece_col[from + k];
      val[k] = piece_val[from + k];
    }
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex>
PetscErrorCode places_in_pieces(Ex &ex, int pieces, int most_rows, const int *first_row, Array<int, Ex> &slots, Array<int, Ex> &rows)
{
  int *slot = slots.data(), *row = rows.data();

  PetscFunctionBegin;
  PetscCall(for_each(ex, slots.size(), [=] AMGKIT_FN(std::int64_t i) {
    const int q = piece_of(first_row, pieces, i);
    slot[i] = q * most_rows + static_cast<int>(i) - first_row[q];
  }));
  PetscCall(for_each(ex, rows.size(), [=] AMGKIT_FN(std::int64_t place) {
    const int q = static_cast<int>(place / most_rows), i = first_row[q] + static_cast<int>(place % most_rows);
    row[place] = i < first_row[q + 1] ? i : 0;
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex>
PetscErrorCode keys_of_pieces(Ex &ex, int pieces, const int *begin, const std::uint64_t *base, const int *id,
                              Array<std::uint64_t, Ex> &keys)
{
  std::uint64_t *key = keys.data();
  return for_each(ex, keys.size(), [=] AMGKIT_FN(std::int64_t k) {
    key[k] = id[k] < 0 ? no_key : base[piece_of(begin, pieces, k)] + static_cast<std::uint64_t>(id[k]);
  });
}

namespace
{
template <class Ex>
PetscErrorCode number_marked(Ex &ex, const Array<std::uint64_t, Ex> &keys, std::uint64_t end, int *position,
                             std::vector<std::uint64_t> &distinct)
{
  const auto words = static_cast<std::int64_t>((end + 31) / 32);
  const std::uint64_t *key = keys.data();
  Array<unsigned, Ex> marks;
  Array<int, Ex> before;
  Array<std::uint64_t, Ex> list;
  std::int64_t count = 0;

  PetscFunctionBegin;
  PetscCall(marks.allocate(ex, words));
  PetscCall(before.allocate(ex, words + 1));
  unsigned *mark = marks.data();
  int *smaller = before.data();
  PetscCall(memory_zero(ex, mark, marks.bytes()));
  PetscCall(for_each(ex, keys.size(), [=] AMGKIT_FN(std::int64_t k) {
    if (key[k] != no_key) atomic_or(&mark[key[k] / 32], 1U << key[k] % 32);
  }));
  PetscCall(for_each(ex, words, [=] AMGKIT_FN(std::int64_t w) { smaller[w] = bits_set(mark[w]); }));
  PetscCall(exclusive_scan(ex, words, smaller, &count));
  PetscCall(list.allocate(ex, count));
  std::uint64_t *out = list.data();
  PetscCall(for_each(ex, words, [=] AMGKIT_FN(std::int64_t w) {
    int at = smaller[w];
    for_bits(mark[w], [&](int bit) { out[at++] = static_cast<std::uint64_t>(32 * w + bit); });
  }));
  PetscCall(for_each(ex, keys.size(), [=] AMGKIT_FN(std::int64_t k) {
    const std::uint64_t word = key[k] / 32;
    position[k] = key[k] == no_key ? -1 : smaller[word] + bits_set(mark[word] & ((1U << key[k] % 32) - 1));
  }));
  PetscCall(download(ex, list.data(), list.size(), distinct));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex>
PetscErrorCode number_sorted(Ex &ex, Array<std::uint64_t, Ex> &keys, int *position, std::vector<std::uint64_t> &distinct)
{
  constexpr int bits = 8 * sizeof(PetscInt); // no_key's lowest are larger than any other key
  const std::int64_t n = keys.size();
  std::uint64_t *key = keys.data();
  Array<int, Ex> from, before;
  Array<std::uint64_t, Ex> list;
  std::int64_t count = 0;

  PetscFunctionBegin;
  PetscCall(from.allocate(ex, n));
  PetscCall(before.allocate(ex, n + 1));
  int *k = from.data(), *smaller = before.data();
  PetscCall(for_each(ex, n, [=] AMGKIT_FN(std::int64_t i) { k[i] = static_cast<int>(i); }));
  PetscCall(stable_sort_pairs(ex, n, key, k, bits));
  PetscCall(for_each(ex, n, [=] AMGKIT_FN(std::int64_t i) { smaller[i] = begins_key(key, i); }));
  PetscCall(exclusive_scan(ex, n, smaller, &count));
  PetscCall(list.allocate(ex, count));
  std::uint64_t *out = list.data();
  PetscCall(for_each(ex, n, [=] AMGKIT_FN(std::int64_t i) {
    const bool first = begins_key(key, i);
    if (first) out[smaller[i]] = key[i];
    position[k[i]] = key[i] == no_key ? -1 : smaller[i] + first - 1;
  }));
  PetscCall(download(ex, list.data(), list.size(), distinct));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

template <class Ex>
PetscErrorCode number_distinct(Ex &ex, Array<std::uint64_t, Ex> &keys, std::uint64_t end, int *position,
                               std::vector<std::uint64_t> &distinct)
{
  distinct.clear();
  if (keys.size() == 0) return PETSC_SUCCESS;
  return end / 4 <= keys.bytes() ? number_marked(ex, keys, end, position, distinct) : number_sorted(ex, keys, position, distinct);
}

using Space = AMGKIT_SPACE;
template PetscErrorCode row_lengths(Space &, CsrView<double>, int *);
template PetscErrorCode row_lengths(Space &, const SplitRows &, int *);
AMGKIT_INSTANTIATE(offsets_of_rows)
AMGKIT_INSTANTIATE(pack_columns)
AMGKIT_INSTANTIATE(pack_values)
template PetscErrorCode unpack(Space &, const RowMessage &, const double *, double *);
template PetscErrorCode unpack(Space &, const RowMessage &, const std::uint64_t *, std::uint64_t *);
AMGKIT_INSTANTIATE(keys_of_ghosts)
AMGKIT_INSTANTIATE(merged_numbers)
AMGKIT_INSTANTIATE(join_pieces)
AMGKIT_INSTANTIATE(places_in_pieces)
AMGKIT_INSTANTIATE(keys_of_pieces)
AMGKIT_INSTANTIATE(number_distinct)
} // namespace amgkit
