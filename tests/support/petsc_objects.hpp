// Owners of PETSc objects: a test that ends early, at an OK(), loses nothing.
#pragma once
#include <gtest/gtest.h>
#include <petscksp.h>

namespace amgkit::test
{
template <class T, PetscErrorCode (*destroy)(T *)> class Owner {
public:
  Owner() = default;
  Owner(const Owner &) = delete;
  Owner &operator=(const Owner &) = delete;
  Owner(Owner &&) = delete;
  Owner &operator=(Owner &&) = delete;
  ~Owner() { free(); }

  operator T() const { return object_; }
  // For the function that creates the object; what was here before is destroyed.
  T *out()
  {
    free();
    return &object_;
  }

private:
  void free() { EXPECT_EQ(static_cast<int>(destroy(&object_)), 0); }
  T object_ = nullptr;
};

using OwnedMat = Owner<Mat, MatDestroy>;
using OwnedVec = Owner<Vec, VecDestroy>;
using OwnedKSP = Owner<KSP, KSPDestroy>;
using OwnedPC = Owner<PC, PCDestroy>;
using OwnedIS = Owner<IS, ISDestroy>;
using OwnedNullSpace = Owner<MatNullSpace, MatNullSpaceDestroy>;
} // namespace amgkit::test
