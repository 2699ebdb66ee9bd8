// Aggregation by maximum-weight matching: P of amgmatching.
#pragma once
#include "amg/level.hpp"
#include "amg/prolongation_matching_parameters.hpp"

namespace amgkit
{
// steps pairwise matchings on the rank's own block, composed: aggregates of about 2^steps rows, which never cross ranks.
// In the first step rows that are left single join a pair.
// Bernaschi, Celestini, D'Ambra, Vella 2023 (BootCMatchGX).
template <class Ex> std::unique_ptr<Prolongation<Ex>> make_matching_prolongation(const MatchingParameters &);
} // namespace amgkit
