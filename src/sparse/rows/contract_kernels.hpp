// One team per aggregate collects its distinct columns in a small hash table, sorts them and notes for every entry the place of its
// product. Another pass, the only one for new values, sums the products there, in order.
// Aggregates with more columns than the table holds go through a stable sort of all their products.
#include "sparse/rows/contract_marks.hpp"

namespace amgkit
{
namespace
{
// Hash table of a team's distinct columns, linear probing. slot_of lists the used slots in the order they were taken.
template <int Slots> struct Columns {
  static constexpr int slots = Slots;
  int used;
  int key[Slots], slot_of[Slots];
};
template <int Slots> struct RankedColumns : Columns<Slots> {
  unsigned char rank[Slots]; // slot -> position of its column among the sorted ones
};

template <class Team, class Table> AMGKIT_FN void clear(const Team &team, Table &table)
{
  for (int s : team.share(0, Table::slots)) table.key[s] = -1;
  team.once([&] { table.used = 0; });
  team.sync();
}

AMGKIT_FN inline unsigned first_probe(int column) { return static_cast<unsigned>(column) * 2654435769U >> 16; }

// The slot of a column, taken if need be; nowhere when the table is full
template <class Table> AMGKIT_FN int insert(Table &table, int column)
{
  for (unsigned probe = 0; probe < Table::slots; probe++) {
    const int slot = static_cast<int>((first_probe(column) + probe) % Table::slots);
    const int old = atomic_compare_swap(&table.key[slot], -1, column);
    if (old == -1) table.slot_of[atomic_increment(&table.used)] = slot;
    if (old == column || old == -1) return slot;
  }
  return nowhere;
}

// Puts the columns of aggregate I into the table; false, for every lane, when they do not fit. seen(k, slot): of the product with A's
// entry k, nowhere for a column in no aggregate.
template <class Team, class Table, class F>
AMGKIT_FN bool collect(const Team &team, const Product &in, std::int64_t I, Table &table, F seen)
{
  bool full = false;
  clear(team, table);
  team.for_entries_of_few(
      in.ptr[I + 1] - in.ptr[I], [&](int r) { return in.row(I, r); }, [&](int, int k) { return in.column_id[in.A.col[k]]; },
      [&](int k, int column) {
        const int slot = column >= 0 ? insert(table, column) : nowhere;
        full = full || (column >= 0 && slot == nowhere);
        seen(k, slot);
      });
  full = team.any(full);
  team.sync();
  return !full;
}

// count[I] <- number of distinct columns of aggregate I; where there are more than Slots, if_more, and *more becomes 1
template <int Lanes, int Slots, class Ex>
PetscErrorCode count_columns(Ex &ex, const Product &in, const Csr<double, Ex> &C, int if_more, int *count, unsigned *more)
{
  if constexpr (Ex::one_by_one) return count_by_marks(ex, in, C, Slots, if_more, count, more);
  return for_rows_with<Lanes, Columns<Slots>>(ex, C.rows, [=] AMGKIT_FN(auto team, std::int64_t I, auto &table) {
    const bool fits = collect(team, in, I, table, [](int, int) {});
    team.once([&] {
      count[I] = fits ? table.used : if_more;
      if (!fits) atomic_or(more, 1U);
    });
  });
}

// The columns of the rows of C that fit a table, ascending, and the places of their products.
template <int Lanes, int Slots, class Ex> PetscErrorCode place_columns(Ex &ex, const Product &in, Csr<double, Ex> &C, unsigned char *place)
{
  if constexpr (Ex::one_by_one) return place_by_marks(ex, in, Slots, C, place);
  const int *ptr = C.ptr.data();
  int *col = C.col.data();
  return for_rows_with<Lanes, RankedColumns<Slots>>(ex, C.rows, [=] AMGKIT_FN(auto team, std::int64_t I, auto &table) {
    const int begin = ptr[I], n = ptr[I + 1] - begin;
    if (n > Slots) return;
    collect(team, in, I, table, [&](int k, int slot) { place[k] = static_cast<unsigned char>(slot); });
    for (int u : team.share(0, n)) {
      const int slot = table.slot_of[u], column = table.key[slot];
      int rank = 0;
      for (int v = 0; v < n; v++) rank += table.key[table.slot_of[v]] < column;
      table.rank[slot] = static_cast<unsigned char>(rank);
      col[begin + rank] = column;
    }
    team.sync();
    team.for_entries_of_few(
        in.ptr[I + 1] - in.ptr[I], [&](int r) { return in.row(I, r); }, [&](int, int k) { return place[k]; },
        [&](int k, unsigned char slot) {
          if (slot != nowhere) place[k] = table.rank[slot];
        });
  });
}

template <int Slots> struct RowSums {
  double of[Slots];
};

// The values of the rows of C that fit a table.
template <int Lanes, int Slots, class Ex>
PetscErrorCode sum_products_with(Ex &ex, const Product &in, const unsigned char *place, Csr<double, Ex> &C)
{
  const int *ptr = C.ptr.data();
  double *val = C.val.data();
  return for_rows_with<Lanes, RowSums<Slots>>(ex, C.rows, [=] AMGKIT_FN(auto team, std::int64_t I, auto &sums) {
    const int begin = ptr[I], n = ptr[I + 1] - begin;
    const int *member = in.member + in.ptr[I];
    if (n > Slots) return;
    team.sum_in_order(
        in.ptr[I + 1] - in.ptr[I], [&](int r) { return in.row(I, r); },
        [&](int r, int k) {
          const int position = place[k] == nowhere ? -1 : place[k];
          return Term{position, in.p[member[r]] * in.A.val[k] * in.q[in.A.col[k]]};
        },
        n, sums.of);
    team.sync();
    for (int t : team.share(0, n)) val[begin + t] = sums.of[t];
  });
}

template <int Slots, class Ex> PetscErrorCode sum_products(Ex &ex, const Product &in, const unsigned char *place, Csr<double, Ex> &C)
{
  return in.A.average() <= 12 ? sum_products_with<8, Slots>(ex, in, place, C) : sum_products_with<32, Slots>(ex, in, place, C);
}

// The products of the aggregates that do not fit a table, sorted by (aggregate, column) without changing their order. Columns in no
// aggregate, -1, come last as the largest unsigned numbers, and are not counted.
template <class Ex> struct LongRows {
  std::int64_t rows = 0, products = 0;
  Array<int, Ex> aggregate; // rows of them, ascending
  Array<int, Ex> start;     // products of long row l: start[l] <= k < start[l + 1]
  Array<int, Ex> heads;     // heads[k]: distinct columns among the products before k
  Array<std::uint64_t, Ex> key;
  Array<double, Ex> value;
};

template <class Ex> PetscErrorCode expand_long_rows(Ex &ex, const Product &in, LongRows<Ex> &rows)
{
  std::int64_t distinct = 0;
  int bits = 32;
  const int *aggregate = rows.aggregate.data();

  PetscFunctionBegin;
  PetscCall(rows.start.allocate(ex, rows.rows + 1));
  int *start = rows.start.data();
  PetscCall(for_each(ex, rows.rows, [=] AMGKIT_FN(std::int64_t l) {
    int n = 0;
    for (int m = in.ptr[aggregate[l]]; m < in.ptr[aggregate[l] + 1]; m++) n += in.A.ptr[in.member[m] + 1] - in.A.ptr[in.member[m]];
    start[l] = n;
  }));
  PetscCall(exclusive_scan(ex, rows.rows, start, &rows.products));
  PetscCall(allocate_each(ex, rows.products, rows.key, rows.value));
  std::uint64_t *key = rows.key.data();
  double *value = rows.value.data();
  PetscCall(for_rows<32>(ex, rows.rows, [=] AMGKIT_FN(auto team, std::int64_t l) {
    int at = start[l];
    for (int m = in.ptr[aggregate[l]]; m < in.ptr[aggregate[l] + 1]; m++) {
      const int i = in.member[m], begin = in.A.ptr[i], end = in.A.ptr[i + 1];
      for (int k : team.share(begin, end)) {
        const int j = in.A.col[k];
        key[at + k - begin] = static_cast<std::uint64_t>(l) << 32 | static_cast<unsigned>(in.column_id[j]);
        value[at + k - begin] = in.p[i] * in.A.val[k] * in.q[j];
      }
      at += end - begin;
    }
  }));
  while (rows.rows >> (bits - 32)) bits++;
  PetscCall(stable_sort_pairs(ex, rows.products, key, value, bits));
  PetscCall(rows.heads.allocate(ex, rows.products + 1));
  int *heads = rows.heads.data();
  PetscCall(for_each(ex, rows.products, [=] AMGKIT_FN(std::int64_t k) {
    const bool counts = (key[k] & 0xffffffffU) != 0xffffffffU;
    heads[k] = counts && (k == 0 || key[k] != key[k - 1]);
  }));
  PetscCall(exclusive_scan(ex, rows.products, heads, &distinct));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode count_long_rows(Ex &ex, const LongRows<Ex> &rows, int *count)
{
  const int *aggregate = rows.aggregate.data(), *start = rows.start.data(), *heads = rows.heads.data();
  return for_each(ex, rows.rows, [=] AMGKIT_FN(std::int64_t l) { count[aggregate[l]] = heads[start[l + 1]] - heads[start[l]]; });
}

template <class Ex> PetscErrorCode fill_long_rows(Ex &ex, const LongRows<Ex> &rows, Csr<double, Ex> &C)
{
  const int *aggregate = rows.aggregate.data(), *start = rows.start.data(), *heads = rows.heads.data(), *ptr = C.ptr.data();
  const std::uint64_t *key = rows.key.data();
  const double *value = rows.value.data();
  const std::int64_t products = rows.products;
  int *col = C.col.data();
  double *val = C.val.data();
  return for_each(ex, products, [=] AMGKIT_FN(std::int64_t k) {
    if (heads[k + 1] == heads[k]) return;
    const auto l = static_cast<std::int64_t>(key[k] >> 32);
    const int at = ptr[aggregate[l]] + heads[k] - heads[start[l]];
    double s = 0;
    for (std::int64_t m = k; m < products && key[m] == key[k]; m++) s += value[m];
    col[at] = static_cast<int>(key[k] & 0xffffffffU);
    val[at] = s;
  });
}

// The aggregates with I for which too_long(I), expanded.
template <class Ex, class F> PetscErrorCode find_long_rows(Ex &ex, const Product &in, int n, F too_long, LongRows<Ex> &rows)
{
  Array<int, Ex> all;

  PetscFunctionBegin;
  PetscCall(reduce<std::int64_t>(ex, n, too_long, 0, Sum{}, &rows.rows));
  if (rows.rows == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(all.allocate(ex, n));
  PetscCall(compact(ex, n, too_long, all.data(), &rows.rows));
  PetscCall(rows.aggregate.allocate(ex, rows.rows));
  PetscCall(memory_copy(ex, rows.aggregate.data(), all.data(), rows.aggregate.bytes()));
  PetscCall(expand_long_rows(ex, in, rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// *all: whether all places are known. values: whether C's are wanted.
template <int Lanes, int Slots, class Ex>
PetscErrorCode contract_with(Ex &ex, const Product &in, Csr<double, Ex> &C, unsigned char *place, bool values, bool *all)
{
  LongRows<Ex> rows;
  Array<unsigned, Ex> flag;
  std::int64_t nnz = 0;
  unsigned more = 0;
  const int n = C.rows;

  PetscFunctionBegin;
  PetscCall(C.ptr.allocate(ex, n + 1));
  int *count = C.ptr.data();
  PetscCall(flag.allocate(ex, 1));
  PetscCall(memory_zero(ex, flag.data(), flag.bytes()));
  PetscCall((count_columns<Lanes, Slots>(ex, in, C, 0, count, flag.data())));
  PetscCall(exclusive_scan(ex, n, count, &nnz, flag.data(), &more));
  if (more) { // seldom: once again with all rows
    PetscCall((count_columns<Lanes, Slots>(ex, in, C, -1, count, flag.data())));
    PetscCall(find_long_rows(
        ex, in, n, [=] AMGKIT_FN(std::int64_t I) { return std::int64_t{count[I] < 0}; }, rows));
    PetscCall(count_long_rows(ex, rows, count));
    PetscCall(exclusive_scan(ex, n, count, &nnz));
  }
  PetscCall(allocate_each(ex, nnz, C.col, C.val));
  PetscCall((place_columns<Lanes, Slots>(ex, in, C, place)));
  if (values) PetscCall((sum_products<Slots>(ex, in, place, C)));
  if (rows.rows > 0) PetscCall(fill_long_rows(ex, rows, C));
  *all = rows.rows == 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <int Slots, class Ex> PetscErrorCode refill_with(Ex &ex, const Product &in, Csr<double, Ex> &C, const unsigned char *place)
{
  LongRows<Ex> rows;
  const int *ptr = C.ptr.data();

  PetscFunctionBegin;
  PetscCall(find_long_rows(
      ex, in, C.rows, [=] AMGKIT_FN(std::int64_t I) { return std::int64_t{ptr[I + 1] - ptr[I] > Slots}; }, rows));
  PetscCall((sum_products<Slots>(ex, in, place, C)));
  if (rows.rows > 0) PetscCall(fill_long_rows(ex, rows, C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Whether the small tables serve: by the products of an average aggregate.
bool few_products(const CsrView<double> &A, int aggregates) { return aggregates == 0 || static_cast<double>(A.nnz) / aggregates <= 48; }

// C has its numbers of rows and columns.
template <class Ex>
PetscErrorCode contract_in(Ex &ex, const Product &in, Csr<double, Ex> &C, Array<unsigned char, Ex> &slot, bool values, bool *all)
{
  PetscFunctionBegin;
  PetscCall(slot.allocate(ex, in.A.nnz));
  if (few_products(in.A, C.rows))
    PetscCall((contract_with<8, 64>(ex, in, C, slot.data(), values, all)));
  else
    PetscCall((contract_with<32, 255>(ex, in, C, slot.data(), values, all)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

template <class Ex>
PetscErrorCode contract(Ex &ex, CsrView<double> A, const Aggregation<Ex> &rows, const double *p, const int *column_id, const double *q,
                        int columns, Csr<double, Ex> &C, Array<unsigned char, Ex> &slot, bool *all)
{
  bool known;
  C.rows = rows.coarse;
  C.cols = columns;
  return contract_in(ex, {A, rows.ptr.data(), rows.member.data(), {p}, {q}, column_id}, C, slot, true, all ? all : &known);
}

template <class Ex>
PetscErrorCode contract_pattern(Ex &ex, CsrView<double> A, const Aggregation<Ex> &rows, const int *column_id, int columns,
                                Csr<double, Ex> &C, Array<unsigned char, Ex> &slot, bool *all)
{
  C.rows = rows.coarse;
  C.cols = columns;
  return contract_in(ex, {A, rows.ptr.data(), rows.member.data(), {}, {}, column_id}, C, slot, false, all);
}

template <class Ex>
PetscErrorCode compose_slots(Ex &ex, CsrView<double> A, const int *id, const int *B_ptr, const unsigned char *next, unsigned char *slot)
{
  return for_rows(ex, A.rows, A.average(), [=] AMGKIT_FN(auto team, std::int64_t i) {
    if (id[i] < 0) return;
    const unsigned char *of_row = next + B_ptr[id[i]];
    for (int k : team.share(A.ptr[i], A.ptr[i + 1])) {
      if (slot[k] != nowhere) slot[k] = of_row[slot[k]];
    }
  });
}

template <class Ex>
PetscErrorCode contract_values(Ex &ex, CsrView<double> A, const Aggregation<Ex> &rows, const double *p, const int *column_id,
                               const double *q, const Array<unsigned char, Ex> &slot, Csr<double, Ex> &C)
{
  const Product in{A, rows.ptr.data(), rows.member.data(), {p}, {q}, column_id};
  return few_products(A, rows.coarse) ? refill_with<64>(ex, in, C, slot.data()) : refill_with<255>(ex, in, C, slot.data());
}

AMGKIT_INSTANTIATE(contract)
AMGKIT_INSTANTIATE(contract_pattern)
AMGKIT_INSTANTIATE(compose_slots)
AMGKIT_INSTANTIATE(contract_values)
} // namespace amgkit
