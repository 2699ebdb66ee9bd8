// Values of other ranks' rows: the exchange of a matrix's ghost columns, by PetscSF.
#pragma once
#include "base/array.hpp"

#include <petscsf.h>
#include <vector>

namespace amgkit
{
// Buffers given to begin() live as long as the halo: PetscSF and MPI keep what they know about them.
template <class Ex> class Halo {
public:
  Halo() = default;
  Halo(const Halo &) = delete;
  Halo &operator=(const Halo &) = delete;
  Halo(Halo &&other) noexcept { std::swap(sf_, other.sf_); }
  Halo &operator=(Halo &&other) noexcept
  {
    std::swap(sf_, other.sf_);
    return *this;
  }
  ~Halo() { static_cast<void>(PetscSFDestroy(&sf_)); }

  // Collective. rows: owned by this rank; ghosts: global indices of the columns it needs from others, ascending.
  PetscErrorCode create(MPI_Comm comm, PetscInt rows, const std::vector<PetscInt> &ghosts);
  // Whether any rank needs anything: else begin and end do nothing.
  bool active() const { return sf_ != nullptr; }
  // Starts ghost[k] <- owned[...]; until end(), neither may be touched. Type is MPI_DOUBLE or MPI_INT.
  PetscErrorCode begin(MPI_Datatype type, const void *owned, void *ghost) const;
  PetscErrorCode end(MPI_Datatype type, const void *owned, void *ghost) const;

private:
  PetscSF sf_ = nullptr;
};
} // namespace amgkit
