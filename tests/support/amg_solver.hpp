// A hierarchy with the cycle that applies it, of a host matrix distributed over the ranks.
#pragma once
#include "amg/cycle.hpp"
#include "support/petsc_problems.hpp"
#include "support/vectors.hpp"

namespace amgkit::test
{
template <class Ex> struct AmgSolver {
  OwnedMat A;
  AmgParameters parameters;
  Hierarchy<Ex> hierarchy;
  Cycle<Ex> cycle{hierarchy, parameters};

  // Vectors are in single precision wherever they may be, however few rows there are.
  // bs: unknowns a node; local_rows < 0: as many nodes on each rank as PETSc decides.
  PetscErrorCode create(Ex &ex, const HostCsr &M, const AmgParameters &p, Prolongation<Ex> &prolongation, PetscInt bs = 1,
                        PetscInt local_rows = -1)
  {
    PetscFunctionBegin;
    parameters = p;
    parameters.rows_worth_single = parameters.rows_worth_rounding = 0;
    PetscInt mine = PETSC_DECIDE, nodes = M.rows / bs;
    PetscCall(PetscSplitOwnership(PETSC_COMM_WORLD, &mine, &nodes));
    PetscCall(distribute(M, Ex::on_device, A.out(), local_rows < 0 ? bs * mine : local_rows));
    PetscCall(MatSetBlockSize(A, bs));
    PetscCall(hierarchy.build(ex, A, parameters, prolongation));
    PetscCall(cycle.prepare(ex));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode refresh(Ex &ex, bool *fits)
  {
    PetscFunctionBegin;
    PetscCall(hierarchy.refresh(ex, parameters, fits));
    if (*fits) PetscCall(cycle.prepare(ex));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  int rows() const { return hierarchy.levels.front()->A.rows; }
  PetscInt first() const { return hierarchy.levels.front()->A.range.first(); }
  // Of this rank's rows
  std::vector<double> wave(double step) const
  {
    const auto all = test::wave(first() + rows(), step);
    return {all.begin() + first(), all.end()};
  }
  // x = B b, x = Bᵀ b
  PetscErrorCode apply(Ex &ex, CycleChoice choice, const std::vector<double> &b, std::vector<double> &x)
  {
    return call(ex, b, x, [&](const double *B, double *X) { return cycle.apply(ex, choice, B, X); });
  }
  PetscErrorCode apply_transposed(Ex &ex, CycleKind kind, const std::vector<double> &b, std::vector<double> &x)
  {
    return call(ex, b, x, [&](const double *B, double *X) { return cycle.apply_transposed(ex, kind, B, X); });
  }

private:
  template <class F> PetscErrorCode call(Ex &ex, const std::vector<double> &b, std::vector<double> &x, F f)
  {
    const ReleaseAtEnd<Ex> at_end(hierarchy.finest);
    Array<double, Ex> B, X;

    PetscFunctionBegin;
    PetscCall(upload(ex, b, B));
    PetscCall(upload(ex, b, X));
    PetscCall(hierarchy.finest.access(ex, hierarchy.levels.front()->A));
    PetscCall(f(B.data(), X.data()));
    PetscCall(download(ex, X.data(), X.size(), x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};
} // namespace amgkit::test
