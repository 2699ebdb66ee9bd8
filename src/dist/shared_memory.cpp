#include "dist/shared_memory.hpp"

#include "base/device.hpp"

#include <chrono>
#include <sched.h>
#include <sys/statvfs.h>
#include <thread>
#include <unistd.h>

namespace amgkit
{
// An MPI may wait for ever where there is too little, and memory that is there in name alone ends a process when it is written.
bool can_share(double bytes)
{
  constexpr const char *where = "/dev/shm";
  struct statvfs room;
  if (access(where, W_OK) || statvfs(where, &room)) return true;
  return bytes <= static_cast<double>(room.f_bavail) * static_cast<double>(room.f_frsize);
}

// All of it is the first process's, so that it is in one piece.
PetscErrorCode SharedMemory::allocate(MPI_Comm group, std::size_t bytes, int groups)
{
  constexpr const char *message =
      "No %.1f MB of memory that the processes of this node can share: give /dev/shm more room, or do not consolidate";
  const double megabytes = static_cast<double>(bytes) * groups / 1e6;
  MPI_Aint size = 0;
  MPI_Errhandler handler;
  int rank, unit = 1;
  void *mine = nullptr;

  PetscFunctionBegin;
  int any = can_share(1e6 * megabytes) ? 0 : 1;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, group));
  PetscCheck(any == 0, PETSC_COMM_SELF, PETSC_ERR_SYS, message, megabytes);
  PetscCallMPI(MPI_Comm_rank(group, &rank));
  PetscCallMPI(MPI_Comm_get_errhandler(group, &handler));
  PetscCallMPI(MPI_Comm_set_errhandler(group, MPI_ERRORS_RETURN));
  const int code = MPI_Win_allocate_shared(rank == 0 ? static_cast<MPI_Aint>(bytes) : 0, unit, MPI_INFO_NULL, group,
                                           static_cast<void *>(&mine), &window_);
  PetscCallMPI(MPI_Comm_set_errhandler(group, handler));
  PetscCallMPI(MPI_Errhandler_free(&handler));
  any = code == MPI_SUCCESS ? 0 : 1;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, group));
  if (any) window_ = MPI_WIN_NULL; // what others lack cannot be freed
  PetscCheck(any == 0, PETSC_COMM_SELF, PETSC_ERR_SYS, message, megabytes);
  PetscCallMPI(MPI_Win_shared_query(window_, 0, &size, &unit, static_cast<void *>(&base_)));
  PetscCallMPI(MPI_Win_lock_all(MPI_MODE_NOCHECK, window_));
  bytes_ = bytes;
  PetscFunctionReturn(PETSC_SUCCESS);
}

void SharedMemory::lock_pages()
{
  if (!locked_ && base_) locked_ = amgkit::lock_pages(base_, bytes_);
}

void SharedMemory::release()
{
  if (window_ == MPI_WIN_NULL) return;
  if (locked_) unlock_pages(base_);
  locked_ = false;
  if (base_) static_cast<void>(MPI_Win_unlock_all(window_));
  static_cast<void>(MPI_Win_free(&window_));
  base_ = nullptr;
}

PetscErrorCode SharedMemory::synchronise() const
{
  PetscFunctionBegin;
  PetscCallMPI(MPI_Win_sync(window_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A step of a cycle takes about a millisecond, a setup up to seconds. Who sleeps wakes about 60 microseconds late.
PetscErrorCode wait_patiently(MPI_Comm comm, const std::function<bool()> &over)
{
  using namespace std::chrono_literals;
  constexpr int at_once = 200, calls_a_look = 16;
  constexpr std::chrono::nanoseconds wide_awake = 300us, dozing = 20ms, nap = 10us, sleep = 200us;
  const auto began = std::chrono::steady_clock::now();

  PetscFunctionBegin;
  for (int k = 1; !over(); k++) {
    if (k % calls_a_look == 0) { // makes MPI's progress
      int flag;
      PetscCallMPI(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, MPI_STATUS_IGNORE));
    }
    const std::chrono::nanoseconds waited = k < at_once ? 0ns : std::chrono::steady_clock::now() - began;
    if (waited < wide_awake)
      sched_yield();
    else
      std::this_thread::sleep_for(waited < dozing ? nap : sleep);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace amgkit
