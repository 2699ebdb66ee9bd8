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
  AMGKIT_FN void operator()(std::int64_t i, V b) const
  {
    if (x) x[i] = static_cast<V>(factor * (rounded ? rounded[i] : d[i]) * b);
  }
};
} // namespace amgkit
