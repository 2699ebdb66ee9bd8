// The steps of flexible conjugate gradients, against plain loops, in every space.
#include "krylov/fcg.hpp"

#include "support/dist_system.hpp"
#include "support/petsc_problems.hpp"
#include "support/vectors.hpp"

#include <cmath>
#include <limits>
#include <numeric>

namespace amgkit::test
{
template <class Ex> using FcgTest = SpaceTest<Ex>;
TYPED_TEST_SUITE(FcgTest, Spaces, SpaceName);

namespace
{
// Of this rank
double sum_of_products(const std::vector<double> &a, const std::vector<double> &b)
{
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

// w·r and d·q are positive.
struct HostVectors {
  std::vector<double> r, d, x, w, q;
  explicit HostVectors(int n) : r(wave(n, 0.69)), d(wave(n, 1.1)), x(wave(n, 0.2)), w(r), q(d)
  {
    for (int i = 0; i < n; i++) w[i] += 0.1 * x[i];
    for (int i = 0; i < n; i++) q[i] = 2 * q[i] - 0.1 * x[i];
  }
};
template <class Ex> struct FcgState {
  Array<double, Ex> w, r, d, q, x, work;
  Array<FcgScalars, Ex> s;

  PetscErrorCode create(Ex &ex, const HostVectors &of)
  {
    PetscFunctionBegin;
    PetscCall(upload(ex, of.w, w));
    PetscCall(upload(ex, of.r, r));
    PetscCall(upload(ex, of.d, d));
    PetscCall(upload(ex, of.q, q));
    PetscCall(upload(ex, of.x, x));
    PetscCall(work.allocate(ex, 2 * sum_parts_of(of.r.size())));
    PetscCall(upload(ex, std::vector<FcgScalars>(1), s));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};
} // namespace

TYPED_TEST(FcgTest, StepsAreThoseOfPlainLoops)
{
  for (const int n : {0, 1, 31, 1000, 300000}) {
    const HostVectors of(n);
    const auto &[r, d, x, w, q] = of;
    FcgState<TypeParam> v;
    std::vector<FcgScalars> s;
    OK(v.create(this->ex, of));
    const double tolerance = 1e-12 * (1 + n);
    OK(fcg_norm(this->ex, n, v.r.data(), v.work.data(), v.s.data()));
    OK(fcg_projections<TypeParam, double, double>(this->ex, n, nullptr, v.w.data(), v.r.data(), v.q.data(), v.work.data(), v.s.data()));
    OK(sum_products(this->ex, n, v.d.data(), v.q.data(),
                    ProductSums<2, double>{false, v.r.data(), nullptr, v.work.data(), &v.s.data()->d_q}));
    OK(download(this->ex, v.s.data(), 1, s));
    EXPECT_NEAR(s[0].r_r, sum_of_products(r, r), tolerance);
    EXPECT_NEAR(s[0].w_r, sum_of_products(w, r), tolerance);
    EXPECT_NEAR(s[0].w_q, sum_of_products(w, q), tolerance);
    EXPECT_NEAR(s[0].d_q, sum_of_products(d, q), tolerance);
    EXPECT_NEAR(s[0].d_r, sum_of_products(d, r), tolerance);
    if (n == 0) continue;
    ASSERT_GT(s[0].d_q, 0);
    ASSERT_GT(s[0].w_r, 0);

    const double alpha = s[0].d_r / s[0].d_q, beta = s[0].w_q / s[0].d_q;
    auto next_x = x, next_r = r, next_d = w;
    for (int i = 0; i < n; i++) {
      next_x[i] += alpha * d[i];
      next_r[i] -= alpha * q[i];
      next_d[i] -= beta * d[i];
    }
    OK(fcg_step(this->ex, n, v.d.data(), v.q.data(), v.x.data(), v.r.data(), v.work.data(), v.s.data()));
    OK(fcg_direction(this->ex, n, nullptr, false, v.s.data(), v.w.data(), v.d.data()));
    expect_close(this->to_host(v.x), next_x, 1e-14, "x");
    expect_close(this->to_host(v.r), next_r, 1e-14, "r");
    expect_close(this->to_host(v.d), next_d, 1e-14, "d");
    OK(download(this->ex, v.s.data(), 1, s));
    EXPECT_NEAR(s[0].r_r, sum_of_products(next_r, next_r), tolerance);
    OK(fcg_direction(this->ex, n, nullptr, true, v.s.data(), v.w.data(), v.d.data()));
    EXPECT_EQ(this->to_host(v.d), w);
    OK(fcg_projections<TypeParam, double, double>(this->ex, n, nullptr, v.w.data(), v.r.data(), nullptr, v.work.data(), v.s.data()));
    OK(download(this->ex, v.s.data(), 1, s));
    EXPECT_EQ(s[0].w_q, 0);
  }
}

// The same in mixed precision, with a copy of the residual in double.
TYPED_TEST(FcgTest, StepsInMixedPrecisionAreThoseOfPlainLoops)
{
  constexpr int n = 5000;
  const HostVectors of(n);
  const auto d = rounded<float>(of.d), q = rounded<float>(of.q), r = rounded<float>(of.r);
  auto D = this->to_space(d), Q = this->to_space(q), R = this->to_space(r);
  auto wide = this->to_space(of.w), x = this->to_space(of.x), W = this->to_space(of.w);
  Array<double, TypeParam> work;
  Array<FcgScalars, TypeParam> scalars;
  std::vector<FcgScalars> s;
  OK(work.allocate(this->ex, 2 * sum_parts_of(n)));
  OK(upload(this->ex, std::vector<FcgScalars>(1), scalars));
  OK(fcg_projections<TypeParam, double, float>(this->ex, n, nullptr, W.data(), R.data(), Q.data(), work.data(), scalars.data()));
  OK(sum_products(this->ex, n, D.data(), Q.data(), ProductSums<2, float>{false, R.data(), nullptr, work.data(), &scalars.data()->d_q}));
  OK(download(this->ex, scalars.data(), 1, s));
  EXPECT_NEAR(s[0].w_r, sum_of_products(of.w, of.r), 1e-3);
  EXPECT_NEAR(s[0].d_q, sum_of_products(of.d, of.q), 1e-3);
  const double alpha = s[0].d_r / s[0].d_q, beta = s[0].w_q / s[0].d_q;
  auto E = this->to_space(rounded<float>(of.r)), first = this->to_space(std::vector<float>(n, NAN));
  const FirstStep<float> step{n, 0.75, nullptr, E.data(), first.data()};
  OK(fcg_step_in_mixed(this->ex, n, nullptr, 0.25, D.data(), Q.data(), x.data(), R.data(), wide.data(), step, work.data(), scalars.data()));
  OK(fcg_direction<TypeParam, double, float>(this->ex, n, nullptr, false, scalars.data(), W.data(), D.data()));
  const auto got_r = this->to_host(R), got_d = this->to_host(D);
  const auto got_wide = this->to_host(wide), got_x = this->to_host(x);
  const auto stepped = this->to_host(first);
  double norm2 = 0;
  for (int i = 0; i < n; i++) {
    ASSERT_NEAR(got_r[i], r[i] - alpha * q[i], 1e-6);
    ASSERT_NEAR(got_x[i], of.x[i] + 0.25 * alpha * d[i], 1e-14);
    ASSERT_NEAR(got_d[i], of.w[i] - beta * d[i], 1e-6);
    ASSERT_EQ(got_wide[i], got_r[i]);
    ASSERT_EQ(stepped[i], static_cast<float>(0.75 * r[i] * got_r[i]));
    norm2 += static_cast<double>(got_r[i]) * got_r[i];
  }
  OK(download(this->ex, scalars.data(), 1, s));
  EXPECT_NEAR(s[0].r_r, norm2, 1e-9 * norm2);

  OK(fcg_take_residual(this->ex, n, nullptr, 8, W.data(), R.data()));
  const auto taken = this->to_host(R);
  const auto taken_wide = this->to_host(W);
  for (int i = 0; i < n; i++) ASSERT_EQ(taken[i], static_cast<float>(8 * of.w[i]));
  for (int i = 0; i < n; i++) ASSERT_EQ(taken_wide[i], taken[i]);
}

TYPED_TEST(FcgTest, ResidualIsTakenInBothPrecisions)
{
  for (const int n : {0, 1, 31, 5000, 300000}) {
    const HostVectors of(n);
    std::vector<double> exact(n);
    std::vector<FcgScalars> s;
    for (int i = 0; i < n; i++) exact[i] = of.x[i] - of.w[i];
    FcgState<TypeParam> v;
    Array<float, TypeParam> single;
    OK(v.create(this->ex, of));
    OK(single.allocate(this->ex, n));
    OK(fcg_residual<TypeParam>(this->ex, n, nullptr, v.x.data(), v.w.data(), 3, v.r.data(), nullptr, v.work.data(), v.s.data()));
    EXPECT_EQ(this->to_host(v.r), exact);
    OK(download(this->ex, v.s.data(), 1, s));
    EXPECT_NEAR(s[0].r_r, sum_of_products(exact, exact), 1e-12 * (1 + n));
    OK(fcg_residual(this->ex, n, nullptr, v.x.data(), v.w.data(), 8, v.r.data(), single.data(), v.work.data(), v.s.data()));
    const auto taken = this->to_host(single);
    const auto wide = this->to_host(v.r);
    for (int i = 0; i < n; i++) ASSERT_EQ(taken[i], static_cast<float>(8 * exact[i]));
    for (int i = 0; i < n; i++) ASSERT_EQ(wide[i], taken[i]);
    OK(download(this->ex, v.s.data(), 1, s));
    EXPECT_NEAR(s[0].r_r, sum_of_products(exact, exact), 1e-12 * (1 + n));
  }
}

namespace
{
std::vector<int> scattered_order(int n)
{
  std::vector<int> order(n);
  for (int i = 0; i < n; i++) order[i] = static_cast<int>(1999LL * i % n); // coprime
  return order;
}
} // namespace

// With vectors of floats in another order than the others: the same as with these brought into it.
TYPED_TEST(FcgTest, StepsMayHaveAnOrderOfTheirOwn)
{
  constexpr int n = 3000;
  const HostVectors of(n);
  const auto order = scattered_order(n);
  const auto in_order = [&](const std::vector<double> &x) {
    std::vector<double> y(n);
    for (int i = 0; i < n; i++) y[i] = x[order[i]];
    return y;
  };
  struct Result {
    std::vector<FcgScalars> s;
    std::vector<double> x, w, wide;
    std::vector<float> d, r, taken;
  };
  const auto run = [&](bool ordered, Result &out) {
    const auto given = [&](const std::vector<double> &x) { return this->to_space(ordered ? x : in_order(x)); };
    auto D = this->to_space(rounded<float>(of.d)), Q = this->to_space(rounded<float>(of.q)), R = this->to_space(rounded<float>(of.r));
    auto x = given(of.x), w = given(of.w), wide = given(of.w), b = given(of.q);
    const auto places = this->to_space(order);
    const int *at = ordered ? places.data() : nullptr;
    Array<double, TypeParam> work;
    Array<FcgScalars, TypeParam> scalars;
    Array<float, TypeParam> taken;
    const FirstStep<float> none{};
    OK(work.allocate(this->ex, 2 * sum_parts_of(n)));
    OK(taken.allocate(this->ex, n));
    OK(upload(this->ex, std::vector<FcgScalars>(1), scalars));
    double *sums = work.data();
    FcgScalars *s = scalars.data();
    OK(fcg_projections<TypeParam, double, float>(this->ex, n, at, w.data(), R.data(), Q.data(), sums, s));
    OK(sum_products(this->ex, n, D.data(), Q.data(), ProductSums<2, float>{false, R.data(), nullptr, sums, &s->d_q}));
    OK(fcg_step_in_mixed(this->ex, n, at, 0.25, D.data(), Q.data(), x.data(), R.data(), wide.data(), none, sums, s));
    OK(fcg_direction<TypeParam, double, float>(this->ex, n, at, false, s, w.data(), D.data()));
    OK(fcg_residual(this->ex, n, at, b.data(), x.data(), 8, w.data(), taken.data(), sums, s));
    OK(download(this->ex, s, 1, out.s));
    out.x = this->to_host(x);
    out.w = this->to_host(w);
    out.wide = this->to_host(wide);
    out.d = this->to_host(D);
    out.r = this->to_host(R);
    out.taken = this->to_host(taken);
  };
  Result own, plain;
  run(true, own);
  run(false, plain);
  EXPECT_EQ(in_order(own.x), plain.x);
  EXPECT_EQ(in_order(own.w), plain.w);
  EXPECT_EQ(in_order(own.wide), plain.wide);
  EXPECT_EQ(own.d, plain.d);
  EXPECT_EQ(own.r, plain.r);
  EXPECT_EQ(own.taken, plain.taken);
  EXPECT_EQ(own.s[0].r_r, plain.s[0].r_r);
}

TYPED_TEST(FcgTest, OtherVectorsAreReadAndWrittenInTheirOrder)
{
  constexpr int n = 3000;
  const HostVectors of(n);
  const auto order = scattered_order(n);
  auto x = this->to_space(of.x), e = this->to_space(of.d), wide = this->to_space(of.w);
  const auto places = this->to_space(order);
  Array<float, TypeParam> taken;
  OK(taken.allocate(this->ex, n));
  OK(fcg_add_in_order(this->ex, n, places.data(), e.data(), x.data()));
  OK(fcg_take_residual(this->ex, n, places.data(), 8, wide.data(), taken.data()));
  const auto got = this->to_host(x);
  const auto floats = this->to_host(taken);
  for (int i = 0; i < n; i++) ASSERT_EQ(got[order[i]], of.x[order[i]] + of.d[i]);
  for (int i = 0; i < n; i++) ASSERT_EQ(floats[i], static_cast<float>(8 * of.w[order[i]]));
  EXPECT_EQ(this->to_host(e), std::vector<double>(n, 0.0));
}

// Where the method cannot go on, x and r stay.
TYPED_TEST(FcgTest, TakesNoStepThatMakesNoSense)
{
  constexpr int n = 100;
  const HostVectors of(n);
  constexpr double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  const FcgScalars cannot[] = {{-1, 1, 1, 1, 1},  {0, 1, 1, 1, 1},   {1, 1, 0, 1, 1},   {1, 1, -1, 1, 1},
                               {nan, 1, 1, 1, 1}, {1, nan, 1, 1, 1}, {1, 1, nan, 1, 1}, {1, 1, 1, nan, 1},
                               {inf, 1, 1, 1, 1}, {1, 1, inf, 1, 1}, {1, 1, 1, inf, 1}, {1, inf, 1, 1, 1}};
  for (const FcgScalars &s : cannot) {
    FcgState<TypeParam> v;
    OK(v.create(this->ex, of));
    OK(upload(this->ex, std::vector<FcgScalars>{s}, v.s));
    OK(fcg_step(this->ex, n, v.d.data(), v.q.data(), v.x.data(), v.r.data(), v.work.data(), v.s.data()));
    EXPECT_EQ(this->to_host(v.x), of.x);
    EXPECT_EQ(this->to_host(v.r), of.r);
  }
}

// The product of a Krylov method is the user's, also where the cycle has rounded entries.
TYPED_TEST(FcgTest, ProductTakesTheUsersEntries)
{
  for (const Split split : {Split::even, Split::gap, Split::last}) {
    const HostCsr A = one_sided(grid7(7, 6, 5, 1, 1, 1. / 3));
    const auto range = split_range(split, A.rows);
    DistSystem<TypeParam> system;
    OK(system.create(this->ex, A, range));
    OK(system.A.store(this->ex, Storage::in_single, 1, false));
    const int n = system.A.rows;
    const PetscInt first = system.A.range.first();
    const auto x = wave(A.rows, 0.7);
    std::vector<double> expected(A.rows, 0.0);
    for (int i = 0; i < A.rows; i++) {
      for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) expected[i] += A.val[k] * x[A.col[k]];
    }
    const auto X = this->to_space(std::vector<double>(x.begin() + first, x.begin() + first + n));
    Array<double, TypeParam> Y;
    OK(Y.allocate(this->ex, n));
    OK(system.A.multiply_exactly(this->ex, X.data(), Y.data()));
    expect_close(this->to_host(Y), {expected.begin() + first, expected.begin() + first + n}, 1e-14, "product");
  }
}
} // namespace amgkit::test
