// The rows of the user's parallel Mat in memory that the processes of a group share, and a Mat of the heads on it, without another copy.
#pragma once
#include "dist/mat_view.hpp"
#include "dist/node_groups.hpp"

namespace amgkit
{
// Collective over A's processes, those of the groups, for a matrix that check_type_and_size() has taken: "", or why its rows cannot be on
// the heads, the same on all ranks.
PetscErrorCode why_not_on_heads(const NodeGroups &, Mat A, std::string *why_not);

class MatOfHeads {
public:
  explicit MatOfHeads(const NodeGroups &groups) : groups_(groups) {}
  MatOfHeads(const MatOfHeads &) = delete;
  MatOfHeads &operator=(const MatOfHeads &) = delete;
  MatOfHeads(MatOfHeads &&) = delete;
  MatOfHeads &operator=(MatOfHeads &&) = delete;
  ~MatOfHeads();

  // Collective over A's processes, which are those of the groups; once. Named errors for what check_type_and_size() does not take, of A and
  // of what the heads get. Global numbers stay; block size, symmetry, and whether it is a matrix of the device, are A's.
  PetscErrorCode create(Mat A);
  // Collective: the values that A has now, on the same pattern. The caller increases the state of the heads' matrix.
  PetscErrorCode take_values();
  // Collective: whether this is A as create() took it but for values.
  PetscErrorCode matches(Mat A, bool *same) const;
  Mat user() const { return user_; }
  Mat matrix() const { return matrix_; } // nullptr on members
  const std::vector<PetscInt> &user_range() const { return range_; }
  PetscInt rows() const { return rows_; }          // of the group
  PetscInt my_rows() const { return my_rows_; }    // of this process
  PetscInt rows_before() const { return before_; } // of the group's processes before this one
  std::size_t bytes() const { return bytes_; }     // of the group's memory

private:
  // As MatCreateMPIAIJWithSplitArrays() has them: own columns less the group's first, others global, until it makes them local.
  struct Csr {
    PetscInt *ptr = nullptr, *col = nullptr;
    PetscScalar *val = nullptr;
    std::int64_t before = 0, entries = 0; // of processes before this one; of the group
  };
  PetscErrorCode agree_on_places(const std::array<std::int64_t, 3> &mine);
  PetscErrorCode allocate();
  PetscErrorCode count(std::array<std::int64_t, 3> *rows_own_others) const;
  PetscErrorCode write(bool pattern);
  PetscErrorCode make_matrix();
  bool is_own(PetscInt column) const { return column >= first_ && column < first_ + rows_; }

  const NodeGroups &groups_;
  Mat user_ = nullptr, matrix_ = nullptr;
  MatIdentities identity_;
  std::vector<PetscInt> range_; // of the user's ranks
  PetscInt first_ = 0, rows_ = 0, before_ = 0, my_rows_ = 0;
  Csr own_, others_;
  std::size_t bytes_ = 0;
  SharedMemory memory_;
};
} // namespace amgkit
