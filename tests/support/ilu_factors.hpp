// Incomplete factors of host matrices in any space, and how far they are from them.
#pragma once
#include "sparse/ilu0/ilu0.hpp"
#include "support/ilu_matrices.hpp"
#include "support/spaces.hpp"

namespace amgkit::test
{
template <class Ex> std::vector<IluKind> kinds()
{
  std::vector<IluKind> all{IluKind::native};
  if (ilu0_available<Ex>(IluKind::cusparse)) all.push_back(IluKind::cusparse);
  return all;
}

// Symbolic and numeric
template <class Ex> PetscErrorCode factor(Ex &ex, const IluOptions &options, const Csr<double, Ex> &A, Ilu0<Ex> &f, IluReport *report)
{
  PetscFunctionBegin;
  PetscCall(ilu0_symbolic(ex, options, A.view(), f, report));
  if (report->fault == IluFault::none) PetscCall(ilu0_numeric(ex, A.view(), f, report));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The largest |(L U)_ij - a_ij| over A's entries, relative to the sum of what is added there.
inline double defect(const HostCsr &A, const std::vector<double> &lu)
{
  double worst = 0;
  std::vector<double> sum(static_cast<std::size_t>(A.cols), 0), size(sum);
  for (int i = 0; i < A.rows; i++) {
    const auto add = [&](int j, double x) {
      sum[j] += x;
      size[j] += std::abs(x);
    };
    for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) {
      if (A.col[k] >= i) {
        add(A.col[k], lu[k]);
        continue;
      }
      for (int e = A.ptr[A.col[k]]; e < A.ptr[A.col[k] + 1]; e++) {
        if (A.col[e] >= A.col[k]) add(A.col[e], lu[k] * lu[e]);
      }
    }
    for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) {
      const int j = A.col[k];
      if (size[j] > 0) worst = std::max(worst, std::abs(sum[j] - A.val[k]) / size[j]);
    }
    std::fill(sum.begin(), sum.end(), 0);
    std::fill(size.begin(), size.end(), 0);
  }
  return worst;
}
} // namespace amgkit::test
