// Times one pass over a matrix in each storage of the cycle: product y = A x, residual r = b - A x, sweep y = x + D (b - A x); and the
// sparse products of a setup.
//
//   amgkit_kernels [-n7 256] [-n27 160] [-nrap 200] [-nelasticity 60] [-ilu0 128] [-ilu0_27 80] [-ilu0_nodes 40] [-repeat 20] [-samples 5]
//
// on 7-point n³ and 27-point n³ grids, the sparse products on a 7-point one and on n³ nodes of 3 unknowns; 0 leaves a grid out. It runs on
// the GPU where there is one, else on one core of the host. A time is the best of the samples, each the mean over `repeat` calls in a row.
// GB/s counts the bytes that the storage must move once: its own, 8 for each entry of each vector read or written. The first line of a
// grid, x = D b, moves vectors only: what the card gives. create and fill: from compressed rows to the storage, pattern and values or new
// values only. Sparse products: A P, R (A P) and, at once, R A P, each by all back ends of the space, pattern (symbolic) and values
// (numeric) apart, with the terms that are summed per second. P has up to 4 entries a row, in the neighbourhood, for every fourth point a
// coarse one; R = P^T. Elasticity: rows of 27 nodes; P has 6 columns for each of the aggregates, boxes of 3³ nodes, of a node and its
// neighbours. Its columns one by one, and in runs.
// The storages there too, and on (n / 3)³ nodes of 6 unknowns, with those by blocks.
// ILU(0) of a 7-point grid, natural, red-black and shuffled, of a 27-point one and of n³ nodes of 3 unknowns, natural and shuffled: see
// ilu0_times.cpp.
#include "ilu0_times.hpp"
#include "sparse/formats/block_sell.hpp"
#include "sparse/rows/transpose.hpp"
#include "sparse/spgemm/spgemm.hpp"

#include <algorithm>
#include <petscsys.h>
#include <string>
#if defined(AMGKIT_HAVE_CUDA)
  #include <cuda_runtime_api.h>
  #include <petscdevice.h>
#endif

namespace
{
using namespace amgkit;

const char help[] = "Times products with the matrices of the cycle in each storage.\n";

struct Options {
  PetscInt n7 = 256, n27 = 160, nrap = 200, nelasticity = 60, ilu0 = 128, ilu0_27 = 80, ilu0_nodes = 40, repeat = 20, samples = 5;
};

struct HostMatrix {
  std::vector<int> ptr{0}, col;
  std::vector<double> val;
};

HostMatrix grid(int n, bool full)
{
  HostMatrix A;
  const auto cells = static_cast<std::size_t>(n) * n * n;
  A.ptr.reserve(cells + 1);
  A.col.reserve(cells * (full ? 27 : 7));
  A.val.reserve(cells * (full ? 27 : 7));
  const auto inside = [n](int i) { return i >= 0 && i < n; };
  for (int z = 0; z < n; z++) {
    for (int y = 0; y < n; y++) {
      for (int x = 0; x < n; x++) {
        for (int k = 0; k < 27; k++) {
          const int dx = k % 3 - 1, dy = k / 3 % 3 - 1, dz = k / 9 - 1, far = std::abs(dx) + std::abs(dy) + std::abs(dz);
          if ((!full && far > 1) || !inside(x + dx) || !inside(y + dy) || !inside(z + dz)) continue;
          A.col.push_back(((z + dz) * n + y + dy) * n + x + dx);
          A.val.push_back(far == 0 ? (full ? 26 : 6) : -1);
        }
        A.ptr.push_back(static_cast<int>(A.col.size()));
      }
    }
  }
  return A;
}

template <class Ex> PetscErrorCode load(Ex &ex, const HostMatrix &from, int cols, Csr<double, Ex> &to)
{
  PetscFunctionBegin;
  to.rows = static_cast<int>(from.ptr.size() - 1);
  to.cols = cols;
  PetscCall(upload(ex, from.ptr, to.ptr));
  PetscCall(upload(ex, from.col, to.col));
  PetscCall(upload(ex, from.val, to.val));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// What the kernels of a space read and write.
template <class Ex> struct Data {
  Csr<double, Ex> A;
  Array<double, Ex> x, b, d, y; // the first halves serve as vectors of floats

  PetscErrorCode create(Ex &ex, const HostMatrix &from)
  {
    const std::size_t n = from.ptr.size() - 1;

    PetscFunctionBegin;
    PetscCall(load(ex, from, static_cast<int>(n), A));
    PetscCall(upload(ex, std::vector<double>(n, 1), x));
    PetscCall(upload(ex, std::vector<double>(n, 0.5), b));
    PetscCall(upload(ex, std::vector<double>(n, 0.1), d));
    PetscCall(upload(ex, std::vector<double>(n, 0), y));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

template <class Ex> PetscErrorCode wait(Ex &ex, const Data<Ex> &data)
{
  double value;
  return memory_to_host(ex, &value, data.y.data(), data.y.size() > 0 ? sizeof(double) : 0);
}

template <class Ex, class Call>
PetscErrorCode time_call(Ex &ex, const Options &options, const Data<Ex> &data, const char *storage, const char *what, double bytes,
                         Call call)
{
  double best = PETSC_MAX_REAL;

  PetscFunctionBegin;
  PetscCall(call());
  for (PetscInt s = 0; s < options.samples; s++) {
    PetscCall(wait(ex, data));
    const double start = MPI_Wtime();
    for (PetscInt r = 0; r < options.repeat; r++) PetscCall(call());
    PetscCall(wait(ex, data));
    best = std::min(best, (MPI_Wtime() - start) / static_cast<double>(options.repeat));
  }
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "  %-18s %-9s %9.4f ms %8.1f GB/s %7.1f B a row\n", storage, what, 1e3 * best, 1e-9 * bytes / best,
                        bytes / static_cast<double>(data.x.size())));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// V: type of the vectors; bytes: of the matrix as view has it
template <class V, class Ex, class View>
PetscErrorCode time_products(Ex &ex, const Options &options, Data<Ex> &data, const char *storage, View view, std::size_t bytes)
{
  const double vector = sizeof(V) * static_cast<double>(data.x.size()), matrix = static_cast<double>(bytes);
  const V *x = data.x.template as<V>(), *b = data.b.template as<V>(), *d = data.d.template as<V>();
  V *y = data.y.template as<V>();

  PetscFunctionBegin;
  PetscCall(time_call(ex, options, data, storage, "product", matrix + 2 * vector, [&] { return spmv(ex, view, x, y); }));
  PetscCall(time_call(ex, options, data, storage, "residual", matrix + 3 * vector, [&] { return residual(ex, view, b, x, y); }));
  PetscCall(time_call(ex, options, data, storage, "sweep", matrix + 4 * vector,
                      [&] { return relax(ex, view, d, RelaxStep{}, b, x, nullptr, y); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Both kinds of sliced ELL.
template <class Ex, class T> PetscErrorCode store(Ex &ex, CsrView<double> A, int, Sell<T, Ex> &S, bool *fits, bool *representable)
{
  return sell_create(ex, A, S, fits, representable);
}
template <class Ex, class T>
PetscErrorCode store(Ex &ex, CsrView<double> A, int block, BlockSell<T, Ex> &S, bool *fits, bool *representable)
{
  return block_sell_create(ex, A, block, S, fits, representable);
}
template <class Ex, class T> PetscErrorCode store_values(Ex &ex, CsrView<double> A, Sell<T, Ex> &S, bool *representable)
{
  return sell_fill(ex, A, SellValues::perhaps_others, S, representable);
}
template <class Ex, class T> PetscErrorCode store_values(Ex &ex, CsrView<double> A, BlockSell<T, Ex> &S, bool *representable)
{
  return block_sell_fill(ex, A, S, representable);
}

template <template <class, class> class Format, class T, class V, class Ex>
PetscErrorCode time_sell(Ex &ex, const Options &options, Data<Ex> &data, int block, const char *storage)
{
  Format<T, Ex> S;
  bool fits = false, representable = false;
  const auto rows_bytes = static_cast<double>(data.A.bytes());
  Options once = options;

  PetscFunctionBegin;
  once.repeat = 1;
  PetscCall(store(ex, data.A.view(), block, S, &fits, &representable));
  PetscCheck(fits, PETSC_COMM_SELF, PETSC_ERR_PLIB, "a grid's rows do not fit");
  const auto bytes = static_cast<double>(S.bytes());
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "  %-18s %.2f bytes an entry, the vectors' left out\n", storage,
                        bytes / static_cast<double>(data.A.view().nnz)));
  PetscCall(time_products<V>(ex, options, data, storage, S.view(), S.bytes()));
  PetscCall(time_call(ex, options, data, storage, "fill", rows_bytes + static_cast<double>(S.val.bytes()),
                      [&] { return store_values(ex, data.A.view(), S, &representable); }));
  PetscCall(time_call(ex, once, data, storage, "create", 2 * rows_bytes + bytes,
                      [&] { return store(ex, data.A.view(), block, S, &fits, &representable); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// block > 1: by blocks too
template <class Ex> PetscErrorCode time_storages(Ex &ex, const Options &options, Data<Ex> &data, int block)
{
  const CsrView<double> A = data.A.view();

  PetscFunctionBegin;
  PetscCall(time_call(ex, options, data, "vectors", "x = D b", 24.0 * A.rows,
                      [&] { return scale(ex, A.rows, 1, data.d.data(), data.b.data(), data.y.data()); }));
  PetscCall(time_products<double>(ex, options, data, "CSR, double", A, data.A.bytes()));
  PetscCall(time_sell<Sell, double, double>(ex, options, data, 1, "SELL, double"));
  if (block > 1) PetscCall(time_sell<BlockSell, double, double>(ex, options, data, block, "block SELL, double"));
  PetscCall(time_sell<Sell, float, double>(ex, options, data, 1, "SELL, single"));
  if (block > 1) PetscCall(time_sell<BlockSell, float, double>(ex, options, data, block, "block SELL, single"));
  PetscCall(fill(ex, A.rows, 1, data.x.template as<float>()));
  PetscCall(fill(ex, A.rows, 0.5, data.b.template as<float>()));
  PetscCall(fill(ex, A.rows, 0.1, data.d.template as<float>()));
  PetscCall(time_sell<Sell, float, float>(ex, options, data, 1, "all single"));
  if (block > 1) PetscCall(time_sell<BlockSell, float, float>(ex, options, data, block, "block, all single"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode time_grid(Ex &ex, const Options &options, PetscInt n, bool full)
{
  Data<Ex> data;

  PetscFunctionBegin;
  if (n == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(n > 0 && n <= 430, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "-n7 and -n27 must be 0 to 430");
  PetscCall(data.create(ex, grid(static_cast<int>(n), full)));
  const CsrView<double> A = data.A.view();
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s %d^3, %s: %d rows, %lld entries\n", full ? "27-point" : "7-point", static_cast<int>(n),
                        Ex::name, A.rows, static_cast<long long>(A.nnz)));
  PetscCall(time_storages(ex, options, data, 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Up to four coarse points of each fine one, which are those of its neighbours in A's grid.
HostMatrix prolongation(const HostMatrix &A)
{
  HostMatrix P;
  for (std::size_t i = 0; i + 1 < A.ptr.size(); i++) {
    const std::size_t begin = P.col.size();
    if (i % 4 == 0) {
      P.col.push_back(static_cast<int>(i / 4));
    } else {
      for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) {
        const int coarse = A.col[k] / 4;
        if (P.col.size() < begin + 4 && (P.col.size() == begin || P.col.back() < coarse)) P.col.push_back(coarse);
      }
    }
    P.val.resize(P.col.size(), 1 / static_cast<double>(P.col.size() - begin));
    P.ptr.push_back(static_cast<int>(P.col.size()));
  }
  return P;
}

// The best of the samples, each one call.
template <class Ex, class Call>
PetscErrorCode time_part(Ex &ex, const Options &options, const char *kind, const char *what, double terms, const Csr<double, Ex> &C,
                         Call call)
{
  double best = PETSC_MAX_REAL;
  int value;

  PetscFunctionBegin;
  PetscCall(call());
  for (PetscInt s = 0; s < options.samples; s++) {
    PetscCall(memory_to_host(ex, &value, C.ptr.data(), sizeof(int)));
    const double start = MPI_Wtime();
    PetscCall(call());
    PetscCall(memory_to_host(ex, &value, C.ptr.data(), sizeof(int)));
    best = std::min(best, MPI_Wtime() - start);
  }
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "  %-14s %-18s %9.4f ms %8.2f G terms/s\n", kind, what, 1e3 * best, 1e-9 * terms / best));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A way to form a product.
struct Way {
  const char *label;
  SpgemmKind kind;
  int run = 1, rows = 1, inner = 1;
};
const std::vector<Way> back_ends = {{"native", SpgemmKind::native}, {"cusparse", SpgemmKind::cusparse}, {"kokkos", SpgemmKind::kokkos}};
// Nodes of 3 unknowns, aggregates of 6: A P, and R times that.
std::vector<Way> elastic_ways(int rows)
{
  return {{"native", SpgemmKind::native}, {"native, runs", SpgemmKind::native, 6}, {"native, blocks", SpgemmKind::native, 6, rows, 3}};
}

// C: by the first of the ways
template <class Ex>
PetscErrorCode time_product(Ex &ex, const Options &options, const std::vector<Way> &ways, const char *name, CsrView<double> A,
                            CsrView<double> B, Csr<double, Ex> &C)
{
  double terms = 0;

  PetscFunctionBegin;
  for (const Way &way : ways) {
    SpgemmPlan<Ex> plan;
    Csr<double, Ex> other;
    const SpgemmOptions how = {.kind = way.kind, .run = way.run, .rows = way.rows, .inner = way.inner};
    Csr<double, Ex> &result = &way == &ways.front() ? C : other;
    if (!spgemm_available<Ex>(way.kind)) continue;
    PetscCall(spgemm_symbolic(ex, how, A, B, result, plan));
    if (&way == &ways.front()) terms = static_cast<double>(plan.products);
    PetscCall(time_part(ex, options, way.label, (std::string(name) + " symbolic").c_str(), terms, result,
                        [&] { return spgemm_symbolic(ex, how, A, B, result, plan); }));
    PetscCall(time_part(ex, options, way.label, (std::string(name) + " numeric").c_str(), terms, result,
                        [&] { return spgemm_numeric(ex, plan, A, B, result); }));
  }
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "  %s: %.3f G terms, %d rows, %lld entries\n", name, 1e-9 * terms, C.rows,
                        static_cast<long long>(C.col.size())));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode time_spgemm(Ex &ex, const Options &options, PetscInt n)
{
  Csr<double, Ex> A, P, R, AP, C;
  SpgemmPlan<Ex> plan;

  PetscFunctionBegin;
  if (n == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(n > 0 && n <= 430, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "-nrap must be 0 to 430");
  const HostMatrix fine = grid(static_cast<int>(n), false), coarse = prolongation(fine);
  const int rows = static_cast<int>(fine.ptr.size() - 1);
  PetscCall(load(ex, fine, rows, A));
  PetscCall(load(ex, coarse, (rows + 3) / 4, P));
  PetscCall(transpose(ex, P.view(), R));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "sparse products, 7-point %d^3, %s: %d rows, P %.2f entries a row\n", static_cast<int>(n),
                        Ex::name, A.rows, P.view().average()));
  PetscCall(time_product(ex, options, back_ends, "A P", A.view(), P.view(), AP));
  PetscCall(time_product(ex, options, back_ends, "R (A P)", R.view(), AP.view(), C));
  const auto symbolic = [&] { return triple_product_symbolic(ex, {}, R.view(), A.view(), P.view(), C, plan); };
  PetscCall(symbolic());
  const auto terms = static_cast<double>(plan.products);
  PetscCall(time_part(ex, options, "native", "R A P symbolic", terms, C, symbolic));
  PetscCall(time_part(ex, options, "native", "R A P numeric", terms, C,
                      [&] { return triple_product_numeric(ex, plan, R.view(), A.view(), P.view(), C); }));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "  R A P: %.3f G terms\n", 1e-9 * terms));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Every entry of A a block of rows x cols.
HostMatrix blocks_of(const HostMatrix &A, int rows, int cols)
{
  HostMatrix out;
  out.col.reserve(A.col.size() * rows * cols);
  out.val.reserve(A.col.size() * rows * cols);
  for (std::size_t i = 0; i + 1 < A.ptr.size(); i++) {
    for (int r = 0; r < rows; r++) {
      for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) {
        for (int c = 0; c < cols; c++) {
          out.col.push_back(cols * A.col[k] + c);
          out.val.push_back(A.val[k] / (1 + r + c));
        }
      }
      out.ptr.push_back(static_cast<int>(out.col.size()));
    }
  }
  return out;
}

// The boxes of 3³ nodes that each node and its neighbours lie in.
HostMatrix smoothed_boxes(int n)
{
  HostMatrix P;
  const int m = (n + 2) / 3;
  const auto first = [](int i) { return std::max(i - 1, 0) / 3; };
  const auto last = [n](int i) { return std::min(i + 1, n - 1) / 3; };
  for (int z = 0; z < n; z++) {
    for (int y = 0; y < n; y++) {
      for (int x = 0; x < n; x++) {
        for (int Z = first(z); Z <= last(z); Z++) {
          for (int Y = first(y); Y <= last(y); Y++) {
            for (int X = first(x); X <= last(x); X++) P.col.push_back((Z * m + Y) * m + X);
          }
        }
        P.ptr.push_back(static_cast<int>(P.col.size()));
      }
    }
  }
  P.val.assign(P.col.size(), 0.25);
  return P;
}

// The box of 3³ nodes that each node lies in.
HostMatrix boxes_of(int n)
{
  HostMatrix T;
  const int m = (n + 2) / 3;
  for (int z = 0; z < n; z++) {
    for (int y = 0; y < n; y++) {
      for (int x = 0; x < n; x++) {
        T.col.push_back((z / 3 * m + y / 3) * m + x / 3);
        T.ptr.push_back(static_cast<int>(T.col.size()));
      }
    }
  }
  T.val.assign(T.col.size(), 0.2);
  return T;
}

template <class Ex> PetscErrorCode time_blocks(Ex &ex, const Options &options, int n, int block)
{
  Data<Ex> data;

  PetscFunctionBegin;
  if (n == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(data.create(ex, blocks_of(grid(n, true), block, block)));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%d^3 nodes of %d unknowns, %s: %d rows, %lld entries\n", n, block, Ex::name, data.A.rows,
                        static_cast<long long>(data.A.col.size())));
  PetscCall(time_storages(ex, options, data, block));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode time_elasticity(Ex &ex, const Options &options, PetscInt nodes)
{
  Csr<double, Ex> A, P, R, T, AP, AT, C;
  const int n = static_cast<int>(nodes), boxes = (n + 2) / 3;

  PetscFunctionBegin;
  if (n == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(nodes > 0 && nodes <= 200, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "-nelasticity must be 0 to 200");
  PetscCall(load(ex, blocks_of(grid(n, true), 3, 3), 3 * n * n * n, A));
  PetscCall(load(ex, blocks_of(smoothed_boxes(n), 3, 6), 6 * boxes * boxes * boxes, P));
  PetscCall(transpose(ex, P.view(), R));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "sparse products, elasticity %d^3, %s: %d rows, %.2f entries a row, P %.2f\n", n, Ex::name, A.rows,
                        A.view().average(), P.view().average()));
  PetscCall(load(ex, blocks_of(boxes_of(n), 3, 6), P.cols, T));
  PetscCall(time_product(ex, options, elastic_ways(3), "A T", A.view(), T.view(), AT));
  PetscCall(time_product(ex, options, elastic_ways(3), "A P", A.view(), P.view(), AP));
  PetscCall(time_product(ex, options, elastic_ways(6), "R (A P)", R.view(), AP.view(), C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Its diagonal is large enough for pivots that are not 0.
HostMatrix dominant(HostMatrix A)
{
  for (int i = 0; i + 1 < static_cast<int>(A.ptr.size()); i++) {
    for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) A.val[k] = A.col[k] == i ? 100 : A.val[k];
  }
  return A;
}

template <class Ex> PetscErrorCode time_ilu0(Ex &ex, const Options &options)
{
  const int n = static_cast<int>(options.ilu0), n27 = static_cast<int>(options.ilu0_27), m = static_cast<int>(options.ilu0_nodes);
  const auto time = [&](const char *name, const HostMatrix &host, const std::vector<bench::RowsInOrder> &orders) {
    Csr<double, Ex> A;
    if (host.ptr.size() < 2) return PETSC_SUCCESS;
    const PetscErrorCode code = load(ex, host, static_cast<int>(host.ptr.size()) - 1, A);
    return code ? code : bench::time_ilu0(ex, name, A, orders, options.repeat, options.samples);
  };

  PetscFunctionBegin;
  PetscCheck(n >= 0 && n <= 430 && n27 >= 0 && n27 <= 250 && m >= 0 && m <= 200, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "-ilu0 must be 0 to 430, -ilu0_27 0 to 250, -ilu0_nodes 0 to 200");
  PetscCall(time("7-point", grid(n, false), {{"red-black", bench::red_black(n)}, {"shuffled", bench::shuffled(n * n * n)}}));
  PetscCall(time("27-point", grid(n27, true), {{"shuffled", bench::shuffled(n27 * n27 * n27)}}));
  PetscCall(time("nodes of 3 unknowns", dominant(blocks_of(grid(m, true), 3, 3)), {{"shuffled", bench::shuffled(3 * m * m * m)}}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode time_grids(const Options &options)
{
  Ex ex;

  PetscFunctionBegin;
  PetscCall(open(ex));
  PetscCall(time_grid(ex, options, options.n7, false));
  PetscCall(time_grid(ex, options, options.n27, true));
  PetscCall(time_spgemm(ex, options, options.nrap));
  PetscCall(time_elasticity(ex, options, options.nelasticity));
  PetscCall(time_blocks(ex, options, static_cast<int>(options.nelasticity), 3));
  PetscCall(time_blocks(ex, options, static_cast<int>(options.nelasticity / 3), 6));
  PetscCall(time_ilu0(ex, options));
  PetscCall(close(ex));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode run()
{
  Options options;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-n7", &options.n7, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-n27", &options.n27, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-nrap", &options.nrap, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-nelasticity", &options.nelasticity, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-ilu0", &options.ilu0, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-ilu0_27", &options.ilu0_27, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-ilu0_nodes", &options.ilu0_nodes, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-repeat", &options.repeat, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-samples", &options.samples, nullptr));
  PetscCheck(options.repeat > 0 && options.samples > 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "-repeat and -samples must be positive");
#if defined(AMGKIT_HAVE_CUDA)
  int devices = 0;
  if (cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0) {
    if (petsc_has_cuda) PetscCall(PetscDeviceInitialize(PETSC_DEVICE_CUDA));
    PetscCall(time_grids<Cuda>(options));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCall(time_grids<Host>(options));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

int main(int argc, char **argv)
{
  if (PetscInitialize(&argc, &argv, nullptr, help)) return 1;
  if (run()) return 1;
  return PetscFinalize() ? 1 : 0;
}
