#include "krylov/fgmres.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <petscblaslapack.h>

namespace amgkit
{
namespace
{
// What is smaller beside ||w|| is rounding.
constexpr double negligible = 1e-14;
} // namespace

void HessenbergProblem::begin(double beta)
{
  *this = {};
  right_ = {beta};
}

double HessenbergProblem::add(const FgmresColumn &column)
{
  const std::size_t k = columns_.size();

  // u_k = Σ s_c v_c + ν v_k
  if (k == 0) {
    right_[0] *= column.pairs[0].s;
  } else {
    for (std::size_t c = 0; c < k; c++) last_[c] += sigma_ * column.pairs[c].s;
    below_ = sigma_ * column.pairs[k].s;
    right_.pop_back();
    right_.back() = columns_.back().before;
    columns_.pop_back();
    rotate();
  }
  last_.clear();
  for (const FgmresPair &pair : column.pairs) last_.push_back(pair.h);
  sigma_ = column.numbers.sigma;
  size_ = std::sqrt(column.numbers.w_w);
  below_ = sigma_ * std::sqrt(column.numbers.u_u);
  rotate();
  exhausted_ = below_ <= negligible * size_;
  return std::abs(right_.back());
}

// The rotation that takes the last column's entry below the diagonal away. A column that is one of those before leaves the residual.
void HessenbergProblem::rotate()
{
  Rotated next{last_, 0, 0, 1, right_.back(), size_};

  for (std::size_t j = 0; j < columns_.size(); j++) {
    const auto &[above, diagonal, cosine, sine, before, size] = columns_[j];
    const double upper = next.above[j], lower = next.above[j + 1];
    next.above[j] = cosine * upper + sine * lower;
    next.above[j + 1] = cosine * lower - sine * upper;
  }
  const double corner = next.above.back(), length = std::hypot(corner, below_);
  next.above.pop_back();
  if (!(length <= negligible * size_)) {
    next.diagonal = length;
    next.cosine = corner / length;
    next.sine = below_ / length;
  }
  right_.back() = next.cosine * next.before;
  right_.push_back(-next.sine * next.before);
  columns_.push_back(std::move(next));
}

std::vector<double> HessenbergProblem::solution() const
{
  std::vector<double> y(columns_.size());
  for (std::size_t k = y.size(); k-- > 0;) {
    double rest = right_[k];
    for (std::size_t j = k + 1; j < y.size(); j++) rest -= columns_[j].above[k] * y[j];
    y[k] = columns_[k].diagonal == 0 ? 0 : rest / columns_[k].diagonal;
  }
  return y;
}

double HessenbergProblem::rounding() const
{
  const std::vector<double> y = solution();
  double sum = 0;
  for (std::size_t k = 0; k < y.size(); k++) sum += std::abs(y[k]) * columns_[k].size;
  return std::numeric_limits<double>::epsilon() * sum;
}

PetscErrorCode HessenbergProblem::extreme_singular_values(double *most, double *least) const
{
  const std::size_t n = columns_.size();
  std::vector<double> triangle(n * n), values(n), work(5 * n);
  PetscBLASInt size = 0, work_size = 0, info = 0, one = 1;
  double none = 0;

  PetscFunctionBegin;
  *most = *least = 1;
  if (n == 0) PetscFunctionReturn(PETSC_SUCCESS);
  for (std::size_t j = 0; j < n; j++) {
    std::copy(columns_[j].above.begin(), columns_[j].above.end(), triangle.begin() + static_cast<std::ptrdiff_t>(j * n));
    triangle[j * n + j] = columns_[j].diagonal;
  }
  PetscCall(PetscBLASIntCast(static_cast<PetscInt>(n), &size));
  PetscCall(PetscBLASIntCast(static_cast<PetscInt>(work.size()), &work_size));
  PetscCall(PetscFPTrapPush(PETSC_FP_TRAP_OFF));
  LAPACKgesvd_("N", "N", &size, &size, triangle.data(), &size, values.data(), &none, &one, &none, &one, work.data(), &work_size, &info);
  PetscCall(PetscFPTrapPop());
  PetscCheck(info == 0, PETSC_COMM_SELF, PETSC_ERR_LIB, "LAPACK gesvd returned %d", static_cast<int>(info));
  *most = values.front();
  *least = values.back();
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The rotations back give H's columns: their entries below the diagonal but one are 0.
PetscErrorCode HessenbergProblem::eigenvalues(std::vector<std::complex<double>> *values) const
{
  const std::size_t n = columns_.size();
  std::vector<double> H(n * n), real(n), imaginary(n), work(5 * n);
  PetscBLASInt size = 0, work_size = 0, info = 0, one = 1;
  double none = 0;

  PetscFunctionBegin;
  values->clear();
  if (n == 0) PetscFunctionReturn(PETSC_SUCCESS);
  for (std::size_t j = 0; j < n; j++) {
    std::vector<double> column = columns_[j].above;
    column.push_back(columns_[j].diagonal);
    column.push_back(0);
    for (std::size_t i = j + 1; i-- > 0;) {
      const double upper = column[i], lower = column[i + 1];
      column[i] = columns_[i].cosine * upper - columns_[i].sine * lower;
      column[i + 1] = columns_[i].sine * upper + columns_[i].cosine * lower;
    }
    std::copy_n(column.begin(), std::min(j + 2, n), H.begin() + static_cast<std::ptrdiff_t>(j * n));
  }
  PetscCall(PetscBLASIntCast(static_cast<PetscInt>(n), &size));
  PetscCall(PetscBLASIntCast(static_cast<PetscInt>(work.size()), &work_size));
  PetscCall(PetscFPTrapPush(PETSC_FP_TRAP_OFF));
  LAPACKgeev_("N", "N", &size, H.data(), &size, real.data(), imaginary.data(), &none, &one, &none, &one, work.data(), &work_size, &info);
  PetscCall(PetscFPTrapPop());
  PetscCheck(info == 0, PETSC_COMM_SELF, PETSC_ERR_LIB, "LAPACK geev returned %d", static_cast<int>(info));
  for (std::size_t k = 0; k < n; k++) values->emplace_back(real[k], imaginary[k]);
  std::stable_sort(values->begin(), values->end(), [](const auto &a, const auto &b) { return a.real() < b.real(); });
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace amgkit
