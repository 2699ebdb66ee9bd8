#include "graph/coarse_blocks.hpp"

#include "sparse/formats/spmv.hpp"

namespace amgkit
{
template <class Ex> PetscErrorCode BlockSelection<Ex>::create(Ex &ex, const MarkedRows &A, unsigned char bits)
{
  PetscFunctionBegin;
  PetscCall(select_entries(ex, A.diag, A.mark, bits, {}, diag));
  PetscCall(select_entries(ex, A.offd, A.ghost_mark, bits, {}, offd));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex>
PetscErrorCode selected_pattern(Ex &ex, const CsrView<double> &A, const Selection<Ex> &chosen, Csr<double, Ex> &M, int first,
                                bool with_values)
{
  PetscFunctionBegin;
  M.rows = A.rows;
  M.cols = A.cols;
  PetscCall(M.ptr.allocate(ex, chosen.ptr.size()));
  PetscCall(memory_copy(ex, M.ptr.data(), chosen.ptr.data(), chosen.ptr.bytes()));
  PetscCall(M.col.allocate(ex, chosen.size()));
  if (with_values) PetscCall(M.val.allocate(ex, chosen.size()));
  PetscCall(selected_columns(ex, A, chosen, first, M.col.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex>
PetscErrorCode coarse_columns(Ex &ex, const DistMatrix<Ex> &A, const BlockSelection<Ex> &chosen, const CoarsePoints<Ex> &points,
                              PetscInt first, CoarseBlocks<Ex> &B)
{
  std::vector<std::uint64_t> distinct;
  Array<std::uint64_t, Ex> key;
  Array<int, Ex> position;

  PetscFunctionBegin;
  PetscCall(selected_pattern(ex, A.diag, chosen.diag, B.diag));
  PetscCall(selected_pattern(ex, ghost_block(A), chosen.offd, B.offd));
  PetscCall(key.allocate(ex, points.ghosts.size()));
  PetscCall(memory_copy(ex, key.data(), points.ghosts.data(), key.bytes()));
  PetscCall(position.allocate(ex, key.size()));
  PetscCall(number_distinct(ex, key, static_cast<std::uint64_t>(points.range.back()), position.data(), distinct));
  PetscCall(gather(ex, B.diag.col.size(), B.diag.col.data(), points.number.data(), B.diag.col.data()));
  PetscCall(gather(ex, B.offd.col.size(), B.offd.col.data(), static_cast<const int *>(position.data()), B.offd.col.data()));
  B.first = first;
  B.ghosts.assign(distinct.begin(), distinct.end());
  B.diag.cols = points.count;
  B.offd.cols = static_cast<int>(distinct.size());
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex>
PetscErrorCode split_product(Ex &ex, CsrView<double> W, const unsigned char *keep, const ProductColumns &columns,
                             BlockSelection<Ex> &chosen, CoarseBlocks<Ex> &P)
{
  const int begin = columns.before, end = columns.before + columns.own;

  PetscFunctionBegin;
  PetscCall(select_entries(ex, W, keep, 1, {begin, end, true}, chosen.diag));
  PetscCall(select_entries(ex, W, keep, 1, {begin, end, false}, chosen.offd));
  PetscCall(selected_pattern(ex, W, chosen.diag, P.diag, begin, false));
  PetscCall(selected_pattern(ex, W, chosen.offd, P.offd, 0, false));
  P.diag.cols = columns.own;
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode complete_blocks(Ex &ex, const ProductColumns &columns, CoarseBlocks<Ex> &P)
{
  std::vector<int> kept;

  PetscFunctionBegin;
  PetscCall(drop_empty_columns(ex, P.offd, kept));
  P.first = columns.first;
  P.ghosts.clear();
  for (const int j : kept) P.ghosts.push_back((*columns.ghosts)[static_cast<std::size_t>(j < columns.before ? j : j - columns.own)]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex>
PetscErrorCode TruncatedProduct<Ex>::create(Ex &ex, CsrView<double> W, const ProductColumns &columns, const Truncation &truncation,
                                            CoarseBlocks<Ex> &P)
{
  PetscFunctionBegin;
  PetscCall(keep_.allocate(ex, W.nnz));
  PetscCall(scale_.allocate(ex, W.rows));
  PetscCall(mark_largest(ex, W, truncation, keep_.data()));
  PetscCall(split_product(ex, W, keep_.data(), columns, chosen_, P));
  PetscCall(P.diag.val.allocate(ex, chosen_.diag.size()));
  PetscCall(P.offd.val.allocate(ex, chosen_.offd.size()));
  PetscCall(values(ex, W, P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode TruncatedProduct<Ex>::values(Ex &ex, CsrView<double> W, CoarseBlocks<Ex> &P)
{
  PetscFunctionBegin;
  PetscCall(scales_of_truncation(ex, W, keep_.data(), scale_.data()));
  PetscCall(selected_values(ex, W, chosen_.diag, scale_.data(), P.diag.val.data()));
  PetscCall(selected_values(ex, W, chosen_.offd, scale_.data(), P.offd.val.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode leave_out_rows(Ex &ex, int n, const int *number, int count, Csr<double, Ex> &M)
{
  Array<int, Ex> ptr;

  PetscFunctionBegin;
  PetscCall(ptr.allocate(ex, std::int64_t{count} + 1));
  PetscCall(inject(ex, n, number, M.ptr.data(), ptr.data()));
  PetscCall(memory_copy(ex, ptr.data() + count, M.ptr.data() + n, sizeof(int)));
  M.ptr = std::move(ptr);
  M.rows = count;
  PetscFunctionReturn(PETSC_SUCCESS);
}

AMGKIT_INSTANTIATE_TYPE(struct, BlockSelection)
AMGKIT_INSTANTIATE_TYPE(class, TruncatedProduct)
AMGKIT_INSTANTIATE(selected_pattern)
AMGKIT_INSTANTIATE(coarse_columns)
AMGKIT_INSTANTIATE(split_product)
AMGKIT_INSTANTIATE(complete_blocks)
AMGKIT_INSTANTIATE(leave_out_rows)
} // namespace amgkit
