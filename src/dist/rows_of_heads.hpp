// Where the heads of groups have the rows of their groups: in memory that the processes share, where the heads compute on the host, or in
// the space where they compute.
#pragma once
#include "base/parameters.hpp"
#include "dist/mat_view.hpp"
#include "dist/node_groups.hpp"

namespace amgkit
{
// Whose rows are whose
struct LayoutOfHeads {
  const NodeGroups &groups;
  PetscInt first = 0, rows = 0;      // of the group
  PetscInt before = 0, my_rows = 0;  // of the group's processes before this one; of this one
  bool is_own(PetscInt column) const // of the group
  {
    return column >= first && column < first + rows;
  }
};

// Entries in columns of the group, or in others: of its processes before this one, of this one, and of the group.
struct Places {
  std::int64_t before = 0, mine = 0, of_group = 0;
};
struct PlacesOfBlocks {
  Places own, others;
};
// Collective, from `mine`: PETSC_ERR_ARG_OUTOFRANGE, on all ranks, where a head would have too many entries.
PetscErrorCode agree_on_places(const LayoutOfHeads &, PlacesOfBlocks *);

class RowsOfHeads {
public:
  RowsOfHeads() = default;
  RowsOfHeads(const RowsOfHeads &) = delete;
  RowsOfHeads &operator=(const RowsOfHeads &) = delete;
  virtual ~RowsOfHeads() = default;
  // Collective, once: *of_heads, which reads them, on heads. in_space: the user's values of this process are there where the heads compute.
  virtual PetscErrorCode create(Mat user, bool in_space, Mat *of_heads) = 0;
  // Collective: the values that user has now, on the same pattern.
  virtual PetscErrorCode take_values(Mat user, bool in_space, Mat of_heads) = 0;
};
std::unique_ptr<RowsOfHeads> make_window_rows(const LayoutOfHeads &);
std::unique_ptr<RowsOfHeads> make_staged_rows(const LayoutOfHeads &, SpaceKind); // gpu or debug
} // namespace amgkit
