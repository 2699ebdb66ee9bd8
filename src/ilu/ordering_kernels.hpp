#include "base/ordered_rows.hpp"
#include "ilu/ordering.hpp"
#include "sparse/rows/search.hpp"
#include "sparse/rows/transpose.hpp"

namespace amgkit
{
namespace
{
// The cells are the colours. Of row i's neighbours in A and its transpose those before i count.
struct FirstFit {
  CsrView<double> A, At;
  const int *part;
  int *colour;
  struct Known {
    int i, k, t;        // the entries of A and At that are next
    std::uint64_t used; // of the colours below 64, by those before them
  };

  template <class Team> AMGKIT_FN Known begin(const Team &, std::int64_t i) const
  {
    return {static_cast<int>(i), entries_of(A, i).begin, entries_of(At, i).begin, 0};
  }
  template <class Team> AMGKIT_FN bool advance(const Team &, Known &known) const
  {
    if (!collect(A, known.i, 0, known.k, known.used) || !collect(At, known.i, 0, known.t, known.used)) return false;
    int base = 0;
    while (known.used == UINT64_MAX) { // all the neighbours have theirs
      base += 64;
      known.used = 0;
      int k = entries_of(A, known.i).begin, t = entries_of(At, known.i).begin;
      collect(A, known.i, base, k, known.used);
      collect(At, known.i, base, t, known.used);
    }
    for (; known.used & 1; base++) known.used >>= 1;
    set_cell(colour + known.i, base);
    return true;
  }
  // used |= the colours base, ..., base + 63 of the neighbours from entry k on; false at the first that has none yet, which is k then.
  AMGKIT_FN bool collect(const CsrView<double> &M, int i, int base, int &k, std::uint64_t &used) const
  {
    for (const int end = entries_of(M, i).end; k < end && M.col[k] < i; k++) {
      if (part && part[M.col[k]] != part[i]) continue;
      const int there = peek_cell(colour + M.col[k]);
      if (is_pending(there)) return false;
      if (there >= base && there < base + 64) used |= std::uint64_t{1} << (there - base);
    }
    return true;
  }
};
} // namespace

template <class Ex> PetscErrorCode colour_rows(Ex &ex, CsrView<double> A, const int *part, int *colour, int *colours)
{
  Csr<double, Ex> At;
  Array<unsigned, Ex> tickets;
  int most = -1;

  PetscFunctionBegin;
  PetscCall(transpose(ex, A, At));
  PetscCall(tickets.allocate(ex, 2));
  PetscCall(memory_zero(ex, tickets.data(), tickets.bytes()));
  PetscCall(clear_cells(ex, A.rows, colour));
  PetscCall(for_rows_in_order<1>(ex, A.rows, RowOrder{tickets.data(), 0}, FirstFit{A, At.view(), part, colour}));
  PetscCall(reduce<int>(
      ex, A.rows, [=] AMGKIT_FN(std::int64_t i) { return colour[i]; }, -1, Max{}, &most));
  *colours = most + 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex>
PetscErrorCode sort_by_part_and_colour(Ex &ex, std::int64_t n, const int *part, const int *colour, int colours, int *order)
{
  Array<std::uint32_t, Ex> keys;
  const int of_part = colour ? colours : 1;
  int bits = 1;

  PetscFunctionBegin;
  PetscCall(keys.allocate(ex, n));
  std::uint32_t *key = keys.data();
  PetscCall(for_each(ex, n, [=] AMGKIT_FN(std::int64_t p) {
    const int i = order[p];
    key[p] = static_cast<std::uint32_t>(part ? part[i] : 0) * static_cast<std::uint32_t>(of_part) +
             static_cast<std::uint32_t>(colour ? colour[i] : 0);
  }));
  while ((2 * std::int64_t{of_part} - 1) >> bits) bits++;
  PetscCall(stable_sort_pairs(ex, n, key, order, bits));
  PetscFunctionReturn(PETSC_SUCCESS);
}

AMGKIT_INSTANTIATE(colour_rows)
AMGKIT_INSTANTIATE(sort_by_part_and_colour)
} // namespace amgkit
