#include "graph/mis.hpp"

#include "dist/attempt.hpp"
#include "graph/mis_greedy.hpp"

namespace amgkit
{
namespace
{
// Steps between two counts of what is left, which the host waits for. Grids with 7 and 27 points take 10 to 16 steps for k = 2, by turns
// one that finds roots and one that finds what they reach.
constexpr int steps_a_count = 4;
// If so many were left at the last count, they are also counted after half of the steps. For k = 2, two steps leave 26 to 27 % of a grid's
// vertices. From so many on, a new list saves more in the next steps than waiting for it costs on an H200.
constexpr std::int64_t many_vertices = 1 << 19;

template <class Ex> struct Vertices {
  Array<VertexWord, Ex> word;
  std::vector<Array<VertexWord, Ex>> reach; // reach[r]: the largest words after r + 1 rounds; for k = 1, the words before the round
  Array<int, Ex> list;                      // the undecided ones
  std::int64_t left = 0;                    // of them
  // seen[r]: those whose reach[r] the undecided ones of any rank may read, directly or by reaches of later rounds
  struct Seen {
    Array<int, Ex> list;
    std::int64_t count = 0;
    bool few = false; // else all vertices count as seen
  };
  std::vector<Seen> seen;

  // Local. Later lists need no more memory than the first.
  PetscErrorCode create(Ex &ex, const DistGraph<Ex> &G, int k, PetscInt first, Array<unsigned char, Ex> &root)
  {
    const int n = G.diag.rows;

    PetscFunctionBegin;
    PetscCall(allocate_each(ex, n, root, list, word));
    seen.resize(static_cast<std::size_t>(k - 1));
    for (Seen &of_round : seen) PetscCall(of_round.list.allocate(ex, n));
    PetscCall(words_of_vertices(ex, G.diag, G.offd, first, word.data()));
    reach.resize(static_cast<std::size_t>(std::max(k - 1, 1)));
    for (Array<VertexWord, Ex> &largest : reach) {
      PetscCall(largest.allocate(ex, n));
      PetscCall(memory_copy(ex, largest.data(), word.data(), word.bytes()));
    }
    PetscCall(undecided_vertices(ex, n, word.data(), list.data(), &left));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  // Local. flags: memory for one a vertex
  PetscErrorCode count(Ex &ex, const DistGraph<Ex> &G, unsigned char *flags)
  {
    const auto rows = static_cast<double>(G.diag.rows);
    const int *readers = list.data();

    PetscFunctionBegin;
    if (left == 0) PetscFunctionReturn(PETSC_SUCCESS); // the last lists have what other ranks still read
    PetscCall(undecided_vertices(ex, G.diag.rows, word.data(), list.data(), &left));
    std::int64_t reading = left;
    for (auto of_round = seen.rbegin(); of_round != seen.rend(); ++of_round) {
      of_round->few = static_cast<double>(reading) * (1 + G.diag.average()) <= rows;
      if (!of_round->few) break;
      PetscCall(vertices_seen(ex, reading, readers, G.diag, G.halo->sent_rows(), flags, of_round->list.data(), &of_round->count));
      readers = of_round->list.data();
      reading = of_round->count;
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  // Collective
  PetscErrorCode step(Ex &ex, const DistGraph<Ex> &G, int k)
  {
    const VertexWord *from = word.data();

    PetscFunctionBegin;
    if (k == 1) {
      PetscCall(memory_copy(ex, reach[0].data(), word.data(), word.bytes()));
      from = reach[0].data();
    }
    for (int round = 0; round < k; round++) {
      PetscCall(G.halo->exchange(ex, from));
      const auto *ghost = G.halo->template ghost<VertexWord>();
      if (round == k - 1) {
        PetscCall(decide_vertices(ex, left, list.data(), G.diag, G.offd, from, ghost, word.data()));
      } else {
        VertexWord *largest = reach[static_cast<std::size_t>(round)].data();
        const Seen &now = seen[static_cast<std::size_t>(round)];
        const std::int64_t n = now.few ? now.count : G.diag.rows;
        PetscCall(widen_reach(ex, n, now.few ? now.list.data() : nullptr, G.diag, G.offd, from, ghost, largest));
        from = largest;
      }
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

// On one CPU process, where S is symmetric.
template <class Ex>
PetscErrorCode find_greedily([[maybe_unused]] Ex &ex, [[maybe_unused]] const DistGraph<Ex> &G, [[maybe_unused]] int k,
                             [[maybe_unused]] Array<unsigned char, Ex> &root, bool *found)
{
  PetscFunctionBegin;
  *found = false;
  if constexpr (Ex::one_by_one) {
    PetscMPIInt size;
    PetscCallMPI(MPI_Comm_size(G.comm, &size));
    if (size == 1) PetscCall(attempt(G.comm, [&] { return GreedyMis(G.diag, G.range->first()).find(ex, k, root, found); }));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

template <class Ex> PetscErrorCode mis(Ex &ex, const DistGraph<Ex> &G, int k, Array<unsigned char, Ex> &root)
{
  Vertices<Ex> vertices;
  bool found;

  PetscFunctionBegin;
  PetscCall(find_greedily(ex, G, k, root, &found));
  if (found) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(attempt(G.comm, [&] { return vertices.create(ex, G, k, G.range->first(), root); }));
  for (;;) {
    std::int64_t left = vertices.left;
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &left, 1, MPI_INT64_T, MPI_SUM, G.comm));
    if (left == 0) break;
    for (int step = 0; step < steps_a_count; step++) {
      if (step == steps_a_count / 2 && vertices.left >= many_vertices) PetscCall(vertices.count(ex, G, root.data()));
      PetscCall(vertices.step(ex, G, k));
    }
    PetscCall(vertices.count(ex, G, root.data()));
  }
  PetscCall(roots_of_words(ex, G.diag.rows, vertices.word.data(), root.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

AMGKIT_INSTANTIATE(mis)
} // namespace amgkit
