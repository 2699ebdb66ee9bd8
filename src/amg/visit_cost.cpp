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

template <class Ex> PetscErrorCode visit_cost(const Level<Ex> &level, const AmgParameters &parameters, CycleTraits cycle, VisitCost *cost)
{
  using S = Seconds<Ex>;
  const DistMatrix<Ex> &A = level.A;
  const PetscInt before = parameters.sweeps_before(), after = parameters.sweeps_after();
  const double rows = A.rows, vector = S::byte * rows * (cycle.single ? sizeof(float) : sizeof(double));
  // Sweeps that read floats count as those that read doubles.
  const double entry = 12, other = static_cast<double>(A.offd.nnz);
  const double matrix = S::byte * (A.stored.bytes_read(A.diag.perhaps_folded()) + entry * other);
  int ranks;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(A.comm, &ranks));
  const double message = ranks > 1 ? S::message : 0, product = S::launch + matrix + 3 * vector + message;
  const auto sweeps = [&](PetscInt count, Guess guess) { return level.smoother.products(count, guess) * product; };
  if (!level.transfer && cycle.coarse_sweeps == 0) {
    cost->once = S::launch + S::byte * rows * rows * sizeof(double) + 2 * message;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!level.transfer) {
    cost->once = sweeps(cycle.coarse_sweeps, Guess::zero);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  cost->once = sweeps(before, Guess::zero) + sweeps(after, Guess::given) + (before > 0 ? product : 0) + 2 * S::launch + 6 * vector;
  cost->beside = 2 * (product + message) + 2 * S::launch + 8 * vector;
  if (level.number == 0) cost->once += product + S::wait + 3 * message + 4 * S::launch + 14 * vector; // of the outer Krylov method
  PetscFunctionReturn(PETSC_SUCCESS);
}

AMGKIT_INSTANTIATE(visit_cost)
} // namespace amgkit
