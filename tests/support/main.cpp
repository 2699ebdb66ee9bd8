// gtest under MPI: every rank runs every test, rank 0 prints, and a failure on any rank fails the program.
#include "base/gpu.hpp"
#include "support/options.hpp"
#include "support/spaces.hpp"

#include <cstdio>
#include <cstdlib>
#include <petscksp.h>
#if defined(PETSC_HAVE_CUDA)
  #include <petscdevice.h>
#endif

namespace amgkit::test
{
bool have_cuda_space() { return why_no_gpu().empty(); }

bool have_gpu()
{
#if defined(PETSC_HAVE_CUDA)
  return have_cuda_space() && PetscDeviceInitialize(PETSC_DEVICE_CUDA) == PETSC_SUCCESS;
#else
  return false;
#endif
}

bool full_run() { return std::getenv("AMGKIT_FULL") != nullptr; }

bool count_on_large_grids()
{
#if defined(__SANITIZE_ADDRESS__) || defined(PETSC_USE_64BIT_INDICES)
  return false;
#elif defined(AMGKIT_HAVE_CUDA)
  return have_gpu();
#else
  return true;
#endif
}
} // namespace amgkit::test

namespace
{
// Failures of ranks other than 0, with the rank.
class RankPrinter : public ::testing::EmptyTestEventListener {
public:
  explicit RankPrinter(int rank) : rank_(rank) {}
  void OnTestPartResult(const ::testing::TestPartResult &result) override
  {
    if (result.failed())
      std::fprintf(stderr, "[rank %d] %s:%d: %s\n", rank_, result.file_name() ? result.file_name() : "?", result.line_number(),
                   result.summary());
  }

private:
  int rank_;
};
} // namespace

int main(int argc, char **argv)
{
  int rank = 0;
  ::testing::InitGoogleTest(&argc, argv);
  if (PetscInitialize(&argc, &argv, nullptr, nullptr)) return 1;
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  auto &listeners = ::testing::UnitTest::GetInstance()->listeners();
  if (rank > 0) {
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new RankPrinter(rank));
  }
  amgkit::test::watch_options();
  int failed = RUN_ALL_TESTS() != 0;
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, PETSC_COMM_WORLD);
  if (PetscFinalize()) failed = 1;
  return failed;
}
