#include "plugins/vecs_of_heads.hpp"

#include "base/device.hpp"
#include "dist/attempt.hpp"
#include "dist/vec_view.hpp"
#include "plugins/space_vec.hpp"

#include <algorithm>
#include <petsc/private/petscimpl.h>

namespace amgkit
{
namespace
{
// A vector of heads, and which entries of it this process has
struct LayoutOfVec {
  PetscInt bs = 1, all = 0;                // on heads
  PetscInt rows = 0, before = 0, mine = 0; // as LayoutOfHeads has them
};
// A vector of the user that is to be put. A process that has none of its entries, or cannot read them, gives nothing.
struct Given {
  bool any = false, readable = false;
  bool in_space = false; // whether the entries are in the memory of the heads' space, and not on the host
  const PetscScalar *entries = nullptr;
};
// One that is to be got
struct Taken {
  bool in_space = false;
  PetscScalar *entries = nullptr; // or nullptr: nothing is taken
};

// Whether x's entries are on a GPU, and not newer on the host
PetscErrorCode is_current_on_gpu(Vec x, bool *is)
{
  PetscOffloadMask mask;

  PetscFunctionBegin;
  *is = on_cuda(x);
  if (!*is) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGetOffloadMask(x, &mask));
  *is = mask == PETSC_OFFLOAD_GPU || mask == PETSC_OFFLOAD_BOTH;
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

// Where the entries are. As VecsOfHeads has it.
class VecsOfHeads::Place {
public:
  Place() = default;
  Place(const Place &) = delete;
  Place &operator=(const Place &) = delete;
  virtual ~Place() = default;
  virtual PetscErrorCode allocate() = 0;                     // collective
  virtual PetscErrorCode make(std::array<Vec, count> *) = 0; // on heads
  virtual PetscErrorCode put(const std::array<Given, count> &) = 0;
  virtual PetscErrorCode get(std::size_t which, const Taken &to) = 0;
  // Whether entries in the memory of a GPU can be given and taken there; and those of the host, which stands for a GPU in the space debug.
  virtual bool reaches_gpu() const { return false; }
  virtual bool reaches_host_as_gpu() const { return false; }
};

// In memory that the processes share
class VecsOfHeads::Shared final : public Place {
public:
  Shared(const NodeGroups &groups, const LayoutOfVec &layout) : groups_(groups), layout_(layout) {}

  PetscErrorCode allocate() override
  {
    const auto bytes = (static_cast<std::size_t>(layout_.rows) * sizeof(PetscScalar) + 127) / 128 * 128;

    PetscFunctionBegin;
    PetscCall(attempt(groups_.all(), [&] { return memory_.allocate(groups_.group(), std::max(count * bytes, std::size_t{1})); }));
    for (std::size_t k = 0; k < count; k++) entries_[k] = memory_.at<PetscScalar>(k * bytes);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode make(std::array<Vec, count> *vecs) override
  {
    PetscFunctionBegin;
    for (std::size_t k = 0; k < count; k++) {
      if (groups_.count() == 1)
        PetscCall(VecCreateSeqWithArray(groups_.heads(), layout_.bs, layout_.rows, entries_[k], &(*vecs)[k]));
      else
        PetscCall(VecCreateMPIWithArray(groups_.heads(), layout_.bs, layout_.rows, layout_.all, entries_[k], &(*vecs)[k]));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode put(const std::array<Given, count> &from) override
  {
    PetscFunctionBegin;
    for (std::size_t k = 0; k < count; k++) {
      if (from[k].readable) std::copy_n(from[k].entries, layout_.mine, entries_[k] + layout_.before);
    }
    PetscCall(groups_.gather());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode get(std::size_t which, const Taken &to) override
  {
    memory_.synchronise();
    if (to.entries) std::copy_n(entries_[which] + layout_.before, layout_.mine, to.entries);
    return PETSC_SUCCESS;
  }

private:
  const NodeGroups &groups_;
  LayoutOfVec layout_;
  std::array<PetscScalar *, count> entries_{}; // of the group
  SharedMemory memory_;
};

// In the space where the heads compute
template <class Ex> class VecsOfHeads::Staged final : public Place {
public:
  // on_gpu: the user's matrix is, and so may vectors be
  Staged(const NodeGroups &groups, const LayoutOfVec &layout, bool on_gpu) : groups_(groups), layout_(layout), on_gpu_(on_gpu) {}
  Staged(const Staged &) = delete;
  Staged &operator=(const Staged &) = delete;
  ~Staged() override
  {
    for (SpaceVectorIn<Ex> &vector : vectors_) vector.release();
    static_cast<void>(close(ex_));
  }

  PetscErrorCode allocate() override
  {
    // Without NVIDIA's Multi-Process Service a GPU serves one process after the other: with 16 of them a solve at 7-point 128³ took 10.1
    // ms, and 8.2 by way of the host, with four 6.3. What a matrix has is more, and stays: 6.1 and 10.7 ms for new values with 16.
    constexpr int few = 8;
    std::string why_not = "the matrix is not on a GPU, or too many processes take turns on it";
    int most = Ex::on_device && serves_processes_at_once() ? 1 : groups_.group_size(); // processes that take turns

    PetscFunctionBegin;
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_INT, MPI_MAX, groups_.all()));
    if (most <= few && (on_gpu_ || !Ex::on_device))
      PetscCall(groups_.copies().in_space().reserve(count * static_cast<std::size_t>(layout_.mine) * sizeof(double), true, &why_not));
    in_space_ = why_not.empty();
    PetscCall(attempt(groups_.all(), [&] {
      PetscFunctionBegin;
      if (!groups_.is_head()) {
        if (in_space_) PetscCall(open_for_copies(ex_));
        PetscFunctionReturn(PETSC_SUCCESS);
      }
      PetscCall(open(ex_));
      for (SpaceVectorIn<Ex> &vector : vectors_) PetscCall(vector.create(ex_, layout_.rows));
      PetscFunctionReturn(PETSC_SUCCESS);
    }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  // The buffer may be gone since, with one who wanted more of it.
  bool reaches_gpu() const override { return Ex::on_device && in_space_ && groups_.copies().in_space(); }
  bool reaches_host_as_gpu() const override { return !Ex::on_device && in_space_ && groups_.copies().in_space(); }
  PetscErrorCode make(std::array<Vec, count> *vecs) override
  {
    PetscFunctionBegin;
    for (std::size_t k = 0; k < count; k++)
      PetscCall(make_space_vec(groups_.heads(), {layout_.bs, layout_.rows, layout_.all}, nullptr, vectors_[k], &(*vecs)[k]));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode put(const std::array<Given, count> &from) override
  {
    std::vector<void *> arrays(count, nullptr);

    PetscFunctionBegin;
    for (std::size_t k = 0; k < count && groups_.is_head(); k++) {
      double *entries;
      if (!from[k].any) continue;
      PetscCall(vectors_[k].in_space(VecUse::overwrite, &entries)); // fails only where the space has no such vector
      arrays[k] = entries;
    }
    PetscCall(groups_.copies().to_head(space(), arrays, [&](StagedCopies::Giver &giver) {
      for (std::size_t k = 0; k < count; k++) {
        if (!from[k].readable) continue;
        giver.begin<double>(k, layout_.before);
        if (from[k].in_space)
          giver.put_in_space(ex_, k * static_cast<std::size_t>(layout_.mine) * sizeof(double), from[k].entries, layout_.mine);
        else
          giver.put<double>(layout_.mine, [entries = from[k].entries](std::int64_t i) { return entries[i]; });
      }
    }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode get(std::size_t which, const Taken &to) override
  {
    const std::size_t at = static_cast<std::size_t>(layout_.before) * sizeof(double);
    const std::size_t bytes = to.entries ? static_cast<std::size_t>(layout_.mine) * sizeof(double) : 0;
    double *entries = nullptr;
    PetscErrorCode code = PETSC_SUCCESS;

    PetscFunctionBegin;
    if (groups_.is_head()) code = vectors_[which].in_space(VecUse::read, &entries); // from the host, if they are newer there
    if (to.in_space)
      PetscCall(groups_.copies().from_head_in_space(space(), ex_, entries, to.entries, at, bytes));
    else
      PetscCall(groups_.copies().from_head(space(), entries, to.entries, at, bytes));
    PetscCall(code);
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  Ex *space() { return groups_.is_head() ? &ex_ : nullptr; }

  const NodeGroups &groups_;
  LayoutOfVec layout_;
  bool on_gpu_, in_space_ = false;               // in_space_: there is a buffer of the group for what is on a GPU
  Ex ex_;                                        // of a process that is no head, for copies alone
  std::array<SpaceVectorIn<Ex>, count> vectors_; // on heads
};

VecsOfHeads::VecsOfHeads(std::shared_ptr<NodeGroups> groups, const MatOfHeads &rows) : groups_(std::move(groups)), rows_(rows) {}

VecsOfHeads::~VecsOfHeads()
{
  for (Vec &vec : vecs_) {
    if (vec) static_cast<void>(detach(vec)); // somebody may have kept a reference
    static_cast<void>(VecDestroy(&vec));
  }
}

PetscErrorCode VecsOfHeads::create()
{
  const NodeGroups &groups = *groups_;
  LayoutOfVec layout = {1, 0, rows_.rows(), rows_.rows_before(), rows_.my_rows()};

  PetscFunctionBegin;
  if (place_) PetscFunctionReturn(PETSC_SUCCESS);
  if (groups.is_head()) PetscCall(MatGetBlockSize(rows_.matrix(), &layout.bs));
  if (groups.is_head()) PetscCall(MatGetSize(rows_.matrix(), &layout.all, nullptr));
  std::unique_ptr<Place> place;
  if (rows_.space() == SpaceKind::debug) place = std::make_unique<Staged<Debug>>(groups, layout, false);
#if defined(AMGKIT_HAVE_CUDA)
  if (rows_.space() == SpaceKind::gpu) place = std::make_unique<Staged<Cuda>>(groups, layout, on_cuda(rows_.user()));
#endif
  if (!place) place = std::make_unique<Shared>(groups, layout);
  PetscCall(place->allocate());
  const PetscErrorCode code = groups.on_heads([&] { return place->make(&vecs_); });
  if (code) { // the same on all
    for (Vec &vec : vecs_) PetscCall(VecDestroy(&vec));
  }
  PetscCall(code);
  place_ = std::move(place);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A process that cannot read its entries takes part all the same: the others wait for it.
PetscErrorCode VecsOfHeads::put(const std::array<Vec, count> &from)
{
  std::array<Given, count> given;
  PetscErrorCode code = PETSC_SUCCESS;

  PetscFunctionBegin;
  for (std::size_t k = 0; k < count; k++) {
    bool on_gpu = false;
    given[k].any = from[k] != nullptr;
    if (!from[k]) continue;
    if (!code && place_->reaches_gpu()) code = is_current_on_gpu(from[k], &on_gpu);
    if (!code) code = on_gpu ? VecGetArrayReadAndMemType(from[k], &given[k].entries, nullptr) : VecGetArrayRead(from[k], &given[k].entries);
    given[k].readable = !code;
    given[k].in_space = on_gpu || place_->reaches_host_as_gpu();
  }
  const PetscErrorCode of_place = place_->put(given);
  for (std::size_t k = 0; k < count; k++) {
    const bool on_gpu = given[k].in_space && place_->reaches_gpu();
    if (given[k].readable)
      PetscCall(on_gpu ? VecRestoreArrayReadAndMemType(from[k], &given[k].entries) : VecRestoreArrayRead(from[k], &given[k].entries));
    if (from[k] && vecs_[k])
      PetscCall(PetscObjectStateIncrease(reinterpret_cast<PetscObject>(vecs_[k]))); // what PETSc knows of old entries is gone
  }
  PetscCall(code);
  PetscCall(of_place);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecsOfHeads::get(std::size_t which, Vec x)
{
  const bool on_gpu = place_->reaches_gpu() && on_cuda(x);
  Taken to = {on_gpu || place_->reaches_host_as_gpu(), nullptr};

  PetscFunctionBegin;
  const PetscErrorCode code = on_gpu ? VecGetArrayWriteAndMemType(x, &to.entries, nullptr) : VecGetArrayWrite(x, &to.entries);
  if (code) to.entries = nullptr;
  const PetscErrorCode of_place = place_->get(which, to);
  if (!code) PetscCall(on_gpu ? VecRestoreArrayWriteAndMemType(x, &to.entries) : VecRestoreArrayWrite(x, &to.entries));
  PetscCall(code);
  PetscCall(of_place);
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace amgkit
