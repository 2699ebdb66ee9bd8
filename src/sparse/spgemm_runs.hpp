// Patterns whose columns come in complete aligned runs, from columns to runs and back.
#pragma once
#include "base/parallel.hpp"

namespace amgkit::spgemm
{
// The runs that B's rows have, without values. B has entries.
template <class Ex> PetscErrorCode find_runs(Ex &ex, const CsrView<double> &B, int run, Csr<double, Ex> &runs)
{
  Array<unsigned, Ex> flag;
  const int *ptr = B.ptr, *col = B.col;
  unsigned broken = 0;

  PetscFunctionBegin;
  runs.rows = B.rows;
  runs.cols = B.cols / run;
  PetscCall(flag.allocate(ex, 1));
  PetscCall(memory_zero(ex, flag.data(), flag.bytes()));
  PetscCall(runs.ptr.allocate(ex, std::int64_t{B.rows} + 1));
  PetscCall(runs.col.allocate(ex, B.nnz / run));
  int *run_ptr = runs.ptr.data(), *run_col = runs.col.data();
  unsigned *is_broken = flag.data();
  PetscCall(for_each(ex, std::int64_t{B.rows} + 1, [=] AMGKIT_FN(std::int64_t j) {
    if (ptr[j] % run != 0) atomic_or(is_broken, 1);
    run_ptr[j] = ptr[j] / run;
  }));
  PetscCall(for_each(ex, runs.col.size(), [=] AMGKIT_FN(std::int64_t q) {
    const int first = col[q * run];
    bool whole = first % run == 0;
    for (int c = 1; c < run; c++) whole = whole && col[q * run + c] == first + c;
    if (!whole) atomic_or(is_broken, 1);
    run_col[q] = first / run;
  }));
  PetscCall(memory_to_host(ex, &broken, flag.data(), flag.bytes()));
  PetscCheck(!broken, PETSC_COMM_SELF, PETSC_ERR_ARG_INCOMP, "The right factor's columns do not come in complete aligned runs of %d", run);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// C.ptr counts runs, columns are runs: C's entries instead.
template <class Ex> PetscErrorCode write_runs(Ex &ex, int run, const Array<int, Ex> &columns, Csr<double, Ex> &C)
{
  PetscFunctionBegin;
  PetscCall(C.col.allocate(ex, columns.size() * run));
  const int *from = columns.data();
  int *ptr = C.ptr.data(), *col = C.col.data();
  PetscCall(for_each(ex, C.col.size(), [=] AMGKIT_FN(std::int64_t k) {
    const int entry = static_cast<int>(k), t = entry / run;
    col[k] = run * from[t] + entry - run * t;
  }));
  PetscCall(for_each(ex, C.ptr.size(), [=] AMGKIT_FN(std::int64_t i) { ptr[i] *= run; }));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace amgkit::spgemm
