// Rows of a matrix B that other ranks own, those of a halo's ghosts: what a product A B or an interpolation along two couplings needs of
// them.
#pragma once
#include "dist/attempt.hpp"
#include "dist/matrix.hpp"
#include "sparse/rows/rearrange.hpp"

#include <functional>

namespace amgkit
{
using LocalWork = std::function<PetscErrorCode()>;
inline PetscErrorCode no_work() { return PETSC_SUCCESS; }

// Messages are cut into blocks of equal size, so that few large units move, and every rank's entries begin with a block.
template <class Ex> class GhostRows {
public:
  GhostRows() = default;
  GhostRows(const GhostRows &) = delete;
  GhostRows &operator=(const GhostRows &) = delete;
  GhostRows(GhostRows &&) = delete;
  GhostRows &operator=(GhostRows &&) = delete;
  ~GhostRows();

  // Collective over the halo's ranks, once: the rows of B that are the halo's ghosts, pattern and values, after an exchange of
  // their lengths; both at once where MPI sees the space's memory. The halo must outlive this object. before() and after() are other local
  // work, done first and last. Their errors are agreed on with create()'s own, without further calls.
  PetscErrorCode create(Ex &, MPI_Comm, Halo<Ex> &, const DistRows &B, const LocalWork &before = no_work, const LocalWork &after = no_work);
  // Collective: the values anew, for other values of B on the same pattern. One exchange, and nothing is allocated.
  PetscErrorCode update(Ex &, const DistRows &B);

  // A row a ghost of the halo. Columns are numbered by ascending global index: ghosts()[0], ..., ghosts()[before() - 1], B's own columns,
  // the other ghosts(). So a row keeps its order.
  CsrView<double> rows() const { return {rows_, cols_, col_.size(), arrived_.ptr.data(), col_.data(), val_.data()}; }
  const std::vector<PetscInt> &ghosts() const { return ghosts_; } // B's, and those that the rows have besides, ascending
  int before() const { return before_; }
  // rows() around these, which have B's columns, in the same numbering; rows_before of them stand before these.
  BlockRows around(const DistRows &own, int rows_before) const
  {
    BlockRows all = own.blocks();
    all.numbers = {cols_, before_, column_of_ghost_.data()};
    all.others = rows();
    all.rows_before = rows_before;
    return all;
  }
  std::size_t bytes() const { return sent_.bytes() + arrived_.bytes() + col_.bytes() + val_.bytes() + column_of_ghost_.bytes(); }

private:
  // The rows as they lie in the message to or from all ranks.
  struct Side {
    std::vector<int> block = {0}; // the first of each rank's, and the end
    std::int64_t entries = 0;
    Array<int, Ex> ptr, piece;
    Array<std::int64_t, Ex> shift;
    Array<double, Ex> buffer; // values

    PetscErrorCode count(Ex &, const std::vector<int> &rows_of_rank, const int *row, const int *length, int *first_entry);
    PetscErrorCode allocate(Ex &, const int *entry);
    RowMessage message(const int *row) const
    {
      const auto pieces = static_cast<int>(shift.size()), rows = static_cast<int>(ptr.size()) - 1;
      return {rows, pieces, entries, row, ptr.data(), piece.data(), shift.data()};
    }
    std::size_t bytes() const { return ptr.bytes() + piece.bytes() + shift.bytes() + buffer.bytes(); }
  };
  // Global columns, as the values lie in the messages, and as large. Of create() alone.
  struct Columns {
    Array<std::uint64_t, Ex> sent, arrived;
    NeighbourMessages messages;
  };
  PetscErrorCode pack(Ex &, const int *length, const DistRows &B, Columns &);
  PetscErrorCode connect(MPI_Comm, Columns &);
  PetscErrorCode make_forest(MPI_Comm);
  PetscErrorCode exchange(Ex &, Columns *);
  PetscErrorCode take_values(Ex &);
  PetscErrorCode number_columns(Ex &, const DistRows &B, std::uint64_t end, const std::uint64_t *columns_arrived);
  PetscErrorCode create_empty(Ex &, const DistRows &B);

  Halo<Ex> *halo_ = nullptr;
  bool connected_ = false, direct_ = false; // direct: by messages_, not by sf_
  NeighbourMessages messages_;
  PetscSF sf_ = nullptr; // roots: the blocks sent; leaves: those that arrive
  MPI_Datatype block_ = MPI_DATATYPE_NULL;
  Side sent_, arrived_;
  int rows_ = 0, cols_ = 0, before_ = 0;
  std::vector<PetscInt> ghosts_;
  Array<int, Ex> col_, column_of_ghost_; // of rows(); of B's ghosts
  Array<double, Ex> val_;
  SfExchange<Ex> exchange_;
};
} // namespace amgkit
