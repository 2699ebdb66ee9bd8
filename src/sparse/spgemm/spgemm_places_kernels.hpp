// Where each product goes: what ByColumn finds in a table, once for all numeric calls.
#include "sparse/spgemm/spgemm_backends.hpp"
#include "sparse/spgemm/spgemm_lanes.hpp"

namespace amgkit
{
namespace spgemm
{
// The left factor by blocks of rows x inner, an entry each where these are 1
struct LeftBlocks {
  CsrView<double> A;
  int rows, inner;

  AMGKIT_FN int length(int I) const { return (A.ptr[rows * I + 1] - A.ptr[rows * I]) / inner; }
  AMGKIT_FN int column(int I, int r) const { return A.col[A.ptr[rows * I] + inner * r] / inner; }
};

struct Numbered {
  int column, number;
};

// first[I] <- products of the rows before row I, none counted of those with more columns than `most`
template <class Ex>
PetscErrorCode number_products(Ex &ex, const LeftBlocks &left, const CsrView<double> &B, int n, int run, int most, const int *ptr,
                               int *first, std::int64_t *products)
{
  PetscFunctionBegin;
  PetscCall(for_rows(ex, n, left.A.average() / left.inner, [=] AMGKIT_FN(auto team, std::int64_t l) {
    const int I = static_cast<int>(l);
    int sum = 0;
    if ((ptr[left.rows * I + 1] - ptr[left.rows * I]) / run <= most) {
      for (int r : team.share(0, left.length(I))) {
        const int j = left.column(I, r);
        sum += B.ptr[j + 1] - B.ptr[j];
      }
    }
    sum = team.sum(sum);
    team.once([&] { first[I] = sum; });
  }));
  PetscCall(exclusive_scan(ex, n, first, products));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Of the n rows of a table of so many slots
template <int Lanes, int Slots, class Ex>
PetscErrorCode note_rows(Ex &ex, const LeftBlocks &left, const CsrView<double> &B, int run, const int *row, std::int64_t n, const int *ptr,
                         const int *col, const int *first, unsigned char *place)
{
  return for_rows_with<Lanes, PlacedKeys<Slots>>(ex, n, [=] AMGKIT_FN(auto team, std::int64_t l, auto &table) {
    const int I = row[l], begin = ptr[left.rows * I];
    const ByColumn columns;
    columns.prepare(team, table, (ptr[left.rows * I + 1] - begin) / run, col + begin, run);
    team.for_numbered_entries_in_order(
        left.length(I),
        [&](int r) {
          const int j = left.column(I, r);
          return Segment{B.ptr[j], B.ptr[j + 1]};
        },
        [&](int, int k, int nth) {
          return Numbered{columns.load(B, k, nth), nth};
        },
        [&](int, const Numbered &product) {
          place[first[I] + product.number] = static_cast<unsigned char>(columns.place(table, product.column));
        });
  });
}
} // namespace spgemm

template <class Ex>
PetscErrorCode native_note_places(Ex &ex, CsrView<double> A, CsrView<double> B, const Csr<double, Ex> &C, SpgemmPlan<Ex> &plan)
{
  const spgemm::LeftBlocks left{A, plan.rows, plan.inner};
  const CsrView<double> right = plan.run > 1 ? plan.runs.view() : B;
  const int most = plan.rows > 1 ? spgemm::block_columns_of(spgemm::tables - 1) : spgemm::most_places; // with tables
  const int n = A.rows / plan.rows, run = plan.run, *ptr = C.ptr.data(), *col = C.col.data();
  Array<int, Ex> numbers;
  Array<unsigned char, Ex> noted;
  std::int64_t products = 0, other = 0;

  PetscFunctionBegin;
  PetscCall(numbers.allocate(ex, std::int64_t{n} + 1));
  int *first = numbers.data();
  PetscCall(spgemm::number_products(ex, left, right, n, run, most, ptr, first, &products));
  PetscCall(noted.allocate(ex, products));
  unsigned char *place = noted.data();
  PetscCall(spgemm::for_sizes([&](auto size) {
    constexpr int T = decltype(size)::value, scalar = spgemm::slots_of(T), block = spgemm::block_slots_of(T);
    const int *row = plan.row.data() + plan.begin[T];
    const std::int64_t rows = plan.begin[T + 1] - plan.begin[T];
    if (plan.rows > 1) return spgemm::note_rows<32, block>(ex, left, right, run, row, rows, ptr, col, first, place);
    if constexpr (T < spgemm::noted_tables)
      return spgemm::note_rows<16, scalar>(ex, left, right, run, row, rows, ptr, col, first, place);
    else
      return PETSC_SUCCESS;
  }));
  if (plan.rows == 1 && run == 1 && right.nnz == right.rows)
    PetscCall(reduce<std::int64_t>(
        ex, right.rows, [=] AMGKIT_FN(std::int64_t j) { return static_cast<std::int64_t>(right.ptr[j] != j); }, 0, Sum{}, &other));
  plan.one_each = plan.rows == 1 && run == 1 && right.nnz == right.rows && other == 0 && products == A.nnz;
  if (!plan.one_each) plan.first = std::move(numbers);
  plan.place = std::move(noted);
  PetscFunctionReturn(PETSC_SUCCESS);
}

AMGKIT_INSTANTIATE(native_note_places)
} // namespace amgkit
