#include "graph/tentative.hpp"

#include "dist/attempt.hpp"
#include "sparse/formats/spmv.hpp"
#include "sparse/rows/rows.hpp"

#include <limits>

namespace amgkit
{
namespace
{
// Collective, though all ranks find it without a message. The columns of aggregates that follow each other: m each.
PetscErrorCode columns_of(MPI_Comm comm, const RankRanges &aggregates, int m, RankRanges &columns)
{
  PetscFunctionBegin;
  PetscCheck(aggregates.back() <= std::numeric_limits<PetscInt>::max() / m, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "More than 2^31 - 1 rows on all processes: use a PETSc with 64-bit indices");
  columns = aggregates;
  for (PetscInt &first : columns) first *= m;
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> struct GramSchmidt {
  AggregatePieces pieces;
  Array<int, Ex> ptr, node;
  Array<double, Ex> sums, ghost_R;
  Halo<Ex> halo; // of T's ghost columns
  Csr<double, Ex> arrivals;
  Array<int, Ex> receiving, crossing;

  // Local: T's pattern, and room for all that follows.
  PetscErrorCode create(Ex &ex, const NodeAggregates<Ex> &aggregates, int bs, const NearNull<Ex> &B, Tentative<Ex> &out)
  {
    const int m = B.m, own = aggregates.count, ghosts = static_cast<int>(aggregates.ghosts.size());
    const std::int64_t all = std::int64_t{own} + ghosts, nodes = aggregates.id.size();

    PetscFunctionBegin;
    PetscCheck(B.B.size() == nodes * bs * m, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ, "A near-null space of another length than the aggregates");
    PetscCheck(all * m <= INT32_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
               "More than 2^31 - 1 coarse rows on one process: use more processes");
    PetscCall(ptr.allocate(ex, all + 1));
    PetscCall(node.allocate(ex, nodes));
    PetscCall(nodes_of_pieces(ex, aggregates.id, static_cast<int>(all), ptr.data(), node.data()));
    PetscCall(block_pattern(ex, aggregates.id, 0, own, bs, m, out.T.diag));
    PetscCall(block_pattern(ex, aggregates.id, own, own + ghosts, bs, m, out.T.offd));
    out.coarse.m = m;
    PetscCall(out.coarse.B.allocate(ex, std::int64_t{own} * m * m));
    PetscCall(allocate_each(ex, std::int64_t{own} * m, out.zero, sums));
    PetscCall(ghost_R.allocate(ex, std::int64_t{ghosts} * m * m));
    pieces.bs = bs;
    pieces.m = m;
    pieces.own = own;
    pieces.average = all > 0 ? static_cast<double>(nodes) * bs / static_cast<double>(all) : 0;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  // Local: the way between the ranks, once halo is created.
  PetscErrorCode connect(Ex &ex, int ghosts)
  {
    PetscFunctionBegin;
    if (!halo.active()) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(halo.allocate(ex));
    PetscCall(halo.arrivals(ex, pieces.own * pieces.m, arrivals, receiving));
    PetscCall(crossing_pieces(ex, receiving, pieces.m, pieces.own, ghosts, crossing));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  void look_at(const NearNull<Ex> &B, Tentative<Ex> &out)
  {
    pieces.ptr = ptr.data();
    pieces.node = node.data();
    pieces.B = B.B.data();
    pieces.row = {out.T.diag.ptr.data(), out.T.offd.ptr.data()};
    pieces.T = {out.T.diag.val.data(), out.T.offd.val.data()};
    pieces.sums = {sums.data(), halo.template to_return<double>()};
    pieces.R = {out.coarse.B.data(), ghost_R.data()};
    pieces.zero = out.zero.data();
  }
  // Collective: the parts of all ranks are added to the owner's by ascending ranks, and all hear of the sum.
  PetscErrorCode sum_over_ranks(Ex &ex)
  {
    PetscFunctionBegin;
    PetscCall(halo.template exchange_back<double>());
    PetscCall(subtract_rows(ex, arrivals.view(), receiving.size(), receiving.data(), -1, unscaled<double>, halo.template returned<double>(),
                            sums.data()));
    PetscCall(halo.exchange(ex, sums.data()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  // Collective. Aggregates that cross ranks are done again, by all of their ranks.
  PetscErrorCode run(Ex &ex)
  {
    PetscFunctionBegin;
    PetscCall(orthonormalise(ex, pieces));
    if (!halo.active()) PetscFunctionReturn(PETSC_SUCCESS);
    for (int turn = 1; turn < 2 * pieces.m; turn++) {
      PetscCall(add_up(ex, pieces, turn, crossing));
      PetscCall(sum_over_ranks(ex));
      PetscCall(project(ex, pieces, turn, crossing));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};
} // namespace

template <class Ex>
PetscErrorCode tentative_prolongator(Ex &ex, MPI_Comm comm, const NodeAggregates<Ex> &aggregates, int bs, const NearNull<Ex> &B,
                                     Tentative<Ex> &out)
{
  GramSchmidt<Ex> work;
  RankRanges range;

  PetscFunctionBegin;
  PetscCall(columns_of(comm, aggregates.range, B.m, range));
  out.T.first = range.first();
  out.T.ghosts.clear();
  for (const PetscInt I : aggregates.ghosts) {
    for (int k = 0; k < B.m; k++) out.T.ghosts.push_back(I * B.m + k);
  }
  PetscCall(attempt(comm, [&] { return work.create(ex, aggregates, bs, B, out); }));
  PetscCall(work.halo.create(comm, range, out.T.ghosts));
  PetscCall(attempt(comm, [&] { return work.connect(ex, static_cast<int>(aggregates.ghosts.size())); }));
  work.look_at(B, out);
  PetscCall(work.run(ex));
  PetscCall(attempt(comm, [&] { return count_marks(ex, out.zero, &out.dropped); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

AMGKIT_INSTANTIATE(tentative_prolongator)
} // namespace amgkit
