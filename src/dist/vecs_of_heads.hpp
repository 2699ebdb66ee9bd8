// Vectors of the groups' rows in memory that their processes share, and Vecs of the heads on it.
#pragma once
#include "dist/mat_of_heads.hpp"

#include <petscvec.h>

namespace amgkit
{
class VecsOfHeads {
public:
  VecsOfHeads(const NodeGroups &groups, const MatOfHeads &rows) : groups_(groups), rows_(rows) {}
  VecsOfHeads(const VecsOfHeads &) = delete;
  VecsOfHeads &operator=(const VecsOfHeads &) = delete;
  VecsOfHeads(VecsOfHeads &&) = delete;
  VecsOfHeads &operator=(VecsOfHeads &&) = delete;
  ~VecsOfHeads();

  static constexpr int count = 2;
  // Collective, once the rows are known. The second time nothing happens.
  PetscErrorCode create();
  Vec on_heads(int which) const { return vecs_[which]; } // nullptr on members
  // Local: this process's part of the shared vector becomes its part of x. The head may read it after groups.gather(), and arrived().
  PetscErrorCode put(int which, Vec x);
  // On heads: PETSc forgets what it knows of old entries. Local.
  PetscErrorCode arrived(int which);
  // Local: x becomes the shared vector, as it was when the head told that it is done.
  PetscErrorCode get(int which, Vec x) const;

private:
  const NodeGroups &groups_;
  const MatOfHeads &rows_;
  std::array<Vec, count> vecs_{};
  std::array<PetscScalar *, count> entries_{}; // of the group
  SharedMemory memory_;
};
} // namespace amgkit
