// PCILU2LEVEL, and PETSc's bjacobi with ilu on each rank, which it equals on one level in natural order.
#pragma once
#include "support/petsc_problems.hpp"

#include <algorithm>
#include <cmath>

namespace amgkit::test
{
class Ilu2Level : public ::testing::Test {
protected:
  void SetUp() override { OK(AMGKitRegister()); }

  // Options of other types' tests are taken over: named_for().
  static PetscErrorCode make_pc(Mat A, const std::string &options, PC *pc) { return test::make_pc(A, options, pc, PCILU2LEVEL); }
  static PetscErrorCode make_ksp(Mat A, const std::string &options, KSP *ksp) { return test::make_ksp(A, options, ksp, PCILU2LEVEL); }
  static PetscErrorCode petsc_pc(Mat A, const std::string &options, PC *pc)
  {
    return test::make_pc(A, "-sub_pc_type ilu " + options, pc, PCBJACOBI);
  }
  static PetscErrorCode petsc_ksp(Mat A, const std::string &options, KSP *ksp)
  {
    return test::make_ksp(A, "-sub_pc_type ilu " + options, ksp, PCBJACOBI);
  }
};

// Whether any rank says so
inline bool any_rank(bool mine)
{
  int some = mine;
  MPI_Allreduce(MPI_IN_PLACE, &some, 1, MPI_INT, MPI_MAX, PETSC_COMM_WORLD);
  return some != 0;
}

// Sets up; whether it could not factor, on any rank
inline PetscErrorCode has_failed(PC pc, bool *failed)
{
  PCFailedReason reason;
  PetscFunctionBegin;
  PetscCall(PCSetUp(pc));
  PetscCall(PCSetUpOnBlocks(pc)); // bjacobi factors here
  PetscCall(PCGetFailedReason(pc, &reason));
  *failed = any_rank(reason != PC_NOERROR);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// This rank's entries of B b, or Bᵀ b, for a wave b
inline PetscErrorCode applied(PC pc, bool transposed, std::vector<double> &out)
{
  OwnedVec x, b;
  Mat A;
  PetscInt first, last;
  const PetscScalar *entries;

  PetscFunctionBegin;
  PetscCall(PCGetOperators(pc, nullptr, &A));
  PetscCall(MatCreateVecs(A, x.out(), b.out()));
  PetscCall(VecGetOwnershipRange(b, &first, &last));
  for (PetscInt i = first; i < last; i++) PetscCall(VecSetValue(b, i, std::sin(1 + 0.7 * static_cast<double>(i)), INSERT_VALUES));
  PetscCall(VecAssemblyBegin(b));
  PetscCall(VecAssemblyEnd(b));
  PetscCall(VecSet(x, 7));
  PetscCall(transposed ? PCApplyTranspose(pc, b, x) : PCApply(pc, b, x));
  PetscCall(VecGetArrayRead(x, &entries));
  out.assign(entries, entries + (last - first));
  PetscCall(VecRestoreArrayRead(x, &entries));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Relative to the largest entry of all ranks
inline void expect_same_vector(const std::vector<double> &got, const std::vector<double> &expected, double tolerance,
                               const std::string &name)
{
  double size = 0;
  for (double x : expected) size = std::max(size, std::abs(x));
  MPI_Allreduce(MPI_IN_PLACE, &size, 1, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD);
  ASSERT_EQ(got.size(), expected.size()) << name;
  for (std::size_t i = 0; i < got.size(); i++) ASSERT_NEAR(got[i], expected[i], tolerance * size) << name << ", row " << i;
}
} // namespace amgkit::test
