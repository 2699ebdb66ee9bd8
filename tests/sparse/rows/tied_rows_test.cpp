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
std::vector<double> inverse_diagonal(const HostCsr &A)
{
  std::vector<double> d = A.diagonal();
  for (double &x : d) x = x == 0 ? 0 : 1 / x;
  return d;
}

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

// Whether all pivots of these rows' block are at least 1e-5 of its diagonal entries
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

// Of each group M M⁻¹ = 1; a group whose block is as good as singular, or indefinite, has the diagonal's inverse.
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
      OK(invert_tied_blocks(this->ex, A.view(), {}, d.data(), t == &corrections ? TiedStep::of_polynomial : TiedStep::of_sweep, *t));
    }
    const auto begin = this->to_host(tied.begin), row = this->to_host(tied.row);
    const auto block = this->to_host(tied.blocks), correction = this->to_host(corrections.blocks);
    for (int g = 0; g < tied.groups(); g++) {
      const int first = begin[g], n = begin[g + 1] - first;
      const bool good = is_definite(M, std::vector<int>(row.begin() + first, row.begin() + first + n));
      (good ? definite : others)++;
      for (int t = 0; t < n; t++) {
        for (int s = 0; s < n; s++) {
          const double inverse = block[most_tied * (first + t) + s], of_diagonal = s == t ? of_rows[row[first + t]] : 0;
          EXPECT_EQ(correction[most_tied * (first + t) + s], inverse - of_diagonal) << name;
          if (!good) {
            EXPECT_EQ(inverse, of_diagonal) << name;
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

// y += factor blocks (b - A x) in tied rows, and nothing elsewhere, also with ghosts; and of a residual that is given.
template <class V, class Ex> void expect_relaxed(Ex &ex, const HostCsr &M, double tolerance)
{
  const int own = M.rows / 2 + 1;
  std::map<std::pair<int, int>, double> here, there;
  for (const auto &[at, value] : entries_of(M)) {
    if (at.first < own) (at.second < own ? here : there)[{at.first, at.second < own ? at.second : at.second - own}] = value;
  }
  const HostCsr diag = make_csr(own, own, here), offd = make_csr(own, M.rows - own, there);
  Csr<double, Ex> A, B;
  TiedRows<Ex> tied;
  Array<double, Ex> d;
  OK(upload(ex, diag, A));
  OK(upload(ex, offd, B));
  OK(amgkit::upload(ex, inverse_diagonal(diag), d));
  OK(find_tied_rows(ex, A.view(), B.view(), d.data(), tied));
  ASSERT_GT(tied.groups(), 0);
  OK(invert_tied_blocks(ex, A.view(), B.view(), d.data(), TiedStep::of_polynomial, tied));
  OK(copy_tied_rows(ex, A.view(), B.view(), tied));
  const auto x = rounded<V>(wave(M.rows, 0.7)), b = rounded<V>(wave(own, 0.4)), before = rounded<V>(wave(own, 1.3));
  Array<V, Ex> X, ghost, rhs, y, z, zt;
  OK(amgkit::upload(ex, std::vector<V>(x.begin(), x.begin() + own), X));
  OK(amgkit::upload(ex, std::vector<V>(x.begin() + own, x.end()), ghost));
  OK(amgkit::upload(ex, b, rhs));
  for (auto *to : {&y, &z, &zt}) OK(amgkit::upload(ex, before, *to));
  const V *const_b = rhs.data(), *const_x = X.data(), *const_ghost = ghost.data();
  OK(relax_tied_rows(ex, tied, 0.5, const_b, const_x, const_ghost, y.data()));
  OK(add_tied_blocks(ex, tied, 0.5, false, const_b, z.data()));
  OK(add_tied_blocks(ex, tied, 0.5, true, const_b, zt.data()));
  std::vector<double> block, r(own), expected(before.begin(), before.end()), of_b = expected, of_b_transposed = expected;
  std::vector<int> begin, row;
  OK(download(ex, tied.blocks.data(), tied.blocks.size(), block));
  OK(download(ex, tied.begin.data(), tied.begin.size(), begin));
  OK(download(ex, tied.row.data(), tied.row.size(), row));
  for (int i = 0; i < own; i++) {
    r[i] = b[i];
    for (int k = M.ptr[i]; k < M.ptr[i + 1]; k++) r[i] -= M.val[k] * x[M.col[k]];
  }
  for (int g = 0; g < tied.groups(); g++) {
    for (int t = begin[g]; t < begin[g + 1]; t++) {
      for (int s = begin[g]; s < begin[g + 1]; s++) {
        expected[row[t]] += 0.5 * block[most_tied * t + s - begin[g]] * r[row[s]];
        of_b[row[t]] += 0.5 * block[most_tied * t + s - begin[g]] * b[row[s]];
        of_b_transposed[row[t]] += 0.5 * block[most_tied * s + t - begin[g]] * b[row[s]];
      }
    }
  }
  std::vector<V> got;
  for (const auto &[from, to] : {std::pair{&y, &expected}, {&z, &of_b}, {&zt, &of_b_transposed}}) {
    OK(download(ex, from->data(), from->size(), got));
    expect_close(rounded<double>(got), *to, tolerance, "tied rows");
    for (int i = 0; i < own; i++) {
      if (std::find(row.begin(), row.end(), i) == row.end()) {
        ASSERT_EQ(got[i], before[i]);
      }
    }
  }
}

TYPED_TEST(TiedRowsTest, RelaxationIsTheFormula)
{
  HostCsr skewed = with_flat_elements(6, 0.98);
  for (int i = 0; i < skewed.rows; i++) {
    for (int k = skewed.ptr[i]; k < skewed.ptr[i + 1]; k++) skewed.val[k] *= skewed.col[k] < i ? 0.97 : 1;
  }
  for (const HostCsr &M : {with_flat_elements(7, 0.98), skewed, chains({2, 3, 8, 4, 1, 5, 2, 2}, 0.72)}) {
    expect_relaxed<double>(this->ex, M, 1e-12);
    expect_relaxed<float>(this->ex, M, 1e-5);
  }
}
} // namespace amgkit::test
