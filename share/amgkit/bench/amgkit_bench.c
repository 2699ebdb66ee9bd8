static char help[] = "Times PETSc preconditioners on model problems of an n x n x n grid.\n\
  -system <which>         : the matrix (default 7)\n\
     7, 27, aniso, jump   : 7 or 27 points, anisotropy, jumping coefficient; neumann: 7 points, singular\n\
     kuhn, sliver, p2     : tetrahedra: good ones, flat ones with a jump, quadratic ones (n is odd: an even n counts as n - 1)\n\
     graded, mesh2d       : trilinear bricks whose layers grow by 1000 : 1; triangles of an n x n grid\n\
     elasticity, file     : trilinear cubes, 3 unknowns a point; a file\n\
  -f <file>               : -system file: the matrix, in PETSc's binary format; -n is not used\n\
  -rhs <file>             : -system file: the right-hand side, likewise (default: ones)\n\
  -spd                    : -system file: the matrix is symmetric positive definite, and the methods may rely on it\n\
  -n <n>                  : grid points a side (default 64)\n\
  -shuffle                : rows and columns in a random order, as of an unstructured grid; not for elasticity,\n\
                            blocks or -rhs\n\
  -weak                   : n is for each rank: the grid is n x n x (n ranks); not for p2\n\
  -pcs <list>             : preconditioners to compare in this one run, each TYPE or 'TYPE:OPTIONS',\n\
                            separated by ';' (or by ',' when none of them has options), for example\n\
                            -pcs \"gamg;amgmatching:-ksp_type amgfcg -pc_amgmatching_matching_steps 3\"\n\
                            (default: one run with the -pc_ and -ksp_ options of the command line)\n\
  -peers                  : add the multigrids that PETSc may have been built with: gamg, hypre, ml\n\
  -repeat <k>             : report the best of k setups and of k solves (default 3)\n\
  -resetup                : time another setup too, after new values of the matrix on the same pattern\n\
  -memory <bool>          : on a GPU: an untimed first round in which device memory is watched (default false)\n\
  -csv <file>             : append a row for each measurement, in the columns of results/results.csv\n\
  -check_symmetry         : test the matrix for symmetry first\n\
Options outside the list hold for every entry; an entry's own options win. On a GPU give\n\
-mat_type aijcusparse -vec_type cuda. Times are in milliseconds, the slowest rank counts.\n\n";

/*
  Right-hand side of ones (of 1 and -1 where constants are a null space), zero guess, CG to a relative residual of 1e-8 in the
  unpreconditioned norm unless options say otherwise. Setup starts with the matrix where PETSc wants it (on the GPU for a GPU type) and ends
  when KSPSolve() can start; every setup is of a fresh KSP. The true residual is computed anew after the solve.
*/
#include "memory_watch.h"
#include "results_csv.h"
#include "systems.h"
#include <petscdevice.h>
#include <petscksp.h>
#include <petsctime.h>
#if PetscDefined(HAVE_CUDA)
  #include <petscdevice_cuda.h>
#endif

typedef struct {
  PetscInt system, n, repeat;
  PetscBool shuffle, weak, peers, resetup, memory, check_symmetry;
  char pcs[8192], csv[PETSC_MAX_PATH_LEN];
  FileProblem file;
  Mat A;
  PetscBool on_device;
} Bench;

typedef struct {
  char type[64];
  PetscLogDouble setup, solve, resetup; /* seconds, best of the rounds */
  PetscInt its;
  PetscReal relres;              /* ||b - A x|| / ||b|| */
  PetscReal memory, memory_of_A; /* device bytes at the peak above the matrix; in units of the matrix */
  char status[512];
} Result;

typedef struct {
  KSP ksp;
  Vec b, x, r;
} Round;

/* What the options say besides the preconditioners' own. */
static PetscErrorCode BenchOptions(Bench *bench)
{
  const char *names[SYSTEMS_COUNT];

  PetscFunctionBeginUser;
  for (PetscInt k = 0; k < SYSTEMS_COUNT; k++) names[k] = SystemsName(k);
  PetscCall(PetscMemzero(bench, sizeof(*bench)));
  bench->system = SYSTEM_7;
  bench->n = 64;
  bench->repeat = 3;
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "amgkit_bench", NULL);
  PetscCall(PetscOptionsEList("-system", "The matrix", NULL, names, SYSTEMS_COUNT, names[bench->system], &bench->system, NULL));
  PetscCall(PetscOptionsInt("-n", "Grid points a side", NULL, bench->n, &bench->n, NULL));
  PetscCall(PetscOptionsBool("-shuffle", "Rows and columns in a random order", NULL, bench->shuffle, &bench->shuffle, NULL));
  PetscCall(PetscOptionsBool("-weak", "n is for each rank", NULL, bench->weak, &bench->weak, NULL));
  PetscCall(PetscOptionsString("-pcs", "Preconditioners, TYPE or 'TYPE:OPTIONS' separated by ;", NULL, bench->pcs, bench->pcs,
                               sizeof(bench->pcs), NULL));
  PetscCall(PetscOptionsBool("-peers", "Add gamg, hypre, ml", NULL, bench->peers, &bench->peers, NULL));
  PetscCall(PetscOptionsInt("-repeat", "Best of so many setups and solves", NULL, bench->repeat, &bench->repeat, NULL));
  PetscCall(PetscOptionsBool("-resetup", "Time a setup for new values too", NULL, bench->resetup, &bench->resetup, NULL));
  PetscCall(PetscOptionsBool("-memory", "Watch device memory in an untimed first round", NULL, bench->memory, &bench->memory, NULL));
  PetscCall(PetscOptionsString("-csv", "Append rows of results.csv to this file", NULL, bench->csv, bench->csv, sizeof(bench->csv), NULL));
  PetscCall(PetscOptionsBool("-check_symmetry", "Test the matrix for symmetry", NULL, bench->check_symmetry, &bench->check_symmetry, NULL));
  PetscOptionsEnd();
  PetscCall(FileProblemOptions(&bench->file, bench->system == SYSTEMS_FILE ? PETSC_TRUE : PETSC_FALSE));
  PetscCheck(!(bench->shuffle && bench->file.rhs[0]), PETSC_COMM_WORLD, PETSC_ERR_SUP, "-shuffle would leave -rhs as it is");
  PetscCheck(bench->n > 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-n %" PetscInt_FMT " must be positive", bench->n);
  PetscCheck(!bench->shuffle || bench->system != SYSTEMS_ELASTICITY, PETSC_COMM_WORLD, PETSC_ERR_SUP, "-shuffle is not for elasticity");
  PetscCheck(bench->repeat > 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-repeat %" PetscInt_FMT " must be positive", bench->repeat);
  /* The list holds options of its own; it must not reach the entries' databases, which are made from text. */
  PetscCall(PetscOptionsClearValue(NULL, "-pcs"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Vectors fit for A; -vec_type wins over what A would choose. */
static PetscErrorCode CreateVector(Mat A, Vec *v)
{
  PetscBool given;
  PetscInt m, M;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsHasName(NULL, NULL, "-vec_type", &given));
  if (given) {
    PetscCall(MatGetLocalSize(A, &m, NULL));
    PetscCall(MatGetSize(A, &M, NULL));
    PetscCall(VecCreate(PetscObjectComm((PetscObject)A), v));
    PetscCall(VecSetSizes(*v, m, M));
    PetscCall(VecSetFromOptions(*v));
  } else
    PetscCall(MatCreateVecs(A, v, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Builds A and makes one product with it, so that it is on the device if its type is a GPU one. */
static PetscErrorCode BenchSetUp(Bench *bench)
{
  PetscBool symmetric;
  Vec x, y;
  const PetscScalar *array;
  PetscMemType where;

  PetscFunctionBeginUser;
  PetscCall(SystemsCreateMat(PETSC_COMM_WORLD, bench->system, &bench->file, bench->weak, bench->shuffle, &bench->n, &bench->A));
  PetscCall(SystemsDescribeMat(bench->system, &bench->file, bench->check_symmetry, bench->A, &symmetric));
  if (bench->check_symmetry) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "# the matrix is %ssymmetric\n", symmetric ? "" : "NOT "));
  PetscCall(CreateVector(bench->A, &x));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(VecSet(x, 1.0));
  PetscCall(MatMult(bench->A, x, y));
  PetscCall(VecGetArrayReadAndMemType(y, &array, &where));
  bench->on_device = PetscMemTypeDevice(where) ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(VecRestoreArrayReadAndMemType(y, &array));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The time at which every rank has come here and all work on its device is done. */
static PetscErrorCode Now(const Bench *bench, PetscLogDouble *time)
{
  PetscFunctionBeginUser;
#if PetscDefined(HAVE_CUDA)
  if (bench->on_device) PetscCallCUDA(cudaDeviceSynchronize());
#else
  (void)bench;
#endif
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  PetscCall(PetscTime(time));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The unpreconditioned norm, for the methods that have it, unless an option asks for another. */
static PetscErrorCode SetNorm(KSP ksp)
{
  PetscBool given, has;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsHasName(NULL, NULL, "-ksp_norm_type", &given));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)ksp, &has, KSPCG, KSPFCG, KSPPIPECG, KSPGROPPCG, KSPBCGS, KSPGMRES, KSPFGMRES, KSPGCR,
                                      KSPRICHARDSON, ""));
  if (has && !given) PetscCall(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One setup and one solve with a fresh KSP; keeps the better times. What it made is left in round. */
static PetscErrorCode RoundRun(const Bench *bench, Round *round, PetscBool timed, Result *result)
{
  PetscLogDouble t[4];
  PetscReal norm_b, norm_r, rtol;
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(CreateVector(bench->A, &round->b));
  PetscCall(VecDuplicate(round->b, &round->x));
  PetscCall(VecDuplicate(round->b, &round->r));
  PetscCall(SystemsFillRhs(&bench->file, bench->A, round->b));
  PetscCall(VecSet(round->x, 0.0));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &round->ksp));
  PetscCall(KSPSetOperators(round->ksp, bench->A, bench->A));
  PetscCall(KSPSetType(round->ksp, KSPCG));
  PetscCall(KSPSetTolerances(round->ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 2000));
  PetscCall(KSPSetFromOptions(round->ksp));
  PetscCall(SetNorm(round->ksp));
  PetscCall(Now(bench, &t[0]));
  PetscCall(KSPSetUp(round->ksp));
  PetscCall(KSPSetUpOnBlocks(round->ksp));
  PetscCall(Now(bench, &t[1]));
  PetscCall(Now(bench, &t[2]));
  PetscCall(KSPSolve(round->ksp, round->b, round->x));
  PetscCall(Now(bench, &t[3]));
  if (timed) {
    result->setup = PetscMin(result->setup, t[1] - t[0]);
    result->solve = PetscMin(result->solve, t[3] - t[2]);
  }
  PetscCall(MatMult(bench->A, round->x, round->r));
  PetscCall(VecAYPX(round->r, -1.0, round->b));
  PetscCall(VecNorm(round->b, NORM_2, &norm_b));
  PetscCall(VecNorm(round->r, NORM_2, &norm_r));
  result->relres = norm_r / norm_b;
  PetscCall(KSPGetIterationNumber(round->ksp, &result->its));
  PetscCall(KSPGetConvergedReason(round->ksp, &reason));
  PetscCall(KSPGetTolerances(round->ksp, &rtol, NULL, NULL, NULL));
  if (reason > 0 && !(result->relres <= 10.0 * rtol))
    PetscCall(PetscStrncpy(result->status, "WRONG_RESIDUAL", sizeof(result->status)));
  else
    PetscCall(PetscStrncpy(result->status, KSPConvergedReasons[reason], sizeof(result->status)));
  for (int k = 0; timed && bench->resetup && k < 2; k++) {
    PetscCall(MatScale(bench->A, k == 0 ? 2.0 : 0.5));
    PetscCall(KSPSetOperators(round->ksp, bench->A, bench->A));
    PetscCall(Now(bench, &t[0]));
    PetscCall(KSPSetUp(round->ksp));
    PetscCall(KSPSetUpOnBlocks(round->ksp));
    PetscCall(Now(bench, &t[1]));
    result->resetup = PetscMin(result->resetup, t[1] - t[0]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RoundDestroy(Round *round)
{
  PetscFunctionBeginUser;
  PetscCall(KSPDestroy(&round->ksp));
  PetscCall(VecDestroy(&round->b));
  PetscCall(VecDestroy(&round->x));
  PetscCall(VecDestroy(&round->r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On a device, the untimed round that the memory is watched in; then the timed ones. */
static PetscErrorCode RunRounds(const Bench *bench, Round *round, Result *result)
{
  PetscFunctionBeginUser;
#if PetscDefined(HAVE_CUDA)
  if (bench->on_device && bench->memory) {
    MemoryWatch watch;
    PetscErrorCode ierr;

    PetscCall(MemoryWatchBegin(&watch));
    ierr = RoundRun(bench, round, PETSC_FALSE, result);
    PetscCall(MemoryWatchEnd(&watch, bench->A, &result->memory, &result->memory_of_A));
    PetscCall(ierr);
    PetscCall(RoundDestroy(round));
  }
#endif
  for (PetscInt k = 0; k < bench->repeat; k++) {
    PetscCall(RoundRun(bench, round, PETSC_TRUE, result));
    PetscCall(RoundDestroy(round));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Keeps the message of an error for the table instead of printing it. */
static PetscErrorCode KeepMessage(MPI_Comm comm, int line, const char *function, const char *file, PetscErrorCode code, PetscErrorType type,
                                  const char *message, void *context)
{
  Result *result = (Result *)context;

  (void)comm;
  (void)line;
  (void)file;
  if (type == PETSC_ERROR_INITIAL) {
    (void)PetscSNPrintf(result->status, sizeof(result->status), "ERROR %d in %s: %s", (int)code, function, message);
    for (char *c = result->status; *c; c++) {
      if (*c == '\n') *c = ' ';
    }
  }
  return code;
}

/* Runs with the options now in force. A missing PC type or an error becomes the result's status. */
static PetscErrorCode RunGuarded(const Bench *bench, Result *result)
{
  Round round = {NULL, NULL, NULL, NULL};
  PetscErrorCode ierr;
  void (*create)(void) = NULL;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-pc_type", result->type, sizeof(result->type), NULL));
  PetscCall(PetscFunctionListFind(PCList, result->type, &create));
  if (result->type[0] && !create) {
    PetscCall(PetscStrncpy(result->status, "not available", sizeof(result->status)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscPushErrorHandler(KeepMessage, result));
  ierr = RunRounds(bench, &round, result);
  if (ierr) (void)RoundDestroy(&round);
  PetscCall(PetscPopErrorHandler());
  if (!result->type[0]) PetscCall(PetscStrncpy(result->type, "default", sizeof(result->type)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PrintHead(const Bench *bench)
{
  PetscMPIInt size;
  char version[256];
  MatType mat_type;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(PetscGetVersion(version, sizeof(version)));
  PetscCall(MatGetType(bench->A, &mat_type));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "# %s\n# matrix %s%s on the %s, best of %" PetscInt_FMT "\n", version, mat_type,
                        bench->shuffle ? ", shuffled," : "", bench->on_device ? "GPU" : "CPU", bench->repeat));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-6s %4s %10s %5s %-14s %5s %11s %11s %11s %12s %9s %6s %10s %s\n", "system", "n", "rows",
                        "ranks", "pc", "its", "setup_ms", "solve_ms", "total_ms", "true_relres", "mem_MB", "mem/A", "resetup_ms",
                        "status"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One line of the table, the same number of words in each up to the status; '-' is what was not measured. */
static PetscErrorCode PrintResult(const Bench *bench, const Result *result)
{
  const PetscBool timed = result->solve < PETSC_MAX_REAL ? PETSC_TRUE : PETSC_FALSE;
  PetscInt rows;
  PetscMPIInt size;
  char measured[128] = "    -           -           -           -            -", memory[64] = "        -      -",
       resetup[32] = "         -";

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(MatGetSize(bench->A, &rows, NULL));
  if (timed)
    PetscCall(PetscSNPrintf(measured, sizeof(measured), "%5" PetscInt_FMT " %11.3f %11.3f %11.3f %12.2e", result->its, 1e3 * result->setup,
                            1e3 * result->solve, 1e3 * (result->setup + result->solve), (double)result->relres));
  if (result->memory >= 0.0)
    PetscCall(PetscSNPrintf(memory, sizeof(memory), "%9.1f %6.2f", (double)(1e-6 * result->memory), (double)result->memory_of_A));
  if (timed && bench->resetup) PetscCall(PetscSNPrintf(resetup, sizeof(resetup), "%10.3f", 1e3 * result->resetup));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-6s %4" PetscInt_FMT " %10" PetscInt_FMT " %5d %-14s %s %s %s %s\n", SystemsName(bench->system),
                        bench->n, rows, (int)size, result->type, measured, memory, resetup, result->status));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A row of the file that -csv names, if the entry converged. */
static PetscErrorCode RecordResult(const Bench *bench, const Result *result)
{
  Measurement row;
  PetscBool converged;

  PetscFunctionBeginUser;
  PetscCall(PetscStrbeginswith(result->status, "CONVERGED", &converged));
  if (!bench->csv[0] || !converged) PetscFunctionReturn(PETSC_SUCCESS);
  row.system = SystemsName(bench->system);
  row.type = result->type;
  row.shuffled = bench->shuffle;
  row.weak = bench->weak;
  row.on_device = bench->on_device;
  row.size = bench->n;
  row.iterations = result->its;
  row.setup_ms = 1e3 * result->setup;
  row.solve_ms = 1e3 * result->solve;
  row.resetup_ms = bench->resetup ? 1e3 * result->resetup : -1.0;
  row.memory_gb = 1e-9 * (double)result->memory;
  PetscCall(MatGetSize(bench->A, &row.rows, NULL));
  PetscCall(ResultsCsvAppend(PETSC_COMM_WORLD, bench->csv, &row));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Names the entry's options that nothing asked for: a misspelt one must not look like a measurement. */
static PetscErrorCode WarnUnused(PetscOptions options, const char entry[])
{
  PetscInt N;
  char **names, **values;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsLeftGet(options, &N, &names, &values));
  for (PetscInt k = 0; k < N; k++) {
    char dashed[256];
    PetscBool own;
    char **words;
    int nwords;

    PetscCall(PetscSNPrintf(dashed, sizeof(dashed), "-%s", names[k]));
    PetscCall(PetscStrToArray(entry, ' ', &nwords, &words));
    own = PETSC_FALSE;
    for (int w = 0; w < nwords && !own; w++) PetscCall(PetscStrcasecmp(words[w], dashed, &own));
    PetscCall(PetscStrToArrayDestroy(nwords, words));
    if (own) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "# warning: option %s was not used\n", dashed));
  }
  PetscCall(PetscOptionsLeftRestore(options, &N, &names, &values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Tells the program's database which of its options an entry's database used, so that PETSc does not report them as unused. */
static PetscErrorCode PassOnUse(PetscOptions options)
{
  PetscInt N;
  char **names, **values;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsLeftGet(NULL, &N, &names, &values));
  for (PetscInt k = 0; k < N; k++) {
    char dashed[256];
    PetscBool used;

    PetscCall(PetscOptionsUsed(options, names[k], &used));
    PetscCall(PetscSNPrintf(dashed, sizeof(dashed), "-%s", names[k]));
    if (used) PetscCall(PetscOptionsHasName(NULL, NULL, dashed, &used));
  }
  PetscCall(PetscOptionsLeftRestore(NULL, &N, &names, &values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Runs one entry, TYPE or TYPE:OPTIONS or nothing, in a database of the program's options overridden by the entry's. */
static PetscErrorCode RunEntry(const Bench *bench, const char entry[])
{
  PetscOptions options;
  Result result;
  char *all, *own, type[64] = "";
  size_t length;

  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(&result, sizeof(result)));
  result.setup = result.solve = result.resetup = PETSC_MAX_REAL;
  result.memory = -1.0;
  while (*entry == ' ') entry++;
  PetscCall(PetscStrchr(entry, ':', &own));
  PetscCall(PetscStrlen(entry, &length));
  if (own) length = (size_t)(own - entry);
  PetscCheck(length < sizeof(type), PETSC_COMM_WORLD, PETSC_ERR_ARG_WRONG, "-pcs: '%s' should be TYPE or TYPE:OPTIONS", entry);
  PetscCall(PetscStrncpy(type, entry, length + 1));
  PetscCall(PetscOptionsGetAll(NULL, &all));
  PetscCall(PetscOptionsCreate(&options));
  PetscCall(PetscOptionsInsertString(options, all));
  PetscCall(PetscFree(all));
  if (own) {
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "# %s with %s\n", type, own + 1));
    PetscCall(PetscOptionsInsertString(options, own + 1));
  }
  if (type[0]) PetscCall(PetscOptionsSetValue(options, "-pc_type", type));
  PetscCall(PetscOptionsPush(options));
  PetscCall(RunGuarded(bench, &result));
  PetscCall(RecordResult(bench, &result));
  PetscCall(PetscOptionsPop());
  PetscCall(PassOnUse(options));
  if (own && result.solve < PETSC_MAX_REAL) PetscCall(WarnUnused(options, own + 1));
  PetscCall(PetscOptionsDestroy(&options));
  PetscCall(PrintResult(bench, &result));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Runs the entries of a list separated by ';', or by ',' if no entry has options. */
static PetscErrorCode RunList(const Bench *bench, const char list[])
{
  char *options, *semicolon, **entries;
  int nentries;

  PetscFunctionBeginUser;
  PetscCall(PetscStrchr(list, ':', &options));
  PetscCall(PetscStrchr(list, ';', &semicolon));
  PetscCall(PetscStrToArray(list, options || semicolon ? ';' : ',', &nentries, &entries));
  for (int k = 0; k < nentries; k++) PetscCall(RunEntry(bench, entries[k]));
  PetscCall(PetscStrToArrayDestroy(nentries, entries));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const char peers[] = "gamg;"
                       "hypre:-pc_hypre_type boomeramg -pc_hypre_boomeramg_coarsen_type PMIS -pc_hypre_boomeramg_interp_type ext+i"
                       " -pc_hypre_boomeramg_P_max 4 -pc_hypre_boomeramg_relax_type_all l1scaled-Jacobi;"
                       "ml";
  Bench bench;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PCInitializePackage()); /* fills PCList */
  PetscCall(BenchOptions(&bench));
  if (bench.csv[0]) PetscCall(ResultsCsvAppend(PETSC_COMM_WORLD, bench.csv, NULL)); /* so that a wrong name ends the run at once */
  PetscCall(BenchSetUp(&bench));
  PetscCall(PrintHead(&bench));
  if (!bench.pcs[0] && !bench.peers) PetscCall(RunEntry(&bench, ""));
  PetscCall(RunList(&bench, bench.pcs));
  if (bench.peers) PetscCall(RunList(&bench, peers));
  PetscCall(MatDestroy(&bench.A));
  PetscCall(PetscFinalize());
  return 0;
}
