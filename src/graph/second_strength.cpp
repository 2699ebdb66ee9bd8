#include "graph/second_strength.hpp"

#include "dist/agree.hpp"
#include "dist/gathered_rows.hpp"
#include "sparse/spmv.hpp"

namespace amgkit
{
namespace
{
template <class Ex> struct Counting {
  BlockSelection<Ex> from, into;
  CoarseBlocks<Ex> B; // S_:C
  GatheredRows<Ex> gathered;
  int before = 0; // of A's ghosts, so many stand before the own rows

  // Local: B
  PetscErrorCode begin(Ex &ex, const DistMatrix<Ex> &A, const Strength<Ex> &S, const CoarsePoints<Ex> &points, PetscInt first)
  {
    Array<unsigned char, Ex> mark, ghost_mark;
    PetscFunctionBegin;
    PetscCall(mark.allocate(ex, A.diag.nnz));
    PetscCall(ghost_mark.allocate(ex, A.offd.nnz));
    PetscCall(mark_counted(ex, A.diag, A.offd, S, {points.number.data(), points.ghosts.data()}, mark.data(), ghost_mark.data()));
    PetscCall(from.create(ex, A, mark.data(), ghost_mark.data(), from_coarse));
    PetscCall(into.create(ex, A, mark.data(), ghost_mark.data(), into_coarse));
    PetscCall(coarse_columns(ex, A, into, points, first, B));
    PetscCall(fill(ex, B.diag.val.size(), 1, B.diag.val.data()));
    PetscCall(fill(ex, B.offd.val.size(), 1, B.offd.val.data()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  // Local: the edges
  PetscErrorCode count(Ex &ex, const DistMatrix<Ex> &A, const CoarsePoints<Ex> &points, int least_count, const SpgemmOptions &options,
                       CoarseBlocks<Ex> &edges)
  {
    Array<unsigned char, Ex> keep;
    Csr<double, Ex> L, W;
    SpgemmPlan<Ex> plan;
    BlockSelection<Ex> chosen;
    PetscFunctionBegin;
    PetscCall(stack_rows(ex, from.of(A, before), L));
    PetscCall(weigh_steps(ex, L.view(), before, L.val.data()));
    PetscCall(spgemm_symbolic(ex, options, L.view(), gathered.rows(B.rows()), W, plan));
    PetscCall(spgemm_numeric(ex, plan, L.view(), gathered.rows(B.rows()), W));
    PetscCall(keep.allocate(ex, W.col.size()));
    PetscCall(mark_edges(ex, W.view(), points.number.data(), gathered.before(), least_count, keep.data()));
    PetscCall(split_product(ex, W.view(), keep.data(), {gathered.before(), B.diag.cols, B.first, &gathered.ghosts()}, chosen, edges));
    PetscCall(selected_values(ex, W.view(), chosen.diag, nullptr, edges.diag.val.data()));
    PetscCall(selected_values(ex, W.view(), chosen.offd, nullptr, edges.offd.val.data()));
    PetscCall(leave_out_rows(ex, A.rows, points.number.data(), points.count, edges.diag));
    PetscCall(leave_out_rows(ex, A.rows, points.number.data(), points.count, edges.offd));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};
} // namespace

template <class Ex>
PetscErrorCode second_strength(Ex &ex, DistMatrix<Ex> &A, const Strength<Ex> &marks, const CoarsePoints<Ex> &points, int least_count,
                               const SpgemmOptions &options, SecondStrength<Ex> &S2, bool *out_of_memory)
{
  Counting<Ex> counting;
  int rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(A.comm, &rank));
  counting.before = ghosts_before(A.ghosts, A.first(rank));
  S2.range = points.range;
  PetscCall(attempt(
      A.comm, [&] { return counting.begin(ex, A, marks, points, points.range[static_cast<std::size_t>(rank)]); }, out_of_memory));
  if (*out_of_memory) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(counting.gathered.create(ex, A.comm, A.halo, counting.B.rows(), counting.before, out_of_memory));
  if (*out_of_memory) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(attempt(
      A.comm, [&] { return counting.count(ex, A, points, least_count, options, S2.edges); }, out_of_memory));
  if (*out_of_memory) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(S2.halo.create(A.comm, S2.range, S2.edges.ghosts));
  PetscCall(attempt(
      A.comm, [&] { return S2.halo.allocate(ex); }, out_of_memory));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define INSTANTIATE(Ex)                                                                                                                    \
  template PetscErrorCode second_strength(Ex &, DistMatrix<Ex> &, const Strength<Ex> &, const CoarsePoints<Ex> &, int,                     \
                                          const SpgemmOptions &, SecondStrength<Ex> &, bool *);
AMGKIT_FOR_ALL_SPACES(INSTANTIATE)
#undef INSTANTIATE
} // namespace amgkit
