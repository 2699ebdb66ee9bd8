#include "amg/spectral_radius.hpp"

#include "dist/mat_view.hpp"
#include "support/petsc_problems.hpp"

#include <cmath>
#include <tuple>
#include <utility>

namespace amgkit::test
{
template <class Ex> using SpectrumTest = SpaceTest<Ex>;
TYPED_TEST_SUITE(SpectrumTest, Spaces, SpaceName);

namespace
{
// The matrix on all ranks, with D⁻¹ = scale / a_ii
template <class Ex> struct Operator {
  Mat A = nullptr;
  MatView<Ex> view;
  DistMatrix<Ex> matrix;
  Array<double, Ex> d;

  PetscErrorCode create(Ex &ex, const HostCsr &M, double scale)
  {
    PetscFunctionBegin;
    PetscCall(distribute(M, Ex::on_device, &A));
    PetscCall(view.create(A, matrix));
    PetscCall(view.access(ex, matrix));
    PetscCall(matrix.allocate(ex));
    std::vector<double> inverse;
    for (int i = 0; i < matrix.rows; i++) {
      const int g = static_cast<int>(matrix.range.first()) + i;
      inverse.push_back(M.at(g, g) != 0 ? scale / M.at(g, g) : 0);
    }
    PetscCall(upload(ex, inverse, d));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  ~Operator()
  {
    static_cast<void>(view.release());
    static_cast<void>(MatDestroy(&A));
  }
};

HostCsr scaled(HostCsr A, double factor)
{
  for (double &v : A.val) v *= factor;
  return A;
}
} // namespace

TYPED_TEST(SpectrumTest, LargestEigenvalueOfAGrid)
{
  // D⁻¹ A of the 7-point matrix: 2 - (2/6) sum of (1 - cos ...) has its largest eigenvalue 1 + cos(pi / (n + 1))
  const int n = 12;
  const double exact = 1 + std::cos(std::acos(-1.0) / (n + 1));
  for (double factor : {1.0, 1e-9, -3.0}) { // not changed by the size or the sign of A
    Operator<TypeParam> op;
    Spectrum spectrum;
    OK(op.create(this->ex, scaled(grid7(n, n, n), factor), 1));
    OK(estimate_spectrum(this->ex, op.matrix, op.d.data(), HUGE_VAL, &spectrum));
    EXPECT_LE(spectrum.radius, 1.15 * exact);
    EXPECT_GE(spectrum.radius, 0.97 * exact);
    EXPECT_TRUE(spectrum.symmetric);
  }
}

// A grid beside four rows with couplings of the wrong sign, as slivers have them: D⁻¹ A has its largest eigenvalue there, 1 + 3 * 0.6.
static HostCsr grid_with_a_cluster(int n, double size)
{
  const HostCsr grid = grid7(n, n, n);
  auto entries = entries_of(grid);
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++) entries[{grid.rows + i, grid.rows + j}] = size * (i == j ? 1 : 0.6);
  return make_csr(grid.rows + 4, grid.rows + 4, entries);
}

// The polynomial of a smoother bears 1.25 times the estimate. A bound that is far off must not end the search; one that is not so does.
TYPED_TEST(SpectrumTest, LargestEigenvalueOfFewRows)
{
  for (double size : {3.0, 6.0}) {
    for (double bound : {HUGE_VAL, 2.8, 100.0}) {
      Operator<TypeParam> op;
      Spectrum spectrum;
      OK(op.create(this->ex, grid_with_a_cluster(20, size), 1));
      OK(estimate_spectrum(this->ex, op.matrix, op.d.data(), bound, &spectrum));
      EXPECT_GE(1.2 * spectrum.radius, 2.8) << size << ' ' << bound;
      EXPECT_LE(spectrum.radius, 1.15 * 2.8) << size << ' ' << bound;
      OK(estimate_spectrum(this->ex, op.matrix, op.d.data(), 2.1, &spectrum));
      EXPECT_LT(1.25 * spectrum.radius, 2.8) << size;
    }
  }
}

// Equations of any size: A is not symmetric then, but D⁻¹ A is that of the grid.
TYPED_TEST(SpectrumTest, LargestEigenvalueWithScaledRows)
{
  const int n = 12;
  const double exact = 1 + std::cos(std::acos(-1.0) / (n + 1));
  HostCsr A = grid7(n, n, n);
  for (int i = 0; i < A.rows; i++)
    for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) A.val[k] *= std::pow(10, 8 * std::sin(1.7 * i * i));
  Operator<TypeParam> op;
  Spectrum spectrum;
  OK(op.create(this->ex, A, 1));
  OK(estimate_spectrum(this->ex, op.matrix, op.d.data(), HUGE_VAL, &spectrum));
  EXPECT_GE(spectrum.radius, 0.95 * exact);
  EXPECT_LE(spectrum.radius, 1.15 * exact);
  EXPECT_FALSE(spectrum.symmetric);
}

TYPED_TEST(SpectrumTest, BoundOfAGridIsNearlyReached)
{
  Operator<TypeParam> op;
  Spectrum with, without;
  RowBounds bounds;
  OK(op.create(this->ex, grid7(12, 12, 12), 1));
  OK(check_entries(this->ex, op.matrix, row_faults, nullptr, nullptr, &bounds));
  EXPECT_NEAR(bounds.sum, 2, 1e-6);
  EXPECT_NEAR(bounds.coupling, 1.0 / 6, 1e-6);
  OK(estimate_spectrum(this->ex, op.matrix, op.d.data(), bounds.sum, &with));
  OK(estimate_spectrum(this->ex, op.matrix, op.d.data(), HUGE_VAL, &without));
  EXPECT_NEAR(with.radius, without.radius, 1e-12);
}

// A grid whose entries no float has is stored before the setup is over, with its own entries and rounded ones. A grid with other entries in
// each row is not; of one whose last rows are such, the first ranks' rows may be.
TYPED_TEST(SpectrumTest, OwnEntriesAreNotRounded)
{
  HostCsr grid = scaled(grid7(16, 16, 16), 1.0 / 3), varied = grid;
  for (std::size_t k = 0; k < varied.val.size(); k++) varied.val[k] *= 1 + 0.1 * std::sin(static_cast<double>(k));
  HostCsr partly = grid;
  for (std::size_t k = partly.val.size() / 2; k < partly.val.size(); k++) partly.val[k] = varied.val[k];
  for (const HostCsr *M : {&grid, &varied, &partly}) {
    const bool constant = M == &grid && TypeParam::sliced_rows;
    Operator<TypeParam> op;
    Spectrum of_rows, own, rounded;
    OK(op.create(this->ex, *M, 1));
    OK(estimate_spectrum(this->ex, op.matrix, op.d.data(), HUGE_VAL, &of_rows));
    OK(op.matrix.store_ahead(this->ex, Storage::in_single, 1));
    EXPECT_TRUE(M == &partly || op.matrix.stored.is_constant() == constant);
    OK(estimate_spectrum(this->ex, op.matrix, op.d.data(), HUGE_VAL, &own, SpectrumOf::own_entries));
    OK(estimate_spectrum(this->ex, op.matrix, op.d.data(), HUGE_VAL, &rounded));
    EXPECT_NEAR(own.radius, of_rows.radius, 1e-13);
    EXPECT_EQ(own.symmetric, of_rows.symmetric);
    EXPECT_TRUE(!constant || std::abs(rounded.radius - of_rows.radius) > 1e-11);
    EXPECT_TRUE(M != &varied || std::abs(rounded.radius - of_rows.radius) < 1e-13);
  }
}

TYPED_TEST(SpectrumTest, SmallSpacesAreExhausted)
{
  for (const auto &[A, exact] : {std::pair{make_csr(1, 1, {{{0, 0}, 4}}), 1.0},
                                 {make_csr(3, 3, {{{0, 0}, 2}, {{1, 1}, 5}, {{2, 2}, -1}}), 1.0},
                                 {make_csr(2, 2, {{{0, 0}, 2}, {{0, 1}, -1}, {{1, 0}, -1}, {{1, 1}, 2}}), 1.5},
                                 {make_csr(2, 2, {{{0, 0}, 0}}), 0.0},
                                 {make_csr(0, 0, {}), 0.0}}) {
    Operator<TypeParam> op;
    Spectrum spectrum = {-1, false};
    OK(op.create(this->ex, A, 1));
    OK(estimate_spectrum(this->ex, op.matrix, op.d.data(), HUGE_VAL, &spectrum));
    EXPECT_NEAR(spectrum.radius, exact, 1e-10);
    EXPECT_TRUE(spectrum.symmetric);
  }
}

TYPED_TEST(SpectrumTest, WhatOverflowsIsInfinite)
{
  Operator<TypeParam> op;
  Spectrum spectrum;
  OK(op.create(this->ex, make_csr(2, 2, {{{0, 0}, 1e-200}, {{0, 1}, 1e200}, {{1, 0}, 1e200}, {{1, 1}, 1e-200}}), 1));
  OK(estimate_spectrum(this->ex, op.matrix, op.d.data(), HUGE_VAL, &spectrum));
  EXPECT_EQ(spectrum.radius, HUGE_VAL);
}

TYPED_TEST(SpectrumTest, SymmetryIsSeen)
{
  auto symmetric = [&](const HostCsr &A) {
    Operator<TypeParam> op;
    Spectrum spectrum;
    bool found = false;
    EXPECT_EQ(static_cast<int>(op.create(this->ex, A, 1)), 0);
    EXPECT_EQ(static_cast<int>(test_symmetry(this->ex, op.matrix, &found)), 0);
    EXPECT_EQ(static_cast<int>(estimate_spectrum(this->ex, op.matrix, op.d.data(), HUGE_VAL, &spectrum)), 0);
    EXPECT_EQ(found, spectrum.symmetric);
    return found;
  };
  HostCsr A = grid7(9, 8, 7, 1, 1000, 1e-3);
  EXPECT_TRUE(symmetric(A));
  EXPECT_TRUE(symmetric(make_csr(0, 0, {})));
  A.val[1] *= 1 + 1e-5; // one entry of the first row
  EXPECT_FALSE(symmetric(A));
  EXPECT_FALSE(symmetric(random_graph(50, 120, 3, false)));
  for (int exponent : {-1000, -600, 600, 1000}) { // of 2
    HostCsr scaled = grid7(9, 8, 7, 1, 10, 0.1), other = random_graph(50, 120, 3, false);
    for (HostCsr *M : {&scaled, &other})
      for (double &entry : M->val) entry = std::ldexp(entry, exponent);
    EXPECT_TRUE(symmetric(scaled)) << exponent;
    EXPECT_FALSE(symmetric(other)) << exponent;
  }
}

// Eigenvalues of D⁻¹ A of the 7-point matrix: 1 - (the mean of three cosines).
TYPED_TEST(SpectrumTest, BothEndsOfAGrid)
{
  const int n = 12;
  const double cosine = std::cos(std::acos(-1.0) / (n + 1));
  for (double factor : {1.0, 1e-9, -3.0}) {
    Operator<TypeParam> op;
    SpectrumEnds ends;
    OK(op.create(this->ex, scaled(grid7(n, n, n), factor), 1));
    OK(estimate_ends<TypeParam>(this->ex, op.matrix, op.d.data(), nullptr, &ends));
    EXPECT_TRUE(ends.symmetric);
    EXPECT_NEAR(ends.largest, 1 + cosine, 0.04);
    EXPECT_GE(ends.smallest, (1 - cosine) * (1 - 1e-10));
    EXPECT_LE(ends.smallest, (1 - cosine) * 1.2);
  }
}

// Paths of 20 without a boundary: the eigenvalue 0 is not the smallest one asked for, known beforehand or not, and of one path or two.
TYPED_TEST(SpectrumTest, ZeroIsNoEnd)
{
  for (int parts : {1, 2}) {
    std::map<std::pair<int, int>, double> edges;
    for (int part = 0; part < parts; part++) {
      for (int i = 0; i + 1 < 20; i++) edges[{20 * part + i, 20 * part + i + 1}] = 1;
    }
    Operator<TypeParam> op;
    OK(op.create(this->ex, from_edges(20 * parts, edges, 0), 1));
    Array<double, TypeParam> ones;
    OK(upload(this->ex, std::vector<double>(op.matrix.rows, 1.0), ones));
    for (const Array<double, TypeParam> *z : {static_cast<const Array<double, TypeParam> *>(nullptr), &std::as_const(ones)}) {
      SpectrumEnds ends;
      OK(estimate_ends(this->ex, op.matrix, op.d.data(), z, &ends));
      EXPECT_NEAR(ends.smallest, 1 - std::cos(std::acos(-1.0) / 19), 1e-3);
      EXPECT_NEAR(ends.largest, 2, 1e-3);
    }
  }
}

// Penalty rows do not hide the others.
TYPED_TEST(SpectrumTest, EndsWithoutRegardForTheRowsSizes)
{
  HostCsr A = grid7(12, 12, 12);
  for (int i = 0; i < A.rows; i += 7) {
    for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++)
      if (A.col[k] == i) A.val[k] = 1e30;
  }
  Operator<TypeParam> op;
  SpectrumEnds ends;
  OK(op.create(this->ex, A, 1));
  OK(estimate_ends<TypeParam>(this->ex, op.matrix, op.d.data(), nullptr, &ends));
  EXPECT_NEAR(ends.largest, 1.81, 0.04); // of the other rows, by a dense solver
  EXPECT_NEAR(ends.smallest, 0.189, 0.03);
}

// A vector that A does not take to 0 changes nothing.
TYPED_TEST(SpectrumTest, AnyVectorMayBeGuessed)
{
  Operator<TypeParam> op;
  Array<double, TypeParam> ones;
  SpectrumEnds without, with;
  OK(op.create(this->ex, grid7(8, 7, 6), 1));
  OK(upload(this->ex, std::vector<double>(op.matrix.rows, 1.0), ones));
  OK(estimate_ends<TypeParam>(this->ex, op.matrix, op.d.data(), nullptr, &without));
  OK(estimate_ends(this->ex, op.matrix, op.d.data(), &ones, &with));
  EXPECT_EQ(with.smallest, without.smallest);
  EXPECT_EQ(with.largest, without.largest);
}

TYPED_TEST(SpectrumTest, EndsOfMatricesThatHaveNone)
{
  const HostCsr indefinite = make_csr(2, 2, {{{0, 0}, 1}, {{0, 1}, 3}, {{1, 0}, 3}, {{1, 1}, 1}});
  const HostCsr overflows = make_csr(2, 2, {{{0, 0}, 1e-200}, {{0, 1}, 1e200}, {{1, 0}, 1e200}, {{1, 1}, 1e-200}});
  for (const auto &[A, smallest, largest] : {std::tuple{make_csr(1, 1, {{{0, 0}, 4}}), 1.0, 1.0},
                                             {make_csr(2, 2, {{{0, 0}, 0}}), 0.0, 0.0},
                                             {make_csr(0, 0, {}), 0.0, 0.0},
                                             {indefinite, -2.0, 4.0},
                                             {overflows, HUGE_VAL, HUGE_VAL}}) {
    Operator<TypeParam> op;
    SpectrumEnds ends;
    OK(op.create(this->ex, A, 1));
    OK(estimate_ends<TypeParam>(this->ex, op.matrix, op.d.data(), nullptr, &ends));
    if (std::isinf(largest)) {
      EXPECT_EQ(ends.largest, largest);
    } else {
      EXPECT_NEAR(ends.smallest, smallest, 1e-10);
      EXPECT_NEAR(ends.largest, largest, 1e-10);
    }
  }
}
} // namespace amgkit::test
