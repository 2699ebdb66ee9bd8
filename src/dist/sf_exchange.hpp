// PetscSF's exchanges between arrays of a space.
#pragma once
#include "base/array.hpp"
#include "base/log.hpp"

#include <petscsf.h>
#include <utility>

namespace amgkit
{
// Whether PETSc is not told of the space's memory: then what is exchanged goes through the host. The debug space shows what that needs.
template <class Ex> inline constexpr bool through_host = Ex::apart && !(Ex::on_device && petsc_has_cuda);
// What PetscSF is told of the memory that it sees.
template <class Ex>
inline constexpr PetscMemType memory_type = Ex::on_device && !through_host<Ex> ? PETSC_MEMTYPE_CUDA : PETSC_MEMTYPE_HOST;

// An array as an exchange sees it.
struct Exchanged {
  void *data = nullptr;
  std::size_t bytes = 0;
};

// One exchange at a time; each replaces all of what it writes to. The buffers on the host stay for the next.
template <class Ex> class SfExchange {
public:
  SfExchange() = default;
  SfExchange(const SfExchange &) = delete;
  SfExchange &operator=(const SfExchange &) = delete;
  SfExchange(SfExchange &&) = delete;
  SfExchange &operator=(SfExchange &&) = delete;
  ~SfExchange() = default;

  // Local: memory for exchanges of at most so many bytes, where they go through the host. Before begin(), which is no place to lack memory.
  PetscErrorCode reserve(std::size_t roots, std::size_t leaves)
  {
    PetscFunctionBegin;
    if (!through_host<Ex>) PetscFunctionReturn(PETSC_SUCCESS);
    for (const auto &[bytes, buffer] : {std::pair{roots, &roots_}, {leaves, &leaves_}}) {
      if (buffer->bytes() < bytes) PetscCall(buffer->allocate(host_, static_cast<std::int64_t>(bytes)));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  // Collective. The leaves get what their roots have, or, back, the roots what their leaves have. type: of one root or leaf.
  PetscErrorCode begin(Ex &ex, PetscSF sf, MPI_Datatype type, Exchanged roots, Exchanged leaves, bool back)
  {
    const LogPhase logged(Phase::halo);
    ex_ = &ex;
    sf_ = sf;
    to_ = back ? roots : leaves;
    back_ = back;
    PetscFunctionBegin;
    if constexpr (through_host<Ex>) {
      const Exchanged from = back ? leaves : roots;
      PetscCall(reserve(roots.bytes, leaves.bytes));
      PetscCall(memory_to_host(ex, back ? leaves_.data() : roots_.data(), from.data, from.bytes));
      roots.data = roots_.data();
      leaves.data = leaves_.data();
    }
    seen_roots_ = roots.data;
    seen_leaves_ = leaves.data;
    if (back)
      PetscCall(PetscSFReduceWithMemTypeBegin(sf, type, memory_type<Ex>, leaves.data, memory_type<Ex>, roots.data, MPI_REPLACE));
    else
      PetscCall(PetscSFBcastWithMemTypeBegin(sf, type, memory_type<Ex>, roots.data, memory_type<Ex>, leaves.data, MPI_REPLACE));
    type_ = type;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  // Nothing happens where no exchange is under way.
  PetscErrorCode end()
  {
    const MPI_Datatype type = std::exchange(type_, MPI_DATATYPE_NULL);

    PetscFunctionBegin;
    if (type == MPI_DATATYPE_NULL) PetscFunctionReturn(PETSC_SUCCESS);
    const LogPhase logged(Phase::halo);
    if (back_)
      PetscCall(PetscSFReduceEnd(sf_, type, seen_leaves_, seen_roots_, MPI_REPLACE));
    else
      PetscCall(PetscSFBcastEnd(sf_, type, seen_roots_, seen_leaves_, MPI_REPLACE));
    if constexpr (through_host<Ex>) PetscCall(memory_from_host(*ex_, to_.data, back_ ? seen_roots_ : seen_leaves_, to_.bytes));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  bool under_way() const { return type_ != MPI_DATATYPE_NULL; }

private:
  using Bytes = Array<unsigned char, Host>;

  Ex *ex_ = nullptr;
  PetscSF sf_ = nullptr;
  MPI_Datatype type_ = MPI_DATATYPE_NULL; // of what is under way; MPI_DATATYPE_NULL: nothing is
  Exchanged to_;
  void *seen_roots_ = nullptr, *seen_leaves_ = nullptr;
  bool back_ = false;
  Host host_;
  Bytes roots_, leaves_;
};
} // namespace amgkit
