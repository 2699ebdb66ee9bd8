// Which GPU a process has.
#pragma once
#include "base/compat.hpp"

#include <string>

namespace amgkit
{
// What tells this process's present device from others of the node. In a build for GPUs alone.
PetscErrorCode name_of_device(std::string *);
} // namespace amgkit
