// Copies between arrays in the space of a head and the memory of the processes of its group, each of which gives or takes a part.
#pragma once
#include "base/copies_within.hpp"
#include "dist/group_buffer.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace amgkit
{
// Pieces go through buffers that the processes share, two for each of them, which are page-locked: all cores fill or empty them while the
// link to the device is busy, and nothing as large as the arrays is shared. The buffers are there once for all copies of a group.
// What a process has in a space itself goes through its part of in_space(), if that is there, and does not see the host.
class StagedCopies {
  struct Piece {
    std::size_t array = 0, at = 0, bytes = 0; // bytes of the array
    bool last = false;                        // without bytes: the process's part ends
    bool in_space = false;                    // it is in the process's part of in_space(), from this byte on, and not in one of the buffers
    std::size_t from = 0;
  };
  static constexpr std::size_t slots = 2;
  // What a process and the head tell one another: pieces that the process has posted, and that the head has copied.
  struct alignas(128) Lane {
    std::atomic<std::uint64_t> posted = 0, copied = 0;
    std::array<Piece, slots> pieces;
  };
  class Service;
  template <class Ex> class ServiceIn;

public:
  StagedCopies() = default;
  StagedCopies(const StagedCopies &) = delete;
  StagedCopies &operator=(const StagedCopies &) = delete;
  StagedCopies(StagedCopies &&) = delete;
  StagedCopies &operator=(StagedCopies &&) = delete;
  ~StagedCopies() = default;

  // Collective over the group, once. PETSC_ERR_SYS, on all of its ranks, where nothing can be shared. The group must outlive this.
  PetscErrorCode create(MPI_Comm group, int head, bool has_device);

  // By which a process gives its part.
  class Giver {
  public:
    explicit Giver(StagedCopies &copies) : copies_(copies) {}
    // What follows goes to arrays[array], from this element on.
    template <class T> void begin(std::size_t array, std::int64_t first)
    {
      flush();
      piece_ = {array, static_cast<std::size_t>(first) * sizeof(T), 0, false};
    }
    // f(0), ..., f(n - 1), which are asked for in this order.
    template <class T, class F> void put(std::int64_t n, F f)
    {
      for (std::int64_t k = 0; k < n;) {
        if (piece_.bytes == copies_.piece_bytes_) flush();
        if (!buffer_) buffer_ = copies_.free_buffer();
        T *to = reinterpret_cast<T *>(buffer_ + piece_.bytes);
        const auto room = static_cast<std::int64_t>((copies_.piece_bytes_ - piece_.bytes) / sizeof(T));
        const std::int64_t count = std::min(room, n - k);
        for (std::int64_t i = 0; i < count; i++) to[i] = static_cast<T>(f(k + i));
        piece_.bytes += static_cast<std::size_t>(count) * sizeof(T);
        k += count;
      }
    }
    // The same of n elements in ex's memory, where ex is this process's own, through the bytes of its part of in_space() from `from` on.
    // They stay the caller's to change when this returns.
    template <class T, class Ex> void put_in_space(Ex &ex, std::size_t from, const T *elements, std::int64_t n)
    {
      flush();
      copies_.give_in_space(ex, {piece_.array, piece_.at, static_cast<std::size_t>(n) * sizeof(T), false, true, from}, elements);
      piece_.at += static_cast<std::size_t>(n) * sizeof(T);
    }
    // The last piece is on its way.
    void flush();

  private:
    StagedCopies &copies_;
    Piece piece_;
    char *buffer_ = nullptr; // of the piece, once there is something to put there
  };
  // Collective over the group: the arrays, on the head in ex's memory, get what give(giver) puts there on each process. What is given
  // elsewhere is neither used nor needed: ex and arrays are the head's. On its return the head can use them, and others their own memory.
  // An error of the device is an error of the head alone, after all processes have done their part.
  template <class Ex> PetscErrorCode to_head(Ex *ex, const std::vector<void *> &arrays, const std::function<void(Giver &)> &give);
  // The other way: to <- so many bytes of the head's array, from byte `at` on.
  template <class Ex> PetscErrorCode from_head(Ex *ex, const void *array, void *to, std::size_t at, std::size_t bytes);
  // The same where `to` is in the memory of mine, this process's own space, and its part of in_space() has so many bytes. Some processes of
  // the group may call this, and others from_head().
  template <class Ex> PetscErrorCode from_head_in_space(Ex *ex, Ex &mine, const void *array, void *to, std::size_t at, std::size_t bytes);
  GroupBuffer &in_space() { return in_space_; }

private:
  void post(const Piece &);
  void wait_until(const std::function<bool()> &over);
  void wait_for_copies(std::uint64_t number);
  char *free_buffer();
  char *buffer(int process, std::uint64_t number) const
  {
    return buffers_ + (static_cast<std::size_t>(process) * slots + number % slots) * piece_bytes_;
  }
  void take(void *to, std::size_t at, std::size_t bytes);
  template <class Ex> void give_in_space(Ex &, const Piece &, const void *elements);
  template <class Ex> PetscErrorCode serve(Ex *ex, const void *array, const std::function<void()> &take_part);
  void begin(Service *);
  void note(PetscErrorCode code) { code_ = code_ ? code_ : code; }
  PetscErrorCode end();

  MPI_Comm group_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 0;
  std::size_t piece_bytes_ = 0;
  SharedMemory memory_;
  GroupBuffer in_space_;
  Lane *lanes_ = nullptr; // in memory_, of each process
  char *buffers_ = nullptr;
  std::uint64_t posted_ = 0;         // by this process
  std::uint64_t posted_before_ = 0;  // before the present copy
  std::vector<std::uint64_t> taken_; // on the head: of each process
  Service *service_ = nullptr;       // on the head, during a copy
  PetscErrorCode code_ = PETSC_SUCCESS;
};
} // namespace amgkit
