// Gauss-Jordan elimination by blocks (Higham 2002, section 14.4). With K the indices of a block, in turn, and P = (A_KK)⁻¹,
//   A_ij <- A_ij - A_iK P A_Kj,   A_Kj <- P A_Kj,   A_iK <- -A_iK P,   A_KK <- P       for i, j not in K,
// after the last block A is its inverse. It is one rule for all entries:
//   A_ij <- base_ij - row_i P column_j,   row_i = A_iK, but -e_i for i in K,   column_j = A_Kj, but e_j for j in K,
//   base_ij = A_ij, but 0 where i or j is in K.
// While A is symmetric, A_iK is A_Ki transposed, and its negative where i has been eliminated: then rows K are all that is read of A
// besides A_ij itself.
//
// A kernel a block, from one array to another. Its thread block for a tile with the next A_KK on it inverts that, too, so that nothing
// stands between two kernels. 1000 rows take 32 of them.
#include "base/hash.hpp"
#include "base/load_ahead_cuda.hpp"
#include "base/parallel.hpp"
#include "sparse/dense/dense.hpp"
#include "sparse/dense/gauss_jordan_cuda.hpp"

#include <cfloat>

namespace amgkit
{
namespace
{
constexpr int block = 32, tile = 64, threads = 256;
constexpr int block_size = block * block;
// Each thread has 4 x 4 entries of a tile. Its columns are this far apart, so that neighbouring threads read different banks.
constexpr int threads_a_row = tile / 4;

// inverse <- s⁻¹ by the same elimination with blocks of two, for all threads of a thread block: half as many steps, each of which waits for
// a reciprocal. s: block x block by rows, in room for two.
template <bool Symmetric> __device__ void invert_block(double *s, double *inverse, int *failed)
{
  const int j = static_cast<int>(threadIdx.x) % block, first = static_cast<int>(threadIdx.x) / block;
  bool fails = false;
  for (int p = 0; p < block; p += 2) {
    const double *now = s + p / 2 % 2 * block_size, *upper = now + p * block, *lower = upper + block;
    double *next = s + (p / 2 + 1) % 2 * block_size;
    const double a = upper[p], b = upper[p + 1], c = lower[p], d = lower[p + 1], determinant = a * d - b * c, r = 1 / determinant;
    const double size = fabs(determinant); // one below DBL_MIN has lost digits
    fails = fails || !(size >= DBL_MIN && size <= DBL_MAX) || (Symmetric && !(a > 0 && determinant > 0));
    const bool mine = j / 2 == p / 2; // a column of the two
    const double x = mine ? j == p : upper[j], y = mine ? j > p : lower[j];
    const double above = (d * x - b * y) * r, below = (a * y - c * x) * r;
    for (int i = first; i < block; i += threads / block) {
      double to = (mine ? 0 : now[i * block + j]) - now[i * block + p] * above - now[i * block + p + 1] * below;
      if (i / 2 == p / 2) to = i == p ? above : below;
      next[i * block + j] = to;
    }
    __syncthreads();
  }
  static_assert(block % 4 == 0); // the last one is where the first was
  for (int k = static_cast<int>(threadIdx.x); k < block_size; k += threads) inverse[k] = s[k];
  if (fails && threadIdx.x == 0) *failed = 1;
}

template <bool Symmetric> __global__ void invert_first_block(int n, const double *A, double *inverse, int *failed)
{
  __shared__ double s[2 * block_size];
  detail::wait_for_kernels_before();
  for (int k = static_cast<int>(threadIdx.x); k < block_size; k += threads) {
    const int i = k / block, j = k % block;
    s[k] = i < n && j < n ? A[i * n + j] : i == j;
  }
  __syncthreads();
  invert_block<Symmetric>(s, inverse, failed);
}

// What a thread block reads of A beside its own tile: P, and row_i and column_j for i and j of the tile.
struct Panels {
  double P[block][block], columns[block][tile], rows[block][tile + 1]; // one more, as a row is written along a column of A
};

struct Entries { // beyond n those of the unit matrix count as 0: nothing there is eliminated
  const double *A;
  int n;
  __device__ double operator()(int i, int j) const { return i < n && j < n ? A[i * n + j] : 0; }
};

// Of the block of indices from K on.
template <bool Symmetric> __device__ void load_panels(Entries A, int K, int row0, int col0, const double *inverse, Panels &panels)
{
  const int me = static_cast<int>(threadIdx.x);
  const auto in_K = [=](int i) { return i >= K && i < K + block; };
  for (int t = me; t < block_size; t += threads) panels.P[t / block][t % block] = inverse[t];
  for (int t = me; t < block * tile; t += threads) {
    const int q = t / tile, c = t % tile, i = row0 + c, j = col0 + c;
    panels.columns[q][c] = in_K(j) ? j == K + q : A(K + q, j);
    if (Symmetric) panels.rows[q][c] = in_K(i) ? -(i == K + q) : i < K ? -A(K + q, i) : A(K + q, i);
  }
  for (int t = me; !Symmetric && t < block * tile; t += threads) {
    const int q = t % block, i = row0 + t / block;
    panels.rows[q][t / block] = in_K(i) ? -(i == K + q) : A(i, K + q);
  }
}

// columns <- P columns
__device__ void multiply_columns(Panels &panels)
{
  const int me = static_cast<int>(threadIdx.x), two_rows = me / threads_a_row * 2, my_col = me % threads_a_row;
  double product[2][4] = {};
  for (int q = 0; q < block; q++) {
    for (int a = 0; a < 2; a++) {
      for (int b = 0; b < 4; b++) product[a][b] += panels.P[two_rows + a][q] * panels.columns[q][my_col + b * threads_a_row];
    }
  }
  __syncthreads();
  for (int a = 0; a < 2; a++) {
    for (int b = 0; b < 4; b++) panels.columns[two_rows + a][my_col + b * threads_a_row] = product[a][b];
  }
  __syncthreads();
}

// Of the k-th block; inverses: P of all blocks up to that, and of the next when it ends.
template <bool Symmetric> __global__ void eliminate_block(int n, int k, const double *from, double *to, double *inverses, int *failed)
{
  __shared__ Panels panels;
  detail::wait_for_kernels_before();
  const int tiles = (n + tile - 1) / tile, id = static_cast<int>(blockIdx.x), me = static_cast<int>(threadIdx.x);
  const int row0 = id / tiles * tile, col0 = id % tiles * tile, K = k * block, next = K + block;
  const int my_row = me / threads_a_row * 4, my_col = me % threads_a_row;
  const Entries A = {from, n};
  const auto in_K = [=](int i) { return i >= K && i < next; };

  load_panels<Symmetric>(A, K, row0, col0, inverses + k * block_size, panels);
  double mine[4][4];
  for (int a = 0; a < 4; a++) {
    const int i = row0 + my_row + a;
    for (int b = 0; b < 4; b++) {
      const int j = col0 + my_col + b * threads_a_row;
      mine[a][b] = in_K(i) || in_K(j) ? 0 : A(i, j);
    }
  }
  __syncthreads();
  multiply_columns(panels);
  for (int q = 0; q < block; q++) {
    for (int a = 0; a < 4; a++) {
      for (int b = 0; b < 4; b++) mine[a][b] -= panels.rows[q][my_row + a] * panels.columns[q][my_col + b * threads_a_row];
    }
  }
  __syncthreads(); // before columns are written again
  const bool has_next = row0 == col0 && next < n && next / tile * tile == row0;
  double *s = &panels.columns[0][0]; // the next A_KK
  static_assert(sizeof panels.columns == 2 * block_size * sizeof(double));
  for (int a = 0; a < 4; a++) {
    for (int b = 0; b < 4; b++) {
      const int i = row0 + my_row + a, j = col0 + my_col + b * threads_a_row, p = i - next, q = j - next;
      const bool there = i < n && j < n;
      if (there) to[i * n + j] = mine[a][b];
      if (has_next && p >= 0 && p < block && q >= 0 && q < block) s[p * block + q] = there ? mine[a][b] : i == j;
    }
  }
  if (!has_next) return;
  __syncthreads();
  invert_block<Symmetric>(s, inverses + (k + 1) * block_size, failed);
}

// *result: which of the two arrays, which first has A, has the inverse then.
template <bool Symmetric> PetscErrorCode eliminate(Cuda &ex, int n, double *first, double *second, int *failed, const double **result)
{
  const int blocks = (n + block - 1) / block, tiles = (n + tile - 1) / tile;
  Array<double, Cuda> inverses;

  PetscFunctionBegin;
  PetscCall(inverses.allocate(ex, std::int64_t{blocks} * block_size));
  PetscCall(detail::launch(ex, 1, threads, invert_first_block<Symmetric>, n, static_cast<const double *>(first), inverses.data(), failed));
  for (int k = 0; k < blocks; k++) {
    PetscCall(detail::launch(ex, static_cast<unsigned>(tiles * tiles), threads, eliminate_block<Symmetric>, n, k,
                             static_cast<const double *>(first), second, inverses.data(), failed));
    std::swap(first, second);
  }
  *result = first;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// *error: the largest |A (inverse x) - x|_i for x_i in (-1, 1), infinite where failed says so. Waits.
PetscErrorCode error_of_inverse(Cuda &ex, int n, const double *A, const double *inverse, const int *failed, double *error)
{
  Array<double, Cuda> xs, ys, images;

  PetscFunctionBegin;
  PetscCall(allocate_each(ex, n, xs, ys, images));
  double *x = xs.data(), *image = images.data();
  PetscCall(for_each(ex, n, [=] __device__(std::int64_t i) { x[i] = static_cast<double>(hash64(i) >> 11) * 0x1p-52 - 1; }));
  PetscCall(dense_apply(ex, n, inverse, static_cast<const double *>(x), ys.data()));
  PetscCall(dense_apply(ex, n, A, static_cast<const double *>(ys.data()), image));
  PetscCall(reduce<double>(
      ex, n,
      [=] __device__(std::int64_t i) {
        const double size = fabs(image[i] - x[i]);
        return *failed == 0 && size == size ? size : HUGE_VAL;
      },
      0, Max{}, error));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode gauss_jordan(Cuda &ex, int n, bool symmetric, double *A, bool *done)
{
  constexpr double small = 1e-10;
  const std::int64_t entries = std::int64_t{n} * n;
  Array<double, Cuda> copies, signs;
  Array<int, Cuda> flag;
  const double *result = nullptr;
  int status = 1;
  double error = 0;

  PetscFunctionBegin;
  PetscCall(copies.allocate(ex, 2 * entries));
  PetscCall(signs.allocate(ex, 1));
  PetscCall(flag.allocate(ex, 1));
  PetscCall(memory_zero(ex, flag.data(), flag.bytes()));
  double *copy = copies.data(), *sign = signs.data();
  int *failed = flag.data();
  PetscCall(for_each(ex, entries, [=] __device__(std::int64_t k) { // sign A: the positive definite one of A and -A
    const double s = symmetric && A[0] < 0 ? -1 : 1;
    copy[k] = s * A[k];
    if (k == 0) *sign = s;
  }));
  if (symmetric)
    PetscCall(eliminate<true>(ex, n, copy, copy + entries, failed, &result));
  else
    PetscCall(eliminate<false>(ex, n, copy, copy + entries, failed, &result));
  if (symmetric)
    PetscCall(memory_to_host(ex, &status, failed, sizeof status));
  else
    PetscCall(error_of_inverse(ex, n, A, result, failed, &error));
  *done = symmetric ? status == 0 : error <= small;
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(for_each(ex, entries, [=] __device__(std::int64_t k) {
    const std::int64_t i = k / n, j = k % n;
    A[k] = *sign * result[symmetric && i > j ? j * n + i : k];
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace amgkit
