#include "ilu/preconditioner.hpp"

#include "dist/user_space.hpp"
#include "dist/vec_view.hpp"
#include "ilu/one_level.hpp"
#include "ilu/two_level.hpp"

#include <array>
#include <string>

namespace amgkit
{
namespace
{
// What the parameters' levels mean. The prefix is for what has solvers inside.
template <class Ex> std::unique_ptr<IluMethod<Ex>> make_method(const IluParameters &parameters, const std::string &prefix)
{
  if (parameters.levels > 1) return std::make_unique<TwoLevelIlu<Ex>>(parameters, prefix.c_str());
  return std::make_unique<OneLevelIlu<Ex>>(parameters);
}

template <class Ex> class IluSolver final : public IluPreconditioner {
public:
  IluSolver(const IluParameters &parameters, const char *prefix) : parameters_(parameters), prefix_(prefix ? prefix : "") {}

  Ex ex;

  PetscErrorCode setup(Mat A, IluSetup &setup) override;

  PetscErrorCode can_refresh(Mat A, bool *possible) const override
  {
    PetscFunctionBegin;
    PetscCall(system_->matrix.matches(A, possible));
    *possible = *possible && stands_where(A);
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode refresh(IluSetup &setup) override;

  bool reads_matrix(bool transposed) const override { return system_->method->reads_matrix(transposed); }
  bool reaches(Mat A, bool transposed) const override { return !reads_matrix(transposed) || stands_where(A); }

  Mat matrix() const override { return system_->matrix.matrix(); }
  PetscErrorCode check_matrix() const override { return system_->matrix.check(); }
  PetscErrorCode check_rows(Vec x) const override { return check_layout(system_->A.range, x); }

  PetscErrorCode apply(Vec x, Vec y) override
  {
    return with_arrays(system_->method->reads_matrix(false), x, y,
                       [&](const double *b, double *u) { return system_->method->apply(ex, system_->A, b, u); });
  }

  PetscErrorCode apply_transpose(Vec x, Vec y) override
  {
    return with_arrays(system_->method->reads_matrix(true), x, y,
                       [&](const double *b, double *u) { return system_->method->apply_transpose(ex, system_->A, b, u); });
  }

  bool linear() const override { return system_->method->linear(); }
  PetscErrorCode view(PetscViewer) const override;
  const char *space() const override { return Ex::name; }

  PetscErrorCode close() override
  {
    PetscFunctionBegin;
    system_.reset();
    vectors_ = {};
    PetscCall(amgkit::close(ex));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  struct System {
    MatView<Ex> matrix;
    DistMatrix<Ex> A;
    std::unique_ptr<IluMethod<Ex>> method;
  };

  bool stands_where(Mat A) const { return amgkit::stands_where<Ex>(parameters_.space, A); }

  // f(x's entries, y's entries), with the matrix at hand if it is read.
  template <class F> PetscErrorCode with_arrays(bool matrix, Vec x, Vec y, F f)
  {
    return vectors_.with(ex, x, y, [&](const double *from, double *to) {
      const ReleaseAtEnd<Ex> at_end(system_->matrix);

      PetscFunctionBegin;
      if (matrix) PetscCall(system_->matrix.access(ex, system_->A));
      PetscCall(f(from, to));
      PetscFunctionReturn(PETSC_SUCCESS);
    });
  }

  IluParameters parameters_;
  std::string prefix_;
  std::unique_ptr<System> system_;
  VecPair<Ex> vectors_;
};

template <class Ex> PetscErrorCode IluSolver<Ex>::setup(Mat mat, IluSetup &setup)
{
  system_ = std::make_unique<System>();
  const ReleaseAtEnd<Ex> at_end(system_->matrix);
  DistMatrix<Ex> &A = system_->A;

  PetscFunctionBegin;
  setup = {};
  system_->method = make_method<Ex>(parameters_, prefix_);
  PetscCall(check_type_and_size(mat));
  PetscCall(system_->matrix.create(mat, A));
  PetscCall(attempt(A.comm, [&] {
    PetscFunctionBegin;
    PetscCall(system_->matrix.access(ex, A));
    PetscCall(A.allocate(ex));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscCall(check_entries(ex, A, row_not_sorted | row_without_diagonal, nullptr));
  PetscCall(system_->method->create(ex, A, setup));
  PetscCall(trim(ex));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode IluSolver<Ex>::refresh(IluSetup &setup)
{
  const ReleaseAtEnd<Ex> at_end(system_->matrix);
  DistMatrix<Ex> &A = system_->A;

  PetscFunctionBegin;
  setup = {};
  PetscCall(attempt(A.comm, [&] { return system_->matrix.access(ex, A); }));
  PetscCall(system_->method->update_values(ex, A, setup));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode IluSolver<Ex>::view(PetscViewer viewer) const
{
  MPI_Comm comm = PetscObjectComm(reinterpret_cast<PetscObject>(viewer));
  const DistMatrix<Ex> &A = system_->A;
  std::array<double, 2> bytes = {static_cast<double>(system_->matrix.bytes() + A.bytes() + system_->method->bytes()),
                                 12 * static_cast<double>(A.diag.nnz + A.offd.nnz) + 4.0 * A.rows};

  PetscFunctionBegin;
  PetscCall(system_->method->view(viewer));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, bytes.data(), 2, MPI_DOUBLE, MPI_SUM, comm));
  PetscCall(
      PetscViewerASCIIPrintf(viewer, "memory: %.1f MB, %.2f of the matrix's\n", bytes[0] / 1e6, bytes[1] > 0 ? bytes[0] / bytes[1] : 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode make(Mat A, const IluParameters &parameters, const char *prefix, std::unique_ptr<IluPreconditioner> &out)
{
  auto solver = std::make_unique<IluSolver<Ex>>(parameters, prefix);
  Ex &ex = solver->ex;

  PetscFunctionBegin;
  out = std::move(solver); // whoever owns it closes it, also after an error
  PetscCall(open_on_all(PetscObjectComm(reinterpret_cast<PetscObject>(A)), ex));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode make_ilu_preconditioner(Mat A, const IluParameters &parameters, const char *prefix, std::unique_ptr<IluPreconditioner> &out)
{
  return in_space_of(A, parameters.space, [&](auto space) { return make<decltype(space)>(A, parameters, prefix, out); });
}
} // namespace amgkit
