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

// A rank's rows: own's columns stand behind those of the first `before` columns of ghosts and before those of its others.
struct RoundedRows {
  CsrView<double> own, ghosts;
  int before;
  double *own_val, *ghost_val;
};
// Rounds the entries to multiples of q = 2^(e-23), 2^e > max |p| of the row, and gives what the row's sum lacks to the first of the
// largest: all fit in single precision, and the new sum is the old one, to the next multiple: 1 stays 1, without which a singular matrix's
// coarse ones were not singular. No entry of a row moves by more than q / 2 but that one, by (n + 1) q / 2.
template <class Ex> PetscErrorCode round_rows(Ex &, const RoundedRows &);
} // namespace amgkit
