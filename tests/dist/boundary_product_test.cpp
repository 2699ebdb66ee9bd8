// Where few rows have ghosts, R A P takes their part of A P from a product of its own.
#include "support/failing_allocations.hpp"
#include "support/galerkin_products.hpp"

namespace amgkit::test
{
template <class Ex> using BoundaryProductTest = SpaceTest<Ex>;
TYPED_TEST_SUITE(BoundaryProductTest, Spaces, SpaceName);

namespace
{
// Of five ranks each has few enough rows with ghosts. P couples neighbours, so that there are windows.
CoarseProblem long_problem() { return {"long", grid7(3, 3, 80), near_prolongator(720, 240, 3, 6)}; }

SpgemmOptions apart(std::int64_t window_bytes = std::int64_t{1} << 20)
{
  SpgemmOptions options = in_windows(window_bytes);
  options.most_copied_entries = 0;
  return options;
}
} // namespace

// Made, and refreshed twice: the same bits with and without a copy of A, which takes memory.
TYPED_TEST(BoundaryProductTest, ChangesNothing)
{
  std::array<Coarse, 3> expected, got;
  std::size_t bytes = 0;
  if (size_of_world() > 5) GTEST_SKIP() << "too many rows would have ghosts";
  for (const std::int64_t window_bytes : {std::int64_t{1} << 20, std::int64_t{4000}, std::int64_t{1}}) {
    for (const std::int64_t copied : {INT64_MAX, std::int64_t{0}}) {
      SpgemmOptions options = apart(window_bytes);
      options.most_copied_entries = copied;
      Product<TypeParam> made(long_problem(), Split::even, Split::even);
      OK(made.problem.distribute(this->ex));
      OK(made.create(this->ex, ProductForm::two_products, options));
      if (copied > 0) bytes = made.product.bytes();
      EXPECT_EQ(made.product.bytes() < bytes, copied == 0 && size_of_world() > 1);
      OK(download(this->ex, made.coarse, got[0]));
      expect_product(got[0], made);
      for (const std::size_t again : {1, 2}) {
        for (double &value : made.problem.whole_A.val) value = 0.1 - value * 1.25;
        OK(made.problem.set_matrix(this->ex));
        OK(made.product.refresh(this->ex, made.problem.A, made.operators(), made.coarse));
        OK(download(this->ex, made.coarse, got[again]));
        expect_product(got[again], made);
      }
      if (copied > 0 && window_bytes > 4000) expected = got;
      EXPECT_TRUE(got == expected) << window_bytes << " bytes, " << copied << " entries";
    }
  }
}

// With values of P that change
TYPED_TEST(BoundaryProductTest, TakesOtherValuesOfP)
{
  CoarseProblem problem = long_problem();
  Product<TypeParam> kept(problem, Split::even, Split::even);
  OK(kept.problem.distribute(this->ex));
  OK(kept.create(this->ex, ProductForm::two_products, apart()));
  for (const int again : {1, 2}) {
    Coarse got;
    for (double &value : problem.P.val) value = 0.3 - again * value;
    kept.problem.whole_P = problem.P;
    OK(kept.problem.set_prolongator(this->ex));
    OK(kept.problem.P.transpose_values(this->ex));
    OK(kept.product.update_prolongator(this->ex, kept.problem.P));
    OK(kept.product.refresh(this->ex, kept.problem.A, kept.operators(), kept.coarse));
    OK(download(this->ex, kept.coarse, got));
    expect_product(got, kept);
  }
}

TEST(BoundaryProductFailure, EveryAllocationMayFailOnOneRank)
{
  for (const bool of_refresh : {false, true}) {
    FailingAllocations failing(true);
    for (bool more = true; more;) {
      Debug ex;
      Product<Debug> made(long_problem(), Split::even, Split::even);
      const int gone_without = failing.gone_without();
      OK(made.problem.distribute(ex));
      if (of_refresh) {
        OK(made.create(ex, ProductForm::two_products, apart()));
      }
      more = failing.run(ex, [&] {
        return of_refresh ? made.product.refresh(ex, made.problem.A, made.operators(), made.coarse)
                          : made.create(ex, ProductForm::two_products, apart());
      });
      if (failing.gone_without() > gone_without) {
        Coarse got;
        OK(download(ex, made.coarse, got));
        expect_product(got, made);
      }
    }
    EXPECT_GE(failing.failures(), of_refresh ? 5 : 20);
  }
}
} // namespace amgkit::test
