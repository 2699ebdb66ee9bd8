#include "base/ordered_rows.hpp"
#include "sparse/formats/spmv.hpp"
#include "sparse/ilu0/triangle.hpp"
#include "sparse/rows/rows.hpp"
#include "sparse/rows/search.hpp"

#include <algorithm>
#include <utility>

namespace amgkit
{
namespace
{
// Row i of the matrix: its entries in the part.
AMGKIT_FN inline Segment entries_of_part(const TriangleShape &shape, const CsrView<double> &A, int i)
{
  const Segment all = entries_of(A, i);
  if (shape.lower) {
    const int begin = shape.first > 0 ? lower_bound(A.col, all.begin, all.end, shape.first) : all.begin;
    return {begin, lower_bound(A.col, begin, all.end, i)};
  }
  const int begin = lower_bound(A.col, all.begin, all.end, i + 1);
  return {begin, lower_bound(A.col, begin, all.end, shape.first + shape.rows)};
}

// level[i - first] of each row, by rows downwards in a lower triangle, upwards in an upper one.
struct FindLevels {
  TriangleShape shape;
  CsrView<double> A;
  int *level;
  struct Known {
    int i, k, end, level;
  };

  template <class Team> AMGKIT_FN Known begin(const Team &, std::int64_t t) const
  {
    const int i = shape.first + static_cast<int>(shape.lower ? t : shape.rows - 1 - t);
    const Segment row = entries_of_part(shape, A, i);
    return {i, row.begin, row.end, 0};
  }
  template <class Team> AMGKIT_FN bool advance(const Team &, Known &known) const
  {
    for (; known.k < known.end; known.k++) {
      const int there = peek_cell(level + (A.col[known.k] - shape.first));
      if (is_pending(there)) return false;
      known.level = Max{}(known.level, there + 1);
    }
    set_cell(level + (known.i - shape.first), known.level);
    return true;
  }
};

template <class V, int Together> struct Solve {
  const int *row, *ptr, *col;
  const double *val, *scale;
  const V *b;
  double *cells;
  V *x;
  template <class Team> struct Known {
    int p, k, end, row;
    double s, scale; // what takes long to read is read before the row waits
    Ahead<Team> ahead;
  };
  struct Cell {
    double *cells;
    const int *col;
    AMGKIT_FN const double *operator()(int k) const { return cells + col[k]; }
  };
  struct Value {
    const double *val;
    AMGKIT_FN double operator()(int k) const { return val[k]; }
  };

  template <class Team> AMGKIT_FN Known<Team> begin(const Team &team, std::int64_t p) const
  {
    const int i = row[p], k = ptr[p], end = ptr[p + 1];
    return {static_cast<int>(p),
            k,
            end,
            i,
            static_cast<double>(b[i]),
            scale ? scale[p] : 1,
            look_ahead(team, k, end, Cell{cells, col}, Value{val})};
  }
  template <class Team> AMGKIT_FN bool advance(const Team &team, Known<Team> &known) const
  {
    known.k = subtract_while_ready<Together>(team, known.ahead, known.k, known.end, known.s, Cell{cells, col}, Value{val});
    if (known.k < known.end) return false;
    const double x_i = known.s * known.scale;
    team.once([&] {
      set_cell(cells + known.p, x_i);
      x[known.row] = static_cast<V>(x_i);
    });
    return true;
  }
};

template <class Ex> double average_of(const Triangle<Ex> &T)
{
  return T.shape.rows > 0 ? static_cast<double>(T.col.size()) / T.shape.rows : 0;
}

// How a GPU solves, by the entries of an average row: up to so many by one lane, that reads 4 at once, or 16; longer rows by a warp, or
// half of one where levels are so wide that they fill the device. Teams wait for one another within their warp: 13 entries a row, 27-point
// 80³, take teams of 4 to 16 lanes 3.7 to 1.8 ms for both triangles, one lane 1.2, a warp 1.6; 40 entries take 16 lanes 2.8, a warp 2.0.
constexpr double few_entries = 6, long_rows = 24;
constexpr std::int64_t wide_level = 4000;

// Rows under way at once on an H200. Those that wait ask again and again, which slows down the others; but what is read takes its time, and
// enough of them must do so: so many, or those of so many levels, were fastest on grids and elasticity, in natural and in random order.
template <class Ex> std::int64_t rows_at_once(const Triangle<Ex> &T)
{
  const std::int64_t width = T.width();
  if (average_of(T) <= few_entries) return std::max<std::int64_t>(width, 44000);
  if (average_of(T) <= long_rows) return std::max<std::int64_t>(2 * width, 6000);
  return std::max<std::int64_t>(4 * width, 1500);
}

// Ascending in a lower triangle, descending in an upper one
template <class Ex> PetscErrorCode natural_order(Ex &ex, const TriangleShape &shape, int *row)
{
  const int n = shape.rows;
  const bool lower = shape.lower;
  return for_each(ex, n, [=] AMGKIT_FN(std::int64_t p) { row[p] = lower ? static_cast<int>(p) : n - 1 - static_cast<int>(p); });
}

// T.row, T.levels
template <class Ex> PetscErrorCode order_rows(Ex &ex, CsrView<double> A, Triangle<Ex> &T)
{
  const TriangleShape shape = T.shape;
  Array<std::uint32_t, Ex> levels;
  int most = -1, bits = 1;

  PetscFunctionBegin;
  PetscCall(levels.allocate(ex, shape.rows));
  int *level = levels.template as<int>();
  PetscCall(clear_cells(ex, shape.rows, level));
  PetscCall(for_rows_in_order<1>(ex, shape.rows, RowOrder{T.tickets.data(), 0}, FindLevels{shape, A, level}));
  PetscCall(reduce<int>(
      ex, shape.rows, [=] AMGKIT_FN(std::int64_t i) { return level[i]; }, -1, Max{}, &most));
  T.levels = most + 1;
  int *row = T.row.data();
  if constexpr (Ex::one_by_one) {
    PetscCall(natural_order(ex, shape, row));
  } else {
    while (T.levels >> bits) bits++;
    const int more = std::min(6, 32 - bits); // bits for the length
    std::uint32_t *key = levels.data();
    PetscCall(for_each(ex, shape.rows, [=] AMGKIT_FN(std::int64_t i) {
      const Segment part = entries_of_part(shape, A, shape.first + static_cast<int>(i));
      key[i] = key[i] << more | static_cast<std::uint32_t>(Min{}(part.end - part.begin, (1 << more) - 1));
    }));
    PetscCall(count_up(ex, shape.rows, row));
    PetscCall(stable_sort_pairs(ex, shape.rows, key, row, bits + more));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <int Lanes, int Together, class Ex, class V> PetscErrorCode solve_with(Ex &ex, Triangle<Ex> &T, const V *b, V *x)
{
  return for_rows_in_order<Lanes>(
      ex, T.shape.rows, RowOrder{T.tickets.data(), T.at_once},
      Solve<V, Together>{T.row.data(), T.ptr.data(), T.col.data(), T.val.data(), T.scale.data(), b, T.cells.data(), x});
}
} // namespace

template <class Ex> PetscErrorCode triangle_symbolic(Ex &ex, TriangleShape shape, CsrView<double> A, Triangle<Ex> &T)
{
  const int n = shape.rows, first = shape.first;
  Array<int, Ex> places;
  std::int64_t nnz = 0;

  PetscFunctionBegin;
  T = {};
  T.shape = shape;
  PetscCall(T.tickets.allocate(ex, 2));
  PetscCall(memory_zero(ex, T.tickets.data(), T.tickets.bytes()));
  PetscCall(T.row.allocate(ex, n));
  PetscCall(T.ptr.allocate(ex, std::int64_t{n} + 1));
  PetscCall(T.cells.allocate(ex, n));
  PetscCall(order_rows(ex, A, T));
  PetscCall(places.allocate(ex, n));
  const int *row = T.row.data();
  int *place = places.data(), *ptr = T.ptr.data();
  PetscCall(for_each(ex, n, [=] AMGKIT_FN(std::int64_t p) {
    const Segment part = entries_of_part(shape, A, first + row[p]);
    place[row[p]] = static_cast<int>(p);
    ptr[p] = part.end - part.begin;
  }));
  PetscCall(exclusive_scan(ex, n, ptr, &nnz));
  PetscCall(allocate_each(ex, nnz, T.col, T.from));
  T.at_once = rows_at_once(T);
  int *col = T.col.data(), *from = T.from.data();
  PetscCall(for_rows(ex, n, average_of(T), [=] AMGKIT_FN(auto team, std::int64_t p) {
    const Segment part = entries_of_part(shape, A, first + row[p]);
    for (int k : team.share(part.begin, part.end)) {
      const int to = ptr[p] + k - part.begin;
      col[to] = place[A.col[k] - first];
      from[to] = k;
    }
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode triangle_numeric(Ex &ex, const double *val, const double *inverse, Triangle<Ex> &T)
{
  const int *row = T.row.data(), first = T.shape.first;

  PetscFunctionBegin;
  if (T.val.size() < T.from.size()) PetscCall(T.val.allocate(ex, T.from.size()));
  if (inverse && T.scale.size() < T.row.size()) PetscCall(T.scale.allocate(ex, T.row.size()));
  if (!inverse) T.scale.release();
  double *scale = T.scale.data();
  PetscCall(gather(ex, T.from.size(), T.from.data(), val, T.val.data()));
  if (inverse) PetscCall(for_each(ex, T.row.size(), [=] AMGKIT_FN(std::int64_t p) { scale[p] = inverse[first + row[p]]; }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex, class V> PetscErrorCode triangle_solve(Ex &ex, Triangle<Ex> &T, const V *b, V *x)
{
  PetscFunctionBegin;
  PetscCall(clear_cells(ex, T.cells.size(), T.cells.data()));
  if (average_of(T) <= few_entries)
    PetscCall((solve_with<1, 4>(ex, T, b, x)));
  else if (average_of(T) <= long_rows)
    PetscCall((solve_with<1, 16>(ex, T, b, x)));
  else if (T.width() > wide_level)
    PetscCall((solve_with<16, 1>(ex, T, b, x)));
  else
    PetscCall((solve_with<32, 1>(ex, T, b, x)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex, class V> PetscErrorCode triangle_sweeps(Ex &ex, int sweeps, Triangle<Ex> &T, const V *b, V *x)
{
  const int n = T.shape.rows, *row = T.row.data(), *ptr = T.ptr.data(), *col = T.col.data();
  const double *val = T.val.data(), *scale = T.scale.data();
  double *now = T.cells.data();

  PetscFunctionBegin;
  if (T.other.size() < n) PetscCall(T.other.allocate(ex, n));
  double *next = T.other.data();
  PetscCall(for_each(ex, n, [=] AMGKIT_FN(std::int64_t p) {
    const auto b_i = static_cast<double>(b[row[p]]);
    now[p] = sweeps < 1 ? 0 : scale ? b_i * scale[p] : b_i;
  }));
  for (int sweep = 1; sweep < sweeps; sweep++) {
    PetscCall(for_rows(ex, n, average_of(T), [=] AMGKIT_FN(auto team, std::int64_t p) {
      const double s = team.ordered_sum(
          ptr[p], ptr[p + 1], [&](int k) { return -(val[k] * now[col[k]]); }, static_cast<double>(b[row[p]]));
      team.once([&] { next[p] = scale ? s * scale[p] : s; });
    }));
    std::swap(now, next);
  }
  PetscCall(for_each(ex, n, [=] AMGKIT_FN(std::int64_t p) { x[row[p]] = static_cast<V>(now[p]); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

using Space = AMGKIT_SPACE;
AMGKIT_INSTANTIATE(triangle_symbolic)
AMGKIT_INSTANTIATE(triangle_numeric)
#define INSTANTIATE(V)                                                                                                                     \
  template PetscErrorCode triangle_solve(Space &, Triangle<Space> &, const V *, V *);                                                      \
  template PetscErrorCode triangle_sweeps(Space &, int, Triangle<Space> &, const V *, V *);
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE
} // namespace amgkit
