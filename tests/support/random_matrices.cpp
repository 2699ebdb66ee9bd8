#include "support/random_matrices.hpp"

#include <algorithm>
#include <cmath>
#include <random>

namespace amgkit::test
{
namespace
{
using Entries = std::map<std::pair<int, int>, double>;

// The standard library's distributions differ between implementations; its engines do not.
class Dice {
public:
  explicit Dice(unsigned seed) : engine_(seed * 2654435761U + 1) {}
  int below(int n) { return static_cast<int>(engine_() % static_cast<unsigned>(n)); }
  double real(double from, double to) { return from + (to - from) * (static_cast<double>(engine_()) / 4294967296.0); }
  bool once_in(int n) { return below(n) == 0; }

private:
  std::mt19937 engine_;
};

class Draft {
public:
  explicit Draft(unsigned seed) : dice_(seed)
  {
    block_size = dice_.once_in(3) ? 2 + dice_.below(2) : 1;
    n = block_size * (1 + (dice_.once_in(8) ? dice_.below(400) : dice_.below(60)) / block_size);
    symmetric_ = dice_.once_in(2);
    positive_ = dice_.once_in(3);
    off_diagonal();
    if (dice_.once_in(4)) dense_row();
    if (dice_.once_in(4)) cut("isolated rows, ", true);
    if (dice_.once_in(4)) cut("Dirichlet rows, ", false);
    if (dice_.once_in(5)) explicit_zeros();
    diagonal();
    if (dice_.once_in(4)) scale();
    if (dice_.once_in(5)) negate();
    if (dice_.once_in(20)) mixed_signs();
  }

  std::vector<int> partition(int ranks)
  {
    std::vector<int> rows(static_cast<std::size_t>(ranks));
    const bool gaps = dice_.once_in(2);
    int left = n / block_size;
    for (int r = 0; r + 1 < ranks; r++) {
      const int part = gaps && dice_.once_in(2) ? 0 : dice_.below(left + 1);
      rows[r] = part * block_size;
      left -= part;
    }
    rows.back() = left * block_size;
    return rows;
  }

  int n, block_size;
  bool tame = true, definite = true;
  Entries entries;
  std::string description;

private:
  double coupling() { return dice_.real(0.01, 1) * (positive_ && dice_.once_in(3) ? 1 : -1); }
  void couple(int i, int j, bool both)
  {
    if (i == j) return;
    entries[{i, j}] = coupling();
    if (symmetric_)
      entries[{j, i}] = entries[{i, j}];
    else if (both)
      entries[{j, i}] = coupling();
  }
  // Nodes of block_size unknowns each: an unknown is coupled to its like in other nodes, and now and then to others.
  void off_diagonal()
  {
    const int nodes = n / block_size, count = nodes * (1 + dice_.below(4));
    const bool local = dice_.once_in(2);
    for (int k = 0; k < count; k++) {
      const int from = dice_.below(nodes), to = local ? std::min(nodes - 1, from + 1 + dice_.below(3)) : dice_.below(nodes);
      const bool both = local && dice_.once_in(2);
      for (int c = 0; c < block_size; c++) {
        couple(from * block_size + c, to * block_size + c, both);
        if (dice_.once_in(4)) couple(from * block_size + c, to * block_size + dice_.below(block_size), both);
      }
    }
    description += symmetric_ ? "symmetric, " : "not symmetric, ";
    if (positive_) description += "positive couplings, ";
  }
  void dense_row()
  {
    const int i = dice_.below(n);
    for (int j = 0; j < n; j++) couple(i, j, false);
    description += "a dense row, ";
  }
  // Some rows lose their couplings, and the others their couplings to them if columns says so.
  void cut(const char *name, bool columns)
  {
    std::vector<bool> alone(static_cast<std::size_t>(n));
    for (int i = 0; i < n; i++) alone[i] = dice_.once_in(4);
    for (auto entry = entries.begin(); entry != entries.end();) {
      const auto [i, j] = entry->first;
      entry = alone[i] || (columns && alone[j]) ? entries.erase(entry) : std::next(entry);
    }
    symmetric_ = symmetric_ && columns;
    description += name;
  }
  void explicit_zeros()
  {
    for (auto &[where, value] : entries)
      if (dice_.once_in(3)) value = 0;
    description += "stored zeros, ";
  }
  // Dominant by rows and by columns
  void diagonal()
  {
    const double more = dice_.once_in(3) ? 1e-3 : dice_.real(0.01, 1);
    std::vector<double> by_row(static_cast<std::size_t>(n)), by_column(static_cast<std::size_t>(n));
    for (const auto &[where, value] : entries) {
      by_row[where.first] += std::abs(value);
      by_column[where.second] += std::abs(value);
    }
    for (int i = 0; i < n; i++) entries[{i, i}] = std::max(by_row[i], by_column[i]) + more;
  }
  // D A D or D A, with wide D or narrow
  void scale()
  {
    const bool wide = dice_.once_in(2), both = dice_.once_in(2), uniform = dice_.once_in(3);
    const double most = !wide ? 1.5 : both ? 75 : 150, all = dice_.real(-most, most);
    std::vector<double> exponent(static_cast<std::size_t>(n));
    for (double &e : exponent) e = uniform ? all : dice_.real(-most, most);
    for (auto &[where, value] : entries) value *= std::pow(10, exponent[where.first] + (both ? exponent[where.second] : 0));
    tame = tame && !wide;
    description +=
        std::string(wide ? "wide" : "narrow") + (uniform ? " uniform" : "") + (both ? " scaling of both sides, " : " scaling of rows, ");
  }
  void negate()
  {
    for (auto &[where, value] : entries) value = -value;
    description += "negative, ";
  }
  void mixed_signs()
  {
    if (n < 2) return;
    const int i = dice_.below(n);
    entries[{i, i}] *= -1;
    definite = tame = false;
    description += "diagonal of both signs, ";
  }

  Dice dice_;
  bool symmetric_, positive_;
};
} // namespace

RandomMatrix random_matrix(unsigned seed, int ranks)
{
  Draft draft(seed);
  RandomMatrix matrix;
  matrix.description = "seed " + std::to_string(seed) + ": " + draft.description + std::to_string(draft.n) + " rows, blocks of " +
                       std::to_string(draft.block_size);
  matrix.A = make_csr(draft.n, draft.n, draft.entries);
  matrix.block_size = draft.block_size;
  matrix.tame = draft.tame;
  matrix.definite = draft.definite;
  matrix.local_rows = draft.partition(ranks);
  return matrix;
}
} // namespace amgkit::test
