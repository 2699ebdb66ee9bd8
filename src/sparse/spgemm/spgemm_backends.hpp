// The back ends of spgemm.hpp, for spgemm.cpp: factors that fit each other, and have entries, or the product has rows that are given.
#pragma once
#include "sparse/spgemm/spgemm.hpp"

namespace amgkit
{
// If one pass finds pattern and values, and there are at most most_values of them, C.val is set. Else it is as with_values says.
template <class Ex>
PetscErrorCode native_symbolic(Ex &, const SpgemmOptions &, CsrView<double> A, CsrView<double> B, std::int64_t most_values,
                               const GivenRows &given, Csr<double, Ex> &C, SpgemmPlan<Ex> &plan);
// part: nullptr for all rows
template <class Ex>
PetscErrorCode native_numeric(Ex &, const SpgemmPlan<Ex> &plan, const SpgemmPart *part, CsrView<double> A, CsrView<double> B,
                              const SpgemmRows &C);
// spgemm_note_places() of a product that has entries
template <class Ex>
PetscErrorCode native_note_places(Ex &, CsrView<double> A, CsrView<double> B, const Csr<double, Ex> &C, SpgemmPlan<Ex> &plan);
// The part of native_numeric() for plans of blocks, and its own parts.
template <class Ex>
PetscErrorCode native_block_numeric(Ex &, const SpgemmPlan<Ex> &plan, CsrView<double> A, CsrView<double> B, const SpgemmRows &C);
template <class Ex>
PetscErrorCode native_wide_block_numeric(Ex &, const SpgemmPlan<Ex> &plan, CsrView<double> A, CsrView<double> B, const SpgemmRows &C);
template <class Ex>
PetscErrorCode native_noted_block_numeric(Ex &, const SpgemmPlan<Ex> &plan, CsrView<double> A, CsrView<double> B, const SpgemmRows &C);
template <class Ex>
PetscErrorCode native_noted_wide_block_numeric(Ex &, const SpgemmPlan<Ex> &plan, CsrView<double> A, CsrView<double> B, const SpgemmRows &C);
template <class Ex>
PetscErrorCode native_symbolic(Ex &, const SpgemmOptions &, CsrView<double> R, CsrView<double> A, CsrView<double> P, Csr<double, Ex> &C,
                               SpgemmPlan<Ex> &plan);
template <class Ex>
PetscErrorCode native_numeric(Ex &, const SpgemmPlan<Ex> &plan, CsrView<double> R, CsrView<double> A, CsrView<double> P,
                              const SpgemmRows &C);

PetscErrorCode cusparse_symbolic(Cuda &, CsrView<double> A, CsrView<double> B, Csr<double, Cuda> &C, std::unique_ptr<SpgemmState> &state);
PetscErrorCode cusparse_numeric(Cuda &, SpgemmState &state, CsrView<double> A, CsrView<double> B, Csr<double, Cuda> &C);

// Whether Kokkos can run here: one with CUDA needs a GPU, on hosts too.
bool kokkos_works();
PetscErrorCode kokkos_symbolic(Cuda &, CsrView<double> A, CsrView<double> B, Csr<double, Cuda> &C, std::unique_ptr<SpgemmState> &state);
PetscErrorCode kokkos_numeric(Cuda &, SpgemmState &state, CsrView<double> A, CsrView<double> B, Csr<double, Cuda> &C);
// On any host. C's ptr; its columns in order, after that; its values.
PetscErrorCode kokkos_count(const CsrView<double> &A, const CsrView<double> &B, int *ptr, std::unique_ptr<SpgemmState> &state);
PetscErrorCode kokkos_columns(SpgemmState &state, const CsrView<double> &A, const CsrView<double> &B, int *col);
PetscErrorCode kokkos_numeric(SpgemmState &state, const CsrView<double> &A, const CsrView<double> &B, double *val);
} // namespace amgkit
