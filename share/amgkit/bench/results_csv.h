/* Rows of results/results.csv, one a measurement, in the columns that the benchmark knows. */
#ifndef AMGKIT_BENCH_RESULTS_CSV_H
#define AMGKIT_BENCH_RESULTS_CSV_H

#include <petscsys.h>

typedef struct {
  const char *system, *type;
  PetscBool shuffled, weak, on_device;
  PetscInt size, rows, iterations;
  double setup_ms, solve_ms, resetup_ms, memory_gb; /* the last two less than 0: not measured */
} Measurement;

/* Appends a row with the options now in force, below the names of the columns if the file is empty; without a measurement, those alone.
 * Collective. */
PetscErrorCode ResultsCsvAppend(MPI_Comm comm, const char file[], const Measurement *measurement);

#endif
