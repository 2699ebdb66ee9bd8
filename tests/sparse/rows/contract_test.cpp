#include "sparse/rows/contract.hpp"

#include "support/gallery.hpp"
#include "support/spaces.hpp"

#include <cmath>
#include <map>
#include <random>

namespace amgkit::test
{
template <class Ex> using Contract = SpaceTest<Ex>;
TYPED_TEST_SUITE(Contract, Spaces, SpaceName);

namespace
{
// A random partition of n rows into aggregates of `size` on average, some of them large; some rows in none.
struct Partition {
  int coarse = 0;
  std::vector<int> id, ptr, member;
  std::vector<double> p;
};
Partition random_partition(int n, int size, unsigned seed)
{
  std::mt19937 random(seed);
  Partition out;
  out.coarse = n == 0 ? 0 : std::max(1, n / size);
  for (int i = 0; i < n; i++) {
    out.id.push_back(i < out.coarse ? i : i % 9 == 4 ? -1 : static_cast<int>(random() % out.coarse));
    out.p.push_back(0.5 + 0.1 * static_cast<double>(random() % 7));
  }
  out.ptr.assign(out.coarse + 1, 0);
  for (int c = 0; c < out.coarse; c++) {
    for (int i = 0; i < n; i++) {
      if (out.id[i] == c) out.member.push_back(i);
    }
    out.ptr[c + 1] = static_cast<int>(out.member.size());
  }
  return out;
}

// The definition, in the order contract() promises.
HostCsr reference(const HostCsr &A, const Partition &rows)
{
  std::map<std::pair<int, int>, double> entries;
  for (int c = 0; c < rows.coarse; c++) {
    for (int m = rows.ptr[c]; m < rows.ptr[c + 1]; m++) {
      const int i = rows.member[m];
      for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++)
        if (rows.id[A.col[k]] >= 0) entries[{c, rows.id[A.col[k]]}] += rows.p[i] * A.val[k] * rows.p[A.col[k]];
    }
  }
  return make_csr(rows.coarse, rows.coarse, entries);
}
} // namespace

TYPED_TEST(Contract, EqualsItsDefinitionBitForBit)
{
  for (const auto &[name, A] : gallery()) {
    for (int size : {2, 8, 40}) {
      const Partition rows = random_partition(A.rows, size, 11);
      const HostCsr expected = reference(A, rows);
      Csr<double, TypeParam> M, C;
      Array<unsigned char, TypeParam> slot;
      Aggregation<TypeParam> aggregation;
      OK(upload(this->ex, A, M));
      aggregation.fine = A.rows;
      aggregation.coarse = rows.coarse;
      aggregation.id = this->to_space(rows.id);
      aggregation.ptr = this->to_space(rows.ptr);
      aggregation.member = this->to_space(rows.member);
      auto p = this->to_space(rows.p);
      OK(contract(this->ex, M.view(), aggregation, p.data(), aggregation.id.data(), p.data(), rows.coarse, C, slot));
      HostCsr got;
      OK(download(this->ex, C, got));
      EXPECT_EQ(got.ptr, expected.ptr) << name << " by " << size;
      EXPECT_EQ(got.col, expected.col) << name << " by " << size;
      EXPECT_EQ(got.val, expected.val) << name << " by " << size;
      HostCsr changed = A; // new values on the same pattern
      for (std::size_t k = 0; k < changed.val.size(); k++) changed.val[k] *= 1 + 0.1 * static_cast<double>(k % 7);
      OK(upload(this->ex, changed, M));
      OK(contract_values(this->ex, M.view(), aggregation, p.data(), aggregation.id.data(), p.data(), slot, C));
      OK(download(this->ex, C, got));
      EXPECT_EQ(got.val, reference(changed, rows).val) << name << " by " << size;
      EXPECT_EQ(got.col, expected.col) << name << " by " << size;
    }
  }
}

TYPED_TEST(Contract, RestrictionIsTheTransposeOfProlongation)
{
  const int n = 500;
  const Partition rows = random_partition(n, 7, 3);
  Aggregation<TypeParam> aggregation;
  aggregation.fine = n;
  aggregation.coarse = rows.coarse;
  aggregation.id = this->to_space(rows.id);
  aggregation.ptr = this->to_space(rows.ptr);
  aggregation.member = this->to_space(rows.member);
  std::vector<double> r(n), e(rows.coarse);
  for (int i = 0; i < n; i++) r[i] = std::cos(i);
  for (int c = 0; c < rows.coarse; c++) e[c] = std::sin(c);
  auto p = this->to_space(rows.p), R = this->to_space(r), E = this->to_space(e), x = this->to_space(std::vector<double>(n, 1.0));
  auto b = this->to_space(std::vector<double>(rows.coarse, NAN)), step = this->to_space(std::vector<double>(rows.coarse, NAN));
  const FirstStep<double> first = {rows.coarse, 0.75, E.data(), nullptr, step.data()};
  OK(restrict_sum(this->ex, aggregation, p.data(), R.data(), b.data(), first));
  OK(prolongate_add(this->ex, aggregation, p.data(), E.data(), x.data()));
  const auto B = this->to_host(b), X = this->to_host(x);
  double left = 0, right = 0;
  for (int c = 0; c < rows.coarse; c++) left += B[c] * e[c];
  const auto stepped = this->to_host(step);
  for (int c = 0; c < rows.coarse; c++) EXPECT_EQ(stepped[c], 0.75 * e[c] * B[c]);
  for (int i = 0; i < n; i++) right += r[i] * (X[i] - 1);
  EXPECT_NEAR(left, right, 1e-12);
}
} // namespace amgkit::test
