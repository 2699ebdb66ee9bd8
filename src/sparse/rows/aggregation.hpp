// A partition of rows into aggregates, some rows perhaps in none, and the prolongator with one entry a row that goes with it:
// P has p_i in row i and column id[i], and nothing in the rows that belong to no aggregate. p may be nullptr: all p_i = 1.
#pragma once
#include "base/array.hpp"
#include "sparse/rows/first_step.hpp"

namespace amgkit
{
// Numbers that are stored, or else ones.
template <class V> struct OrOnes {
  const V *stored;
  AMGKIT_FN V operator[](std::int64_t i) const { return stored ? stored[i] : V{1}; }
};
// w_i a w_j for both orders of i and j to the same bits
AMGKIT_FN inline double scaled(OrOnes<double> w, double a, int i, int j) { return i < j ? w[i] * a * w[j] : w[j] * a * w[i]; }

template <class Ex> struct Aggregation {
  int fine = 0, coarse = 0;
  Array<int, Ex> id;          // aggregate of each row, 0 <= id < coarse, or -1: in none
  Array<int, Ex> ptr, member; // its inverse: rows of aggregate I are member[ptr[I]], ..., in a fixed order

  std::size_t bytes() const { return id.bytes() + ptr.bytes() + member.bytes(); }
};

// b = Pᵀ r, V float or double; and step, of b
template <class Ex, class V>
PetscErrorCode restrict_sum(Ex &, const Aggregation<Ex> &, const V *p, const V *r, V *b, const FirstStep<V> &step);
// x += P e
template <class Ex, class V> PetscErrorCode prolongate_add(Ex &, const Aggregation<Ex> &, const V *p, const V *e, V *x);
} // namespace amgkit
