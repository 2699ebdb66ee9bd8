// Matrices whose entries come in blocks.
#pragma once
#include "support/gallery.hpp"

#include <cmath>
#include <functional>

namespace amgkit::test
{
// Entry (r, c) of the block of node i at this offset; 0: there is none.
using BlockEntry = std::function<double(int i, int offset, int r, int c)>;

// Every entry of nodes becomes a block.
inline HostCsr with_blocks(const HostCsr &nodes, int block, const BlockEntry &entry)
{
  HostCsr A;
  A.cols = nodes.cols * block;
  A.rows = nodes.rows * block;
  for (int i = 0; i < A.rows; i++) {
    for (int k = nodes.ptr[i / block]; k < nodes.ptr[i / block + 1]; k++) {
      for (int c = 0; c < block; c++) {
        const double a = entry(i / block, nodes.col[k] - i / block, i % block, c);
        if (a == 0) continue;
        A.col.push_back(nodes.col[k] * block + c);
        A.val.push_back(a);
      }
    }
    A.ptr.push_back(static_cast<int>(A.col.size()));
  }
  return A;
}
inline double same_in_blocks(int, int offset, int r, int c) { return std::sin(1.0 + offset + 7 * r + 3 * c); }
inline double own_in_blocks(int i, int offset, int r, int c) { return std::cos(1.0 + i) + same_in_blocks(i, offset, r, c); }
// Nodes with complete blocks; definite as M is, and symmetric where symmetric says so.
inline HostCsr definite_blocks(const HostCsr &M, int block, bool symmetric)
{
  return with_blocks(M, block, [&](int i, int offset, int r, int c) {
    const double a = M.at(i, i + offset), turned = symmetric ? std::cos(r + c) : std::cos(r + 2 * c + i);
    return a * ((r == c ? 1 : 0) + 0.1 * turned);
  });
}
} // namespace amgkit::test
