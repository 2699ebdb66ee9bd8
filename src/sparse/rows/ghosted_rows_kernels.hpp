#include "base/written_rows.hpp"
#include "sparse/rows/ghosted_rows.hpp"
#include "sparse/rows/search.hpp"

namespace amgkit
{
namespace
{
AMGKIT_FN inline Segment row_of(const BlockPart &part, std::int64_t i)
{
  return part.ptr ? Segment{part.ptr[i], part.ptr[i + 1]} : entries_of(part.block, i);
}
// Number of entries before row i, which may be the number of rows
AMGKIT_FN inline int entries_before(const CsrView<double> &A, std::int64_t i) { return A.nnz > 0 ? A.ptr[i] - A.ptr[0] : 0; }
AMGKIT_FN inline int entries_before(const BlockPart &part, std::int64_t i)
{
  return part.ptr ? part.ptr[i] : entries_before(part.block, i);
}
AMGKIT_FN inline int position(const BlockPart &part, int k) { return part.at ? part.at[k] : k; }

// The first of these entries whose column is not below ghosts_before
AMGKIT_FN inline int above(const BlockPart &part, const Segment &row, int ghosts_before)
{
  return first_not_below([&](int k) { return part.block.col[position(part, k)]; }, row.begin, row.end, ghosts_before);
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

// The same rows with their numbers spelt out, but for numbers.ghost
BlockRows numbered(BlockRows in)
{
  if (in.numbers.cols == 0) in.numbers = {in.diag.block.cols + in.offd.block.cols, in.ghosts_before, nullptr};
  return in;
}

// write(place, column, value) for the entries of row r, of which the first has the given place
template <class Team, class Write> AMGKIT_FN void for_stacked(const Team &team, const BlockRows &in, std::int64_t r, int at, Write write)
{
  const Source from = source_of(r, in.rows_before, in.diag.block.rows);
  if (from.other) {
    const Segment row = entries_of(in.others, from.row);
    for (int k : team.share(row.begin, row.end)) write(at + k - row.begin, in.others.col[k], in.others.val[k]);
    return;
  }
  const Segment own = row_of(in.diag, from.row), other = row_of(in.offd, from.row);
  const int middle = above(in.offd, other, in.ghosts_before);
  for (int k : team.share(other.begin, other.end)) {
    const int p = position(in.offd, k), g = in.offd.block.col[p];
    const int place = at + k - other.begin + (k < middle ? 0 : own.end - own.begin);
    write(place, in.numbers.ghost ? in.numbers.ghost[g] : g + (k < middle ? 0 : in.diag.block.cols), in.offd.block.val[p]);
  }
  for (int k : team.share(own.begin, own.end)) {
    const int p = position(in.diag, k);
    write(at + middle - other.begin + k - own.begin, in.numbers.before + in.diag.block.col[p], in.diag.block.val[p]);
  }
}

// The columns too, or the values alone.
template <bool Columns, class Ex> PetscErrorCode fill_stacked(Ex &ex, const BlockRows &rows, Csr<double, Ex> &M)
{
  const BlockRows in = numbered(rows);
  const int *ptr = M.ptr.data();
  int *col = M.col.data();
  double *val = M.val.data();
  return for_written_rows(ex, M.rows, M.view().average(), [=] AMGKIT_FN(auto team, std::int64_t r) {
    for_stacked(team, in, r, ptr[r], [&](int at, int column, double value) {
      if (Columns) col[at] = column;
      val[at] = value;
    });
  });
}

// A chosen row: where it is, and where its own columns begin and end.
struct Cut {
  Segment row;
  int own_begin, own_end;
};
AMGKIT_FN inline const GhostedRows &rows_of_choice(const ChosenRows &in, std::int64_t t)
{
  return in.row && in.row[t] < 0 ? in.second : in.first;
}
AMGKIT_FN inline Cut cut_row(const ChosenRows &in, std::int64_t t)
{
  const GhostedRows &from = rows_of_choice(in, t);
  std::int64_t i = t;
  if (in.row) i = in.row[t] < 0 ? -1 - in.row[t] : in.row[t];
  const Segment row = entries_of(from.M, i);
  const int begin = lower_bound(from.M.col, row.begin, row.end, from.before);
  return {row, begin, lower_bound(from.M.col, begin, row.end, from.before + in.own)};
}

template <bool Columns, class Ex> PetscErrorCode fill_split(Ex &ex, const ChosenRows &chosen, Csr<double, Ex> &diag, Csr<double, Ex> &offd)
{
  const ChosenRows in = chosen;
  const int *own_ptr = diag.ptr.data(), *ghost_ptr = offd.ptr.data();
  int *own_col = diag.col.data(), *ghost_col = offd.col.data();
  double *own_val = diag.val.data(), *ghost_val = offd.val.data();
  return for_written_rows(ex, in.rows, in.first.M.average(), [=] AMGKIT_FN(auto team, std::int64_t t) {
    const GhostedRows &from = rows_of_choice(in, t);
    const Cut cut = cut_row(in, t);
    const int own = cut.own_end - cut.own_begin;
    for (int k : team.share(cut.row.begin, cut.row.end)) {
      const int j = from.M.col[k];
      if (k >= cut.own_begin && k < cut.own_end) {
        const int at = own_ptr[t] + k - cut.own_begin;
        if (Columns) own_col[at] = j - from.before;
        own_val[at] = from.M.val[k];
      } else {
        const bool after = k >= cut.own_end;
        const int at = ghost_ptr[t] + k - cut.row.begin - (after ? own : 0), g = after ? j - in.own : j;
        if (Columns) ghost_col[at] = from.ghost ? from.ghost[g] : g;
        ghost_val[at] = from.M.val[k];
      }
    }
  });
}
} // namespace

template <class Ex> PetscErrorCode stack_rows(Ex &ex, const BlockRows &blocks, Csr<double, Ex> &M)
{
  const BlockRows in = blocks;
  const std::int64_t rows = std::int64_t{in.diag.block.rows} + in.others.rows, cols = std::int64_t{in.diag.block.cols} + in.offd.block.cols;
  const std::int64_t entries = in.diag.entries() + in.offd.entries() + in.others.nnz;

  PetscFunctionBegin;
  PetscCheck(rows <= INT32_MAX && cols <= INT32_MAX && entries <= INT32_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "More than 2^31 - 1 rows, columns or entries of one process and its neighbours: use more processes");
  M.rows = static_cast<int>(rows);
  M.cols = numbered(in).numbers.cols;
  PetscCall(M.ptr.allocate(ex, rows + 1));
  int *ptr = M.ptr.data();
  PetscCall(for_each(ex, rows + 1, [=] AMGKIT_FN(std::int64_t r) {
    const std::int64_t after = r - in.rows_before, own_rows = in.diag.block.rows;
    const std::int64_t own = after < 0 ? 0 : after < own_rows ? after : own_rows; // rows of this rank before row r
    ptr[r] = entries_before(in.diag, own) + entries_before(in.offd, own) + entries_before(in.others, r - own);
  }));
  PetscCall(allocate_each(ex, entries, M.col, M.val));
  PetscCall(fill_stacked<true>(ex, in, M));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode stack_values(Ex &ex, const BlockRows &blocks, Csr<double, Ex> &M)
{
  return fill_stacked<false>(ex, blocks, M);
}

template <class Ex>
PetscErrorCode stack_vector(Ex &ex, int own_rows, const double *own, int other_rows, const double *others, int rows_before, double *all)
{
  return for_each(ex, std::int64_t{own_rows} + other_rows, [=] AMGKIT_FN(std::int64_t r) {
    const Source from = source_of(r, rows_before, own_rows);
    all[r] = from.other ? others[from.row] : own[from.row];
  });
}

template <class Ex> PetscErrorCode split_rows(Ex &ex, const ChosenRows &chosen, int ghosts, Csr<double, Ex> &diag, Csr<double, Ex> &offd)
{
  const ChosenRows in = chosen;
  std::int64_t outside = 0;
  unsigned inside = 0;

  PetscFunctionBegin;
  diag.rows = offd.rows = in.rows;
  diag.cols = in.own;
  offd.cols = ghosts;
  PetscCall(allocate_each(ex, std::int64_t{in.rows} + 1, diag.ptr, offd.ptr));
  int *own_ptr = diag.ptr.data(), *ghost_ptr = offd.ptr.data();
  PetscCall(for_each(ex, in.rows, [=] AMGKIT_FN(std::int64_t t) {
    const Cut cut = cut_row(in, t);
    own_ptr[t] = cut.own_end - cut.own_begin;
    ghost_ptr[t] = cut.row.end - cut.row.begin - own_ptr[t];
  }));
  PetscCall(exclusive_scan(ex, in.rows, own_ptr, nullptr));
  PetscCall(exclusive_scan(ex, in.rows, ghost_ptr, &outside, reinterpret_cast<const unsigned *>(own_ptr + in.rows), &inside));
  PetscCheck(inside <= INT32_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "More than 2^31 - 1 entries on one process: use more processes");
  PetscCall(allocate_each(ex, inside, diag.col, diag.val));
  PetscCall(allocate_each(ex, outside, offd.col, offd.val));
  PetscCall(fill_split<true>(ex, chosen, diag, offd));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode split_values(Ex &ex, const ChosenRows &chosen, Csr<double, Ex> &diag, Csr<double, Ex> &offd)
{
  return fill_split<false>(ex, chosen, diag, offd);
}

template <class Ex> PetscErrorCode drop_empty_columns(Ex &ex, Csr<double, Ex> &A, std::vector<int> &kept)
{
  Array<int, Ex> used, list;
  std::int64_t count = 0;

  PetscFunctionBegin;
  PetscCall(used.allocate(ex, std::int64_t{A.cols} + 1));
  PetscCall(list.allocate(ex, A.cols));
  PetscCall(memory_zero(ex, used.data(), used.bytes()));
  int *number = used.data(), *col = A.col.data();
  PetscCall(for_each(ex, A.col.size(), [=] AMGKIT_FN(std::int64_t k) { atomic_store(&number[col[k]], 1); }));
  PetscCall(compact(
      ex, A.cols, [=] AMGKIT_FN(std::int64_t j) { return number[j] != 0; }, list.data(), &count));
  PetscCall(exclusive_scan(ex, A.cols, number, nullptr));
  PetscCall(for_each(ex, A.col.size(), [=] AMGKIT_FN(std::int64_t k) { col[k] = number[col[k]]; }));
  PetscCall(download(ex, list.data(), count, kept));
  A.cols = static_cast<int>(count);
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode identity_and_rows(Ex &ex, CsrView<double> A, const Array<int, Ex> &rows, Csr<double, Ex> &S)
{
  const int n = static_cast<int>(rows.size());
  const std::int64_t entries = n + A.nnz, cols = std::int64_t{n} + A.cols;
  const int *row = rows.data();

  PetscFunctionBegin;
  PetscCheck(entries <= INT32_MAX && cols <= INT32_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "More than 2^31 - 1 rows from other processes: use more processes");
  S.rows = n;
  S.cols = static_cast<int>(cols);
  PetscCall(S.ptr.allocate(ex, n + 1));
  PetscCall(allocate_each(ex, entries, S.col, S.val));
  int *ptr = S.ptr.data(), *col = S.col.data();
  double *val = S.val.data();
  // what A's rows before row[t] hold belongs to rows before t
  PetscCall(for_each(ex, n + 1, [=] AMGKIT_FN(std::int64_t t) {
    const int first = t < n ? A.ptr[row[t]] : static_cast<int>(A.nnz), end = t < n ? A.ptr[row[t] + 1] : first;
    const int at = static_cast<int>(t) + first;
    ptr[t] = at;
    if (t == n) return;
    col[at] = static_cast<int>(t);
    val[at] = 1;
    for (int k = first; k < end; k++) {
      col[at + 1 + k - first] = n + A.col[k];
      val[at + 1 + k - first] = A.val[k];
    }
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode choose_rows(Ex &ex, int n, const Array<int, Ex> &rows, Array<int, Ex> &choices)
{
  PetscFunctionBegin;
  PetscCall(choices.allocate(ex, n));
  const int *row = rows.data();
  int *choice = choices.data();
  PetscCall(for_each(ex, n, [=] AMGKIT_FN(std::int64_t i) { choice[i] = static_cast<int>(i); }));
  PetscCall(for_each(ex, rows.size(), [=] AMGKIT_FN(std::int64_t t) { choice[row[t]] = -1 - static_cast<int>(t); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

AMGKIT_INSTANTIATE(stack_rows)
AMGKIT_INSTANTIATE(stack_values)
AMGKIT_INSTANTIATE(stack_vector)
AMGKIT_INSTANTIATE(split_rows)
AMGKIT_INSTANTIATE(split_values)
AMGKIT_INSTANTIATE(drop_empty_columns)
AMGKIT_INSTANTIATE(identity_and_rows)
AMGKIT_INSTANTIATE(choose_rows)
} // namespace amgkit
