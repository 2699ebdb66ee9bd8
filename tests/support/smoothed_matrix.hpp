// A smoother of a matrix that is distributed over the ranks, and matrices for it.
#pragma once
#include "amg/smoother.hpp"
#include "sparse/rows/rows.hpp"
#include "support/distributed_graph.hpp"
#include "support/ilu_matrices.hpp"

namespace amgkit::test
{
// A smoother of this rank's rows of a matrix.
template <class Ex> struct Smoothed {
  DistributedGraph<Ex> matrix;
  Smoother<Ex> smoother;
  TransposedMatrix<Ex> transposed;
  AmgParameters parameters;
  double coupling = 0; // as find_ties() has it

  PetscErrorCode create(Ex &ex, const HostCsr &whole, PetscInt local_rows, SmootherKind kind = SmootherKind::ilu0, int block = 1)
  {
    PetscFunctionBegin;
    parameters.smoother = kind;
    PetscCall(matrix.create(ex, whole, local_rows));
    PetscCall(matrix.A.store(ex, Storage::in_double, block, false));
    PetscCall(transposed.create(ex, matrix.A));
    PetscCall(prepare(ex));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode prepare(Ex &ex)
  {
    Array<double, Ex> a, d;
    PetscFunctionBegin;
    PetscCall(a.allocate(ex, matrix.A.rows));
    PetscCall(d.allocate(ex, matrix.A.rows));
    PetscCall(diagonal_and_l1(ex, matrix.A.diag, matrix.A.offd, a.data(), d.data()));
    if (!Smoother<Ex>::needs_l1(parameters)) PetscCall(invert_entries(ex, matrix.A.rows, a.data(), d.data()));
    smoother.set_scaling(std::move(d), {});
    PetscCall(smoother.find_ties(ex, matrix.A, parameters, coupling));
    PetscCall(smoother.prepare(ex, matrix.A, parameters));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  std::vector<double> mine(const std::vector<double> &whole) const
  {
    const auto first = whole.begin() + matrix.A.range.first();
    return {first, first + matrix.A.rows};
  }
  // r, when given: the residual after it
  PetscErrorCode sweep(Ex &ex, bool of_transposed, PetscInt sweeps, Guess guess, const std::vector<double> &b, std::vector<double> &x,
                       SweepOrder order = SweepOrder::forward, std::vector<double> *r = nullptr)
  {
    Array<double, Ex> B, here, there;
    PetscFunctionBegin;
    PetscCall(upload(ex, b, B));
    PetscCall(upload(ex, x, here));
    PetscCall(there.allocate(ex, matrix.A.rows));
    Iterate<double> iterate{here.data(), there.data()};
    const auto apply = [&](auto &A) {
      PetscFunctionBegin;
      PetscCall(smoother.apply(ex, A, order, sweeps, guess, static_cast<const double *>(B.data()), iterate));
      if (r) PetscCall(smoother.residual(ex, A, sweeps, guess, static_cast<const double *>(B.data()), iterate));
      PetscFunctionReturn(PETSC_SUCCESS);
    };
    if (of_transposed) PetscCall(smoother.prepare_transposed(ex, matrix.A, transposed));
    PetscCall(of_transposed ? apply(transposed) : apply(matrix.A));
    if (matrix.A.rows > 0) {
      EXPECT_EQ(iterate.here == here.data(), smoother.flips(sweeps, guess) % 2 == 0);
    }
    PetscCall(download(ex, iterate.here, matrix.A.rows, x));
    if (r) PetscCall(download(ex, iterate.there, matrix.A.rows, *r));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

inline std::vector<Named> smoothed_matrices()
{
  return {{"grid", skewed(grid7(6, 5, 4))},
          {"one-sided grid", one_sided(skewed(grid27(5)))},
          {"dense row", arrow(40, 20)},
          {"chain", tridiagonal(50)},
          {"diagonal", make_csr(5, 5, {{{0, 0}, 1}, {{1, 1}, 2}, {{2, 2}, 3}, {{3, 3}, 4}, {{4, 4}, 5}})},
          {"1 x 1", make_csr(1, 1, {{{0, 0}, 3}})},
          {"empty", make_csr(0, 0, {})}};
}
} // namespace amgkit::test
