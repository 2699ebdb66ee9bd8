// Truncation of a prolongator's rows: entries with |p| < factor max |p| go, of the others the `most` largest stay, of equal ones those in
// smaller columns; what stays is scaled so that the row keeps its sum.
#pragma once
#include "base/array.hpp"

namespace amgkit
{
struct Truncation {
  double factor = 0;
  int most = 4; // 0: all
};

// keep[k] <- 1 for the entries that stay, else 0
template <class Ex> PetscErrorCode mark_largest(Ex &, CsrView<double> P, Truncation, unsigned char *keep);
// scale[i] <- sum of row i / sum of its entries that stay, both in the entries' order; 1 where the latter is 0
template <class Ex> PetscErrorCode scales_of_truncation(Ex &, CsrView<double> P, const unsigned char *keep, double *scale);
} // namespace amgkit
