#include "dist/vecs_of_heads.hpp"

#include "dist/attempt.hpp"

#include <algorithm>

namespace amgkit
{
VecsOfHeads::~VecsOfHeads()
{
  for (Vec &vec : vecs_) static_cast<void>(VecDestroy(&vec));
}

PetscErrorCode VecsOfHeads::create()
{
  const auto bytes = (static_cast<std::size_t>(rows_.rows()) * sizeof(PetscScalar) + 127) / 128 * 128;
  const auto make = [&] {
    PetscInt bs, rows;

    PetscFunctionBegin;
    PetscCall(MatGetBlockSize(rows_.matrix(), &bs));
    PetscCall(MatGetSize(rows_.matrix(), &rows, nullptr));
    for (int k = 0; k < count; k++) {
      std::fill_n(entries_[k], rows_.rows(), 0);
      if (groups_.count() == 1)
        PetscCall(VecCreateSeqWithArray(groups_.heads(), bs, rows, entries_[k], &vecs_[k]));
      else
        PetscCall(VecCreateMPIWithArray(groups_.heads(), bs, rows_.rows(), rows, entries_[k], &vecs_[k]));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  };

  PetscFunctionBegin;
  if (memory_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(attempt(groups_.all(),
                    [&] { return memory_.allocate(groups_.group(), std::max(count * bytes, std::size_t{1}), groups_.on_node()); }));
  for (int k = 0; k < count; k++) entries_[k] = memory_.at<PetscScalar>(static_cast<std::size_t>(k) * bytes);
  if (groups_.is_head() && groups_.devices() > 0) memory_.lock_pages();
  const PetscErrorCode code = groups_.on_heads(make);
  if (code) { // the same on all
    for (Vec &vec : vecs_) PetscCall(VecDestroy(&vec));
    memory_.release();
  }
  PetscCall(code);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecsOfHeads::put(int which, Vec x)
{
  const PetscScalar *entries;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(x, &entries));
  std::copy_n(entries, rows_.my_rows(), entries_[which] + rows_.rows_before());
  PetscCall(VecRestoreArrayRead(x, &entries));
  PetscCall(memory_.synchronise());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecsOfHeads::arrived(int which)
{
  PetscFunctionBegin;
  PetscCall(memory_.synchronise());
  if (!vecs_[which]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscScalar *entries;
  PetscCall(VecGetArray(vecs_[which], &entries));
  PetscCall(VecRestoreArray(vecs_[which], &entries));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecsOfHeads::get(int which, Vec x) const
{
  PetscScalar *entries;

  PetscFunctionBegin;
  PetscCall(memory_.synchronise());
  PetscCall(VecGetArrayWrite(x, &entries));
  std::copy_n(entries_[which] + rows_.rows_before(), rows_.my_rows(), entries);
  PetscCall(VecRestoreArrayWrite(x, &entries));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace amgkit
