// The vector work of the K-cycle: at most two steps of a flexible Krylov method on A x = r, preconditioned by the cycle.
//
// c_k = B r_k, v_k = A c_k, r_2 = r_1 - (alpha_1 / rho_1) v_1. With u_k = c_k (flexible CG) or u_k = v_k (GCR):
//   rho_1 = u_1·v_1, alpha_1 = u_1·r_1, beta = u_2·v_2, alpha_2 = u_2·r_2, gamma = u_2·v_1, rho_2 = beta - gamma² / rho_1,
//   x = (alpha_1 / rho_1 - gamma alpha_2 / (rho_1 rho_2)) c_1 + (alpha_2 / rho_2) c_2,
// but x = (alpha_1 / rho_1) c_1 if |r_2| <= 0.25 |r_1|.
// Notay, Vassilevski: Recursive Krylov-based multigrid cycles, 2008; Emans, algorithm 2. All scalars stay in the space's memory.
#pragma once
#include "base/array.hpp"
#include "sparse/formats/spmv.hpp"

namespace amgkit
{
// The sums are those of the two products, v_1 = A c_1 with r_1 and v_2 = A c_2 with r_2 and v_1: five and three ProductSums.
inline constexpr int kcycle_first_sums = 5, kcycle_sums = 8;
inline constexpr int kcycle_test_steps = 6; // of a test that keeps the first five sums of each step

// What the K-cycle keeps on a level; the second correction serves the cycles w and f as well.
template <class Ex> struct KCycle {
  Array<double, Ex> v, c;       // v_1, c_2; in single precision their first halves
  Array<double, Ex> work, sums; // for ProductSums; the scalars

  PetscErrorCode allocate(Ex &, int rows);
  std::size_t bytes() const { return v.bytes() + c.bytes() + work.bytes() + sums.bytes(); }
};

// Of vectors in float or double, V. r_1 becomes r_2; and step, of r_2
template <class Ex, class V>
PetscErrorCode kcycle_residual(Ex &, std::int64_t n, const V *v, const double *sums, V *r, const FirstStep<V> &step);
// c_1 becomes x
template <class Ex, class V> PetscErrorCode kcycle_combine(Ex &, std::int64_t n, const double *sums, const V *c2, V *c1);
} // namespace amgkit
