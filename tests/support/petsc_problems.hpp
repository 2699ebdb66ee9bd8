// Distributed test matrices as PETSc Mats, of the type that a space reads.
#pragma once
#include "support/gallery.hpp"
#include "support/spaces.hpp"

#include <petscksp.h>

namespace amgkit::test
{
// Each rank inserts the rows it owns of A; local_rows < 0: PETSc decides how many. A device type when on_device.
PetscErrorCode distribute(const HostCsr &A, bool on_device, Mat *out, PetscInt local_rows = -1);
// b such that the solution of A x = b is a wave; x zero
PetscErrorCode make_system(Mat A, Vec *x, Vec *b);
int rank_of_world();
int size_of_world();

// Runs f with PETSc errors returned instead of printed.
PetscErrorCode quietly(const std::function<PetscErrorCode()> &f);
} // namespace amgkit::test
