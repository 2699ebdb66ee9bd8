#include "dist/shared_memory.hpp"

#include "base/device.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <thread>
#include <unistd.h>

namespace amgkit
{
namespace
{
constexpr mode_t for_this_user = 0600;

// Named memory of so many bytes, which are there and zero: its descriptor and name, or -1.
int create_named(std::size_t bytes, std::array<char, 64> &name)
{
  static int made = 0;
  constexpr int tries = 1000; // of names that others have, perhaps of another container
  int file = -1;

  for (int k = 0; k < tries && file < 0; k++) {
    std::snprintf(name.data(), name.size(), "/amgkit-%ld-%d", static_cast<long>(getpid()), made++);
    file = shm_open(name.data(), O_CREAT | O_EXCL | O_RDWR, for_this_user);
    if (file < 0 && errno != EEXIST) break;
  }
  int lacks = file < 0 ? errno : EINTR;
  while (file >= 0 && lacks == EINTR) lacks = posix_fallocate(file, 0, static_cast<off_t>(bytes));
  if (file >= 0 && lacks) {
    ::close(file);
    shm_unlink(name.data());
  }
  if (lacks) name.fill(0);
  return lacks ? -1 : file;
}
} // namespace

bool can_share(double bytes)
{
  constexpr const char *where = "/dev/shm";
  struct statvfs room;
  if (access(where, W_OK) || statvfs(where, &room)) return true;
  return bytes <= static_cast<double>(room.f_bavail) * static_cast<double>(room.f_frsize);
}

// All of it is taken at once: memory that is there in name alone ends a process when it is written, and another group may take what was
// free a moment ago. As soon as all processes have it, it loses its name, so that the system frees it however they end.
PetscErrorCode SharedMemory::allocate(MPI_Comm group, std::size_t bytes)
{
  std::array<char, 64> name{};
  void *base = MAP_FAILED;
  int rank, file = -1;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(group, &rank));
  if (rank == 0 && can_share(static_cast<double>(bytes))) file = create_named(bytes, name);
  PetscCallMPI(MPI_Bcast(name.data(), static_cast<int>(name.size()), MPI_CHAR, 0, group));
  if (rank > 0 && name[0]) file = shm_open(name.data(), O_RDWR, for_this_user);
  if (file >= 0) base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (file >= 0) ::close(file);
  int any = base == MAP_FAILED ? 1 : 0;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, group));
  if (rank == 0 && name[0]) shm_unlink(name.data());
  if (base != MAP_FAILED) {
    base_ = static_cast<char *>(base);
    bytes_ = bytes;
  }
  if (any) release();
  PetscCheck(any == 0, PETSC_COMM_SELF, PETSC_ERR_SYS,
             "No %.1f MB of memory that the processes of this node can share: give /dev/shm more room", static_cast<double>(bytes) / 1e6);
  PetscFunctionReturn(PETSC_SUCCESS);
}

void SharedMemory::lock_pages()
{
  if (!locked_ && base_) locked_ = amgkit::lock_pages(base_, bytes_);
}

void SharedMemory::release()
{
  if (!base_) return;
  if (locked_) unlock_pages(base_);
  locked_ = false;
  munmap(base_, bytes_);
  base_ = nullptr;
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
