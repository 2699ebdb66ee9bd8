// A prolongator P whose rows may have entries at other ranks' coarse points, and R = Pᵀ beside it.
#pragma once
#include "dist/matrix.hpp"

namespace amgkit
{
// What R's rows of other ranks' points give travels the halo's way back, and the owners add it to their own sum, in a fixed order.
template <class Ex> struct Prolongator {
  // Set by the caller: P's rows of this rank. diag's columns are the rank's own coarse points; offd's column k is ghosts[k].
  Csr<double, Ex> diag, offd;
  std::vector<PetscInt> ghosts; // global numbers of other ranks' coarse points, ascending

  MPI_Comm comm = MPI_COMM_NULL;
  std::vector<PetscInt> range;       // rank r owns coarse points range[r] <= I < range[r + 1]
  PetscInt first = 0;                // this rank's first
  Csr<double, Ex> to_own, to_ghosts; // R: a row an own coarse point; a row a ghost
  Halo<Ex> halo;                     // of the ghosts
  Csr<double, Ex> arrivals;          // ones: which of the values that come back belong to an own coarse point
  Array<int, Ex> receiving;          // the points for which any come, ascending
  Array<int, Ex> boundary;           // rows with entries in offd

  std::size_t bytes() const;
  // Collective: all but what the caller has set. *out_of_memory as in attempt().
  PetscErrorCode create(Ex &, MPI_Comm comm, bool *out_of_memory);
  // Local: R's values anew, for other values of P on the same pattern. Neither waits nor allocates.
  PetscErrorCode transpose_values(Ex &);
  // Collective; V is float or double. x += P e
  template <class V> PetscErrorCode add_product(Ex &, const V *e, V *x);
  // b = Pᵀ r
  template <class V> PetscErrorCode multiply_transposed(Ex &, const V *r, V *b);

private:
  PetscErrorCode transpose_all(Ex &);

  Array<int, Ex> from_diag_, from_offd_; // P's entry behind each of R's
};
} // namespace amgkit
