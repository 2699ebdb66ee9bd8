#include "sparse/rows/tied_rows.hpp"

#include "support/flat_elements.hpp"
#include "support/random_matrices.hpp"
#include "support/spaces.hpp"
#include "support/vectors.hpp"

#include <numeric>

namespace amgkit::test
{
namespace
{
// The components of the graph of ties with 2 to most_tied rows, by their smallest row
std::vector<std::vector<int>> groups_of(const HostCsr &A)
{
  const std::vector<double> a = A.diagonal();
  std::vector<int> root(A.rows);
  std::iota(root.begin(), root.end(), 0);
  const std::function<int(int)> find = [&](int i) { return root[i] == i ? i : find(root[i]); };
  for (int i = 0; i < A.rows; i++) {
    for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) {
      const int j = A.col[k];
      const double least = std::min(std::abs(A.val[k]), std::abs(A.at(j, i)));
      if (j == i || a[i] == 0 || a[j] == 0 || !(least / std::abs(a[i]) * (least / std::abs(a[j])) > tie)) continue;
      const int r = find(i), s = find(j);
      root[std::max(r, s)] = std::min(r, s);
    }
  }
  std::map<int, std::vector<int>> components;
  for (int i = 0; i < A.rows; i++) components[find(i)].push_back(i);
  std::vector<std::vector<int>> groups;
  for (const auto &[first, rows] : components) {
    if (rows.size() >= 2 && rows.size() <= most_tied) groups.push_back(rows);
  }
  return groups;
}

// Rows that are tied in one chain, the first with the next and so on
HostCsr chains(const std::vector<int> &lengths, double coupling)
{
  std::map<std::pair<int, int>, double> entries;
  int n = 0;
  for (const int length : lengths) {
    for (int t = 0; t < length; t++, n++) {
      entries[{n, n}] = 1 + 0.01 * n;
      if (t > 0)
        entries[{n, n - 1}] = entries[{n - 1, n}] =
            (n % 2 == 0 ? coupling : -coupling) * std::sqrt(entries[{n, n}] * entries[{n - 1, n - 1}]);
    }
  }
  return make_csr(n, n, entries);
}

// Whether all pivots of these rows' block are positive, by 1e-5 of its diagonal entries
bool is_definite(const HostCsr &A, const std::vector<int> &rows)
{
  const std::size_t n = rows.size();
  std::vector<std::vector<double>> M(n, std::vector<double>(n));
  for (std::size_t t = 0; t < n; t++) {
    for (std::size_t s = 0; s < n; s++) M[t][s] = A.at(rows[t], rows[s]) / A.at(rows[t], rows[t]);
  }
  for (std::size_t p = 0; p < n; p++) {
    if (!(M[p][p] > 1e-5)) return false;
    for (std::size_t t = p + 1; t < n; t++) {
      const double m = M[t][p] / M[p][p];
      for (std::size_t s = p; s < n; s++) M[t][s] -= m * M[p][s];
    }
  }
  return true;
}

std::vector<Named> tied_matrices()
{
  std::vector<Named> all = gallery();
  for (unsigned seed = 0; seed < 12; seed++) all.push_back({"random " + std::to_string(seed), random_matrix(seed, 1).A});
  all.push_back({"flat elements", with_flat_elements(8, 0.98)});
  all.push_back({"flatter", with_flat_elements(6, 1 - 1e-3)});
  all.push_back({"chains", chains({1, 2, 3, 1, 8, 9, 2, 20, 4}, 0.75)});
  all.push_back({"large", chains({2, 2, 3}, 0.9)});
  for (double &value : all.back().A.val) value *= 1e200;
  all.push_back({"one-sided", make_csr(3, 3, {{{0, 0}, 1}, {{0, 1}, 0.9}, {{1, 1}, 1}, {{1, 2}, 0.9}, {{2, 1}, 0.1}, {{2, 2}, 1}})});
  return all;
}
} // namespace

template <class Ex> using TiedRowsTest = SpaceTest<Ex>;
TYPED_TEST_SUITE(TiedRowsTest, Spaces, SpaceName);

TYPED_TEST(TiedRowsTest, GroupsAreTheSmallComponents)
{
  int groups = 0;
  for (const auto &[name, M] : tied_matrices()) {
    Csr<double, TypeParam> A;
    TiedRows<TypeParam> tied;
    OK(upload(this->ex, M, A));
    const auto d = this->to_space(inverse_diagonal(M));
    OK(find_tied_rows(this->ex, A.view(), {}, d.data(), tied));
    const auto expected = groups_of(M);
    const auto begin = this->to_host(tied.begin), row = this->to_host(tied.row);
    ASSERT_EQ(tied.groups(), static_cast<int>(expected.size())) << name;
    for (int g = 0; g < tied.groups(); g++)
      ASSERT_EQ(std::vector<int>(row.begin() + begin[g], row.begin() + begin[g + 1]), expected[g]) << name << " group " << g;
    groups += tied.groups();
  }
  EXPECT_GT(groups, 50);
}

// Of each group M M⁻¹ = 1; one whose block is indefinite gets nothing, and one that is as good as singular no more than 1e5.
TYPED_TEST(TiedRowsTest, BlocksAreInverse)
{
  std::vector<Named> all = tied_matrices();
  all.push_back({"singular", chains({2, 2}, 1 - 1e-9)});
  all.push_back({"indefinite", chains({2, 3}, 1.5)});
  int definite = 0, others = 0;
  for (const auto &[name, M] : all) {
    Csr<double, TypeParam> A;
    TiedRows<TypeParam> tied, corrections;
    OK(upload(this->ex, M, A));
    const auto of_rows = inverse_diagonal(M);
    const auto d = this->to_space(of_rows);
    for (auto *t : {&tied, &corrections}) {
      OK(find_tied_rows(this->ex, A.view(), {}, d.data(), *t));
      OK(invert_tied_blocks(this->ex, A.view(), {}, 1, d.data(), t == &corrections ? TiedStep::of_polynomial : TiedStep::of_sweep, *t));
    }
    const auto begin = this->to_host(tied.begin), row = this->to_host(tied.row);
    const auto block = this->to_host(tied.blocks), correction = this->to_host(corrections.blocks);
    for (int g = 0; g < tied.groups(); g++) {
      const int first = begin[g], n = begin[g + 1] - first;
      const bool good = is_definite(M, std::vector<int>(row.begin() + first, row.begin() + first + n)), singular = name == "singular";
      (good ? definite : others)++;
      for (int t = 0; t < n; t++) {
        for (int s = 0; s < n; s++) {
          const double inverse = block[most_tied * (first + t) + s], of_diagonal = s == t ? of_rows[row[first + t]] : 0;
          if (!good && !singular) {
            EXPECT_EQ(inverse, 0) << name;
            EXPECT_EQ(correction[most_tied * (first + t) + s], 0) << name;
            continue;
          }
          EXPECT_EQ(correction[most_tied * (first + t) + s], inverse - of_diagonal) << name;
          if (singular) {
            EXPECT_NEAR(std::abs(inverse), 1e5, 5e3) << name;
            continue;
          }
          double product = 0, size = 0;
          for (int u = 0; u < n; u++) {
            const double term = M.at(row[first + t], row[first + u]) * block[most_tied * (first + u) + s];
            product += term;
            size += std::abs(term);
          }
          EXPECT_NEAR(product, s == t ? 1 : 0, 1e-12 * (1 + size)) << name << " group " << g;
        }
      }
    }
  }
  EXPECT_GT(definite, 50);
  EXPECT_GT(others, 4);
}

// The first half of the rows, and the other columns as ghosts.
struct FirstHalf {
  HostCsr diag, offd;

  explicit FirstHalf(const HostCsr &M)
  {
    const int own = M.rows / 2 + 1;
    std::map<std::pair<int, int>, double> here, there;
    for (const auto &[at, value] : entries_of(M)) {
      if (at.first < own) (at.second < own ? here : there)[{at.first, at.second < own ? at.second : at.second - own}] = value;
    }
    diag = make_csr(own, own, here);
    offd = make_csr(own, M.rows - own, there);
  }
};

template <class Ex> struct TiedHalf : FirstHalf {
  TiedRows<Ex> tied;
  Csr<double, Ex> A, B;
  std::vector<int> begin, row;
  std::vector<double> block;

  explicit TiedHalf(const HostCsr &M) : FirstHalf(M) {}
  PetscErrorCode create(Ex &ex, TiedStep step)
  {
    Array<double, Ex> d;
    PetscFunctionBegin;
    PetscCall(upload(ex, diag, A));
    PetscCall(upload(ex, offd, B));
    PetscCall(amgkit::upload(ex, inverse_diagonal(diag), d));
    PetscCall(find_tied_rows(ex, A.view(), B.view(), d.data(), tied));
    PetscCall(invert_tied_blocks(ex, A.view(), B.view(), 4, d.data(), step, tied));
    PetscCall(copy_tied_rows(ex, A.view(), B.view(), tied));
    PetscCall(download(ex, tied.blocks.data(), tied.blocks.size(), block));
    PetscCall(download(ex, tied.begin.data(), tied.begin.size(), begin));
    PetscCall(download(ex, tied.row.data(), tied.row.size(), row));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

// y += factor blocks (b - A x) in tied rows, and nothing elsewhere, also with ghosts; and of a residual that is given.
template <class V, class Ex> void expect_relaxed(Ex &ex, const HostCsr &M, double tolerance)
{
  TiedHalf<Ex> half(M);
  OK(half.create(ex, TiedStep::of_polynomial));
  ASSERT_GT(half.tied.groups(), 0);
  const int own = half.diag.rows;
  const auto x = rounded<V>(wave(M.rows, 0.7)), b = rounded<V>(wave(own, 0.4)), before = rounded<V>(wave(own, 1.3));
  Array<V, Ex> X, ghost, rhs, y, z, zt;
  OK(amgkit::upload(ex, std::vector<V>(x.begin(), x.begin() + own), X));
  OK(amgkit::upload(ex, std::vector<V>(x.begin() + own, x.end()), ghost));
  OK(amgkit::upload(ex, b, rhs));
  for (auto *to : {&y, &z, &zt}) OK(amgkit::upload(ex, before, *to));
  const V *const_b = rhs.data(), *const_x = X.data(), *const_ghost = ghost.data();
  OK(relax_tied_rows(ex, half.tied, 0.5, const_b, const_x, const_ghost, y.data()));
  OK(add_tied_blocks(ex, half.tied, 0.5, false, const_b, z.data()));
  OK(add_tied_blocks(ex, half.tied, 0.5, true, const_b, zt.data()));
  std::vector<double> r(own), expected(before.begin(), before.end()), of_b = expected, of_b_transposed = expected;
  for (int i = 0; i < own; i++) {
    r[i] = b[i];
    for (int k = M.ptr[i]; k < M.ptr[i + 1]; k++) r[i] -= M.val[k] * x[M.col[k]];
  }
  for (int g = 0; g < half.tied.groups(); g++) {
    const int first = half.begin[g], end = half.begin[g + 1];
    for (int t = first; t < end; t++) {
      for (int s = first; s < end; s++) {
        const double E_ts = half.block[most_tied * t + s - first], E_st = half.block[most_tied * s + t - first];
        expected[half.row[t]] += 0.5 * E_ts * r[half.row[s]];
        of_b[half.row[t]] += 0.5 * E_ts * b[half.row[s]];
        of_b_transposed[half.row[t]] += 0.5 * E_st * b[half.row[s]];
      }
    }
  }
  for (const auto &[from, to] : {std::pair{&y, &expected}, {&z, &of_b}, {&zt, &of_b_transposed}}) {
    std::vector<V> got;
    OK(download(ex, from->data(), from->size(), got));
    expect_close(rounded<double>(got), *to, tolerance, "tied rows");
    for (int i = 0; i < own; i++) {
      if (std::find(half.row.begin(), half.row.end(), i) == half.row.end()) {
        ASSERT_EQ(got[i], before[i]);
      }
    }
  }
}

// Of four ranks: 1.5 / (m + 1) of M⁻¹, m at most three, where a group is coupled to others.
TYPED_TEST(TiedRowsTest, SweepsTakeAPartWhereRanksMeet)
{
  int parts = 0;
  TiedHalf<TypeParam> of_sweep(with_flat_elements(7, 0.98)), of_polynomial(with_flat_elements(7, 0.98));
  OK(of_sweep.create(this->ex, TiedStep::of_sweep));
  OK(of_polynomial.create(this->ex, TiedStep::of_polynomial));
  for (int g = 0; g < of_sweep.tied.groups(); g++) {
    const int first = of_sweep.begin[g], end = of_sweep.begin[g + 1];
    int met = 0;
    for (int t = first; t < end; t++) met += of_sweep.offd.ptr[of_sweep.row[t] + 1] - of_sweep.offd.ptr[of_sweep.row[t]];
    for (int t = first; t < end; t++) {
      for (int s = first; s < end; s++) {
        const int at = most_tied * t + s - first, i = of_sweep.row[t];
        const double inverse = of_polynomial.block[at] + (s == t ? 1 / of_sweep.diag.at(i, i) : 0);
        EXPECT_NEAR(of_sweep.block[at], (met == 0 ? 1 : 1.5 / (1 + std::min(met, 3))) * inverse, 1e-10 * (1 + std::abs(inverse)));
      }
    }
    parts += met > 0;
  }
  EXPECT_GT(parts, 0);
  EXPECT_LT(parts, of_sweep.tied.groups());
}

TYPED_TEST(TiedRowsTest, RelaxationIsTheFormula)
{
  const HostCsr skewed = with_lower_times(0.97, with_flat_elements(6, 0.98));
  for (const HostCsr &M : {with_flat_elements(7, 0.98), skewed, chains({2, 3, 8, 4, 1, 5, 2, 2}, 0.72)}) {
    expect_relaxed<double>(this->ex, M, 1e-12);
    expect_relaxed<float>(this->ex, M, 1e-5);
  }
}
} // namespace amgkit::test
