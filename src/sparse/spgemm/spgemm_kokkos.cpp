// Sparse products by Kokkos Kernels on the host. It writes to arrays of its own, and finds columns together with values: the symbolic call
// computes with ones.
#include "sparse/spgemm/kokkos_product.hpp"
#include "sparse/spgemm/spgemm_backends.hpp"

#include <algorithm>

namespace amgkit
{
namespace
{
struct KokkosState : SpgemmState {
  kokkos::Product<Kokkos::DefaultHostExecutionSpace> product;
  std::vector<std::size_t> A_ptr, B_ptr, C_ptr;
  std::vector<int> col;
  std::vector<double> val;

  static std::vector<std::size_t> offsets(const CsrView<double> &A) { return {A.ptr, A.ptr + A.rows + 1}; }

  void count_entries(const CsrView<double> &A, const CsrView<double> &B)
  {
    A_ptr = offsets(A);
    B_ptr = offsets(B);
    C_ptr.resize(A_ptr.size());
    product.count(KokkosSparse::SPGEMM_KK_MEMORY, A, A_ptr.data(), B, B_ptr.data(), C_ptr.data());
  }
  void multiply(const CsrView<double> &A, const double *A_val, const CsrView<double> &B, const double *B_val)
  {
    product.multiply(A, A_ptr.data(), A_val, B, B_ptr.data(), B_val, C_ptr.data(), col.size(), col.data(), val.data());
  }
};
} // namespace

bool kokkos_works()
{
#if defined(KOKKOS_ENABLE_CUDA)
  int devices = 0;
  const bool works = !cudaGetDeviceCount(&devices) && devices > 0;
  (void)cudaGetLastError();
  return works;
#else
  return true;
#endif
}

PetscErrorCode kokkos_count(const CsrView<double> &A, const CsrView<double> &B, int *ptr, std::unique_ptr<SpgemmState> &state)
{
  PetscFunctionBegin;
  PetscCall(kokkos::initialize());
  auto owner = std::make_unique<KokkosState>();
  KokkosState &s = *owner;
  PetscCall(kokkos::without_exceptions([&] { s.count_entries(A, B); }));
  PetscCheck(s.C_ptr.back() <= INT32_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "More than 2^31 - 1 entries on one process: use more processes");
  std::transform(s.C_ptr.begin(), s.C_ptr.end(), ptr, [](std::size_t k) { return static_cast<int>(k); });
  state = std::move(owner);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode kokkos_columns(SpgemmState &state, const CsrView<double> &A, const CsrView<double> &B, int *col)
{
  auto &s = static_cast<KokkosState &>(state);

  PetscFunctionBegin;
  PetscCall(kokkos::without_exceptions([&] {
    const std::vector<double> ones(static_cast<std::size_t>(std::max(A.nnz, B.nnz)), 1);
    s.col.resize(s.C_ptr.back());
    s.val.resize(s.C_ptr.back());
    s.multiply(A, ones.data(), B, ones.data());
    std::copy(s.col.begin(), s.col.end(), col);
    for (std::size_t i = 0; i + 1 < s.C_ptr.size(); i++) std::sort(col + s.C_ptr[i], col + s.C_ptr[i + 1]);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode kokkos_numeric(SpgemmState &state, const CsrView<double> &A, const CsrView<double> &B, double *val)
{
  auto &s = static_cast<KokkosState &>(state);

  PetscFunctionBegin;
  PetscCall(kokkos::without_exceptions([&] {
    std::vector<std::pair<int, double>> row;
    s.multiply(A, A.val, B, B.val);
    for (std::size_t i = 0; i + 1 < s.C_ptr.size(); i++) {
      row.clear();
      for (std::size_t k = s.C_ptr[i]; k < s.C_ptr[i + 1]; k++) row.emplace_back(s.col[k], s.val[k]);
      std::sort(row.begin(), row.end());
      std::transform(row.begin(), row.end(), val + s.C_ptr[i], [](const auto &entry) { return entry.second; });
    }
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace amgkit
