// A distributed prolongator's entries on every rank.
#pragma once
#include "support/petsc_problems.hpp"
#include "support/textbook_interpolation.hpp"

#include <algorithm>
#include <numeric>

namespace amgkit::test
{
// All ranks' entries of P on every rank, P's rows of this one being first, first + 1, ...; also that the blocks are as promised.
template <class Ex> PetscErrorCode entries_of(Ex &ex, const CoarseBlocks<Ex> &P, PetscInt first, Entries &all)
{
  HostCsr diag, offd;
  std::vector<PetscInt> index;
  std::vector<double> value;
  const std::vector<PetscInt> &ghosts = P.ghosts;

  PetscFunctionBegin;
  PetscCall(download(ex, P.diag, diag));
  PetscCall(download(ex, P.offd, offd));
  EXPECT_EQ(offd.rows, diag.rows);
  EXPECT_EQ(offd.cols, static_cast<int>(ghosts.size()));
  std::vector<int> used(ghosts.size(), 0);
  for (int i = 0; i < diag.rows; i++) {
    for (int k = diag.ptr[i]; k < diag.ptr[i + 1]; k++) {
      EXPECT_TRUE(k == diag.ptr[i] || diag.col[k - 1] < diag.col[k]);
      index.insert(index.end(), {first + i, P.first + diag.col[k]});
      value.push_back(diag.val[k]);
    }
    for (int k = offd.ptr[i]; k < offd.ptr[i + 1]; k++) {
      EXPECT_TRUE(k == offd.ptr[i] || offd.col[k - 1] < offd.col[k]);
      used[offd.col[k]] = 1;
      index.insert(index.end(), {first + i, ghosts[offd.col[k]]});
      value.push_back(offd.val[k]);
    }
  }
  EXPECT_TRUE(std::adjacent_find(ghosts.begin(), ghosts.end(), std::greater_equal<>()) == ghosts.end());
  EXPECT_EQ(std::count(used.begin(), used.end(), 0), 0);

  int n = static_cast<int>(value.size());
  std::vector<int> count(size_of_world()), at(size_of_world() + 1, 0), count2, at2;
  PetscCallMPI(MPI_Allgather(&n, 1, MPI_INT, count.data(), 1, MPI_INT, PETSC_COMM_WORLD));
  std::partial_sum(count.begin(), count.end(), at.begin() + 1);
  for (const int c : count) count2.push_back(2 * c);
  for (const int a : at) at2.push_back(2 * a);
  std::vector<PetscInt> indices(at2.back());
  std::vector<double> values(at.back());
  PetscCallMPI(MPI_Allgatherv(value.data(), n, MPI_DOUBLE, values.data(), count.data(), at.data(), MPI_DOUBLE, PETSC_COMM_WORLD));
  PetscCallMPI(MPI_Allgatherv(index.data(), 2 * n, MPIU_INT, indices.data(), count2.data(), at2.data(), MPIU_INT, PETSC_COMM_WORLD));
  all.clear();
  for (std::size_t k = 0; k < values.size(); k++) {
    all[{static_cast<int>(indices[2 * k]), static_cast<int>(indices[2 * k + 1])}] = values[k];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace amgkit::test
