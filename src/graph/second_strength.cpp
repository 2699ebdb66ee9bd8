#include "graph/second_strength.hpp"

#include "dist/attempt.hpp"
#include "dist/gathered_rows.hpp"
#include "sparse/formats/spmv.hpp"

namespace amgkit
{
namespace
{
template <class Ex> struct Counting {
  Array<unsigned char, Ex> mark, ghost_mark;
  CoarseBlocks<Ex> B; // S_:C
  GatheredRows<Ex> gathered;
  int before = 0; // of A's ghosts, so many stand before the own rows

  // Local: B
  PetscErrorCode begin(Ex &ex, const DistMatrix<Ex> &A, const Strength<Ex> &S, const CoarsePoints<Ex> &points, PetscInt first)
  {
    BlockSelection<Ex> into;
    PetscFunctionBegin;
    PetscCall(mark.allocate(ex, A.diag.nnz));
    PetscCall(ghost_mark.allocate(ex, A.offd.nnz));
    PetscCall(mark_counted(ex, A.diag, A.offd, S, {points.number.data(), points.ghosts.data()}, mark.data(), ghost_mark.data()));
    PetscCall(into.create(ex, marked_rows(A, mark, ghost_mark), into_coarse));
    PetscCall(coarse_columns(ex, A, into, points, first, B));
    PetscCall(fill(ex, B.diag.val.size(), 1, B.diag.val.data()));
    PetscCall(fill(ex, B.offd.val.size(), 1, B.offd.val.data()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  ProductColumns columns() const { return {gathered.before(), B.diag.cols, B.first, &gathered.ghosts()}; }
  // Local: the edges of some rows
  PetscErrorCode count_rows(Ex &ex, const MarkedRows &rows, const int *number, const SecondStrengthRule &rule, CoarseBlocks<Ex> &part)
  {
    BlockSelection<Ex> from, chosen;
    Array<unsigned char, Ex> keep;
    Csr<double, Ex> L, W;
    SpgemmPlan<Ex> plan;
    PetscFunctionBegin;
    PetscCall(from.create(ex, rows, from_coarse));
    PetscCall(stack_rows(ex, from.of(rows, before), L));
    from = {};
    PetscCall(weigh_steps(ex, L.view(), before + rows.first, L.val.data()));
    PetscCall(spgemm_product(ex, rule.spgemm, L.view(), gathered.rows(B.rows()), W, plan));
    L = {};
    PetscCall(keep.allocate(ex, W.col.size()));
    PetscCall(mark_edges(ex, W.view(), number + rows.first, gathered.before(), rule.kind == SecondStrengthKind::a1 ? 1 : 2, keep.data()));
    W.val = {};
    PetscCall(split_product(ex, W.view(), keep.data(), columns(), chosen, part));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  // Local: the edges. Uses all up.
  PetscErrorCode count(Ex &ex, const DistMatrix<Ex> &A, const CoarsePoints<Ex> &points, const SecondStrengthRule &rule,
                       CoarseBlocks<Ex> &edges)
  {
    const MarkedRows all = marked_rows(A, mark, ghost_mark);
    const ProductColumns all_columns = columns();
    const int *number = points.number.data();
    std::vector<CoarseBlocks<Ex>> parts;
    int slices;
    PetscFunctionBegin;
    PetscCall(count_slices(ex, all, from_coarse, gathered.rows(B.rows()), before, rule.slice_bytes, &slices));
    const auto make = [&](const MarkedRows &slice, CoarseBlocks<Ex> &part) { return count_rows(ex, slice, number, rule, part); };
    PetscCall(make_parts<Ex>(ex, all, slices, make, parts));
    mark = {};
    ghost_mark = {};
    B = {};
    PetscCall(join_parts(ex, parts, all_columns, edges));
    PetscCall(leave_out_rows(ex, A.rows, number, points.count, edges.diag));
    PetscCall(leave_out_rows(ex, A.rows, number, points.count, edges.offd));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};
} // namespace

template <class Ex>
PetscErrorCode second_strength(Ex &ex, DistMatrix<Ex> &A, const Strength<Ex> &marks, const CoarsePoints<Ex> &points,
                               const SecondStrengthRule &rule, SecondStrength<Ex> &S2)
{
  Counting<Ex> counting;

  PetscFunctionBegin;
  counting.before = A.ghosts_before();
  S2.range = points.range;
  PetscCall(attempt(A.comm, [&] { return counting.begin(ex, A, marks, points, points.range.first()); }));
  PetscCall(counting.gathered.create(ex, A.comm, A.halo, counting.B.rows(), counting.before,
                                     [&] { return counting.count(ex, A, points, rule, S2.edges); }));
  PetscCall(S2.halo.create(A.comm, S2.range, S2.edges.ghosts));
  PetscCall(attempt(A.comm, [&] { return S2.halo.allocate(ex); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

AMGKIT_INSTANTIATE(second_strength)
} // namespace amgkit
