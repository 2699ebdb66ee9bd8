// What the KSP types share: PETSc's records and tests, and the product with the operator.
#pragma once
#include "krylov/solve_vectors.hpp"
#include "krylov/steps.hpp"

#include <petscksp.h>

namespace amgkit
{
// solve(ksp) with b and x where they are needed and are not: b goes up and x comes down once. That is where the operator is, as PETSc's
// products need it, or in the preconditioner's space, by vectors that stay for the next solve. Whoever asks ksp meanwhile gets the solution
// as it is. ksp has its own vectors again afterwards, also after an error.
PetscErrorCode solve_beside(KSP ksp, std::unique_ptr<SolveVectors> &, PetscErrorCode (*solve)(KSP));
PetscErrorCode drop_solve_vectors(std::unique_ptr<SolveVectors> &);

// Collective. ksp->work: so many vectors like the solution, or none: if a rank lacks the memory, all return PETSC_ERR_MEM.
PetscErrorCode make_work_vectors(KSP ksp, PetscInt count, KrylovSteps &);
// Whether the steps, or the work vectors, are in another space than steps for the solution would be with this product, or nullptr.
bool are_elsewhere(KSP, const KrylovSteps &, Preconditioner *product);
PetscErrorCode drop_work_vectors(KSP ksp);
// Collective. steps, by make() where there are none, for vectors like x, and so many work vectors. After an error ksp is reset, for the
// next solve to begin anew.
template <class Steps, class Make>
PetscErrorCode make_steps(KSP ksp, Vec x, PetscInt vectors, std::unique_ptr<Steps> &steps, PetscErrorCode (*reset)(KSP), Make make)
{
  auto begin = [&] {
    PetscFunctionBegin;
    if (!steps) {
      steps = make();
      PetscCall(steps->create(x));
    }
    PetscCall(make_work_vectors(ksp, vectors, *steps));
    PetscFunctionReturn(PETSC_SUCCESS);
  };

  PetscFunctionBegin;
  const PetscErrorCode code = begin();
  if (code) PetscCall(reset(ksp));
  PetscCall(code);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Records and shows the norm of iteration ksp->its.
PetscErrorCode record_norm(KSP ksp, PetscReal norm);
// ksp->reason says whether the iteration with this norm is the last.
PetscErrorCode test_convergence(KSP ksp, PetscReal norm);
// Both. A norm that is no number ends the solve, too.
PetscErrorCode check_convergence(KSP ksp, PetscReal norm);

// Collective, as a solve begins: the operator A; the preconditioner, if it was set up with A as it is now but for values; and whether these
// are the same, too.
PetscErrorCode find_product(KSP ksp, Mat *A, Preconditioner **product, bool *same_values);
// Whether A has the values with which ksp's preconditioner, which has a solver, was set up.
PetscErrorCode is_as_set_up(KSP ksp, Mat A, bool *as_set_up);
// y = A x, by_product: by the preconditioner's product, if it is still there
PetscErrorCode multiply(KSP ksp, KrylovSteps &steps, bool by_product, Mat A, Vec x, Vec y);
} // namespace amgkit
