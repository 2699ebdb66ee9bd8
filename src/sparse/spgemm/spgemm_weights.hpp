// How many products the entries of the left factor, and rows of C, lead to.
#pragma once

namespace amgkit::spgemm
{
// sum[i] <- sum of weight[j] over the entries of row i of A, at most 2^31 - 1
template <class Ex> PetscErrorCode weigh_rows(Ex &ex, const CsrView<double> &A, const int *weight, int *sum)
{
  return for_rows(ex, A.rows, A.average(), [=] AMGKIT_FN(auto team, std::int64_t i) {
    std::int64_t n = 0;
    for (int k : team.share(A.ptr[i], A.ptr[i + 1])) n += weight[A.col[k]];
    n = team.sum(n);
    team.once([&] { sum[i] = n < INT32_MAX ? static_cast<int>(n) : INT32_MAX; });
  });
}

// weight[j]: the products that an entry in column j of the left factor leads to
template <class Ex> PetscErrorCode weigh_columns(Ex &ex, const TwoFactors &in, Array<int, Ex> &weights)
{
  PetscFunctionBegin;
  PetscCall(weights.allocate(ex, in.B.rows));
  int *weight = weights.data();
  const int *ptr = in.B.ptr;
  PetscCall(for_each(ex, in.B.rows, [=] AMGKIT_FN(std::int64_t j) { weight[j] = ptr[j + 1] - ptr[j]; }));
  PetscFunctionReturn(PETSC_SUCCESS);
}
template <class Ex> PetscErrorCode weigh_columns(Ex &ex, const ThreeFactors &in, Array<int, Ex> &weights)
{
  Array<int, Ex> lengths;

  PetscFunctionBegin;
  PetscCall(weigh_columns(ex, TwoFactors{in.A, in.B}, lengths));
  PetscCall(weights.allocate(ex, in.A.rows));
  PetscCall(weigh_rows(ex, in.A, lengths.data(), weights.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace amgkit::spgemm
