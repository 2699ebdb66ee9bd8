// The right factor of a distributed product: a matrix's own rows and those of a halo's ghosts as one matrix, in the order of the global
// indices of rows and columns.
#pragma once
#include "dist/ghost_rows.hpp"

namespace amgkit
{
template <class Ex> class GatheredRows {
public:
  // Collective, once; as GhostRows::create(). B's rows stand behind `before` ghosts of the halo. after(): what follows locally, with the
  // rows in place.
  PetscErrorCode create(Ex &, MPI_Comm, Halo<Ex> &, const DistRows &B, int before, const LocalWork &after = no_work);
  // Collective: for other values of B on the same pattern. Allocates nothing.
  PetscErrorCode update(Ex &, const DistRows &B);

  // B as in the last call: where no ghosts take part, this is its diag.
  CsrView<double> rows(const DistRows &B) const { return apart(B) ? B.diag : stacked_.view(); }
  // Columns: ghosts()[0], ..., ghosts()[before() - 1], B's own, the other ghosts().
  const std::vector<PetscInt> &ghosts() const { return ghost_.ghosts(); }
  int before() const { return ghost_.before(); }
  std::size_t bytes() const { return ghost_.bytes() + stacked_.bytes(); }

private:
  bool apart(const DistRows &B) const { return ghost_.rows().rows == 0 && B.ghosts->empty(); }

  GhostRows<Ex> ghost_;
  int rows_before_ = 0;
  Csr<double, Ex> stacked_;
};
} // namespace amgkit
