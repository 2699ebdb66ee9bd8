#include "graph/aggregate.hpp"
#include "sparse/rows/contract.hpp"

#include "support/gallery.hpp"
#include "support/spaces.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

namespace amgkit::test
{
namespace
{
// A random partition of n rows into aggregates of `size` on average, some of them large; some rows in none.
struct Partition {
  int coarse = 0;
  std::vector<int> id, ptr, member;
  std::vector<double> p;
};
// With ptr and member that go with id
Partition arranged(Partition rows)
{
  rows.member.clear();
  rows.ptr.assign(rows.coarse + 1, 0);
  for (int c = 0; c < rows.coarse; c++) {
    for (std::size_t i = 0; i < rows.id.size(); i++) {
      if (rows.id[i] == c) rows.member.push_back(static_cast<int>(i));
    }
    rows.ptr[c + 1] = static_cast<int>(rows.member.size());
  }
  return rows;
}
Partition random_partition(int n, int size, unsigned seed)
{
  std::mt19937 random(seed);
  Partition out;
  out.coarse = n == 0 ? 0 : std::max(1, n / size);
  for (int i = 0; i < n; i++) {
    out.id.push_back(i < out.coarse ? i : i % 9 == 4 ? -1 : static_cast<int>(random() % out.coarse));
    out.p.push_back(0.5 + 0.1 * static_cast<double>(random() % 7));
  }
  return arranged(std::move(out));
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

template <class Ex> class Contract : public SpaceTest<Ex> {
protected:
  Aggregation<Ex> in_space(const Partition &rows)
  {
    Aggregation<Ex> out;
    out.fine = static_cast<int>(rows.id.size());
    out.coarse = rows.coarse;
    out.id = this->to_space(rows.id);
    out.ptr = this->to_space(rows.ptr);
    out.member = this->to_space(rows.member);
    return out;
  }
};
TYPED_TEST_SUITE(Contract, Spaces, SpaceName);

TYPED_TEST(Contract, EqualsItsDefinitionBitForBit)
{
  for (const auto &[name, A] : gallery()) {
    for (int size : {2, 8, 40}) {
      for (bool ones : {false, true}) {
        Partition rows = random_partition(A.rows, size, 11);
        if (ones) rows.p.assign(rows.p.size(), 1);
        const HostCsr expected = reference(A, rows);
        Csr<double, TypeParam> M, C;
        Array<unsigned char, TypeParam> slot;
        OK(upload(this->ex, A, M));
        const auto aggregation = this->in_space(rows);
        auto stored = this->to_space(rows.p);
        const double *p = ones ? nullptr : stored.data();
        OK(contract(this->ex, M.view(), aggregation, p, aggregation.id.data(), p, rows.coarse, C, slot));
        HostCsr got;
        OK(download(this->ex, C, got));
        EXPECT_EQ(got.ptr, expected.ptr) << name << " by " << size;
        EXPECT_EQ(got.col, expected.col) << name << " by " << size;
        EXPECT_EQ(got.val, expected.val) << name << " by " << size;
        HostCsr changed = A; // new values on the same pattern
        for (std::size_t k = 0; k < changed.val.size(); k++) changed.val[k] *= 1 + 0.1 * static_cast<double>(k % 7);
        OK(upload(this->ex, changed, M));
        OK(contract_values(this->ex, M.view(), aggregation, p, aggregation.id.data(), p, slot, C));
        OK(download(this->ex, C, got));
        EXPECT_EQ(got.val, reference(changed, rows).val) << name << " by " << size;
        EXPECT_EQ(got.col, expected.col) << name << " by " << size;
      }
    }
  }
}

// A to B, B to C: the pattern and the slots are those of A to C, unless rows are too long for slots.
TYPED_TEST(Contract, SlotsCompose)
{
  int composed = 0, too_long = 0;
  for (const auto &[name, A] : gallery()) {
    for (int size : {2, 8, 40}) {
      const Partition rows = random_partition(A.rows, size, 11);
      Partition further = random_partition(rows.coarse, 3, 5);
      std::replace(further.id.begin(), further.id.end(), -1, 0); // compose() wants a step that leaves nothing out
      Csr<double, TypeParam> M, B, C, direct;
      Array<unsigned char, TypeParam> slot, next, direct_slot;
      bool all_of_B, all_of_C;
      OK(upload(this->ex, A, M));
      auto total = this->in_space(rows);
      const auto step = this->in_space(arranged(further));
      OK(contract(this->ex, M.view(), total, nullptr, total.id.data(), nullptr, rows.coarse, B, slot, &all_of_B));
      OK(contract_pattern(this->ex, B.view(), step, step.id.data(), further.coarse, C, next, &all_of_C));
      const bool all = all_of_B && all_of_C;
      if (all) {
        OK(compose_slots(this->ex, M.view(), total.id.data(), B.ptr.data(), next.data(), slot.data()));
      }
      OK(compose(this->ex, step, nullptr, total, static_cast<double *>(nullptr)));
      OK(contract(this->ex, M.view(), total, nullptr, total.id.data(), nullptr, further.coarse, direct, direct_slot));
      HostCsr got, expected;
      OK(download(this->ex, direct, expected));
      OK(download(this->ex, C, got));
      EXPECT_EQ(got.ptr, expected.ptr) << name << " by " << size;
      EXPECT_EQ(got.col, expected.col) << name << " by " << size;
      (all ? composed : too_long)++;
      if (!all) continue;
      OK(contract_values(this->ex, M.view(), total, nullptr, total.id.data(), nullptr, slot, C));
      OK(download(this->ex, C, got));
      EXPECT_EQ(got.val, expected.val) << name << " by " << size;
    }
  }
  EXPECT_GT(composed, 0);
  EXPECT_GT(too_long, 0);
}

TYPED_TEST(Contract, RestrictionIsTheTransposeOfProlongation)
{
  const int n = 500;
  const Partition rows = random_partition(n, 7, 3);
  const auto aggregation = this->in_space(rows);
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
