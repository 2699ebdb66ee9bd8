// Entries of 40 bits: what rounding to floats took, kept beside them.
#include "sparse/formats/stored_matrix.hpp"
#include "support/sell_checks.hpp"

#include <random>

namespace amgkit::test
{
constexpr double most_error = 1.0 / (std::int64_t{1} << 39); // of an entry, relative

TEST(LongFloat, HasFortyBits)
{
  std::mt19937_64 random(1);
  std::vector<double> all = {0, -0.0, 1, -1, 1.2e-38, 1e18};
  for (int exponent = -126; exponent < 59; exponent++) {
    const double power = std::ldexp(1.0, exponent);
    for (const double step : {0x1p-52, 0x1p-40, 0x1p-39, 0x1p-25, 0x1p-24, 0x1p-23}) {
      for (const int times : {-3, -1, 1, 3}) all.push_back(power * (1 + times * step));
    }
    for (int k = 0; k < 50; k++) all.push_back(power * (1 + std::ldexp(static_cast<double>(random() >> 12), -52)));
  }
  double worst = 0;
  for (const double positive : all) {
    for (const double a : {positive, -positive}) {
      if (a != 0 && (std::abs(a) < 1.2e-38 || std::abs(a) > 1e18)) continue;
      const auto rounded = static_cast<float>(a);
      const double read = LongFloat{rounded, rest_of(a)};
      EXPECT_LE(std::abs(read - a), most_error * std::abs(a)) << a;
      if (static_cast<double>(rounded) == a) {
        EXPECT_EQ(bits_of(read), bits_of(a)) << a;
      }
      if (a != 0) worst = std::max(worst, std::abs(read - a) / std::abs(a));
    }
  }
  EXPECT_GT(worst, most_error / 8); // neither are there more bits
}

template <class Ex> using LongEntries = SpaceTest<Ex>;
TYPED_TEST_SUITE(LongEntries, Spaces, SpaceName);

// The same with rows whose sums are small beside their entries, so that products with ones show what entries have lost.
HostCsr cancelling(HostCsr A, unsigned seed)
{
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> size(-6, 6);
  for (int i = 0; i < A.rows; i++) {
    double sum = 0;
    for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) {
      const bool last = k + 1 == A.ptr[i + 1];
      A.val[k] = last ? std::nextafter(-sum, 1) + std::pow(10, -9) : std::pow(10, size(random)) * (random() % 2 ? 1 : -1);
      sum += A.val[k];
    }
  }
  return A;
}

std::vector<Named> of_all_slices()
{
  const auto uneven = [](int i) {
    std::vector<int> columns(static_cast<std::size_t>(2 + 13 * i % 37));
    for (std::size_t j = 0; j < columns.size(); j++) columns[j] = i + static_cast<int>(11 * j * j) + 1;
    return columns;
  };
  HostCsr partly = grid7(64, 10, 11);
  const HostCsr varied = cancelling(partly, 4);
  std::copy(varied.val.begin(), varied.val.begin() + static_cast<std::ptrdiff_t>(varied.val.size() / 2), partly.val.begin());
  return {{"SELL", cancelling(from_columns(1000,
                                           [](int i) {
                                             return std::vector{i, 7 * i + 3, i * i % 997, 5 * i + 11, i + 400};
                                           }),
                              1)},
          {"sorted SELL", cancelling(from_columns(1500, uneven), 2)},
          {"stencil SELL", varied},
          {"stencil SELL", partly},
          {"SELL", cancelling(from_columns(150000,
                                           [](int i) {
                                             return std::vector{i, i + 70000 + i * 31 % 7, 3 * i};
                                           }),
                              3)}}; // wide
}

// What y = A x, x = 1, is wrong by beyond its rounding to floats, in units of the sums of absolute values.
std::vector<double> errors(const HostCsr &A, const std::vector<float> &y)
{
  std::vector<double> error;
  for (int i = 0; i < A.rows; i++) {
    long double sum = 0, all = 0;
    for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) {
      sum += A.val[k];
      all += std::abs(A.val[k]);
    }
    const long double wrong = std::abs(y[i] - sum) - 0x1p-24L * std::abs(sum);
    error.push_back(all > 0 ? static_cast<double>(wrong / all) : 0);
  }
  return error;
}

TYPED_TEST(LongEntries, ProductsHaveThem)
{
  for (const auto &[form, A] : of_all_slices()) {
    const std::string name = form + ", " + std::to_string(A.rows) + " rows";
    Csr<double, TypeParam> M;
    StoredMatrix<TypeParam> stored;
    Array<float, TypeParam> x, y;
    bool kept = false;
    OK(upload(this->ex, A, M));
    OK(stored.create(this->ex, M.view(), Storage::in_single));
    EXPECT_EQ(stored.description(), (TypeParam::sliced_rows ? form + ", single" : "CSR, double")) << name;
    const std::size_t before = stored.bytes();
    OK(stored.keep_rests(this->ex, M.view(), &kept));
    ASSERT_EQ(kept, TypeParam::sliced_rows) << name;
    if (!kept) continue;
    EXPECT_GT(stored.bytes(), before) << name;
    EXPECT_LE(stored.bytes() - before, 2 * 3 * A.val.size() / 2 + 128 * sell_rows) << name;
    OK(upload(this->ex, std::vector<float>(static_cast<std::size_t>(A.rows), 1), x));
    OK(y.allocate(this->ex, A.rows));
    const auto worst = [&](const char *what) {
      const std::vector<double> error = errors(A, this->to_host(y));
      const auto at = std::max_element(error.begin(), error.end());
      SCOPED_TRACE(name + what + ", row " + std::to_string(at - error.begin()));
      return *at;
    };
    OK(stored.multiply(this->ex, M.view(), x.data(), y.data()));
    EXPECT_GT(worst(", floats"), 100 * most_error);
    OK(stored.multiply_long(this->ex, x.data(), y.data()));
    EXPECT_LE(worst(", long"), 1.01 * most_error);

    // new values
    HostCsr B = cancelling(A, 17);
    OK(upload(this->ex, B, M));
    OK(stored.refresh(this->ex, M.view(), Storage::in_single));
    OK(stored.keep_rests(this->ex, M.view(), &kept));
    ASSERT_TRUE(kept);
    OK(stored.multiply_long(this->ex, x.data(), y.data()));
    const std::vector<double> error = errors(B, this->to_host(y));
    EXPECT_LE(*std::max_element(error.begin(), error.end()), 1.01 * most_error) << name;
  }
}

TYPED_TEST(LongEntries, AreThoseOfFloatsByRowsAlone)
{
  const HostCsr A = of_all_slices().front().A;
  Csr<double, TypeParam> M;
  StoredMatrix<TypeParam> in_double, of_blocks;
  bool kept = true;
  OK(upload(this->ex, A, M));
  OK(in_double.create(this->ex, M.view(), Storage::in_double));
  OK(in_double.keep_rests(this->ex, M.view(), &kept));
  EXPECT_FALSE(kept);
  kept = true;
  const HostCsr nodes = from_columns(300, [](int i) { return std::vector{i - i % 3, i - i % 3 + 1, i - i % 3 + 2}; });
  OK(upload(this->ex, nodes, M));
  OK(of_blocks.create(this->ex, M.view(), Storage::in_single, 3));
  OK(of_blocks.keep_rests(this->ex, M.view(), &kept));
  EXPECT_FALSE(kept);
}

// One entry that is no float, of any row, is found; at the first setup and with new values.
TYPED_TEST(LongEntries, AreWantedWhereOneIsNoFloat)
{
  std::vector<Named> forms = of_all_slices();
  forms.push_back({"blocks", from_columns(300, [](int i) { return std::vector{i - i % 3, i - i % 3 + 1, i - i % 3 + 2}; })});
  for (auto &[form, A] : forms) {
    for (double &a : A.val) a = static_cast<float>(a);
    for (std::size_t at : {std::size_t{0}, A.val.size() / 2, A.val.size() - 1}) {
      SCOPED_TRACE(testing::Message() << form << ", " << A.rows << " rows, entry " << at);
      Csr<double, TypeParam> M;
      StoredMatrix<TypeParam> stored;
      const int block = form == "blocks" ? 3 : 1;
      const auto expect_exact = [&](bool expected, auto store) {
        bool exact = !expected;
        OK(upload(this->ex, A, M));
        OK(store());
        OK(stored.is_exact(this->ex, M.view(), &exact));
        EXPECT_EQ(exact, expected);
      };
      const auto create = [&] { return stored.create(this->ex, M.view(), Storage::in_single, block); };
      const auto refresh = [&] { return stored.refresh(this->ex, M.view(), Storage::in_single); };
      const double before = A.val[at];
      expect_exact(true, create);
      A.val[at] = (before != 0 ? before : 1) * (1 + 0x1p-50);
      expect_exact(false, refresh);
      expect_exact(false, create);
      A.val[at] = before;
      expect_exact(true, refresh);
    }
  }
}
} // namespace amgkit::test
