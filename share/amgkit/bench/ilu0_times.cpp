#include "ilu0_times.hpp"

#include "base/recording.hpp"
#include "sparse/ilu0/ilu0.hpp"
#include "sparse/ilu0/permute.hpp"

#include <algorithm>
#include <numeric>
#include <random>

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
  if (f.options.kind == IluKind::native && Ex::on_device)
    PetscCall(timer.best(timer.repeat, name + ", recorded", [&] { return recording.play(ex, work); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// So many rows under way at once
template <class Ex> PetscErrorCode time_windows(Timer<Ex> &timer, Ilu0<Ex> &f)
{
  const std::int64_t lower = f.lower.at_once, upper = f.upper.at_once;

  PetscFunctionBegin;
  for (int rows : {1500, 3000, 6000, 18000, 44000, 110000, 0}) {
    const std::string window = rows > 0 ? std::to_string(rows) + " rows at once" : "as many as there is room for";
    f.lower.at_once = f.upper.at_once = rows;
    PetscCall(timer.best(timer.repeat, "apply, " + window, [&] { return ilu0_solve(timer.ex, f, {}, timer.b.data(), timer.x.data()); }));
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
  if (Ex::on_device) PetscCall(time_windows(timer, f));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "  %d and %d levels; factors and triangles, with the transposed: %.1f MB\n", f.lower.levels,
                        f.upper.levels,
                        1e-6 * static_cast<double>(f.val.bytes() + f.inverse.bytes() + f.between.bytes() + f.lower.bytes() +
                                                   f.upper.bytes() + f.lower_t.bytes() + f.upper_t.bytes())));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode time_kinds(Timer<Ex> &timer, const std::string &name, CsrView<double> A)
{
  PetscFunctionBegin;
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "ILU(0), %s order, %s: %d rows, %lld entries\n", name.c_str(), Ex::name, A.rows,
                        static_cast<long long>(A.nnz)));
  for (IluKind kind : {IluKind::native, IluKind::cusparse}) {
    if (ilu0_available<Ex>(kind)) PetscCall(time_kind(timer, kind, A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

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

std::vector<int> shuffled(int n)
{
  std::vector<int> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937(1)); // NOLINT(*-msc51-cpp): the same in every run
  return order;
}

template <class Ex>
PetscErrorCode time_ilu0(Ex &ex, const std::string &name, const Csr<double, Ex> &A, const std::vector<RowsInOrder> &orders, PetscInt repeat,
                         PetscInt samples)
{
  Timer<Ex> timer{ex, repeat, samples, {}, {}};

  PetscFunctionBegin;
  PetscCall(upload(ex, std::vector<double>(static_cast<std::size_t>(A.rows), 1), timer.b));
  PetscCall(timer.x.allocate(ex, A.rows));
  PetscCall(time_kinds(timer, name + ", natural", A.view()));
  for (const RowsInOrder &rows : orders) {
    Csr<double, Ex> B;
    Array<int, Ex> order, place, from;
    PetscCall(upload(ex, rows.order, order));
    PetscCall(place.allocate(ex, order.size()));
    PetscCall(timer.best(1, "permute", [&] {
      const PetscErrorCode code = invert_permutation(ex, order.size(), order.data(), place.data());
      return code ? code : permute_symmetric(ex, A.view(), order.data(), place.data(), B, from);
    }));
    PetscCall(time_kinds(timer, name + ", " + rows.name, B.view()));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define INSTANTIATE(Ex)                                                                                                                    \
  template PetscErrorCode time_ilu0(Ex &, const std::string &, const Csr<double, Ex> &, const std::vector<RowsInOrder> &, PetscInt,        \
                                    PetscInt);
AMGKIT_FOR_ALL_SPACES(INSTANTIATE)
#undef INSTANTIATE
} // namespace amgkit::bench
