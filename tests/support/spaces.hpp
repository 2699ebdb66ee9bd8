// A test body for every space: TYPED_TEST_SUITE over Spaces, fixture SpaceTest<Ex>. Cuda is skipped where there is no GPU.
#pragma once
#include "base/array.hpp"

#include <gtest/gtest.h>

// PETSc errors end the test that meets them.
#define OK(...) ASSERT_EQ(static_cast<int>(__VA_ARGS__), 0)

namespace amgkit::test
{
#if defined(AMGKIT_HAVE_CUDA)
using Spaces = ::testing::Types<Host, Debug, Cuda>;
#else
using Spaces = ::testing::Types<Host, Debug>;
#endif
struct SpaceName {
  template <class Ex> static std::string GetName(int) { return Ex::on_device ? "Cuda" : std::is_same_v<Ex, Debug> ? "Debug" : "Host"; }
};

// Whether the Cuda space can run here; and whether PETSc has matrices and vectors there, too.
bool have_cuda_space();
bool have_gpu();
// Whether every check is asked for, by the environment's AMGKIT_FULL, and not the gate's selection of them.
bool full_run();
// Whether iterations on large grids are counted: sanitizers and 64-bit indices do not change them, nor does a build for GPUs without one.
bool count_on_large_grids();

template <class Ex> class SpaceTest : public ::testing::Test {
protected:
  void SetUp() override
  {
    if (Ex::on_device && !have_cuda_space()) GTEST_SKIP() << "no GPU here";
    OK(open(ex));
  }
  void TearDown() override { OK(close(ex)); }

  template <class T> Array<T, Ex> to_space(const std::vector<T> &from)
  {
    Array<T, Ex> to;
    EXPECT_EQ(static_cast<int>(upload(ex, from, to)), 0);
    return to;
  }
  template <class T> std::vector<T> to_host(const T *from, std::int64_t n)
  {
    std::vector<T> to;
    EXPECT_EQ(static_cast<int>(download(ex, from, n, to)), 0);
    return to;
  }
  template <class T> std::vector<T> to_host(const Array<T, Ex> &from) { return to_host(from.data(), from.size()); }

  Ex ex;
};
} // namespace amgkit::test
