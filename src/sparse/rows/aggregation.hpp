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

// Whole numbers, -1 or more: in 32 bits, or 16 bits over a base for each 64 of them.
struct Numbers {
  static constexpr int of_a_base = 64, none = 65535; // none: -1
  const int *whole;
  const unsigned short *over; // nullptr: there are none
  const int *base;
  AMGKIT_FN int operator[](std::int64_t i) const
  {
    if (!over) return whole[i];
    const int above = over[i];
    return above == none ? -1 : base[i / of_a_base] + above;
  }
};
template <class Ex> struct ShortNumbers {
  Array<unsigned short, Ex> over;
  Array<int, Ex> base;

  std::size_t bytes() const { return over.bytes() + base.bytes(); }
};

template <class Ex> struct Aggregation {
  int fine = 0, coarse = 0;
  Array<int, Ex> id;                       // aggregate of each row, 0 <= id < coarse, or -1: in none
  Array<int, Ex> ptr, member;              // its inverse: rows of aggregate I are member[ptr[I]], ..., in a fixed order
  ShortNumbers<Ex> short_id, short_member; // the same, or empty; see shorten()

  Numbers ids() const { return {id.data(), short_id.over.data(), short_id.base.data()}; }
  Numbers members() const { return {member.data(), short_member.over.data(), short_member.base.data()}; }
  std::size_t bytes() const { return id.bytes() + ptr.bytes() + member.bytes() + short_id.bytes() + short_member.bytes(); }
};

// id and member in 16 bits besides, each where all 64 numbers of a base are close enough: restrict_sum() and prolongate_add() then read 2
// bytes less a row. Waits.
template <class Ex> PetscErrorCode shorten(Ex &, Aggregation<Ex> &);

// b = Pᵀ r, V float or double; and step, of b
template <class Ex, class V>
PetscErrorCode restrict_sum(Ex &, const Aggregation<Ex> &, const V *p, const V *r, V *b, const FirstStep<V> &step);
// x += P e
template <class Ex, class V> PetscErrorCode prolongate_add(Ex &, const Aggregation<Ex> &, const V *p, const V *e, V *x);
} // namespace amgkit
