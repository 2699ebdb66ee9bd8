// The whole solve of a Krylov method on the heads of a consolidated preconditioner, by a KSP of the same type there.
#pragma once
#include "plugins/pc_consolidated.hpp"

#include <petscksp.h>

namespace amgkit
{
class KspOfHeads {
public:
  KspOfHeads() = default;
  KspOfHeads(const KspOfHeads &) = delete;
  KspOfHeads &operator=(const KspOfHeads &) = delete;
  KspOfHeads(KspOfHeads &&) = delete;
  KspOfHeads &operator=(KspOfHeads &&) = delete;
  ~KspOfHeads() = default; // after reset()

  // Collective: solves ksp's system on the heads, if its preconditioner is consolidated and the operator is the matrix that it is of; *done
  // says whether. b is taken once, and x given back once; members sleep meanwhile, but where the user's monitors and tests run.
  // configure(inner), on the heads: what the type has besides the settings of all KSPs.
  PetscErrorCode solve(KSP ksp, const std::function<PetscErrorCode(KSP inner)> &configure, bool *done);
  // Whether the user's function that runs has been called in the midst of such a solve; then the solution of its iteration. Collective.
  bool under_way() const { return system_ != nullptr; }
  PetscErrorCode build_solution(Vec to) const;
  // Whether the last solve was one, or one is under way, and its preconditioner is still there; then what f(the heads' KSP) says on these,
  // for all. Collective.
  bool has_solved() const { return under_way() || (solved_last_ && !system_of_inner_.expired()); }
  PetscErrorCode ask(std::vector<double> *, const std::function<PetscErrorCode(KSP inner, std::vector<double> *)> &f) const;
  PetscErrorCode ask(std::string *, const std::function<std::string(KSP inner)> &f) const;
  // Frees everything. Collective.
  PetscErrorCode reset();

private:
  enum What { show_norm, test_norm, done_with };
  static PetscErrorCode monitor(KSP inner, PetscInt its, PetscReal norm, void *self);
  static PetscErrorCode test(KSP inner, PetscInt its, PetscReal norm, KSPConvergedReason *reason, void *self);
  PetscErrorCode prepare(const std::function<PetscErrorCode(KSP)> &configure);
  PetscErrorCode make_inner();
  PetscErrorCode copy_settings();
  PetscErrorCode copy_test();
  PetscErrorCode lead();
  PetscErrorCode follow();
  PetscErrorCode show(PetscInt its, PetscReal norm);
  PetscErrorCode judge(PetscInt its, PetscReal norm, KSPConvergedReason *reason);
  PetscErrorCode conclude();

  KSP outer_ = nullptr, inner_ = nullptr;
  PC pc_ = nullptr;                              // of the heads, during a solve
  std::shared_ptr<SystemOfHeads> system_;        // during a solve, whatever happens to the preconditioner meanwhile
  std::weak_ptr<SystemOfHeads> system_of_inner_; // whose communicator inner_ has
  std::unique_ptr<VecsOfHeads> vectors_;         // its b and x
  Word last_;                                    // with which the last solve ended
  bool solved_last_ = false;
  bool shows_ = false; // whether any process has monitors, and without those a history
  PetscInt history_ = 0;
};
} // namespace amgkit
