// Graphs as lists of neighbours, on the host, and what all ranks have of their vertices.
#pragma once
#include "support/gallery.hpp"
#include "support/petsc_problems.hpp"

#include <algorithm>
#include <numeric>

namespace amgkit::test
{
using Neighbours = std::vector<std::vector<int>>; // S_i of every point
using Flags = std::vector<unsigned char>;

// S_i: the columns of row i but i where the value is not 0.
inline Neighbours neighbours_of(const HostCsr &A)
{
  Neighbours S(A.rows);
  for (int i = 0; i < A.rows; i++) {
    for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) {
      if (A.col[k] != i && A.val[k] != 0) S[i].push_back(A.col[k]);
    }
  }
  return S;
}
// n / 2 rungs: i has neighbours i - 2 and i + 2, and i and i + 1 each other, for even i.
inline Neighbours ladder(int n)
{
  Neighbours S(n);
  for (int i = 0; i < n; i++) {
    for (const int j : {i - 2, i ^ 1, i + 2}) {
      if (j >= 0 && j < n) S[i].push_back(j);
    }
  }
  return S;
}
inline HostCsr matrix_of(const Neighbours &S)
{
  std::map<std::pair<int, int>, double> entries;
  const int n = static_cast<int>(S.size());
  for (int i = 0; i < n; i++) {
    entries[{i, i}] = 1;
    for (int j : S[i]) entries[{i, j}] = -1;
  }
  return make_csr(n, n, entries);
}
inline Neighbours transposed(const Neighbours &S)
{
  Neighbours T(S.size());
  for (std::size_t i = 0; i < S.size(); i++) {
    for (int j : S[i]) T[j].push_back(static_cast<int>(i));
  }
  return T;
}

// Where k steps or fewer lead from i, i included, ascending.
inline std::vector<int> reach_of(const Neighbours &S, int i, int k)
{
  std::vector<int> reach = {i}, last = {i};
  std::vector<bool> seen(S.size(), false);
  seen[i] = true;
  for (; k > 0; k--) {
    std::vector<int> next;
    for (int j : last) {
      for (int l : S[j]) {
        if (!seen[l]) next.push_back(l);
        seen[l] = true;
      }
    }
    reach.insert(reach.end(), next.begin(), next.end());
    last = next;
  }
  std::sort(reach.begin(), reach.end());
  return reach;
}

// The gallery, and graphs whose edges lead in one direction only.
inline std::vector<Named> graphs()
{
  std::vector<Named> all = gallery();
  Neighbours cycle(31), out_star(40), in_star(40), dag(30);
  for (int i = 0; i < 31; i++) cycle[i] = {(i + 1) % 31};
  for (int i = 1; i < 40; i++) {
    out_star[0].push_back(i);
    in_star[i] = {0};
  }
  for (int i = 0; i < 30; i++) {
    for (int j = i + 1; j < 30; j++) dag[i].push_back(j);
  }
  all.push_back({"one-way cycle", matrix_of(cycle)});
  all.push_back({"dense row", matrix_of(out_star)});
  all.push_back({"dense column", matrix_of(in_star)});
  all.push_back({"ordered clique", matrix_of(dag)});
  all.push_back({"one-sided grid", one_sided(grid7(9, 8, 3))});
  all.push_back({"one-way random", random_graph(400, 800, 11, false)});
  all.push_back({"one-way sparse", random_graph(500, 250, 12, false)});
  return all;
}

// All ranks' values on every rank.
template <class T> std::vector<T> all_of(const std::vector<T> &mine)
{
  const int n = static_cast<int>(mine.size() * sizeof(T));
  std::vector<int> counts(size_of_world()), at(size_of_world() + 1, 0);
  MPI_Allgather(&n, 1, MPI_INT, counts.data(), 1, MPI_INT, PETSC_COMM_WORLD);
  std::partial_sum(counts.begin(), counts.end(), at.begin() + 1);
  std::vector<T> all(at.back() / sizeof(T));
  MPI_Allgatherv(mine.data(), n, MPI_BYTE, all.data(), counts.data(), at.data(), MPI_BYTE, PETSC_COMM_WORLD);
  return all;
}
} // namespace amgkit::test
