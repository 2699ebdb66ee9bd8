#include "support/sparse_products.hpp"

namespace amgkit::test
{
template <class Ex> using SpgemmBlocks = SpaceTest<Ex>;
TYPED_TEST_SUITE(SpgemmBlocks, Spaces, SpaceName);

namespace
{
struct Shape {
  int rows, inner, run;
  bool summed; // by blocks
};
const std::vector<Shape> shapes = {{2, 2, 2, true}, {2, 2, 3, true}, {3, 2, 3, true},  {3, 3, 3, true},  {3, 3, 6, true},
                                   {6, 3, 6, true}, {6, 6, 6, true}, {2, 3, 2, false}, {4, 4, 4, false}, {3, 3, 1, false}};
SpgemmOptions options_of(const Shape &shape) { return {.run = shape.run, .rows = shape.rows, .inner = shape.inner}; }

// Rows of C with numbers of blocks about all sizes of table, and in several windows; so few nodes that a team has one of their rows each,
// or with short ones behind so many that it has all of them, or of 6 rows half. B's rows have `least` blocks to two more: lanes take a
// column of all blocks where they have one on average, else a block.
Factors longer_than_tables(bool many, int least)
{
  const int n = 400;
  std::vector<int> lengths = {1, 0, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, n};
  if (many) lengths.resize(5000, 1);
  return {std::to_string(lengths.size()) + " lengths, " + std::to_string(least) + " blocks", rows_of_lengths(n, lengths),
          random_rows(n, n, 1, [=](int i) { return least + i % 3; })};
}
} // namespace

TYPED_TEST(SpgemmBlocks, BlocksGiveTheSameBits)
{
  for (const Shape &shape : shapes) {
    std::vector<Factors> products;
    for (Factors &in : small_products()) {
      if (count_products(in) <= 3000) products.push_back(in); // times up to 216
    }
    for (bool many : {false, true}) {
      for (int least : {0, 2}) {
        if (shape.rows + shape.run >= (many ? 6 : 9)) products.push_back(longer_than_tables(many, least));
      }
    }
    for (Factors &in : products) {
      in.name += ", " + std::to_string(shape.rows) + " x " + std::to_string(shape.inner) + " x " + std::to_string(shape.run);
      in.A = blown_up(in.A, shape.rows, shape.inner);
      in.B = blown_up(in.B, shape.inner, shape.run);
      check_product(this->ex, in, options_of(shape), shape.summed ? shape.rows : 1);
    }
  }
}

// One entry less, in either factor: the rows' patterns differ, or a block has a hole.
TYPED_TEST(SpgemmBlocks, BrokenBlocksAreSummedByRuns)
{
  const Shape shape = {3, 3, 3, true};
  const Factors whole = {"", blown_up(random_rows(20, 20, 1, 5), 3, 3), blown_up(random_rows(20, 20, 2, 5), 3, 3)};
  for (int at = 0; at < 60; at += 7) {
    for (bool right : {false, true}) {
      Factors in = whole;
      HostCsr &A = right ? in.B : in.A;
      const int entries = right ? 3 : 1; // B's runs stay whole
      const int k = at / entries * entries, row = static_cast<int>(std::upper_bound(A.ptr.begin(), A.ptr.end(), k) - A.ptr.begin()) - 1;
      A.col.erase(A.col.begin() + k, A.col.begin() + k + entries);
      A.val.erase(A.val.begin() + k, A.val.begin() + k + entries);
      for (int i = row + 1; i <= A.rows; i++) A.ptr[i] -= entries;
      in.name = std::to_string(k) + (right ? " right" : " left");
      check_product(this->ex, in, options_of(shape), 1);
    }
  }
  Factors shifted = whole; // blocks, but not aligned
  for (int &j : shifted.A.col) j++;
  shifted.A.cols += 3;
  shifted.B.rows += 3;
  for (int i = 0; i < 3; i++) shifted.B.ptr.push_back(shifted.B.ptr.back());
  check_product(this->ex, shifted, options_of(shape), 1);
}

TEST(SpgemmMemory, EveryAllocationMayFailWithBlocks)
{
  const Factors in = rows_for_all_tables();
  check_failing_allocations({in.name, blown_up(in.A, 2, 2), blown_up(in.B, 2, 2)}, {.run = 2, .rows = 2, .inner = 2});
}
} // namespace amgkit::test
