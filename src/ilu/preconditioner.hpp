// Incomplete factors as a preconditioner.
#pragma once
#include "dist/preconditioner.hpp"
#include "ilu/method.hpp"
#include "ilu/parameters.hpp"

namespace amgkit
{
// Collective: in the space that the parameters and the matrix's type choose. prefix: of the options of the solvers inside, or nullptr
PetscErrorCode make_ilu_preconditioner(Mat, const IluParameters &, const char *prefix, std::unique_ptr<Preconditioner> &);
} // namespace amgkit
