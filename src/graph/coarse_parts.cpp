#include "graph/coarse_parts.hpp"

#include <algorithm>

namespace amgkit
{
template <class Ex>
PetscErrorCode count_slices(Ex &ex, const MarkedRows &rows, unsigned char bits, CsrView<double> right, int before, std::int64_t slice_bytes,
                            int *slices)
{
  // of a factor or a product: column, value, place in what it was chosen from, and the list that it is chosen by
  constexpr std::int64_t bytes = 3 * sizeof(int) + sizeof(double);
  const double of_right = 1 + right.average();
  const double most_bytes = static_cast<double>(rows.diag.nnz + rows.offd.nnz) * of_right * bytes;
  std::int64_t terms = 0;
  double allowed = 0;

  PetscFunctionBegin;
  *slices = 1;
  PetscCall(memory_for_product(ex, slice_bytes, most_bytes, &allowed));
  if (most_bytes <= allowed) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(count_terms(ex, rows.diag, rows.mark, bits, right, before, &terms));
  terms += static_cast<std::int64_t>(static_cast<double>(rows.offd.nnz) * of_right);
  const double wanted = static_cast<double>(terms * bytes) / allowed + 1, most = rows.diag.rows;
  *slices = static_cast<int>(std::max(1.0, std::min(wanted, most)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex>
PetscErrorCode make_parts(Ex &ex, const MarkedRows &all, int slices, const MakePart<Ex> &make, std::vector<CoarseBlocks<Ex>> &parts)
{
  std::vector<RowCut> cuts;
  Array<int, Ex> ptr, ghost_ptr;

  PetscFunctionBegin;
  if (slices == 1) {
    parts.emplace_back();
    PetscCall(make(all, parts.back()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(cut_rows(ex, all, slices, cuts));
  for (std::size_t s = 0; s + 1 < cuts.size(); s++) {
    MarkedRows slice;
    if (cuts[s].row == cuts[s + 1].row) continue;
    PetscCall(slice_rows(ex, all, cuts[s], cuts[s + 1], ptr, ghost_ptr, slice));
    parts.emplace_back();
    PetscCall(make(slice, parts.back()));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex>
PetscErrorCode join_parts(Ex &ex, std::vector<CoarseBlocks<Ex>> &parts, const ProductColumns &columns, CoarseBlocks<Ex> &P)
{
  std::vector<Csr<double, Ex>> diag, offd;

  PetscFunctionBegin;
  for (CoarseBlocks<Ex> &part : parts) {
    diag.push_back(std::move(part.diag));
    offd.push_back(std::move(part.offd));
  }
  PetscCall(join_rows(ex, diag, P.diag));
  PetscCall(join_rows(ex, offd, P.offd));
  PetscCall(complete_blocks(ex, columns, P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

AMGKIT_INSTANTIATE(count_slices)
AMGKIT_INSTANTIATE(make_parts)
AMGKIT_INSTANTIATE(join_parts)
} // namespace amgkit
