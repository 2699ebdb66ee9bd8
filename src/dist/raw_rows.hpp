// Rows that the processes of a group have in a space themselves: each copies its blocks, as PETSc has them there, to its part of the
// group's buffer, and the head makes its rows of them.
#pragma once
#include "dist/rows_of_heads.hpp"
#include "dist/user_rows.hpp"
#include "sparse/rows/merged_blocks.hpp"

namespace amgkit
{
// The head's rows with entries in own columns, or in others.
struct RowsOfHead {
  bool own = false;         // whether the entries of the blocks of own columns go there
  const int *ptr = nullptr; // which is there
  int *col = nullptr;       // nullptr: they are there
  double *val = nullptr;
  const PetscInt *number = nullptr; // of this process's ghosts there, -1: elsewhere. Of each process
};

template <class Ex> class RawRows {
public:
  // Both outlive this. ex: open on the head, and on others this opens it for copies.
  RawRows(const LayoutOfHeads &layout, Ex &ex) : layout_(layout), ex_(ex) {}

  // Collective over all ranks: whether the rows can cross this way now. can: this process has its values in the space. *why_not: empty, or
  // why they cannot, on all ranks.
  PetscErrorCode reserve(const UserRows &, bool can, std::string *why_not);
  bool knows_pattern() const { return !processes_.empty(); }
  // Collective over all ranks, once: columns; the head keeps what values need.
  PetscErrorCode take_pattern(const UserRows &, const std::vector<RowsOfHead> &);
  // Collective over all ranks, afterwards
  PetscErrorCode take_values(const UserRows &, const std::vector<RowsOfHead> &);
  void release();

private:
  static constexpr int fields = 5;
  // Of a process of the group: what it has itself, and the processes before it.
  struct Process {
    PetscInt rows = 0, own = 0, others = 0, ghosts = 0, ghosts_before_own = 0; // entries of the two blocks, and ghosts
    PetscInt rows_before = 0, others_before = 0, ghosts_before = 0;
  };
  // Bytes of a process's part of the buffer
  struct Places {
    std::size_t own_ptr, own_col, ghost_ptr, ghost_col, of_pattern;
    std::size_t own_val, ghost_val, of_values;
    explicit Places(const Process &);
  };
  static Process process_of(const UserRows &);
  char *part(int process) const { return layout_.groups.copies().in_space().part(process); }
  PetscErrorCode meet(const UserRows &);
  PetscErrorCode allocate(std::size_t parts);
  PetscErrorCode give_numbers(const std::vector<RowsOfHead> &);
  PetscErrorCode fill(const UserRows &, bool pattern);
  PetscErrorCode fill_block(const UserRows &, int block, bool pattern);
  PetscErrorCode keep_pattern(int process);
  PetscErrorCode merge(const std::vector<RowsOfHead> &, bool pattern);
  MergedBlocks blocks(int process, const RowsOfHead &, std::size_t part) const;

  const LayoutOfHeads &layout_;
  Ex &ex_;
  int rank_ = 0;
  std::vector<Process> processes_;                 // of the group, once their pattern is known
  Array<int, Ex> own_ptr_, ghost_ptr_, ghost_col_; // on the head, of all processes, one after the other
  std::array<Array<int, Ex>, 2> numbers_;          // of their ghosts, for each of the head's rows
};
} // namespace amgkit
