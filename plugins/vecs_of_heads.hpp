// Vectors of the groups' rows on heads, and how they come and go: in memory that the processes share, where the heads compute on the host,
// or in the space where they compute.
#pragma once
#include "dist/mat_of_heads.hpp"

#include <petscvec.h>

namespace amgkit
{
class VecsOfHeads {
public:
  // The matrix is needed until create() has ended.
  VecsOfHeads(std::shared_ptr<NodeGroups>, const MatOfHeads &rows);
  VecsOfHeads(const VecsOfHeads &) = delete;
  VecsOfHeads &operator=(const VecsOfHeads &) = delete;
  VecsOfHeads(VecsOfHeads &&) = delete;
  VecsOfHeads &operator=(VecsOfHeads &&) = delete;
  ~VecsOfHeads();

  static constexpr std::size_t count = 2;
  // Collective, once the rows are known. The second time nothing happens.
  PetscErrorCode create();
  Vec on_heads(std::size_t which) const { return vecs_[which]; } // nullptr on members
  // Collective over the group: the heads' vectors get the entries of these of the user, unless they are nullptr. What a device does not do
  // is an error of the head alone.
  PetscErrorCode put(const std::array<Vec, count> &);
  // Collective over the group, once the head has told that it is done: x gets the entries of the heads' vector. Errors as put().
  PetscErrorCode get(std::size_t which, Vec x);

private:
  class Place;
  class Shared;
  template <class Ex> class Staged;

  std::shared_ptr<NodeGroups> groups_;
  const MatOfHeads &rows_;
  std::array<Vec, count> vecs_{};
  std::unique_ptr<Place> place_;
};
} // namespace amgkit
