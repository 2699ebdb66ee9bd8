// Rows of complete blocks on a plain host.
#include "sparse/formats/block_csr.hpp"
#include "sparse/formats/stored_matrix.hpp"
#include "support/block_matrices.hpp"
#include "support/spaces.hpp"
#include "support/vectors.hpp"

#include <algorithm>
#include <numeric>

namespace amgkit::test
{
namespace
{
struct Stored {
  Host ex;
  Csr<double, Host> A;
  StoredMatrix<Host> stored;

  Stored(const HostCsr &M, BlockForm block)
  {
    EXPECT_EQ(static_cast<int>(upload(ex, M, A)), 0);
    EXPECT_EQ(static_cast<int>(stored.create(ex, A.view(), Storage::in_single, block)), 0);
  }
};

template <class V> std::vector<V> vector_of(int n, double phase)
{
  const std::vector<double> x = wave(n, phase);
  return {x.begin(), x.end()};
}

// What stored gives, and what the compressed rows do, of each operation.
template <class V> void expect_equal_operations(Stored &by, double tolerance, const std::string &name)
{
  const int n = by.A.rows;
  const auto x = vector_of<V>(n, 0.3), b = vector_of<V>(n, 0.9), before = vector_of<V>(n, 1.7), d = vector_of<V>(n, 2.1);
  const std::vector<V> start = vector_of<V>(n, 0.5);
  const auto expect = [&](auto of_blocks, auto of_rows, const std::string &what) {
    std::vector<V> got = start, expected = start;
    OK(of_blocks(got.data()));
    OK(of_rows(expected.data()));
    expect_close(std::vector<double>(got.begin(), got.end()), std::vector<double>(expected.begin(), expected.end()), tolerance,
                 name + ", " + what);
  };
  const CsrView<double> A = by.A.view();
  expect([&](V *y) { return by.stored.multiply(by.ex, A, x.data(), y); }, [&](V *y) { return spmv(by.ex, A, x.data(), y); }, "product");
  expect([&](V *y) { return by.stored.add_product(by.ex, A, x.data(), y); }, [&](V *y) { return add_product(by.ex, A, x.data(), y); },
         "added");
  expect([&](V *y) { return by.stored.residual(by.ex, A, b.data(), x.data(), y); },
         [&](V *y) { return residual(by.ex, A, b.data(), x.data(), y); }, "residual");
  for (const RelaxStep step : {RelaxStep{0, 0.7}, RelaxStep{0.4, 0.7}}) {
    for (const V *previous : {static_cast<const V *>(nullptr), before.data()}) {
      expect([&](V *y) { return by.stored.relax(by.ex, A, d.data(), step, b.data(), x.data(), previous, y); },
             [&](V *y) { return relax(by.ex, A, d.data(), step, b.data(), x.data(), previous, y); }, "step");
    }
  }
}
} // namespace

TEST(BlockCsr, GivesWhatRowsGive)
{
  const HostCsr random = random_graph(70, 300, 5, false);
  for (int block : {2, 3, 6}) {
    for (const auto &[grid, nodes] : {Named{"one node", make_csr(1, 1, {{{0, 0}, 1}})},
                                      {"grid", grid7(6, 5, 4)},
                                      {"27-point", grid27(5)},
                                      {"random", random},
                                      {"empty rows", make_csr(9, 9, {{{2, 2}, 1}, {{2, 7}, 1}, {{8, 0}, 1}})}}) {
      Stored by(with_blocks(nodes, block, own_in_blocks), block);
      const std::string name = grid + ", " + std::to_string(block);
      EXPECT_STREQ(by.stored.description(), "block CSR, double") << name;
      expect_equal_operations<double>(by, 1e-12, name);
      expect_equal_operations<float>(by, 1e-4, name);
    }
  }
}

// As prolongators and their transposes have them.
TEST(BlockCsr, MayBeRectangular)
{
  const HostCsr nodes = random_graph(40, 160, 3, false);
  for (const auto &[rows, cols] : {std::pair{2, 3}, {3, 2}, {3, 6}, {6, 3}, {1, 3}}) {
    const std::string name = std::to_string(rows) + " x " + std::to_string(cols);
    Stored by(blown_up(nodes, rows, cols), BlockForm::rectangular(rows, cols));
    EXPECT_STREQ(by.stored.description(), "block CSR, double") << name;
    const auto e = wave(by.A.cols, 0.3), start = wave(by.A.rows, 1.1);
    std::vector<double> y = start, x = start, of_rows = start, added = start;
    OK(by.stored.multiply(by.ex, by.A.view(), e.data(), y.data()));
    OK(spmv(by.ex, by.A.view(), e.data(), of_rows.data()));
    expect_close(y, of_rows, 1e-12, name);
    OK(by.stored.add_product(by.ex, by.A.view(), e.data(), x.data()));
    OK(add_product(by.ex, by.A.view(), e.data(), added.data()));
    expect_close(x, added, 1e-12, name + ", added");
  }
}

// Sums are those of the product.
TEST(BlockCsr, SumsWithTheProduct)
{
  Stored by(with_blocks(grid7(5, 4, 3), 3, own_in_blocks), 3);
  const int n = by.A.rows;
  const auto x = vector_of<double>(n, 0.3), r = vector_of<double>(n, 1.1);
  std::vector<double> y(n), sums(2), work(2 * static_cast<std::size_t>(product_sum_parts_of(n)));
  OK(by.stored.multiply(by.ex, by.A.view(), x.data(), y.data(),
                        ProductSums<2, double>{false, r.data(), nullptr, work.data(), sums.data()}));
  EXPECT_NEAR(sums[0], std::inner_product(x.begin(), x.end(), y.begin(), 0.0), 1e-12 * n);
  EXPECT_NEAR(sums[1], std::inner_product(x.begin(), x.end(), r.begin(), 0.0), 1e-12 * n);
}

// Rows that lack an entry of a block, whose number is no multiple of it, or whose blocks have another size, stay as they are.
TEST(BlockCsr, IsForCompleteBlocksAlone)
{
  HostCsr holed = with_blocks(grid7(4, 4, 4), 3, [](int i, int offset, int r, int c) {
    return i == 40 && offset == 1 && r == 2 && c == 0 ? 0 : own_in_blocks(i, offset, r, c);
  });
  HostCsr moved = with_blocks(grid7(5, 1, 1), 2, own_in_blocks); // row 1 has its first block elsewhere
  for (int k : {moved.ptr[1], moved.ptr[1] + 1}) moved.col[k] += 4;
  std::rotate(moved.col.begin() + moved.ptr[1], moved.col.begin() + moved.ptr[1] + 2, moved.col.begin() + moved.ptr[2]);
  for (const auto &[A, block] : {std::pair{holed, 3},
                                 {moved, 2},
                                 {with_blocks(grid7(5, 1, 1), 2, own_in_blocks), 3},
                                 {grid7(4, 4, 4), 1},
                                 {grid7(4, 4, 4), 2},
                                 {with_blocks(grid7(4, 3, 2), 4, own_in_blocks), 4},
                                 {make_csr(6, 6, {}), 3}}) {
    Stored by(A, block);
    EXPECT_STREQ(by.stored.description(), "CSR, double") << A.rows << " " << block;
    EXPECT_EQ(by.stored.bytes(), 0);
    EXPECT_EQ(by.stored.bytes_read(by.A.view()), 12.0 * static_cast<double>(A.val.size()));
    if (A.rows > 0) expect_equal_operations<double>(by, 0, "rows");
  }
}

TEST(BlockCsr, ReadsAColumnABlock)
{
  const HostCsr nodes = grid27(4);
  for (int block : {2, 3, 6}) {
    Stored by(with_blocks(nodes, block, own_in_blocks), block);
    const auto blocks = static_cast<double>(nodes.val.size());
    EXPECT_EQ(by.stored.bytes_read(by.A.view()), blocks * (8 * block * block + 4) + 4 * (nodes.rows + 1)) << block;
  }
}
} // namespace amgkit::test
