/* What a process counts. */
#ifndef AMGKIT_BENCH_CROSSINGS_COUNTS_H
#define AMGKIT_BENCH_CROSSINGS_COUNTS_H

enum {
  CROSSINGS_EXCHANGES,        /* of the library, each with its neighbours */
  CROSSINGS_MESSAGES,         /* sent to one process */
  CROSSINGS_BYTES,            /* in them */
  CROSSINGS_STARTS,           /* calls that sent some of them, many at once or one */
  CROSSINGS_WAITS,            /* calls that waited for messages */
  CROSSINGS_COLLECTIVES,      /* collective calls */
  CROSSINGS_COLLECTIVE_BYTES, /* that this process gave to them */
  CROSSINGS_HOST_WAITS,       /* of the host for the device but in exchanges, where the space is debug or cuda */
  CROSSINGS_COUNT
};

/* Adds to the column, in the window, level and phase under way. */
void CrossingsAdd(int column, double amount);

#endif
