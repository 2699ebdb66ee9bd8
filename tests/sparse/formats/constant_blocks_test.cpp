// Nodes whose blocks are the same.
#include "sparse/formats/stored_matrix.hpp"
#include "support/block_matrices.hpp"
#include "support/sell_checks.hpp"

#include <random>

namespace amgkit::test
{
template <class Ex> using ConstantBlocks = SpaceTest<Ex>;
TYPED_TEST_SUITE(ConstantBlocks, Spaces, SpaceName);

// One entry of the blocks beside the diagonal is not stored.
double holed(int i, int offset, int r, int c) { return offset != 0 && r == 1 && c == 0 ? 0 : same_in_blocks(i, offset, r, c); }
// The same in so many nodes in turn
BlockEntry in_turn(int values)
{
  return [=](int i, int offset, int r, int c) { return same_in_blocks(i, offset, r, c) + (offset == 0 ? i % values : 0); };
}

struct BlockMatrix {
  std::string name;
  HostCsr A;
  int block;
};
std::vector<BlockMatrix> alike_blocks()
{
  std::vector<BlockMatrix> matrices;
  const std::vector<Named> grids = {{"one node", make_csr(1, 1, {{{0, 0}, 1}})},
                                    {"33 nodes", grid7(33, 1, 1)},
                                    {"64 nodes", grid7(64, 1, 1)},
                                    {"65 nodes", grid7(65, 1, 1)},
                                    {"grid of 60", grid7(60, 5, 4)},
                                    {"27-point", grid27(6)}};
  for (const auto &[grid, nodes] : grids) {
    for (int block : {2, 3, 6}) {
      const std::string name = grid + ", " + std::to_string(block);
      matrices.push_back({name + ", same", with_blocks(nodes, block, same_in_blocks), block});
      matrices.push_back({name + ", own", with_blocks(nodes, block, own_in_blocks), block});
      matrices.push_back({name + ", holed", with_blocks(nodes, block, holed), block});
      for (int values : {2, 4, 11, 40}) matrices.push_back({name + ", in turn", with_blocks(nodes, block, in_turn(values)), block});
      matrices.push_back({name + ", half",
                          with_blocks(nodes, block,
                                      [&](int i, int offset, int r, int c) {
                                        return i < nodes.rows / 2 ? same_in_blocks(i, offset, r, c) : own_in_blocks(i, offset, r, c);
                                      }),
                          block});
    }
  }
  return matrices;
}

TYPED_TEST(ConstantBlocks, KeepBitsAndTakeTheFewestBytes)
{
  Positions count, all;
  for (const auto &[name, A, block] : alike_blocks()) {
    check_bits_and_bytes<BlockSell, double>(this->ex, A, block, name, &count);
    count = {};
    check_bits_and_bytes<BlockSell, float>(this->ex, A, block, name, &count);
    all.plain += count.plain;
    all.constant += count.constant;
  }
  EXPECT_GT(all.plain, 0);
  EXPECT_GT(all.constant, 0);
}

TYPED_TEST(ConstantBlocks, EqualCompressedRows)
{
  int in_double = 0, in_single = 0, all_single = 0, all = 0;
  for (const auto &[name, A, block] : alike_blocks()) {
    check_products<BlockSell, double, double>(this->ex, A, block, 1e-12, name, &in_double);
    check_products<BlockSell, float, double>(this->ex, A, block, 1e-6 * 200, name, &in_single);
    check_products<BlockSell, float, float>(this->ex, A, block, 1e-6 * 400, name, &all_single);
    all++;
  }
  EXPECT_GE(in_double, all - 6); // holes of blocks of 2 are a quarter of them
  EXPECT_EQ(in_single, in_double);
  EXPECT_EQ(all_single, in_double);
}

// Material that is the same everywhere gives constant slices; other ones do not.
TYPED_TEST(ConstantBlocks, AreThoseOfGrids)
{
  if (!TypeParam::sliced_rows) GTEST_SKIP() << "compressed rows";
  const HostCsr nodes = grid27(12);
  const auto expect = [&](const std::string &form, const BlockEntry &entry, bool own_entries) {
    for (int block : {2, 3, 6}) {
      for (const Storage storage : {Storage::in_single, Storage::in_double}) {
        const bool single = storage == Storage::in_single;
        Csr<double, TypeParam> M;
        StoredMatrix<TypeParam> stored;
        OK(upload(this->ex, with_blocks(nodes, block, entry), M));
        OK(stored.create(this->ex, M.view(), storage, block));
        EXPECT_EQ(stored.description(), form + (single ? ", single" : ", double"));
        EXPECT_EQ(stored.has_own_entries(), own_entries || !single) << form;
      }
    }
  };
  expect("constant block SELL", same_in_blocks, true);
  expect("block SELL", own_in_blocks, false);
  expect(
      "partly constant block SELL",
      [](int i, int offset, int r, int c) { return i < 900 ? same_in_blocks(i, offset, r, c) : own_in_blocks(i, offset, r, c); }, false);
}

// A slice is a line of 64 nodes with at most 7 blocks; its list has `values` on the diagonal and 6 beside it. A last slice of other blocks
// is plain, and then the lists of the others may have 14 elements, in place of 56.
TYPED_TEST(ConstantBlocks, HaveLongListsOnlyWhereAllSlicesAreConstant)
{
  if (!TypeParam::sliced_rows) GTEST_SKIP() << "compressed rows";
  const HostCsr nodes = grid7(64, 4, 4);
  const auto expect = [&](int values, bool all, const char *form) {
    const BlockEntry repeated = in_turn(values);
    const int first_plain = all ? nodes.rows : nodes.rows - 64;
    const auto entry = [&](int i, int offset, int r, int c) {
      return i < first_plain ? repeated(i, offset, r, c) : own_in_blocks(i, offset, r, c);
    };
    Csr<double, TypeParam> M;
    StoredMatrix<TypeParam> stored;
    OK(upload(this->ex, with_blocks(nodes, 3, entry), M));
    OK(stored.create(this->ex, M.view(), Storage::in_single, 3));
    EXPECT_STREQ(stored.description(), form) << values;
  };
  expect(4, true, "constant block SELL, single");
  expect(20, true, "constant block SELL, single");
  expect(4, false, "partly constant block SELL, single");
  expect(20, false, "block SELL, single");
}

// In double precision, whatever precision the cycle has.
TYPED_TEST(ConstantBlocks, HaveTheMatrixsOwnEntries)
{
  if (!TypeParam::sliced_rows) GTEST_SKIP() << "compressed rows";
  for (int block : {2, 3, 6}) {
    for (const auto &entry : {BlockEntry(same_in_blocks), in_turn(2)}) {
      const HostCsr A = with_blocks(grid27(8), block, entry);
      const auto x = wave(A.rows, 0.7);
      Csr<double, TypeParam> M;
      StoredMatrix<TypeParam> stored;
      auto X = this->to_space(x), Y = this->to_space(std::vector<double>(x.size(), NAN));
      OK(upload(this->ex, A, M));
      OK(stored.create(this->ex, M.view(), Storage::in_single, block));
      ASSERT_TRUE(stored.has_own_entries());
      OK(stored.multiply_exactly(this->ex, X.data(), Y.data()));
      expect_products(this->to_host(Y), product<double>(A, x));
      OK(stored.multiply(this->ex, M.view(), X.data(), Y.data()));
      expect_products(this->to_host(Y), product<float>(A, x));
    }
  }
}

// Constant slices may become uneven, and constant again, may ask for another precision, and may hold what is no number.
TYPED_TEST(ConstantBlocks, TakeNewValues)
{
  constexpr int block = 3;
  const HostCsr nodes = grid7(70, 4, 3);
  HostCsr A = with_blocks(nodes, block, same_in_blocks);
  const std::vector<double> constant = A.val, uneven = with_blocks(nodes, block, own_in_blocks).val;
  std::vector<double> one = constant, tiny = constant, infinite = constant;
  one[1234] += 1e-9; // not seen in single precision
  infinite[1234] = INFINITY;
  for (double &v : tiny) v *= 1e-300;
  const auto x = wave(A.rows, 0.7);
  auto X = this->to_space(x), Y = this->to_space(std::vector<double>(x.size(), NAN));
  for (const Storage storage : {Storage::in_single, Storage::in_double}) {
    StoredMatrix<TypeParam> stored;
    bool first = true;
    for (const std::vector<double> *values : std::vector<const std::vector<double> *>{&constant, &one, &constant, &uneven, &infinite, &one,
                                                                                      &tiny, &constant, &infinite, &uneven}) {
      A.val = *values;
      Csr<double, TypeParam> M;
      OK(upload(this->ex, A, M));
      OK(first ? stored.create(this->ex, M.view(), storage, block) : stored.refresh(this->ex, M.view(), storage));
      first = false;
      OK(stored.multiply(this->ex, M.view(), X.data(), Y.data()));
      const bool single = storage == Storage::in_single && values != &tiny && values != &infinite;
      EXPECT_EQ(stored.single(), TypeParam::sliced_rows && single);
      expect_products(this->to_host(Y), stored.single() ? product<float>(A, x) : product<double>(A, x));
      if (!stored.has_own_entries()) continue;
      OK(stored.multiply_exactly(this->ex, X.data(), Y.data()));
      expect_products(this->to_host(Y), product<double>(A, x));
    }
  }
}

// A node does not see the nodes it has no block for, be they no numbers.
TYPED_TEST(ConstantBlocks, DoNotReadBesidesTheirBlocks)
{
  constexpr int block = 3, n = 300, bad = 100;
  const HostCsr nodes = from_columns(n, [](int i) { return i % 3 == 0 ? std::vector{i} : std::vector{i - 40, i - 1, i, i + 1, i + 40}; });
  const HostCsr A = with_blocks(nodes, block, same_in_blocks);
  auto x = wave(n * block, 0.7);
  for (int c = 0; c < block; c++) x[block * bad + c] = NAN;
  for (const Storage storage : {Storage::in_single, Storage::in_double}) {
    Csr<double, TypeParam> M;
    StoredMatrix<TypeParam> stored;
    auto X = this->to_space(x), Y = this->to_space(std::vector<double>(x.size(), 0.5));
    OK(upload(this->ex, A, M));
    OK(stored.create(this->ex, M.view(), storage, block));
    OK(stored.multiply(this->ex, M.view(), X.data(), Y.data()));
    const auto got = this->to_host(Y), expected = product<double>(A, x);
    for (int i = 0; i < n * block; i++) EXPECT_EQ(std::isfinite(got[i]), std::isfinite(expected[i])) << i;
  }
}

TEST(ConstantBlocksMemory, EveryAllocationMayFail)
{
  Debug ex;
  Csr<double, Debug> M;
  StoredMatrix<Debug> stored;
  OK(upload(ex,
            with_blocks(
                grid7(60, 3, 3), 3,
                [](int i, int offset, int r, int c) { return i < 200 ? same_in_blocks(i, offset, r, c) : own_in_blocks(i, offset, r, c); }),
            M));
  EXPECT_EQ(failing_allocations(ex, [&] { return stored.create(ex, M.view(), Storage::in_single, 3); }), 23);
  EXPECT_STREQ(stored.description(), "partly constant block SELL, single");
}
} // namespace amgkit::test
