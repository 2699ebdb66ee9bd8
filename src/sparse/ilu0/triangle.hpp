// Triangular matrices that are solved with again and again, and the order in which that can be done.
//
// Row i's level is 1 more than the highest level of the rows it needs, 0 where it needs none. A triangle's rows are stored by levels, short
// ones before long ones within one, and its columns and cells are numbered alike: the rows of a level read what lies together, and take
// equally long. A solve is one launch without barriers, see base/ordered_rows.hpp: the solution's entries tell by themselves that they are
// there.
//
// What binds is the chain through the levels: 7-point 128³ has 382, and a lower and an upper solve are 764 steps of a write and a read of
// the GPU's second-level cache, 0.5 microseconds or so each. The bytes, 12 an entry and 32 a row, 0.22 GB for both, take 0.06 ms on an
// H200.
#pragma once
#include "base/array.hpp"

namespace amgkit
{
// Which part of a square matrix: of the rows and columns first <= i < first + rows, the entries below the diagonal, or those above it.
struct TriangleShape {
  bool lower = true;
  int first = 0, rows = 0;
};

// Place p of the order is the part's row row[p] - first; its entries have places as columns.
template <class Ex> struct Triangle {
  TriangleShape shape;
  int levels = 0;
  std::int64_t at_once = 0;           // Cuda: rows of a solve under way; those that wait read, and so are in the way of others
  Array<int, Ex> row, ptr, col, from; // entry k is the matrix's entry from[k]
  Array<double, Ex> val, scale;       // scale: 1 / t_ii of each place's row; empty: the diagonal is 1
  Array<double, Ex> cells, other;     // of a solve, of sweeps
  Array<unsigned, Ex> tickets;

  std::int64_t width() const { return levels > 0 ? shape.rows / levels : 0; } // rows of a level, on average
  std::size_t bytes() const
  {
    return row.bytes() + ptr.bytes() + col.bytes() + from.bytes() + val.bytes() + scale.bytes() + cells.bytes() + other.bytes();
  }
};

// All but the values. Columns of A ascend; reads no values of it. Waits.
template <class Ex> PetscErrorCode triangle_symbolic(Ex &, TriangleShape, CsrView<double> A, Triangle<Ex> &T);
// The values: those of the matrix's entries, and 1 / t_ii for all its rows; inverse = nullptr: the diagonal is 1. Allocates at first only.
template <class Ex> PetscErrorCode triangle_numeric(Ex &, const double *val, const double *inverse, Triangle<Ex> &T);
// x = T⁻¹ b for vectors of the part's rows; x may be b. x_i = (b_i - t_ij x_j - ...) / t_ii in the order of the entries, in double, with
// the same bits in all spaces.
template <class Ex, class V> PetscErrorCode triangle_solve(Ex &, Triangle<Ex> &T, const V *b, V *x);
// Approximately, by so many Jacobi sweeps x <- D⁻¹ (b - (T - D) x) from x = 0: as many as there are levels give the bits of the solve.
// Takes memory for them at the first call.
template <class Ex, class V> PetscErrorCode triangle_sweeps(Ex &, int sweeps, Triangle<Ex> &T, const V *b, V *x);
} // namespace amgkit
