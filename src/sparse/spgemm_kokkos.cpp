// Sparse products by Kokkos Kernels on the host. Its offsets are size_t, so that it can count what int cannot, and its rows need not be
// sorted: it writes to arrays of its own. It finds columns together with values, so the symbolic call computes with ones.
#include "sparse/spgemm_backends.hpp"

#include <Kokkos_Core.hpp>

#include <KokkosSparse_spgemm.hpp> // needs the former
#include <algorithm>
#include <new>

namespace amgkit
{
namespace
{
using Place = Kokkos::Device<Kokkos::DefaultHostExecutionSpace, Kokkos::HostSpace>;
template <class T> using Borrowed = Kokkos::View<T *, Kokkos::LayoutLeft, Place, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
using Handle = KokkosKernels::Experimental::KokkosKernelsHandle<std::size_t, int, double, Kokkos::DefaultHostExecutionSpace,
                                                                Kokkos::HostSpace, Kokkos::HostSpace>;

PetscErrorCode finalize_kokkos()
{
  if (Kokkos::is_initialized()) Kokkos::finalize();
  return PETSC_SUCCESS;
}

// Until PetscFinalize, unless somebody else has done it: as PETSc itself does where it uses Kokkos.
PetscErrorCode initialize_kokkos()
{
  PetscFunctionBegin;
  if (Kokkos::is_initialized()) PetscFunctionReturn(PETSC_SUCCESS);
#if KOKKOS_VERSION >= 30700
  PetscCheck(!Kokkos::is_finalized(), PETSC_COMM_SELF, PETSC_ERR_SUP, "Kokkos was finalized, and cannot be initialized again");
#endif
  Kokkos::initialize();
  PetscCall(PetscRegisterFinalize(finalize_kokkos));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Kokkos Kernels throws; PETSc's errors are returned.
template <class F> PetscErrorCode without_exceptions(F f)
{
  std::string what;

  PetscFunctionBegin;
  try {
    f();
    PetscFunctionReturn(PETSC_SUCCESS);
  } catch (const std::bad_alloc &) {
    PetscFunctionReturn(PETSC_ERR_MEM);
  } catch (const std::exception &e) {
    what = e.what();
  }
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_LIB, "Kokkos Kernels: %s", what.c_str());
}

struct KokkosState : SpgemmState {
  Handle handle;
  std::vector<std::size_t> A_ptr, B_ptr, C_ptr;
  std::vector<int> col;
  std::vector<double> val;

  static std::vector<std::size_t> offsets(const CsrView<double> &A) { return {A.ptr, A.ptr + A.rows + 1}; }

  void count_entries(const CsrView<double> &A, const CsrView<double> &B)
  {
    A_ptr = offsets(A);
    B_ptr = offsets(B);
    C_ptr.resize(A_ptr.size());
    handle.create_spgemm_handle(KokkosSparse::SPGEMM_KK_MEMORY);
    KokkosSparse::Experimental::spgemm_symbolic(&handle, A.rows, A.cols, B.cols, Borrowed<const std::size_t>(A_ptr.data(), A_ptr.size()),
                                                Borrowed<const int>(A.col, A.nnz), false,
                                                Borrowed<const std::size_t>(B_ptr.data(), B_ptr.size()), Borrowed<const int>(B.col, B.nnz),
                                                false, Borrowed<std::size_t>(C_ptr.data(), C_ptr.size()));
  }
  void multiply(const CsrView<double> &A, const double *A_val, const CsrView<double> &B, const double *B_val)
  {
    Borrowed<int> C_col(col.data(), col.size());
    Borrowed<double> C_val(val.data(), val.size());
    KokkosSparse::Experimental::spgemm_numeric(&handle, A.rows, A.cols, B.cols, Borrowed<const std::size_t>(A_ptr.data(), A_ptr.size()),
                                               Borrowed<const int>(A.col, A.nnz), Borrowed<const double>(A_val, A.nnz), false,
                                               Borrowed<const std::size_t>(B_ptr.data(), B_ptr.size()), Borrowed<const int>(B.col, B.nnz),
                                               Borrowed<const double>(B_val, B.nnz), false,
                                               Borrowed<std::size_t>(C_ptr.data(), C_ptr.size()), C_col, C_val);
  }
};
} // namespace

PetscErrorCode kokkos_count(const CsrView<double> &A, const CsrView<double> &B, int *ptr, std::unique_ptr<SpgemmState> &state)
{
  PetscFunctionBegin;
  PetscCall(initialize_kokkos());
  auto owner = std::make_unique<KokkosState>();
  KokkosState &s = *owner;
  PetscCall(without_exceptions([&] { s.count_entries(A, B); }));
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
  PetscCall(without_exceptions([&] {
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
  PetscCall(without_exceptions([&] {
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
