// Interpolation from the C points that two coarsenings in turn have left, C2 within C1 (Li, Sjögreen, Yang 2021, two-stage): P = P1 P2,
// P1 from C1 to all points by a formula of graph/interpolation.hpp, P2 from C2 to C1 by the same on A with C2 for its C points, of which
// the rows of C1 are taken; for ext_i by ext. Each is truncated, and so is their product.
#pragma once
#include "graph/interpolation.hpp"

namespace amgkit
{
struct TwoStageRule {
  InterpolationRule interpolation; // not direct; truncation: of P
  Truncation of_factors = {0, 2};  // of P1 and P2
};

template <class Ex> class TwoStageInterpolation {
public:
  // Collective, once; as Interpolation::create(). first, second: the C points of A after one and after both coarsenings.
  PetscErrorCode create(Ex &, DistMatrix<Ex> &A, const Strength<Ex> &, const CoarsePoints<Ex> &first, const CoarsePoints<Ex> &second,
                        const TwoStageRule &, CoarseBlocks<Ex> &P, bool *out_of_memory);
  // Collective; as Interpolation::update().
  PetscErrorCode update(Ex &, DistMatrix<Ex> &A, CoarseBlocks<Ex> &P);
  std::size_t bytes() const;

private:
  PetscErrorCode multiply(Ex &, const TwoStageRule &, CoarseBlocks<Ex> &P);

  Interpolation<Ex> first_, second_;
  CoarseBlocks<Ex> P1_, P2_;
  Halo<Ex> halo_;             // of P1's ghosts
  GatheredRows<Ex> gathered_; // of P2
  Csr<double, Ex> left_, W_;  // P1 with its columns in order, W = P1 P2
  SpgemmPlan<Ex> plan_;
  TruncatedProduct<Ex> truncated_;
};
} // namespace amgkit
