// A setup on a GPU that has no memory left.
#pragma once
#include "support/petsc_problems.hpp"

#if defined(AMGKIT_HAVE_CUDA)
  #include <cuda_runtime_api.h>
#endif

namespace amgkit::test
{
#if defined(AMGKIT_HAVE_CUDA)
// The last rank's GPU is full, to a megabyte, while f runs. Collective.
template <class F> void with_full_device(F f)
{
  std::vector<void *> taken;
  MPI_Barrier(PETSC_COMM_WORLD);
  if (rank_of_world() == size_of_world() - 1) {
    for (std::size_t size = std::size_t{1} << 37; size >= std::size_t{1} << 20;) {
      void *p = nullptr;
      if (cudaMalloc(&p, size) == cudaSuccess)
        taken.push_back(p);
      else
        size /= 2;
    }
    static_cast<void>(cudaGetLastError());
  }
  MPI_Barrier(PETSC_COMM_WORLD);
  f();
  for (void *p : taken) ASSERT_EQ(cudaFree(p), cudaSuccess);
  MPI_Barrier(PETSC_COMM_WORLD);
}

// A solve that sets up then ends with KSP_DIVERGED_PC_FAILED, on every rank; one with memory again converges.
inline void solve_on_full_device(const char *type)
{
  if (!have_gpu()) GTEST_SKIP() << "no GPU here";
  OwnedMat A;
  OwnedVec x, b;
  OwnedKSP ksp;
  PC pc;
  Solution solution;
  OK(distribute(grid7(48, 48, 48), true, A.out()));
  OK(make_system(A, x.out(), b.out()));
  OK(make_ksp(A, "-ksp_type cg", ksp.out(), type));
  OK(KSPGetPC(ksp, &pc));
  OK(KSPSolve(ksp, b, x)); // everything PETSc needs for itself is in place
  OK(PCReset(pc));
  OK(MatScale(A, 1.5));
  OK(VecSet(x, 0));
  with_full_device([&] {
    KSPConvergedReason reason;
    OK(KSPSetOperators(ksp, A, A));
    OK(KSPSolve(ksp, b, x));
    OK(KSPGetConvergedReason(ksp, &reason));
    EXPECT_EQ(reason, KSP_DIVERGED_PC_FAILED);
  });
  OK(MatScale(A, 1.5));
  OK(VecSet(x, 0));
  OK(solve(ksp, b, x, &solution));
  EXPECT_TRUE(solution.converged());
  EXPECT_LE(solution.residual, 1e-6);
}
#else
inline void solve_on_full_device(const char *) { GTEST_SKIP() << "built without CUDA"; }
#endif
} // namespace amgkit::test
