// Products of which less stays than is made, slice by slice of their rows: factors and products of one slice are there at a time.
#pragma once
#include "graph/coarse_blocks.hpp"

#include <functional>

namespace amgkit
{
// About so many bytes a slice may take.
inline constexpr std::int64_t default_slice_bytes = std::int64_t{512} << 20;

// Into how many slices the product of the rows' entries with these bits in their marks and `right` is cut, 1 if it is small. right's rows
// are the rows' columns, its own ones behind `before` ghosts. Local; waits only where the product is large.
template <class Ex>
PetscErrorCode count_slices(Ex &, const MarkedRows &, unsigned char bits, CsrView<double> right, int before, std::int64_t slice_bytes,
                            int *slices);
// make(slice, part) for all slices. The same parts on any number of slices, where make's results for a row are that row's alone. Local.
template <class Ex> using MakePart = std::function<PetscErrorCode(const MarkedRows &slice, CoarseBlocks<Ex> &part)>;
template <class Ex>
PetscErrorCode make_parts(Ex &, const MarkedRows &, int slices, const MakePart<Ex> &make, std::vector<CoarseBlocks<Ex>> &parts);
// P of the rows of all parts, which are used up: split products that are not complete. Local; waits.
template <class Ex> PetscErrorCode join_parts(Ex &, std::vector<CoarseBlocks<Ex>> &parts, const ProductColumns &, CoarseBlocks<Ex> &P);
} // namespace amgkit
