// Which combinations of choices a test runs: all of them in a full run, in the gate so many that every pair of choices meets.
#pragma once
#include <vector>

namespace amgkit::test
{
// One choice of each kind, as its index
using Combination = std::vector<int>;

// All combinations of sizes[k] choices of kind k, the last kind varying fastest
std::vector<Combination> all_combinations(const std::vector<int> &sizes);
// A selection of them, the same in every run, in which any two choices of different kinds stand together at least once: few more than
// the product of the two largest sizes. Greedy, as in Cohen, Dalal, Fredman, Patton 1997.
std::vector<Combination> pairwise_combinations(const std::vector<int> &sizes);
// The former in a full run, the latter in the gate
std::vector<Combination> combinations(const std::vector<int> &sizes);
} // namespace amgkit::test
