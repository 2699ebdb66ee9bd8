#include "dist/halo.hpp"

#include "support/petsc_problems.hpp"

namespace amgkit::test
{
template <class Ex> using HaloTest = SpaceTest<Ex>;
TYPED_TEST_SUITE(HaloTest, Spaces, SpaceName);

// Rank r owns r + 1 rows (rank 1 none) and needs every second row of the others.
TYPED_TEST(HaloTest, GhostsReceiveTheirOwnersValues)
{
  const int rank = rank_of_world(), size = size_of_world();
  std::vector<PetscInt> range(size + 1, 0), ghosts;
  for (int r = 0; r < size; r++) range[r + 1] = range[r] + (r == 1 ? 0 : r + 1);
  for (PetscInt g = 0; g < range[size]; g += 2) {
    if (g < range[rank] || g >= range[rank + 1]) ghosts.push_back(g);
  }
  const PetscInt rows = range[rank + 1] - range[rank];
  Halo<TypeParam> halo;
  OK(halo.create(PETSC_COMM_WORLD, range, ghosts));
  EXPECT_EQ(halo.active(), size > 1);

  std::vector<double> values(rows);
  std::vector<int> ids(rows);
  for (PetscInt i = 0; i < rows; i++) {
    values[i] = 0.5 * static_cast<double>(range[rank] + i);
    ids[i] = static_cast<int>(100 + range[rank] + i);
  }
  OK(halo.allocate(this->ex));
  const auto owned = this->to_space(values);
  const auto owned_ids = this->to_space(ids);
  for (int repeat = 0; repeat < 2; repeat++) {
    OK(halo.begin(this->ex, owned.data()));
    OK(halo.template end<double>());
  }
  if (halo.active()) {
    const auto got = this->to_host(halo.template ghost<double>(), static_cast<std::int64_t>(ghosts.size()));
    for (std::size_t k = 0; k < ghosts.size(); k++) EXPECT_EQ(got[k], 0.5 * static_cast<double>(ghosts[k]));
  }
  OK(halo.begin(this->ex, owned_ids.data()));
  OK(halo.template end<int>());
  if (halo.active()) {
    const auto got = this->to_host(halo.template ghost<int>(), static_cast<std::int64_t>(ghosts.size()));
    for (std::size_t k = 0; k < ghosts.size(); k++) EXPECT_EQ(got[k], 100 + ghosts[k]);
  }
}
} // namespace amgkit::test
