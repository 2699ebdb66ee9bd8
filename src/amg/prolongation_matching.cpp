#include "amg/prolongation_matching.hpp"

#include "base/log.hpp"
#include "dist/attempt.hpp"
#include "dist/galerkin.hpp"
#include "graph/aggregate.hpp"
#include "graph/lumped_couplings.hpp"
#include "graph/matching.hpp"
#include "graph/nodes.hpp"
#include "sparse/formats/spmv.hpp"
#include "sparse/rows/contract.hpp"
#include "sparse/rows/rows.hpp"

#include <algorithm>
#include <cmath>

namespace amgkit
{
namespace
{
template <class Ex> class AggregationTransfer final : public Transfer<Ex> {
public:
  PetscErrorCode restrict_residual(Ex &ex, const double *r, double *b, const FirstStep<double> &step) override
  {
    return restrict_sum(ex, aggregation, p.data(), r, b, step);
  }
  PetscErrorCode restrict_residual(Ex &ex, const float *r, float *b, const FirstStep<float> &step) override
  {
    return restrict_sum(ex, aggregation, p_single.data(), r, b, step);
  }
  PetscErrorCode add_correction(Ex &ex, const double *e, double *x) override { return prolongate_add(ex, aggregation, p.data(), e, x); }
  PetscErrorCode add_correction(Ex &ex, const float *e, float *x) override
  {
    return prolongate_add(ex, aggregation, p_single.data(), e, x);
  }
  PetscErrorCode prepare_single(Ex &ex, bool *fits) override
  {
    PetscFunctionBegin;
    *fits = true; // the columns of P have length 1, or its entries are 1
    if (p_single.size() == p.size()) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(p_single.allocate(ex, p.size()));
    PetscCall(convert(ex, p.size(), static_cast<const double *>(p.data()), p_single.data()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode refresh(Ex &ex, Level<Ex> &fine, const LevelSetup<Ex> &, DistMatrix<Ex> &coarse, LevelSetup<Ex> &) override
  {
    PetscFunctionBegin;
    const LogPhase logged(Phase::rap);
    PetscCall(attempt(fine.A.comm, [&] { return galerkin_values(ex, fine.A, aggregation, p.data(), slot, ghosts, coarse); }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode rows(Ex &ex, PetscInt first_coarse, HostRows &out) const override
  {
    std::vector<int> id;
    std::vector<double> weight;

    PetscFunctionBegin;
    PetscCall(download(ex, aggregation.id.data(), aggregation.fine, id));
    if (p.size() > 0) PetscCall(download(ex, p.data(), aggregation.fine, weight));
    weight.resize(id.size(), 1);
    for (std::size_t i = 0; i < id.size(); i++) {
      if (id[i] >= 0) out.col.push_back(first_coarse + id[i]);
      if (id[i] >= 0) out.val.push_back(weight[i]);
      out.ptr.push_back(static_cast<PetscInt>(out.col.size()));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  Concession concession() const override { return made; }
  std::size_t bytes() const override { return aggregation.bytes() + p.bytes() + p_single.bytes() + slot.bytes() + ghosts.bytes(); }

  Aggregation<Ex> aggregation;
  Array<double, Ex> p; // none where all weights are 1
  Array<float, Ex> p_single;
  Array<unsigned char, Ex> slot; // of the rank's own block, as contract() gives it
  GhostAggregates<Ex> ghosts;
  Concession made = Concession::none;
};

// A pairwise step on one rank's block: its aggregates, weights and smooth vector, neither of which is stored where all are 1; the coarse
// block and its diagonal where a further step needs them.
template <class Ex> struct Step {
  Aggregation<Ex> pairs;
  Array<double, Ex> p;
  Csr<double, Ex> A;
  Array<unsigned char, Ex> slot; // as contract() gives it
  bool all_slots = false;
  Array<double, Ex> diagonal, w, outside, smoothed;
};

// What a pairwise step matches by, one entry a row; w = nullptr: it is 1. Without a bound, its kappa is 0. diagonal: before this step has
// lumped what cancels.
struct RowData {
  const double *diagonal, *w;
  PairBound bound;
};

// join: vertices that are left single join a pair where an edge can match.
template <class Ex> PetscErrorCode match(Ex &ex, CsrView<double> A, RowData data, bool join, Concession allowed, Array<int, Ex> &mate)
{
  const bool all = allowed == Concession::any_coupling;
  EdgeWeights<Ex> edges;

  PetscFunctionBegin;
  PetscCall(mate.allocate(ex, A.rows));
  LogPhase logged(Phase::strength);
  data.bound.positive = allowed != Concession::none;
  data.bound.beyond = all;
  if (data.bound.kappa > 0)
    PetscCall(bounded_edge_weights(ex, A, data.diagonal, data.w, data.bound, edges));
  else
    PetscCall(edge_weights(ex, A, data.diagonal, data.w, edges, all));
  logged.next(Phase::coarsen);
  PetscCall(match_paths(ex, A, edges, mate.data()));
  PetscCall(match_suitor(ex, A, edges, mate.data()));
  const bool rest = allowed != Concession::none;
  if (join || rest) PetscCall(join_pairs(ex, A, edges, mate.data(), rest));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A rank's block as a pairwise step sees it. whole: before anything was lumped, in the first step. offd: the couplings to other ranks in
// the first step, which leaves uncoupled nodes out and has single ones join a pair; else nullptr. If more than the share `third` of the
// nodes would be left, single_rows are conceded, and if more than `half`, any_coupling: the names are those of the shares of a whole level.
// again: another step for the level follows.
struct Block {
  CsrView<double> A, whole;
  const CsrView<double> *offd;
  int block_size;
  double third, half;
  bool again;
};

// Pairs of nodes. Where more than the block's shares would be left, the step is made anew with the next concession, which *made notes and
// further steps keep. With any coupling, of all nodes that couple to others of this rank both ways at most half are left.
template <class Ex>
PetscErrorCode pair_nodes(Ex &ex, const Block &block, CsrView<double> nodes, const RowData &data, Aggregation<Ex> &pairs, Concession *made)
{
  PetscFunctionBegin;
  for (const Concession allowed : {Concession::none, Concession::single_rows, Concession::any_coupling}) {
    if (allowed < *made) continue;
    Array<int, Ex> mate;
    Aggregation<Ex> trial;
    PetscCall(match(ex, nodes, data, block.offd != nullptr, allowed, mate));
    if (block.offd)
      PetscCall(leave_out_uncoupled(ex, block.block_size == 1 ? block.whole : nodes, *block.offd, block.block_size, mate.data()));
    const LogPhase logged(Phase::interp);
    PetscCall(aggregate_pairs(ex, nodes.rows, mate.data(), trial, !block.offd));
    if (pairs.fine == 0 || trial.coarse < pairs.coarse) {
      pairs = std::move(trial);
      *made = std::max(*made, allowed);
    }
    const double most = allowed == Concession::none ? block.third : block.half;
    if (pairs.coarse <= most * static_cast<double>(pairs.member.size())) break;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The same for block size > 1: by the norms of the blocks, without a smooth vector.
template <class Ex> PetscErrorCode pair_blocks(Ex &ex, const Block &block, Aggregation<Ex> &pairs, Concession *made)
{
  Csr<double, Ex> nodes;
  Array<double, Ex> diagonal;
  Aggregation<Ex> pairs_of_nodes;

  PetscFunctionBegin;
  {
    const LogPhase logged(Phase::strength);
    PetscCall(condense_to_nodes(ex, block.A, block.block_size, nodes));
    PetscCall(diagonal.allocate(ex, nodes.rows));
    PetscCall(diagonal_of(ex, nodes.view(), diagonal.data()));
  }
  PetscCall(pair_nodes(ex, block, nodes.view(), {diagonal.data(), nullptr, {}}, pairs_of_nodes, made));
  PetscCall(expand_to_unknowns(ex, pairs_of_nodes, block.block_size, pairs));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode pairwise_step(Ex &ex, const Block &block, const RowData &data, Step<Ex> &step, Concession *made)
{
  const CsrView<double> &A = block.A;

  PetscFunctionBegin;
  if (block.block_size == 1)
    PetscCall(pair_nodes(ex, block, A, data, step.pairs, made));
  else
    PetscCall(pair_blocks(ex, block, step.pairs, made));
  const LogPhase logged(Phase::interp);
  if (data.w) {
    PetscCall(step.p.allocate(ex, A.rows));
    PetscCall(step.w.allocate(ex, step.pairs.coarse));
    PetscCall(pair_weights(ex, step.pairs, data.w, step.p.data(), step.w.data()));
  }
  if (block.again && data.bound.kappa > 0) {
    const double *outside = data.bound.outside, *smoothed = data.bound.smoothed;
    if (outside) PetscCall(step.outside.allocate(ex, step.pairs.coarse));
    if (outside) PetscCall(sum_over_aggregates(ex, step.pairs, outside, nullptr, step.outside.data()));
    PetscCall(step.smoothed.allocate(ex, step.pairs.coarse));
    PetscCall(sum_over_aggregates(ex, step.pairs, smoothed ? smoothed : data.diagonal, smoothed ? nullptr : data.w, step.smoothed.data()));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode contract_step(Ex &ex, CsrView<double> A, Step<Ex> &step)
{
  const Aggregation<Ex> &pairs = step.pairs;
  const double *p = step.p.data();

  PetscFunctionBegin;
  const LogPhase logged(Phase::rap);
  PetscCall(contract(ex, A, pairs, p, pairs.id.data(), p, pairs.coarse, step.A, step.slot, &step.all_slots));
  PetscCall(step.diagonal.allocate(ex, step.A.rows));
  PetscCall(diagonal_of(ex, step.A.view(), step.diagonal.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> class MatchingProlongation final : public Prolongation<Ex> {
public:
  explicit MatchingProlongation(const MatchingParameters &parameters) : parameters_(parameters) {}

  PetscErrorCode build(Ex &ex, Level<Ex> &fine, LevelSetup<Ex> &of_fine, Level<Ex> &coarse, LevelSetup<Ex> &) override
  {
    auto transfer = std::make_unique<AggregationTransfer<Ex>>();

    PetscFunctionBegin;
    PetscCall(attempt(fine.A.comm, [&] { return coarsen(ex, fine, of_fine.diagonal.data(), *transfer, coarse); }));
    PetscCall(complete_galerkin(ex, fine.A, transfer->aggregation, transfer->p.data(), this->ones_, transfer->ghosts, coarse.A));
    fine.transfer = std::move(transfer);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode move(Ex &ex, Redistribution<Ex> &way) override
  {
    positive_ = true; // other ranks' rows come
    return Prolongation<Ex>::move(ex, way);
  }

private:
  // Local: all steps on the rank's own block. The coarse block's values are contracted from the fine one in one go, not from the last
  // step's, so that new values need no more than contract_values(); where they go is composed of the steps' slots.
  PetscErrorCode coarsen(Ex &ex, Level<Ex> &fine, const double *diagonal, AggregationTransfer<Ex> &total, Level<Ex> &coarse)
  {
    Step<Ex> last;
    CsrView<double> A = fine.A.diag;
    Array<double, Ex> outside, values;
    CouplingSurvey found;
    const PetscInt steps = parameters_.matching_steps;
    const double *w = this->ones_ ? nullptr : this->smooth_vector_.data();
    PairBound bound = {
        fine.block_size == 1 ? parameters_.kappa : 0, parameters_.quality_aware == PETSC_TRUE, false, false, nullptr, nullptr};

    PetscFunctionBegin;
    if (bound.kappa > 0 && fine.A.offd.nnz > 0) {
      PetscCall(outside.allocate(ex, fine.A.rows));
      PetscCall(couplings_outside(ex, fine.A.offd, w, outside.data()));
    }
    bound.outside = outside.data();
    if (parameters_.cancel_positive && fine.block_size == 1) PetscCall(look(ex, A, diagonal, w, &found));
    if (found.cancel) PetscCall(lump(ex, diagonal, w, found.symmetric, values, &A));
    // A level should have a third of the rows. Half of them are still better than matches by any coupling. By one step 0.577 and 0.707.
    const double exponent = 1 / std::max<double>(steps, 2), third = std::pow(1.0 / 3, exponent), half = std::pow(0.5, exponent);
    PetscCall(pairwise_step(ex, {A, fine.A.diag, &fine.A.offd, fine.block_size, third, half, steps > 1}, {diagonal, w, bound}, last,
                            &total.made));
    auto a_third = static_cast<double>(last.pairs.member.size()) * third, a_half = static_cast<double>(last.pairs.member.size()) * half;
    if (steps > 1) PetscCall(contract_step(ex, A, last));
    total.aggregation = std::move(last.pairs);
    total.p = std::move(last.p);
    total.slot = std::move(last.slot);
    for (PetscInt s = 1; s < steps; s++) {
      Step<Ex> next;
      bound.outside = last.outside.data();
      bound.smoothed = last.smoothed.data();
      const RowData data = {last.diagonal.data(), last.w.data(), bound};
      A = last.A.view();
      if (found.cancel) PetscCall(lump(ex, data.diagonal, data.w, found.symmetric, last.A.val, &A));
      a_third *= third;
      a_half *= half;
      const double rows = std::max(last.A.rows, 1);
      PetscCall(
          pairwise_step(ex, {A, {}, nullptr, fine.block_size, a_third / rows, a_half / rows, s + 1 < steps}, data, next, &total.made));
      if (s + 1 < steps) {
        PetscCall(contract_step(ex, A, next));
      } else {
        const LogPhase logged(Phase::rap);
        PetscCall(
            contract_pattern(ex, A, next.pairs, next.pairs.id.data(), next.pairs.coarse, coarse.A.own_diag, next.slot, &next.all_slots));
      }
      PetscCall(append(ex, fine.A.diag, last, next, total));
      last = std::move(next);
    }
    PetscCall(fill_block(ex, fine.A.diag, last.all_slots, total, coarse.A.own_diag));
    coarse.block_size = fine.block_size;
    if (w) {
      this->smooth_vector_ = std::move(last.w);
    } else {
      PetscCall(this->smooth_vector_.allocate(ex, total.aggregation.coarse));
      PetscCall(fill(ex, total.aggregation.coarse, 1, this->smooth_vector_.data()));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode look(Ex &ex, CsrView<double> A, const double *a, const double *w, CouplingSurvey *found)
  {
    PetscFunctionBegin;
    const LogPhase logged(Phase::strength);
    if (positive_) PetscCall(survey_couplings(ex, A, a, w, found));
    positive_ = found->any;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  // *A <- A without the couplings that cancel one another, for the decisions of a step and those after it. Its values are in `values`,
  // which may be A's own.
  static PetscErrorCode lump(Ex &ex, const double *a, const double *w, bool symmetric, Array<double, Ex> &values, CsrView<double> *A)
  {
    Array<double, Ex> limit;

    PetscFunctionBegin;
    const LogPhase logged(Phase::strength);
    PetscCall(limit.allocate(ex, A->rows));
    PetscCall(cancelled_couplings(ex, *A, a, w, symmetric, limit.data()));
    if (values.size() == 0) PetscCall(values.allocate(ex, A->nnz));
    PetscCall(lump_cancelled(ex, *A, a, w, limit.data(), values.data()));
    A->val = values.data();
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  // total <- the steps up to last and then next, which has all slots only where last has them, too
  static PetscErrorCode append(Ex &ex, CsrView<double> A, const Step<Ex> &last, Step<Ex> &next, AggregationTransfer<Ex> &total)
  {
    PetscFunctionBegin;
    next.all_slots = next.all_slots && last.all_slots;
    if (next.all_slots) {
      const LogPhase logged(Phase::rap);
      PetscCall(compose_slots(ex, A, total.aggregation.id.data(), last.A.ptr.data(), next.slot.data(), total.slot.data()));
    }
    const LogPhase logged(Phase::interp);
    PetscCall(compose(ex, next.pairs, next.p.data(), total.aggregation, total.p.data()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  // known: whether C has its pattern and total.slot the places in it
  static PetscErrorCode fill_block(Ex &ex, CsrView<double> A, bool known, AggregationTransfer<Ex> &total, Csr<double, Ex> &C)
  {
    const Aggregation<Ex> &aggregation = total.aggregation;
    const int *id = aggregation.id.data();
    const double *p = total.p.data();
    const LogPhase logged(Phase::rap);
    return known ? contract_values(ex, A, aggregation, p, id, p, total.slot, C)
                 : contract(ex, A, aggregation, p, id, p, aggregation.coarse, C, total.slot);
  }

  MatchingParameters parameters_;
  bool positive_ = true; // whether this rank's block on the level before may have had positive couplings, by a sample; for one setup
};
} // namespace

template <class Ex> std::unique_ptr<Prolongation<Ex>> make_matching_prolongation(const MatchingParameters &parameters)
{
  return std::make_unique<MatchingProlongation<Ex>>(parameters);
}

AMGKIT_INSTANTIATE(make_matching_prolongation)
} // namespace amgkit
