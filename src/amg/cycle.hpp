// The multigrid cycles.
//
//   v   one visit to each coarser level
//   w   two visits, the second for the residual of the first
//   f   as w, but the second visit is a v-cycle
//   k   two steps of a flexible Krylov method (kcycle.hpp)
// The last three act on the kcycle_levels finest coarse problems, a v-cycle below. Unless the user says how many, a first setup chooses
// none to three by a test of the v-cycle and the cost of a visit (kcycle_levels.hpp); at least one where the user asks for w, f or k.
//
// B, one cycle on a zero guess, is symmetric when A is, R = Pᵀ, the sweeps before and after are as many and the cycle is v or w; f is
// linear but not symmetric, k not even linear. In single precision the vectors of all levels are floats, and no cycle is linear to more
// than 1e-7: it is for flexible methods, too.
#pragma once
#include "amg/hierarchy.hpp"
#include "amg/kcycle.hpp"
#include "amg/kcycle_levels.hpp"
#include "base/recording.hpp"

namespace amgkit
{
// A cycle as it can be applied: its kind, and whether its vectors are in single precision.
struct CycleChoice {
  CycleKind kind = CycleKind::automatic;
  bool single = false;
  bool operator==(const CycleChoice &) const = default;
};

// All that applying a hierarchy takes besides its levels: vectors, transposes, what was recorded. Made once for a hierarchy, which must
// stay where it is. All functions are collective over the finest level's ranks.
template <class Ex> class Cycle {
public:
  Cycle(Hierarchy<Ex> &hierarchy, const AmgParameters &parameters) : hierarchy_(hierarchy), parameters_(parameters) {}
  Cycle(const Cycle &) = delete;
  Cycle &operator=(const Cycle &) = delete;
  ~Cycle() = default;

  // After each setup of the hierarchy: the form of the k-cycle, the precision and, the first time, the vectors. Takes hold of the user's
  // matrix itself.
  PetscErrorCode prepare(Ex &);
  // The cycle for a method that allows the preconditioner to change from one application to the next, or does not, and has vectors of
  // floats, or of doubles.
  CycleChoice choose(bool flexible, bool of_floats) const;
  // Whether the vectors may be in single precision.
  bool single() const { return single_; }
  // Whether there are enough rows for it.
  bool floats_pay() const { return floats_pay_; }
  // Whether all ranks have the finest matrix in single precision.
  bool finest_in_single() const { return finest_in_single_; }
  // Whether all ranks with entries read them by the columns of blocks.
  bool finest_by_blocks() const { return finest_by_blocks_; }
  // The next two need the finest matrix's memory; x must not be b. x = B b; the choice is not automatic, and only single where it may be.
  // On a GPU the first call after a setup, and the first with another choice, may record.
  PetscErrorCode apply(Ex &, CycleChoice, const double *b, double *x);
  // The same for vectors of floats, whose norms single precision can square, where the choice is single. guess: zero, or that whoever made
  // b has taken first_step(x).
  PetscErrorCode apply(Ex &, CycleChoice, Guess, const float *b, float *x);
  FirstStep<float> first_step(Ex &, float *x);
  // x = Bᵀ b, for v, w and f, in double precision: the cycle for Aᵀ with R, P and the sweeps before and after exchanged. The first call
  // after a setup makes the transposes of all levels.
  PetscErrorCode apply_transposed(Ex &, CycleKind, const double *b, double *x);
  // On how many coarse levels w, f and k act. kcycle_tests(): what a step with the v-cycle on level l leaves of a residual, for l = 1, ...,
  // on ranks that hold these levels; empty where nothing was chosen.
  PetscInt kcycle_levels() const { return on_trial() && trial_.rejected() ? 0 : kcycle_levels_; }
  const std::vector<double> &kcycle_tests() const { return kcycle_tests_; }
  // Where cycle_type auto has chosen levels: what a flexible method tells of its solves, the same on all ranks.
  void begin_solve()
  {
    if (on_trial()) trial_.begin_solve();
  }
  void observe(double factor)
  {
    if (on_trial()) trial_.observe(factor);
  }
  const VisitsOnTrial &trial() const { return trial_; }
  // Another number when the cycle that choose(true, ...) gives has changed during a solve: see VisitsOnTrial.
  int version() const { return on_trial() ? trial_.version() : 0; }
  // Local. What a rank does without the others' hosts, on the levels that it holds alone or whose ranks have GPUs that are peers, and where
  // it has at most rows_recorded rows, or on the coarsest, is recorded as one launch on a GPU, but for v-cycles with more than
  // entries_recorded entries on the levels above. recorded(): whether that
  // is so; recorded_choice(): of these levels; first_recorded(): the first of them, or the number of levels.
  bool recorded() const { return recording_.recorded(); }
  CycleChoice recorded_choice() const { return choice_below_; }
  std::size_t first_recorded() const { return std::min(recorded_below_ + 1, hierarchy_.levels.size()); }
  // Device or host memory held on this rank
  std::size_t bytes() const;

private:
  template <class, class, class> friend class Visits;
  // Of one level: the solution, the right-hand side, and the other array of an iterate. In single precision the first half of each is used.
  // On the finest level x and b are the caller's; there a cycle in single precision has its own, b in the second half of work.
  struct Vectors {
    Array<double, Ex> x, b, work;
    KCycle<Ex> kcycle;                                // empty on levels that no other cycle can visit
    std::unique_ptr<TransposedMatrix<Ex>> transposed; // of the level's matrix, once somebody has asked for it

    std::size_t bytes() const { return x.bytes() + b.bytes() + work.bytes() + kcycle.bytes() + (transposed ? transposed->bytes() : 0); }
  };
  bool on_trial() const { return parameters_.cycle_type == CycleKind::automatic && parameters_.kcycle_levels == 0 && kcycle_levels_ > 0; }
  PetscErrorCode choose_form(Ex &);
  PetscErrorCode choose_precision(Ex &);
  PetscErrorCode choose_kcycle_levels(Ex &);
  template <class V> PetscErrorCode test_v_cycle(Ex &, std::size_t level);
  template <class V> PetscErrorCode compare_with_v_cycle(Ex &, const V *r, const V *x, KCycle<Ex> &, double *share);
  template <class V> PetscErrorCode compare_if_on_trial(Ex &, CycleKind, const V *b, const V *x);
  PetscErrorCode representable(Ex &, bool *fits);
  PetscErrorCode prepare_single(Ex &, bool *fits);
  PetscErrorCode allocate(Ex &, const Level<Ex> &);
  PetscErrorCode choose_recording(CycleChoice);
  PetscErrorCode meet_peers(Ex &);
  PetscErrorCode make_transposes(Ex &);

  Hierarchy<Ex> &hierarchy_;
  const AmgParameters &parameters_;
  std::vector<Vectors> vectors_; // of the hierarchy's levels
  PetscInt kcycle_levels_ = 0;
  std::vector<double> kcycle_tests_; // by level
  VisitsOnTrial trial_;
  bool gcr_ = false, single_ = false, floats_pay_ = false, finest_in_single_ = false, finest_by_blocks_ = false, rounding_pays_ = false,
       transposes_made_ = false;
  Array<double, Ex> norm1_work_, norm1_; // for amg/single_precision.hpp, where vectors may be in single precision
  CycleChoice recorded_for_;             // what apply() was asked for when it was recorded; automatic: nothing is
  Recording<Ex> recording_;              // what this cycle does below level recorded_below_, where there is such a level
  std::size_t recorded_below_ = 0;
  std::vector<bool> may_record_; // a visit to each level, with the levels below it
  CycleChoice choice_below_;     // what the recorded part does: a v-cycle below kcycle_levels
};
} // namespace amgkit
