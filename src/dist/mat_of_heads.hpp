// The rows of the user's parallel Mat on the heads of groups, and a Mat of the heads that leads to them.
#pragma once
#include "dist/rows_of_heads.hpp"

namespace amgkit
{
// Collective over A's processes, those of the groups, for a matrix that check_type_and_size() has taken: "", or why its rows cannot be on
// the heads, which compute in this space, the same on all ranks.
PetscErrorCode why_not_on_heads(const NodeGroups &, Mat A, SpaceKind, std::string *why_not);

class MatOfHeads {
public:
  // host, gpu or debug
  MatOfHeads(const NodeGroups &groups, SpaceKind space) : layout_{groups}, space_(space) {}
  MatOfHeads(const MatOfHeads &) = delete;
  MatOfHeads &operator=(const MatOfHeads &) = delete;
  MatOfHeads(MatOfHeads &&) = delete;
  MatOfHeads &operator=(MatOfHeads &&) = delete;
  ~MatOfHeads();

  // Collective over A's processes, which are those of the groups; once. Named errors for what check_type_and_size() does not take, of A and
  // of what the heads get. Global numbers stay; block size and symmetry are A's. in_space: A's values of this process are there where the
  // heads compute, on a GPU, and are not newer on the host.
  PetscErrorCode create(Mat A, bool in_space);
  // Collective: the values that A has now, on the same pattern. The caller increases the state of the heads' matrix.
  PetscErrorCode take_values(bool in_space);
  // Collective: whether this is A as create() took it but for values.
  PetscErrorCode matches(Mat A, bool *same) const;
  SpaceKind space() const { return space_; }
  Mat user() const { return user_; }
  Mat matrix() const { return matrix_; } // nullptr on members
  const std::vector<PetscInt> &user_range() const { return range_; }
  PetscInt rows() const { return layout_.rows; }          // of the group
  PetscInt my_rows() const { return layout_.my_rows; }    // of this process
  PetscInt rows_before() const { return layout_.before; } // of the group's processes before this one

private:
  LayoutOfHeads layout_;
  SpaceKind space_;
  Mat user_ = nullptr, matrix_ = nullptr;
  MatIdentities identity_;
  std::vector<PetscInt> range_; // of the user's ranks
  std::unique_ptr<RowsOfHeads> rows_;
};
} // namespace amgkit
