// l1-Jacobi: x <- x + D (b - A x), D_ii = sign(a_ii) / sum_j |a_ij|. Converges for every symmetric definite A
// (Baker, Falgout, Kolev, Yang 2011).
#pragma once
#include "amg/level.hpp"
#include "sparse/spmv.hpp"

namespace amgkit
{
// The first sweep on a zero guess, which needs no product: x = D b
template <class Ex> PetscErrorCode first_sweep(Ex &ex, const Level<Ex> &level, const double *b, double *x)
{
  return scale(ex, level.A.rows, level.l1.data(), b, x);
}
// to = one sweep on from; to must not be from
template <class Ex> PetscErrorCode sweep(Ex &ex, Level<Ex> &level, const double *b, const double *from, double *to)
{
  return level.A.jacobi_sweep(ex, level.l1.data(), b, from, to);
}
} // namespace amgkit
