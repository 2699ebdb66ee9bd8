// Host vectors that the tests of products compare.
#pragma once
#include <cmath>
#include <cstdint>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace amgkit::test
{
inline std::vector<double> wave(std::int64_t n, double step)
{
  std::vector<double> x(n);
  for (std::int64_t i = 0; i < n; i++) x[i] = std::sin(step * static_cast<double>(i) + 0.5);
  return x;
}

template <class To, class From> std::vector<To> rounded(const std::vector<From> &x)
{
  std::vector<To> y;
  for (const From value : x) y.push_back(static_cast<To>(value));
  return y;
}

inline void expect_close(const std::vector<double> &got, const std::vector<double> &expected, double tolerance, const std::string &name)
{
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); i++)
    ASSERT_NEAR(got[i], expected[i], tolerance * (1 + std::abs(expected[i]))) << name << " row " << i;
}
} // namespace amgkit::test
