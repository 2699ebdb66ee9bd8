// The parameters of PCILU2LEVEL.
#pragma once
#include "base/parameters.hpp"
#include "ilu/ordering.hpp"
#include "sparse/ilu0/ilu0.hpp"

namespace amgkit
{
enum class SchurKind { schur, rap };
enum class TriangularSolve { exact, jacobi };

struct IluParameters {
  PetscInt levels = 1;
  SchurKind type = SchurKind::schur;
  PetscInt schur_its = 5;
  TriangularSolve triangular_solve = TriangularSolve::exact;
  PetscInt triangular_sweeps = 5;
  OrderingKind ordering = OrderingKind::natural;
  IluShift shift_type = IluShift::none;
  PetscReal shift_amount = IluOptions{}.shift_amount, zero_pivot = IluOptions{}.zero_pivot;
  IluKind factorization = IluKind::native;
  SpaceKind space = SpaceKind::automatic;
  Consolidation consolidation;

  IluOptions options() const
  {
    return {.kind = factorization, .shift = shift_type, .zero_pivot = zero_pivot, .shift_amount = shift_amount, .sweeps = sweeps() > 0};
  }
  // Of Jacobi's method for each triangle; 0: exact solves
  int sweeps() const { return triangular_solve == TriangularSolve::jacobi ? static_cast<int>(triangular_sweeps) : 0; }

  ParameterList list() { return joined(method_list(), consolidation.list()); }

private:
  ParameterList method_list()
  {
    return {
        {"levels", IntegerRange{&levels, 1, 2}, "Levels: 1 is block Jacobi with ILU(0), 2 also solves for the coupling of the processes",
         "One level is ILU(0) of each process's own rows and columns, without the entries that couple it with others. With two levels, the "
         "rows that are coupled with other processes are solved for together, by schur_its steps of GMRES for their Schur complement. A "
         "flexible Krylov method then takes fewer iterations, but on GPUs, and on few processes, more time. On one process, one level and "
         "two are the same.",
         "hypre ILU"},
        {"type", choice(&type, {"schur", "rap"}), "Two levels: the Schur complement, from the factors (schur) or as R A P (rap)",
         "The interpolation P of rap solves with the factors of the interior rows.", "hypre ILU"},
        {"schur_its", IntegerRange{&schur_its, 1, 100}, "Two levels: number of GMRES steps for the Schur complement", "", "hypre ILU"},
        {"triangular_solve", choice(&triangular_solve, {"exact", "jacobi"}),
         "Solve with the factors L and U exactly, or by Jacobi's method",
         "Jacobi's method takes triangular_sweeps steps, in which no row waits for another.", "Chow, Patel 2015"},
        {"triangular_sweeps", IntegerRange{&triangular_sweeps, 1, 1000},
         "Number of steps of Jacobi's method for each of the factors L and U"},
        {"ordering", choice(&ordering, {"natural", "rcm", "multicolor"}), "Order in which each process factorizes its rows",
         "The order natural is that of the matrix, and rcm is reverse Cuthill-McKee. With multicolor, the rows are sorted by colours: a "
         "solve takes few large steps, but the KSP takes more iterations."},
        {"shift_type", choice(&shift_type, {"none", "nonzero", "positive_definite", "inblocks"}), "What to do about a zero pivot",
         "With none, the KSP ends with KSP_DIVERGED_PC_FAILED. With nonzero, the factorization begins again with shift_amount added to the "
         "whole diagonal, then with twice that, and so on. With positive_definite, it begins again with a diagonal as dominant as "
         "necessary. With inblocks, shift_amount is added to the pivot.",
         "PETSc MatFactorShiftType"},
        {"shift_amount", RealRange{&shift_amount, 0, 1e30}, "Amount to add to the diagonal after a zero pivot",
         "The option shift_type chooses how. The default is 100 times the machine epsilon.", "PETSc PCFactorSetShiftAmount"},
        {"zero_pivot", RealRange{&zero_pivot, 0, 1e30},
         "A pivot is zero if it is at most this times the largest entry of its row of the matrix",
         "Absolute values are compared. PETSc's ILU compares pivots with this number itself. The default is 100 times the machine epsilon.",
         "PETSc PCFactorSetZeroPivot"},
        {"factorization", choice(&factorization, {"native", "cusparse"}), "Library that factorizes the matrix and solves with the factors",
         "With native it is AMGKit itself. With cusparse it is cuSPARSE, on GPUs, without shifts and Jacobi steps."},
        space_parameter(&space),
    };
  }
};
} // namespace amgkit
