#include "amg/prolongation_smoothed.hpp"

#include "amg/matrix_transfer.hpp"
#include "base/log.hpp"
#include "dist/attempt.hpp"
#include "graph/growth.hpp"
#include "graph/mis.hpp"
#include "graph/node_matrix.hpp"
#include "graph/prolongator_filter.hpp"
#include "graph/root_aggregates.hpp"
#include "graph/smoothed_prolongator.hpp"
#include "graph/symmetric_strength.hpp"
#include "graph/tentative.hpp"
#include "sparse/rows/multivector.hpp"
#include "sparse/rows/rows.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>

namespace amgkit
{
namespace
{
// Collective: the spectral radius of D⁻¹ A, D the diagonal, for the prolongator and for the smoother. Of A's own entries: those that the
// cycle reads may be rounded to floats. Constant slices and blocks' columns of the finest level keep the own entries and are stored early,
// so they are used. All else reads the compressed rows, in a refresh as in a setup.
template <class Ex> PetscErrorCode take_spectrum(Ex &ex, Level<Ex> &level, const LevelSetup<Ex> &of_level, double *rho)
{
  Array<double, Ex> inverse;
  Spectrum spectrum;
  StoredMatrix<Ex> aside;

  PetscFunctionBegin;
  PetscCall(attempt(level.A.comm, [&] { return inverse.allocate(ex, level.A.rows); }));
  const LogPhase logged(Phase::spectrum);
  PetscCall(invert_entries(ex, level.A.rows, of_level.diagonal.data(), inverse.data()));
  const bool as_stored = level.number == 0 && (level.A.stored.is_constant() || level.A.stored.block_columns());
  if (!as_stored) std::swap(level.A.stored, aside);
  PetscCall(estimate_spectrum(ex, level.A, inverse.data(), level.bound, &spectrum, SpectrumOf::own_entries));
  if (!as_stored) std::swap(level.A.stored, aside);
  level.smoother.set_spectrum(spectrum);
  *rho = std::isfinite(spectrum.radius) ? spectrum.radius : 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The roots of a level's aggregates are an MIS(k).
struct RootDistance {
  int k = 0;
  double growth = 0; // of the graph's balls, where it decided
};

// P with what smooths it again.
template <class Ex> class SmoothedTransfer final : public MatrixTransfer<Ex> {
public:
  std::optional<SmoothedProlongator<Ex>> smoothed; // nothing: P is kept
  std::optional<ProlongatorFilter<Ex>> filter;     // nothing: P is what smoothed makes
  CoarseBlocks<Ex> unfiltered;                     // else this is
  Array<unsigned char, Ex> zero;                   // coarse unknowns that P does not use, if there are any
  RootDistance roots;

  CoarseBlocks<Ex> &smoothed_blocks() { return filter ? unfiltered : this->P; }
  std::string remark() const override
  {
    std::array<char, 128> text = {};
    if (roots.growth > 0)
      std::snprintf(text.data(), text.size(), "MIS(%d), as two strong couplings lead to %.1f times as many nodes as one", roots.k,
                    roots.growth);
    return text.data();
  }
  std::size_t bytes() const override
  {
    return MatrixTransfer<Ex>::bytes() + (smoothed ? smoothed->bytes() : 0) + (filter ? filter->bytes() : 0) + unfiltered.bytes() +
           zero.bytes();
  }

private:
  PetscErrorCode renew(Ex &ex, Level<Ex> &fine, const LevelSetup<Ex> &of_fine) override
  {
    double rho = 0;

    PetscFunctionBegin;
    PetscCall(take_spectrum(ex, fine, of_fine, &rho));
    if (!smoothed) PetscFunctionReturn(PETSC_SUCCESS);
    const LogPhase logged(Phase::interp);
    PetscCall(smoothed->update(ex, fine.A, rho, smoothed_blocks()));
    if (filter) PetscCall(filter->values(ex, unfiltered, this->P));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  // Local: Pᵀ A P is 0 in the rows and columns of unknowns that P does not use, and singular but for this.
  PetscErrorCode complete_coarse(Ex &ex, DistMatrix<Ex> &coarse) const override
  {
    return zero.size() > 0 ? unit_diagonals(ex, coarse.diag, zero.data(), coarse.own_diag.val.data()) : PETSC_SUCCESS;
  }
};

// What the steps of one level hand on.
template <class Ex> struct Aggregated {
  DistMatrix<Ex> blocks; // the matrix of nodes, where these are blocks
  NodeCouplings<Ex> along_constants;
  Strength<Ex> strength;
  RootDistance roots;
  NodeAggregates<Ex> aggregates;
  Tentative<Ex> tentative;
};

template <class Ex> class SmoothedProlongation final : public Prolongation<Ex> {
public:
  SmoothedProlongation(const SmoothedParameters &parameters, const Coordinates &coordinates)
      : parameters_(parameters), coordinates_(coordinates)
  {}

  // The smooth vector is made of the near-null space: Prolongation's would bring its vectors from the host once more.
  PetscErrorCode look_at_finest(Ex &ex, Mat A, const Level<Ex> &finest, const LevelSetup<Ex> &) override
  {
    PetscFunctionBegin;
    PetscCall(near_null_space_of(ex, A, coordinates_, near_null_));
    PetscCall(look_for_constants(ex, finest));
    PetscCall(attempt(finest.A.comm, [&] { return set_smooth_vector(ex, finest.A.rows); }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode take_order(Ex &ex, const int *order) override
  {
    PetscFunctionBegin;
    PetscCall(Prolongation<Ex>::take_order(ex, order));
    PetscCall(this->bring_in_order(ex, order, near_null_.m, near_null_.B));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode build(Ex &ex, Level<Ex> &fine, LevelSetup<Ex> &of_fine, Level<Ex> &coarse, LevelSetup<Ex> &of_coarse) override
  {
    auto transfer = std::make_unique<SmoothedTransfer<Ex>>();
    Aggregated<Ex> level;

    PetscFunctionBegin;
    PetscCall(aggregate(ex, fine, level));
    PetscCall(interpolate(ex, fine, of_fine, level, *transfer));
    transfer->roots = level.roots;
    transfer->P.values_change = parameters_.reweight;
    transfer->P.in_single = this->in_single_;
    transfer->P.exact_product = true; // P B_c = B, which rounding would lose, makes the coarse matrix of a singular one singular
    if (level.tentative.dropped > 0) transfer->zero = std::move(level.tentative.zero);
    PetscCall(transfer->create(ex, ProductForm::two_products, spgemm(fine), fine.A, coarse.A, of_coarse));
    near_null_ = std::move(level.tentative.coarse);
    coarse.block_size = near_null_.m;
    PetscCall(attempt(coarse.A.comm, [&] { return set_smooth_vector(ex, coarse.A.rows); }));
    fine.transfer = std::move(transfer);
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  SmoothVectors<Ex> take_smooth_vectors() override
  {
    SmoothVectors<Ex> vectors = Prolongation<Ex>::take_smooth_vectors();
    if (near_null_.m <= 1) return vectors; // it is the sum
    vectors.count = near_null_.m;
    vectors.parts = std::move(near_null_.B);
    return vectors;
  }

  PetscErrorCode copy_smooth_vectors(Ex &ex, SmoothVectors<Ex> &copy) const override
  {
    PetscFunctionBegin;
    PetscCall(Prolongation<Ex>::copy_smooth_vectors(ex, copy));
    if (near_null_.m <= 1) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(this->copy_vectors(ex, near_null_.B, copy.parts));
    copy.count = near_null_.m;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  void give_back_smooth_vectors(SmoothVectors<Ex> &&vectors) override
  {
    near_null_.m = vectors.count;
    near_null_.B = std::move(vectors.parts);
    Prolongation<Ex>::give_back_smooth_vectors(std::move(vectors));
  }

  PetscErrorCode move(Ex &ex, Redistribution<Ex> &way) override
  {
    PetscFunctionBegin;
    PetscCall(Prolongation<Ex>::move(ex, way));
    PetscCall(way.move_vectors(ex, near_null_.m, near_null_.B));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  // Collective: the k of MIS(k) for the roots. Interpolation smoothed by one step is best with aggregates of three nodes in each direction,
  // 27 in 3D. MIS(2) leaves 10 to 20 nodes with 7-point grids and tetrahedra, and 9 in 2D. So an aggressive level takes one step more in 3D
  // only. On a core, setups take a fifth less time there and solves 4 % more. In 2D it would be an eighth and a tenth.
  PetscErrorCode choose_roots(Ex &ex, const Level<Ex> &level, const DistGraph<Ex> &graph, RootDistance *roots) const
  {
    constexpr double growth_in_2d = 3; // or less

    PetscFunctionBegin;
    roots->k = static_cast<int>(parameters_.mis_k);
    if (level.number >= parameters_.aggressive_coarsening) PetscFunctionReturn(PETSC_SUCCESS);
    if (parameters_.aggressive_mis_k > 0) {
      roots->k = static_cast<int>(parameters_.aggressive_mis_k);
    } else if (parameters_.agg_nsmooths > 0) {
      PetscCall(ball_growth(ex, graph, &roots->growth));
      if (roots->growth > growth_in_2d) roots->k++;
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  // Of A, or S, times P or T.
  SpgemmOptions spgemm(const Level<Ex> &fine) const
  {
    SpgemmOptions options;
    options.kind = parameters_.spgemm;
    options.run = near_null_.m;
    options.rows = options.inner = fine.block_size;
    return options;
  }

  // Where the option leaves the choice, the finest level decides for all whether there is a filter. Where rows have bounds of their own
  // (SmoothedProlongator), a step may be rho / 2 times as long as the textbook's. What a row has of other aggregates is larger by as much
  // then, and so is the threshold, up to twice.
  FilterRule filter_rule(const Level<Ex> &fine, double rho) const
  {
    constexpr double chosen_threshold = 0.1, least_share = 0.2;
    const double given = parameters_.prolongator_filter;
    FilterRule rule = {given, fine.block_size, near_null_.m};
    if (given >= 0) return rule;
    const double longer = has_row_bounds(rho) ? std::min(rho / least_row_bound, 2.0) : 1;
    rule.threshold = near_null_.m == 1 && filter_pays_ ? chosen_threshold * longer : 0;
    rule.least_share = fine.number == 0 ? least_share : 0;
    return rule;
  }

  // Collective. A scalar system with more vectors than the constant one is left out: its coarse nodes have other blocks than it.
  PetscErrorCode look_for_constants(Ex &ex, const Level<Ex> &finest)
  {
    const int bs = finest.block_size;

    PetscFunctionBegin;
    constants_ = bs == 1 && near_null_.constant ? 1 : 0;
    constant_size_ = 1;
    if (!parameters_.cancel_positive || constants_ > 0 || (bs == 1 && near_null_.m > 1)) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(count_constants(ex, finest.A.comm, finest.A.rows, bs, near_null_, &constants_, &constant_size_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  // Local. The sum of all vectors: of constants 1; of a near-null space that is A's null space, one of its vectors, on all levels the same.
  PetscErrorCode set_smooth_vector(Ex &ex, int rows)
  {
    const int m = near_null_.m;

    PetscFunctionBegin;
    PetscCall(this->smooth_vector_.allocate(ex, rows));
    PetscCall(sum_of_vectors(ex, rows, m, m, near_null_.B.data(), this->smooth_vector_.data()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  // Collective: strength, roots, aggregates of nodes and their orthonormal vectors.
  PetscErrorCode aggregate(Ex &ex, Level<Ex> &fine, Aggregated<Ex> &level) const
  {
    const bool coarse = fine.number > 0;
    // For jumps of the coefficient. With 1/16, meshes with slivers had denser prolongators, as their couplings differ by that much, too. On
    // the finest level the rule gained nothing: with jumps of 1000, six grids of 48³ to 100³ took 125 iterations, and 124 without it.
    const double soft = coarse ? 1.0 / 64 : 0;
    const auto kind = parameters_.strength_type;
    const double theta = parameters_.threshold * std::pow(parameters_.threshold_scale, fine.number);
    const bool cancel = parameters_.cancel_positive && constants_ > 0 && theta > 0, by_nodes = cancel && fine.block_size > 1;
    const int bs = fine.block_size;
    DistMatrix<Ex> &nodes = bs > 1 ? level.blocks : fine.A;
    Array<unsigned char, Ex> root;

    PetscFunctionBegin;
    {
      const LogPhase logged(Phase::strength);
      const NodeVectors constants = coarse ? NodeVectors{constants_, near_null_.m, 1 / constant_size_, near_null_.B.data()} : NodeVectors{};
      if (bs > 1) PetscCall(condense(ex, fine.A, bs, level.blocks, constants, by_nodes ? &level.along_constants : nullptr));
      // On all levels what the threshold says of symmetric rows on the finest, where |a_ij| <= m_i: a bound on m_j / m_i.
      const double least = kind == StrengthKind::relative ? parameters_.threshold * parameters_.threshold : 0;
      const SymmetricRule rule = {kind, theta, kept_share(fine) * theta, cancel, least, soft, coarse};
      PetscCall(symmetric_strength(ex, nodes, rule, coarse && bs == 1 ? &near_null_.B : nullptr, level.strength,
                                   by_nodes ? &level.along_constants : nullptr));
    }
    const DistGraph<Ex> graph = graph_of(nodes, level.strength.diag.data(), level.strength.offd.data());
    const LogPhase logged(Phase::coarsen);
    PetscCall(choose_roots(ex, fine, graph, &level.roots));
    PetscCall(mis(ex, graph, level.roots.k, root));
    PetscCall(root_aggregates(ex, graph, nodes, root.data(), level.roots.k, level.aggregates));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  // Collective: the blocks of P
  PetscErrorCode interpolate(Ex &ex, Level<Ex> &fine, const LevelSetup<Ex> &of_fine, Aggregated<Ex> &level, SmoothedTransfer<Ex> &transfer)
  {
    const int bs = fine.block_size;
    // On coarse levels B_I is the R of an aggregate. On the finest one it is upper triangular only as a single vector's, whose entries may
    // be near 0. A second smoothing step needs blocks that are not: it multiplies rows that are no multiples of B_I.
    const bool coarse = fine.number > 0, one_step = parameters_.agg_nsmooths <= 1;
    const bool by_near_null = near_null_.m == bs && !near_null_.constant && (bs == 1 ? coarse || one_step : coarse && one_step);
    const StrongNodes<Ex> strong = {bs > 1 ? &level.blocks : &fine.A, parameters_.lump_weak ? &level.strength : nullptr, bs,
                                    by_near_null ? &near_null_.B : nullptr};
    SmoothingRule rule;
    double rho = 0;

    PetscFunctionBegin;
    rule.steps = static_cast<int>(parameters_.agg_nsmooths);
    rule.spgemm = spgemm(fine);
    PetscCall(take_spectrum(ex, fine, of_fine, &rho));
    const FilterRule filter_rule = this->filter_rule(fine, rho);
    const LogPhase logged(Phase::interp);
    PetscCall(tentative_prolongator(ex, fine.A.comm, level.aggregates, bs, near_null_, level.tentative));
    if (filter_rule.threshold > 0) transfer.filter.emplace();
    PetscCall(transfer.smoothed.emplace().create(ex, fine.A, strong, rho, rule, std::move(level.tentative.T), transfer.smoothed_blocks()));
    if (transfer.filter)
      PetscCall(transfer.filter->create(ex, fine.A.comm, transfer.unfiltered, level.tentative.coarse.B.data(), filter_rule, transfer.P));
    filter_pays_ = transfer.filter && transfer.filter->pays();
    if (transfer.filter && !filter_pays_) {
      static_cast<CoarseBlocks<Ex> &>(transfer.P) = std::move(transfer.unfiltered);
      transfer.filter.reset();
      transfer.unfiltered = {};
    }
    if (parameters_.reweight) PetscFunctionReturn(PETSC_SUCCESS);
    transfer.smoothed.reset();
    transfer.filter.reset();
    transfer.unfiltered = {};
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  // Of the threshold: weak couplings below this share are lumped. The entries of slivers are large beside those that couple their nodes to
  // the rest of the mesh, which then seem weak. A mesh has slivers where one row in a thousand begins a group of tied ones. On coarse
  // levels, weak couplings belong to smooth errors, too: with 0.5^l, jumps at 80³ take 17 iterations, with 1 on all levels 21.
  double kept_share(const Level<Ex> &fine) const
  {
    constexpr double beside_slivers = 0.2, of_a_level = 0.5;
    if (parameters_.lump_below >= 0) return parameters_.lump_below;
    if (fine.number > 0) return std::pow(of_a_level, fine.number);
    return fine.smoother.tied_groups() > fine.A.global_rows() / 1000 ? beside_slivers : 1;
  }

  SmoothedParameters parameters_;
  const Coordinates &coordinates_;
  NearNull<Ex> near_null_;   // what the coarse levels represent exactly, before P is smoothed
  int constants_ = 0;        // near_null_ begins with the constants of so many components, the finest level's; 0: what cancels is not known
  double constant_size_ = 1; // of their entries that are not 0
  bool filter_pays_ = true;
};
} // namespace

template <class Ex>
std::unique_ptr<Prolongation<Ex>> make_smoothed_prolongation(const SmoothedParameters &parameters, const Coordinates &coordinates)
{
  return std::make_unique<SmoothedProlongation<Ex>>(parameters, coordinates);
}

AMGKIT_INSTANTIATE(make_smoothed_prolongation)
} // namespace amgkit
