#include "sparse/rows/ghosted_rows.hpp"

#include "support/gallery.hpp"
#include "support/spaces.hpp"

#include <random>
#include <tuple>

namespace amgkit::test
{
template <class Ex> using MergedRowsTest = SpaceTest<Ex>;
TYPED_TEST_SUITE(MergedRowsTest, Spaces, SpaceName);

namespace
{
HostCsr random_matrix(int rows, int cols, int most, unsigned seed)
{
  std::mt19937 random(seed);
  std::map<std::pair<int, int>, double> entries;
  for (int i = 0; i < rows && cols > 0; i++) {
    for (int t = static_cast<int>(random() % (most + 1)); t > 0; t--)
      entries[{i, static_cast<int>(random() % cols)}] = 1 + static_cast<double>(random() % 97);
  }
  return make_csr(rows, cols, entries);
}
HostCsr scaled(HostCsr A, double factor)
{
  for (double &value : A.val) value *= factor;
  return A;
}
void expect_equal(const HostCsr &got, const HostCsr &expected)
{
  EXPECT_EQ(got.rows, expected.rows);
  EXPECT_EQ(got.cols, expected.cols);
  EXPECT_EQ(got.ptr, expected.ptr);
  EXPECT_EQ(got.col, expected.col);
  EXPECT_EQ(got.val, expected.val);
}

// Number of own column j, of ghost g, when the first `before` ghosts precede the own columns.
struct Numbering {
  int own, ghosts, before;
  int of_own(int j) const { return before + j; }
  int of_ghost(int g) const { return g < before ? g : g + own; }
  int all() const { return own + ghosts; }
};
const std::vector<Numbering> numberings = {{5, 7, 3}, {5, 7, 0}, {5, 7, 7}, {0, 6, 2}, {9, 0, 0}, {1, 1, 1}};

// The blocks' rows, in this numbering, behind the first rows_before others; in[number] is the number of a wider one.
HostCsr merged(const HostCsr &diag, const HostCsr &offd, const Numbering &number, const std::vector<int> &in, int cols,
               const HostCsr &others, int rows_before)
{
  std::map<std::pair<int, int>, double> entries;
  for (int i = 0; i < diag.rows; i++) {
    for (int k = diag.ptr[i]; k < diag.ptr[i + 1]; k++) entries[{rows_before + i, in[number.of_own(diag.col[k])]}] = diag.val[k];
    for (int k = offd.ptr[i]; k < offd.ptr[i + 1]; k++) entries[{rows_before + i, in[number.of_ghost(offd.col[k])]}] = offd.val[k];
  }
  for (int i = 0; i < others.rows; i++) {
    const int row = i < rows_before ? i : diag.rows + i;
    for (int k = others.ptr[i]; k < others.ptr[i + 1]; k++) entries[{row, others.col[k]}] = others.val[k];
  }
  return make_csr(diag.rows + others.rows, cols, entries);
}
} // namespace

// In the numbers of their own columns, and in those of columns between and around which others stand.
TYPED_TEST(MergedRowsTest, BlocksAreStacked)
{
  for (const Numbering &number : numberings) {
    for (const bool wider : {false, true}) {
      std::vector<int> in, ghost;
      for (int j = 0; j < number.all(); j++) in.push_back(!wider ? j : j < number.before ? 2 * j + 1 : j + number.before + 2);
      for (int g = 0; g < number.ghosts; g++) ghost.push_back(in[number.of_ghost(g)]);
      const int cols = wider ? number.all() + number.before + 5 : number.all();
      const auto ghosts = this->to_space(ghost);
      const WiderNumbers wide = {cols, number.before + number.before + 2, ghosts.data()};
      for (const auto &[rows, around, before] : {std::tuple{11, 4, 0}, {11, 4, 3}, {11, 0, 0}, {0, 4, 2}, {0, 0, 0}}) {
        const HostCsr diag = random_matrix(rows, number.own, 4, 1), offd = random_matrix(rows, number.ghosts, 3, 2),
                      others = random_matrix(around, cols, 5, 3);
        Csr<double, TypeParam> D, O, B, M;
        HostCsr got;
        for (const bool again : {false, true}) {
          const HostCsr d = scaled(diag, again ? -2 : 1), o = scaled(offd, again ? 3 : 1), b = scaled(others, again ? 5 : 1);
          OK(upload(this->ex, d, D));
          OK(upload(this->ex, o, O));
          OK(upload(this->ex, b, B));
          const BlockRows all = {{D.view()}, {O.view()}, number.before, wider ? wide : WiderNumbers{}, B.view(), before};
          OK(again ? stack_values(this->ex, all, M) : stack_rows(this->ex, all, M));
          OK(download(this->ex, M, got));
          expect_equal(got, merged(d, o, number, in, cols, b, before));
        }
      }
    }
  }
}

// Own columns 1 and 2 of four, ghosts 0 and 3; without the first entry of the own block and the second of the other.
TYPED_TEST(MergedRowsTest, ChosenEntriesAreStacked)
{
  Csr<double, TypeParam> D, O, M;
  HostCsr got;
  OK(upload(this->ex, make_csr(2, 2, {{{0, 0}, 1}, {{0, 1}, 2}, {{1, 1}, 3}}), D));
  OK(upload(this->ex, make_csr(2, 2, {{{0, 0}, 4}, {{0, 1}, 5}, {{1, 0}, 6}}), O));
  const auto ptr = this->to_space(std::vector<int>{0, 1, 2}), of_own = this->to_space(std::vector<int>{1, 2}),
             of_ghosts = this->to_space(std::vector<int>{0, 2});
  const BlockRows chosen = {{D.view(), ptr.data(), of_own.data(), 2}, {O.view(), ptr.data(), of_ghosts.data(), 2}, 1};
  OK(stack_rows(this->ex, chosen, M));
  OK(download(this->ex, M, got));
  expect_equal(got, make_csr(2, 4, {{{0, 0}, 4}, {{0, 2}, 2}, {{1, 0}, 6}, {{1, 2}, 3}}));
  OK(upload(this->ex, make_csr(2, 2, {{{0, 0}, 0}, {{0, 1}, 7}, {{1, 1}, 8}}), D));
  OK(stack_values(this->ex, {{D.view(), ptr.data(), of_own.data(), 2}, chosen.offd, 1}, M));
  OK(download(this->ex, M, got));
  expect_equal(got, make_csr(2, 4, {{{0, 0}, 4}, {{0, 2}, 7}, {{1, 0}, 6}, {{1, 2}, 8}}));
}

TYPED_TEST(MergedRowsTest, VectorsAreStackedAsRowsAre)
{
  auto all = this->to_space(std::vector<double>(4));
  const auto x = this->to_space(std::vector<double>{1, 2}), y = this->to_space(std::vector<double>{3, 4});
  OK(stack_vector(this->ex, 2, x.data(), 2, y.data(), 1, all.data()));
  EXPECT_EQ(this->to_host(all), (std::vector<double>{3, 1, 2, 4}));
}

// Rows 0, 2, ... of one matrix and all rows of a second, whose ghosts are others.
TYPED_TEST(MergedRowsTest, ChosenRowsAreSplit)
{
  for (const Numbering &one : numberings) {
    const Numbering two = {one.own, one.ghosts + 2, one.before + 1}; // a ghost more on either side
    const HostCsr first = random_matrix(10, one.all(), 5, 4), second = random_matrix(5, two.all(), 5, 5);
    std::vector<int> row, ghost;
    for (int t = 0; t < 10; t++) row.push_back(t % 2 == 0 ? t : -1 - t / 2);
    for (int g = 0; g < one.ghosts; g++) ghost.push_back(g + 1);
    std::map<std::pair<int, int>, double> own, other;
    for (int t = 0; t < 10; t++) {
      const HostCsr &M = row[t] < 0 ? second : first;
      const Numbering &number = row[t] < 0 ? two : one;
      const int i = row[t] < 0 ? -1 - row[t] : row[t];
      for (int k = M.ptr[i]; k < M.ptr[i + 1]; k++) {
        const int j = M.col[k];
        if (j >= number.before && j < number.before + number.own)
          own[{t, j - number.before}] = M.val[k];
        else
          other[{t, (j < number.before ? j : j - number.own) + (row[t] < 0 ? 0 : 1)}] = M.val[k];
      }
    }
    Csr<double, TypeParam> F, S, diag, offd;
    HostCsr got;
    OK(upload(this->ex, first, F));
    OK(upload(this->ex, second, S));
    const auto rows = this->to_space(row), ghosts = this->to_space(ghost);
    const ChosenRows chosen = {10, one.own, {F.view(), one.before, ghosts.data()}, {S.view(), two.before}, rows.data()};
    OK(split_rows(this->ex, chosen, two.ghosts, diag, offd));
    OK(download(this->ex, diag, got));
    expect_equal(got, make_csr(10, one.own, own));
    OK(download(this->ex, offd, got));
    expect_equal(got, make_csr(10, two.ghosts, other));
    OK(memory_zero(this->ex, diag.val.data(), diag.val.bytes()));
    OK(memory_zero(this->ex, offd.val.data(), offd.val.bytes()));
    OK(split_values(this->ex, chosen, diag, offd));
    OK(download(this->ex, diag, got));
    expect_equal(got, make_csr(10, one.own, own));
    OK(download(this->ex, offd, got));
    expect_equal(got, make_csr(10, two.ghosts, other));
  }
}

TYPED_TEST(MergedRowsTest, EmptyColumnsAreDropped)
{
  Csr<double, TypeParam> A;
  HostCsr got;
  std::vector<int> kept;
  OK(upload(this->ex, make_csr(3, 6, {{{0, 1}, 2}, {{0, 4}, 3}, {{2, 1}, 4}, {{2, 5}, 5}}), A));
  OK(drop_empty_columns(this->ex, A, kept));
  EXPECT_EQ(kept, (std::vector<int>{1, 4, 5}));
  OK(download(this->ex, A, got));
  expect_equal(got, make_csr(3, 3, {{{0, 0}, 2}, {{0, 1}, 3}, {{2, 0}, 4}, {{2, 2}, 5}}));
  for (const int cols : {0, 4}) {
    OK(upload(this->ex, make_csr(3, cols, {}), A));
    OK(drop_empty_columns(this->ex, A, kept));
    EXPECT_TRUE(kept.empty());
    EXPECT_EQ(A.cols, 0);
  }
}

TYPED_TEST(MergedRowsTest, RowsWithEntriesFollowAnIdentity)
{
  Csr<double, TypeParam> A, S;
  HostCsr got;
  Array<int, TypeParam> choice;
  OK(upload(this->ex, make_csr(5, 3, {{{1, 0}, 2}, {{1, 2}, 3}, {{4, 1}, 4}}), A));
  const auto rows = this->to_space(std::vector<int>{1, 4});
  OK(identity_and_rows(this->ex, A.view(), rows, S));
  OK(download(this->ex, S, got));
  expect_equal(got, make_csr(2, 5, {{{0, 0}, 1}, {{0, 2}, 2}, {{0, 4}, 3}, {{1, 1}, 1}, {{1, 3}, 4}}));
  OK(choose_rows(this->ex, 5, rows, choice));
  EXPECT_EQ(this->to_host(choice), (std::vector<int>{0, -1, 2, 3, -2}));
  OK(upload(this->ex, make_csr(4, 0, {}), A));
  OK(identity_and_rows(this->ex, A.view(), Array<int, TypeParam>{}, S));
  OK(download(this->ex, S, got));
  expect_equal(got, make_csr(0, 0, {}));
}
} // namespace amgkit::test
