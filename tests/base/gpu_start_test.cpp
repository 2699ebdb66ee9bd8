// The start of the GPU beside the program: on a machine with a GPU, without one, and with several processes.
#include "amgkit.h"
#include "base/copies_within.hpp"
#include "base/gpu.hpp"
#include "base/gpu_start.hpp"
#include "base/space.hpp"
#include "support/petsc_problems.hpp"

namespace amgkit::test
{
// The first test of the process: it has one start.
TEST(GpuStart, LoadsAllFilesOfKernelsOrNone)
{
  int processes;
  OK(MPI_Comm_size(PETSC_COMM_WORLD, &processes));
  OK(AMGKitRegister()); // the whole library is in this program
  OK(start_gpu_ahead());
  const LoadedAhead loaded = loaded_ahead();
  EXPECT_GT(loaded.of, 5);
  EXPECT_EQ(loaded.files, processes == 1 && why_no_gpu().empty() ? loaded.of : 0);
}

TEST(GpuStart, IsMadeOnce)
{
  OK(start_gpu_ahead());
  const int before = loaded_ahead().files;
  OK(start_gpu_ahead());
  OK(load_kernels_ahead());
  EXPECT_EQ(loaded_ahead().files, before);
}

TEST(GpuStart, IsFollowedBySpaces)
{
  if (!why_no_gpu().empty()) GTEST_SKIP() << why_no_gpu();
  Cuda ex;
  OK(open(ex));
  OK(synchronise(ex));
  OK(close(ex));
}
} // namespace amgkit::test
