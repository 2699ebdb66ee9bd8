#include "ilu/preconditioner.hpp"

#include "dist/attempt.hpp"
#include "ilu/one_level.hpp"
#include "ilu/two_level.hpp"

#include <array>

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

// A product in double precision: with the user's matrix where it was copied, as MatMult() would take the vectors to the host.
template <class Ex> class RowsProduct : public UserProduct<Ex> {
public:
  bool in_single() const override { return false; }
  const int *order() const override { return nullptr; }
  bool reordered() const override { return false; }
  bool floats_pay() const override { return false; }
  PetscErrorCode multiply(const float *, float *, const ProductSums<2, float> *) override { return PETSC_ERR_SUP; }
  bool applies_in_single() const override { return false; }
  FirstStep<float> first_step(float *) override { return {}; }
  PetscErrorCode apply_in_single(const float *, float *, bool) override { return PETSC_ERR_SUP; }
};

template <class Ex> class IluSolver final : public PreconditionerIn<Ex>, public RowsProduct<Ex> {
public:
  IluSolver(const IluParameters &parameters, SpaceKind choice, const char *prefix)
      : PreconditionerIn<Ex>(choice), parameters_(parameters), prefix_(prefix ? prefix : "")
  {}

  PetscErrorCode setup(Mat) override;
  PetscErrorCode refresh(bool *fits) override;
  SetupFault fault() const override;
  bool reads_matrix(bool transposed) const override { return system_->method->reads_matrix(transposed); }
  bool linear() const override { return system_->method->linear(); }

  PetscErrorCode apply(Vec x, Vec y) override
  {
    return this->with_arrays(false, x, y, [&](const double *b, double *u) { return system_->method->apply(this->ex, system_->A, b, u); });
  }
  PetscErrorCode apply_transpose(Vec x, Vec y) override
  {
    return this->with_arrays(true, x, y,
                             [&](const double *b, double *u) { return system_->method->apply_transpose(this->ex, system_->A, b, u); });
  }
  PetscErrorCode view(PetscViewer) const override;
  using RowsProduct<Ex>::multiply;
  bool pays() const override { return system_->matrix.copies(); }
  PetscErrorCode multiply(const double *x, double *y, bool, const ProductSums<2, double> *sums) override
  {
    return this->with_matrix(
        [&](DistMatrix<Ex> &A) { return sums ? A.multiply_rows(this->ex, x, y, *sums) : A.multiply_rows(this->ex, x, y); });
  }

private:
  struct System {
    MatView<Ex> matrix;
    DistMatrix<Ex> A;
    std::unique_ptr<IluMethod<Ex>> method;
    IluSetup setup; // how the last one went
  };

  UserMatrix<Ex> user() const override { return {system_->matrix, system_->A}; }
  void forget() override { system_.reset(); }

  IluParameters parameters_;
  std::string prefix_;
  std::unique_ptr<System> system_;
};

template <class Ex> PetscErrorCode IluSolver<Ex>::setup(Mat mat)
{
  system_ = std::make_unique<System>();
  const ReleaseAtEnd<Ex> at_end(system_->matrix);
  DistMatrix<Ex> &A = system_->A;

  PetscFunctionBegin;
  system_->method = make_method<Ex>(parameters_, prefix_);
  PetscCall(check_type_and_size(mat));
  PetscCall(system_->matrix.create(mat, A));
  PetscCall(attempt(A.comm, [&] {
    PetscFunctionBegin;
    PetscCall(system_->matrix.access(this->ex, A));
    PetscCall(A.allocate(this->ex));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscCall(check_entries(this->ex, A, row_not_sorted | row_without_diagonal, nullptr));
  PetscCall(system_->method->create(this->ex, A, system_->setup));
  PetscCall(trim(this->ex));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode IluSolver<Ex>::refresh(bool *fits)
{
  const ReleaseAtEnd<Ex> at_end(system_->matrix);
  DistMatrix<Ex> &A = system_->A;

  PetscFunctionBegin;
  *fits = true;
  PetscCall(attempt(A.comm, [&] { return system_->matrix.access(this->ex, A); }));
  PetscCall(system_->method->update_values(this->ex, A, system_->setup));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> SetupFault IluSolver<Ex>::fault() const
{
  if (system_->setup.ready()) return {}; // each application asks
  const std::string row = " of row " + std::to_string(system_->setup.row);
  switch (system_->setup.fault) {
  case IluFault::none:
    break;
  case IluFault::no_diagonal: // for PETSc's matrices an error before: check_entries()
    return {PC_FACTOR_STRUCT_ZEROPIVOT, PETSC_ERR_MAT_LU_ZRPVT, "failed: the diagonal entry" + row + " is missing"};
  case IluFault::zero_pivot:
    return {PC_FACTOR_NUMERIC_ZEROPIVOT, PETSC_ERR_MAT_LU_ZRPVT, "failed: the pivot" + row + " is zero: see -pc_ilu2level_shift_type"};
  case IluFault::not_finite:
    return {PC_FACTOR_OTHER, PETSC_ERR_FP, "failed: the factors" + row + " are not finite"};
  }
  return {};
}

template <class Ex> PetscErrorCode IluSolver<Ex>::view(PetscViewer viewer) const
{
  MPI_Comm comm = PetscObjectComm(reinterpret_cast<PetscObject>(viewer));
  const DistMatrix<Ex> &A = system_->A;
  const IluSetup &setup = system_->setup;
  std::array<double, 2> bytes = {static_cast<double>(system_->matrix.bytes() + A.bytes() + system_->method->bytes()),
                                 12 * static_cast<double>(A.diag.nnz + A.offd.nnz) + 4.0 * A.rows};

  PetscFunctionBegin;
  PetscCall(system_->method->view(viewer));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, bytes.data(), 2, MPI_DOUBLE, MPI_SUM, comm));
  PetscCall(
      PetscViewerASCIIPrintf(viewer, "memory: %.1f MB, %.2f of the matrix's\n", bytes[0] / 1e6, bytes[1] > 0 ? bytes[0] / bytes[1] : 0));
  if (setup.shift_amount > 0)
    PetscCall(PetscViewerASCIIPrintf(viewer, "diagonals shifted, by at most %g, after %" PetscInt_FMT " new starts\n", setup.shift_amount,
                                     setup.shifts));
  else if (setup.shifts > 0)
    PetscCall(PetscViewerASCIIPrintf(viewer, "pivots shifted: %" PetscInt_FMT "\n", setup.shifts));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode make_ilu_preconditioner(Mat A, const IluParameters &parameters, const char *prefix, std::unique_ptr<Preconditioner> &out)
{
  return make_in_space_of(
      A, parameters.space,
      [&](auto space, SpaceKind choice) { return std::make_unique<IluSolver<decltype(space)>>(parameters, choice, prefix); }, out);
}
} // namespace amgkit
