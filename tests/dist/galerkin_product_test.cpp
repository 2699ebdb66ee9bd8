#include "support/failing_allocations.hpp"
#include "support/galerkin_products.hpp"
#include "support/vectors.hpp"

namespace amgkit::test
{
template <class Ex> using GalerkinProductTest = SpaceTest<Ex>;
TYPED_TEST_SUITE(GalerkinProductTest, Spaces, SpaceName);

// Its pattern exactly, its values to rounding; in every space the same bits as on the host.
TYPED_TEST(GalerkinProductTest, IsTheProduct)
{
  for_coarse_problems([&](const CoarseProblem &problem, Split rows, Split points) {
    for (const ProductForm form : both_forms) {
      Product<TypeParam> made(problem, rows, points);
      Product<Host> on_host(problem, rows, points);
      Coarse got, expected;
      Host host;
      OK(made.problem.distribute(this->ex));
      OK(made.create(this->ex, form));
      OK(download(this->ex, made.coarse, got));
      expect_product(got, made);
      OK(on_host.problem.distribute(host));
      OK(on_host.create(host, form));
      OK(download(host, on_host.coarse, expected));
      EXPECT_TRUE(got == expected);
    }
  });
}

// R A P, also where R is another matrix than Pᵀ, with ghosts of its own; as made and as refreshed.
TYPED_TEST(GalerkinProductTest, HasARestrictionOfItsOwn)
{
  for_coarse_problems([&](const CoarseProblem &problem, Split rows, Split points) {
    for (const ProductForm form : both_forms) {
      Product<TypeParam> made(problem, rows, points);
      std::array<Coarse, 2> got;
      const HostCsr A = made.problem.whole_A;
      OK(made.problem.distribute(this->ex));
      OK(made.set_restriction(this->ex, random_prolongator(problem.P.rows, problem.P.cols, 3, 11)));
      OK(made.create(this->ex, form));
      take_and_refresh(this->ex, made, got);
      expect_product(got[1], made);
      made.problem.whole_A = A;
      expect_product(got[0], made);
    }
  });
}

// Long rows of the product, in slices.
TYPED_TEST(GalerkinProductTest, HasRowsOfAnyLength)
{
  const CoarseProblem problem = {"dense", grid27(12), random_prolongator(1728, 1500, 12, 6)};
  for (const ProductForm form : both_forms) {
    Product<TypeParam> made(problem, Split::even, Split::even);
    Coarse got;
    OK(made.problem.distribute(this->ex));
    OK(made.create(this->ex, form, {SpgemmKind::native, 1}));
    OK(download(this->ex, made.coarse, got));
    expect_product(got, made);
  }
}

// New values of A, then of P, twice: the same bits as a product that is made with them. Memory for A P's pattern the first time alone.
TYPED_TEST(GalerkinProductTest, RefreshedIsAsMadeAnew)
{
  for_coarse_problems([&](const CoarseProblem &problem, Split rows, Split points) {
    for (const ProductForm form : both_forms) {
      Product<TypeParam> kept(problem, rows, points);
      OK(kept.problem.distribute(this->ex));
      OK(kept.create(this->ex, form));
      CoarseProblem other = problem;
      for (const bool of_P : {false, true, true}) {
        std::mt19937 random(of_P ? 8 : 7);
        for (double &value : (of_P ? other.P : other.A).val) value = value * 1.25 + static_cast<double>(random() % 100) / 64;
        Product<TypeParam> anew(other, rows, points);
        Coarse got, expected;
        OK(anew.problem.distribute(this->ex));
        OK(anew.create(this->ex, form));
        OK(download(this->ex, anew.coarse, expected));
        kept.problem.whole_A = other.A;
        kept.problem.whole_P = other.P;
        OK(kept.problem.set_matrix(this->ex));
        if (of_P) {
          OK(kept.problem.set_prolongator(this->ex));
          OK(kept.problem.P.transpose_values(this->ex));
          OK(kept.product.update_prolongator(this->ex, kept.problem.P));
        }
        const std::int64_t allocations = allocations_of(this->ex);
        const std::size_t bytes = kept.product.bytes();
        const bool first = form == ProductForm::two_products && !of_P;
        OK(kept.product.refresh(this->ex, kept.problem.A, kept.operators(), kept.coarse));
        EXPECT_TRUE(kept.product.bytes() == bytes || first);
        EXPECT_LE(allocations_of(this->ex) - allocations, first ? INT64_MAX : form == ProductForm::two_products ? 1 : 0); // A P's values
        OK(download(this->ex, kept.coarse, got));
        EXPECT_TRUE(got == expected);
      }
    }
  });
}

// Whatever the number of slices that A P is formed in, and of windows that its values are in, the same bits, made and refreshed; the last
// of the bounds is that of one row.
TYPED_TEST(GalerkinProductTest, SlicesChangeNothing)
{
  for_coarse_problems([&](const CoarseProblem &problem, Split rows, Split points) {
    std::array<Coarse, 2> expected, got;
    const SpgemmOptions all[] = {{}, in_slices(1000), in_slices(1), in_windows(1000), in_windows(1)};
    for (const SpgemmOptions &options : all) {
      SCOPED_TRACE(std::to_string(options.product_bytes) + ", " + std::to_string(options.window_bytes));
      Product<TypeParam> made(problem, rows, points);
      OK(made.problem.distribute(this->ex));
      OK(made.create(this->ex, ProductForm::two_products, options));
      take_and_refresh(this->ex, made, got);
      if (&options == all) expected = got;
      EXPECT_TRUE(got == expected);
    }
  });
}

// Nodes of 3 unknowns, aggregates of 6, none on two ranks: made and refreshed, the same bits with and without blocks.
TYPED_TEST(GalerkinProductTest, BlocksChangeNothing)
{
  const CoarseProblem problem = {"nodes", blown_up(grid7(4, 4, 3), 3, 3), blown_up(random_prolongator(48, 12, 3, 2), 3, 6)};
  for (const Split rows : {Split::even, Split::gap, Split::last}) {
    std::array<Coarse, 2> expected, got;
    for (const SpgemmOptions &options : {SpgemmOptions{}, {.run = 6}, {.run = 6, .rows = 3, .inner = 3}}) {
      Product<TypeParam> made(problem, rows, rows);
      OK(made.problem.distribute(this->ex));
      made.problem.P.blocks = {options.inner, options.run};
      OK(made.create(this->ex, ProductForm::two_products, options));
      take_and_refresh(this->ex, made, got);
      if (options.run == 1) expected = got;
      EXPECT_TRUE(got == expected);
    }
  }
}

// One entry less, and the rank that should have it takes its products entry by entry; only that one.
TYPED_TEST(GalerkinProductTest, AnIncompleteBlockIsSeenOnItsRank)
{
  CoarseProblem problem = {"nodes", blown_up(grid7(4, 4, 3), 3, 3), blown_up(random_prolongator(48, 12, 3, 2), 3, 6)};
  for (const bool complete : {true, false}) {
    if (!complete) {
      HostCsr &A = problem.A;
      const int k = A.ptr[1] + 4; // in the first node
      A.col.erase(A.col.begin() + k);
      A.val.erase(A.val.begin() + k);
      for (int i = 2; i <= A.rows; i++) A.ptr[i]--;
    }
    for (const SpgemmOptions &options : {SpgemmOptions{}, {.run = 6}, {.run = 6, .rows = 3, .inner = 3}}) {
      Product<TypeParam> made(problem, Split::even, Split::even);
      OK(made.problem.distribute(this->ex));
      made.problem.P.blocks = {options.inner, options.run};
      OK(made.create(this->ex, ProductForm::two_products, options));
      EXPECT_EQ(made.product.in_blocks(), complete || options.rows == 1 || rank_of_world() > 0);
    }
  }
}

// Each slice of A P takes memory of its own.
TEST(GalerkinProductSlices, AreMoreWhereBytesAreFewer)
{
  std::int64_t made_before = 0, refreshed_before = 0;
  for (const std::int64_t product_bytes : {SpgemmOptions{}.product_bytes, std::int64_t{2000}, std::int64_t{700}, std::int64_t{1}}) {
    Debug ex;
    Product<Debug> made({"grid", grid7(6, 5, 8), random_prolongator(240, 61, 5, 2)}, Split::even, Split::even);
    OK(made.problem.distribute(ex));
    OK(made.create(ex, ProductForm::two_products, in_slices(product_bytes)));
    const std::int64_t after = ex.allocations;
    OK(made.product.refresh(ex, made.problem.A, made.operators(), made.coarse));
    EXPECT_GT(after, made_before) << product_bytes;
    EXPECT_GT(ex.allocations - after, refreshed_before) << product_bytes;
    made_before = after;
    refreshed_before = ex.allocations - after;
  }
}

// A P's pattern stays from the first new values on, where a sixteenth of what is free holds it.
TEST(GalerkinProductMemory, PatternStaysWhereThereIsRoom)
{
  const CoarseProblem problem = {"grid", grid7(6, 5, 4), random_prolongator(120, 31, 5, 2)};
  for (const bool room : {true, false}) {
    Debug ex;
    Product<Debug> made(problem, Split::even, Split::even);
    OK(made.problem.distribute(ex));
    OK(made.create(ex, ProductForm::two_products));
    const std::size_t bytes = made.product.bytes();
    std::int64_t allocations[3] = {};
    ex.available = room ? INT64_MAX : 16 * 100;
    Coarse expected, got;
    OK(download(ex, made.coarse, expected));
    for (std::int64_t &n : allocations) {
      const std::int64_t before = ex.allocations;
      OK(made.product.refresh(ex, made.problem.A, made.operators(), made.coarse));
      n = ex.allocations - before;
      OK(download(ex, made.coarse, got));
      EXPECT_TRUE(got == expected);
      EXPECT_EQ(made.product.bytes() > bytes, room);
    }
    EXPECT_EQ(allocations[1] < allocations[0], room);
    EXPECT_EQ(allocations[2], allocations[1]);
  }
}

// A P is gone: on one rank only the order of R (A P)'s rows stays.
TYPED_TEST(GalerkinProductTest, KeepsNoMatrixOnOneRank)
{
  if (size_of_world() > 1) GTEST_SKIP() << "for one rank";
  Product<TypeParam> made({"grid", grid7(6, 5, 4), random_prolongator(120, 31, 5, 2)}, Split::even, Split::even);
  OK(made.problem.distribute(this->ex));
  OK(made.create(this->ex, ProductForm::two_products));
  EXPECT_LE(made.product.bytes(), (31 + 1) * 2 * sizeof(int));
  Product<TypeParam> sliced({"grid", grid7(6, 5, 4), random_prolongator(120, 31, 5, 2)}, Split::even, Split::even);
  OK(sliced.problem.distribute(this->ex));
  OK(sliced.create(this->ex, ProductForm::two_products, in_slices(1000)));
  EXPECT_LE(sliced.product.bytes(), (31 + 1) * 2 * sizeof(int));
}

// The coarse matrix multiplies: its halo is there.
TYPED_TEST(GalerkinProductTest, MultipliesVectors)
{
  const CoarseProblem problem = {"grid", grid7(6, 5, 4), random_prolongator(120, 31, 5, 2)};
  Product<TypeParam> made(problem, Split::even, Split::gap);
  OK(made.problem.distribute(this->ex));
  OK(made.create(this->ex, ProductForm::two_products));
  OK(made.coarse.stored.create(this->ex, made.coarse.diag, Storage::in_double));
  const auto x = wave(31, 0.7);
  std::vector<double> expected(31, 0.0);
  for (const auto &[place, value] : triple_product(problem.P, problem.A, problem.P, 0, 31))
    expected[place.first] += value * x[place.second];
  const int first = made.problem.first_point(), n = made.coarse.rows;
  const auto X = this->to_space(std::vector<double>(x.begin() + first, x.begin() + first + n));
  Array<double, TypeParam> Y;
  OK(Y.allocate(this->ex, n));
  OK(made.coarse.multiply(this->ex, X.data(), Y.data()));
  expect_close(this->to_host(Y), {expected.begin() + first, expected.begin() + first + n}, 1e-12, "product");
}

// Other back ends than native, where this build has one: the same pattern, values to rounding.
TYPED_TEST(GalerkinProductTest, TakesEveryBackEnd)
{
  for (const SpgemmKind kind : {SpgemmKind::cusparse, SpgemmKind::kokkos}) {
    if (!spgemm_available<TypeParam>(kind)) continue;
    for_coarse_problems([&](const CoarseProblem &problem, Split rows, Split points) {
      for (const std::int64_t product_bytes : {SpgemmOptions{}.product_bytes, std::int64_t{2000}}) {
        Product<TypeParam> made(problem, rows, points);
        SpgemmOptions options = in_slices(product_bytes);
        Coarse got, again;
        options.kind = kind;
        OK(made.problem.distribute(this->ex));
        OK(made.create(this->ex, ProductForm::two_products, options));
        OK(download(this->ex, made.coarse, got));
        expect_product(got, made);
        OK(made.product.refresh(this->ex, made.problem.A, made.operators(), made.coarse));
        OK(download(this->ex, made.coarse, again));
        expect_product(again, made);
      }
    });
  }
}

TEST(GalerkinProductFailure, MoreRowsThanAPetscIntCounts)
{
  RankRanges range;
  const PetscErrorCode code = quietly([&] { return number_over_ranks(PETSC_COMM_WORLD, INT32_MAX, range); });
  EXPECT_EQ(code, sizeof(PetscInt) == 4 && size_of_world() > 1 ? PETSC_ERR_ARG_OUTOFRANGE : PETSC_SUCCESS);
}

// Each allocation in turn fails on the last rank, of the product or of a refresh; all ranks learn of it.
TEST(GalerkinProductFailure, EveryAllocationMayFailOnOneRank)
{
  const CoarseProblem problem = {"grid", grid7(2, 3, 10), near_prolongator(60, 21, 4, 7)};
  const std::pair<ProductForm, SpgemmOptions> ways[] = {{ProductForm::two_products, {}},
                                                        {ProductForm::at_once, {}},
                                                        {ProductForm::two_products, in_slices(800)},
                                                        {ProductForm::two_products, in_windows(200)}};
  int noted = 0;
  for (const auto &[form, options] : ways) {
    for (const bool of_refresh : {false, true}) {
      FailingAllocations failing(true); // columns that are kept, and the places of products
      for (bool more = true; more;) {
        Debug ex;
        Product<Debug> made(problem, Split::even, Split::even);
        const int gone_without = failing.gone_without();
        OK(made.problem.distribute(ex));
        if (of_refresh) {
          OK(made.create(ex, form, options));
        }
        more = failing.run(ex, [&] {
          return of_refresh ? made.product.refresh(ex, made.problem.A, made.operators(), made.coarse) : made.create(ex, form, options);
        });
        if (failing.gone_without() > gone_without) {
          Coarse got;
          OK(download(ex, made.coarse, got));
          expect_product(got, made);
        }
      }
      EXPECT_GE(failing.failures(), of_refresh ? form == ProductForm::at_once ? 0 : 5 : 20);
      const bool all_is_there = of_refresh && form == ProductForm::at_once;
      EXPECT_EQ(failing.gone_without() == 0, all_is_there);
      noted += of_refresh && form == ProductForm::two_products && failing.gone_without() > 0;
    }
  }
  EXPECT_GE(noted, 2);
}

// P made for values that stay has nothing to change them with.
TEST(GalerkinProductFailure, ValuesOfPThatDoNotChange)
{
  DistributedProblem<Host> problem({"grid", grid7(6, 5, 2), random_prolongator(60, 21, 4, 7)}, Split::even, Split::even);
  Host ex;
  OK(problem.distribute(ex));
  OK(problem.P.create(ex, PETSC_COMM_WORLD));
  EXPECT_EQ(quietly([&] { return problem.P.transpose_values(ex); }), PETSC_ERR_PLIB);
}
} // namespace amgkit::test
