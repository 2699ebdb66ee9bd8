#include "dist/halo.hpp"

#include "support/petsc_problems.hpp"

namespace amgkit::test
{
template <class Ex> using HaloTest = SpaceTest<Ex>;
TYPED_TEST_SUITE(HaloTest, Spaces, SpaceName);

namespace
{
// Rank r owns r + 1 rows (rank 1 none) and needs every second row of the others.
struct Partition {
  std::vector<PetscInt> range, ghosts;
  PetscInt first, rows;

  Partition() : range(size_of_world() + 1, 0)
  {
    const int rank = rank_of_world(), size = size_of_world();
    for (int r = 0; r < size; r++) range[r + 1] = range[r] + (r == 1 ? 0 : r + 1);
    first = range[rank];
    rows = range[rank + 1] - first;
    for (PetscInt g = 0; g < range[size]; g += 2) {
      if (g < first || g >= first + rows) ghosts.push_back(g);
    }
  }
};
} // namespace

TYPED_TEST(HaloTest, GhostsReceiveTheirOwnersValues)
{
  const Partition partition;
  const auto &[range, ghosts, first, rows] = partition;
  Halo<TypeParam> halo;
  OK(halo.create(PETSC_COMM_WORLD, range, ghosts));
  EXPECT_EQ(halo.active(), size_of_world() > 1);

  std::vector<double> values(rows);
  std::vector<int> ids(rows);
  std::vector<std::uint64_t> words(rows);
  for (PetscInt i = 0; i < rows; i++) {
    values[i] = 0.5 * static_cast<double>(first + i);
    ids[i] = static_cast<int>(100 + first + i);
    words[i] = ~static_cast<std::uint64_t>(first + i);
  }
  OK(halo.allocate(this->ex));
  const auto owned = this->to_space(values);
  const auto owned_ids = this->to_space(ids);
  for (int repeat = 0; repeat < 2; repeat++) {
    OK(halo.exchange(this->ex, owned.data()));
  }
  if (halo.active()) {
    const auto got = this->to_host(halo.template ghost<double>(), static_cast<std::int64_t>(ghosts.size()));
    for (std::size_t k = 0; k < ghosts.size(); k++) EXPECT_EQ(got[k], 0.5 * static_cast<double>(ghosts[k]));
  }
  OK(halo.exchange(this->ex, owned_ids.data()));
  if (halo.active()) {
    const auto got = this->to_host(halo.template ghost<int>(), static_cast<std::int64_t>(ghosts.size()));
    for (std::size_t k = 0; k < ghosts.size(); k++) EXPECT_EQ(got[k], 100 + ghosts[k]);
  }
  const auto owned_words = this->to_space(words);
  OK(halo.exchange(this->ex, owned_words.data()));
  if (halo.active()) {
    const auto got = this->to_host(halo.template ghost<std::uint64_t>(), static_cast<std::int64_t>(ghosts.size()));
    for (std::size_t k = 0; k < ghosts.size(); k++) EXPECT_EQ(got[k], ~static_cast<std::uint64_t>(ghosts[k]));
  }
}

// The rows that are sent, in an array of their own, each as often as it is sent.
TYPED_TEST(HaloTest, SendsFromOtherPlaces)
{
  const Partition partition;
  const auto &[range, ghosts, first, rows] = partition;
  Halo<TypeParam> halo;
  OK(halo.create(PETSC_COMM_WORLD, range, ghosts));
  OK(halo.allocate(this->ex));
  const auto sent = this->to_host(halo.sent_rows());
  const auto n = static_cast<int>(sent.size());
  std::vector<int> places;
  std::vector<double> kept(sent.size());
  for (int k = 0; k < n; k++) {
    places.push_back(n - 1 - k);
    kept[n - 1 - k] = 0.5 * static_cast<double>(first + sent[k]);
  }
  const auto place = this->to_space(places);
  const auto owned = this->to_space(kept);
  HaloExchange<TypeParam> exchange(halo);
  OK(exchange.begin(this->ex, place.data(), owned.data()));
  OK(exchange.end());
  if (!halo.active()) return;
  const auto got = this->to_host(halo.template ghost<double>(), static_cast<std::int64_t>(ghosts.size()));
  for (std::size_t k = 0; k < ghosts.size(); k++) EXPECT_EQ(got[k], 0.5 * static_cast<double>(ghosts[k]));
}

// What the ranks return of a row arrives at its owner, once from each rank that has it as a ghost.
TYPED_TEST(HaloTest, OwnersReceiveWhatTheirGhostsReturn)
{
  const Partition partition;
  const auto &[range, ghosts, first, rows] = partition;
  const int rank = rank_of_world(), size = size_of_world();
  Halo<TypeParam> halo;
  OK(halo.create(PETSC_COMM_WORLD, range, ghosts));
  OK(halo.allocate(this->ex));
  if (!halo.active()) return;
  const auto sent = this->to_host(halo.sent_rows());
  const auto returns = [&](auto of_rank) {
    using T = decltype(of_rank);
    std::vector<T> back, sums(rows, 0), expected(rows, 0);
    for (const PetscInt g : ghosts) back.push_back(static_cast<T>(g + 1) * (of_rank + 1));
    OK(memory_from_host(this->ex, halo.template to_return<T>(), back.data(), back.size() * sizeof(T)));
    OK(halo.template exchange_back<T>());
    const auto got = this->to_host(halo.template returned<T>(), static_cast<std::int64_t>(sent.size()));
    for (std::size_t k = 0; k < sent.size(); k++) sums[sent[k]] += got[k];
    for (PetscInt i = 0; i < rows; i++) {
      for (int r = 0; r < size; r++) expected[i] += r != rank && (first + i) % 2 == 0 ? static_cast<T>(first + i + 1) * (T(r) + 1) : T(0);
    }
    EXPECT_EQ(sums, expected);
  };
  returns(static_cast<double>(rank));
  returns(static_cast<float>(rank));
  returns(rank);
}
} // namespace amgkit::test
