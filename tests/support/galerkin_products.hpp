// Distributed products R A P beside their definition.
#pragma once
#include "dist/galerkin_product.hpp"
#include "support/coarse_problem.hpp"

#include <array>

namespace amgkit::test
{
using Entries = std::map<std::pair<int, int>, double>;

// Pᵀ A P, its rows first <= I < end; an entry for every product that there is.
inline Entries triple_product(const HostCsr &R_transposed, const HostCsr &A, const HostCsr &P, int first, int end)
{
  Entries AP, C;
  for (int i = 0; i < A.rows; i++) {
    for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) {
      for (int l = P.ptr[A.col[k]]; l < P.ptr[A.col[k] + 1]; l++) AP[{i, P.col[l]}] += A.val[k] * P.val[l];
    }
  }
  for (const auto &[place, value] : AP) {
    const HostCsr &R = R_transposed;
    for (int k = R.ptr[place.first]; k < R.ptr[place.first + 1]; k++) {
      if (R.col[k] >= first && R.col[k] < end) C[{R.col[k], place.second}] += R.val[k] * value;
    }
  }
  return C;
}

// What a rank has of a coarse matrix.
struct Coarse {
  std::vector<PetscInt> ghosts;
  std::vector<int> pattern;
  std::vector<double> values;
  Entries entries; // by global numbers
  bool operator==(const Coarse &) const = default;
};
template <class Ex> PetscErrorCode download(Ex &ex, const DistMatrix<Ex> &A, Coarse &out)
{
  const int first = static_cast<int>(A.range.first());

  PetscFunctionBegin;
  out = {};
  out.ghosts = A.ghosts;
  for (const bool own : {true, false}) {
    HostCsr block;
    PetscCall(download(ex, own ? A.diag.view() : A.offd, block));
    for (int i = 0; i < block.rows; i++) {
      for (int k = block.ptr[i]; k < block.ptr[i + 1]; k++) {
        const int column = block.col[k];
        out.entries[{first + i, own ? first + column : static_cast<int>(A.ghosts[static_cast<std::size_t>(column)])}] = block.val[k];
      }
    }
    out.pattern.insert(out.pattern.end(), block.ptr.begin(), block.ptr.end());
    out.pattern.insert(out.pattern.end(), block.col.begin(), block.col.end());
    out.values.insert(out.values.end(), block.val.begin(), block.val.end());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> struct Product {
  DistributedProblem<Ex> problem;
  GalerkinProduct<Ex> product;
  DistMatrix<Ex> coarse;
  HostCsr whole_R_transposed;
  Prolongator<Ex> R_transposed; // created where R is not Pᵀ

  Product(const CoarseProblem &p, Split rows, Split points) : problem(p, rows, points) {}
  bool own_restriction() const { return R_transposed.comm != MPI_COMM_NULL; }
  TransferOperators<Ex> operators() const { return {problem.P, own_restriction() ? R_transposed : problem.P}; }
  // R is this matrix, transposed.
  PetscErrorCode set_restriction(Ex &ex, const HostCsr &whole)
  {
    PetscFunctionBegin;
    whole_R_transposed = whole;
    std::swap(problem.whole_P, whole_R_transposed);
    PetscCall(problem.set_prolongator(ex, R_transposed.diag, R_transposed.offd, R_transposed.ghosts));
    std::swap(problem.whole_P, whole_R_transposed);
    PetscCall(R_transposed.create(ex, PETSC_COMM_WORLD));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode create(Ex &ex, ProductForm form, const SpgemmOptions &options = {})
  {
    PetscFunctionBegin;
    problem.P.values_change = true;
    PetscCall(problem.P.create(ex, PETSC_COMM_WORLD));
    PetscCall(product.create(ex, form, options, problem.A, operators(), coarse));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

// The pattern and, to rounding, the values; every ghost is there for an entry.
inline void expect_product(const Coarse &got, const HostCsr &R_transposed, const HostCsr &A, const HostCsr &P, int first, int end)
{
  const Entries expected = triple_product(R_transposed, A, P, first, end);
  std::vector<PetscInt> used;
  ASSERT_EQ(got.entries.size(), expected.size());
  for (auto mine = got.entries.begin(), other = expected.begin(); mine != got.entries.end(); ++mine, ++other) {
    ASSERT_EQ(mine->first, other->first);
    ASSERT_NEAR(mine->second, other->second, 1e-11 * (1 + std::abs(other->second)));
    if (mine->first.second < first || mine->first.second >= end) used.push_back(mine->first.second);
  }
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  EXPECT_EQ(got.ghosts, used);
  EXPECT_EQ(got.values.size(), got.entries.size());
}

template <class Ex> void expect_product(const Coarse &got, const Product<Ex> &of)
{
  const DistributedProblem<Ex> &problem = of.problem;
  const int first = problem.first_point();
  ASSERT_EQ(of.coarse.range, problem.points);
  ASSERT_EQ(of.coarse.rows, problem.P.diag.cols);
  expect_product(got, of.own_restriction() ? of.whole_R_transposed : problem.whole_P, problem.whole_A, problem.whole_P, first,
                 first + of.coarse.rows);
}

// The product as made and as refreshed with new values of A.
template <class Ex> void take_and_refresh(Ex &ex, Product<Ex> &made, std::array<Coarse, 2> &got)
{
  OK(download(ex, made.coarse, got[0]));
  for (double &value : made.problem.whole_A.val) value = 0.1 - value * 1.25;
  OK(made.problem.set_matrix(ex));
  OK(made.product.refresh(ex, made.problem.A, made.operators(), made.coarse));
  OK(download(ex, made.coarse, got[1]));
}

template <class Ex> std::int64_t allocations_of(const Ex &ex)
{
  if constexpr (std::is_same_v<Ex, Debug>)
    return ex.allocations;
  else
    return 0;
}

inline SpgemmOptions in_slices(std::int64_t product_bytes)
{
  SpgemmOptions options;
  options.product_bytes = product_bytes;
  return options;
}

inline SpgemmOptions in_windows(std::int64_t window_bytes)
{
  SpgemmOptions options;
  options.window_bytes = window_bytes;
  return options;
}

inline constexpr ProductForm both_forms[] = {ProductForm::two_products, ProductForm::at_once};
} // namespace amgkit::test
