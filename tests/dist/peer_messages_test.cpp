#include "dist/peer_messages.hpp"

#include "dist/global_sum.hpp"
#include "sparse/formats/spmv.hpp"
#include "support/peers_test.hpp"

namespace amgkit::test
{
namespace
{
template <class Ex> class PeerMessagesTest : public PeersTest<Ex> {
protected:
  bool expected() const { return Ex::on_device && size_of_world() > 1; }
};
TYPED_TEST_SUITE(PeerMessagesTest, Spaces, SpaceName);

// How many values rank `from` gives rank `to`: none to some of them, and not the same as it gets. Large ones take several thread blocks.
int count(int from, int to) { return from == to || (from + 2 * to) % 5 == 0 ? 0 : 1 + 37 * from + 1500 * to; }

struct Pattern {
  std::vector<int> given_at = {0}, got_at = {0};

  Pattern()
  {
    for (int r = 0; r < size_of_world(); r++) {
      given_at.push_back(given_at.back() + count(rank_of_world(), r));
      got_at.push_back(got_at.back() + count(r, rank_of_world()));
    }
  }
};

template <class T> T value(int from, int to, int k, int round) { return static_cast<T>(100000 * from + 10000 * to + k + 7 * round); }
} // namespace

// Each way and for entries of 4 and 8 bytes, again and again: a box is overwritten by the second exchange after its own.
TYPED_TEST(PeerMessagesTest, EachValueComesToItsPlace)
{
  const Pattern pattern;
  const auto &[given_at, got_at] = pattern;
  const int me = rank_of_world(), size = size_of_world();
  PeerMessages<TypeParam> messages;
  OK(messages.create(this->ex, this->comm, given_at, got_at));
  ASSERT_EQ(messages.ready(), this->expected());
  if (!messages.ready()) return;

  const auto exchange = [&](auto zero, int round, bool back) {
    using T = decltype(zero);
    const std::vector<int> &from_at = back ? got_at : given_at, &to_at = back ? given_at : got_at;
    std::vector<T> from(static_cast<std::size_t>(from_at.back())), to(static_cast<std::size_t>(to_at.back()));
    std::vector<int> place(from.size());
    for (int r = 0; r < size; r++) {
      for (int k = from_at[r]; k < from_at[r + 1]; k++) {
        place[k] = static_cast<int>(from.size()) - 1 - k;
        from[place[k]] = value<T>(me, r, k - from_at[r], round);
      }
      for (int k = to_at[r]; k < to_at[r + 1]; k++) to[k] = value<T>(r, me, k - to_at[r], round);
    }
    const auto source = this->to_space(from);
    const auto places = this->to_space(place);
    auto got = this->to_space(std::vector<T>(to.size()));
    OK(messages.send(this->ex, sizeof(T), places.data(), source.data(), back));
    OK(messages.receive(this->ex, sizeof(T), got.data(), back));
    EXPECT_EQ(this->to_host(got), to) << "round " << round << (back ? ", back" : "");
  };
  for (int round = 0; round < 5; round++) {
    exchange(0.0, round, false);
    exchange(0.0F, round, false);
    exchange(0, round, round % 2 == 0);
    exchange(std::uint64_t{0}, round, true);
  }
}

// What has come is sent on at once, larger by 1, and no host waits in between: a value that came too late, or that was overwritten too
// early, would be smaller in the end. Enough values for as many thread blocks as send at most.
TYPED_TEST(PeerMessagesTest, ValuesGoRoundWithoutAWait)
{
  constexpr int n = 20000, rounds = 50;
  const int me = rank_of_world(), size = size_of_world(), next = (me + 1) % size, before = (me + size - 1) % size;
  std::vector<int> given_at = {0}, got_at = {0};
  for (int r = 0; r < size; r++) {
    given_at.push_back(given_at.back() + (r == next ? n : 0));
    got_at.push_back(got_at.back() + (r == before ? n : 0));
  }
  PeerMessages<TypeParam> messages;
  OK(messages.create(this->ex, this->comm, given_at, got_at));
  ASSERT_EQ(messages.ready(), this->expected());
  if (!messages.ready()) return;

  const auto from_rank = [&](int r, int added) {
    std::vector<double> x(n);
    for (int k = 0; k < n; k++) x[k] = value<double>(r, 0, k, 0) + added;
    return x;
  };
  auto x = this->to_space(from_rank(me, 0));
  const auto ones = this->to_space(std::vector<double>(n, 1.0));
  for (int round = 0; round < rounds; round++) {
    OK(messages.send(this->ex, sizeof(double), nullptr, x.data(), false));
    OK(messages.receive(this->ex, sizeof(double), x.data(), false));
    OK(add(this->ex, n, ones.data(), x.data()));
  }
  EXPECT_EQ(this->to_host(x), from_rank((me + rounds * (size - 1)) % size, rounds));
}

// What is given back serves the next ones, and what does not fit is never ready: then all go without.
TYPED_TEST(PeerMessagesTest, MemoryIsGivenBack)
{
  constexpr int quarter = 1 << 20; // of values: two boxes each way take half of the memory
  const std::size_t ranks = static_cast<std::size_t>(size_of_world());
  if (ranks < 2) GTEST_SKIP() << "one rank has no neighbour";
  const auto pattern = [&](int most) { // rank 0 gives, rank 1 gets
    Pattern of;
    for (std::size_t r = 0; r <= ranks; r++) {
      of.given_at[r] = rank_of_world() == 0 && r > 1 ? most : 0;
      of.got_at[r] = rank_of_world() == 1 && r > 0 ? most : 0;
    }
    return of;
  };
  const Pattern half = pattern(2 * quarter), too_much = pattern(8 * quarter);
  for (int repeat = 0; repeat < 3; repeat++) {
    PeerMessages<TypeParam> messages;
    OK(messages.create(this->ex, this->comm, half.given_at, half.got_at));
    EXPECT_EQ(messages.ready(), this->expected());
  }
  PeerMessages<TypeParam> messages;
  OK(messages.create(this->ex, this->comm, too_much.given_at, too_much.got_at));
  EXPECT_FALSE(messages.ready());
}

// In the order of the ranks, so that all have the same bits.
TYPED_TEST(PeerMessagesTest, SumsAreThoseOfTheRanksInTheirOrder)
{
  for (int n : {1, 5, most_peer_sums, most_peer_sums + 1}) {
    for (int round = 0; round < 4; round++) {
      std::vector<double> mine(n), sums(n, 0.0);
      for (int k = 0; k < n; k++) {
        mine[k] = 1.0 / (3 + k + rank_of_world() + round);
        for (int r = 0; r < size_of_world(); r++) sums[k] += 1.0 / (3 + k + r + round);
      }
      auto x = this->to_space(mine);
      OK(sum_over_ranks(this->ex, this->comm, n, x.data()));
      const auto got = this->to_host(x);
      for (int k = 0; k < n; k++) {
        if (this->expected() && n <= most_peer_sums)
          EXPECT_EQ(got[k], sums[k]);
        else
          EXPECT_NEAR(got[k], sums[k], 1e-15 * sums[k]);
      }
    }
  }
}
} // namespace amgkit::test
