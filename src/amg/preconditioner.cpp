#include "amg/preconditioner.hpp"

#include "amg/cycle.hpp"
#include "amg/view.hpp"
#include "dist/attempt.hpp"
#include "sparse/formats/sell.hpp"
#include "sparse/rows/locality.hpp"

#include <optional>

namespace amgkit
{
namespace
{
template <class Ex> class AmgSolver final : public PreconditionerIn<Ex, AmgPreconditioner>, public UserProduct<Ex> {
public:
  AmgSolver(const AmgParameters &parameters, SpaceKind choice, const Method &method)
      : PreconditionerIn<Ex, AmgPreconditioner>(choice), parameters_(parameters), method_(method)
  {}

  PetscErrorCode setup(Mat A) override
  {
    const auto prolongation = method_.make(Ex{});

    PetscFunctionBegin;
    solver_ = std::make_unique<Solver>(parameters_);
    flexible_ = false;
    stepped_ = nullptr;
    forget_entries();
    PetscCall(solver_->hierarchy.build(this->ex, A, parameters_, *prolongation));
    PetscCall(solver_->cycle.prepare(this->ex));
    PetscCall(attempt(solver_->hierarchy.comm(), [&] { return solver_->prepare_order(this->ex); }));
    if (const std::string why = solver_->hierarchy.ended_early(); !why.empty())
      PetscCall(PetscInfo(A, "coarsest level: %s\n", why.c_str()));
    PetscCall(trim(this->ex)); // not after refresh(): who sets up once more needs the memory again
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode refresh(bool *fits) override
  {
    PetscFunctionBegin;
    stepped_ = nullptr;
    forget_entries();
    PetscCall(solver_->hierarchy.refresh(this->ex, parameters_, fits));
    if (*fits) PetscCall(solver_->cycle.prepare(this->ex));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  // Decides what cycle_type auto means, and the precision of the cycle's vectors.
  void set_flexible(bool flexible) override
  {
    flexible_ = flexible;
    if (solver_) solver_->cycle.begin_solve();
  }
  void observe(double factor) override
  {
    if (flexible_) solver_->cycle.observe(factor);
  }
  int version() const override { return applied_; }
  bool linear() const override { return parameters_.cycle_type != CycleKind::k; }

  PetscErrorCode apply(Vec x, Vec y) override
  {
    Cycle<Ex> &cycle = solver_->cycle;
    stepped_ = nullptr;
    applied_ = cycle.version();
    return with_ordered(false, x, y,
                        [&](const double *b, double *u) { return cycle.apply(this->ex, cycle.choose(flexible_, false), b, u); });
  }

  PetscErrorCode apply_transpose(Vec x, Vec y) override
  {
    Cycle<Ex> &cycle = solver_->cycle;
    const CycleKind kind = cycle.choose(false, false).kind;
    MPI_Comm comm = solver_->hierarchy.comm();
    stepped_ = nullptr;

    PetscFunctionBegin;
    PetscCheck(linear(), comm, PETSC_ERR_SUP,
               "The k-cycle is not linear and has no transpose: use cycle_type auto, v, w or f with methods that need one");
    PetscCall(need_memory_for("the transposes of the levels' matrices", comm, [&] {
      return with_ordered(true, x, y, [&](const double *b, double *u) { return cycle.apply_transposed(this->ex, kind, b, u); });
    }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode multiply(const double *x, double *y, bool as_set_up, const ProductSums<2, double> *sums) override
  {
    return this->with_matrix(
        [&](DistMatrix<Ex> &A) { return sums ? multiply_user(A, as_set_up, x, y, *sums) : multiply_user(A, as_set_up, x, y); });
  }
  bool pays() const override { return Ex::sliced_rows || solver_->cycle.finest_by_blocks(); }
  const int *order() const override { return solver_->hierarchy.finest.order(); }
  bool reordered() const override { return solver_->hierarchy.finest.reordered(); }
  bool in_single() const override { return solver_->cycle.finest_in_single(); }
  bool floats_pay() const override { return solver_->cycle.floats_pay(); }
  PetscErrorCode multiply(const float *x, float *y, const ProductSums<2, float> *sums) override
  {
    return this->with_matrix([&](DistMatrix<Ex> &A) { return sums ? multiply_in_single(A, x, y, *sums) : multiply_in_single(A, x, y); });
  }
  bool applies_in_single() const override { return solver_->cycle.choose(flexible_, true).single; }
  FirstStep<float> first_step(float *x) override
  {
    const FirstStep<float> step = solver_->cycle.first_step(this->ex, x);
    stepped_ = step.x ? x : nullptr;
    return step;
  }
  PetscErrorCode apply_in_single(const float *b, float *x, bool stepped) override
  {
    Cycle<Ex> &cycle = solver_->cycle;
    const Guess guess = stepped && stepped_ == x ? Guess::first_step : Guess::zero;
    stepped_ = nullptr;
    applied_ = cycle.version();
    return this->with_matrix([&](DistMatrix<Ex> &) { return cycle.apply(this->ex, cycle.choose(flexible_, true), guess, b, x); });
  }

  PetscErrorCode export_to(MatType type, LevelMats &out) override { return export_levels(this->ex, solver_->hierarchy, type, out); }
  PetscErrorCode view(PetscViewer viewer) const override { return view_hierarchy(solver_->hierarchy, solver_->cycle, viewer); }

private:
  // with_arrays(), of vectors in the cycle's order
  template <class F> PetscErrorCode with_ordered(bool transposed, Vec x, Vec y, F f)
  {
    return this->with_arrays(transposed, x, y, [&](const double *b, double *u) {
      PetscFunctionBegin;
      if (!order()) {
        PetscCall(f(b, u));
        PetscFunctionReturn(PETSC_SUCCESS);
      }
      const std::int64_t n = solver_->hierarchy.levels.front()->A.rows;
      double *ordered_b = solver_->b.data(), *ordered_u = solver_->u.data();
      PetscCall(gather(this->ex, n, order(), b, ordered_b));
      PetscCall(f(static_cast<const double *>(ordered_b), ordered_u));
      PetscCall(scatter(this->ex, n, order(), static_cast<const double *>(ordered_u), u));
      PetscFunctionReturn(PETSC_SUCCESS);
    });
  }
  template <class... S> PetscErrorCode multiply_user(DistMatrix<Ex> &A, bool as_set_up, const double *x, double *y, const S &...sums)
  {
    PetscFunctionBegin;
    if (reordered()) { // vectors have the user's order
      DistMatrix<Ex> *user;
      PetscCall(solver_->hierarchy.finest.access_user(this->ex, &user));
      PetscCall(user->multiply_rows(this->ex, x, y, sums...));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    if (as_set_up) PetscCall(compare_entries(A));
    if (!as_set_up)
      PetscCall(A.multiply_rows(this->ex, x, y, sums...));
    else if (*exact_)
      PetscCall(A.multiply(this->ex, x, y, sums...));
    else
      PetscCall(A.multiply_exactly(this->ex, x, y, sums...));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  template <class... S> PetscErrorCode multiply_in_single(DistMatrix<Ex> &A, const float *x, float *y, const S &...sums)
  {
    PetscFunctionBegin;
    PetscCall(compare_entries(A));
    if (!rests_) PetscCall(lengthen_entries(A));
    if (*exact_)
      PetscCall(A.multiply(this->ex, x, y, sums...));
    else if (*rests_)
      PetscCall(A.multiply_long(this->ex, x, y, sums...));
    else
      PetscCall(A.multiply_exactly(this->ex, x, y, sums...));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  // What the cycle has of the finest matrix has fewer bytes than the user's rows. It serves as it is where its own columns are floats;
  // for vectors of floats also with what rounding took of them. Local: each rank has its own way.
  PetscErrorCode compare_entries(const DistMatrix<Ex> &A)
  {
    bool exact = false;

    PetscFunctionBegin;
    if (exact_) PetscFunctionReturn(PETSC_SUCCESS);
    if (A.stored.single() && !A.stored.has_own_entries()) PetscCall(A.stored.is_exact(this->ex, A.diag, &exact));
    exact_ = exact;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode lengthen_entries(DistMatrix<Ex> &A)
  {
    bool kept = false, spare = false;

    PetscFunctionBegin;
    rests_ = false;
    if (*exact_ || A.stored.has_own_entries()) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(memory_to_spare(this->ex, sizeof(std::int16_t) * static_cast<std::size_t>(A.diag.nnz), &spare));
    if (!spare) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(without_memory_go_on([&] { return attempt(PETSC_COMM_SELF, [&] { return A.stored.keep_rests(this->ex, A.diag, &kept); }); }));
    rests_ = kept;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  void forget_entries()
  {
    exact_.reset();
    rests_.reset();
  }

  struct Solver {
    explicit Solver(const AmgParameters &parameters) : cycle(hierarchy, parameters) {}
    PetscErrorCode prepare_order(Ex &ex)
    {
      const int rows = hierarchy.levels.front()->A.rows;
      return hierarchy.finest.order() ? allocate_each(ex, rows, b, u) : PETSC_SUCCESS;
    }
    Hierarchy<Ex> hierarchy;
    Cycle<Ex> cycle;
    Array<double, Ex> b, u; // in the cycle's order, where that is its own
  };

  UserMatrix<Ex> user() const override { return {solver_->hierarchy.finest, solver_->hierarchy.levels.front()->A}; }
  void forget() override { solver_.reset(); }

  AmgParameters parameters_;
  const Method &method_;
  std::unique_ptr<Solver> solver_;
  bool flexible_ = false;
  int applied_ = 0;                   // the cycle's version in the last application
  const float *stepped_ = nullptr;    // whose first step is in the cycle's memory or there; until the next application
  std::optional<bool> exact_, rests_; // of the finest matrix's own columns: whether they are floats, or kept with their rests; nothing:
                                      // nobody has asked
};
} // namespace

PetscErrorCode make_amg_preconditioner(Mat A, const AmgParameters &parameters, const Method &method, std::unique_ptr<Preconditioner> &out)
{
  return make_in_space_of(
      A, parameters.space,
      [&](auto space, SpaceKind choice) { return std::make_unique<AmgSolver<decltype(space)>>(parameters, choice, method); }, out);
}
} // namespace amgkit
