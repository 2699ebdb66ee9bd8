// The parameters of PCILU2LEVEL.
#pragma once
#include "base/parameters.hpp"
#include "ilu/ordering.hpp"
#include "sparse/ilu0.hpp"

namespace amgkit
{
enum class SchurKind : int { schur, rap };
enum class TriangularSolve : int { exact, jacobi };

struct IluParameters {
  PetscInt levels = 1;
  int type = static_cast<int>(SchurKind::schur);
  PetscInt schur_its = 5;
  int triangular_solve = static_cast<int>(TriangularSolve::exact);
  PetscInt triangular_sweeps = 5;
  int ordering = static_cast<int>(OrderingKind::natural);
  int shift_type = static_cast<int>(IluShift::none);
  PetscReal shift_amount = IluOptions{}.shift_amount, zero_pivot = IluOptions{}.zero_pivot;
  int factorization = static_cast<int>(IluKind::native);
  int space = static_cast<int>(SpaceKind::automatic);

  IluOptions options() const
  {
    return {.kind = static_cast<IluKind>(factorization),
            .shift = static_cast<IluShift>(shift_type),
            .zero_pivot = zero_pivot,
            .shift_amount = shift_amount,
            .sweeps = sweeps() > 0};
  }
  // Of Jacobi's method for each triangle; 0: exact solves
  int sweeps() const { return triangular_solve == static_cast<int>(TriangularSolve::jacobi) ? static_cast<int>(triangular_sweeps) : 0; }

  ParameterList list()
  {
    return {
        {"levels", IntegerRange{&levels, 1, 2},
         "1: ILU(0) of each process's own rows and columns, the others left out, which is block Jacobi. 2: the rows that are coupled with "
         "other processes are solved for together, by schur_its steps of GMRES for their Schur complement: fewer iterations of a flexible "
         "method, which on GPUs and on few processes take longer all the same. On one process both are the same",
         "hypre ILU"},
        {"type", Choice{&type, {"schur", "rap"}},
         "With two levels, the Schur complement: schur, from the factors; rap, as R A P with the interpolation that solves with the "
         "interior rows' factors",
         "hypre ILU"},
        {"schur_its", IntegerRange{&schur_its, 1, 100}, "With two levels, steps of GMRES for the Schur complement", "hypre ILU"},
        {"triangular_solve", Choice{&triangular_solve, {"exact", "jacobi"}},
         "How L and U are solved with: exactly, or by triangular_sweeps steps of Jacobi's method, which need not wait for one another's "
         "rows",
         "Chow, Patel 2015"},
        {"triangular_sweeps", IntegerRange{&triangular_sweeps, 1, 1000}, "Jacobi steps for each triangle", ""},
        {"ordering", Choice{&ordering, {"natural", "rcm", "multicolor"}},
         "Of a process's rows: as they are numbered; reverse Cuthill-McKee; or by colours, so that the solves are few large steps, "
         "for more iterations",
         ""},
        {"shift_type", Choice{&shift_type, {"none", "nonzero", "positive_definite", "inblocks"}},
         "What is done about a zero pivot: nothing, the KSP ends with KSP_DIVERGED_PC_FAILED; nonzero, again with shift_amount, "
         "twice that, ... on the whole diagonal; positive_definite, again with a diagonal as dominant as it takes; inblocks, shift_amount "
         "is added to "
         "that pivot",
         "PETSc MatFactorShiftType"},
        {"shift_amount", RealRange{&shift_amount, 0, 1e30}, "See shift_type", "PETSc PCFactorSetShiftAmount"},
        {"zero_pivot", RealRange{&zero_pivot, 0, 1e30},
         "A pivot is zero when it is not larger in size than this times the largest entry of its row of the matrix; PETSc's ILU compares "
         "it with this number itself",
         "PETSc PCFactorSetZeroPivot"},
        {"factorization", Choice{&factorization, {"native", "cusparse"}},
         "Whose factorization and solves: this library's, or cuSPARSE's, on GPUs, without shifts and Jacobi steps", ""},
        {"space", Choice{&space, {"auto", "host", "debug"}},
         "Where to run: auto follows the matrix; host forces the CPU; debug is the CPU with shuffled loops and poisoned memory", ""},
    };
  }
};
} // namespace amgkit
