#include "krylov/fgmres.hpp"

#include <cmath>

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
  Rotated next{last_, 0, 0, 1, right_.back()};

  for (std::size_t j = 0; j < columns_.size(); j++) {
    const auto &[above, diagonal, cosine, sine, before] = columns_[j];
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
} // namespace amgkit
