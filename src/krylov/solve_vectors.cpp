#include "krylov/solve_vectors.hpp"

#include "dist/attempt.hpp"

#include <string_view>

namespace amgkit
{
namespace
{
template <class Ex> class SolveVectorsIn final : public SolveVectors {
public:
  PetscErrorCode create(MPI_Comm comm, std::int64_t n) override
  {
    PetscFunctionBegin;
    PetscCall(open_on_all(comm, ex_));
    PetscCall(need_memory_for("the vectors of the Krylov method", comm, [&] {
      return attempt(comm, [&] {
        PetscFunctionBegin;
        PetscCall(b_.create(ex_, n));
        PetscCall(x_.create(ex_, n));
        PetscFunctionReturn(PETSC_SUCCESS);
      });
    }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode take(double *b, double *x, bool x_is_zero) override
  {
    PetscFunctionBegin;
    PetscCall(b_.take(b, false));
    PetscCall(x_.take(x, x_is_zero));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  SpaceVector &b() override { return b_; }
  SpaceVector &x() override { return x_; }
  std::int64_t size() const override { return b_.size(); }
  const char *space() const override { return Ex::name; }
  PetscErrorCode close() override
  {
    b_.release();
    x_.release();
    return amgkit::close(ex_);
  }

private:
  Ex ex_;
  SpaceVectorIn<Ex> b_, x_;
};
} // namespace

std::unique_ptr<SolveVectors> make_solve_vectors(const Preconditioner &solver)
{
  const std::string_view space = solver.space();
  if (space == Debug::name) return std::make_unique<SolveVectorsIn<Debug>>();
#if defined(AMGKIT_HAVE_CUDA)
  if (space == Cuda::name) return std::make_unique<SolveVectorsIn<Cuda>>();
#endif
  return nullptr;
}
} // namespace amgkit
