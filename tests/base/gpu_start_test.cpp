// The start of the GPU beside the program: on a machine with a GPU, without one, and with several processes.
#include "amgkit.h"
#include "base/copies_within.hpp"
#include "base/gpu.hpp"
#include "base/gpu_start.hpp"
#include "base/space.hpp"
#include "support/petsc_problems.hpp"

namespace amgkit::test
{
namespace
{
// The start leaves the option unread, which the tests' program does not allow.
bool read_option()
{
  PetscBool used = PETSC_TRUE, given;
  EXPECT_EQ(PetscOptionsUsed(nullptr, "-amgkit_gpu", &used), 0);
  EXPECT_EQ(PetscOptionsHasName(nullptr, nullptr, "-amgkit_gpu", &given), 0);
  return used;
}
} // namespace

// Before the others: the process has one start.
TEST(GpuStart, IsNoneWhereTheOptionDoesNotAskForIt)
{
  for (const char *options : {"", "-amgkit_gpu no", "-amgkit_gpu maybe"}) {
    OK(replace_options(options));
    OK(start_gpu_if_asked());
    EXPECT_EQ(wait_for_start().loaded, 0) << options;
    EXPECT_FALSE(read_option()) << options;
  }
}

TEST(GpuStart, LoadsAllFilesOfKernelsAndMakesBuffersOrNone)
{
  int processes;
  OK(MPI_Comm_size(PETSC_COMM_WORLD, &processes));
  OK(replace_options("-amgkit_gpu -amgkit_copy_threads 3"));
  OK(AMGKitRegister());
  const MadeAhead made = wait_for_start();
  EXPECT_GT(made.files, 5);
  const bool all = processes == 1 && why_no_gpu().empty();
  EXPECT_EQ(made.loaded, all ? made.files : 0);
  EXPECT_EQ(made.buffers, all ? 3 : 0);
  EXPECT_FALSE(read_option());
  OK(replace_options(""));
}

TEST(GpuStart, IsFollowedBySpacesAndCopies)
{
  if (!why_no_gpu().empty()) GTEST_SKIP() << why_no_gpu();
  Cuda ex;
  OK(open(ex));
  {
    std::vector<double> x(std::size_t{3} << 20), y(x.size()); // 24 MB, in pieces of 1 MB
    for (std::size_t i = 0; i < x.size(); i++) x[i] = static_cast<double>(i);
    Array<double, Cuda> X;
    OK(X.allocate(ex, static_cast<std::int64_t>(x.size())));
    OK(copy_in(ex, X.data(), x.data(), X.bytes()));
    OK(copy_out(ex, y.data(), X.data(), X.bytes()));
    EXPECT_EQ(x, y);
  }
  OK(synchronise(ex));
  OK(close(ex));
}
} // namespace amgkit::test
