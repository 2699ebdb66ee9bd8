#include "base/parallel.hpp"
#include "sparse/rows/multivector.hpp"

#include <cmath>

namespace amgkit
{
namespace
{
// Component c of e_axis × r
AMGKIT_FN inline double turned(int axis, int c, const double *r)
{
  if (c == axis) return 0;
  const int other = 3 - axis - c; // the third component
  return c == (axis + 1) % 3 ? -r[other] : r[other];
}
} // namespace

template <class Ex> PetscErrorCode set_vector(Ex &ex, std::int64_t n, const double *x, int m, int k, double *B)
{
  return for_each(ex, n, [=] AMGKIT_FN(std::int64_t i) { B[i * m + k] = x ? x[i] : 1; });
}

template <class Ex> PetscErrorCode get_vector(Ex &ex, std::int64_t n, int m, int k, const double *B, double *x)
{
  return for_each(ex, n, [=] AMGKIT_FN(std::int64_t i) { x[i] = B[i * m + k]; });
}

template <class Ex> PetscErrorCode sum_of_vectors(Ex &ex, std::int64_t n, int m, int count, const double *B, double *x)
{
  return for_each(ex, n, [=] AMGKIT_FN(std::int64_t i) {
    double sum = 0;
    for (int k = 0; k < count; k++) sum += B[i * m + k];
    x[i] = sum;
  });
}

template <class Ex> PetscErrorCode constants_of_components(Ex &ex, std::int64_t n, int bs, double *B)
{
  return for_each(ex, n * bs, [=] AMGKIT_FN(std::int64_t at) { B[at] = at / bs % bs == at % bs; });
}

template <class Ex> PetscErrorCode repeats_first_node(Ex &ex, std::int64_t n, int bs, int m, const double *B, bool *same)
{
  int others = 0;

  PetscFunctionBegin;
  PetscCall(reduce<int>(
      ex, n * bs,
      [=] AMGKIT_FN(std::int64_t at) {
        const std::int64_t i = at / bs, k = at % bs;
        const double x = B[i * m + k], first = B[i % bs * m + k];
        return fabs(x - first) <= same_constant * fabs(first) ? 0 : 1;
      },
      0, Or{}, &others));
  *same = others == 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode rigid_body_modes(Ex &ex, std::int64_t nodes, int dim, const double *x, double *B)
{
  const int m = dim == 2 ? 3 : 6;
  return for_each(ex, nodes * dim, [=] AMGKIT_FN(std::int64_t i) {
    const double *r = x + i / dim * dim;
    const int c = static_cast<int>(i % dim);
    double *row = B + i * m;
    for (int k = 0; k < dim; k++) row[k] = k == c;
    for (int k = dim; k < m; k++) row[k] = turned(dim == 2 ? 2 : k - dim, c, r);
  });
}

template <class Ex> PetscErrorCode first_not_finite(Ex &ex, std::int64_t n, const double *x, std::int64_t *first)
{
  return reduce<std::int64_t>(
      ex, n, [=] AMGKIT_FN(std::int64_t i) { return x[i] * x[i] <= largest_square ? n : i; }, n, Min{}, first);
}

AMGKIT_INSTANTIATE(set_vector)
AMGKIT_INSTANTIATE(get_vector)
AMGKIT_INSTANTIATE(sum_of_vectors)
AMGKIT_INSTANTIATE(constants_of_components)
AMGKIT_INSTANTIATE(repeats_first_node)
AMGKIT_INSTANTIATE(rigid_body_modes)
AMGKIT_INSTANTIATE(first_not_finite)
} // namespace amgkit
