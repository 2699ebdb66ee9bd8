// The user's matrix in another order: P A Pᵀ, where P permutes each rank's rows among themselves, so that no row changes its owner.
#pragma once
#include "dist/matrix.hpp"

#include <memory>

namespace amgkit
{
// It is made in two steps, of an A in the user's order, before A.allocate(): this rank's rows and own columns, then, if any rank has taken
// that step, the ghosts of all ranks. Its rows are compressed ones of its own; values follow the user's by take_values().
template <class Ex> class RenumberedMatrix {
public:
  // order[new] = the user's; A.diag <- these rows. Local.
  PetscErrorCode order_rows(Ex &, Array<int, Ex> &&order, DistMatrix<Ex> &A);
  // Ghosts follow their owners' orders, A's halo follows the ghosts; A.offd <- this rank's rows of them. Collective. PETSC_ERR_MEM as
  // attempt() has it: A is then as order_rows() left it, and needs the user's order back before it is used.
  PetscErrorCode order_ghosts(Ex &, DistMatrix<Ex> &A);
  // Values of user(), whose rows are accessible. Local.
  PetscErrorCode take_values(Ex &);

  const int *order() const { return order_.data(); } // of this rank's rows; nullptr: the user's
  // The matrix in the user's order, with a halo of its own; its two blocks are to be set before each use. nullptr before order_ghosts().
  DistMatrix<Ex> *user() const { return user_.get(); }
  // The blocks; without ptr: the user's.
  CsrView<double> diag() const { return diag_.rows.view(); }
  CsrView<double> offd() const { return offd_.rows.view(); }
  std::size_t bytes() const { return order_.bytes() + diag_.bytes() + offd_.bytes() + (user_ ? user_->bytes() : 0); }

private:
  struct Block {
    Csr<double, Ex> rows;
    Array<int, Ex> from; // the entries' positions in the user's block
    std::size_t bytes() const { return rows.bytes() + from.bytes(); }
    PetscErrorCode take_values(Ex &, const CsrView<double> &user);
  };
  PetscErrorCode sort_ghosts(Ex &, const DistMatrix<Ex> &user, const int *place, Block &, std::vector<PetscInt> &ghosts) const;

  Array<int, Ex> order_;
  Block diag_, offd_;
  std::unique_ptr<DistMatrix<Ex>> user_;
};
} // namespace amgkit
