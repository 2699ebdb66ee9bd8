#include "memory_watch.h"

#if PetscDefined(HAVE_CUDA)
  #include "model_problem.h" /* PETSC_SUCCESS, which older versions lack */
  #include <petscdevice_cuda.h>
  #include <time.h>

static void *MemoryWatchLoop(void *context)
{
  MemoryWatch *watch = (MemoryWatch *)context;
  const struct timespec pause = {0, 200000};
  size_t free_now, total;

  if (cudaSetDevice(watch->device) != cudaSuccess) return NULL;
  while (pthread_mutex_trylock(&watch->running) != 0) {
    if (cudaMemGetInfo(&free_now, &total) == cudaSuccess && free_now < watch->free_least) watch->free_least = free_now;
    nanosleep(&pause, NULL);
  }
  pthread_mutex_unlock(&watch->running);
  return NULL;
}

PetscErrorCode MemoryWatchBegin(MemoryWatch *watch)
{
  cudaMemPool_t pool;
  size_t total;

  PetscFunctionBeginUser;
  PetscCallCUDA(cudaGetDevice(&watch->device));
  PetscCallCUDA(cudaDeviceSynchronize());
  if (cudaDeviceGetDefaultMemPool(&pool, watch->device) == cudaSuccess) PetscCallCUDA(cudaMemPoolTrimTo(pool, 0));
  PetscCallCUDA(cudaMemGetInfo(&watch->free_before, &total));
  watch->free_least = watch->free_before;
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD)); /* ranks may share a device */
  pthread_mutex_init(&watch->running, NULL);
  pthread_mutex_lock(&watch->running);
  PetscCheck(!pthread_create(&watch->thread, NULL, MemoryWatchLoop, watch), PETSC_COMM_SELF, PETSC_ERR_SYS,
             "No thread for -memory: switch it off");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MemoryWatchEnd(MemoryWatch *watch, Mat A, PetscReal *bytes, PetscReal *of_A)
{
  PetscReal used[2];
  MatInfo info;
  PetscInt m;

  PetscFunctionBeginUser;
  pthread_mutex_unlock(&watch->running);
  pthread_join(watch->thread, NULL);
  pthread_mutex_destroy(&watch->running);
  PetscCall(MatGetInfo(A, MAT_LOCAL, &info));
  PetscCall(MatGetLocalSize(A, &m, NULL));
  used[0] = (PetscReal)(watch->free_before - watch->free_least);
  used[1] = used[0] / (info.nz_used * (sizeof(PetscScalar) + sizeof(PetscInt)) + (m + 1) * sizeof(PetscInt));
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, used, 2, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  *bytes = used[0];
  *of_A = used[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
