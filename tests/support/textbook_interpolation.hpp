// The formulas of classical interpolation, entry by entry on dense rows.
#pragma once
#include "graph/interpolation.hpp"
#include "support/gallery.hpp"

namespace amgkit::test
{
using Dense = std::vector<std::vector<double>>;
using Entries = std::map<std::pair<int, int>, double>;
using Flags = std::vector<unsigned char>;

class Textbook {
public:
  // j is strong for i by the rule of graph/strength.hpp; entries between different unknowns, i mod unknowns, are left out.
  Textbook(const HostCsr &A, double theta, double max_row_sum, Flags coarse, int unknowns = 1);
  // P's entries but those that are 0
  Entries prolongator(InterpolationKind) const;
  bool strong(int i, int j) const { return strong_[i][j]; }
  bool depends_on_nothing(int i) const;
  double row_sum(int i) const;

private:
  bool path(int i, int k) const { return strong_[i][k] && !coarse_[k]; } // i, k in F
  double beta(int k) const;
  double mean(int k) const;
  double theta_of(int i) const; // alpha + gamma
  std::vector<double> direct(int i) const;
  std::vector<double> extended(InterpolationKind, int i) const;

  int n_;
  Dense a_;
  std::vector<Flags> strong_;
  Flags coarse_;
};

// One point in so many, chosen by hash
Flags scattered(int n, unsigned one_in);
// Entries that one of both has not are 0 there.
void expect_near(const Entries &got, const Entries &expected, const std::string &what);
} // namespace amgkit::test
