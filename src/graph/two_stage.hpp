// Interpolation from the C points that two coarsenings in turn have left, C2 within C1 (Li, Sjögreen, Yang 2021, two-stage): P = P1 P2,
// P1 from C1 to all points by a formula of graph/interpolation.hpp, P2 from C2 to C1 by the same on A with C2 for its C points, of which
// the rows of C1 are taken; for ext_i by ext. Each is truncated, and so is their product.
#pragma once
#include "graph/interpolation.hpp"

namespace amgkit
{
struct TwoStageRule {
  InterpolationRule interpolation; // not direct; truncation: of P; slice_bytes: of the factors too
  Truncation of_factors = {0, 2};  // of P1 and P2
};

template <class Ex> class TwoStageInterpolation {
public:
  // Collective, once; as Interpolation::create(). first, second: the C points of A after one and after both coarsenings.
  PetscErrorCode create(Ex &, DistMatrix<Ex> &A, const Strength<Ex> &, const CoarsePoints<Ex> &first, const CoarsePoints<Ex> &second,
                        const TwoStageRule &, CoarseBlocks<Ex> &P);
  // Collective, after create() with keep; as Interpolation::update().
  PetscErrorCode update(Ex &, DistMatrix<Ex> &A, CoarseBlocks<Ex> &P);
  std::size_t bytes() const;

private:
  // From P1's rows to P's
  struct Steps {
    Csr<double, Ex> left, W; // P1 with its columns in order, W = P1 P2
    SpgemmPlan<Ex> plan;
    TruncatedProduct<Ex> truncated;

    std::size_t bytes() const { return left.bytes() + W.bytes() + plan.bytes() + truncated.bytes(); }
  };
  PetscErrorCode make_factors(Ex &, DistMatrix<Ex> &A, const Strength<Ex> &, const CoarsePoints<Ex> &first, const CoarsePoints<Ex> &second,
                              const TwoStageRule &);
  PetscErrorCode multiply_rows(Ex &, const MarkedRows &, const InterpolationRule &, Steps &, CoarseBlocks<Ex> &part);
  PetscErrorCode multiply(Ex &, const InterpolationRule &, CoarseBlocks<Ex> &P);
  ProductColumns columns() const { return {gathered_.before(), P2_.diag.cols, P2_.first, &gathered_.ghosts()}; }

  std::optional<Interpolation<Ex>> first_, second_;
  CoarseBlocks<Ex> P1_, P2_;
  Halo<Ex> halo_;              // of P1's ghosts
  GatheredRows<Ex> gathered_;  // of P2
  std::optional<Steps> steps_; // kept
};
} // namespace amgkit
