// What the kernels of products sum over rows.
#pragma once
#include "base/parallel.hpp"
#include "sparse/formats/spmv.hpp"

namespace amgkit
{
// What ProductSums say of a row, read before its y_i is known
template <class V> struct ProductTerms {
  V x, r, z;
};
template <int N, class V> AMGKIT_FN ProductTerms<V> read_terms(const ProductSums<N, V> &sums, const V *x, std::int64_t i)
{
  return {x[i], sums.r[i], N == 3 ? sums.z[i] : V{0}};
}
template <int N, class V> AMGKIT_FN Sums<N> terms_of(const ProductSums<N, V> &sums, const ProductTerms<V> &at, V y_i)
{
  static_assert(N == 2 || N == 3 || N == 5);
  const double y = y_i, r = at.r, u = sums.of_y ? y : at.x;
  if constexpr (N == 2)
    return {{u * y, u * r}};
  else if constexpr (N == 3)
    return {{u * y, u * r, u * at.z}};
  else
    return {{u * y, u * r, r * r, r * y, y * y}};
}
} // namespace amgkit
