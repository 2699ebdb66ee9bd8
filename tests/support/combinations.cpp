#include "support/combinations.hpp"

#include "support/spaces.hpp"

#include <set>
#include <tuple>

namespace amgkit::test
{
namespace
{
// Choice a of kind i beside choice b of kind j, i < j
using Pair = std::tuple<int, int, int, int>;

Pair ordered(int i, int a, int j, int b) { return i < j ? Pair{i, a, j, b} : Pair{j, b, i, a}; }

constexpr int open_choice = -1;

// How many pairs that have not met choice a of kind i makes with what is chosen
int gain(const std::set<Pair> &missing, const Combination &chosen, int i, int a)
{
  int count = 0;
  for (int j = 0; j < static_cast<int>(chosen.size()); j++) {
    if (j != i && chosen[j] != open_choice) count += static_cast<int>(missing.count(ordered(i, a, j, chosen[j])));
  }
  return count;
}

// Begins with a pair that has not met; each other kind takes the choice that brings most others together. Ties go round, by the number of
// the combination, so that no choice is the usual one.
Combination next_combination(const std::set<Pair> &missing, const std::vector<int> &sizes, int number)
{
  Combination chosen(sizes.size(), open_choice);
  const auto [i, a, j, b] = *missing.begin();
  chosen[i] = a;
  chosen[j] = b;
  for (int k = 0; k < static_cast<int>(sizes.size()); k++) {
    if (chosen[k] != open_choice) continue;
    int best = number % sizes[k];
    for (int c = 0; c < sizes[k]; c++) {
      if (gain(missing, chosen, k, c) > gain(missing, chosen, k, best)) best = c;
    }
    chosen[k] = best;
  }
  return chosen;
}
} // namespace

std::vector<Combination> all_combinations(const std::vector<int> &sizes)
{
  std::vector<Combination> all = {{}};
  for (const int size : sizes) {
    std::vector<Combination> longer;
    for (const Combination &begun : all) {
      for (int c = 0; c < size; c++) {
        longer.push_back(begun);
        longer.back().push_back(c);
      }
    }
    all = std::move(longer);
  }
  return all;
}

std::vector<Combination> pairwise_combinations(const std::vector<int> &sizes)
{
  const auto kinds = static_cast<int>(sizes.size());
  if (kinds < 2) return all_combinations(sizes);
  std::set<Pair> missing;
  std::vector<Combination> selection;
  for (int i = 0; i < kinds; i++) {
    for (int j = i + 1; j < kinds; j++) {
      for (int a = 0; a < sizes[i]; a++) {
        for (int b = 0; b < sizes[j]; b++) missing.insert({i, a, j, b});
      }
    }
  }
  while (!missing.empty()) {
    const Combination next = next_combination(missing, sizes, static_cast<int>(selection.size()));
    for (int i = 0; i < kinds; i++) {
      for (int j = i + 1; j < kinds; j++) missing.erase({i, next[i], j, next[j]});
    }
    selection.push_back(next);
  }
  return selection;
}

std::vector<Combination> combinations(const std::vector<int> &sizes)
{
  return full_run() ? all_combinations(sizes) : pairwise_combinations(sizes);
}
} // namespace amgkit::test
