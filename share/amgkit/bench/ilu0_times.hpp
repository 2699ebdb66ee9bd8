// Times of ILU(0) and its solves, for amgkit_kernels.
#pragma once
#include "base/array.hpp"

#include <string>
#include <vector>

namespace amgkit::bench
{
// Row i of the reordered matrix is order[i] of the matrix.
struct RowsInOrder {
  const char *name;
  std::vector<int> order;
};
// Of a grid with n points in each direction: those with an even sum of coordinates before the others.
std::vector<int> red_black(int n);
// n rows at random, the same in every run, as those of an unstructured grid
std::vector<int> shuffled(int n);

// In natural order and in those given. A time is the best of the samples, solves' the mean over `repeat` in a row.
template <class Ex>
PetscErrorCode time_ilu0(Ex &, const std::string &name, const Csr<double, Ex> &A, const std::vector<RowsInOrder> &orders, PetscInt repeat,
                         PetscInt samples);
} // namespace amgkit::bench
