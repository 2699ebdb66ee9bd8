// MIS(k) of mis.hpp on one CPU process, one vertex after the other.
#pragma once
#include "base/hash.hpp"
#include "graph/mis.hpp"
#include "graph/order_by_keys.hpp"

namespace amgkit
{
// Where S is symmetric, the steps of mis.hpp find the roots of the greedy method by decreasing keys. It visits the edges of what lies less
// than k steps from a root: with 7 points and k = 2, about five edges a vertex. The steps visit about fifty.
class GreedyMis {
public:
  GreedyMis(const EdgesView &S, PetscInt first) : S_(S), first_(first) {}

  // Local. *symmetric <- whether S is symmetric. If so, root is made.
  PetscErrorCode find(Host &ex, int k, Array<unsigned char, Host> &root, bool *symmetric)
  {
    const int n = S_.rows;

    PetscFunctionBegin;
    PetscCall(key_.allocate(ex, n));
    for (int i = 0; i < n; i++) {
      const PetscInt global = first_ + i;
      key_.data()[i] = hash64(static_cast<std::uint64_t>(global));
    }
    *symmetric = is_symmetric();
    if (!*symmetric) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(allocate_each(ex, n, root, order_, reach_, steps_left_));
    PetscCall(order_by_hashes(ex, n, key_.data(), order_.data()));
    PetscCall(memory_zero(ex, root.data(), root.bytes()));
    PetscCall(memory_zero(ex, steps_left_.data(), steps_left_.bytes()));
    for (int t = 0; t < n; t++) {
      const int i = order_.data()[t];
      if (root.data()[i] == undecided && has_edges(i)) take(i, k, root.data());
    }
    for (int i = 0; i < n; i++) root.data()[i] = root.data()[i] == chosen;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  enum : unsigned char { undecided, out, chosen };

  bool has_edges(int i) const
  {
    for (int e = S_.ptr[i]; e < S_.ptr[i + 1]; e++) {
      if (S_.is_edge(e)) return true;
    }
    return false;
  }

  // The sum of h_i h_j (h_j - h_i) mod 2^64 over all edges, to which an edge and its reverse add 0 together. The h_i are odd hashes: of
  // another graph this sum is 0 with a chance of about 2^-60 only.
  bool is_symmetric() const
  {
    const VertexWord *h = key_.data();
    VertexWord sum = 0;
    for (int i = 0; i < S_.rows; i++) {
      VertexWord linear = 0, square = 0;
      for (int e = S_.ptr[i]; e < S_.ptr[i + 1]; e++) {
        const VertexWord other = (h[S_.col[e]] | 1) * S_.is_edge(e); // a branch would often be mispredicted
        linear += other;
        square += other * other;
      }
      const VertexWord mine = h[i] | 1;
      sum += mine * square - mine * mine * linear;
    }
    return sum == 0;
  }

  // i becomes a root, and all that its reach has is out. What another root reached with as many steps left is not looked at again.
  void take(int i, int k, unsigned char *state)
  {
    int *reach = reach_.data(), begin = 0, end = 1;
    unsigned char *steps_left = steps_left_.data();
    reach[0] = i;
    steps_left[i] = static_cast<unsigned char>(k);
    for (int left = k - 1; left >= 0; left--) {
      const int last = end;
      for (; begin < last; begin++) {
        for (int e = S_.ptr[reach[begin]]; e < S_.ptr[reach[begin] + 1]; e++) {
          if (!S_.is_edge(e)) continue;
          const int j = S_.col[e];
          state[j] = out;
          if (steps_left[j] >= left) continue;
          steps_left[j] = static_cast<unsigned char>(left);
          reach[end++] = j;
        }
      }
    }
    state[i] = chosen;
  }

  EdgesView S_;
  PetscInt first_;
  Array<VertexWord, Host> key_;
  Array<int, Host> order_;                // all vertices, by decreasing keys
  Array<int, Host> reach_;                // of a root, in the order in which it was found
  Array<unsigned char, Host> steps_left_; // the most with which a root has reached a vertex
};
} // namespace amgkit
