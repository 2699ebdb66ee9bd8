#include "dist/renumbered_matrix.hpp"

#include "dist/attempt.hpp"
#include "dist/ghost_numbers.hpp"
#include "sparse/formats/spmv.hpp"
#include "sparse/ilu0/permute.hpp"
#include "sparse/rows/rows.hpp"

#include <algorithm>
#include <numeric>

namespace amgkit
{
template <class Ex> PetscErrorCode RenumberedMatrix<Ex>::order_rows(Ex &ex, Array<int, Ex> &&order, DistMatrix<Ex> &A)
{
  Block made;
  Array<int, Ex> place;

  PetscFunctionBegin;
  PetscCall(place.allocate(ex, A.rows));
  PetscCall(invert_permutation(ex, A.rows, order.data(), place.data()));
  PetscCall(permute_symmetric(ex, A.diag, order.data(), place.data(), made.rows, made.from));
  order_ = std::move(order);
  diag_ = std::move(made);
  A.diag = diag();
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Local: the user's block of ghosts with this rank's rows and all ranks' ghosts in their orders. place: of each ghost among its owner's
// rows. ghosts: their numbers, ascending.
template <class Ex>
PetscErrorCode RenumberedMatrix<Ex>::sort_ghosts(Ex &ex, const DistMatrix<Ex> &user, const int *place, Block &block,
                                                 std::vector<PetscInt> &ghosts) const
{
  Array<std::uint64_t, Ex> numbers;
  Array<int, Ex> columns;
  std::vector<std::uint64_t> number;

  PetscFunctionBegin;
  PetscCall(global_numbers(ex, user.range, user.ghosts, user.range, place, numbers));
  PetscCall(download(ex, numbers.data(), numbers.size(), number));
  std::vector<std::size_t> sorted(number.size());
  std::vector<int> column(number.size());
  std::iota(sorted.begin(), sorted.end(), 0);
  std::sort(sorted.begin(), sorted.end(), [&](std::size_t g, std::size_t h) { return number[g] < number[h]; });
  for (const std::size_t g : sorted) {
    column[g] = static_cast<int>(ghosts.size());
    ghosts.push_back(static_cast<PetscInt>(number[g]));
  }
  PetscCall(upload(ex, column, columns));
  PetscCall(permute(ex, user.offd, order(), static_cast<const int *>(columns.data()), block.rows, block.from));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode RenumberedMatrix<Ex>::order_ghosts(Ex &ex, DistMatrix<Ex> &A)
{
  auto user = std::make_unique<DistMatrix<Ex>>();
  Array<int, Ex> place, place_of_ghosts; // of a row in its rank's order
  std::vector<PetscInt> ghosts;
  Block block;

  PetscFunctionBegin;
  user->comm = A.comm;
  user->rows = A.rows;
  user->range = A.range;
  user->ghosts = A.ghosts;
  user->offd = A.offd;
  PetscCall(user->halo.create(user->comm, user->range, user->ghosts));
  PetscCall(attempt(A.comm, [&] {
    PetscFunctionBegin;
    PetscCall(user->allocate(ex));
    PetscCall(place.allocate(ex, A.rows));
    PetscCall(place_of_ghosts.allocate(ex, static_cast<std::int64_t>(A.ghosts.size())));
    if (order())
      PetscCall(invert_permutation(ex, A.rows, order(), place.data()));
    else
      PetscCall(count_up(ex, A.rows, place.data()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  if (user->halo.active()) {
    PetscCall(user->halo.exchange_into(ex, static_cast<const int *>(place.data()), place_of_ghosts));
    PetscCall(attempt(A.comm, [&] { return sort_ghosts(ex, *user, place_of_ghosts.data(), block, ghosts); }));
    PetscCall(A.halo.create(A.comm, A.range, ghosts));
    A.ghosts = std::move(ghosts);
    A.offd = block.rows.view();
  }
  offd_ = std::move(block);
  user_ = std::move(user);
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode RenumberedMatrix<Ex>::Block::take_values(Ex &ex, const CsrView<double> &user)
{
  return gather(ex, from.size(), from.data(), user.val, rows.val.data());
}

template <class Ex> PetscErrorCode RenumberedMatrix<Ex>::take_values(Ex &ex)
{
  PetscFunctionBegin;
  PetscCall(diag_.take_values(ex, user_->diag));
  PetscCall(offd_.take_values(ex, user_->offd));
  PetscFunctionReturn(PETSC_SUCCESS);
}

AMGKIT_INSTANTIATE_TYPE(class, RenumberedMatrix)
} // namespace amgkit
