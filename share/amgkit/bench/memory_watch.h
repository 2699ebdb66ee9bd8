/* The device memory in use at its peak, watched by a thread that asks for the free memory five times a millisecond. */
#ifndef AMGKIT_BENCH_MEMORY_WATCH_H
#define AMGKIT_BENCH_MEMORY_WATCH_H

#include <petscmat.h>
#if PetscDefined(HAVE_CUDA)
  #include <pthread.h>

/* A thread that keeps the least free memory of the device seen until running is unlocked. */
typedef struct {
  pthread_t thread;
  pthread_mutex_t running;
  int device;
  size_t free_before, free_least;
} MemoryWatch;

/* Starts the watch; what the device's default pool only holds in reserve is given back first. Collective. */
PetscErrorCode MemoryWatchBegin(MemoryWatch *watch);
/* Ends the watch. On return: the most bytes of any device above those at the start, and the same in units of the rank's matrix as
   CSR. Collective. */
PetscErrorCode MemoryWatchEnd(MemoryWatch *watch, Mat A, PetscReal *bytes, PetscReal *of_A);
#endif

#endif
