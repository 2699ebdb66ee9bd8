// Some rows of a host matrix as the rank that owns them has them.
#pragma once
#include "support/gallery.hpp"

#include <algorithm>

namespace amgkit::test
{
struct SplitMatrix {
  std::vector<PetscInt> ghosts; // ascending
  int ghosts_before = 0;        // how many precede the own columns
  HostCsr diag, offd;
  std::vector<int> own, other; // positions in the whole of the blocks' entries

  // Rows first <= i < last of A, whose own columns are first_col <= j < last_col.
  SplitMatrix(const HostCsr &A, int first, int last, int first_col, int last_col)
  {
    const auto inside = [=](int j) { return j >= first_col && j < last_col; };
    for (int k = A.ptr[first]; k < A.ptr[last]; k++) {
      if (!inside(A.col[k])) ghosts.push_back(A.col[k]);
    }
    std::sort(ghosts.begin(), ghosts.end());
    ghosts.erase(std::unique(ghosts.begin(), ghosts.end()), ghosts.end());
    for (const PetscInt g : ghosts) ghosts_before += g < first_col;
    diag.rows = offd.rows = last - first;
    diag.cols = last_col - first_col;
    offd.cols = static_cast<int>(ghosts.size());
    for (int i = first; i < last; i++) {
      for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) {
        const int j = A.col[k], ghost = static_cast<int>(std::lower_bound(ghosts.begin(), ghosts.end(), j) - ghosts.begin());
        HostCsr &block = inside(j) ? diag : offd;
        block.col.push_back(inside(j) ? j - first_col : ghost);
        block.val.push_back(A.val[k]);
        (inside(j) ? own : other).push_back(k);
      }
      diag.ptr.push_back(static_cast<int>(diag.col.size()));
      offd.ptr.push_back(static_cast<int>(offd.col.size()));
    }
  }
};
} // namespace amgkit::test
