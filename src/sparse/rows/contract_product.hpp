// What contract()'s kernels, and those of a plain host in contract_marks.hpp, read.
#pragma once
#include "base/parallel.hpp"
#include "sparse/rows/contract.hpp"

namespace amgkit
{
namespace
{
// The operands of contract(), for kernels.
struct Product {
  CsrView<double> A;
  const int *ptr, *member; // of the row aggregates
  OrOnes<double> p, q;
  const int *column_id;

  // Entries of the r-th row of aggregate I
  AMGKIT_FN Segment row(std::int64_t I, int r) const
  {
    const int i = member[ptr[I] + r];
    return {A.ptr[i], A.ptr[i + 1]};
  }
};

// No slot and no place has this number: both fit a byte.
constexpr int nowhere = 255;
} // namespace
} // namespace amgkit
