#include "amg/smoother.hpp"

#include "amg/chebyshev.hpp"
#include "amg/single_precision.hpp"
#include "dist/attempt.hpp"
#include "sparse/rows/rows.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace amgkit
{
namespace
{
// The smoother's part of the spectrum, in units of rho; the coarse levels take what is below.
constexpr double lowest = 0.1, highest = 1.15;

Interval chebyshev_interval(double rho) { return {lowest * rho, highest * rho}; }

// The mean eigenvalue of D⁻¹ A is 1, whatever the matrix: degree 1 leaves 1 - 1.6 / rho of an error there. On grids, where rho is 2 at
// most, that is a fifth at most; slivers and couplings of the wrong sign make rho larger. Degree 1 serves up to 2.4, where it leaves a
// third there and more of smaller eigenvalues; degree 2 leaves a third at 6.5.
PetscInt chosen_degree(double rho, PetscInt least)
{
  constexpr double served_by_1 = 2.4, served_by_2 = 6.5;
  return std::max<PetscInt>(least, rho <= served_by_1 ? 1 : rho <= served_by_2 ? 2 : 3);
}
} // namespace

template <class Ex>
PetscErrorCode Smoother<Ex>::prepare(Ex &ex, DistMatrix<Ex> &A, const AmgParameters &parameters, double bound, bool symmetric)
{
  const SmootherKind asked_for = kind(parameters);

  PetscFunctionBegin;
  steps_ = {RelaxStep{}};
  raised_ = false;
  spectrum_.reset();
  if (asked_for == SmootherKind::l1jacobi) PetscFunctionReturn(PETSC_SUCCESS);
  if (asked_for == SmootherKind::ilu0) {
    if (!ilu_) ilu_ = std::make_unique<BlockIlu<Ex>>();
    PetscCall(ilu_->factor(ex, A, d_.data()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (asked_for == SmootherKind::gauss_seidel) {
    PetscCall(prepare_gauss_seidel(ex, A, parameters, symmetric));
    if (gauss_seidel_) PetscFunctionReturn(PETSC_SUCCESS);
  }
  const bool chebyshev = asked_for != SmootherKind::jacobi;
  double omega = parameters.jacobi_omega;
  if (chebyshev || omega == 0) {
    if (chebyshev) PetscCall(prepare_ties(ex, A, TiedStep::of_polynomial));
    if (tied_) A.halo.keep_values(); // step_of_tied_rows() reads them after a step
    if (!tied_) spectrum_ = known_;
    if (!spectrum_) PetscCall(estimate_spectrum(ex, A, {d_.data(), tied_.get()}, bound, &spectrum_.emplace()));
    omega = spectral_radius() > 0 ? 4 / (3 * spectral_radius()) : 1;
  }
  double root = omega > 0 ? 1 / omega : 1;
  steps_ = {{0, omega}};
  if (chebyshev && spectral_radius() > 0 && std::isfinite(spectral_radius())) {
    const bool chosen = parameters.chebyshev_degree == 0;
    PetscInt degree = chosen ? chosen_degree(spectral_radius(), parameters.least_degree) : parameters.chebyshev_degree;
    PetscCallMPI(MPI_Bcast(&degree, 1, MPIU_INT, 0, A.comm)); // the last bits of rho may differ between ranks
    raised_ = chosen && degree > parameters.least_degree;
    steps_ = chebyshev_steps(degree, chebyshev_interval(spectral_radius()));
    root = chebyshev_root(degree, chebyshev_interval(spectral_radius()));
  } else {
    untie(); // there is no polynomial
  }
  PetscCall(scale_rows(ex, lone_, root, d_.data()));
  lone_.release();
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex>
PetscErrorCode Smoother<Ex>::find_ties(Ex &ex, const DistMatrix<Ex> &A, const AmgParameters &parameters, double coupling)
{
  const SmootherKind asked_for = kind(parameters);

  PetscFunctionBegin;
  untie();
  if (asked_for != SmootherKind::chebyshev && asked_for != SmootherKind::gauss_seidel) PetscFunctionReturn(PETSC_SUCCESS);
  if (!parameters.smooth_tied_rows || !(coupling * coupling > tie)) PetscFunctionReturn(PETSC_SUCCESS);
  tied_ = std::make_unique<TiedRows<Ex>>();
  PetscCall(attempt(A.comm, [&] { return find_tied_rows(ex, A.diag, A.offd, d_.data(), *tied_); }));
  std::array<PetscInt, 2> sums = {tied_->groups(), static_cast<PetscInt>(tied_->row.size())};
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sums.data(), 2, MPIU_INT, MPI_SUM, A.comm));
  tied_groups_ = sums[0];
  // More than half of the rows are no exception, and their copies would be another matrix.
  if (tied_groups_ == 0 || sums[1] > A.global_rows() / 2) untie();
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Collective: what the steps need of tied rows.
template <class Ex> PetscErrorCode Smoother<Ex>::prepare_ties(Ex &ex, const DistMatrix<Ex> &A, TiedStep step)
{
  PetscFunctionBegin;
  if (!tied_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(attempt(A.comm, [&] {
    PetscFunctionBegin;
    if (tied_->groups() == 0) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(invert_tied_blocks(ex, A.diag, A.offd, static_cast<int>(A.range.size()) - 1, d_.data(), step, *tied_));
    if (step == TiedStep::of_polynomial) PetscCall(copy_tied_rows(ex, A.diag, A.offd, *tied_)); // sweeps read the matrix itself
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Collective. Without gauss_seidel_ it is no good, and chebyshev takes its place.
template <class Ex>
PetscErrorCode Smoother<Ex>::prepare_gauss_seidel(Ex &ex, DistMatrix<Ex> &A, const AmgParameters &parameters, bool symmetric)
{
  const Storage storage = A.diag.nnz < parameters.entries_worth_single ? Storage::in_double : parameters.storage;
  bool reduces = true;

  PetscFunctionBegin;
  if (!gauss_seidel_) gauss_seidel_ = std::make_unique<GaussSeidel<Ex>>();
  PetscCall(prepare_ties(ex, A, TiedStep::of_sweep));
  PetscCall(attempt(A.comm, [&] { return gauss_seidel_->prepare(ex, A, storage, d_.data()); }));
  gauss_seidel_->tie(tied_.get());
  if (A.range.size() > 2 && !symmetric) {
    PetscCall(test_symmetry(ex, A, &symmetric));
    symmetry_ = symmetric;
  } else if (A.range.size() == 2) {
    symmetry_ = gauss_seidel_->symmetric();
    symmetric = symmetric || *symmetry_;
  }
  if (!symmetric) PetscCall(gauss_seidel_->test_sweeps(ex, A, d_.data(), &reduces));
  if (!reduces && tied_) { // perhaps without them
    untie();
    PetscCall(gauss_seidel_->test_sweeps(ex, A, d_.data(), &reduces));
  }
  growing_ = !reduces;
  if (reduces) PetscFunctionReturn(PETSC_SUCCESS); // which solves the lone rows, too
  gauss_seidel_.reset();
  known_.reset(); // of a D that has changed
  PetscCall(attempt(A.comm, [&] { return lone_rows(ex, A.diag, A.offd, lone_); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The polynomial is linear, as symmetric as A, and known before the first solve: it serves every Krylov method, and no step waits for a
// norm. Chebyshev's of degree m leaves 2 exp(-2 m / sqrt(kappa)) of an error, kappa the condition number, where m sweeps of degree 1 leave
// exp(-1.6 m / kappa) of a smooth one. A fifth makes the coarse problem's condition number 1.5, and the iterations 1.2 times as many at
// most; a hundredth takes 2.3 times as many products. Measured on 17 hierarchies that end early, on a CPU: a fifth was as fast as any.
template <class Ex>
PetscErrorCode Smoother<Ex>::prepare_to_solve(Ex &ex, DistMatrix<Ex> &A, const AmgParameters &parameters, const Array<double, Ex> *z,
                                              bool *solves)
{
  constexpr double left = 0.2, margin = 1.05; // margin: the largest eigenvalue is known to a few per cent
  constexpr PetscInt most = 100;
  SpectrumEnds ends;

  PetscFunctionBegin;
  raised_ = false;
  ilu_.reset();
  gauss_seidel_.reset();
  untie();
  if (kind(parameters) == SmootherKind::gauss_seidel) PetscCall(attempt(A.comm, [&] { return lone_rows(ex, A.diag, A.offd, lone_); }));
  PetscCall(estimate_ends(ex, A, d_.data(), z, &ends));
  spectrum_ = Spectrum{ends.largest, ends.symmetric};
  *solves = ends.symmetric && ends.smallest > 0 && std::isfinite(ends.largest);
  if (!*solves) PetscFunctionReturn(PETSC_SUCCESS);
  Interval interval = {ends.smallest, margin * ends.largest};
  const PetscInt degree = chebyshev_degree(left, interval, most);
  interval.low = chebyshev_low(left, interval, degree);
  steps_ = chebyshev_steps(degree, interval);
  // A step that solves rows without couplings: these are not known where D is of sums
  if (needs_l1(parameters)) steps_.insert(steps_.begin(), RelaxStep{});
  PetscCall(scale_rows(ex, lone_, chebyshev_root(degree, interval), d_.data()));
  lone_.release();
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> std::string Smoother<Ex>::remark() const
{
  std::string said;
  if (growing_)
    said = "chebyshev, as with Gauss-Seidel sweeps an error grows";
  else if (ilu_)
    said = ilu_->trouble();
  else if (raised_)
    said = "chebyshev of degree " + std::to_string(steps_.size()) + ", as rho is " + std::to_string(spectral_radius());
  if (tied_) said += (said.empty() ? "" : "; ") + std::to_string(tied_groups_) + " groups of tied rows are smoothed together";
  return said;
}

template <class Ex> PetscErrorCode Smoother<Ex>::prepare_transposed(Ex &ex, const DistMatrix<Ex> &A, const TransposedMatrix<Ex> &At)
{
  if (gauss_seidel_) return gauss_seidel_->prepare_transposed(ex, At);
  if (tied_) return residual_.allocate(ex, A.rows);
  return has_factors() ? ilu_->transpose(ex, A) : PETSC_SUCCESS;
}

template <class Ex> PetscErrorCode Smoother<Ex>::round_scaling(Ex &ex, int *unfit)
{
  PetscFunctionBegin;
  PetscCall(single_.allocate(ex, d_.size()));
  PetscCall(round_factors(ex, d_.size(), d_.data(), single_.data(), unfit));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> void Smoother<Ex>::keep_rounded(bool fit)
{
  if (fit)
    d_.release();
  else
    single_.release();
}

template <class Ex> PetscInt Smoother<Ex>::flips(PetscInt sweeps, Guess guess) const
{
  return sweeps == 0 || !takes_steps() ? 0 : sweeps * static_cast<PetscInt>(steps_.size()) - (guess == Guess::given ? 0 : 1);
}

template <class Ex> template <class V> FirstStep<V> Smoother<Ex>::first_step(int rows, PetscInt sweeps, V *x) const
{
  if (sweeps == 0 || !takes_steps()) return {};
  return {rows, steps_[0].factor, d_.data(), single_.size() > 0 ? single_.data() : nullptr, x};
}

// y += factor (M⁻¹ - D⁻¹) (b - A x) in tied rows, right after a step from x to y; x = nullptr: from zeros.
template <class Ex>
template <class Operator, class V>
PetscErrorCode Smoother<Ex>::step_of_tied_rows(Ex &ex, Operator &A, double factor, const V *b, const V *x, V *y) const
{
  constexpr bool transposed = std::is_same_v<Operator, TransposedMatrix<Ex>>;

  PetscFunctionBegin;
  if (!tied_) PetscFunctionReturn(PETSC_SUCCESS);
  if (!x) {
    PetscCall(add_tied_blocks(ex, *tied_, factor, transposed, b, y));
  } else if constexpr (transposed) {
    PetscCall(A.residual(ex, b, x, residual_.data()));
    PetscCall(add_tied_blocks(ex, *tied_, factor, true, static_cast<const V *>(residual_.data()), y));
  } else {
    PetscCall(relax_tied_rows(ex, *tied_, factor, b, x, A.halo.template ghost<V>(), y)); // ghosts of x, by the step
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex>
template <class Operator, class D, class V>
PetscErrorCode Smoother<Ex>::apply_scaled(Ex &ex, Operator &A, const D *d, PetscInt sweeps, Guess guess, const V *b, Iterate<V> &x) const
{
  const bool zero_guess = guess != Guess::given;

  PetscFunctionBegin;
  if (sweeps == 0 && zero_guess) PetscCall(fill(ex, A.rows, 0, x.here));
  for (PetscInt s = 0; s < sweeps; s++) {
    for (std::size_t k = 0; k < steps_.size(); k++) {
      if (zero_guess && s == 0 && k == 0) {
        if (guess == Guess::zero) PetscCall(scale(ex, A.rows, steps_[0].factor, d, b, x.here));
        PetscCall(step_of_tied_rows(ex, A, steps_[0].factor, b, static_cast<const V *>(nullptr), x.here));
        continue;
      }
      const bool from_zero = zero_guess && s == 0 && k == 1;
      PetscCall(A.relax(ex, d, steps_[k], b, x.here, from_zero ? nullptr : x.there, x.there));
      PetscCall(step_of_tied_rows(ex, A, steps_[k].factor, b, static_cast<const V *>(x.here), x.there));
      std::swap(x.here, x.there);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex>
template <class Operator, class V>
PetscErrorCode Smoother<Ex>::apply_factors(Ex &ex, Operator &A, PetscInt sweeps, Guess guess, const V *b, Iterate<V> &x) const
{
  constexpr bool transposed = std::is_same_v<Operator, TransposedMatrix<Ex>>;
  const bool zero_guess = guess == Guess::zero;

  PetscFunctionBegin;
  if (sweeps == 0 && zero_guess) PetscCall(fill(ex, A.rows, 0, x.here));
  for (PetscInt s = 0; s < sweeps; s++) {
    if (zero_guess && s == 0) {
      PetscCall(ilu_->solve(ex, transposed, b, x.here));
      continue;
    }
    PetscCall(A.residual(ex, b, x.here, x.there));
    PetscCall(ilu_->solve(ex, transposed, static_cast<const V *>(x.there), x.there));
    PetscCall(add(ex, A.rows, x.there, x.here));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex>
template <class Operator, class V>
PetscErrorCode Smoother<Ex>::apply(Ex &ex, Operator &A, SweepOrder order, PetscInt sweeps, Guess guess, const V *b, Iterate<V> &x) const
{
  if constexpr (std::is_same_v<V, double>) {
    if (gauss_seidel_) return gauss_seidel_->apply(ex, A, order, sweeps, guess, d_.data(), b, x);
  }
  if (has_factors()) return apply_factors(ex, A, sweeps, guess, b, x);
  if constexpr (std::is_same_v<V, double>) {
    if (d_.size() > 0) return apply_scaled(ex, A, d_.data(), sweeps, guess, b, x);
  }
  return apply_scaled(ex, A, single_.data(), sweeps, guess, b, x);
}

template <class Ex>
template <class Operator, class V>
PetscErrorCode Smoother<Ex>::residual(Ex &ex, Operator &A, PetscInt sweeps, Guess guess, const V *b, Iterate<V> &x) const
{
  if constexpr (std::is_same_v<V, double>) {
    if (gauss_seidel_) return gauss_seidel_->residual(ex, A, sweeps, guess, d_.data(), b, x);
  }
  return A.residual(ex, b, static_cast<const V *>(x.here), x.there);
}

#define INSTANTIATE_OPERATOR(Ex, Operator, V)                                                                                              \
  template PetscErrorCode Smoother<Ex>::apply(Ex &, Operator &, SweepOrder, PetscInt, Guess, const V *, Iterate<V> &) const;               \
  template PetscErrorCode Smoother<Ex>::residual(Ex &, Operator &, PetscInt, Guess, const V *, Iterate<V> &) const;
#define INSTANTIATE(Ex)                                                                                                                    \
  template class Smoother<Ex>;                                                                                                             \
  INSTANTIATE_OPERATOR(Ex, DistMatrix<Ex>, float)                                                                                          \
  INSTANTIATE_OPERATOR(Ex, DistMatrix<Ex>, double)                                                                                         \
  INSTANTIATE_OPERATOR(Ex, TransposedMatrix<Ex>, double)                                                                                   \
  template FirstStep<float> Smoother<Ex>::first_step(int, PetscInt, float *) const;                                                        \
  template FirstStep<double> Smoother<Ex>::first_step(int, PetscInt, double *) const;
AMGKIT_FOR_ALL_SPACES(INSTANTIATE)
#undef INSTANTIATE
#undef INSTANTIATE_OPERATOR
} // namespace amgkit
