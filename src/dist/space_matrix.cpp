#include "dist/space_matrix.hpp"

#include "dist/attached.hpp"

namespace amgkit
{
namespace
{
constexpr const char *name_on_mat = "AMGKitSpaceMatrix";
}

SpaceMatrix *space_matrix_of(Mat A) { return static_cast<SpaceMatrix *>(attached(reinterpret_cast<PetscObject>(A), name_on_mat)); }
PetscErrorCode attach(Mat A, SpaceMatrix *matrix) { return attach(reinterpret_cast<PetscObject>(A), name_on_mat, matrix); }
PetscErrorCode detach(Mat A) { return detach(reinterpret_cast<PetscObject>(A), name_on_mat); }
} // namespace amgkit
