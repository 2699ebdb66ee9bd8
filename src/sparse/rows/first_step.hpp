// A smoother's first step.
#pragma once
#include "base/space.hpp"

namespace amgkit
{
// x_i = factor d_i b_i, the first step from a zero guess, taken by what makes b, entry by entry: one launch and one reading of b fewer.
// D has entries of one kind. With x = nullptr nothing is done.
template <class V> struct FirstStep {
  int rows = 0;
  double factor = 0;
  const double *d = nullptr;
  const float *rounded = nullptr;
  V *x = nullptr;
  AMGKIT_FN void operator()(std::int64_t i, V b) const { take(i, scaling(i), b); }
  // The same in two parts, for kernels that read all they need before they write.
  AMGKIT_FN double scaling(std::int64_t i) const { return !x ? 0 : rounded ? rounded[i] : d[i]; }
  AMGKIT_FN void take(std::int64_t i, double d_i, V b) const
  {
    if (x) x[i] = static_cast<V>(factor * d_i * b);
  }
};
} // namespace amgkit
