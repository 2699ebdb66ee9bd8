// Vectors that the errors left by a smoother resemble, several side by side: B[i * m + k] is row i of vector k.
#pragma once
#include "base/array.hpp"

namespace amgkit
{
// B[i * m + k] <- x[i], or 1 where x is nullptr
template <class Ex> PetscErrorCode set_vector(Ex &, std::int64_t n, const double *x, int m, int k, double *B);

// x[i] <- B[i * m + k]
template <class Ex> PetscErrorCode get_vector(Ex &, std::int64_t n, int m, int k, const double *B, double *x);
// x[i] <- the sum of the first `count` vectors
template <class Ex> PetscErrorCode sum_of_vectors(Ex &, std::int64_t n, int m, int count, const double *B, double *x);

// m = bs: vector k is 1 in the rows bs I + k, else 0.
template <class Ex> PetscErrorCode constants_of_components(Ex &, std::int64_t n, int bs, double *B);

// *same: of B's first bs vectors, all nodes of bs rows have what the first one has, but for rounding. n > 0. Waits.
inline constexpr double same_constant = 1e-12;
template <class Ex> PetscErrorCode repeats_first_node(Ex &, std::int64_t n, int bs, int m, const double *B, bool *same);

// The displacements that deform nothing of nodes with `dim` rows each, at x[dim I], ...: dim translations; then r = x turned,
// dim = 2, m = 3: (-y, x); dim = 3, m = 6: e_x × r = (0, -z, y), e_y × r = (z, 0, -x), e_z × r = (-y, x, 0).
template <class Ex> PetscErrorCode rigid_body_modes(Ex &, std::int64_t nodes, int dim, const double *x, double *B);

// *first <- the first i where x[i] is NaN, infinite or of a square that is nearly so; n: none. Waits.
inline constexpr double largest_square = 1e300;
template <class Ex> PetscErrorCode first_not_finite(Ex &, std::int64_t n, const double *x, std::int64_t *first);
} // namespace amgkit
