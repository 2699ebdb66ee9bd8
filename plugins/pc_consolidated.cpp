#include "plugins/pc_consolidated.hpp"

#include "base/device.hpp"
#include "base/gpu.hpp"
#include "base/log.hpp"
#include "dist/attempt.hpp"

#include <array>
#include <petsc/private/matimpl.h>

namespace amgkit
{
namespace
{
PluginPC &plugin_data_of(PC pc) { return *static_cast<PluginPC *>(pc->data); }

// Whether the values of a block are on a GPU, and not newer on the host, as they are after an assembly there.
PetscErrorCode current_on_gpu([[maybe_unused]] Mat block, bool *is)
{
  PetscFunctionBegin;
  *is = false;
#if defined(PETSC_HAVE_DEVICE)
  MatInfo info;
  PetscCall(MatGetInfo(block, MAT_LOCAL, &info));
  *is = block->offloadmask == PETSC_OFFLOAD_GPU || block->offloadmask == PETSC_OFFLOAD_BOTH || info.nz_used == 0;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Whether the values that A has now are there where the heads compute, which the host stands for in the space debug.
PetscErrorCode has_values_in(SpaceKind space, Mat A, bool *has)
{
  std::array<Mat, 2> blocks{};
  const PetscInt *ghosts;
  bool there;

  PetscFunctionBegin;
  *has = space == SpaceKind::debug || (space == SpaceKind::gpu && on_cuda(A));
  if (!*has || space == SpaceKind::debug) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(get_blocks(A, &blocks[0], &blocks[1], &ghosts));
  for (Mat block : blocks) {
    if (!block) continue;
    PetscCall(current_on_gpu(block, &there));
    *has = *has && there;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
// Collective: *why_not, unless there is none, where the objection holds on any process.
PetscErrorCode agree_on(MPI_Comm comm, bool objection, const char *why, std::string *why_not)
{
  int any = objection;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, comm));
  if (any) *why_not = why;
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode null_space_of_heads(SystemOfHeads &system, MatNullSpace from, MatNullSpace *to)
{
  NodeGroups &groups = system.groups;
  PetscBool constant = PETSC_FALSE;
  PetscInt count = 0;
  const Vec *vectors = nullptr;
  std::vector<Vec> copies;

  PetscFunctionBegin;
  *to = nullptr;
  if (!from) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(system.vectors.create());
  PetscCall(MatNullSpaceGetVecs(from, &constant, &count, &vectors));
  for (PetscInt k = 0; k < count; k++) {
    PetscCall(attempt(groups.all(), [&] {
      PetscInt n;
      PetscFunctionBegin;
      PetscCall(VecGetLocalSize(vectors[k], &n));
      PetscCheck(n == system.matrix.my_rows(), PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
                 "Vector %" PetscInt_FMT " of a null space has %" PetscInt_FMT " entries here, the matrix %" PetscInt_FMT " rows", k, n,
                 system.matrix.my_rows());
      PetscFunctionReturn(PETSC_SUCCESS);
    }));
    PetscCall(attempt(groups.all(), [&] { return system.vectors.put({vectors[k], nullptr}); }));
    PetscCall(groups.on_heads([&] {
      PetscFunctionBegin;
      copies.push_back(nullptr);
      PetscCall(VecDuplicate(system.vectors.on_heads(0), &copies.back()));
      PetscCall(VecCopy(system.vectors.on_heads(0), copies.back()));
      PetscFunctionReturn(PETSC_SUCCESS);
    }));
  }
  PetscCall(groups.on_heads([&] { return MatNullSpaceCreate(groups.heads(), constant, count, copies.data(), to); }));
  for (Vec &copy : copies) PetscCall(VecDestroy(&copy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// On the heads: a PC of the owner's type with its parameters, which leaves the decision when to set up to its owner.
PetscErrorCode ConsolidatedSolver::make_inner()
{
  const char *prefix;
  Mat A = system_->matrix.matrix();

  PetscFunctionBegin;
  PetscCall(PCCreate(system_->groups.heads(), &inner_));
  PetscCall(PCSetType(inner_, plugin_data_of(owner_).type.c_str()));
  PetscCall(PCGetOptionsPrefix(owner_, &prefix));
  PetscCall(PCSetOptionsPrefix(inner_, prefix));
  PetscCall(PCSetOperators(inner_, A, A));
  copy_values(plugin_data_of(owner_).list, plugin_data_of(inner_).list);
  plugin_data_of(inner_).consolidation().kind = ConsolidateKind::no;
  if (system_->matrix.space() != SpaceKind::host) plugin_data_of(inner_).space_choice() = system_->matrix.space();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ConsolidatedSolver::set_up_inner()
{
  struct {
    PCFailedReason reason;
    PetscErrorCode code;
    bool linear, reads_matrix, transpose_reads_matrix;
  } outcome{};

  PetscFunctionBegin;
  PetscCall(system_->groups.on_heads([&] {
    PetscFunctionBegin;
    PetscCall(PCSetReusePreconditioner(inner_, PETSC_FALSE));
    PetscCall(PCSetUp(inner_));
    PetscCall(PCSetReusePreconditioner(inner_, PETSC_TRUE));
    fault_ = plugin_data_of(inner_).fault();
    Preconditioner *solver = plugin_data_of(inner_).solver.get();
    outcome = {fault_.reason, fault_.code, true, false, false};
    if (solver && fault_.none())
      outcome = {fault_.reason, fault_.code, solver->linear(), solver->reads_matrix(false), solver->reads_matrix(true)};
    space_ = solver ? solver->space() : "";
    why_not_on_gpu = solver ? solver->why_not_on_gpu : "";
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscCall(system_->groups.share(&outcome, sizeof outcome));
  PetscCall(system_->groups.share(&space_));
  PetscCall(system_->groups.share(&why_not_on_gpu));
  PetscCall(system_->groups.share(&fault_.description));
  fault_.reason = outcome.reason;
  fault_.code = outcome.code;
  linear_ = outcome.linear;
  reads_matrix_ = outcome.reads_matrix;
  transpose_reads_matrix_ = outcome.transpose_reads_matrix;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The heads' matrix gets what the user's has now, if that is not what was given last.
PetscErrorCode ConsolidatedSolver::give_null_space(GetNullSpace get, SetNullSpace set, PetscObjectId *given)
{
  MatNullSpace present, of_heads;
  PetscObjectId id = 0;

  PetscFunctionBegin;
  PetscCall(get(matrix(), &present));
  if (present) PetscCall(PetscObjectGetId(reinterpret_cast<PetscObject>(present), &id));
  if (id == *given) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(null_space_of_heads(*system_, present, &of_heads));
  if (system_->matrix.matrix()) PetscCall(set(system_->matrix.matrix(), of_heads));
  PetscCall(MatNullSpaceDestroy(&of_heads));
  *given = id;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// It may be attached to the matrix, or taken off, at any time.
PetscErrorCode ConsolidatedSolver::follow_null_space() { return give_null_space(MatGetNullSpace, MatSetNullSpace, &null_space_); }

// What comes from elsewhere is the PC's type's to give.
PetscErrorCode ConsolidatedSolver::give_near_null_space()
{
  return give_null_space(MatGetNearNullSpace, MatSetNearNullSpace, &near_null_space_);
}

PetscErrorCode ConsolidatedSolver::setup(Mat A)
{
  bool in_space;

  PetscFunctionBegin;
  PetscCall(has_values_in(system_->matrix.space(), A, &in_space));
  PetscCall(system_->matrix.create(A, in_space));
  PetscCall(PetscObjectStateGet(reinterpret_cast<PetscObject>(A), &taken_));
  PetscCall(system_->groups.on_heads([&] { return make_inner(); }));
  PetscCall(give_near_null_space());
  PetscCall(follow_null_space());
  PetscCall(plugin_data_of(owner_).give(owner_, *system_, inner_));
  PetscCall(set_up_inner());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ConsolidatedSolver::can_refresh(Mat A, bool *possible) const { return system_->matrix.matches(A, possible); }

// Whether what the pattern decides serves the new values is for the PC of the heads to say.
PetscErrorCode ConsolidatedSolver::refresh(bool *fits)
{
  PetscFunctionBegin;
  PetscCall(take_values());
  PetscCall(give_near_null_space()); // for the heads' PC that has to begin anew
  PetscCall(set_up_inner());
  *fits = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ConsolidatedSolver::take_values()
{
  auto *user = reinterpret_cast<PetscObject>(matrix()), *of_heads = reinterpret_cast<PetscObject>(system_->matrix.matrix());
  PetscObjectState now;
  bool in_space;

  PetscFunctionBegin;
  PetscCall(PetscObjectStateGet(user, &now));
  if (now == taken_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(has_values_in(system_->matrix.space(), matrix(), &in_space));
  PetscCall(system_->matrix.take_values(in_space));
  if (of_heads) PetscCall(PetscObjectStateIncrease(of_heads));
  taken_ = now;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ConsolidatedSolver::check_matrix() const
{
  bool same;

  PetscFunctionBegin;
  PetscCall(system_->matrix.matches(matrix(), &same));
  PetscCheck(same, system_->groups.all(), PETSC_ERR_ARG_WRONGSTATE,
             "The matrix was replaced, or its nonzero pattern has changed, since the preconditioner was set up");
  PetscFunctionReturn(PETSC_SUCCESS);
}

void ConsolidatedSolver::set_flexible(bool flexible)
{
  if (Preconditioner *on_head = solver()) on_head->set_flexible(flexible);
}

void ConsolidatedSolver::observe(double factor)
{
  if (Preconditioner *on_head = solver()) on_head->observe(factor);
}

// What goes wrong on the heads goes wrong on all of them. Whoever fails takes part to the end, where all learn of it.
PetscErrorCode ConsolidatedSolver::apply_on_heads(bool transposed, Vec x, Vec y)
{
  const auto apply = transposed ? PCApplyTranspose : PCApply;
  SystemOfHeads &system = *system_;
  PetscErrorCode code = PETSC_SUCCESS;
  std::string message;
  Word word;

  PetscFunctionBegin;
  PetscCall(system.vectors.create());
  if (reads_matrix(transposed)) PetscCall(take_values());
  if (system.groups.is_head()) {
    const auto work = [&] {
      PetscFunctionBegin;
      PetscCall(attempt(system.groups.heads(), [&] { return system.vectors.put({x, nullptr}); }));
      PetscCall(apply(inner_, system.vectors.on_heads(0), system.vectors.on_heads(1)));
      PetscFunctionReturn(PETSC_SUCCESS);
    };
    PetscCall(outcome_of(work, &code, &message));
    word.number = static_cast<int>(code);
    if (const Preconditioner *on_head = solver()) word.more = on_head->version();
    PetscCall(system.groups.tell(word));
  } else {
    PetscCall(outcome_of([&] { return system.vectors.put({x, nullptr}); }, &code, &message));
    PetscCall(system.groups.hear(&word));
  }
  version_ = word.more;
  PetscCall(attempt(system.groups.all(), [&]() -> PetscErrorCode {
    const PetscErrorCode got = word.number == 0 ? system.vectors.get(1, y) : PETSC_SUCCESS;
    PetscCheck(code == PETSC_SUCCESS || code == PETSC_ERR_MEM, PETSC_COMM_SELF, code, "%s", message.c_str());
    return code ? code : got;
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ConsolidatedSolver::apply(Vec x, Vec y) { return apply_on_heads(false, x, y); }

PetscErrorCode ConsolidatedSolver::apply_transpose(Vec x, Vec y)
{
  return need_memory_for("the transposed preconditioner", system_->groups.all(), [&] { return apply_on_heads(true, x, y); });
}

PetscErrorCode ConsolidatedSolver::view(PetscViewer viewer) const
{
  const NodeGroups &groups = system_->groups;
  const char *has = groups.count() == 1 ? "has" : "have";
  const bool by_default = plugin_data_of(owner_).consolidation().kind == ConsolidateKind::copied;
  const char *why = by_default ? ", as the matrix is copied there" : "";
  PetscViewer of_heads;

  PetscFunctionBegin;
  if (groups.devices() > 0)
    PetscCall(PetscViewerASCIIPrintf(viewer, "%d processes share %d GPU%s: %d of them %s the rows of all%s\n", groups.processes(),
                                     groups.devices(), groups.devices() == 1 ? "" : "s", groups.count(), has, why));
  else
    PetscCall(
        PetscViewerASCIIPrintf(viewer, "%d processes: %d of them %s the rows of all%s\n", groups.processes(), groups.count(), has, why));
  PetscCall(PetscViewerGetSubViewer(viewer, groups.is_head() ? groups.heads() : PETSC_COMM_SELF, &of_heads));
  if (Preconditioner *on_head = solver()) {
    PetscCall(view_copies(*on_head, of_heads));
    PetscCall(on_head->view(of_heads));
  }
  PetscCall(PetscViewerRestoreSubViewer(viewer, groups.is_head() ? groups.heads() : PETSC_COMM_SELF, &of_heads));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A KSP of the heads may keep the PC, of which nothing is left that reads shared memory.
PetscErrorCode ConsolidatedSolver::close()
{
  PetscFunctionBegin;
  if (inner_) PetscCall(PCReset(inner_));
  PetscCall(PCDestroy(&inner_));
  system_.reset();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode make_consolidated(PC pc, std::unique_ptr<Preconditioner> *solver, std::string *why_not)
{
  PluginPC &data = plugin_data_of(pc);
  const Consolidation &wanted = data.consolidation();
  bool on_gpu = false;
  SpaceKind space;
  MPI_Comm comm = PetscObjectComm(reinterpret_cast<PetscObject>(pc->pmat));
  std::string device;
  int size;

  PetscFunctionBegin;
  *why_not = "";
  PetscCallMPI(MPI_Comm_size(comm, &size));
  if (size == 1 || wanted.kind == ConsolidateKind::no) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(would_run_on_gpu(data.space_choice(), pc->pmat, &on_gpu));
  space = on_gpu ? SpaceKind::gpu : data.space_choice() == SpaceKind::debug ? SpaceKind::debug : SpaceKind::host;
  if (!wanted.asked(space, on_cuda(pc->pmat))) PetscFunctionReturn(PETSC_SUCCESS);
  *why_not = data.why_on_all();
  if (why_not->empty()) {
    const LogPhase logged(Phase::share);
    std::shared_ptr<NodeGroups> groups;
    PetscCall(check_type_and_size(pc->pmat));
    PetscCall(attempt(comm, [&] { return on_gpu ? name_of_device(&device) : PETSC_SUCCESS; }));
    PetscCall(agree_on(comm, on_gpu && device.empty(), "a process sees no GPU", why_not));
    if (why_not->empty()) PetscCall(groups_of(comm, static_cast<int>(wanted.processes), device, &groups, why_not));
    if (why_not->empty())
      PetscCall(agree_on(comm, on_gpu && groups->is_head() && !why_no_gpu().empty(),
                         "a process that would work for others has no GPU that can be used", why_not));
    if (why_not->empty()) PetscCall(why_not_on_heads(*groups, pc->pmat, space, why_not));
    if (why_not->empty() && space != SpaceKind::host) PetscCall(groups->need_copies(why_not));
    if (why_not->empty()) *solver = std::make_unique<ConsolidatedSolver>(pc, std::make_shared<SystemOfHeads>(std::move(groups), space));
  }
  if (!why_not->empty()) PetscCall(PetscInfo(pc, "not consolidated: %s\n", why_not->c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

ConsolidatedSolver *consolidated_solver_of(PC pc) { return dynamic_cast<ConsolidatedSolver *>(solver_of(pc)); }
} // namespace amgkit
