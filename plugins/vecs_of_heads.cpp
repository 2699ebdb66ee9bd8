#include "plugins/vecs_of_heads.hpp"

#include "dist/attempt.hpp"
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
  const PetscScalar *entries = nullptr;
};
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
  virtual PetscErrorCode get(std::size_t which, PetscScalar *to) = 0;
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
  PetscErrorCode get(std::size_t which, PetscScalar *to) override
  {
    memory_.synchronise();
    if (to) std::copy_n(entries_[which] + layout_.before, layout_.mine, to);
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
  Staged(const NodeGroups &groups, const LayoutOfVec &layout) : groups_(groups), layout_(layout) {}
  Staged(const Staged &) = delete;
  Staged &operator=(const Staged &) = delete;
  ~Staged() override
  {
    for (SpaceVectorIn<Ex> &vector : vectors_) vector.release();
    static_cast<void>(close(ex_));
  }

  PetscErrorCode allocate() override
  {
    return attempt(groups_.all(), [&] {
      PetscFunctionBegin;
      if (!groups_.is_head()) PetscFunctionReturn(PETSC_SUCCESS);
      PetscCall(open(ex_));
      for (SpaceVectorIn<Ex> &vector : vectors_) PetscCall(vector.create(ex_, layout_.rows));
      PetscFunctionReturn(PETSC_SUCCESS);
    });
  }
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
        giver.put<double>(layout_.mine, [entries = from[k].entries](std::int64_t i) { return entries[i]; });
      }
    }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode get(std::size_t which, PetscScalar *to) override
  {
    double *entries = nullptr;
    PetscErrorCode code = PETSC_SUCCESS;

    PetscFunctionBegin;
    if (groups_.is_head()) code = vectors_[which].in_space(VecUse::read, &entries); // from the host, if they are newer there
    PetscCall(groups_.copies().from_head(space(), entries, to, static_cast<std::size_t>(layout_.before) * sizeof(double),
                                         to ? static_cast<std::size_t>(layout_.mine) * sizeof(double) : 0));
    PetscCall(code);
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  Ex *space() { return groups_.is_head() ? &ex_ : nullptr; }

  const NodeGroups &groups_;
  LayoutOfVec layout_;
  Ex ex_;
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
  if (rows_.space() == SpaceKind::debug) place = std::make_unique<Staged<Debug>>(groups, layout);
#if defined(AMGKIT_HAVE_CUDA)
  if (rows_.space() == SpaceKind::gpu) place = std::make_unique<Staged<Cuda>>(groups, layout);
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
    given[k].any = from[k] != nullptr;
    if (from[k] && !code) code = VecGetArrayRead(from[k], &given[k].entries);
    given[k].readable = from[k] && !code;
  }
  const PetscErrorCode of_place = place_->put(given);
  for (std::size_t k = 0; k < count; k++) {
    if (given[k].readable) PetscCall(VecRestoreArrayRead(from[k], &given[k].entries));
    if (from[k] && vecs_[k])
      PetscCall(PetscObjectStateIncrease(reinterpret_cast<PetscObject>(vecs_[k]))); // what PETSc knows of old entries is gone
  }
  PetscCall(code);
  PetscCall(of_place);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecsOfHeads::get(std::size_t which, Vec x)
{
  PetscScalar *entries = nullptr;

  PetscFunctionBegin;
  const PetscErrorCode code = VecGetArrayWrite(x, &entries);
  const PetscErrorCode of_place = place_->get(which, code ? nullptr : entries);
  if (!code) PetscCall(VecRestoreArrayWrite(x, &entries));
  PetscCall(code);
  PetscCall(of_place);
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace amgkit
