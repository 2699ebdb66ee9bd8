#include "ilu/two_level.hpp"

#include "support/dist_system.hpp"
#include "support/failing_allocations.hpp"
#include "support/ilu_matrices.hpp"
#include "support/two_level_reference.hpp"

namespace amgkit::test
{
template <class Ex> class TwoLevel : public SpaceTest<Ex> {
protected:
  // The rank's part of a vector of all rows
  std::vector<double> part(const DistMatrix<Ex> &A, const std::vector<double> &x)
  {
    const auto begin = x.begin() + A.first(rank_of_world());
    return {begin, begin + A.rows};
  }
  // All of a vector, on every rank
  std::vector<double> gathered(const DistMatrix<Ex> &A, const std::vector<double> &mine)
  {
    std::vector<double> all(static_cast<std::size_t>(A.global_rows()));
    std::vector<int> count, first(A.range.begin(), A.range.end());
    for (std::size_t r = 0; r + 1 < first.size(); r++) count.push_back(first[r + 1] - first[r]);
    EXPECT_EQ(MPI_Allgatherv(mine.data(), A.rows, MPI_DOUBLE, all.data(), count.data(), first.data(), MPI_DOUBLE, PETSC_COMM_WORLD), 0);
    return all;
  }
  // B b, on every rank
  void apply(IluMethod<Ex> &B, DistMatrix<Ex> &A, const std::vector<double> &b, std::vector<double> &x)
  {
    const auto mine = this->to_space(part(A, b));
    auto result = this->to_space(std::vector<double>(static_cast<std::size_t>(A.rows), -7));
    OK(B.apply(this->ex, A, mine.data(), result.data()));
    x = gathered(A, this->to_host(result));
  }
  void create(IluMethod<Ex> &B, DistMatrix<Ex> &A)
  {
    IluSetup setup;
    OK(B.create(this->ex, A, setup));
    ASSERT_TRUE(setup.ready()) << static_cast<int>(setup.fault) << ", row " << setup.row;
  }
};
TYPED_TEST_SUITE(TwoLevel, Spaces, SpaceName);

namespace
{
constexpr SchurKind kinds[] = {SchurKind::schur, SchurKind::rap};

IluParameters parameters_of(SchurKind kind, int steps)
{
  IluParameters parameters;
  parameters.levels = 2;
  parameters.type = static_cast<int>(kind);
  parameters.schur_its = steps;
  return parameters;
}

// One coupling between the first rank and the last, if there are several; the others are alone.
HostCsr coupled_at_the_ends(int n)
{
  std::map<std::pair<int, int>, double> entries;
  for (int i = 0; i < n; i++) entries[{i, i}] = 4;
  entries[{0, n - 1}] = -1;
  return make_csr(n, n, entries);
}

// Matrices for which every pattern of interiors and interfaces occurs on some number of ranks
std::vector<Named> small_matrices()
{
  std::vector<Named> all;
  for (const auto &[name, A] : ilu_matrices()) {
    if (A.rows <= 60) all.push_back({name, A});
  }
  all.push_back({"grid", skewed(grid7(3, 3, 9))});
  all.push_back({"one-sided small grid", one_sided(skewed(grid7(3, 3, 8)))});
  all.push_back({"tridiagonal", tridiagonal(40)});
  all.push_back({"dense row", arrow(50, 20)});
  all.push_back({"coupled at the ends", coupled_at_the_ends(30)});
  return all;
}

template <class F> void for_small_matrices(F f)
{
  for (const auto &[name, A] : small_matrices()) {
    for (const Split split : {Split::even, Split::gap, Split::last}) {
      SCOPED_TRACE(name + ", split " + std::to_string(static_cast<int>(split)));
      f(A, split_range(split, A.rows));
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

void expect_near(const std::vector<double> &got, const std::vector<double> &expected, double tolerance)
{
  ASSERT_EQ(got.size(), expected.size());
  const double size = largest(expected);
  for (std::size_t i = 0; i < got.size(); i++) ASSERT_NEAR(got[i], expected[i], tolerance * size) << "row " << i;
}
} // namespace

TYPED_TEST(TwoLevel, PartsAreThoseOfTheDenseMatrix)
{
  for_small_matrices([&](const HostCsr &M, const std::vector<PetscInt> &range) {
    for (const SchurKind kind : kinds) {
      const TwoLevelReference reference(M, range, kind == SchurKind::rap);
      DistSystem<TypeParam> system;
      OK(system.create(this->ex, M, range));
      DistMatrix<TypeParam> &A = system.A;
      SchurFactors<TypeParam> factors(parameters_of(kind, 5));
      IluReport report;
      OK(factors.analyse(this->ex, A, &report));
      OK(factors.factor(this->ex, A, &report));
      ASSERT_EQ(report.fault, IluFault::none);

      const Vector b = wave(M.rows), ordered = reference.ordered(b);
      const int first = static_cast<int>(A.first(rank_of_world())), n_B = factors.interior(), n_S = factors.interface();
      ASSERT_EQ(n_B + n_S, A.rows);
      for (int p = 0; p < A.rows; p++) ASSERT_EQ(reference.on_interface(first + p), p >= n_B);
      // what the reference has on this rank's interface
      const auto mine = [&](const Vector &x) { return std::vector<double>(x.begin() + first + n_B, x.begin() + first + A.rows); };
      const auto whole = this->to_space(this->part(A, b));
      auto on_interface = this->to_space(std::vector<double>(static_cast<std::size_t>(n_S), -7));
      const double size = 1e-11 * (1 + largest(M.val));
      const auto check = [&](const Vector &expected) { expect_near(this->to_host(on_interface), mine(expected), 1e-11 + size); };
      OK(factors.eliminate(this->ex, whole.data(), on_interface.data()));
      check(reference.eliminate(ordered));
      const auto y = this->to_space(mine(ordered));
      OK(factors.precondition(this->ex, y.data(), on_interface.data()));
      check(reference.precondition(ordered));
      auto x = this->to_space(std::vector<double>(static_cast<std::size_t>(A.rows), -7));
      OK(factors.substitute(this->ex, whole.data(), y.data(), x.data()));
      expect_near(this->gathered(A, this->to_host(x)), reference.natural(reference.substitute(ordered, ordered)), 1e-11);
      if (!A.halo.active()) continue;
      for (int repeat = 0; repeat < 2; repeat++) {
        OK(factors.multiply(this->ex, A.halo, y.data(), on_interface.data()));
        check(reference.multiply(ordered));
      }
    }
  });
}

TYPED_TEST(TwoLevel, ApplicationIsTheOneWrittenDown)
{
  for_small_matrices([&](const HostCsr &M, const std::vector<PetscInt> &range) {
    for (const SchurKind kind : kinds) {
      const TwoLevelReference reference(M, range, kind == SchurKind::rap);
      DistSystem<TypeParam> system;
      OK(system.create(this->ex, M, range));
      for (const int steps : {1, 3, 200}) {
        TwoLevelIlu<TypeParam> B(parameters_of(kind, steps), nullptr);
        std::vector<double> x;
        this->create(B, system.A);
        EXPECT_EQ(B.linear(), !system.A.halo.active());
        EXPECT_GT(B.bytes(), 0U);
        this->apply(B, system.A, wave(M.rows), x);
        if (steps < 200)
          expect_near(x, reference.apply(wave(M.rows), steps), 1e-9);
        else // as many as there are rows, and so for long sums that are no longer quite orthogonal
          expect_near(x, reference.apply(wave(M.rows), 0), 1e-6);
      }
    }
  });
}
} // namespace amgkit::test
