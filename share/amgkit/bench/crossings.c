/* What is counted goes to the level and the phase whose log events have begun last. */
#include "crossings.h"

#include <petsclog.h>

#define MOST_WINDOWS 8
#define LEVELS 11 /* 0 to 9, and none */
#define PHASES 15 /* and none */
#define MOST_DEPTH 64

static const char *const columns[CROSSINGS_COUNT] = {"exchanges",   "messages",         "bytes",     "starts", "waits",
                                                     "collectives", "collective_bytes", "host_waits"};
static const char *const phases[PHASES] = {"Strength", "Coarsen", "Interp", "RAP",      "Spectrum", "Smooth",   "Transfer",  "Krylov",
                                           "Coarse",   "ILUSym",  "ILUNum", "ILUSolve", "ValuesUp", "VectorUp", "VectorDown"};
static struct {
  PetscLogEvent level[LEVELS - 1], phase[PHASES], wait, halo;
  const char *window[MOST_WINDOWS];
  int nwindows;
  PetscBool counting, in_exchange;                              /* of exchanges, what begins or ends one */
  int levels[MOST_DEPTH], nlevels, phases[MOST_DEPTH], nphases; /* that have begun */
  PetscReal count[MOST_WINDOWS][LEVELS][PHASES + 1][CROSSINGS_COUNT];
} state;

void CrossingsAdd(int column, double amount)
{
  const int level = state.nlevels ? state.levels[state.nlevels - 1] : LEVELS - 1,
            phase = state.nphases ? state.phases[state.nphases - 1] : PHASES;

  if (state.counting) state.count[state.nwindows - 1][level][phase][column] += amount;
}

static PetscErrorCode EventBegin(PetscLogEvent event)
{
  if (event == state.halo) {
    state.in_exchange = PETSC_TRUE;
    CrossingsAdd(CROSSINGS_EXCHANGES, 0.5); /* one event begins it, another ends it */
  }
  if (event == state.wait && !state.in_exchange) CrossingsAdd(CROSSINGS_HOST_WAITS, 1);
  for (int l = 0; l < LEVELS - 1; l++) {
    if (event == state.level[l] && state.nlevels < MOST_DEPTH) state.levels[state.nlevels++] = l;
  }
  for (int p = 0; p < PHASES; p++) {
    if (event == state.phase[p] && state.nphases < MOST_DEPTH) state.phases[state.nphases++] = p;
  }
  return PETSC_SUCCESS;
}

static PetscErrorCode EventEnd(PetscLogEvent event)
{
  if (event == state.halo) state.in_exchange = PETSC_FALSE;
  for (int l = 0; l < LEVELS - 1; l++) {
    if (event == state.level[l] && state.nlevels > 0) state.nlevels--;
  }
  for (int p = 0; p < PHASES; p++) {
    if (event == state.phase[p] && state.nphases > 0) state.nphases--;
  }
  return PETSC_SUCCESS;
}

static PetscErrorCode OnBegin(PetscLogEvent event, int t, PetscObject o1, PetscObject o2, PetscObject o3, PetscObject o4)
{
  (void)t, (void)o1, (void)o2, (void)o3, (void)o4;
  return EventBegin(event);
}

static PetscErrorCode OnEnd(PetscLogEvent event, int t, PetscObject o1, PetscObject o2, PetscObject o3, PetscObject o4)
{
  (void)t, (void)o1, (void)o2, (void)o3, (void)o4;
  return EventEnd(event);
}

static PetscErrorCode FindEvent(const char name[], PetscLogEvent *event)
{
  PetscFunctionBegin;
  PetscCall(PetscLogEventGetId(name, event));
  PetscCheck(*event >= 0, PETSC_COMM_SELF, PETSC_ERR_SUP, "No log event %s: load the library by -dll_append, with a PETSc that logs", name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CrossingsBegin(void)
{
  char name[64];

  PetscFunctionBegin;
  for (int l = 0; l < LEVELS - 1; l++) {
    PetscCall(PetscSNPrintf(name, sizeof(name), "AMGKitLevel%d", l));
    PetscCall(FindEvent(name, &state.level[l]));
  }
  for (int p = 0; p < PHASES; p++) {
    PetscCall(PetscSNPrintf(name, sizeof(name), "AMGKit%s", phases[p]));
    PetscCall(FindEvent(name, &state.phase[p]));
  }
  PetscCall(FindEvent("AMGKitWait", &state.wait));
  PetscCall(FindEvent("AMGKitHalo", &state.halo));
#if PETSC_VERSION_LT(3, 20, 0)
  PetscCall(PetscLogSet(OnBegin, OnEnd));
#else
  PetscCall(PetscLogLegacyCallbacksBegin(OnBegin, OnEnd, NULL, NULL));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CrossingsWindow(const char name[])
{
  PetscFunctionBegin;
  state.counting = PETSC_FALSE;
  if (!name) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(state.nwindows < MOST_WINDOWS, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "At most %d windows", MOST_WINDOWS);
  state.window[state.nwindows++] = name;
  state.counting = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CrossingsPrint(MPI_Comm comm)
{
  PetscReal most[CROSSINGS_COUNT], sum[CROSSINGS_COUNT];

  PetscFunctionBegin;
  PetscCall(PetscPrintf(comm, "crossings window level phase"));
  for (int c = 0; c < CROSSINGS_COUNT; c++) PetscCall(PetscPrintf(comm, " %s", columns[c]));
  for (int c = 0; c < CROSSINGS_COUNT; c++) PetscCall(PetscPrintf(comm, " all_%s", columns[c]));
  PetscCall(PetscPrintf(comm, "\n"));
  for (int w = 0; w < state.nwindows; w++) {
    for (int l = 0; l < LEVELS; l++) {
      for (int p = 0; p <= PHASES; p++) {
        PetscReal any = 0;
        PetscCallMPI(PMPI_Allreduce(state.count[w][l][p], most, CROSSINGS_COUNT, MPIU_REAL, MPI_MAX, comm));
        PetscCallMPI(PMPI_Allreduce(state.count[w][l][p], sum, CROSSINGS_COUNT, MPIU_REAL, MPI_SUM, comm));
        for (int c = 0; c < CROSSINGS_COUNT; c++) any += most[c];
        if (any == 0) continue;
        PetscCall(PetscPrintf(comm, "crossings %s %d %s", state.window[w], l < LEVELS - 1 ? l : -1, p < PHASES ? phases[p] : "none"));
        for (int c = 0; c < CROSSINGS_COUNT; c++) PetscCall(PetscPrintf(comm, " %.0f", (double)most[c]));
        for (int c = 0; c < CROSSINGS_COUNT; c++) PetscCall(PetscPrintf(comm, " %.0f", (double)sum[c]));
        PetscCall(PetscPrintf(comm, "\n"));
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
