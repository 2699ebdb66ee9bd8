#include "base/parallel.hpp"
#include "sparse/rows/rows.hpp"
#include "sparse/rows/search.hpp"

namespace amgkit
{
namespace
{
AMGKIT_FN inline bool is_finite(double x) { return x - x == 0; }

// What one lane sees of a row, or all of them.
struct RowLook {
  int faults = 0, stored = 0;                // RowFault bits; whether there is a diagonal entry
  double diagonal = 0, largest = 0, sum = 0; // the largest |a_ij|, j != i, of own columns, and the sum of all |a_ij|
};
AMGKIT_FN inline void look_at_entry(const CsrView<double> &A, int k, bool first, RowLook &look)
{
  const double a = A.val[k];
  if (!is_finite(a)) look.faults |= row_not_finite;
  if (!first && A.col[k - 1] >= A.col[k]) look.faults |= row_not_sorted;
  look.sum += a < 0 ? -a : a;
}
template <class Team>
AMGKIT_FN RowLook look_at_row(const Team &team, const CsrView<double> &diag, const CsrView<double> &offd, std::int64_t i)
{
  RowLook look;
  const int first = diag.ptr[i], first_outside = offd.ptr[i];
  for (int k : team.share(first, diag.ptr[i + 1])) {
    const double a = diag.val[k], size = a < 0 ? -a : a;
    look_at_entry(diag, k, k == first, look);
    if (diag.col[k] != i) {
      look.largest = size > look.largest ? size : look.largest;
      continue;
    }
    look.stored = 1;
    look.diagonal = a;
    look.faults |= a == 0 ? row_zero_diagonal : a < 0 ? row_negative_diagonal : 0;
  }
  for (int k : team.share(first_outside, offd.ptr[i + 1])) look_at_entry(offd, k, k == first_outside, look);
  const int bits = team.combine(look.faults << 1 | look.stored, Or{});
  return {bits >> 1, bits & 1, team.sum(look.diagonal), team.combine(look.largest, Max{}), team.sum(look.sum)};
}

template <class Team> AMGKIT_FN double absolute_sum(const Team &team, const CsrView<double> &A, std::int64_t i)
{
  double s = 0;
  for (int k : team.share(A.ptr[i], A.ptr[i + 1])) s += A.val[k] < 0 ? -A.val[k] : A.val[k];
  return team.sum(s);
}

template <class Team> AMGKIT_FN double diagonal_entry(const Team &team, const CsrView<double> &A, std::int64_t i)
{
  double a_ii = 0;
  for (int k : team.share(A.ptr[i], A.ptr[i + 1])) {
    if (A.col[k] == i) a_ii = A.val[k];
  }
  return team.sum(a_ii);
}

struct Widest {
  AMGKIT_FN Magnitudes operator()(const Magnitudes &a, const Magnitudes &b) const
  {
    return {Min{}(a.least, b.least), Max{}(a.most, b.most)};
  }
};

// What check_rows() finds in some rows, and in two lots of them.
struct Found {
  std::int64_t negative, first_negative, first_fault;
  float sum, coupling; // as RowBounds has them
};
struct Together {
  AMGKIT_FN Found operator()(const Found &a, const Found &b) const
  {
    return {a.negative + b.negative, Min{}(a.first_negative, b.first_negative), Min{}(a.first_fault, b.first_fault), Max{}(a.sum, b.sum),
            Max{}(a.coupling, b.coupling)};
  }
};

// The i < n with f(i), ascending
template <class Ex, class F> PetscErrorCode chosen_rows(Ex &ex, std::int64_t n, F f, Array<int, Ex> &rows)
{
  Array<int, Ex> all;
  std::int64_t count = 0;

  PetscFunctionBegin;
  PetscCall(all.allocate(ex, n));
  PetscCall(compact(ex, n, f, all.data(), &count));
  PetscCall(rows.allocate(ex, count));
  PetscCall(memory_copy(ex, rows.data(), all.data(), rows.bytes()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

template <class Ex> PetscErrorCode check_rows(Ex &ex, CsrView<double> diag, CsrView<double> offd, double *a, RowCheck *check, int sought)
{
  Array<int, Ex> faults;
  Array<float, Ex> sums, couplings;
  const std::int64_t n = diag.rows;
  Found found = {};

  PetscFunctionBegin;
  *check = {};
  PetscCall(allocate_each(ex, n, faults, sums, couplings));
  int *f = faults.data();
  float *ratio = sums.data(), *coupling = couplings.data();
  PetscCall(for_rows(ex, n, diag.average(), [=] AMGKIT_FN(auto team, std::int64_t i) {
    const RowLook row = look_at_row(team, diag, offd, i);
    const double a_ii = row.diagonal, size = a_ii < 0 ? -a_ii : a_ii, sum = row.sum, largest = row.largest;
    const int mine = row.faults | (row.stored ? 0 : row_without_diagonal);
    team.once([&] {
      f[i] = mine;
      ratio[i] = static_cast<float>(a_ii != 0 ? sum / size : 0);
      coupling[i] = static_cast<float>(a_ii != 0 ? largest / size : 0);
      if (a) a[i] = a_ii;
    });
  }));
  PetscCall(reduce<Found>(
      ex, n,
      [=] AMGKIT_FN(std::int64_t i) {
        const bool negative = (f[i] & row_negative_diagonal) != 0;
        return Found{negative ? 1 : 0, negative ? i : n, f[i] & sought ? i : n, ratio[i], coupling[i]};
      },
      {0, n, n, 0, 0}, Together{}, &found));
  check->negative = found.negative;
  check->bounds = {found.sum, found.coupling};
  if (found.negative > 0) check->first_negative = static_cast<int>(found.first_negative);
  if (found.first_fault < n) {
    check->first_fault = static_cast<int>(found.first_fault);
    PetscCall(memory_to_host(ex, &check->faults, f + found.first_fault, sizeof(int)));
    check->faults &= sought;
    PetscCall(reduce<int>(
        ex, n, [=] AMGKIT_FN(std::int64_t i) { return f[i] & sought; }, 0, Or{}, &check->all_faults));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode diagonal_and_l1(Ex &ex, CsrView<double> diag, CsrView<double> offd, double *a, double *d)
{
  return for_rows(ex, diag.rows, diag.average(), [=] AMGKIT_FN(auto team, std::int64_t i) {
    const double a_ii = diagonal_entry(team, diag, i);
    double l1 = absolute_sum(team, diag, i) + absolute_sum(team, offd, i);
    if (a_ii < 0) l1 = -l1;
    team.once([&] {
      a[i] = a_ii;
      d[i] = l1 != 0 ? 1 / l1 : 0;
    });
  });
}

template <class Ex> PetscErrorCode magnitudes(Ex &ex, std::int64_t n, const double *a, Magnitudes *out)
{
  return reduce<Magnitudes>(
      ex, n,
      [=] AMGKIT_FN(std::int64_t i) {
        const double size = a[i] < 0 ? -a[i] : a[i];
        return Magnitudes{size, size};
      },
      {}, Widest{}, out);
}

template <class Ex> PetscErrorCode invert_entries(Ex &ex, std::int64_t n, const double *a, double *d)
{
  return for_each(ex, n, [=] AMGKIT_FN(std::int64_t i) { d[i] = a[i] != 0 ? 1 / a[i] : 0; });
}

template <class Ex> PetscErrorCode diagonal_of(Ex &ex, CsrView<double> A, double *a)
{
  return for_rows(ex, A.rows, A.average(), [=] AMGKIT_FN(auto team, std::int64_t i) {
    const double a_ii = diagonal_entry(team, A, i);
    team.once([&] { a[i] = a_ii; });
  });
}

template <class Ex> PetscErrorCode diagonal_positions(Ex &ex, CsrView<double> A, int *at)
{
  return for_each(ex, A.rows, [=] AMGKIT_FN(std::int64_t i) {
    const Segment row = entries_of(A, i);
    const int k = lower_bound(A.col, row.begin, row.end, static_cast<int>(i));
    at[i] = k < row.end && A.col[k] == i ? k : -1;
  });
}

template <class Ex> PetscErrorCode unit_diagonals(Ex &ex, CsrView<double> A, const unsigned char *mark, double *val)
{
  return for_each(ex, A.rows, [=] AMGKIT_FN(std::int64_t i) {
    for (int k = A.ptr[i]; mark[i] && k < A.ptr[i + 1]; k++) {
      if (A.col[k] == i) val[k] = 1;
    }
  });
}

template <class Ex> PetscErrorCode narrow(Ex &ex, std::int64_t n, const PetscInt *from, int *to)
{
  return for_each(ex, n, [=] AMGKIT_FN(std::int64_t i) { to[i] = static_cast<int>(from[i]); });
}

template <class Ex> PetscErrorCode count_up(Ex &ex, std::int64_t n, int *x)
{
  return for_each(ex, n, [=] AMGKIT_FN(std::int64_t i) { x[i] = static_cast<int>(i); });
}

template <class Ex> PetscErrorCode count_marks(Ex &ex, const Array<unsigned char, Ex> &marks, std::int64_t *count)
{
  const unsigned char *mark = marks.data();
  return reduce<std::int64_t>(
      ex, marks.size(), [=] AMGKIT_FN(std::int64_t i) { return std::int64_t{mark[i] != 0}; }, 0, Sum{}, count);
}

template <class Ex> PetscErrorCode lone_rows(Ex &ex, CsrView<double> diag, CsrView<double> offd, Array<int, Ex> &rows)
{
  Array<unsigned char, Ex> marks;

  PetscFunctionBegin;
  PetscCall(marks.allocate(ex, diag.rows));
  unsigned char *mark = marks.data();
  // apart from the selection, in which a thread has several rows, one after the other
  PetscCall(for_each(ex, diag.rows, [=] AMGKIT_FN(std::int64_t i) {
    const Segment own = entries_of(diag, i), others = entries_of(offd, i);
    bool lone = true;
    for (int k = own.begin; lone && k < own.end; k++) lone = diag.col[k] == i || diag.val[k] == 0;
    for (int k = others.begin; lone && k < others.end; k++) lone = offd.val[k] == 0;
    mark[i] = lone;
  }));
  PetscCall(chosen_rows(
      ex, diag.rows, [=] AMGKIT_FN(std::int64_t i) { return mark[i] != 0; }, rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode scale_rows(Ex &ex, const Array<int, Ex> &rows, double factor, double *d)
{
  const int *row = rows.data();
  return for_each(ex, rows.size(), [=] AMGKIT_FN(std::int64_t k) { d[row[k]] *= factor; });
}

template <class Ex> PetscErrorCode nonempty_rows(Ex &ex, CsrView<double> A, Array<int, Ex> &rows)
{
  PetscFunctionBegin;
  rows.release();
  if (A.nnz == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(chosen_rows(
      ex, A.rows, [=] AMGKIT_FN(std::int64_t i) { return A.ptr[i] < A.ptr[i + 1]; }, rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

AMGKIT_INSTANTIATE(check_rows)
AMGKIT_INSTANTIATE(diagonal_and_l1)
AMGKIT_INSTANTIATE(magnitudes)
AMGKIT_INSTANTIATE(invert_entries)
AMGKIT_INSTANTIATE(diagonal_of)
AMGKIT_INSTANTIATE(diagonal_positions)
AMGKIT_INSTANTIATE(unit_diagonals)
AMGKIT_INSTANTIATE(narrow)
AMGKIT_INSTANTIATE(count_up)
AMGKIT_INSTANTIATE(count_marks)
AMGKIT_INSTANTIATE(lone_rows)
AMGKIT_INSTANTIATE(scale_rows)
AMGKIT_INSTANTIATE(nonempty_rows)
} // namespace amgkit
