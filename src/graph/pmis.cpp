#include "graph/pmis.hpp"

#include "dist/attempt.hpp"
#include "dist/ghost_numbers.hpp"
#include "graph/order_by_keys.hpp"

namespace amgkit
{
namespace
{
// Passes over the undecided points between two exchanges. Grids with 7 and 27 points take 12 to 15 passes in all, by turns one that finds
// C points and one that finds their F points. The host waits once a round, or twice while many_points are left: for longer than a pass over
// a small level takes. A plain host visits the points by decreasing words: one pass decides all that does not depend on other ranks, but
// for neighbours with equal words.
template <class Ex> constexpr int passes_a_round = Ex::one_by_one ? 1 : 4;
// Two passes leave about a quarter, 26 to 28 % on grids. From so many points on, a new list saves more in the next passes than waiting for
// it costs on an H200.
constexpr std::int64_t many_points = 1 << 19;

template <class Ex> struct Points {
  Array<PointWord, Ex> word;
  Array<int, Ex> list; // the measures; from the first words on, the undecided points
  Array<PetscInt, Ex> ghost;
  PetscInt first = 0;
  std::int64_t left = 0; // undecided points

  // Local: this rank's edges are counted, those to ghosts in what the halo returns.
  PetscErrorCode create(Ex &ex, const DistGraph<Ex> &G, Array<unsigned char, Ex> &coarse)
  {
    const int n = G.diag.rows;
    int *ghost_measure = nullptr;

    PetscFunctionBegin;
    PetscCall(allocate_each(ex, n, coarse, word, list));
    PetscCall(upload(ex, *G.ghosts, ghost));
    PetscCall(memory_zero(ex, list.data(), list.bytes()));
    if (G.halo->active()) {
      ghost_measure = G.halo->template to_return<int>();
      PetscCall(memory_zero(ex, ghost_measure, G.ghosts->size() * sizeof(int)));
    }
    PetscCall(count_dependents(ex, G.diag, G.offd, list.data(), ghost_measure, word.data()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  // Local. Later lists need no more memory than the first.
  PetscErrorCode list_undecided(Ex &ex) { return undecided_points(ex, static_cast<int>(word.size()), word.data(), list.data(), &left); }
  // Local: the next list, in the order of the one before it.
  PetscErrorCode leave_out_decided(Ex &ex)
  {
    if constexpr (Ex::one_by_one) {
      int *const begin = list.data();
      left = std::remove_if(begin, begin + left, [&](int i) { return (word.data()[i] & point_state) != 0; }) - begin;
      return PETSC_SUCCESS;
    } else {
      return list_undecided(ex);
    }
  }
  PetscErrorCode begin(Ex &ex, const DistGraph<Ex> &G, Isolated isolated)
  {
    PetscFunctionBegin;
    if (G.halo->active()) {
      const Array<int, Ex> &sent = G.halo->sent_rows();
      PetscCall(add_to_rows(ex, sent.size(), sent.data(), G.halo->template returned<int>(), list.data()));
    }
    PetscCall(first_words(ex, G.diag.rows, first, isolated, list.data(), word.data()));
    PetscCall(list_undecided(ex));
    if constexpr (Ex::one_by_one) PetscCall(order_by_words(ex, static_cast<int>(left), word.data(), list.data()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  // Collective
  PetscErrorCode round(Ex &ex, const DistGraph<Ex> &G)
  {
    PetscFunctionBegin;
    PetscCall(G.halo->exchange(ex, word.data()));
    if (left == 0) PetscFunctionReturn(PETSC_SUCCESS);
    for (int pass = 0; pass < passes_a_round<Ex>; pass++) {
      if (pass > 0 && 2 * pass == passes_a_round<Ex> && left >= many_points) PetscCall(list_undecided(ex));
      PetscCall(
          decide_points(ex, left, list.data(), G.diag, G.offd, first, ghost.data(), G.halo->template ghost<PointWord>(), word.data()));
    }
    PetscCall(leave_out_decided(ex));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};
} // namespace

template <class Ex> PetscErrorCode pmis(Ex &ex, const DistGraph<Ex> &G, Isolated isolated, Array<unsigned char, Ex> &coarse)
{
  Points<Ex> points;

  PetscFunctionBegin;
  points.first = G.range->first();
  PetscCall(attempt(G.comm, [&] { return points.create(ex, G, coarse); }));
  if (G.halo->active()) {
    PetscCall(G.halo->template exchange_back<int>());
  }
  PetscCall(attempt(G.comm, [&] { return points.begin(ex, G, isolated); }));
  for (;;) { // the largest key of all that are left is decided in every round
    std::int64_t left = points.left;
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &left, 1, MPI_INT64_T, MPI_SUM, G.comm));
    if (left == 0) break;
    PetscCall(points.round(ex, G));
  }
  PetscCall(coarse_of_words(ex, G.diag.rows, points.word.data(), coarse.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex>
PetscErrorCode number_coarse_points(Ex &ex, const DistGraph<Ex> &G, const unsigned char *coarse, CoarsePoints<Ex> &points)
{
  const int n = G.diag.rows;

  PetscFunctionBegin;
  PetscCall(attempt(G.comm, [&] {
    PetscFunctionBegin;
    PetscCall(points.number.allocate(ex, n + 1));
    PetscCall(count_coarse_points(ex, n, coarse, points.number.data(), &points.count));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscCall(number_over_ranks(G.comm, points.count, points.range));
  PetscCall(G.halo->exchange(ex, points.number.data()));
  PetscCall(
      attempt(G.comm, [&] { return global_numbers(ex, *G.range, *G.ghosts, points.range, G.halo->template ghost<int>(), points.ghosts); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

AMGKIT_INSTANTIATE(pmis)
AMGKIT_INSTANTIATE(number_coarse_points)
} // namespace amgkit
