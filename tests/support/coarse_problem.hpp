// A matrix and a prolongator, distributed by rows and by coarse points: small, the same on every rank.
#pragma once
#include "dist/prolongator.hpp"
#include "support/petsc_problems.hpp"
#include "support/split_rows.hpp"

#include <random>

namespace amgkit::test
{
enum class Split { even, gap, last }; // gap: rank 1 has nothing, if there are more; last: the last rank has all

inline RankRanges split_range(Split how, PetscInt n)
{
  const int size = size_of_world();
  RankRanges range;
  range.rank = rank_of_world();
  for (int r = 0; r <= size; r++) range.push_back(how == Split::last ? (r < size ? 0 : n) : n * r / size);
  if (how == Split::gap && size > 1) range[1] = range[2];
  return range;
}

struct CoarseProblem {
  std::string name;
  HostCsr A, P;
};

// Up to `most` entries a row, in columns near the row's place and anywhere; no entry in every fifth row, nor in columns 3, 10, 17, ...
inline HostCsr random_prolongator(int rows, int cols, int most, unsigned seed)
{
  std::mt19937 random(seed);
  std::map<std::pair<int, int>, double> entries;
  for (int i = 0; i < rows && cols > 0; i++) {
    for (int t = i % 5 == 4 ? 0 : 1 + static_cast<int>(random() % most); t > 0; t--) {
      const int near = static_cast<int>(std::int64_t{i} * cols / rows), anywhere = static_cast<int>(random() % cols);
      const int j = random() % 3 == 0 ? anywhere : std::min(cols - 1, near + anywhere % 3);
      if (j % 7 != 3) entries[{i, j}] = static_cast<double>(random() % 1999) / 1000 - 0.999;
    }
  }
  return make_csr(rows, cols, entries);
}

// Up to `most` entries a row, in columns near the row's place alone.
inline HostCsr near_prolongator(int rows, int cols, int most, unsigned seed)
{
  std::mt19937 random(seed);
  std::map<std::pair<int, int>, double> entries;
  for (int i = 0; i < rows; i++) {
    for (int t = 1 + static_cast<int>(random() % most); t > 0; t--) {
      const int near = static_cast<int>(std::int64_t{i} * cols / rows), j = std::min(cols - 1, near + static_cast<int>(random() % 3));
      entries[{i, j}] = static_cast<double>(random() % 1999) / 1000 - 0.999;
    }
  }
  return make_csr(rows, cols, entries);
}

inline std::vector<CoarseProblem> coarse_problems()
{
  std::vector<CoarseProblem> problems;
  for (const auto &[name, A] : gallery()) problems.push_back({name, A, random_prolongator(A.rows, A.rows / 3 + 1, 4, 1)});
  problems.push_back({"grid", grid7(6, 5, 4), random_prolongator(120, 31, 5, 2)});
  problems.push_back({"grid, points near", grid7(3, 3, 20), near_prolongator(180, 60, 3, 6)});
  problems.push_back({"one-sided", one_sided(grid27(5)), random_prolongator(125, 20, 4, 3)});
  problems.push_back({"one coarse point", grid7(4, 4, 4), random_prolongator(64, 1, 1, 4)});
  problems.push_back({"no coarse point", grid7(4, 4, 4), make_csr(64, 0, {})});
  problems.push_back({"empty P", grid7(4, 4, 4), make_csr(64, 9, {})});
  problems.push_back({"empty A", make_csr(40, 40, {}), random_prolongator(40, 13, 4, 5)});
  return problems;
}

// The same range for things of which `size` belong together
inline std::vector<PetscInt> in_blocks(std::vector<PetscInt> range, int size)
{
  for (PetscInt &first : range) first *= size;
  return range;
}

// This rank's part of a problem; row_block rows stay together, and point_block coarse points.
template <class Ex> struct DistributedProblem {
  HostCsr whole_A, whole_P;
  std::vector<PetscInt> rows, points;
  DistMatrix<Ex> A;
  Prolongator<Ex> P;

  DistributedProblem(const CoarseProblem &problem, Split of_rows, Split of_points, int row_block = 1, int point_block = 1)
      : whole_A(problem.A), whole_P(problem.P), rows(in_blocks(split_range(of_rows, problem.A.rows / row_block), row_block)),
        points(in_blocks(split_range(of_points, problem.P.cols / point_block), point_block))
  {}
  int first_row() const { return static_cast<int>(rows[rank_of_world()]); }
  int first_point() const { return static_cast<int>(points[rank_of_world()]); }
  // A and P's blocks; P is not created yet.
  PetscErrorCode distribute(Ex &ex)
  {
    const SplitMatrix a(whole_A, first_row(), end(rows), first_row(), end(rows));

    PetscFunctionBegin;
    PetscCall(A.set_rows(PETSC_COMM_WORLD, a.diag.rows));
    A.ghosts = a.ghosts;
    PetscCall(set_matrix(ex));
    PetscCall(A.halo.create(A.comm, A.range, A.ghosts));
    PetscCall(A.allocate(ex));
    PetscCall(set_prolongator(ex));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  // whole_A's values once more
  PetscErrorCode set_matrix(Ex &ex)
  {
    const SplitMatrix a(whole_A, first_row(), end(rows), first_row(), end(rows));

    PetscFunctionBegin;
    PetscCall(upload(ex, a.diag, A.own_diag));
    PetscCall(upload(ex, a.offd, A.own_offd));
    A.diag = A.own_diag.view();
    A.offd = A.own_offd.view();
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode set_prolongator(Ex &ex) { return set_prolongator(ex, P.diag, P.offd, P.ghosts); }
  PetscErrorCode set_prolongator(Ex &ex, Csr<double, Ex> &diag, Csr<double, Ex> &offd, std::vector<PetscInt> &ghosts) const
  {
    const SplitMatrix p(whole_P, first_row(), end(rows), first_point(), end(points));

    PetscFunctionBegin;
    ghosts = p.ghosts;
    PetscCall(upload(ex, p.diag, diag));
    PetscCall(upload(ex, p.offd, offd));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  static int end(const std::vector<PetscInt> &range) { return static_cast<int>(range[static_cast<std::size_t>(rank_of_world()) + 1]); }
};

// f(problem, how its rows and its coarse points are distributed)
template <class F> void for_coarse_problems(F f)
{
  for (const CoarseProblem &problem : coarse_problems()) {
    for (const Split rows : {Split::even, Split::gap}) {
      for (const Split points : {Split::even, Split::gap, Split::last}) {
        SCOPED_TRACE(problem.name + ", " + std::to_string(static_cast<int>(rows)) + ", " + std::to_string(static_cast<int>(points)));
        f(problem, rows, points);
        if (::testing::Test::HasFatalFailure()) return;
      }
    }
  }
}
} // namespace amgkit::test
