// Owning arrays and CSR matrices of an execution space; plain views of them for kernels.
#pragma once
#include "base/memory.hpp"

#include <type_traits>
#include <utility>
#include <vector>

namespace amgkit
{
// n elements of T in space Ex, uninitialised after allocate(). Move-only; freed with the object. The space must outlive it.
template <class T, class Ex> class Array {
public:
  Array() = default;
  Array(const Array &) = delete;
  Array &operator=(const Array &) = delete;
  Array(Array &&other) noexcept { swap(other); }
  Array &operator=(Array &&other) noexcept
  {
    release();
    swap(other);
    return *this;
  }
  ~Array() { release(); }

  // Frees what was held and takes n elements. Returns PETSC_ERR_MEM, quietly, when there is no memory left.
  PetscErrorCode allocate(Ex &ex, std::int64_t n, Memory kind = Memory::scratch)
  {
    void *p = nullptr;
    release();
    const PetscErrorCode status = memory_allocate(ex, kind, static_cast<std::size_t>(n) * sizeof(T), &p);
    if (status) return status;
    ex_ = &ex;
    kind_ = kind;
    data_ = static_cast<T *>(p);
    size_ = n;
    return PETSC_SUCCESS;
  }
  // On a plain host alone: n elements. The first ones keep their values. If there is no memory left, nothing changes.
  PetscErrorCode reallocate(Ex &ex, std::int64_t n)
  {
    static_assert(Ex::one_by_one && std::is_trivially_copyable_v<T>);
    void *p = data_;
    if (!p || n == 0) return allocate(ex, n, kind_);
    const PetscErrorCode status = memory_reallocate(ex, static_cast<std::size_t>(n) * sizeof(T), &p);
    if (status) return status;
    data_ = static_cast<T *>(p);
    size_ = n;
    return PETSC_SUCCESS;
  }
  void release() noexcept
  {
    if (data_) static_cast<void>(memory_free(*ex_, kind_, data_));
    data_ = nullptr;
    size_ = 0;
  }
  T *data() { return data_; }
  const T *data() const { return data_; }
  // The same memory for elements of a type that is not larger.
  template <class U> U *as()
  {
    static_assert(sizeof(U) <= sizeof(T));
    return reinterpret_cast<U *>(data_);
  }
  template <class U> const U *as() const { return const_cast<Array *>(this)->template as<U>(); }
  std::int64_t size() const { return size_; }
  std::size_t bytes() const { return static_cast<std::size_t>(size_) * sizeof(T); }

private:
  void swap(Array &other) noexcept
  {
    std::swap(ex_, other.ex_);
    std::swap(kind_, other.kind_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }
  Ex *ex_ = nullptr;
  Memory kind_ = Memory::scratch;
  T *data_ = nullptr;
  std::int64_t size_ = 0;
};

// n elements for each of these arrays, as Array::allocate() takes them; the first that gets none ends it.
template <class Ex, class... Arrays> PetscErrorCode allocate_each(Ex &ex, std::int64_t n, Memory kind, Arrays &...arrays)
{
  PetscErrorCode status = PETSC_SUCCESS;
  static_cast<void>(((status = arrays.allocate(ex, n, kind)) || ...));
  return status;
}
template <class Ex, class... Arrays> PetscErrorCode allocate_each(Ex &ex, std::int64_t n, Arrays &...arrays)
{
  return allocate_each(ex, n, Memory::scratch, arrays...);
}

// A sparse matrix in compressed rows: row i is col[k], val[k] for ptr[i] <= k < ptr[i+1]; columns ascend within a row.
template <class T> struct CsrView {
  int rows = 0, cols = 0;
  std::int64_t nnz = 0;
  const int *ptr = nullptr, *col = nullptr;
  const T *val = nullptr;

  double average() const { return rows > 0 ? static_cast<double>(nnz) / rows : 0; } // entries per row
};

template <class T, class Ex> struct Csr {
  int rows = 0, cols = 0;
  Array<int, Ex> ptr, col;
  Array<T, Ex> val;

  CsrView<T> view() const { return {rows, cols, col.size(), ptr.data(), col.data(), val.data()}; }
  // n rows without entries.
  PetscErrorCode make_empty(Ex &ex, int n)
  {
    PetscFunctionBegin;
    *this = {};
    rows = n;
    PetscCall(ptr.allocate(ex, std::int64_t{n} + 1));
    PetscCall(memory_zero(ex, ptr.data(), ptr.bytes()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  std::size_t bytes() const { return ptr.bytes() + col.bytes() + val.bytes(); }
};

// sum_into<N>() of parallel.hpp sums n terms in so many parts, of at least sum_least each, and needs N times as many doubles of work.
inline constexpr int sum_parts = 4096, sum_least = 64;
inline constexpr std::int64_t sum_parts_of(std::int64_t n) { return n / sum_least < sum_parts ? n / sum_least + 1 : sum_parts; }

// std::vector <-> array, for what is small: sizes, halos, tests.
template <class T, class Ex> PetscErrorCode upload(Ex &ex, const std::vector<T> &from, Array<T, Ex> &to)
{
  PetscFunctionBegin;
  PetscCall(to.allocate(ex, static_cast<std::int64_t>(from.size())));
  PetscCall(memory_from_host(ex, to.data(), from.data(), to.bytes()));
  PetscFunctionReturn(PETSC_SUCCESS);
}
template <class T, class Ex> PetscErrorCode download(Ex &ex, const T *from, std::int64_t n, std::vector<T> &to)
{
  PetscFunctionBegin;
  to.resize(static_cast<std::size_t>(n));
  PetscCall(memory_to_host(ex, to.data(), from, static_cast<std::size_t>(n) * sizeof(T)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace amgkit
