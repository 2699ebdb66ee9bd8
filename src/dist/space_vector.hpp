// Vectors whose entries are in a space's memory, though PETSc sees a vector of the host: what a Krylov method works with there where PETSc
// has no vectors of the space. PETSc, and whoever else asks, gets the entries on the host; each side is copied when it is asked for and the
// other is newer. plugins/space_vec.hpp makes such a Vec.
#pragma once
#include "base/array.hpp"

#include <petscvec.h>

namespace amgkit
{
enum class VecUse { read, overwrite, change };

class SpaceVector {
public:
  SpaceVector() = default;
  SpaceVector(const SpaceVector &) = delete;
  SpaceVector &operator=(const SpaceVector &) = delete;
  virtual ~SpaceVector() = default;
  virtual const char *space() const = 0;
  // The entries on the host. What is not read there is not copied.
  virtual PetscErrorCode on_host(VecUse, double **entries) = 0;
  // In the space
  virtual PetscErrorCode set_zero() = 0;
  // *copied: whether `to` has this one's entries now; not if it is of another space or size.
  virtual PetscErrorCode copy_in_space(SpaceVector &to, bool *copied) = 0;
};

// What was attached to x, or nullptr.
SpaceVector *space_vector_of(Vec x);
// x does not own it.
PetscErrorCode attach(Vec x, SpaceVector *);
PetscErrorCode detach(Vec x);

template <class Ex> class SpaceVectorIn final : public SpaceVector {
public:
  // n zeros. Local. The space must outlive this.
  PetscErrorCode create(Ex &, std::int64_t n);
  // The entries are host's, which stays the caller's, or, without it, those that there are. zero: both sides are zeros.
  PetscErrorCode take(double *host, bool zero);
  void release();
  const char *space() const override { return Ex::name; }
  PetscErrorCode on_host(VecUse, double **entries) override;
  PetscErrorCode set_zero() override;
  PetscErrorCode copy_in_space(SpaceVector &to, bool *copied) override;
  PetscErrorCode in_space(VecUse, double **entries);
  // From place() to take_back() the entries in the space are these, which count as there and are what take_back() leaves.
  void place(double *entries);
  PetscErrorCode take_back();
  std::int64_t size() const { return n_; }

private:
  Ex *ex_ = nullptr;
  std::int64_t n_ = 0;
  Host host_space_;
  Array<double, Host> own_host_; // where the caller has none
  Array<double, Ex> own_;
  double *host_ = nullptr, *here_ = nullptr;
  bool host_is_current_ = false, here_is_current_ = false;
};

// x's, if it is of this space
template <class Ex> SpaceVectorIn<Ex> *space_vector(Vec x) { return dynamic_cast<SpaceVectorIn<Ex> *>(space_vector_of(x)); }
} // namespace amgkit
