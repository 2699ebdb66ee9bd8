// The factors beside those of Kokkos Kernels, entry by entry, but for rounding: a random dense matrix makes 1e-12 of it.
#include "sparse/ilu0/ilu0.hpp"
#include "sparse/spgemm/kokkos_product.hpp"

#include "support/ilu_matrices.hpp"
#include "support/spaces.hpp"

#include <KokkosSparse_spiluk.hpp>

namespace amgkit::test
{
template <class Ex> using IncompleteLuOfKokkos = SpaceTest<Ex>;
TYPED_TEST_SUITE(IncompleteLuOfKokkos, Spaces, SpaceName);

namespace
{
using Space = Kokkos::DefaultHostExecutionSpace;
using Memory = Space::memory_space;
using Handle = KokkosKernels::Experimental::KokkosKernelsHandle<std::size_t, int, double, Space, Memory, Memory>;
template <class T> auto view_of(std::vector<T> &x)
{
  return Kokkos::View<T *, Space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(x.data(), x.size());
}

struct Factor {
  std::vector<std::size_t> ptr;
  std::vector<int> col;
  std::vector<double> val;

  Factor(int rows, std::size_t entries) : ptr(rows + 1), col(entries), val(entries) {}
};

// In A's pattern, L below its diagonal of ones and U
std::vector<double> factors_of_kokkos(const HostCsr &A)
{
  namespace sparse = KokkosSparse::Experimental;
  std::map<std::pair<int, int>, double> entries;
  std::vector<std::size_t> ptr(A.ptr.begin(), A.ptr.end());
  std::vector<int> col = A.col;
  std::vector<double> val = A.val, lu;
  std::size_t below = 0;
  for (int i = 0; i < A.rows; i++) below += std::count_if(col.begin() + A.ptr[i], col.begin() + A.ptr[i + 1], [=](int j) { return j < i; });
  Factor L(A.rows, below + A.rows), U(A.rows, col.size() - below);
  auto A_ptr = view_of(ptr), L_ptr = view_of(L.ptr), U_ptr = view_of(U.ptr);
  auto A_col = view_of(col), L_col = view_of(L.col), U_col = view_of(U.col);
  auto A_val = view_of(val), L_val = view_of(L.val), U_val = view_of(U.val);
  Handle handle;
  handle.create_spiluk_handle(sparse::SPILUKAlgorithm::SEQLVLSCHD_RP, A.rows, L.col.size(), U.col.size());
  sparse::spiluk_symbolic(&handle, 0, A_ptr, A_col, L_ptr, L_col, U_ptr, U_col);
  sparse::spiluk_numeric(&handle, 0, A_ptr, A_col, A_val, L_ptr, L_col, L_val, U_ptr, U_col, U_val);
  handle.destroy_spiluk_handle();
  for (int i = 0; i < A.rows; i++) {
    for (std::size_t k = L.ptr[i]; k < L.ptr[i + 1]; k++) {
      if (L.col[k] < i) entries[{i, L.col[k]}] = L.val[k];
    }
    for (std::size_t k = U.ptr[i]; k < U.ptr[i + 1]; k++) entries[{i, U.col[k]}] = U.val[k];
  }
  lu.reserve(entries.size());
  for (const auto &[at, x] : entries) lu.push_back(x);
  return lu;
}
} // namespace

TYPED_TEST(IncompleteLuOfKokkos, FactorsAreTheSame)
{
  OK(kokkos::initialize());
  for (const auto &[name, A] : ilu_matrices()) {
    Csr<double, TypeParam> on_space;
    Ilu0<TypeParam> f;
    IluReport report;
    std::vector<double> got;
    if (A.rows == 0) continue; // Kokkos reads its first row
    OK(upload(this->ex, A, on_space));
    OK(ilu0_symbolic(this->ex, {}, on_space.view(), f, &report));
    if (report.fault != IluFault::none) continue;
    OK(ilu0_numeric(this->ex, on_space.view(), f, &report));
    if (report.fault != IluFault::none) continue;
    OK(download(this->ex, f.val.data(), f.val.size(), got));
    const std::vector<double> expected = factors_of_kokkos(A);
    ASSERT_EQ(got.size(), expected.size()) << name;
    double largest = 0;
    for (const double x : expected) largest = std::max(largest, std::abs(x));
    for (std::size_t k = 0; k < got.size(); k++) {
      ASSERT_NEAR(got[k], expected[k], 1e-10 * std::max(1e-3 * largest, std::abs(expected[k]))) << name << ", entry " << k;
    }
  }
}
} // namespace amgkit::test
