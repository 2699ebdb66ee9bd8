// A solver that lives on some of a PC's processes, the heads of its groups: a PC of the same type on these.
#pragma once
#include "plugins/pc_plugin.hpp"
#include "plugins/vecs_of_heads.hpp"

namespace amgkit
{
// The user's system on the heads of groups, which others may have, too.
struct SystemOfHeads {
  // space: where the heads compute, as MatOfHeads has it
  SystemOfHeads(std::shared_ptr<NodeGroups> of, SpaceKind space) : shared(std::move(of)), matrix(*shared, space) {}

  std::shared_ptr<NodeGroups> shared;
  NodeGroups &groups = *shared;
  MatOfHeads matrix;
  VecsOfHeads vectors{shared, matrix}; // of what is done at once; who goes on with them has its own
};

class ConsolidatedSolver final : public Preconditioner {
public:
  // owner: the PC that this is the solver of. The system has its groups.
  ConsolidatedSolver(PC owner, std::shared_ptr<SystemOfHeads> system) : owner_(owner), system_(std::move(system)) {}

  PetscErrorCode setup(Mat) override;
  PetscErrorCode can_refresh(Mat, bool *) const override;
  PetscErrorCode refresh(bool *fits) override;
  SetupFault fault() const override { return fault_; }
  Mat matrix() const override { return system_->matrix.user(); }
  PetscErrorCode check_matrix() const override;
  PetscErrorCode check_layout(Vec x) const override { return amgkit::check_layout(system_->matrix.user_range(), x); }
  // As the solver of the heads, whose copy then follows the matrix.
  bool reads_matrix(bool transposed) const override { return transposed ? transpose_reads_matrix_ : reads_matrix_; }
  bool reaches(Mat, bool /* transposed */) const override { return true; }
  void set_flexible(bool) override;
  void observe(double factor) override;
  int version() const override { return version_; }
  bool linear() const override { return linear_; }
  PetscErrorCode apply(Vec x, Vec y) override;
  PetscErrorCode apply_transpose(Vec x, Vec y) override;
  PetscErrorCode view(PetscViewer) const override;
  const char *space() const override { return space_.c_str(); }
  bool apart() const override { return false; }                // vectors of the host come and go through shared memory
  const MatCopies *copied() const override { return nullptr; } // view() tells of the heads
  PetscErrorCode close() override;

  // Who works with it while the user may reset the PC keeps it, on all ranks alike.
  const std::shared_ptr<SystemOfHeads> &system() const { return system_; }
  // Collective: the values that the matrix has now, on the pattern that was set up, for products on the heads.
  PetscErrorCode take_values();
  PetscErrorCode follow_null_space(); // that it has now
  PC inner() const { return inner_; } // nullptr on members

private:
  PetscErrorCode make_inner();
  using GetNullSpace = PetscErrorCode (*)(Mat, MatNullSpace *);
  using SetNullSpace = PetscErrorCode (*)(Mat, MatNullSpace);
  PetscErrorCode give_null_space(GetNullSpace, SetNullSpace, PetscObjectId *given);
  PetscErrorCode give_near_null_space();
  PetscErrorCode set_up_inner();
  PetscErrorCode apply_on_heads(bool transposed, Vec x, Vec y);
  Preconditioner *solver() const { return inner_ ? solver_of(inner_) : nullptr; }

  PC owner_, inner_ = nullptr;
  std::shared_ptr<SystemOfHeads> system_;
  PetscObjectState taken_ = 0; // of the matrix, when its values were taken
  // The matrix's, that the heads' has; 0: none
  PetscObjectId null_space_ = 0, near_null_space_ = 0;
  SetupFault fault_;
  std::string space_;
  bool linear_ = true, reads_matrix_ = false, transpose_reads_matrix_ = false;
  int version_ = 0;
};

// Collective: *solver for pc->pmat, before its setup, if the options and the machine call for one; else nothing, and why not where the
// options ask for it.
PetscErrorCode make_consolidated(PC pc, std::unique_ptr<Preconditioner> *solver, std::string *why_not);
// What pc applies, if it is one of these and can be applied.
ConsolidatedSolver *consolidated_solver_of(PC pc);
// Collective: the same null space on heads; elsewhere *to is nullptr.
PetscErrorCode null_space_of_heads(SystemOfHeads &, MatNullSpace from, MatNullSpace *to);
} // namespace amgkit
