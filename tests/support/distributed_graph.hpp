// A host matrix distributed over the ranks, and the graph of its couplings.
#pragma once
#include "dist/mat_view.hpp"
#include "graph/dist_graph.hpp"
#include "graph/strength.hpp"
#include "support/neighbours.hpp"
#include "support/petsc_problems.hpp"

#include <algorithm>

namespace amgkit::test
{
// This rank's rows in several distributions: PETSc's, one with a rank without rows, all on the last rank.
inline std::vector<PetscInt> layouts(int n)
{
  const int rank = rank_of_world(), size = size_of_world();
  if (size == 1) return {n};
  const PetscInt without_one = rank == 1 ? 0 : n / (size - 1) + (rank == 0 ? n % (size - 1) : 0);
  return {-1, without_one, rank == size - 1 ? n : 0};
}

// The graph of a matrix's couplings, distributed.
template <class Ex> struct DistributedGraph {
  OwnedMat mat;
  MatView<Ex> view;
  DistMatrix<Ex> A;
  Strength<Ex> S;
  DistGraph<Ex> G;

  PetscErrorCode create(Ex &ex, const HostCsr &whole, PetscInt local_rows)
  {
    PetscFunctionBegin;
    PetscCall(distribute(whole, Ex::on_device, mat.out(), local_rows));
    PetscCall(view.create(mat, A));
    PetscCall(view.access(ex, A));
    PetscCall(A.allocate(ex));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  // Edges where a_ij is not 0 and i not j
  PetscErrorCode mark_couplings(Ex &ex)
  {
    PetscFunctionBegin;
    PetscCall(mark(ex, A.diag, true, S.diag));
    PetscCall(mark(ex, A.offd, false, S.offd));
    G = graph_of(A, S.diag.data(), S.offd.data());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode mark_strong(Ex &ex, const StrengthRule &rule)
  {
    const auto before = std::lower_bound(A.ghosts.begin(), A.ghosts.end(), A.range.first());
    PetscFunctionBegin;
    PetscCall(classical_strength(ex, A.diag, A.offd, static_cast<int>(before - A.ghosts.begin()), rule, S));
    G = graph_of(A, S.diag.data(), S.offd.data());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  DistributedGraph() = default;
  DistributedGraph(const DistributedGraph &) = delete;
  DistributedGraph &operator=(const DistributedGraph &) = delete;
  DistributedGraph(DistributedGraph &&) = delete;
  DistributedGraph &operator=(DistributedGraph &&) = delete;
  ~DistributedGraph() { static_cast<void>(view.release()); }

private:
  static PetscErrorCode mark(Ex &ex, const CsrView<double> &block, bool own, Array<unsigned char, Ex> &out)
  {
    std::vector<int> ptr(1, 0), col;
    std::vector<double> val;
    std::vector<unsigned char> marks(block.nnz);
    PetscFunctionBegin;
    if (block.nnz > 0) PetscCall(download(ex, block.ptr, block.rows + 1, ptr));
    PetscCall(download(ex, block.col, block.nnz, col));
    PetscCall(download(ex, block.val, block.nnz, val));
    for (std::size_t i = 0; i + 1 < ptr.size(); i++) {
      for (int k = ptr[i]; k < ptr[i + 1]; k++) marks[k] = val[k] != 0 && !(own && col[k] == static_cast<int>(i));
    }
    PetscCall(upload(ex, marks, out));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

// On all ranks, what choose(G, flags) flags of all vertices of a graph
template <class Ex, class F> PetscErrorCode flags_of(Ex &ex, const DistGraph<Ex> &G, F choose, Flags &all)
{
  Array<unsigned char, Ex> flags;
  Flags mine;

  PetscFunctionBegin;
  PetscCall(choose(G, flags));
  PetscCall(download(ex, flags.data(), flags.size(), mine));
  all = all_of(mine);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The same of A's couplings in every distribution; the first one's in *out, which all others must be.
template <class Ex, class F> void flags_everywhere(Ex &ex, const HostCsr &A, F choose, Flags &out)
{
  for (const PetscInt local_rows : layouts(A.rows)) {
    DistributedGraph<Ex> problem;
    Flags all;
    OK(problem.create(ex, A, local_rows));
    OK(problem.mark_couplings(ex));
    OK(flags_of(ex, problem.G, choose, all));
    if (out.empty()) out = all;
    ASSERT_EQ(all, out);
  }
}
} // namespace amgkit::test
