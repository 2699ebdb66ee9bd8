// Sparse products by Kokkos Kernels on Cuda. It runs them on a stream of its own, as none of its calls takes one: each stream waits for the
// other. It finds columns together with values, and in another order every time, as threads of a row race: the symbolic call computes with
// zeros and sorts the columns, and the numeric one looks them up.
#include "sparse/rows/search.hpp"
#include "sparse/rows/sorted_columns.hpp"
#include "sparse/spgemm/kokkos_product.hpp"
#include "sparse/spgemm/spgemm_backends.hpp"

namespace amgkit
{
namespace
{
struct KokkosCudaState : SpgemmState {
  kokkos::Product<Kokkos::Cuda> product;
  Array<std::size_t, Cuda> A_ptr, B_ptr, C_ptr;
  Array<int, Cuda> col; // Kokkos' columns and values
  Array<double, Cuda> val;
};

PetscErrorCode initialize_on_device()
{
  int device;

  PetscFunctionBegin;
  PetscCall(kokkos::initialize());
  AMGKIT_CALL_CUDA(cudaGetDevice(&device));
  PetscCheck(Kokkos::device_id() == device, PETSC_COMM_SELF, PETSC_ERR_SUP, "Kokkos uses the device %d, PETSc %d", Kokkos::device_id(),
             device);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// What f asks of Kokkos, after what is on our stream, and before what comes.
template <class F> PetscErrorCode by_kokkos(Cuda &ex, F f)
{
  PetscFunctionBegin;
  AMGKIT_CALL_CUDA(cudaStreamSynchronize(ex.stream));
  PetscCall(kokkos::without_exceptions([&] {
    f();
    Kokkos::Cuda().fence();
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode widen(Cuda &ex, std::int64_t n, const int *from, Array<std::size_t, Cuda> &wide)
{
  PetscFunctionBegin;
  PetscCall(wide.allocate(ex, n));
  std::size_t *to = wide.data();
  PetscCall(for_each(ex, n, [=] __device__(std::int64_t i) { to[i] = static_cast<std::size_t>(from[i]); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode count_entries(Cuda &ex, KokkosCudaState &s, const CsrView<double> &A, const CsrView<double> &B, Csr<double, Cuda> &C,
                             std::int64_t *nnz)
{
  const std::int64_t n = std::int64_t{A.rows} + 1;
  std::size_t entries;

  PetscFunctionBegin;
  PetscCall(widen(ex, n, A.ptr, s.A_ptr));
  PetscCall(widen(ex, std::int64_t{B.rows} + 1, B.ptr, s.B_ptr));
  PetscCall(s.C_ptr.allocate(ex, n));
  PetscCall(by_kokkos(ex, [&] { s.product.count(KokkosSparse::SPGEMM_KK, A, s.A_ptr.data(), B, s.B_ptr.data(), s.C_ptr.data()); }));
  PetscCall(memory_to_host(ex, &entries, s.C_ptr.data() + A.rows, sizeof entries));
  PetscCheck(entries <= INT32_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "More than 2^31 - 1 entries on one process: use more processes");
  *nnz = static_cast<std::int64_t>(entries);
  PetscCall(C.ptr.allocate(ex, n));
  int *ptr = C.ptr.data();
  const std::size_t *from = s.C_ptr.data();
  PetscCall(for_each(ex, n, [=] __device__(std::int64_t i) { ptr[i] = static_cast<int>(from[i]); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode multiply(Cuda &ex, KokkosCudaState &s, const CsrView<double> &A, const double *A_val, const CsrView<double> &B,
                        const double *B_val)
{
  return by_kokkos(ex, [&] {
    s.product.multiply(A, s.A_ptr.data(), A_val, B, s.B_ptr.data(), B_val, s.C_ptr.data(), s.col.size(), s.col.data(), s.val.data());
  });
}
} // namespace

PetscErrorCode kokkos_symbolic(Cuda &ex, CsrView<double> A, CsrView<double> B, Csr<double, Cuda> &C, std::unique_ptr<SpgemmState> &state)
{
  Array<double, Cuda> zeros;
  Array<int, Cuda> position;
  std::int64_t nnz;

  PetscFunctionBegin;
  PetscCall(initialize_on_device());
  auto owner = std::make_unique<KokkosCudaState>();
  KokkosCudaState &s = *owner;
  PetscCall(count_entries(ex, s, A, B, C, &nnz));
  PetscCall(allocate_each(ex, nnz, C.col, C.val));
  if (nnz == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(allocate_each(ex, nnz, s.col, s.val));
  PetscCall(zeros.allocate(ex, std::max(A.nnz, B.nnz)));
  PetscCall(memory_zero(ex, zeros.data(), zeros.bytes()));
  PetscCall(multiply(ex, s, A, zeros.data(), B, zeros.data()));
  zeros.release();
  PetscCall(position.allocate(ex, nnz));
  PetscCall(sorted_columns(ex, CsrView<double>{C.rows, C.cols, nnz, C.ptr.data(), s.col.data()}, position.data(), C.col.data()));
  state = std::move(owner);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode kokkos_numeric(Cuda &ex, SpgemmState &state, CsrView<double> A, CsrView<double> B, Csr<double, Cuda> &C)
{
  auto &s = static_cast<KokkosCudaState &>(state);
  const CsrView<double> sorted = C.view();

  PetscFunctionBegin;
  PetscCall(multiply(ex, s, A, A.val, B, B.val));
  const int *col = s.col.data();
  const double *from = s.val.data();
  double *val = C.val.data();
  PetscCall(for_rows(ex, sorted.rows, sorted.average(), [=] __device__(auto team, std::int64_t i) {
    const int begin = sorted.ptr[i], end = sorted.ptr[i + 1];
    for (int k : team.share(begin, end)) val[lower_bound(sorted.col, begin, end, col[k])] = from[k];
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace amgkit
