/* Counts what crosses between the processes, by level and phase of AMGKit's log events: see amgkit_crossings.c. */
#ifndef AMGKIT_BENCH_CROSSINGS_H
#define AMGKIT_BENCH_CROSSINGS_H

#include "crossings_counts.h"
#include <petscsys.h>

#if PETSC_VERSION_LT(3, 19, 0) && !defined(PETSC_SUCCESS)
  #define PETSC_SUCCESS 0
#endif

/* Once the library's log events are registered. */
PetscErrorCode CrossingsBegin(void);
/* From here on counts are of this window; nothing is counted between windows, which end with NULL. */
PetscErrorCode CrossingsWindow(const char name[]);
/* Collective. Prints a line for each window, level and phase: the most that a process counted of each, then the sums of all. */
PetscErrorCode CrossingsPrint(MPI_Comm comm);

#endif
