#include "amg/spectral_radius.hpp"

#include "amg/lanczos.hpp"
#include "dist/attempt.hpp"
#include "dist/global_sum.hpp"
#include "sparse/formats/spmv.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <petscblaslapack.h>
#include <utility>

namespace amgkit
{
namespace
{
bool same(double xAy, double yAx, double size) // no squares, which may be no numbers
{
  constexpr double rounding = 1e-12;
  return std::abs(xAy - yAx) <= rounding * size;
}

bool is_symmetric(const std::vector<double> &scalars)
{
  const double *step = scalars.data() + lanczos_scalars;
  return same(step[1], step[4], step[2]);
}

// From the scalars of lanczos.hpp: the eigenvalues of the tridiagonal matrix T of the steps taken, ascending, and the length of the
// residual of the largest one's Ritz vector, |w_m| times the last entry of T's eigenvector. T ends where the space was exhausted.
struct RitzValues {
  std::vector<double> values;
  double residual = 0;
  bool finite = true; // else there are none, as T's entries are no numbers
};

PetscErrorCode ritz_values(const std::vector<double> &scalars, int steps_taken, RitzValues *ritz)
{
  std::vector<double> beside;
  std::vector<double> &diagonal = ritz->values;
  PetscBLASInt n, info = 0;

  PetscFunctionBegin;
  *ritz = {};
  const double *step = scalars.data();
  for (int k = 0; k < steps_taken && step[0] > 0; k++, step += lanczos_scalars) {
    if (k > 0) beside.push_back(std::sqrt(step[0]));
    diagonal.push_back(step[3] / step[0]);
  }
  const auto finite = [](double x) { return std::isfinite(x); };
  const double left =
      std::sqrt(step[0] > 0 || std::isnan(step[0]) ? step[0] : 0); // not negative, but with tied rows of a nonsymmetric matrix
  ritz->finite = finite(left) && std::all_of(diagonal.begin(), diagonal.end(), finite) && std::all_of(beside.begin(), beside.end(), finite);
  if (!ritz->finite) diagonal.clear();
  if (diagonal.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  const std::size_t steps = diagonal.size();
  std::vector<double> vectors(steps * steps), work(2 * steps);
  n = static_cast<PetscBLASInt>(steps);
  beside.push_back(0);
  LAPACKsteqr_("I", &n, diagonal.data(), beside.data(), vectors.data(), &n, work.data(), &info);
  PetscCheck(info == 0, PETSC_COMM_SELF, PETSC_ERR_LIB, "LAPACK steqr returned %d", static_cast<int>(info));
  ritz->residual = left * std::abs(vectors.back());
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The last bits of such numbers may differ between ranks, which all have to go the same way: rank 0's count.
PetscErrorCode agree(MPI_Comm comm, double *numbers, int n)
{
  PetscFunctionBegin;
  PetscCallMPI(MPI_Bcast(numbers, n, MPI_DOUBLE, 0, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> struct Work {
  Array<double, Ex> x, y, product, scaled, work, scalars; // scaled: with tied rows alone

  PetscErrorCode allocate(Ex &ex, const DistMatrix<Ex> &A, int steps, bool tied = false)
  {
    return attempt(A.comm, [&] {
      PetscFunctionBegin;
      PetscCall(allocate_each(ex, A.rows, x, y, product));
      if (tied) PetscCall(scaled.allocate(ex, A.rows));
      PetscCall(work.allocate(ex, 3 * sum_parts_of(A.rows)));
      PetscCall(scalars.allocate(ex, (steps + 1) * lanczos_scalars));
      PetscFunctionReturn(PETSC_SUCCESS);
    });
  }
};

// Lanczos' recurrence for D⁻¹ A or M⁻¹ A, of at most `most` steps, from a hash vector on.
template <class Ex> class Lanczos {
public:
  Lanczos(Ex &ex, DistMatrix<Ex> &A, const Scaling<Ex> &scaling, int most, SpectrumOf entries = SpectrumOf::stored_entries)
      : ex_(ex), A_(A), d_(scaling.d), tied_(scaling.tied), most_(most), entries_(entries)
  {}

  // Collective, as all that follows.
  PetscErrorCode start(bool balanced)
  {
    PetscFunctionBegin;
    PetscCall(memory_.allocate(ex_, A_, most_, tied_ != nullptr));
    w_ = memory_.x.data();
    before_ = memory_.y.data();
    PetscCall(lanczos_start(ex_, A_.rows, A_.range.first(), d_, balanced, w_, memory_.work.data(), memory_.scalars.data()));
    if (!tied_) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(multiply(w_, memory_.product.data()));
    PetscCall(scale_product());
    PetscCall(lanczos_start_from(ex_, A_.rows, d_, memory_.product.data(), scaled(), w_, memory_.work.data(), memory_.scalars.data()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  // Between start() and the first step: the vector becomes orthogonal to z in the inner product of |D| if z^T A z is at most small z^T |D|
  // z in size.
  PetscErrorCode keep_out(const double *z, double small)
  {
    double *sums = memory_.scalars.data() + lanczos_scalars;
    std::vector<double> of_z;

    PetscFunctionBegin;
    PetscCall(multiply(z, memory_.product.data()));
    PetscCall(lanczos_along(ex_, A_.rows, d_, z, memory_.product.data(), w_, memory_.work.data(), sums));
    PetscCall(sum_over_ranks(ex_, A_.comm, half, sums));
    PetscCall(download(ex_, sums, half, of_z));
    PetscCall(agree(A_.comm, of_z.data(), half));
    if (!(of_z[0] > 0 && std::abs(of_z[1]) <= small * of_z[0])) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(lanczos_remove(ex_, A_.rows, d_, z, sums, w_, memory_.work.data(), memory_.scalars.data()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  // So many steps more, and what is known then.
  PetscErrorCode go_on(int steps, std::vector<double> &scalars)
  {
    double *Aw = memory_.product.data(), *work = memory_.work.data(), *s = memory_.scalars.data();

    PetscFunctionBegin;
    for (const int end = taken_ + steps; taken_ < end; taken_++) {
      double *step = s + static_cast<std::ptrdiff_t>(taken_) * lanczos_scalars;
      if (taken_ == 0) PetscCall(sum_over_ranks(ex_, A_.comm, half, step));
      PetscCall(multiply(w_, Aw));
      PetscCall(lanczos_product(ex_, A_.rows, d_, w_, Aw, before_, work, s, taken_));
      PetscCall(sum_over_ranks(ex_, A_.comm, half, step + half));
      if (tied_) PetscCall(scale_product());
      PetscCall(lanczos_next(ex_, A_.rows, d_, w_, Aw, scaled(), before_, work, s, taken_));
      PetscCall(sum_over_ranks(ex_, A_.comm, half, step + lanczos_scalars));
      std::swap(w_, before_);
    }
    PetscCall(download(ex_, s, taken_ * lanczos_scalars + half, scalars));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  int taken() const { return taken_; }

private:
  const double *scaled() const { return tied_ ? memory_.scaled.data() : nullptr; }
  PetscErrorCode multiply(const double *x, double *y)
  {
    return entries_ == SpectrumOf::own_entries ? A_.multiply_exactly(ex_, x, y) : A_.multiply(ex_, x, y);
  }
  // scaled <- M⁻¹ product
  PetscErrorCode scale_product()
  {
    const double *product = memory_.product.data();

    PetscFunctionBegin;
    PetscCall(scale(ex_, A_.rows, 1, d_, product, memory_.scaled.data()));
    PetscCall(add_tied_blocks(ex_, *tied_, 1, false, product, memory_.scaled.data()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  static constexpr int half = lanczos_scalars / 2;
  Ex &ex_;
  DistMatrix<Ex> &A_;
  const double *d_;
  const TiedRows<Ex> *tied_;
  int most_, taken_ = 0;
  SpectrumOf entries_;
  Work<Ex> memory_;
  double *w_ = nullptr, *before_ = nullptr;
};
} // namespace

template <class Ex>
PetscErrorCode estimate_spectrum(Ex &ex, DistMatrix<Ex> &A, const std::type_identity_t<Scaling<Ex>> &scaling, double bound,
                                 Spectrum *spectrum, SpectrumOf entries)
{
  constexpr int few = 4, most = 6;
  constexpr double nearly_all = 0.9, borne = 1.1;
  Lanczos<Ex> lanczos(ex, A, scaling, most, entries);
  std::vector<double> scalars;
  double more = 1;

  PetscFunctionBegin;
  *spectrum = {};
  PetscCall(lanczos.start(false));
  while (more != 0) {
    RitzValues ritz;
    const bool first = lanczos.taken() == 0;
    PetscCall(lanczos.go_on(first ? few : most - few, scalars));
    PetscCall(ritz_values(scalars, lanczos.taken(), &ritz));
    const double seen = ritz.values.empty() ? 0 : ritz.values.back() + ritz.residual;
    spectrum->radius = !ritz.finite ? HUGE_VAL : first ? seen : std::max(spectrum->radius, seen / borne);
    const bool exhausted = static_cast<int>(ritz.values.size()) < lanczos.taken();
    more = !exhausted && lanczos.taken() < most && spectrum->radius < nearly_all * bound ? 1 : 0;
    PetscCall(agree(A.comm, &more, 1));
  }
  spectrum->symmetric = is_symmetric(scalars);
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode estimate_ends(Ex &ex, DistMatrix<Ex> &A, const double *d, const Array<double, Ex> *z, SpectrumEnds *ends)
{
  constexpr int most = 40, at_once = 5;
  constexpr double zero = 1e-6, settled = 0.85;
  Lanczos<Ex> lanczos(ex, A, d, most);
  std::vector<double> scalars;
  std::array<double, 4> found = {0, HUGE_VAL, 0, 0}; // largest, smallest, whether A is symmetric, whether that is all

  PetscFunctionBegin;
  PetscCall(lanczos.start(true));
  if (z) PetscCall(lanczos.keep_out(z->data(), zero));
  while (found[3] == 0) {
    RitzValues ritz;
    const double before = found[1];
    PetscCall(lanczos.go_on(at_once, scalars));
    PetscCall(ritz_values(scalars, lanczos.taken(), &ritz));
    const double largest = !ritz.finite ? HUGE_VAL : ritz.values.empty() ? 0 : ritz.values.back() + ritz.residual;
    const auto counts = [&](double x) { return std::abs(x) > zero * largest; };
    const auto smallest = std::find_if(ritz.values.begin(), ritz.values.end(), counts);
    const bool exhausted = static_cast<int>(ritz.values.size()) < lanczos.taken();
    found[0] = largest;
    found[1] = smallest != ritz.values.end() ? *smallest : largest;
    found[2] = is_symmetric(scalars) ? 1 : 0;
    found[3] = exhausted || lanczos.taken() >= most || found[1] > settled * before ? 1 : 0;
    PetscCall(agree(A.comm, found.data(), 4));
  }
  *ends = {found[1], found[0], found[2] != 0};
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode test_symmetry(Ex &ex, DistMatrix<Ex> &A, bool *symmetric)
{
  Work<Ex> memory;
  std::vector<double> xAy, yAx;

  PetscFunctionBegin;
  *symmetric = false;
  PetscCall(memory.allocate(ex, A, 0));
  double *x = memory.x.data(), *y = memory.y.data(), *product = memory.product.data(), *s = memory.scalars.data();
  PetscCall(hash_vector(ex, A.rows, A.range.first(), 1, x));
  PetscCall(hash_vector(ex, A.rows, A.range.first(), 2, y));
  PetscCall(A.multiply(ex, y, product));
  PetscCall(dot_and_size(ex, A.rows, x, product, memory.work.data(), s));
  PetscCall(A.multiply(ex, x, product));
  PetscCall(dot_and_size(ex, A.rows, y, product, memory.work.data(), s + 2));
  PetscCall(sum_over_ranks(ex, A.comm, 4, s));
  PetscCall(download(ex, s, 2, xAy));
  PetscCall(download(ex, s + 2, 2, yAx));
  *symmetric = same(xAy[0], yAx[0], xAy[1]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

AMGKIT_INSTANTIATE(estimate_spectrum)
AMGKIT_INSTANTIATE(estimate_ends)
AMGKIT_INSTANTIATE(test_symmetry)
} // namespace amgkit
