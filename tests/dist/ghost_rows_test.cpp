#include "dist/ghost_rows.hpp"

#include "dist/gathered_rows.hpp"
#include "support/failing_allocations.hpp"
#include "support/petsc_problems.hpp"
#include "support/split_rows.hpp"

namespace amgkit::test
{
template <class Ex> using GhostRowsTest = SpaceTest<Ex>;
TYPED_TEST_SUITE(GhostRowsTest, Spaces, SpaceName);

namespace
{
std::vector<PetscInt> even(PetscInt n)
{
  std::vector<PetscInt> range;
  for (int r = 0; r <= size_of_world(); r++) range.push_back(n * r / size_of_world());
  return range;
}
// Rank 1 has nothing, if there are more.
std::vector<PetscInt> with_a_gap(PetscInt n)
{
  std::vector<PetscInt> range = even(n);
  if (range.size() > 2) range[1] = range[2];
  return range;
}

// Matrices A and B, distributed by the same rows; B's columns by a range of their own. A's ghosts are the rows of B that are wanted.
template <class Ex> struct Pair {
  std::vector<PetscInt> rows, columns;
  HostCsr B;
  SplitMatrix a, b;
  Halo<Ex> halo;
  Csr<double, Ex> diag, offd;

  Pair(const HostCsr &A, HostCsr whole, std::vector<PetscInt> range, std::vector<PetscInt> column_range)
      : rows(std::move(range)), columns(std::move(column_range)), B(std::move(whole)), a(split(A, rows)), b(split(B, columns))
  {}
  PetscErrorCode create(Ex &ex)
  {
    PetscFunctionBegin;
    PetscCall(halo.create(PETSC_COMM_WORLD, rows, a.ghosts));
    PetscCall(halo.allocate(ex));
    PetscCall(upload(ex, b.diag, diag));
    PetscCall(upload(ex, b.offd, offd));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode scale(Ex &ex, double factor)
  {
    PetscFunctionBegin;
    for (double &value : B.val) value *= factor;
    for (double &value : b.diag.val) value *= factor;
    for (double &value : b.offd.val) value *= factor;
    PetscCall(upload(ex, b.diag, diag));
    PetscCall(upload(ex, b.offd, offd));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  DistRows source() const { return {diag.view(), offd.view(), columns[rank_of_world()], &b.ghosts}; }

private:
  SplitMatrix split(const HostCsr &M, const std::vector<PetscInt> &column_range) const
  {
    const int r = rank_of_world();
    return {M, static_cast<int>(rows[r]), static_cast<int>(rows[r + 1]), static_cast<int>(column_range[r]),
            static_cast<int>(column_range[r + 1])};
  }
};

// The rows that have come are B's, and every number stands for its column.
template <class Ex> void expect_rows(Ex &ex, const Pair<Ex> &pair, const GhostRows<Ex> &got)
{
  const CsrView<double> view = got.rows();
  std::vector<int> ptr, col, column_of_ghost;
  std::vector<double> val;
  OK(download(ex, view.ptr, view.rows + 1, ptr));
  OK(download(ex, view.col, view.nnz, col));
  OK(download(ex, view.val, view.nnz, val));
  OK(download(ex, got.around(pair.source(), 0).numbers.ghost, static_cast<std::int64_t>(pair.b.ghosts.size()), column_of_ghost));

  const int r = rank_of_world(), own = pair.b.diag.cols, before = got.before();
  std::vector<PetscInt> global(got.ghosts()), used(pair.b.ghosts); // column -> its global index
  for (int j = own - 1; j >= 0; j--) global.insert(global.begin() + before, pair.columns[r] + j);
  ASSERT_EQ(view.cols, static_cast<int>(global.size()));
  EXPECT_TRUE(std::adjacent_find(global.begin(), global.end(), std::greater_equal<>()) == global.end());
  ASSERT_EQ(view.rows, static_cast<int>(pair.a.ghosts.size()));
  ASSERT_EQ(view.nnz, ptr.back());
  for (int g = 0; g < view.rows; g++) {
    const auto i = pair.a.ghosts[g];
    ASSERT_EQ(ptr[g + 1] - ptr[g], pair.B.ptr[i + 1] - pair.B.ptr[i]);
    for (int k = ptr[g]; k < ptr[g + 1]; k++) {
      const int expected = pair.B.ptr[i] + k - ptr[g];
      ASSERT_EQ(global[col[k]], pair.B.col[expected]);
      ASSERT_EQ(val[k], pair.B.val[expected]);
      if (col[k] < before || col[k] >= before + own) used.push_back(global[col[k]]);
    }
  }
  for (std::size_t k = 0; k < column_of_ghost.size(); k++) EXPECT_EQ(global[column_of_ghost[k]], pair.b.ghosts[k]);
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  EXPECT_EQ(got.ghosts(), used); // no ghost that nobody needs
}

// Own rows and those of the ghosts, in the order of the global indices.
template <class Ex> void expect_gathered(Ex &ex, const Pair<Ex> &pair, const GatheredRows<Ex> &got)
{
  const int r = rank_of_world(), own = pair.b.diag.cols;
  const CsrView<double> view = got.rows(pair.source());
  std::vector<PetscInt> rows(pair.a.ghosts), global(got.ghosts());
  std::vector<int> ptr(1, 0), col;
  std::vector<double> val;
  for (PetscInt i = pair.rows[r]; i < pair.rows[r + 1]; i++) rows.push_back(i);
  std::sort(rows.begin(), rows.end());
  for (int j = own - 1; j >= 0; j--) global.insert(global.begin() + got.before(), pair.columns[r] + j);
  ASSERT_EQ(view.rows, static_cast<int>(rows.size()));
  ASSERT_EQ(view.cols, static_cast<int>(global.size()));
  if (view.nnz > 0) {
    OK(download(ex, view.ptr, view.rows + 1, ptr));
  }
  OK(download(ex, view.col, view.nnz, col));
  OK(download(ex, view.val, view.nnz, val));
  int k = 0;
  for (std::size_t t = 0; t < rows.size(); t++) {
    for (int e = pair.B.ptr[rows[t]]; e < pair.B.ptr[rows[t] + 1]; e++, k++) {
      ASSERT_EQ(global[col[k]], pair.B.col[e]);
      ASSERT_EQ(val[k], pair.B.val[e]);
    }
    if (view.nnz > 0) {
      ASSERT_EQ(ptr[t + 1], k);
    }
  }
  ASSERT_EQ(view.nnz, k);
}

template <class Ex> void check(Ex &ex, const HostCsr &A, const HostCsr &B)
{
  for (const auto &distribution : {even, with_a_gap}) {
    for (const auto &of_columns : {even, with_a_gap}) {
      Pair<Ex> pair(A, B, distribution(A.rows), of_columns(B.cols));
      GhostRows<Ex> rows;
      GatheredRows<Ex> gathered;
      OK(pair.create(ex));
      OK(rows.create(ex, PETSC_COMM_WORLD, pair.halo, pair.source()));
      expect_rows(ex, pair, rows);
      const int before = ghosts_before(pair.a.ghosts, pair.rows[rank_of_world()]);
      OK(gathered.create(ex, PETSC_COMM_WORLD, pair.halo, pair.source(), before));
      expect_gathered(ex, pair, gathered);
      OK(pair.scale(ex, -3));
      OK(rows.update(ex, pair.source()));
      expect_rows(ex, pair, rows);
      OK(gathered.update(ex, pair.source()));
      expect_gathered(ex, pair, gathered);
    }
  }
}

// One to three entries a row, none in some, in a third as many columns: what a prolongator looks like.
HostCsr narrow(int n)
{
  const int cols = n / 3 + 1;
  std::map<std::pair<int, int>, double> entries;
  for (int i = 0; i < n; i++) {
    for (int t = 0; t < (i * 7) % 4; t++) entries[{i, (i / 3 + 5 * t * t) % cols}] = 0.25 + i + 0.125 * t;
  }
  return make_csr(n, cols, entries);
}
} // namespace

TYPED_TEST(GhostRowsTest, AreTheRowsOfTheirOwners)
{
  for (const auto &[name, A] : gallery()) {
    SCOPED_TRACE(name);
    check(this->ex, A, A);
  }
  const HostCsr A = grid27(9), B = one_sided(A); // messages of many blocks
  check(this->ex, A, B);
}

TYPED_TEST(GhostRowsTest, OfAMatrixThatIsNotSquare)
{
  for (const auto &[name, A] : gallery()) {
    SCOPED_TRACE(name);
    check(this->ex, A, narrow(A.rows));
  }
}

// No rank couples to another in A: there are no rows, and B's ghosts alone are numbered.
TYPED_TEST(GhostRowsTest, OfNoGhosts)
{
  const HostCsr A = from_edges(60, {});
  check(this->ex, A, grid7(5, 4, 3));
  check(this->ex, A, narrow(60));
}

// The numbering of a matrix's own rows is that of the ghosts' rows where these add nothing.
TYPED_TEST(GhostRowsTest, OfADistributedMatrix)
{
  const HostCsr A = grid27(5);
  Pair<TypeParam> pair(A, A, even(A.rows), even(A.rows));
  DistMatrix<TypeParam> D;
  GhostRows<TypeParam> rows;
  OK(pair.create(this->ex));
  OK(D.set_rows(PETSC_COMM_WORLD, pair.b.diag.rows));
  D.diag = pair.diag.view();
  D.offd = pair.offd.view();
  D.ghosts = pair.b.ghosts;
  OK(rows.create(this->ex, D.comm, pair.halo, rows_of(D)));
  expect_rows(this->ex, pair, rows);
}

namespace
{
// In turn, each of them on the last rank; all ranks learn of it.
int failing_allocations(const HostCsr &A, const HostCsr &B)
{
  Debug ex;
  Pair<Debug> pair(A, B, even(A.rows), even(B.cols));
  FailingAllocations failing;
  EXPECT_EQ(pair.create(ex), PETSC_SUCCESS);
  for (bool more = true; more;) {
    GhostRows<Debug> rows;
    more = failing.run(ex, [&] { return rows.create(ex, PETSC_COMM_WORLD, pair.halo, pair.source()); });
  }
  return failing.failures();
}
} // namespace

TEST(GhostRowsFailure, EveryAllocationMayFailOnOneRank)
{
  const HostCsr A = grid7(6, 5, 2), B = narrow(60), no_ghosts = from_edges(60, {});
  if (size_of_world() > 1) {
    EXPECT_GE(failing_allocations(A, B), 20);
    EXPECT_GE(failing_allocations(no_ghosts, A), 5); // those of A are numbered
  } else {
    EXPECT_EQ(failing_allocations(A, B), 1); // no rows: their pointer alone
  }
}
} // namespace amgkit::test
