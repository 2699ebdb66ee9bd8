#include "ilu0_times.hpp"

#include "base/recording.hpp"
#include "sparse/ilu0.hpp"
#include "sparse/permute.hpp"

#include <algorithm>
#include <string>

namespace amgkit::bench
{
namespace
{
template <class Ex> struct Timer {
  Ex &ex;
  PetscInt repeat, samples;
  Array<double, Ex> b, x;

  PetscErrorCode wait()
  {
    double value;
    return memory_to_host(ex, &value, x.data(), sizeof(double));
  }
  template <class Call> PetscErrorCode best(PetscInt calls, const std::string &what, Call call)
  {
    double seconds = PETSC_MAX_REAL;

    PetscFunctionBegin;
    PetscCall(call());
    for (PetscInt s = 0; s < samples; s++) {
      PetscCall(wait());
      const double start = MPI_Wtime();
      for (PetscInt r = 0; r < calls; r++) PetscCall(call());
      PetscCall(wait());
      seconds = std::min(seconds, (MPI_Wtime() - start) / static_cast<double>(calls));
    }
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "  %-44s %10.4f ms\n", what.c_str(), 1e3 * seconds));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

template <class Ex> PetscErrorCode time_solves(Timer<Ex> &timer, const std::string &name, Ilu0<Ex> &f, const IluSolve &how)
{
  Ex &ex = timer.ex;
  Recording<Ex> recording;
  const double *b = timer.b.data();
  double *x = timer.x.data();
  const auto work = [&] { return ilu0_solve(ex, f, how, b, x); };

  PetscFunctionBegin;
  PetscCall(timer.best(timer.repeat, name, work));
  if (f.options.kind == IluKind::native && Ex::on_device) {
    PetscCall(recording.record(ex, work));
    PetscCall(timer.best(timer.repeat, name + ", recorded", [&] { return recording.play(ex, work); }));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// So many levels of average size under way at once
template <class Ex> PetscErrorCode time_windows(Timer<Ex> &timer, CsrView<double> A, Ilu0<Ex> &f)
{
  IluReport report;
  const std::int64_t lower = f.lower.at_once, upper = f.upper.at_once;

  PetscFunctionBegin;
  for (double levels : {0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 0.0}) {
    const std::string window = levels > 0 ? std::to_string(levels).substr(0, 4) + " levels at once" : "as much as there is room for";
    f.lower.at_once = f.upper.at_once = static_cast<std::int64_t>(levels * A.rows / std::max(f.lower.levels, 1));
    PetscCall(timer.best(timer.repeat, "apply, " + window, [&] { return ilu0_solve(timer.ex, f, {}, timer.b.data(), timer.x.data()); }));
    PetscCall(timer.best(1, "numeric, " + window, [&] { return ilu0_numeric(timer.ex, A, f, &report); }));
  }
  f.lower.at_once = lower;
  f.upper.at_once = upper;
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode time_kind(Timer<Ex> &timer, IluKind kind, CsrView<double> A)
{
  Ex &ex = timer.ex;
  Ilu0<Ex> f;
  IluReport report;
  const std::string name = kind == IluKind::native ? "native " : "cusparse ";

  PetscFunctionBegin;
  PetscCall(timer.best(1, name + "symbolic", [&] { return ilu0_symbolic(ex, {.kind = kind}, A, f, &report); }));
  PetscCall(timer.best(1, name + "numeric", [&] { return ilu0_numeric(ex, A, f, &report); }));
  PetscCheck(report.fault == IluFault::none, PETSC_COMM_SELF, PETSC_ERR_PLIB, "row %d of a grid has no pivot", report.row);
  PetscCall(time_solves(timer, name + "apply", f, {}));
  PetscCall(timer.best(1, name + "symbolic and numeric, transposed", [&] {
    f.transposed = false;
    return ilu0_transpose(ex, A, f);
  }));
  PetscCall(time_solves(timer, name + "apply, transposed", f, {.transposed = true}));
  if (kind != IluKind::native) PetscFunctionReturn(PETSC_SUCCESS);
  for (int sweeps : {1, 2, 3, 5}) {
    PetscCall(time_solves(timer, name + "apply, sweeps " + std::to_string(sweeps), f, {.sweeps = sweeps}));
  }
  if (Ex::on_device) PetscCall(time_windows(timer, A, f));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "  %d and %d levels; factors and triangles, with the transposed: %.1f MB\n", f.lower.levels,
                        f.upper.levels,
                        1e-6 * static_cast<double>(f.val.bytes() + f.inverse.bytes() + f.between.bytes() + f.lower.bytes() +
                                                   f.upper.bytes() + f.lower_t.bytes() + f.upper_t.bytes())));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode time_kinds(Timer<Ex> &timer, const char *name, CsrView<double> A)
{
  PetscFunctionBegin;
  PetscCall(
      PetscPrintf(PETSC_COMM_SELF, "ILU(0), %s order, %s: %d rows, %lld entries\n", name, Ex::name, A.rows, static_cast<long long>(A.nnz)));
  for (IluKind kind : {IluKind::native, IluKind::cusparse}) {
    if (ilu0_available<Ex>(kind)) PetscCall(time_kind(timer, kind, A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Points with an even sum of coordinates before the others
std::vector<int> red_black(int n)
{
  std::vector<int> order;
  for (int colour : {0, 1}) {
    for (int i = 0; i < n * n * n; i++) {
      if ((i % n + i / n % n + i / n / n) % 2 == colour) order.push_back(i);
    }
  }
  return order;
}
} // namespace

template <class Ex> PetscErrorCode time_ilu0(Ex &ex, int n, const Csr<double, Ex> &A, PetscInt repeat, PetscInt samples)
{
  Timer<Ex> timer{ex, repeat, samples, {}, {}};
  Csr<double, Ex> B;
  Array<int, Ex> order, place, from;

  PetscFunctionBegin;
  PetscCall(upload(ex, std::vector<double>(static_cast<std::size_t>(A.rows), 1), timer.b));
  PetscCall(timer.x.allocate(ex, A.rows));
  PetscCall(time_kinds(timer, "7-point, natural", A.view()));
  PetscCall(upload(ex, red_black(n), order));
  PetscCall(place.allocate(ex, order.size()));
  PetscCall(timer.best(1, "permute", [&] {
    const PetscErrorCode code = invert_permutation(ex, order.size(), order.data(), place.data());
    return code ? code : permute_symmetric(ex, A.view(), order.data(), place.data(), B, from);
  }));
  PetscCall(time_kinds(timer, "7-point, red-black", B.view()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode time_ilu0_of_nodes(Ex &ex, const Csr<double, Ex> &A, PetscInt repeat, PetscInt samples)
{
  Timer<Ex> timer{ex, repeat, samples, {}, {}};

  PetscFunctionBegin;
  PetscCall(upload(ex, std::vector<double>(static_cast<std::size_t>(A.rows), 1), timer.b));
  PetscCall(timer.x.allocate(ex, A.rows));
  PetscCall(time_kinds(timer, "nodes of 3 unknowns, natural", A.view()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define INSTANTIATE(Ex)                                                                                                                    \
  template PetscErrorCode time_ilu0(Ex &, int, const Csr<double, Ex> &, PetscInt, PetscInt);                                               \
  template PetscErrorCode time_ilu0_of_nodes(Ex &, const Csr<double, Ex> &, PetscInt, PetscInt);
AMGKIT_FOR_ALL_SPACES(INSTANTIATE)
#undef INSTANTIATE
} // namespace amgkit::bench
