// A system that is solved twice: on all processes, whose heads have the rows, and on as many processes as there are heads alone.
#pragma once
#include "support/petsc_problems.hpp"

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

inline PetscErrorCode rows_on(MPI_Comm comm, const HostCsr &A, PetscInt local_rows, int bs, Mat *out)
{
  PetscInt first, last;

  PetscFunctionBegin;
  PetscCall(MatCreate(comm, out));
  PetscCall(MatSetSizes(*out, local_rows, local_rows, A.rows, A.cols));
  PetscCall(MatSetBlockSize(*out, bs));
  PetscCall(MatSetType(*out, MATAIJ));
  PetscCall(MatSeqAIJSetPreallocation(*out, 200, nullptr));
  PetscCall(MatMPIAIJSetPreallocation(*out, 200, nullptr, 200, nullptr));
  PetscCall(MatGetOwnershipRange(*out, &first, &last));
  for (PetscInt i = first; i < last; i++) {
    for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) PetscCall(MatSetValue(*out, i, A.col[k], A.val[k], INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*out, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*out, MAT_FINAL_ASSEMBLY));
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
} // namespace amgkit::test
