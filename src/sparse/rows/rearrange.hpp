// Rows on their way from one rank to another: they arrive in pieces, and their global columns are numbered anew.
#pragma once
#include "base/array.hpp"

#include <cstdint>
#include <vector>

namespace amgkit
{
// length[i] = entries of row i
template <class Ex> PetscErrorCode row_lengths(Ex &, CsrView<double> A, int *length);

// Rows that arrived from several ranks, in pieces of equal room: piece q has its rows' lengths from most_rows q on, its entries from
// most_entries q on. Row i of the whole is row slot[i] % most_rows of piece slot[i] / most_rows; pieces follow each other.
struct Pieces {
  int most_rows = 0, most_entries = 0;
  const int *length = nullptr, *col = nullptr;
  const double *val = nullptr;
};
// first_row[q]: the whole's row that piece q begins with.
template <class Ex>
PetscErrorCode join_pieces(Ex &, const Pieces &, int rows, const int *slot, const int *first_row, Csr<double, Ex> &whole);

// slot of each row of the whole, and its inverse: row of each place, 0 where the room is not used. first_row: of each piece, and the end.
template <class Ex>
PetscErrorCode places_in_pieces(Ex &, int pieces, int most_rows, const int *first_row, Array<int, Ex> &slot, Array<int, Ex> &row);

// Chosen rows on their way: row row[t] of the sender is row t of the receiver, both count entries from ptr[t] on. In the message they lie
// in pieces, one a rank: entry k of piece q at place k + shift[q], where piece q begins with row piece[q].
struct RowMessage {
  int rows = 0, pieces = 0;
  std::int64_t entries = 0;
  const int *row = nullptr, *ptr = nullptr, *piece = nullptr;
  const std::int64_t *shift = nullptr;
};
// The sender's rows: diag's columns count from first, offd's column k is ghost[k], ascending, of which ghosts_before are below first.
struct SplitRows {
  CsrView<double> diag, offd;
  PetscInt first = 0;
  const PetscInt *ghost = nullptr;
  int ghosts_before = 0;
};
// length[i] = entries of row i in both blocks
template <class Ex> PetscErrorCode row_lengths(Ex &, const SplitRows &, int *length);
// ptr[t] <- entries of the rows before row[t], t <= n; row = nullptr: row t. *entries <- their number, for which it waits. With entries =
// nullptr it does not wait, and on Cuda ptr may wrap around.
template <class Ex>
PetscErrorCode offsets_of_rows(Ex &, std::int64_t n, const int *row, const int *length, int *ptr, std::int64_t *entries);
// What the message holds, each row by ascending global columns: the columns, or the values.
template <class Ex> PetscErrorCode pack_columns(Ex &, const RowMessage &, const SplitRows &, std::uint64_t *message);
template <class Ex> PetscErrorCode pack_values(Ex &, const RowMessage &, const SplitRows &, double *message);
// entry[k] <- the message's entry k
template <class Ex, class T> PetscErrorCode unpack(Ex &, const RowMessage &, const T *message, T *entry);

// A rank's own columns and some ghosts in one numbering, by ascending global index: first come `before` ghosts, then the own columns.
struct GhostedColumns {
  std::uint64_t first = 0; // the own ones are first <= j < first + own
  int own = 0, before = 0;
};
// key[k] <- global[k] for ghosts, no_key for own columns
template <class Ex>
PetscErrorCode keys_of_ghosts(Ex &, std::int64_t n, const std::uint64_t *global, const GhostedColumns &, std::uint64_t *key);
// col[k] <- the number of column global[k], where position[k] is its place among the ghosts if it is one
template <class Ex>
PetscErrorCode merged_numbers(Ex &, std::int64_t n, const std::uint64_t *global, const int *position, const GhostedColumns &, int *col);

inline constexpr std::uint64_t no_key = UINT64_MAX;
// key[k] <- base[q] + id[k], no_key for id[k] < 0, where piece q of the pieces that follow each other holds k; piece q begins at begin[q].
template <class Ex>
PetscErrorCode keys_of_pieces(Ex &, int pieces, const int *begin, const std::uint64_t *base, const int *id, Array<std::uint64_t, Ex> &key);
// position[k] <- the place of key[k] among the distinct keys, -1 for no_key. distinct: these keys, ascending. Each key is no_key, or less
// than end, which fits a PetscInt. Keys are marked as bits where these and their counts take no more memory than the keys: that takes half
// as many kernels as a sort. Else they are sorted, and key is overwritten. Waits.
template <class Ex>
PetscErrorCode number_distinct(Ex &, Array<std::uint64_t, Ex> &key, std::uint64_t end, int *position, std::vector<std::uint64_t> &distinct);
} // namespace amgkit
