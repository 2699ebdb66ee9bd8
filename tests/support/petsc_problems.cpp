#include "support/petsc_problems.hpp"

#include "amg/parameters.hpp"
#include "ilu/parameters.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <numeric>
#include <regex>
#include <sstream>
#include <unistd.h>

namespace amgkit::test
{
int rank_of_world()
{
  int rank = 0;
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  return rank;
}
int size_of_world()
{
  int size = 1;
  MPI_Comm_size(PETSC_COMM_WORLD, &size);
  return size;
}

PetscErrorCode insert_rows(const HostCsr &A, Mat out)
{
  PetscInt first, last, longest = 0;

  PetscFunctionBegin;
  for (int i = 0; i < A.rows; i++) longest = std::max(longest, static_cast<PetscInt>(A.ptr[i + 1] - A.ptr[i]));
  PetscCall(MatSeqAIJSetPreallocation(out, longest, nullptr));
  PetscCall(MatMPIAIJSetPreallocation(out, longest, nullptr, longest, nullptr));
  PetscCall(MatSetOption(out, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(MatGetOwnershipRange(out, &first, &last));
  for (PetscInt i = first; i < last; i++) {
    for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) PetscCall(MatSetValue(out, i, A.col[k], A.val[k], INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(out, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(out, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode distribute(const HostCsr &A, bool on_device, Mat *out, PetscInt local_rows, MPI_Comm comm)
{
  PetscFunctionBegin;
  if (local_rows < 0) local_rows = PETSC_DECIDE;
  PetscCall(MatCreate(comm, out));
  PetscCall(MatSetSizes(*out, local_rows, local_rows, A.rows, A.cols));
  PetscCall(MatSetType(*out, on_device && petsc_has_cuda ? MATAIJCUSPARSE : MATAIJ));
  PetscCall(insert_rows(A, *out));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode make_system(Mat A, Vec *x, Vec *b)
{
  PetscInt first, last;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, x, b));
  PetscCall(VecGetOwnershipRange(*x, &first, &last));
  for (PetscInt i = first; i < last; i++) PetscCall(VecSetValue(*x, i, std::sin(0.1 * static_cast<double>(i)) + 0.5, INSERT_VALUES));
  PetscCall(VecAssemblyBegin(*x));
  PetscCall(VecAssemblyEnd(*x));
  PetscCall(MatMult(A, *x, *b));
  PetscCall(VecSet(*x, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_entries(Vec x, const std::vector<double> &from)
{
  PetscScalar *entries;
  PetscFunctionBegin;
  PetscCall(VecGetArrayWrite(x, &entries));
  std::copy(from.begin(), from.end(), entries);
  PetscCall(VecRestoreArrayWrite(x, &entries));
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::vector<Use> uses()
{
  std::vector<Use> all = {{"host", false, "-pc_amgmatching_space auto"}, {"debug", false, "-pc_amgmatching_space debug"}};
  if (have_gpu()) all.push_back({"cuda", true, "-pc_amgmatching_space auto"});
  if (have_gpu()) all.push_back({"host", true, "-pc_amgmatching_space host"}); // a matrix on the device, worked on by the CPU
  if (have_cuda_space()) // a matrix on the host, worked on by the GPU, on every process as it is everywhere else
    all.push_back({"cuda", false, "-pc_amgmatching_space gpu -pc_amgmatching_consolidate no"});
  return all;
}

std::string option_inside(const Use &use, const std::string &prefix)
{
  return std::regex_replace(use.option, std::regex("-pc_"), " -" + prefix + "pc_");
}

std::vector<Use> uses_and_shared()
{
  std::vector<Use> all = uses();
  if (size_of_world() == 1) return all;
  all.push_back({"debug, shared", false, "-pc_amgmatching_space debug -pc_amgmatching_consolidate_to 1", true});
  if (have_cuda_space()) all.push_back({"cuda, shared", false, "-pc_amgmatching_space gpu -pc_amgmatching_consolidate_to 1", true});
  return all;
}

namespace
{
bool names(ParameterList list, const std::string &name)
{
  return std::any_of(list.begin(), list.end(), [&](const Parameter &p) { return p.name == name; });
}

// Without -<prefix>pc_amgmatching_<name> <value> where name is a parameter of all multigrid types and none of ilu2level's
std::string without_multigrid(const std::string &options)
{
  static const std::regex option("-\\w*pc_amgmatching_(\\w+) +[^ ]+ *");
  std::string rest;
  auto from = options.begin();
  for (std::sregex_iterator at(options.begin(), options.end(), option), end; at != end; ++at) {
    const std::string name = (*at)[1];
    rest.append(from, (*at)[0].first);
    if (!names(AmgParameters().list(), name) || names(IluParameters().list(), name)) rest.append((*at)[0].first, (*at)[0].second);
    from = (*at)[0].second;
  }
  return rest.append(from, options.end());
}
} // namespace

std::string named_for(std::string options, const std::string &type)
{
  const std::string ours = PCAMGMATCHING;
  if (type == PCILU2LEVEL) options = without_multigrid(options);
  for (std::size_t at = options.find(ours); at != std::string::npos; at = options.find(ours, at + type.size()))
    options.replace(at, ours.size(), type);
  return options;
}

PetscErrorCode make_ksp(Mat A, const std::string &options, KSP *ksp, const char *type)
{
  PetscFunctionBegin;
  PetscCall(replace_options(named_for(options, type)));
  PetscCall(make_ksp_of_present_options(A, ksp, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode make_ksp_of_present_options(Mat A, KSP *ksp, const char *type)
{
  PC pc;

  PetscFunctionBegin;
  PetscCall(KSPCreate(PetscObjectComm(reinterpret_cast<PetscObject>(A)), ksp));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(PCSetType(pc, type));
  PetscCall(KSPSetTolerances(*ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 200));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode make_pc(Mat A, const std::string &options, PC *pc, const char *type)
{
  PetscFunctionBegin;
  PetscCall(replace_options(named_for(options, type)));
  PetscCall(PCCreate(PetscObjectComm(reinterpret_cast<PetscObject>(A)), pc));
  PetscCall(PCSetOperators(*pc, A, A));
  PetscCall(PCSetType(*pc, type));
  PetscCall(PCSetFromOptions(*pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode size_of_application(const HostCsr &A, const Use &use, const std::string &options, const char *type, PetscReal *size)
{
  OwnedMat M;
  OwnedVec x, b;
  OwnedPC pc;

  PetscFunctionBegin;
  PetscCall(distribute(A, use.on_device, M.out()));
  PetscCall(make_system(M, x.out(), b.out()));
  PetscCall(make_pc(M, options, pc.out(), type));
  PetscCall(PCApply(pc, b, x));
  PetscCall(VecNorm(x, NORM_2, size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode true_residual(Mat A, Vec b, Vec x, PetscReal *relative)
{
  OwnedVec r, x_there, b_there;
  PetscReal of_b;
  PetscBool there;
  VecType type;

  PetscFunctionBegin;
  PetscCall(MatGetVecType(A, &type));
  PetscCall(PetscObjectTypeCompareAny(reinterpret_cast<PetscObject>(x), &there, VECSEQCUDA, VECMPICUDA, ""));
  if (std::string(type) == VECCUDA && !there) { // PETSc's products with a matrix on a GPU want vectors there
    PetscCall(MatCreateVecs(A, x_there.out(), b_there.out()));
    PetscCall(VecCopy(x, x_there));
    PetscCall(VecCopy(b, b_there));
    x = x_there;
    b = b_there;
  }
  PetscCall(VecDuplicate(b, r.out()));
  PetscCall(MatMult(A, x, r));
  PetscCall(VecAYPX(r, -1, b));
  PetscCall(VecNorm(r, NORM_2, relative));
  PetscCall(VecNorm(b, NORM_2, &of_b));
  if (of_b > 0) *relative /= of_b;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode solve(KSP ksp, Vec b, Vec x, Solution *out)
{
  Mat A;

  PetscFunctionBegin;
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetConvergedReason(ksp, &out->reason));
  PetscCall(KSPGetIterationNumber(ksp, &out->iterations));
  PetscCall(KSPGetOperators(ksp, &A, nullptr));
  PetscCall(true_residual(A, b, x, &out->residual));
  PetscFunctionReturn(PETSC_SUCCESS);
}

double LevelSizes::operator_complexity() const { return std::accumulate(entries.begin(), entries.end(), 0.0) / entries.front(); }

std::string LevelSizes::table() const
{
  std::ostringstream text;
  for (std::size_t l = 0; l < rows.size(); l++)
    text << (l ? ", " : "") << rows[l] << " (" << entries[l] / std::max<double>(rows[l], 1) << ")";
  return text.str();
}

PetscErrorCode level_sizes(PC pc, LevelSizes *out)
{
  PetscInt levels;
  Mat A, *coarse;

  PetscFunctionBegin;
  *out = {};
  PetscCall(PCGetOperators(pc, nullptr, &A));
  PetscCall(PCGetCoarseOperators(pc, &levels, &coarse));
  for (PetscInt l = levels - 1; l >= 0; l--) {
    MatInfo info;
    PetscInt rows;
    Mat &level = l == levels - 1 ? A : coarse[l];
    PetscCall(MatGetSize(level, &rows, nullptr));
    PetscCall(MatGetInfo(level, MAT_GLOBAL_SUM, &info));
    out->rows.push_back(rows);
    out->entries.push_back(info.nz_used);
    if (l < levels - 1) PetscCall(MatDestroy(&level));
  }
  PetscCall(PetscFree(coarse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int count_of(const char *event)
{
  PetscLogEvent id;
  PetscEventPerfInfo info{};
  EXPECT_EQ(static_cast<int>(PetscLogEventGetId(event, &id)), 0);
  EXPECT_EQ(static_cast<int>(PetscLogEventGetPerfInfo(0, id, &info)), 0);
  return info.count;
}

std::string printed(const std::function<PetscErrorCode(PetscViewer)> &f)
{
  int process = getpid(); // other tests may run beside this one
  PetscViewer viewer;
  MPI_Bcast(&process, 1, MPI_INT, 0, PETSC_COMM_WORLD);
  const std::string file = ::testing::TempDir() + "amgkit_view_" + std::to_string(process);
  EXPECT_EQ(static_cast<int>(PetscViewerASCIIOpen(PETSC_COMM_WORLD, file.c_str(), &viewer)), 0);
  EXPECT_EQ(static_cast<int>(f(viewer)), 0);
  EXPECT_EQ(static_cast<int>(PetscViewerDestroy(&viewer)), 0);
  MPI_Barrier(PETSC_COMM_WORLD);
  std::ifstream in(file);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  MPI_Barrier(PETSC_COMM_WORLD);
  if (rank_of_world() == 0) std::remove(file.c_str());
  return text;
}

PetscErrorCode quietly(const std::function<PetscErrorCode()> &f)
{
  PetscFunctionBegin;
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, nullptr));
  const PetscErrorCode code = f();
  PetscCall(PetscPopErrorHandler());
  PetscFunctionReturn(code);
}

namespace
{
PetscErrorCode keep_message(MPI_Comm, int, const char *, const char *, PetscErrorCode code, PetscErrorType type, const char *message,
                            void *context)
{
  if (type == PETSC_ERROR_INITIAL) *static_cast<std::string *>(context) = message;
  return code;
}
} // namespace

Refusal refusal_of(const std::function<PetscErrorCode()> &f)
{
  Refusal result{};
  EXPECT_EQ(static_cast<int>(PetscPushErrorHandler(keep_message, &result.message)), 0);
  result.code = f();
  EXPECT_EQ(static_cast<int>(PetscPopErrorHandler()), 0);
  return result;
}
} // namespace amgkit::test
