// What the ways to apply incomplete factors have in common: one level, src/ilu/one_level.hpp, and two, src/ilu/two_level.hpp.
#pragma once
#include "base/log.hpp"
#include "dist/matrix.hpp"
#include "sparse/ilu0/ilu0.hpp"

#include <functional>
#include <petscviewer.h>

namespace amgkit
{
// How a setup went; the same on all ranks.
struct IluSetup {
  IluFault fault = IluFault::none;
  PetscInt row = -1;       // global: the first with the fault, of all ranks
  PetscInt shifts = 0;     // IluReport's, of all ranks together
  double shift_amount = 0; // the largest of all ranks

  bool ready() const { return fault == IluFault::none; }
};

// Collective, logged as this phase: work(report) of the rank's rows, of which row 0 is the global row range[rank]. All know how it went.
PetscErrorCode conclude(Phase, MPI_Comm, const RankRanges &range, const std::function<PetscErrorCode(IluReport *)> &work, IluSetup &);
// Local: a row that is reported in an order, order[new] = old, as the matrix's own.
template <class Ex> PetscErrorCode name_row(Ex &ex, const Array<int, Ex> &order, IluReport *report)
{
  return report->row < 0 ? PETSC_SUCCESS : memory_to_host(ex, &report->row, order.data() + report->row, sizeof(int));
}

// All but view() and bytes() are collective over A's ranks; A's memory is accessible, diag and offd as the user's matrix has them. A rank
// may have no rows. Unless a setup is ready, all that may follow is create(), update_values() where that was the fault's, or the
// destructor.
template <class Ex> class IluMethod {
public:
  IluMethod() = default;
  IluMethod(const IluMethod &) = delete;
  IluMethod &operator=(const IluMethod &) = delete;
  virtual ~IluMethod() = default;
  // Analysis and factors. May be called again, for another pattern.
  virtual PetscErrorCode create(Ex &, DistMatrix<Ex> &A, IluSetup &) = 0;
  // The factors of new values on the same pattern, after a create() that was ready or whose fault was in the values.
  virtual PetscErrorCode update_values(Ex &, DistMatrix<Ex> &A, IluSetup &) = 0;
  // x = B b for the rank's rows; x must not be b.
  virtual PetscErrorCode apply(Ex &, DistMatrix<Ex> &A, const double *b, double *x) = 0;
  // x = Bᵀ b; PETSC_ERR_SUP where B is not linear. The first call after create() takes memory.
  virtual PetscErrorCode apply_transpose(Ex &, DistMatrix<Ex> &A, const double *b, double *x) = 0;
  // Whether the next apply() or apply_transpose() reads A; else it need not be accessible. The same on all ranks.
  virtual bool reads_matrix(bool transposed) const = 0;
  // Collective over the viewer's ranks, to an ASCII viewer.
  virtual PetscErrorCode view(PetscViewer) const = 0;
  // Device or host memory held on this rank
  virtual std::size_t bytes() const = 0;
  // Whether B is the same matrix from one application to the next.
  virtual bool linear() const { return true; }
};
} // namespace amgkit
