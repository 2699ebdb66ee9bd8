#include "amg/view.hpp"

#include <array>
#include <cstdio>
#include <string>

namespace amgkit
{
namespace
{
template <class Ex> std::string why_numbering(const Hierarchy<Ex> &hierarchy)
{
  const Numbering &numbering = hierarchy.numbering;
  const auto ranks = static_cast<int>(hierarchy.levels.front()->A.range.size()) - 1;
  const char *what = hierarchy.levels.front()->block_size > 1 ? "blocks" : "entries";
  std::array<char, 200> text;
  std::array<char, 48> where{};
  if (ranks > 1) std::snprintf(where.data(), where.size(), " on %d of %d processes", numbering.taken, ranks);
  if (numbering.taken > 0)
    std::snprintf(text.data(), text.size(),
                  "rows are renumbered inside%s: %.2f of a row's %s are far from others, in the matrix's own order %.2f", where.data(),
                  numbering.own, what, numbering.given);
  else
    std::snprintf(text.data(), text.size(), "rows are in the matrix's order: %.2f of a row's %s are far from others", numbering.given,
                  what);
  return text.data();
}

// How level l came about, where it is not as the options say: on this many processes, by this concession.
std::string why_coarse(std::size_t l, const LevelStatistics &finer, int processes, const char *how)
{
  std::string why = "level " + std::to_string(l);
  if (finer.active_ranks > 1) why += ", on " + std::to_string(processes) + " of " + std::to_string(finer.active_ranks) + " processes";
  return why + ": " + how + "; otherwise too many rows would be left";
}

template <class Ex> std::string why_kcycle_levels(const Cycle<Ex> &cycle, std::size_t levels_in_all)
{
  const PetscInt levels = cycle.kcycle_levels();
  std::string tests;

  for (std::size_t l = 1; l < cycle.kcycle_tests().size() && l + 1 < levels_in_all; l++) {
    std::array<char, 64> test;
    const char *how = l == 1 && levels_in_all > 3 ? " (extrapolated)" : "";
    std::snprintf(test.data(), test.size(), "%s %.2f on level %zu%s", l == 1 ? "" : ",", cycle.kcycle_tests()[l], l, how);
    tests += test.data();
  }
  const std::string visits = levels > 0 ? "w-, f- and k-cycles act on " + std::to_string(levels) + (levels > 1 ? " levels" : " level")
                                        : "cycle_type auto is a v-cycle";
  std::string why = visits + " by choice: a v-cycle reduces a residual by the factor" + tests;
  if (const double share = cycle.trial().share(); share > 0) {
    std::array<char, 96> text;
    std::snprintf(text.data(), text.size(), "; in a slow solve, a step with a v-cycle removed %.2f times as much as one with a k-cycle",
                  share);
    why += text.data();
  }
  if (cycle.trial().steady()) why += "; in a very slow solve, a w-cycle took the place of the k-cycle";
  return why;
}
} // namespace

template <class Ex> PetscErrorCode view_hierarchy(const Hierarchy<Ex> &hierarchy, const Cycle<Ex> &cycle, PetscViewer viewer)
{
  const auto &statistics = hierarchy.statistics;
  double rows = 0, entries = 0, bytes = static_cast<double>(hierarchy.bytes() + cycle.bytes());

  PetscFunctionBegin;
  if (statistics.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  const LevelStatistics &fine = statistics.front();
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_DOUBLE, MPI_SUM, hierarchy.comm()));
  PetscCall(PetscViewerASCIIPrintf(viewer, "level         rows       nonzeros  nnz/row  ranks  storage\n"));
  for (std::size_t l = 0; l < statistics.size(); l++) {
    const LevelStatistics &s = statistics[l];
    const Level<Ex> *level = l < hierarchy.levels.size() ? hierarchy.levels[l].get() : nullptr;
    PetscCall(PetscViewerASCIIPrintf(viewer, "%5d %12" PetscInt_FMT " %14.0f %8.1f %6d  %s%s\n", static_cast<int>(l), s.rows, s.entries,
                                     s.rows > 0 ? s.entries / static_cast<double>(s.rows) : 0, s.active_ranks,
                                     level ? level->A.stored.description() : "",
                                     level && level->smoother.sweeps_in_single() ? ", single in sweeps" : ""));
    rows += static_cast<double>(s.rows);
    entries += s.entries;
  }
  if (hierarchy.numbering.measured > 0) PetscCall(PetscViewerASCIIPrintf(viewer, "%s\n", why_numbering(hierarchy).c_str()));
  for (std::size_t l = 1; l < statistics.size(); l++) {
    const LevelStatistics &finer = statistics[l - 1];
    for (const auto &[processes, how] :
         {std::pair{finer.single_rows, "single rows were matched by positive couplings, or because they share a neighbour"},
          {finer.any_coupling, "rows were matched by any coupling, whatever its sign and bound"}}) {
      if (processes > 0) PetscCall(PetscViewerASCIIPrintf(viewer, "%s\n", why_coarse(l, finer, processes, how).c_str()));
    }
  }
  for (std::size_t l = 0; l < statistics.size() && l < hierarchy.levels.size(); l++) {
    if (statistics[l].without_blocks > 0)
      PetscCall(PetscViewerASCIIPrintf(
          viewer, "level %d: not all entries of its blocks of %d are stored on %d of the ranks, whose products are slower\n",
          static_cast<int>(l), statistics[l].block_size, statistics[l].without_blocks));
  }
  for (const auto &level : hierarchy.levels) {
    if (const std::string remark = level->transfer ? level->transfer->remark() : ""; !remark.empty())
      PetscCall(PetscViewerASCIIPrintf(viewer, "interpolation of level %d: %s\n", level->number, remark.c_str()));
  }
  PetscCall(PetscViewerASCIIPrintf(viewer, "grid complexity %.3f, operator complexity %.3f\n",
                                   fine.rows > 0 ? rows / static_cast<double>(fine.rows) : 1,
                                   fine.entries > 0 ? entries / fine.entries : 1));
  for (const auto &level : hierarchy.levels) {
    if (const std::string remark = level->smoother.remark(); !remark.empty())
      PetscCall(PetscViewerASCIIPrintf(viewer, "smoother of level %d: %s\n", level->number, remark.c_str()));
  }
  if (!cycle.kcycle_tests().empty() && statistics.size() > 2)
    PetscCall(PetscViewerASCIIPrintf(viewer, "%s\n", why_kcycle_levels(cycle, statistics.size()).c_str()));
  if (cycle.single())
    PetscCall(PetscViewerASCIIPrintf(viewer, "vectors of the cycle: single precision with %s\n",
                                     cycle.choose(true, false).single ? "flexible methods" : "amgfcg in mixed precision"));
  PetscCall(PetscViewerASCIIPrintf(viewer, "coarsest level: %s\n", hierarchy.coarse_solver.description().c_str()));
  PetscCall(PetscViewerASCIIPrintf(viewer, "memory of the hierarchy: %.1f MB, %.2f of the matrix's\n", bytes / 1e6,
                                   fine.entries > 0 ? bytes / (12 * fine.entries + 4 * static_cast<double>(fine.rows)) : 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

AMGKIT_INSTANTIATE(view_hierarchy)
} // namespace amgkit
