#include "sparse/search.hpp"
#include "sparse/stack.hpp"

namespace amgkit
{
namespace
{
AMGKIT_FN inline Segment row_of(const BlockPart &part, std::int64_t i)
{
  if (part.ptr) return {part.ptr[i], part.ptr[i + 1]};
  return part.block.nnz > 0 ? Segment{part.block.ptr[i], part.block.ptr[i + 1]} : Segment{0, 0};
}
AMGKIT_FN inline int position(const BlockPart &part, int k) { return part.at ? part.at[k] : k; }

// The first of these entries whose column is not below ghosts_before
AMGKIT_FN inline int above(const BlockPart &part, const Segment &row, int ghosts_before)
{
  int begin = row.begin, end = row.end;
  while (begin < end) {
    const int middle = begin + (end - begin) / 2;
    if (part.block.col[position(part, middle)] < ghosts_before)
      begin = middle + 1;
    else
      end = middle;
  }
  return begin;
}

// Which row a row of the stack is: of the others, or this rank's.
struct Source {
  bool other;
  std::int64_t row;
};
AMGKIT_FN inline Source source_of(std::int64_t r, std::int64_t rows_before, std::int64_t own_rows)
{
  if (r < rows_before) return {true, r};
  if (r < rows_before + own_rows) return {false, r - rows_before};
  return {true, r - own_rows};
}

// write(place, column, value) for the entries of row r, of which the first has the given place
template <class Team, class Write> AMGKIT_FN void for_stacked(const Team &team, const StackedRows &in, std::int64_t r, int at, Write write)
{
  const Source from = source_of(r, in.rows_before, in.diag.block.rows);
  if (from.other) {
    const int begin = in.others.ptr[from.row], end = in.others.ptr[from.row + 1];
    for (int k : team.share(begin, end)) write(at + k - begin, in.others.col[k], in.others.val[k]);
    return;
  }
  const Segment own = row_of(in.diag, from.row), ghost = row_of(in.offd, from.row);
  const int middle = above(in.offd, ghost, in.ghosts_before);
  for (int k : team.share(ghost.begin, ghost.end)) {
    const int p = position(in.offd, k);
    const int place = at + k - ghost.begin + (k < middle ? 0 : own.end - own.begin);
    write(place, in.column_of_ghost[in.offd.block.col[p]], in.offd.block.val[p]);
  }
  for (int k : team.share(own.begin, own.end)) {
    const int p = position(in.diag, k);
    write(at + middle - ghost.begin + k - own.begin, in.first + in.diag.block.col[p], in.diag.block.val[p]);
  }
}
} // namespace

template <class Ex> PetscErrorCode stack_rows(Ex &ex, const StackedRows &stacked, Csr<double, Ex> &M)
{
  const StackedRows in = stacked;
  std::int64_t total = 0;
  const std::int64_t rows = std::int64_t{in.diag.block.rows} + in.others.rows;

  PetscFunctionBegin;
  PetscCheck(rows <= INT32_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "More than 2^31 - 1 rows of one process and its neighbours: use more processes");
  M.rows = static_cast<int>(rows);
  M.cols = in.cols;
  PetscCall(M.ptr.allocate(ex, rows + 1));
  int *ptr = M.ptr.data();
  PetscCall(for_each(ex, rows, [=] AMGKIT_FN(std::int64_t r) {
    const Source from = source_of(r, in.rows_before, in.diag.block.rows);
    if (from.other) {
      ptr[r] = in.others.ptr[from.row + 1] - in.others.ptr[from.row];
    } else {
      const Segment own = row_of(in.diag, from.row), ghost = row_of(in.offd, from.row);
      ptr[r] = own.end - own.begin + ghost.end - ghost.begin;
    }
  }));
  PetscCall(exclusive_scan(ex, rows, ptr, &total));
  PetscCall(M.col.allocate(ex, total));
  PetscCall(M.val.allocate(ex, total));
  int *col = M.col.data();
  double *val = M.val.data();
  PetscCall(for_rows(ex, rows, M.view().average(), [=] AMGKIT_FN(auto team, std::int64_t r) {
    for_stacked(team, in, r, ptr[r], [&](int at, int column, double value) {
      col[at] = column;
      val[at] = value;
    });
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode stack_values(Ex &ex, const StackedRows &stacked, Csr<double, Ex> &M)
{
  const StackedRows in = stacked;
  const int *ptr = M.ptr.data();
  double *val = M.val.data();
  return for_rows(ex, M.rows, M.view().average(), [=] AMGKIT_FN(auto team, std::int64_t r) {
    for_stacked(team, in, r, ptr[r], [&](int at, int, double value) { val[at] = value; });
  });
}

template <class Ex>
PetscErrorCode stack_vector(Ex &ex, int own_rows, const double *own, int other_rows, const double *others, int rows_before, double *all)
{
  return for_each(ex, std::int64_t{own_rows} + other_rows, [=] AMGKIT_FN(std::int64_t r) {
    const Source from = source_of(r, rows_before, own_rows);
    all[r] = from.other ? others[from.row] : own[from.row];
  });
}

using Space = AMGKIT_SPACE;
template PetscErrorCode stack_rows(Space &, const StackedRows &, Csr<double, Space> &);
template PetscErrorCode stack_values(Space &, const StackedRows &, Csr<double, Space> &);
template PetscErrorCode stack_vector(Space &, int, const double *, int, const double *, int, double *);
} // namespace amgkit
