// What the back ends by Kokkos Kernels share; included by spgemm_kokkos*.c* only. Kokkos' offsets are size_t here, so that it can count
// what int cannot, and its rows need not be sorted.
#pragma once
#include "base/array.hpp"

#include <Kokkos_Core.hpp>

#include <KokkosSparse_spgemm.hpp> // needs the former
#include <new>
#include <string>
#if defined(KOKKOS_ENABLE_CUDA)
  #include "base/cuda.hpp"

  #include <petscdevice.h>
#endif

namespace amgkit::kokkos
{
#if defined(KOKKOSKERNELS_VERSION) && KOKKOSKERNELS_VERSION >= 40600
namespace products = KokkosSparse;
#else
namespace products = KokkosSparse::Experimental;
#endif

// Kokkos throws; PETSc's errors are returned. That memory is missing is a std::runtime_error in Kokkos 4.6.
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
  if (what.find("failed to allocate") != std::string::npos) PetscFunctionReturn(PETSC_ERR_MEM);
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_LIB, "Kokkos Kernels: %s", what.c_str());
}

inline PetscErrorCode finalize()
{
  if (Kokkos::is_initialized()) Kokkos::finalize();
  return PETSC_SUCCESS;
}

// Until PetscFinalize, unless somebody else has done it: as PETSc itself does where it uses Kokkos. With CUDA, on the device that PETSc has
// chosen: on its own it would choose one by the number of the process.
inline PetscErrorCode initialize()
{
  PetscFunctionBegin;
  if (Kokkos::is_initialized()) PetscFunctionReturn(PETSC_SUCCESS);
#if KOKKOS_VERSION >= 30700
  PetscCheck(!Kokkos::is_finalized(), PETSC_COMM_SELF, PETSC_ERR_SUP, "Kokkos was finalized, and cannot be initialized again");
#endif
#if defined(KOKKOS_ENABLE_CUDA)
  int device;
  if (petsc_has_cuda) PetscCall(PetscDeviceInitialize(PETSC_DEVICE_CUDA));
  AMGKIT_CALL_CUDA(cudaGetDevice(&device));
  PetscCall(without_exceptions([&] { Kokkos::initialize(Kokkos::InitializationSettings().set_device_id(device)); }));
#else
  PetscCall(without_exceptions([] { Kokkos::initialize(); }));
#endif
  PetscCall(PetscRegisterFinalize(finalize));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// C = A B in an execution space of Kokkos. The offsets of A, B and C are the caller's, rows + 1 of each.
template <class Space> class Product {
  using Memory = typename Space::memory_space;
  template <class T>
  using Borrowed = Kokkos::View<T *, Kokkos::LayoutLeft, Kokkos::Device<Space, Memory>, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  using Offsets = Borrowed<const std::size_t>;
  using Columns = Borrowed<const int>;
  using Values = Borrowed<const double>;

public:
  // Sets C's offsets. Once, before all else.
  void count(KokkosSparse::SPGEMMAlgorithm algorithm, const CsrView<double> &A, const std::size_t *A_ptr, const CsrView<double> &B,
             const std::size_t *B_ptr, std::size_t *C_ptr)
  {
    handle_.create_spgemm_handle(algorithm);
    products::spgemm_symbolic(&handle_, A.rows, A.cols, B.cols, Offsets(A_ptr, A.rows + 1), Columns(A.col, A.nnz), false,
                              Offsets(B_ptr, B.rows + 1), Columns(B.col, B.nnz), false, Borrowed<std::size_t>(C_ptr, A.rows + 1));
  }
  // Sets C's columns, in any order, and values. May be called again, for other values and at other addresses.
  void multiply(const CsrView<double> &A, const std::size_t *A_ptr, const double *A_val, const CsrView<double> &B, const std::size_t *B_ptr,
                const double *B_val, std::size_t *C_ptr, std::size_t nnz, int *col, double *val)
  {
    Borrowed<int> C_col(col, nnz);
    Borrowed<double> C_val(val, nnz);
    products::spgemm_numeric(&handle_, A.rows, A.cols, B.cols, Offsets(A_ptr, A.rows + 1), Columns(A.col, A.nnz), Values(A_val, A.nnz),
                             false, Offsets(B_ptr, B.rows + 1), Columns(B.col, B.nnz), Values(B_val, B.nnz), false,
                             Borrowed<std::size_t>(C_ptr, A.rows + 1), C_col, C_val);
  }

private:
  KokkosKernels::Experimental::KokkosKernelsHandle<std::size_t, int, double, Space, Memory, Memory> handle_;
};
} // namespace amgkit::kokkos
