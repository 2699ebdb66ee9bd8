// The way into a cycle in single precision and out of it.
//
// B (2^e b) = 2^e B b, so the vector b is divided by 2^e > mean |b_i| >= 2^(e - 1) on its way in and the result multiplied by it on its
// way out: as long as the sum of |b_i| is a number, its entries keep their 24 bits down to 1e-38 of
// the mean. No scalar is seen by the host.
#pragma once
#include "base/array.hpp"

namespace amgkit
{
// *norm1 = sum of |b_i| over this rank's rows. work: as sum_into() needs it for one sum.
template <class Ex> PetscErrorCode norm1_of(Ex &, std::int64_t n, const double *b, double *work, double *norm1);
// to = from / 2^e, where *norm1 is that of all `entries` entries of b on all ranks
template <class Ex> PetscErrorCode to_single(Ex &, std::int64_t n, const double *norm1, PetscInt entries, const double *from, float *to);
// to = 2^e from
template <class Ex> PetscErrorCode from_single(Ex &, std::int64_t n, const double *norm1, PetscInt entries, const float *from, double *to);
// to = from; *unfit, in the space's memory, becomes 1 where |from_i| > 1e18 for some i, or NaN: such factors might overflow.
template <class Ex> PetscErrorCode round_factors(Ex &, std::int64_t n, const double *from, float *to, int *unfit);
} // namespace amgkit
