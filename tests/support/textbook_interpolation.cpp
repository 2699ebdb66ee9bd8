#include "support/textbook_interpolation.hpp"

#include "base/hash.hpp"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

namespace amgkit::test
{
Textbook::Textbook(const HostCsr &A, double theta, double max_row_sum, Flags coarse, int unknowns)
    : n_(A.rows), a_(A.rows, std::vector<double>(A.rows)), strong_(A.rows, Flags(A.rows)), coarse_(std::move(coarse))
{
  for (int i = 0; i < n_; i++) {
    double extreme = 0, sum = 0;
    for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) {
      if (A.col[k] % unknowns == i % unknowns) a_[i][A.col[k]] = A.val[k];
    }
    const double sign = a_[i][i] < 0 ? -1 : 1;
    for (int j = 0; j < n_; j++) {
      sum += a_[i][j];
      if (j != i) extreme = std::min(extreme, sign * a_[i][j]);
    }
    const bool weak = max_row_sum < 1 && std::abs(sum) > max_row_sum * std::abs(a_[i][i]);
    for (int j = 0; j < n_; j++) strong_[i][j] = j != i && !weak && sign * a_[i][j] < theta * extreme;
  }
}

bool Textbook::depends_on_nothing(int i) const { return std::count(strong_[i].begin(), strong_[i].end(), 0) == n_; }

double Textbook::row_sum(int i) const
{
  double sum = 0;
  for (const double value : a_[i]) sum += value;
  return sum;
}

double Textbook::beta(int k) const
{
  double sum = 0;
  for (int j = 0; j < n_; j++) sum += strong_[k][j] && coarse_[j] ? a_[k][j] : 0;
  return sum;
}

double Textbook::mean(int k) const
{
  double sum = 0;
  int count = 0;
  for (int j = 0; j < n_; j++) {
    if (!path(k, j)) continue;
    sum += a_[k][j];
    count++;
  }
  return count > 0 ? sum / count : 0;
}

double Textbook::theta_of(int i) const
{
  double sum = 0;
  for (int j = 0; j < n_; j++) sum += strong_[i][j] ? 0 : a_[i][j];
  return sum;
}

std::vector<double> Textbook::direct(int i) const
{
  std::vector<double> p(n_);
  double d = a_[i][i];
  for (const double sign : {-1.0, 1.0}) {
    double all = 0, kept = 0;
    for (int j = 0; j < n_; j++) {
      if (j == i || sign * a_[i][j] <= 0) continue;
      all += a_[i][j];
      if (strong_[i][j] && coarse_[j]) kept += a_[i][j];
    }
    if (kept == 0) d += all;
    for (int j = 0; j < n_; j++) {
      if (kept != 0 && strong_[i][j] && coarse_[j] && sign * a_[i][j] > 0) p[j] = -all / kept * a_[i][j];
    }
  }
  for (double &value : p) value = value != 0 ? value / d : 0;
  return p;
}

std::vector<double> Textbook::extended(InterpolationKind kind, int i) const
{
  std::vector<double> p(n_);
  double theta = theta_of(i);
  const auto take = [&](int k, double w) {
    for (int j = 0; j < n_; j++) {
      if (strong_[k][j] && coarse_[j]) p[j] += w * a_[k][j];
    }
  };
  take(i, 1);
  for (int k = 0; k < n_; k++) {
    if (!path(i, k)) continue;
    const double b = beta(k), back = path(k, i) ? a_[k][i] : 0, mu = mean(k);
    if (kind == InterpolationKind::ext) {
      b != 0 ? take(k, a_[i][k] / b) : static_cast<void>(theta += a_[i][k]);
    } else if (kind == InterpolationKind::ext_i) {
      theta += b + back != 0 ? back * a_[i][k] / (b + back) : a_[i][k];
      if (b + back != 0) take(k, a_[i][k] / (b + back));
    } else if (b + mu != 0) {
      theta += a_[i][k] * mu / (b + mu);
      take(k, a_[i][k] / (b + mu));
    }
  }
  for (double &value : p) value = theta != 0 ? -value / theta : 0;
  return p;
}

Entries Textbook::prolongator(InterpolationKind kind) const
{
  Entries P;
  std::vector<int> number(n_);
  for (int i = 0, next = 0; i < n_; i++) number[i] = coarse_[i] ? next++ : -1;
  for (int i = 0; i < n_; i++) {
    std::vector<double> p(n_);
    if (coarse_[i])
      p[i] = 1;
    else if (kind == InterpolationKind::direct)
      p = direct(i);
    else
      p = extended(kind, i);
    for (int j = 0; j < n_; j++) {
      if (p[j] != 0) P[{i, number[j]}] = p[j];
    }
  }
  return P;
}

Flags scattered(int n, unsigned one_in)
{
  Flags coarse(n);
  for (int i = 0; i < n; i++) coarse[i] = hash64(static_cast<std::uint64_t>(i)) % one_in == 0;
  return coarse;
}
// Entries that one of both has not are 0 there.
void expect_near(const Entries &got, const Entries &expected, const std::string &what)
{
  std::map<int, double> largest;
  for (const auto &[where, value] : expected) largest[where.first] = std::max(largest[where.first], std::abs(value));
  const auto value_in = [](const Entries &entries, const std::pair<int, int> &where) {
    const auto at = entries.find(where);
    return at == entries.end() ? 0.0 : at->second;
  };
  const auto compare = [&](const Entries &entries) {
    for (const auto &[where, value] : entries) {
      ASSERT_NEAR(value_in(got, where), value_in(expected, where), 1e-11 * (1e-3 + largest[where.first]))
          << what << " at " << where.first << ", " << where.second;
    }
  };
  compare(got);
  compare(expected);
}
} // namespace amgkit::test
