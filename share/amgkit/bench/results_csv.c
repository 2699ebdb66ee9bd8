#include "results_csv.h"
#include "model_problem.h" /* PETSC_SUCCESS, which older versions lack */
#include <stdio.h>
#include <string.h>
#include <time.h>
#if PetscDefined(HAVE_CUDA)
  #include <petscdevice_cuda.h>
#endif

static const char columns[] = "date,card,gpus,driver,petsc,commit,peer,type,system,size,scaling,rows,ranks,run,setup_ms,solve_ms,total_ms,"
                              "iterations,resetup_ms,memory_gb,options,command,source,note\n";

/* One field, in quotes if it has a character that ends a field. */
static void WriteField(FILE *csv, const char text[])
{
  if (!text[strcspn(text, ",\"\n")]) {
    (void)fputs(text, csv);
    return;
  }
  (void)fputc('"', csv);
  for (const char *c = text; *c; c++) {
    if (*c == '"') (void)fputc('"', csv);
    (void)fputc(*c, csv);
  }
  (void)fputc('"', csv);
}

/* The command line, its program without folder. */
static PetscErrorCode CommandLine(char command[], size_t length)
{
  int argc;
  char **argv, *slash;

  PetscFunctionBeginUser;
  PetscCall(PetscGetArgs(&argc, &argv));
  PetscCall(PetscStrrchr(argv[0], '/', &slash)); /* what follows the last '/', or all */
  PetscCall(PetscStrncpy(command, slash, length));
  for (int k = 1; k < argc; k++) {
    PetscCall(PetscStrlcat(command, " ", length));
    PetscCall(PetscStrlcat(command, argv[k], length));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The device's name, and how many devices the ranks use: PETSc gives the k-th rank of a host with m devices the device k mod m. */
static PetscErrorCode Devices(MPI_Comm comm, PetscBool on_device, char card[], size_t length, int *gpus)
{
  PetscFunctionBeginUser;
  *gpus = 0;
  PetscCall(PetscStrncpy(card, "CPU", length));
#if PetscDefined(HAVE_CUDA)
  if (on_device) {
    struct cudaDeviceProp properties;
    MPI_Comm host;
    PetscMPIInt rank_of_host;
    int device, count;

    PetscCallMPI(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host));
    PetscCallMPI(MPI_Comm_rank(host, &rank_of_host));
    PetscCallMPI(MPI_Comm_free(&host));
    PetscCallCUDA(cudaGetDeviceCount(&count));
    PetscCallCUDA(cudaGetDevice(&device));
    PetscCallCUDA(cudaGetDeviceProperties(&properties, device));
    PetscCall(PetscStrncpy(card, properties.name, length));
    *gpus = rank_of_host < count;
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, gpus, 1, MPI_INT, MPI_SUM, comm));
  }
#else
  (void)comm;
  (void)on_device;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The package of a type that is not AMGKit's. */
static PetscErrorCode Package(const char type[], const char petsc[], char peer[], size_t length)
{
  const char *const own[] = {"amgmatching", "amgclassical", "amgsa", "ilu2level"};
  PetscBool same;

  PetscFunctionBeginUser;
  peer[0] = '\0';
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(own); k++) {
    PetscCall(PetscStrcmp(type, own[k], &same));
    if (same) PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscStrcmp(type, "hypre", &same));
  if (!same) PetscCall(PetscStrcmp(type, "ml", &same));
  if (same)
    PetscCall(PetscStrncpy(peer, type, length));
  else
    PetscCall(PetscSNPrintf(peer, length, "PETSc %s", petsc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether a row leaves out an option: what is not the solver's; the types, which stand elsewhere; and what every measurement has. */
static PetscErrorCode IsCommon(const char option[], PetscBool *common)
{
  const char *const solver[] = {"-pc_", "-ksp_", "-sub_", "-mg_"};
  const char *const left_out[][2] = {{"-pc_type", NULL}, {"-ksp_type", NULL}, {"-ksp_norm_type", "unpreconditioned"}};
  char value[256] = "";
  PetscBool same = PETSC_FALSE;
  PetscReal rtol = 0.0;

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(solver) && !same; k++) PetscCall(PetscStrbeginswith(option, solver[k], &same));
  *common = same ? PETSC_FALSE : PETSC_TRUE;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(left_out); k++) {
    PetscCall(PetscStrcmp(option, left_out[k][0], &same));
    if (same) PetscCall(PetscOptionsGetString(NULL, NULL, option, value, sizeof(value), NULL));
    if (same && left_out[k][1]) PetscCall(PetscStrcmp(value, left_out[k][1], &same));
    if (same) *common = PETSC_TRUE;
  }
  PetscCall(PetscStrcmp(option, "-ksp_rtol", &same));
  if (same) PetscCall(PetscOptionsGetReal(NULL, NULL, option, &rtol, NULL));
  if (rtol == (PetscReal)1e-8) *common = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The solver's options but for its defaults: amgmatching under amgfcg, the others under cg. */
static PetscErrorCode SolverOptions(const char type[], char options[], size_t length)
{
  char method[64] = "cg", *all, **words;
  PetscBool same, key, common = PETSC_TRUE;
  int count;

  PetscFunctionBeginUser;
  options[0] = '\0';
  PetscCall(PetscOptionsGetString(NULL, NULL, "-ksp_type", method, sizeof(method), NULL));
  PetscCall(PetscStrcmp(type, "amgmatching", &same));
  PetscCall(PetscStrcmp(method, same ? "amgfcg" : "cg", &same));
  if (!same) PetscCall(PetscSNPrintf(options, length, "-ksp_type %s", method));
  PetscCall(PetscOptionsGetAll(NULL, &all));
  PetscCall(PetscStrToArray(all, ' ', &count, &words));
  for (int k = 0; k < count; k++) {
    PetscCall(PetscOptionsValidKey(words[k], &key)); /* else the value of the one before */
    if (key) PetscCall(IsCommon(words[k], &common));
    if (common) continue;
    if (options[0]) PetscCall(PetscStrlcat(options, " ", length));
    PetscCall(PetscStrlcat(options, words[k], length));
  }
  PetscCall(PetscStrToArrayDestroy(count, words));
  PetscCall(PetscFree(all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What a row says of the run, the same on every process. */
typedef struct {
  char date[16], petsc[32], peer[64], card[256], options[8192], command[8192];
  int gpus;
  PetscMPIInt ranks;
} Run;

static PetscErrorCode RunGet(MPI_Comm comm, const Measurement *m, Run *run)
{
  PetscInt major, minor, subminor;
  const time_t now = time(NULL);

  PetscFunctionBeginUser;
  PetscCheck(strftime(run->date, sizeof(run->date), "%Y-%m-%d", gmtime(&now)) > 0, comm, PETSC_ERR_LIB, "No date from strftime()");
  PetscCallMPI(MPI_Comm_size(comm, &run->ranks));
  PetscCall(PetscGetVersionNumber(&major, &minor, &subminor, NULL));
  PetscCall(PetscSNPrintf(run->petsc, sizeof(run->petsc), "%d.%d.%d", (int)major, (int)minor, (int)subminor));
  PetscCall(Package(m->type, run->petsc, run->peer, sizeof(run->peer)));
  PetscCall(SolverOptions(m->type, run->options, sizeof(run->options)));
  PetscCall(CommandLine(run->command, sizeof(run->command)));
  PetscCall(Devices(comm, m->on_device, run->card, sizeof(run->card), &run->gpus));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void WriteRow(FILE *csv, const Measurement *m, const Run *run)
{
  (void)fprintf(csv, "%s,%s,%d,,%s,,%s,%s,%s%s,", run->date, run->card, run->gpus, run->petsc, run->peer, m->type, m->system,
                m->shuffled ? "-shuffled" : "");
  (void)fprintf(csv, "%lld,%s,%lld,%d,1,", (long long)m->size, m->weak ? "weak" : "", (long long)m->rows, (int)run->ranks);
  (void)fprintf(csv, "%.3f,%.3f,%.3f,%lld,", m->setup_ms, m->solve_ms, m->setup_ms + m->solve_ms, (long long)m->iterations);
  if (m->resetup_ms >= 0.0) (void)fprintf(csv, "%.3f", m->resetup_ms);
  (void)fputc(',', csv);
  if (m->memory_gb >= 0.0) (void)fprintf(csv, "%.4f", m->memory_gb);
  (void)fputc(',', csv);
  WriteField(csv, run->options);
  (void)fputc(',', csv);
  WriteField(csv, run->command);
  (void)fputs(",,\n", csv);
}

/* Whether all was written. */
static int Append(const char file[], const Measurement *measurement, const Run *run)
{
  FILE *csv = fopen(file, "a");
  int written;

  if (!csv) return 0;
  (void)fseek(csv, 0, SEEK_END);
  if (ftell(csv) == 0) (void)fputs(columns, csv);
  if (measurement) WriteRow(csv, measurement, run);
  written = !ferror(csv);
  return fclose(csv) == 0 && written;
}

PetscErrorCode ResultsCsvAppend(MPI_Comm comm, const char file[], const Measurement *measurement)
{
  Run run;
  int written = 1;
  PetscMPIInt rank;

  PetscFunctionBeginUser;
  if (measurement) PetscCall(RunGet(comm, measurement, &run));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  if (rank == 0) written = Append(file, measurement, &run);
  PetscCallMPI(MPI_Bcast(&written, 1, MPI_INT, 0, comm));
  PetscCheck(written, comm, PETSC_ERR_FILE_WRITE, "Cannot write to %s", file);
  PetscFunctionReturn(PETSC_SUCCESS);
}
