// Matrices by the number of a seed, the same on every machine: what users bring when nobody looks.
#pragma once
#include "support/gallery.hpp"

namespace amgkit::test
{
struct RandomMatrix {
  std::string description;
  HostCsr A;
  int block_size = 1;
  bool tame = true;            // diagonally dominant, its entries within some orders of magnitude: solving must succeed
  bool definite = true;        // the diagonal has one sign
  std::vector<int> local_rows; // of each of the given number of ranks; some have none
};
RandomMatrix random_matrix(unsigned seed, int ranks);
} // namespace amgkit::test
