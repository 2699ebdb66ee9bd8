// Distributed test matrices as PETSc Mats, of the type that a space reads, and their solution.
#pragma once
#include "amgkit.h"
#include "support/gallery.hpp"
#include "support/options.hpp"
#include "support/petsc_objects.hpp"
#include "support/spaces.hpp"

namespace amgkit::test
{
// Each rank inserts the rows it owns of A; local_rows < 0: PETSc decides how many. A device type when on_device, if PETSc has one.
PetscErrorCode distribute(const HostCsr &A, bool on_device, Mat *out, PetscInt local_rows = -1, MPI_Comm comm = PETSC_COMM_WORLD);
// Collective: memory for a matrix that has its sizes and type, and this rank's rows of A; assembled.
PetscErrorCode insert_rows(const HostCsr &A, Mat);
// b such that the solution of A x = b is a wave; x zero
PetscErrorCode make_system(Mat A, Vec *x, Vec *b);
// x <- these entries of this rank
PetscErrorCode set_entries(Vec x, const std::vector<double> &from);

// How a program uses each space: the matrix's type and the option.
struct Use {
  const char *name;
  bool on_device;
  const char *option;
  bool shared = false; // one process works for the others, by default
};
// The same for a preconditioner inside others, whose options have this prefix: "sub_".
std::string option_inside(const Use &, const std::string &prefix);
std::vector<Use> uses();
// And, of several processes, those where one works for the others by default.
std::vector<Use> uses_and_shared();

// Options of amgmatching as those of another type; for one that is no multigrid, without those that all multigrid types have
std::string named_for(std::string options, const std::string &type);
// A KSP for A, to 1e-8 in 200 iterations, with a PC of this type, unless the options say otherwise. They replace all that PETSc had before,
// and are renamed for the type: see options.hpp and named_for().
PetscErrorCode make_ksp(Mat A, const std::string &options, KSP *ksp, const char *type = PCAMGMATCHING);
PetscErrorCode make_ksp_of_present_options(Mat A, KSP *ksp, const char *type = PCAMGMATCHING);
PetscErrorCode make_pc(Mat A, const std::string &options, PC *pc, const char *type = PCAMGMATCHING); // the same without a Krylov method
// The 2-norm of what such a PC makes of make_system()'s right-hand side
PetscErrorCode size_of_application(const HostCsr &A, const Use &use, const std::string &options, const char *type, PetscReal *size);
// What a solve says of itself, and |b - A x| / |b|, or |A x| for b = 0.
struct Solution {
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  PetscInt iterations = -1;
  PetscReal residual = -1;
  bool converged() const { return reason > 0; }
};
PetscErrorCode solve(KSP ksp, Vec b, Vec x, Solution *out);
PetscErrorCode true_residual(Mat A, Vec b, Vec x, PetscReal *relative);

// Global rows and entries of every level, the finest first.
struct LevelSizes {
  std::vector<PetscInt> rows;
  std::vector<double> entries;
  double operator_complexity() const;
  std::string table() const;
};
// By PCGetCoarseOperators(); a PCHYPRE can afterwards only be destroyed.
PetscErrorCode level_sizes(PC pc, LevelSizes *out);

int rank_of_world();
int size_of_world();

// How often an event was logged on this rank since PetscLogDefaultBegin()
int count_of(const char *event);

// Runs f with PETSc errors returned instead of printed.
PetscErrorCode quietly(const std::function<PetscErrorCode()> &f);

// What f's PETSc error says, and its code
struct Refusal {
  PetscErrorCode code;
  std::string message;
};
Refusal refusal_of(const std::function<PetscErrorCode()> &f);

// What f prints to an ASCII viewer, the same on all ranks. Collective.
std::string printed(const std::function<PetscErrorCode(PetscViewer)> &f);
inline std::string view_of(PC pc)
{
  return printed([&](PetscViewer viewer) { return PCView(pc, viewer); });
}
inline std::string view_of(KSP ksp)
{
  return printed([&](PetscViewer viewer) { return KSPView(ksp, viewer); });
}
// Collective: of vectors of which each rank has a part.
inline double dot(const std::vector<double> &x, const std::vector<double> &y)
{
  double s = 0;
  for (std::size_t i = 0; i < x.size(); i++) s += x[i] * y[i];
  MPI_Allreduce(MPI_IN_PLACE, &s, 1, MPI_DOUBLE, MPI_SUM, PETSC_COMM_WORLD);
  return s;
}
} // namespace amgkit::test
