#include "sparse/formats/spmv.hpp"
#include "sparse/ilu0/ilu0_backends.hpp"
#include "sparse/rows/rows.hpp"
#include "sparse/rows/transpose.hpp"

#include <cmath>

namespace amgkit
{
namespace
{
#if defined(AMGKIT_HAVE_CUDA)
template <class Ex> constexpr bool have_cusparse = Ex::on_device;
#else
template <class Ex> constexpr bool have_cusparse = false;
#endif

template <class Ex> PetscErrorCode check_options(const IluOptions &options, const CsrView<double> &A)
{
  PetscFunctionBegin;
  PetscCheck(ilu0_available<Ex>(options.kind), PETSC_COMM_SELF, PETSC_ERR_SUP, "No ILU by cusparse in this build for the space %s",
             Ex::name);
  PetscCheck(options.kind == IluKind::native || options.shift == IluShift::none, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "cuSPARSE's ILU has no shifts");
  PetscCheck(options.kind == IluKind::native || !options.sweeps, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "cuSPARSE's triangular solves are exact, there are no Jacobi steps");
  PetscCheck(A.rows == A.cols, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ, "ILU of a matrix of %d x %d", A.rows, A.cols);
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode check_pattern(const CsrView<double> &A, const Ilu0<Ex> &f)
{
  PetscFunctionBegin;
  PetscCheck(A.rows == f.rows && A.cols == f.rows && A.nnz == f.nnz, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "The factors are of %d rows and %lld entries, the matrix has %d and %lld", f.rows, static_cast<long long>(f.nnz), A.rows,
             static_cast<long long>(A.nnz));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The shift of the next attempt, as PETSc's MatPivotCheck_nz, MatPivotCheck_pd and MatLUFactorNumeric_SeqAIJ choose it.
struct Shifts {
  IluOptions options;
  double top = 0; // positive_definite: shifts are fractions of it
  double amount = 0, fraction = 0, low = 0, high = 1;
  int count = 0;
  static constexpr int most_bisections = 5;

  // After a pivot that was too small; false: nothing helps
  bool larger()
  {
    if (options.shift == IluShift::nonzero) {
      amount = count == 0 ? options.shift_amount : 2 * amount;
    } else if (options.shift == IluShift::positive_definite) {
      if (count > most_bisections) return false; // the largest one was tried
      if (count == most_bisections) {
        fraction = high;
      } else {
        low = fraction;
        fraction = (high + low) / 2;
      }
      amount = fraction * top;
    } else {
      return false;
    }
    count++;
    return amount > 0 && std::isfinite(amount);
  }
  // After success: whether less is worth an attempt
  bool smaller()
  {
    if (options.shift != IluShift::positive_definite || fraction == 0 || count >= most_bisections) return false;
    high = fraction;
    fraction = (high + low) / 2;
    amount = fraction * top;
    count++;
    return true;
  }
};

template <class Ex> PetscErrorCode read_status(Ex &ex, const Ilu0<Ex> &f, IluReport *report)
{
  int status[status_places];

  PetscFunctionBegin;
  PetscCall(memory_to_host(ex, status, f.status.data(), sizeof(status)));
  const int zero = status[status_zero], not_finite = status[status_not_finite];
  report->fault = IluFault::none;
  report->row = -1;
  // what follows from an earlier row's fault is no fault of its own
  if (zero < not_finite) {
    report->fault = IluFault::zero_pivot;
    report->row = zero;
  } else if (not_finite < INT32_MAX) {
    report->fault = IluFault::not_finite;
    report->row = not_finite;
  }
  if (f.options.shift == IluShift::inblocks) report->shifts = status[status_shifted];
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode factor_with_shifts(Ex &ex, const CsrView<double> &A, Ilu0<Ex> &f, IluReport *report)
{
  Shifts shifts{f.options};

  PetscFunctionBegin;
  if (f.options.shift == IluShift::positive_definite) {
    PetscCall(largest_shift(ex, A, f.diagonal.data(), f.options.zero_pivot, &shifts.top));
    shifts.top *= 1.1;
  }
  for (bool more = true; more;) {
    PetscCall(native_factor(ex, A, shifts.amount, f));
    PetscCall(read_status(ex, f, report));
    if (f.options.shift != IluShift::inblocks) report->shifts = shifts.count;
    report->shift_amount = shifts.amount;
    if (report->fault == IluFault::none)
      more = shifts.smaller();
    else
      more = report->fault == IluFault::zero_pivot && shifts.larger();
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode fill_triangles(Ex &ex, Ilu0<Ex> &f)
{
  const double *val = f.val.data(), *inverse = f.inverse.data();

  PetscFunctionBegin;
  PetscCall(triangle_numeric(ex, val, nullptr, f.lower));
  PetscCall(triangle_numeric(ex, val, inverse, f.upper));
  if (f.transposed) {
    PetscCall(triangle_numeric(ex, val, inverse, f.upper_t));
    PetscCall(triangle_numeric(ex, val, nullptr, f.lower_t));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode order_triangle(Ex &ex, bool lower, CsrView<double> A, const IluOptions &options, Triangle<Ex> &T)
{
  PetscFunctionBegin;
  PetscCall(triangle_symbolic(ex, {lower, 0, A.rows}, A, T));
  if (options.sweeps) PetscCall(T.other.allocate(ex, A.rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The factorisation's order of the rows, and what solves need. The factors' pattern is A's.
template <class Ex> PetscErrorCode order_triangles(Ex &ex, CsrView<double> A, Ilu0<Ex> &f)
{
  PetscFunctionBegin;
  if (f.options.solves) {
    PetscCall(order_triangle(ex, true, A, f.options, f.lower));
    PetscCall(order_triangle(ex, false, A, f.options, f.upper));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(triangle_symbolic(ex, {true, 0, A.rows}, A, f.lower));
  f.lower.ptr.release();
  f.lower.col.release();
  f.lower.from.release();
  f.lower.cells.release();
  PetscFunctionReturn(PETSC_SUCCESS);
}

// b and x may be the same
template <class Ex, class V> PetscErrorCode solve_triangle(Ex &ex, Triangle<Ex> &T, int sweeps, const V *b, V *x)
{
  return sweeps > 0 ? triangle_sweeps(ex, sweeps, T, b, x) : triangle_solve(ex, T, b, x);
}

// The back end besides native, where there is one.
template <class Ex> PetscErrorCode other_symbolic(Ex &, const CsrView<double> &, Ilu0<Ex> &) { return PETSC_ERR_SUP; }
template <class Ex> PetscErrorCode other_factor(Ex &, Ilu0<Ex> &) { return PETSC_ERR_SUP; }
template <class Ex> PetscErrorCode other_analyse(Ex &, Ilu0<Ex> &) { return PETSC_ERR_SUP; }
template <class Ex, class V> PetscErrorCode other_solve(Ex &, Ilu0<Ex> &, bool, const V *, V *) { return PETSC_ERR_SUP; }
#if defined(AMGKIT_HAVE_CUDA)
PetscErrorCode other_symbolic(Cuda &ex, const CsrView<double> &A, Ilu0<Cuda> &f) { return cusparse_ilu_symbolic(ex, A, f); }
PetscErrorCode other_factor(Cuda &ex, Ilu0<Cuda> &f) { return cusparse_ilu_factor(ex, f); }
PetscErrorCode other_analyse(Cuda &ex, Ilu0<Cuda> &f) { return cusparse_ilu_analyse(ex, f); }
PetscErrorCode other_solve(Cuda &ex, Ilu0<Cuda> &f, bool transposed, const double *b, double *x)
{
  return cusparse_ilu_solve(ex, f, transposed, b, x);
}
#endif
} // namespace

template <class Ex> bool ilu0_available(IluKind kind) { return kind == IluKind::native || have_cusparse<Ex>; }

template <class Ex> PetscErrorCode ilu0_symbolic(Ex &ex, const IluOptions &options, CsrView<double> A, Ilu0<Ex> &f, IluReport *report)
{
  int missing = 0;

  PetscFunctionBegin;
  *report = {};
  f = {};
  PetscCall(check_options<Ex>(options, A));
  f.options = options;
  f.rows = A.rows;
  f.nnz = A.nnz;
  PetscCall(f.diagonal.allocate(ex, A.rows));
  PetscCall(diagonal_positions(ex, A, f.diagonal.data()));
  PetscCall(first_without_diagonal(ex, A.rows, f.diagonal.data(), &missing));
  if (missing < A.rows) {
    report->fault = IluFault::no_diagonal;
    report->row = missing;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(f.status.allocate(ex, status_places));
  PetscCall(f.val.allocate(ex, A.nnz));
  PetscCall(f.inverse.allocate(ex, A.rows));
  if (options.solves) PetscCall(f.between.allocate(ex, A.rows));
  if (options.kind == IluKind::native) {
    PetscCall(longest_row(ex, A, &f.longest));
    PetscCall(order_triangles(ex, A, f));
  } else if (A.rows > 0) {
    PetscCall(other_symbolic(ex, A, f));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode ilu0_numeric(Ex &ex, CsrView<double> A, Ilu0<Ex> &f, IluReport *report)
{
  PetscFunctionBegin;
  *report = {};
  PetscCall(check_pattern(A, f));
  if (A.rows == 0) PetscFunctionReturn(PETSC_SUCCESS);
  if (f.options.kind == IluKind::native) {
    PetscCall(factor_with_shifts(ex, A, f, report));
    if (f.options.solves) PetscCall(fill_triangles(ex, f));
  } else {
    PetscCall(memory_copy(ex, f.val.data(), A.val, f.val.bytes()));
    PetscCall(other_factor(ex, f));
    PetscCall(check_pivots(ex, A, f));
    PetscCall(read_status(ex, f, report));
    if (report->fault == IluFault::none && f.options.solves) PetscCall(other_analyse(ex, f));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode ilu0_transpose(Ex &ex, CsrView<double> A, Ilu0<Ex> &f)
{
  Csr<double, Ex> At;
  Array<int, Ex> from;

  PetscFunctionBegin;
  PetscCall(check_pattern(A, f));
  PetscCheck(f.options.solves, PETSC_COMM_SELF, PETSC_ERR_ORDER, "These factors are not for solves");
  if (f.transposed || A.rows == 0) PetscFunctionReturn(PETSC_SUCCESS);
  if (f.options.kind == IluKind::native) {
    PetscCall(transpose(ex, A, At, &from));
    PetscCall(order_triangle(ex, true, At.view(), f.options, f.upper_t));
    PetscCall(gather(ex, f.upper_t.from.size(), f.upper_t.from.data(), static_cast<const int *>(from.data()), f.upper_t.from.data()));
    PetscCall(order_triangle(ex, false, At.view(), f.options, f.lower_t));
    PetscCall(gather(ex, f.lower_t.from.size(), f.lower_t.from.data(), static_cast<const int *>(from.data()), f.lower_t.from.data()));
    f.transposed = true;
    PetscCall(fill_triangles(ex, f));
  } else {
    f.transposed = true;
    PetscCall(other_analyse(ex, f));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex, class V> PetscErrorCode ilu0_solve(Ex &ex, Ilu0<Ex> &f, const IluSolve &how, const V *b, V *x)
{
  V *between = f.between.template as<V>();

  PetscFunctionBegin;
  PetscCheck(f.options.solves, PETSC_COMM_SELF, PETSC_ERR_ORDER, "These factors are not for solves");
  if (f.rows == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(!how.transposed || f.transposed, PETSC_COMM_SELF, PETSC_ERR_ORDER, "ilu0_transpose() comes before transposed solves");
  if (f.options.kind != IluKind::native) {
    PetscCheck(how.sweeps == 0 && sizeof(V) == sizeof(double), PETSC_COMM_SELF, PETSC_ERR_SUP,
               "Solves with cuSPARSE are exact and of doubles");
    PetscCall(other_solve(ex, f, how.transposed, b, x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(solve_triangle(ex, how.transposed ? f.upper_t : f.lower, how.sweeps, b, between));
  PetscCall(solve_triangle(ex, how.transposed ? f.lower_t : f.upper, how.sweeps, static_cast<const V *>(between), x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define INSTANTIATE(Ex)                                                                                                                    \
  template bool ilu0_available<Ex>(IluKind);                                                                                               \
  template PetscErrorCode ilu0_symbolic(Ex &, const IluOptions &, CsrView<double>, Ilu0<Ex> &, IluReport *);                               \
  template PetscErrorCode ilu0_numeric(Ex &, CsrView<double>, Ilu0<Ex> &, IluReport *);                                                    \
  template PetscErrorCode ilu0_transpose(Ex &, CsrView<double>, Ilu0<Ex> &);                                                               \
  template PetscErrorCode ilu0_solve(Ex &, Ilu0<Ex> &, const IluSolve &, const float *, float *);                                          \
  template PetscErrorCode ilu0_solve(Ex &, Ilu0<Ex> &, const IluSolve &, const double *, double *);
AMGKIT_FOR_ALL_SPACES(INSTANTIATE)
#undef INSTANTIATE
} // namespace amgkit
