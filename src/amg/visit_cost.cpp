#include "amg/visit_cost.hpp"

namespace amgkit
{
namespace
{
// Seconds: an H200's (share/amgkit/bench/NOTES.md), and those of a CPU's core, where a launch is a call.
template <class Ex> struct Seconds {
  static constexpr double launch = Ex::on_device ? 2.5e-6 : 0;
  static constexpr double byte = Ex::on_device ? 1 / 3.2e12 : 1 / 8e9;
  static constexpr double message = Ex::on_device ? 20e-6 : 2e-6; // to or from another rank
  static constexpr double wait = Ex::on_device ? 10e-6 : 0;       // of the host for the device
};
} // namespace

template <class Ex> PetscErrorCode visit_cost(const Level<Ex> &level, const AmgParameters &parameters, bool single, VisitCost *cost)
{
  using S = Seconds<Ex>;
  const DistMatrix<Ex> &A = level.A;
  const PetscInt before = parameters.sweeps_before(), after = parameters.sweeps_after();
  const double rows = A.rows, vector = S::byte * rows * (single ? sizeof(float) : sizeof(double));
  const double matrix = S::byte * (A.stored.bytes() > 0 ? static_cast<double>(A.stored.bytes()) : 12.0 * static_cast<double>(A.diag.nnz));
  int ranks;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(A.comm, &ranks));
  const double message = ranks > 1 ? S::message : 0, product = S::launch + matrix + 3 * vector + message;
  if (!level.transfer) { // the dense inverse of all rows
    cost->once = S::launch + S::byte * rows * rows * sizeof(double) + 2 * message;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const PetscInt steps = level.smoother.flips(before, Guess::zero) + level.smoother.flips(after, Guess::given);
  cost->once = (steps + (before > 0 ? 1 : 0)) * product + 2 * S::launch + 6 * vector; // R and P
  cost->beside = 2 * (product + message) + 2 * S::launch + 8 * vector;
  if (level.number == 0) cost->once += product + S::wait + 3 * message + 4 * S::launch + 14 * vector; // of the outer Krylov method
  PetscFunctionReturn(PETSC_SUCCESS);
}

AMGKIT_INSTANTIATE(visit_cost)
} // namespace amgkit
