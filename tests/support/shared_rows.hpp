// A system that is solved twice: on all processes, whose heads have the rows, and on as many processes as there are heads alone.
#pragma once
#include "plugins/pc_consolidated.hpp"
#include "support/every_type.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

namespace amgkit::test
{
// How many rows each rank has.
inline std::vector<PetscInt> shares(int rows, int bs, const std::string &how)
{
  const int size = size_of_world(), nodes = rows / bs;
  std::vector<PetscInt> share(static_cast<std::size_t>(size));
  for (int r = 0; r < size; r++) share[r] = static_cast<PetscInt>(bs) * (nodes / size + (r < nodes % size ? 1 : 0));
  if (how == "first empty" && size > 1) {
    share[1] += share[0];
    share[0] = 0;
  } else if (how == "last has all") {
    for (int r = 0; r + 1 < size; r++) share[r] = 0;
    share.back() = static_cast<PetscInt>(bs) * nodes;
  }
  return share;
}

// Ranks of PETSC_COMM_WORLD in blocks of consecutive ones, as the library makes them.
inline int head_of(int rank, int heads) { return static_cast<int>(std::int64_t{rank} * heads / size_of_world()); }

inline PetscErrorCode rows_on(MPI_Comm comm, const HostCsr &A, PetscInt local_rows, int bs, Mat *out, MatType type = MATAIJ)
{
  PetscFunctionBegin;
  PetscCall(MatCreate(comm, out));
  PetscCall(MatSetSizes(*out, local_rows, local_rows, A.rows, A.cols));
  PetscCall(MatSetBlockSize(*out, bs));
  PetscCall(MatSetType(*out, type));
  PetscCall(insert_rows(A, *out));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// What a solve left; the same on all ranks.
struct Left {
  PetscInt reason = 0, iterations = -1;
  std::vector<double> norms, solution;
  std::string levels; // of the view
};

inline std::string levels_of(const std::string &view)
{
  std::string lines;
  std::size_t at = view.find("level         rows");
  const std::size_t end = view.find("grid complexity", at);
  if (at == std::string::npos || end == std::string::npos) return "";
  return view.substr(at, end - at);
}
// Where the heads read the rows that the processes share, and where these are sent to them.
inline const std::array<std::string, 2> both_spaces = {" -pc_amgmatching_space host", " -pc_amgmatching_space debug"};
// Adds 0.25 to the diagonal and 0.2 to the entries (i, n - 1 - i), most of which are not there.
inline PetscErrorCode add_antidiagonal(Mat A)
{
  PetscInt first, last, n;

  PetscFunctionBegin;
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_FALSE));
  PetscCall(MatGetOwnershipRange(A, &first, &last));
  PetscCall(MatGetSize(A, &n, nullptr));
  for (PetscInt i = first; i < last; i++) {
    PetscCall(MatSetValue(A, i, i, 0.25, ADD_VALUES));
    PetscCall(MatSetValue(A, i, n - 1 - i, 0.2, ADD_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

inline const std::string small = " -pc_amgmatching_coarse_eq_limit 50 -pc_amgmatching_kcycle_levels 1";

class Consolidated : public EveryType {
protected:
  // In the debug space, to which the matrix is copied, by default; elsewhere because it is asked for.
  static std::string consolidate(int heads, const std::string &options = "")
  {
    const bool by_default = options.find("_space debug") < options.size();
    return (by_default ? "" : " -pc_amgmatching_consolidate yes") + (" -pc_amgmatching_consolidate_to " + std::to_string(heads));
  }
  static bool consolidated(KSP ksp)
  {
    PC pc;
    EXPECT_EQ(static_cast<int>(KSPGetPC(ksp, &pc)), 0);
    return consolidated_solver_of(pc) != nullptr;
  }
  // The solution and what was said on the way
  static void run(KSP ksp, Vec b, Left *left)
  {
    OwnedVec x;
    PetscInt count;
    const PetscReal *norms;
    KSPConvergedReason reason;
    OK(VecDuplicate(b, x.out()));
    OK(KSPSetResidualHistory(ksp, nullptr, PETSC_DECIDE, PETSC_TRUE));
    OK(KSPSolve(ksp, b, x));
    OK(KSPGetConvergedReason(ksp, &reason));
    OK(KSPGetIterationNumber(ksp, &left->iterations));
    OK(KSPGetResidualHistory(ksp, &norms, &count));
    left->reason = reason;
    left->norms.assign(norms, norms + count);
    const PetscScalar *entries;
    PetscInt n;
    OK(VecGetLocalSize(x, &n));
    OK(VecGetArrayRead(x, &entries));
    left->solution.assign(entries, entries + n);
    OK(VecRestoreArrayRead(x, &entries));
  }
  // b of the rows from `first` on
  static PetscErrorCode right_hand_side(Mat A, Vec *b)
  {
    PetscInt first, last;
    PetscFunctionBegin;
    PetscCall(MatCreateVecs(A, nullptr, b));
    PetscCall(VecGetOwnershipRange(*b, &first, &last));
    for (PetscInt i = first; i < last; i++) PetscCall(VecSetValue(*b, i, std::sin(0.3 * static_cast<double>(i)) + 0.2, INSERT_VALUES));
    PetscCall(VecAssemblyBegin(*b));
    PetscCall(VecAssemblyEnd(*b));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  static void expect_same(const Left &one, const Left &other, const std::string &name)
  {
    EXPECT_EQ(one.reason, other.reason) << name;
    EXPECT_EQ(one.iterations, other.iterations) << name;
    ASSERT_EQ(one.norms.size(), other.norms.size()) << name;
    for (std::size_t k = 0; k < one.norms.size(); k++) EXPECT_NEAR(one.norms[k], other.norms[k], 1e-5 * one.norms[0]) << name << ' ' << k;
  }

  // f(matrix on this communicator, its options), by which the matrix may change: on all processes that share, and on heads alone
  void compare(const HostCsr &matrix, int bs, const std::string &how, int heads, const std::string &options,
               const std::function<void(Mat, KSP, std::vector<Left> *)> &f)
  {
    const std::string name = options + " on " + std::to_string(heads) + ", " + how;
    const std::vector<PetscInt> share = shares(matrix.rows, bs, how);
    const int rank = rank_of_world();
    std::vector<Left> together, alone;
    MPI_Comm comm;
    {
      OwnedMat A;
      OwnedKSP ksp;
      OK(rows_on(PETSC_COMM_WORLD, matrix, share[rank], bs, A.out(), matrix_type_));
      OK(make_ksp(A, options + consolidate(heads, options), ksp.out()));
      f(A, ksp, &together);
      EXPECT_EQ(consolidated(ksp), size_of_world() > heads) << name;
    }
    MPI_Comm_split(PETSC_COMM_WORLD, rank < heads ? 0 : MPI_UNDEFINED, rank, &comm);
    if (rank < heads) {
      OwnedMat A;
      OwnedKSP ksp;
      PetscInt rows = 0;
      for (int r = 0; r < size_of_world(); r++) rows += head_of(r, std::min(heads, size_of_world())) == rank ? share[r] : 0;
      OK(rows_on(comm, matrix, rows, bs, A.out(), matrix_type_));
      OK(make_ksp(A, options, ksp.out()));
      f(A, ksp, &alone);
      ASSERT_EQ(together.size(), alone.size());
      for (std::size_t k = 0; k < alone.size(); k++) expect_same(alone[k], together[k], name + ", solve " + std::to_string(k));
    }
    MPI_Barrier(PETSC_COMM_WORLD);
    if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
  }
  static void solve_once(Mat A, KSP ksp, std::vector<Left> *all)
  {
    OwnedVec b;
    OK(right_hand_side(A, b.out()));
    all->emplace_back();
    run(ksp, b, &all->back());
    EXPECT_GT(all->back().reason, 0);
  }
  static int most_heads() { return std::max(1, std::min(2, size_of_world() - 1)); }

  MatType matrix_type_ = MATAIJ;
};
} // namespace amgkit::test
