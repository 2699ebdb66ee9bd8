#include "graph/lumped_couplings.hpp"

#include "support/gallery.hpp"
#include "support/positive_couplings.hpp"
#include "support/spaces.hpp"

#include <algorithm>
#include <cmath>

namespace amgkit::test
{
template <class Ex> using LumpedCouplings = SpaceTest<Ex>;
TYPED_TEST_SUITE(LumpedCouplings, Spaces, SpaceName);

namespace
{
using Vector = std::vector<double>;

// w empty: it is 1
struct Lumped {
  CouplingSurvey found;
  Vector limit, values, in_place;
};
template <class Ex> PetscErrorCode lump(Ex &ex, const HostCsr &A, const Vector &w, bool symmetric, Lumped &out)
{
  Csr<double, Ex> M;
  Array<double, Ex> a, v, limit, values;

  PetscFunctionBegin;
  PetscCall(upload(ex, A, M));
  PetscCall(upload(ex, A.diagonal(), a));
  if (!w.empty()) PetscCall(upload(ex, w, v));
  PetscCall(allocate_each(ex, A.rows, limit));
  PetscCall(values.allocate(ex, M.val.size()));
  PetscCall(survey_couplings(ex, M.view(), a.data(), v.data(), &out.found));
  PetscCall(cancelled_couplings(ex, M.view(), a.data(), v.data(), symmetric, limit.data()));
  PetscCall(lump_cancelled(ex, M.view(), a.data(), v.data(), limit.data(), values.data()));
  PetscCall(lump_cancelled(ex, M.view(), a.data(), v.data(), limit.data(), M.val.data()));
  PetscCall(download(ex, limit.data(), limit.size(), out.limit));
  PetscCall(download(ex, values.data(), values.size(), out.values));
  PetscCall(download(ex, M.val.data(), M.val.size(), out.in_place));
  PetscFunctionReturn(PETSC_SUCCESS);
}

double weight(const Vector &w, int i) { return w.empty() ? 1 : w[i]; }

// The formulas of the header, read literally
Vector limits(const HostCsr &A, const Vector &w)
{
  Vector out;
  for (int i = 0; i < A.rows; i++) {
    OppositeCouplings couplings;
    const double diagonal = std::abs(A.at(i, i)) * weight(w, i) * weight(w, i);
    double largest = 0, positive = 0, negative = 0;
    for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) {
      const int j = A.col[k];
      const double both = weight(w, i) * weight(w, j), b = A.val[k] * both * (A.at(i, i) < 0 ? -1 : 1);
      if (j == i) continue;
      couplings.take(A.at(i, i), A.val[k] * both, A.at(j, i) * both);
      largest = std::max(largest, -b);
      (b > 0 ? positive : negative) += std::abs(b);
    }
    out.push_back(positive == 0                     ? 0
                  : positive * 1.000001 >= negative ? HUGE_VAL
                                                    : std::max(0.0, couplings.largest_cancelled(diagonal, largest / 16, 6, 6)));
  }
  return out;
}
Vector lumped(const HostCsr &A, const Vector &w, const Vector &limit)
{
  Vector out = A.val;
  for (int i = 0; i < A.rows; i++) {
    double sum = 0;
    for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) {
      const int j = A.col[k];
      const double size = -A.val[k] * weight(w, i) * weight(w, j) * (A.at(i, i) < 0 ? -1 : 1), least = std::min(limit[i], limit[j]);
      if (j == i || least <= 0 || least == HUGE_VAL || size > least) continue;
      sum += A.val[k] * weight(w, j);
      out[k] = 0;
    }
    for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++)
      if (A.col[k] == i && sum != 0) out[k] += sum / weight(w, i);
  }
  return out;
}

double at(const HostCsr &A, const Vector &values, int i, int j)
{
  const auto found = std::lower_bound(A.col.begin() + A.ptr[i], A.col.begin() + A.ptr[i + 1], j);
  return values[static_cast<std::size_t>(found - A.col.begin())];
}

Vector uneven_weights(int n)
{
  Vector w(n);
  for (int i = 0; i < n; i++) w[i] = i % 11 == 3 ? -0.5 : i % 29 == 7 ? 0 : 1 + 0.25 * (i % 4);
  return w;
}

// Central differences of convection along x on a grid of points with this Peclet number: downstream couplings are positive above 1.
HostCsr convection(int n, double peclet)
{
  std::map<std::pair<int, int>, double> entries;
  for (int i = 0; i < n * n; i++) {
    const int x = i % n, y = i / n;
    entries[{i, i}] = 4;
    if (x > 0) entries[{i, i - 1}] = -1 - peclet;
    if (x + 1 < n) entries[{i, i + 1}] = -1 + peclet;
    if (y > 0) entries[{i, i - n}] = -1;
    if (y + 1 < n) entries[{i, i + n}] = -1;
  }
  return make_csr(n * n, n * n, entries);
}

HostCsr negative(HostCsr A)
{
  for (double &a : A.val) a = -a;
  return A;
}

// Rows and columns 0, every, 2 every, ... are those of the identity.
HostCsr with_identity_rows(HostCsr A, int every)
{
  for (int i = 0; i < A.rows; i++)
    for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++)
      if (i % every == 0 || A.col[k] % every == 0) A.val[k] = A.col[k] == i ? 1 : 0;
  return A;
}
} // namespace

TYPED_TEST(LumpedCouplings, AreThoseOfTheDefinition)
{
  auto matrices = with_positive_couplings();
  for (auto &named : gallery()) {
    const Vector a = named.A.diagonal();
    if (std::count(a.begin(), a.end(), 0) == 0) matrices.push_back(named);
  }
  matrices.push_back({"convection", convection(12, 1.5)});
  matrices.push_back({"negative", negative(bricks(6, 1, 0.1, 0.01, 1, 0))});
  int cancelled = 0;
  for (const auto &[name, A] : matrices) {
    for (const Vector &w : {Vector{}, uneven_weights(A.rows)}) {
      for (const bool symmetric : {false, true}) {
        if (symmetric && (name.rfind("flat", 0) != 0 || !w.empty())) continue;
        Lumped got;
        OK(lump(this->ex, A, w, symmetric, got));
        const Vector limit = limits(A, w), values = lumped(A, w, limit);
        ASSERT_EQ(got.limit.size(), limit.size());
        for (int i = 0; i < A.rows; i++) {
          if (limit[i] == HUGE_VAL)
            ASSERT_EQ(got.limit[i], limit[i]) << name << " row " << i;
          else
            ASSERT_NEAR(got.limit[i], limit[i], 1e-12 * limit[i]) << name << " row " << i;
          cancelled += limit[i] > 0 && limit[i] < HUGE_VAL ? 1 : 0;
          double before = 0, after = 0, sizes = 0;
          for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) {
            ASSERT_NEAR(got.values[k], values[k], 1e-13 * std::abs(A.at(i, i))) << name << " row " << i << " column " << A.col[k];
            before += A.val[k] * weight(w, A.col[k]);
            after += got.values[k] * weight(w, A.col[k]);
            sizes += std::abs(A.val[k] * weight(w, A.col[k]));
          }
          EXPECT_NEAR(before, after, 1e-14 * sizes) << name << " row " << i; // A w
        }
        EXPECT_EQ(got.in_place, got.values) << name;
        for (int i = 0; i < A.rows && symmetric; i++) {
          for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++)
            EXPECT_EQ(got.values[k] == 0, at(A, got.values, A.col[k], i) == 0) << name << " row " << i;
        }
      }
    }
  }
  EXPECT_GT(cancelled, 1000);
}

TYPED_TEST(LumpedCouplings, TellWhatThereIs)
{
  struct Case {
    const char *name;
    HostCsr A;
    bool any, cancel, symmetric;
  };
  const HostCsr flat = bricks(6, 1, 1, 0.01, 1, 0), grid = grid7(40, 40, 12);
  for (const Case &c : {Case{"grid", grid, false, false, true},
                        {"flat", flat, true, true, true},
                        {"negative", negative(flat), true, true, true},
                        {"mass", bricks(6, 1, 1, 1, 0, 1), true, false, true}, // no negative couplings
                        {"convection", convection(12, 1.5), true, false, false},
                        {"a hundredth", beside(grid, flat), true, true, true}, // 216 of 19416 rows, at the end
                        {"less", beside(beside(grid, grid), flat), true, false, true},
                        {"identity rows, every ninth looked at", with_identity_rows(bricks(21, 1, 1, 0.01, 1, 0), 3), true, true, true},
                        {"empty", HostCsr{}, false, false, true}}) {
    Lumped got;
    OK(lump(this->ex, c.A, {}, false, got));
    EXPECT_EQ(got.found.any, c.any) << c.name;
    EXPECT_EQ(got.found.cancel, c.cancel) << c.name;
    EXPECT_EQ(got.found.symmetric, c.symmetric) << c.name;
  }
}

// What is left of long bricks are the lines along their short edges. Ends of lines keep their positive couplings to other ends.
TYPED_TEST(LumpedCouplings, LinesAreLeft)
{
  const int n = 8;
  const HostCsr A = bricks(n, 0.01, 1, 1, 1, 0);
  Lumped got;
  OK(lump(this->ex, A, {}, true, got));
  for (int i = 0; i < A.rows; i++) {
    for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) {
      const int j = A.col[k];
      if (j == i) continue;
      if (i / n == j / n)
        EXPECT_EQ(got.values[k], A.val[k]);
      else
        EXPECT_GE(got.values[k], 0) << i << " " << j;
    }
  }
}
} // namespace amgkit::test
