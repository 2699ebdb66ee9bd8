#include "dist/group_buffer.hpp"

#include "base/device.hpp"
#include "dist/attempt.hpp"

#include <algorithm>
#include <numeric>
#include <petscoptions.h>

namespace amgkit
{
namespace
{
constexpr std::size_t alignment = 256, cannot = SIZE_MAX, unwanted = SIZE_MAX - 1;
} // namespace

void GroupBuffer::create(MPI_Comm group, int head, bool on_device)
{
  group_ = group;
  head_ = head;
  on_device_ = on_device;
  MPI_Comm_rank(group, &rank_);
  MPI_Comm_size(group, &size_);
  sizes_.assign(static_cast<std::size_t>(size_), 0);
  begins_ = sizes_;
}

// Collective. PETSC_ERR_SYS, on all, where the head's memory cannot be used by all.
PetscErrorCode GroupBuffer::open_on_all(std::size_t bytes)
{
  struct {
    IpcHandle handle{};
    std::array<char, 64> device{};
  } of_head;
  std::string device;
  void *p = nullptr;

  PetscFunctionBegin;
  PetscCall(attempt(group_, [&] {
    PetscFunctionBegin;
    if (on_device_) PetscCall(name_of_device(&device));
    if (rank_ != head_) PetscFunctionReturn(PETSC_SUCCESS);
    const std::string why_not = ipc_allocate(bytes, &p, &of_head.handle);
    PetscCheck(why_not.empty(), PETSC_COMM_SELF, PETSC_ERR_SYS, "%s", why_not.c_str());
    std::copy_n(device.begin(), std::min(device.size(), of_head.device.size() - 1), of_head.device.begin());
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  base_ = static_cast<char *>(p);
  PetscCallMPI(MPI_Bcast(&of_head, sizeof of_head, MPI_BYTE, head_, group_));
  PetscCall(attempt(group_, [&] {
    PetscFunctionBegin;
    if (rank_ == head_) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCheck(device == of_head.device.data(), PETSC_COMM_SELF, PETSC_ERR_SYS, "it has another GPU than the process that works for it");
    const std::string why_not = ipc_open(of_head.handle, &p);
    PetscCheck(why_not.empty(), PETSC_COMM_SELF, PETSC_ERR_SYS, "%s", why_not.c_str());
    base_ = static_cast<char *>(p);
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Collective
PetscErrorCode GroupBuffer::allocate(std::size_t bytes)
{
  PetscFunctionBegin;
  taken_ = true;
  if (on_device_) {
    PetscCall(open_on_all(bytes));
  } else {
    PetscCall(on_host_.allocate(group_, bytes));
    base_ = on_host_.at<char>(0);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GroupBuffer::reserve(std::size_t bytes, bool can, std::string *why_not)
{
  std::vector<std::size_t> wanted(sizes_.size());
  std::string message;
  PetscErrorCode code;
  PetscBool allowed = PETSC_TRUE;

  PetscFunctionBegin;
  *why_not = refused_;
  if (!refused_.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscOptionsGetBool(nullptr, nullptr, "-amgkit_cuda_ipc", &allowed, nullptr));
  const std::size_t mine = !allowed ? unwanted : !can ? cannot : (bytes + alignment - 1) / alignment * alignment;
  static_assert(sizeof(std::size_t) == sizeof(std::uint64_t));
  PetscCallMPI(MPI_Allgather(&mine, 1, MPI_UINT64_T, wanted.data(), 1, MPI_UINT64_T, group_));
  const std::size_t most = *std::max_element(wanted.begin(), wanted.end());
  if (most == cannot) *why_not = "it is not on the GPU of all of them";
  if (std::find(wanted.begin(), wanted.end(), unwanted) != wanted.end()) *why_not = "-amgkit_cuda_ipc no";
  if (!why_not->empty()) PetscFunctionReturn(PETSC_SUCCESS);
  bool enough = base_ != nullptr;
  for (std::size_t r = 0; r < wanted.size(); r++) {
    enough = enough && wanted[r] <= sizes_[r];
    wanted[r] = std::max(wanted[r], sizes_[r]);
  }
  if (enough) PetscFunctionReturn(PETSC_SUCCESS);
  release();
  const std::size_t all = std::reduce(wanted.begin(), wanted.end());
  PetscCall(outcome_of([&] { return allocate(std::max(all, alignment)); }, &code, &message));
  if (code) {
    release();
    *why_not = refused_ = message.empty() ? "PETSc error " + std::to_string(code) : message;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  sizes_ = std::move(wanted);
  std::exclusive_scan(sizes_.begin(), sizes_.end(), begins_.begin(), std::size_t{0});
  PetscFunctionReturn(PETSC_SUCCESS);
}

// CUDA wants what others have opened to be closed before it is freed.
void GroupBuffer::release()
{
  if (!taken_) return;
  if (on_device_) {
    if (base_ && rank_ != head_) ipc_close(base_);
    MPI_Barrier(group_);
    if (base_ && rank_ == head_) ipc_free(base_);
  }
  on_host_.release();
  base_ = nullptr;
  taken_ = false;
  std::fill(sizes_.begin(), sizes_.end(), 0);
}
} // namespace amgkit
