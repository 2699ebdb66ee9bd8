// What -ksp_view shows of a hierarchy.
#pragma once
#include "amg/cycle.hpp"

#include <petscviewer.h>

namespace amgkit
{
// Collective: the level table, complexities and memory, to an ASCII viewer.
template <class Ex> PetscErrorCode view_hierarchy(const Hierarchy<Ex> &, const Cycle<Ex> &, PetscViewer);
} // namespace amgkit
