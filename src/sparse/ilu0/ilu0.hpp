// Incomplete LU factors of one rank's square block, on the pattern of the block: ILU(0). L has a unit diagonal; (L U)_ij = a_ij wherever A
// has an entry.
//
// Row by row: for the entries k < i of row i, ascending, l_ik = a_ik (1 / u_kk) and a_ij -= l_ik u_kj wherever row i has an entry j > k.
// The operations and their order are those of PETSc's ILU in natural order, and so are its bits on a host; native gives them in all spaces.
//
// On a GPU the factorisation is one launch, as a triangular solve is, see triangle.hpp; where none has more than 256 entries, rows are
// eliminated in scratch memory, see ilu0_elimination.hpp.
#pragma once
#include "sparse/ilu0/triangle.hpp"

#include <memory>

namespace amgkit
{
// native: ours, in every space. cusparse: cuSPARSE's csrilu02 and SpSV, on Cuda: no shifts, vectors of doubles, exact solves.
enum class IluKind { native, cusparse };

// What is done about a zero pivot, one with |u_ii| <= zero_pivot max_j |a_ij|, after PETSc's MatFactorShiftType. none: it is a fault.
// nonzero: begins again with shift_amount added to the whole diagonal, then twice that, and so on. positive_definite, where u_ii <= the
// same is zero: with 1/2, 3/4, ... (and 1 at last) of 1.1 times the largest sum of a row's |a_ij| - a_ii, then by bisection as little as
// suffices, in 5 steps in all. inblocks: adds shift_amount to the pivot.
//
// PETSc compares |u_ii| with zero_pivot itself, so that the units of A decide. Here D A has the zero pivots of A for any diagonal D.
// Shifts are in the units of A. Whether one of the whole diagonal suffices is PETSc's test: |u_ii|, or u_ii, is then compared with
// zero_pivot times the absolute sum of the factors' row without u_ii.
enum class IluShift { none, nonzero, positive_definite, inblocks };

struct IluOptions {
  IluKind kind = IluKind::native;
  IluShift shift = IluShift::none;
  double zero_pivot = 2.220446049250313e-14, shift_amount = 2.220446049250313e-14; // PETSc's: 100 times the machine's epsilon
  bool sweeps = false; // takes memory for them at once, not when they are first asked for; an error with cusparse
  bool solves = true;  // ilu0_solve() and ilu0_transpose() may be called; else nothing is kept for them
};

enum class IluFault { none, no_diagonal, zero_pivot, not_finite };
struct IluReport {
  IluFault fault = IluFault::none;
  int row = -1;            // the first with the fault
  int shifts = 0;          // how often the factorisation began anew, or pivots that were shifted
  double shift_amount = 0; // that the whole diagonal has got
};

// What a back end other than native keeps.
struct IluState {
  IluState() = default;
  IluState(const IluState &) = delete;
  IluState &operator=(const IluState &) = delete;
  virtual ~IluState() = default;
  virtual std::size_t bytes() const = 0;
};

template <class Ex> struct Ilu0 {
  IluOptions options;
  int rows = 0;
  int longest = 0; // native: entries of the longest row
  std::int64_t nnz = 0;
  Array<int, Ex> diagonal, status; // positions of a_ii
  Array<double, Ex> val, inverse;  // in A's pattern L below, U on and above the diagonal; 1 / u_ii
  Triangle<Ex> lower, upper;       // native: L, U
  Triangle<Ex> upper_t, lower_t;   // native, once ilu0_transpose() was called: U', L' transposed
  Array<double, Ex> between;       // the first of two solves
  bool transposed = false;
  std::unique_ptr<IluState> state;

  std::size_t bytes() const
  {
    return diagonal.bytes() + status.bytes() + val.bytes() + inverse.bytes() + between.bytes() + lower.bytes() + upper.bytes() +
           upper_t.bytes() + lower_t.bytes() + (state ? state->bytes() : 0);
  }
};

// Whether this build has the back end for the space.
template <class Ex> bool ilu0_available(IluKind);

// Everything but values, of which it reads none. A's columns ascend. A row without a diagonal entry is a fault; the factors are then
// undefined. Waits. Errors: PETSC_ERR_ARG_SIZ for a rectangle, PETSC_ERR_SUP for what a back end cannot do, PETSC_ERR_MEM.
template <class Ex> PetscErrorCode ilu0_symbolic(Ex &, const IluOptions &, CsrView<double> A, Ilu0<Ex> &, IluReport *);
// The factors, as often as wanted, of any values of the pattern. After a fault they are undefined, and other values may follow. Waits.
template <class Ex> PetscErrorCode ilu0_numeric(Ex &, CsrView<double> A, Ilu0<Ex> &, IluReport *);
// Prepares transposed solves, with these factors and later ones: doubles what is stored. Once; waits.
template <class Ex> PetscErrorCode ilu0_transpose(Ex &, CsrView<double> A, Ilu0<Ex> &);

struct IluSolve {
  bool transposed = false;
  int sweeps = 0; // of Jacobi's method for each of the two triangles, 0: exactly
};
// x = U⁻¹ L⁻¹ b, or transposed x = L⁻ᵀ U⁻ᵀ b; x may be b. Neither waits nor, but for the first sweeps, allocates.
template <class Ex, class V> PetscErrorCode ilu0_solve(Ex &, Ilu0<Ex> &, const IluSolve &, const V *b, V *x);
} // namespace amgkit
