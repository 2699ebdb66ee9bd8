#include "dist/mat_view.hpp"

#include "sparse/formats/spmv.hpp"
#include "support/failing_allocations.hpp"
#include "support/vectors.hpp"

#include <algorithm>
#include <numeric>
#include <random>

namespace amgkit::test
{
template <class Ex> using RenumberedMatrixTest = SpaceTest<Ex>;
TYPED_TEST_SUITE(RenumberedMatrixTest, Spaces, SpaceName);

namespace
{
// Which ranks take an order of their own
enum class Who { all, even, last };
bool takes_part(Who who)
{
  const int rank = rank_of_world();
  return who == Who::all || (who == Who::even && rank % 2 == 0) || (who == Who::last && rank == size_of_world() - 1);
}

std::vector<int> random_order(int n, unsigned seed)
{
  std::vector<int> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937{seed});
  return order;
}

// How many rows this rank has: as PETSc says, all on the last rank, or one on rank 0.
enum class Share { even, last, one };
PetscInt rows_of_rank(Share share, int rows)
{
  const int rank = rank_of_world(), size = size_of_world();
  if (share == Share::last) return rank == size - 1 ? rows : 0;
  if (share == Share::one && size > 1 && rows > 0) return rank == 0 ? 1 : rank == size - 1 ? rows - 1 : 0;
  return -1;
}

// all[i]: this rank's numbers and the others', in the order of the ranks, each plus its rank's first row.
std::vector<int> on_all_ranks(const std::vector<int> &mine, int first)
{
  const int size = size_of_world();
  int count = static_cast<int>(mine.size());
  std::vector<int> counts(static_cast<std::size_t>(size)), begins(counts.size(), 0), shifted = mine;
  for (int &i : shifted) i += first;
  MPI_Allgather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, PETSC_COMM_WORLD);
  std::partial_sum(counts.begin(), counts.end() - 1, begins.begin() + 1);
  std::vector<int> all(static_cast<std::size_t>(begins.back() + counts.back()));
  MPI_Allgatherv(shifted.data(), count, MPI_INT, all.data(), counts.data(), begins.data(), MPI_INT, PETSC_COMM_WORLD);
  return all;
}

// This rank's rows of P M Pᵀ with order[new] = old of all rows, times factor
HostRows permuted_rows(const HostCsr &M, const std::vector<int> &order, int first, int rows, double factor)
{
  std::vector<int> place(order.size());
  HostRows out;
  for (std::size_t i = 0; i < order.size(); i++) place[static_cast<std::size_t>(order[i])] = static_cast<int>(i);
  for (int i = first; i < first + rows; i++) {
    std::map<int, double> row;
    for (int k = M.ptr[order[i]]; k < M.ptr[order[i] + 1]; k++) row[place[M.col[k]]] = factor * M.val[k];
    for (const auto &[column, value] : row) {
      out.col.push_back(column);
      out.val.push_back(value);
    }
    out.ptr.push_back(static_cast<PetscInt>(out.col.size()));
  }
  return out;
}

template <class Ex> void expect_rows(Ex &ex, const DistMatrix<Ex> &A, const HostRows &expected, const std::string &name)
{
  HostRows got;
  OK(download_rows(ex, rows_of(A), got));
  EXPECT_EQ(got.ptr, expected.ptr) << name;
  EXPECT_EQ(got.col, expected.col) << name;
  EXPECT_EQ(got.val, expected.val) << name;
  EXPECT_TRUE(std::is_sorted(A.ghosts.begin(), A.ghosts.end())) << name;
}
} // namespace

// Entry by entry, with other values too; its products, and those with the user's matrix beside it, are those of both orders.
TYPED_TEST(RenumberedMatrixTest, IsTheMatrixInTheOrdersOfTheRanks)
{
  for (const auto &[name, M] : gallery()) {
    for (const auto &[who, share] :
         {std::pair{Who::all, Share::even}, {Who::even, Share::even}, {Who::last, Share::one}, {Who::all, Share::last}}) {
      OwnedMat A;
      MatView<TypeParam> view;
      DistMatrix<TypeParam> D, *user;
      OK(distribute(M, TypeParam::on_device, A.out(), rows_of_rank(share, M.rows)));
      OK(view.create(A, D));
      OK(view.access(this->ex, D));
      const int first = static_cast<int>(D.range.first()), n = D.rows;
      std::vector<int> mine(static_cast<std::size_t>(n));
      std::iota(mine.begin(), mine.end(), 0);
      if (takes_part(who)) {
        mine = random_order(n, 3);
        OK(view.renumber(this->ex, this->to_space(mine), D));
      }
      OK(view.renumber_ghosts(this->ex, D));
      OK(D.allocate(this->ex));
      const std::vector<int> order = on_all_ranks(mine, first);
      EXPECT_TRUE(view.reordered());
      expect_rows(this->ex, D, permuted_rows(M, order, first, n, 1), name);
      OK(view.release());
      OK(MatScale(A, 2));
      OK(view.take_values(this->ex));
      OK(view.access(this->ex, D));
      expect_rows(this->ex, D, permuted_rows(M, order, first, n, 2), name);
      OK(view.access_user(this->ex, &user));
      std::vector<double> x, ordered, y(static_cast<std::size_t>(n)), y_ordered(y);
      const std::vector<double> all = wave(M.rows, 0.3);
      for (int i = 0; i < n; i++) {
        x.push_back(all[first + i]);
        ordered.push_back(all[first + mine[i]]);
      }
      auto X = this->to_space(x), X_ordered = this->to_space(ordered), Y = this->to_space(y), Y_ordered = this->to_space(y);
      OK(user->multiply_rows(this->ex, X.data(), Y.data()));
      OK(D.multiply_rows(this->ex, X_ordered.data(), Y_ordered.data()));
      y = this->to_host(Y);
      y_ordered = this->to_host(Y_ordered);
      for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int k = M.ptr[first + i]; k < M.ptr[first + i + 1]; k++) sum += 2 * M.val[k] * all[M.col[k]];
        EXPECT_NEAR(y[i], sum, 1e-12 * (1 + std::abs(sum))) << name;
      }
      for (int i = 0; i < n; i++) EXPECT_NEAR(y_ordered[i], y[mine[i]], 1e-12 * (1 + std::abs(y_ordered[i]))) << name;
      OK(view.release());
    }
  }
}

// No memory on one rank: all are back in the user's order.
TEST(RenumberedMatrixFailure, LeavesTheMatrixAsItWas)
{
  const HostCsr M = grid7(5, 4, 3);
  FailingAllocations failing;
  OwnedMat A;
  OK(distribute(M, false, A.out()));
  for (bool more = true; more;) {
    Debug ex;
    MatView<Debug> view;
    DistMatrix<Debug> D;
    Array<int, Debug> order;
    OK(view.create(A, D));
    OK(view.access(ex, D));
    OK(upload(ex, random_order(D.rows, 3), order));
    OK(view.renumber(ex, std::move(order), D));
    more = failing.run(ex, [&] { return view.renumber_ghosts(ex, D); });
    EXPECT_EQ(view.reordered(), !more);
    if (more) {
      std::vector<int> identity(static_cast<std::size_t>(M.rows));
      std::iota(identity.begin(), identity.end(), 0);
      OK(view.forget_order(ex, D));
      EXPECT_EQ(view.order(), nullptr);
      expect_rows(ex, D, permuted_rows(M, identity, static_cast<int>(D.range.first()), D.rows, 1), "user's order");
    }
    OK(view.release());
  }
  EXPECT_GE(failing.failures(), size_of_world() > 1 ? 8 : 3);
}
} // namespace amgkit::test
