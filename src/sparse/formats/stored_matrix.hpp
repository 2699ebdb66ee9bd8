// A rank's block of own columns in the format and precision in which the cycle reads it.
#pragma once
#include "sparse/formats/block_csr.hpp"
#include "sparse/formats/block_sell.hpp"

#include <optional>
#include <variant>

namespace amgkit
{
enum class Storage { in_double, in_single };

template <class Ex> class StoredMatrix {
public:
  // Local. A's own rows as sliced ELL, by blocks where these fit, in single precision when asked for and every entry can be represented;
  // A itself, which must then stay, when its rows are too uneven, or on a plain host, where compressed rows are as fast; there the columns
  // of blocks are stored, if A consists of complete ones. memory: A's, whose columns and values are freed once sliced ELL by rows has them;
  // nullptr: they stay.
  // form: of sliced ELL by rows.
  PetscErrorCode create(Ex &, CsrView<double> A, Storage, BlockForm block = 1, Csr<double, Ex> *memory = nullptr,
                        SellForm form = SellForm::by_bytes);
  // Local, ahead of create(), which then finds the form of the slices here. *pays: to store A now makes products faster for next to no
  // memory, as all slices are constant, and take at most an eighth of what plain ones would; on a plain host, if A consists of blocks.
  PetscErrorCode look_ahead(Ex &, CsrView<double> A, BlockForm block, bool *pays);
  // New values of the same pattern; the same as create() gives.
  PetscErrorCode refresh(Ex &, CsrView<double> A, Storage);
  // Whether A's entries allow single precision and it was asked for, which says nothing of how uneven rows are stored.
  bool single() const { return single_; }
  // Whether sliced ELL by rows is stored.
  bool has_rows() const { return rows() != nullptr; }
  // Local: the compressed rows again, where that is so. col[k], and val[k] unless val is nullptr: as the cycle reads
  // them.
  PetscErrorCode entries(Ex &, const int *ptr, int *col, double *val) const;
  // "SELL, single"; "sorted SELL, single"; "constant SELL, single" where all slices are; "stencil SELL, single" where some are stencil or
  // constant slices; "block SELL, single", "constant block SELL, single", "partly constant block SELL, single"; ... in double;
  // "CSR, double", "block CSR, double"
  const char *description() const;
  std::size_t bytes() const;
  // The columns of A's blocks, where these are stored; else nullptr.
  const BlockColumns<Ex> *block_columns() const { return std::get_if<BlockColumns<Ex>>(&format_); }
  // The bytes of the matrix that a product reads.
  double bytes_read(const CsrView<double> &A) const;

  // As in spmv.hpp. A: the block in compressed rows, used when nothing else is stored; sums: nothing, or ProductSums.
  template <class V, class... S> PetscErrorCode multiply(Ex &, CsrView<double> A, const V *x, V *y, const S &...sums) const;
  template <class V> PetscErrorCode add_product(Ex &, CsrView<double> A, const V *x, V *y) const;
  // y = A x with A's own entries, where what is stored has them: all in double precision, or all in constant slices.
  bool has_own_entries() const;
  // Whether sliced ELL by rows is stored, and all slices are constant.
  bool is_constant() const { return rows() && rows()->all_constant(); }
  // Local: whether every entry of A, stored in single precision, is a float; multiply() then has A's own entries. May wait.
  PetscErrorCode is_exact(Ex &, CsrView<double> A, bool *exact) const;
  template <class V, class... S> PetscErrorCode multiply_exactly(Ex &, const V *x, V *y, const S &...sums) const;
  // Local: for y = A x with A's entries to 40 bits (long_float.hpp), two bytes more an entry; A has the values that are stored. *kept: it
  // can be taken until the next refresh(); not where blocks, compressed rows or doubles are stored.
  PetscErrorCode keep_rests(Ex &, CsrView<double> A, bool *kept);
  template <class... S> PetscErrorCode multiply_long(Ex &, const float *x, float *y, const S &...sums) const;
  template <class V> PetscErrorCode residual(Ex &, CsrView<double> A, const V *b, const V *x, V *r) const;
  template <class D, class V>
  PetscErrorCode relax(Ex &, CsrView<double> A, const D *d, RelaxStep, const V *b, const V *x, OptionalVector<V> previous, V *y) const;

private:
  const SellPattern<Ex> *rows() const;  // of sliced ELL by rows; nullptr: something else is stored
  const SellPattern<Ex> *nodes() const; // the same of blocks
  template <class T> PetscErrorCode store_blocks(Ex &, CsrView<double> A, bool *fits, bool *kept);
  PetscErrorCode store_block_columns(Ex &, CsrView<double> A);
  template <class T> PetscErrorCode store_rows(Ex &, CsrView<double> A, SellPattern<Ex> &taken, bool *kept);
  std::variant<std::monostate, Sell<float, Ex>, Sell<double, Ex>, BlockSell<float, Ex>, BlockSell<double, Ex>, BlockColumns<Ex>> format_;
  std::optional<SellPlan<Ex>> ahead_;
  BlockForm block_ = 1;
  SellForm form_ = SellForm::by_bytes;
  bool single_ = false;
};
} // namespace amgkit
