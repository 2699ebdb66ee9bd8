#include "krylov/steps.hpp"

#include "krylov/steps_in.hpp"

namespace amgkit
{
const char *krylov_space(Vec x, Preconditioner *solver)
{
  return in_krylov_space(x, solver, [](auto space) { return decltype(space)::name; });
}
} // namespace amgkit
