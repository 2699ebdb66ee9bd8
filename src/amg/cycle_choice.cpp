// On how many levels a k-cycle acts: tests in the setup, and comparisons in slow solves.
#include "amg/lanczos.hpp"
#include "amg/single_precision.hpp"
#include "amg/visit_cost.hpp"
#include "amg/visits.hpp"
#include "dist/attempt.hpp"

#include <array>
#include <cmath>

namespace amgkit
{
// Collective over the ranks that hold level l, which is not the coarsest. Takes steps of the k-cycle's method with the v-cycle on level l
// from a residual of random numbers. kcycle_tests_[l] <- the factor by which a late step reduces it, the geometric mean of the last two
// that are known, as large and small ones alternate; 0 where nothing is left.
template <class Ex> template <class V> PetscErrorCode Cycle<Ex>::test_v_cycle(Ex &ex, std::size_t l)
{
  constexpr int last = kcycle_test_steps - 1, r_r = 2; // r·r, before the step, among the sums
  Visits<Ex, DistMatrix<Ex>, V> visits(ex, *this);
  DistMatrix<Ex> &A = hierarchy_.levels[l]->A;
  KCycle<Ex> &k = vectors_[l].kcycle;
  V *r = vectors_[l].b.template as<V>(), *c = vectors_[l].x.template as<V>(), *v = k.v.template as<V>();
  std::array<double, kcycle_test_steps * kcycle_first_sums> sums{};

  PetscFunctionBegin;
  PetscCall(hash_vector(ex, A.rows, A.range.first(), 3, vectors_[l].x.data()));
  if constexpr (std::is_same_v<V, float>)
    PetscCall(convert(ex, A.rows, static_cast<const double *>(vectors_[l].x.data()), r));
  else
    PetscCall(memory_copy(ex, r, c, static_cast<std::size_t>(A.rows) * sizeof(V)));
  for (int step = 0; step <= last; step++) {
    double *here = k.sums.data() + step * kcycle_first_sums;
    PetscCall(visits.visit(l, CycleKind::v, Guess::zero, r, c));
    PetscCall(A.multiply(ex, c, v, ProductSums<kcycle_first_sums, V>{gcr_, r, nullptr, k.work.data(), here}));
    PetscCall(sum_over_ranks(ex, A.comm, kcycle_first_sums, here));
    PetscCall(kcycle_residual(ex, A.rows, v, here, r, FirstStep<V>{}));
  }
  PetscCall(memory_to_host(ex, sums.data(), k.sums.data(), sizeof sums));
  const double late = sums[last * kcycle_first_sums + r_r], before = sums[(last - 2) * kcycle_first_sums + r_r];
  kcycle_tests_[l] = late == 0 ? 0 : std::pow(late / before, 0.25);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Collective over all ranks. Tests levels 2 and 3, which are small, and infers level 1's factor from theirs. With no more than two coarse
// levels, level 1 is tested itself.
// Rank 0, which has a share of all levels, knows what they cost, and decides.
template <class Ex> PetscErrorCode Cycle<Ex>::choose_kcycle_levels(Ex &ex)
{
  const std::size_t held = hierarchy_.levels.size(), coarsest = hierarchy_.statistics.size() - 1;
  std::array<double, 2> chosen = {0, 1}; // levels, and what an iteration costs in terms of one with a v-cycle

  PetscFunctionBegin;
  if (parameters_.kcycle_levels > 0 || parameters_.cycle_type == CycleKind::v) PetscFunctionReturn(PETSC_SUCCESS);
  kcycle_tests_.assign(std::min(coarsest, std::size_t{most_kcycle_levels}) + 1, 0);
  PetscCall(attempt(hierarchy_.comm(), [&] {
    PetscFunctionBegin;
    for (std::size_t l = coarsest > 2 ? 2 : 1; l < std::min({coarsest, kcycle_tests_.size(), held}); l++)
      PetscCall(single_ ? test_v_cycle<float>(ex, l) : test_v_cycle<double>(ex, l));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  if (coarsest > 2) kcycle_tests_[1] = factor_above(kcycle_tests_[2], kcycle_tests_[3]);
  if (held > coarsest) {
    std::vector<VisitCost> cost;
    for (const auto &level : hierarchy_.levels) {
      cost.emplace_back();
      PetscCall(visit_cost<Ex>(*level, parameters_, {single_, hierarchy_.coarse_solver.sweeps()}, &cost.back()));
    }
    const int levels = worthwhile_kcycle_levels(cost, kcycle_tests_);
    chosen = {static_cast<double>(levels), iteration_cost(cost, levels) / iteration_cost(cost, 0)};
  }
  PetscCallMPI(MPI_Bcast(chosen.data(), 2, MPI_DOUBLE, 0, hierarchy_.comm()));
  kcycle_levels_ = static_cast<PetscInt>(chosen[0]);
  if (parameters_.cycle_type != CycleKind::automatic) kcycle_levels_ = std::max(kcycle_levels_, PetscInt{1});
  trial_ = VisitsOnTrial(chosen[1]);
  for (std::size_t l = static_cast<std::size_t>(kcycle_levels_) + 1; l < held; l++) vectors_[l].kcycle = {};
  PetscFunctionReturn(PETSC_SUCCESS);
}

// *share: what a step along the v-cycle's correction for r would remove, divided by what a step along x removes; x is the k-cycle's
// correction for r. See VisitsOnTrial.
template <class Ex>
template <class V>
PetscErrorCode Cycle<Ex>::compare_with_v_cycle(Ex &ex, const V *r, const V *x, KCycle<Ex> &k, double *share)
{
  DistMatrix<Ex> &A = hierarchy_.levels[0]->A;
  V *c = k.c.template as<V>(), *v = k.v.template as<V>();
  std::array<double, 2 * kcycle_first_sums> sums{};

  PetscFunctionBegin;
  PetscCall(Visits<Ex, DistMatrix<Ex>, V>(ex, *this).visit(0, CycleKind::v, Guess::zero, r, c));
  for (const V *of : {x, static_cast<const V *>(c)}) {
    double *here = k.sums.data() + (of == x ? 0 : kcycle_first_sums);
    PetscCall(A.multiply(ex, of, v, ProductSums<kcycle_first_sums, V>{gcr_, r, nullptr, k.work.data(), here}));
  }
  PetscCall(sum_over_ranks(ex, A.comm, 2 * kcycle_first_sums, k.sums.data()));
  PetscCall(memory_to_host(ex, sums.data(), k.sums.data(), sizeof sums));
  const auto taken = [&](std::size_t at) { return sums[at + 1] / sums[at] * sums[at + 1]; };
  *share = taken(kcycle_first_sums) / taken(0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Collective. After x = B b by a cycle of this kind: if a comparison is due, compares x with a v-cycle's correction for b, and tells
// trial_. Without memory for that, this solve goes on without.
template <class Ex> template <class V> PetscErrorCode Cycle<Ex>::compare_if_on_trial(Ex &ex, CycleKind kind, const V *b, const V *x)
{
  const DistMatrix<Ex> &A = hierarchy_.levels.front()->A;
  KCycle<Ex> memory;
  bool lacking = false;
  double share = 0;

  PetscFunctionBegin;
  if (!on_trial() || !trial_.comparing() || kind != CycleKind::k) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(out_of_memory([&] { return attempt(A.comm, [&] { return memory.allocate(ex, A.rows); }); }, &lacking));
  if (!lacking) PetscCall(compare_with_v_cycle(ex, b, x, memory, &share));
  PetscCallMPI(MPI_Bcast(&share, 1, MPI_DOUBLE, 0, A.comm));
  trial_.compare(share);
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define INSTANTIATE(Ex)                                                                                                                    \
  template PetscErrorCode Cycle<Ex>::choose_kcycle_levels(Ex &);                                                                           \
  template PetscErrorCode Cycle<Ex>::compare_if_on_trial(Ex &, CycleKind, const float *, const float *);                                   \
  template PetscErrorCode Cycle<Ex>::compare_if_on_trial(Ex &, CycleKind, const double *, const double *);
AMGKIT_FOR_ALL_SPACES(INSTANTIATE)
#undef INSTANTIATE
} // namespace amgkit
