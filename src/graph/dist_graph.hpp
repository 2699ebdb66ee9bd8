// A directed graph on the rows of a distributed matrix: j is in S_i where entry (i, j) is marked as strong.
#pragma once
#include "dist/matrix.hpp"
#include "graph/strength.hpp"

namespace amgkit
{
// A rank's edges to columns of one of its blocks: the entries of compressed rows with strong_coupling among their mark's bits
// (graph/strength.hpp), all entries where there are no marks.
struct EdgesView {
  int rows = 0;
  std::int64_t nnz = 0;
  const int *ptr = nullptr, *col = nullptr;
  const unsigned char *mark = nullptr;

  double average() const { return rows > 0 ? static_cast<double>(nnz) / rows : 0; } // entries per row
  AMGKIT_FN bool is_edge(int k) const { return !mark || (mark[k] & strong_coupling) != 0; }
  AMGKIT_FN bool is_marked(int k) const { return !mark || mark[k] != 0; }
};

// A view; no edge leads from a vertex to itself. The halo has its buffers.
template <class Ex> struct DistGraph {
  MPI_Comm comm = MPI_COMM_NULL;
  const RankRanges *range = nullptr; // as in DistMatrix, and so are the ghosts
  const std::vector<PetscInt> *ghosts = nullptr;
  Halo<Ex> *halo = nullptr;
  EdgesView diag, offd;
};

// The marked entries of A; nullptr: all of the block.
template <class Ex> DistGraph<Ex> graph_of(DistMatrix<Ex> &A, const unsigned char *diag_mark, const unsigned char *offd_mark)
{
  return {A.comm,
          &A.range,
          &A.ghosts,
          &A.halo,
          {A.rows, A.diag.nnz, A.diag.view().ptr, A.diag.view().col, diag_mark},
          {A.rows, A.offd.nnz, A.offd.ptr, A.offd.col, offd_mark}};
}
} // namespace amgkit
