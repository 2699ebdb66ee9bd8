// Orders of the rows and columns of one rank's square block, for its incomplete factorisation.
//
//   natural     as they are.
//   rcm         reverse Cuthill-McKee of the symmetrised pattern: PETSc's, which runs on the host. The pattern is copied there, the order
//               back.
//   multicolor  by colours, ascending within one: no two rows of a colour are coupled, in either direction. The triangles of ILU(0) have
//               no more levels than there are colours.
//
// The colouring is first fit in the sequence of the rows: each takes the least colour that none of its neighbours before it has. Repeated
// maximal independent sets give the same as first fit in the sequence of their keys, so what is left to choose are the keys. Colours, and
// steps that wait for one another, by
//                                        row numbers   hashes        degree, then hashes
//   7-point 32³, as it is | shuffled       2,  94 | 6, 18     6, 17 | 6, 16     6, 21 | 6, 23
//   27-point 20³, as it is | shuffled      8, 134 | 16, 53    17, 46 | 16, 48   16, 58 | 16, 60
//   random, 6 | 30 neighbours              7,  20 | 15, 73     7, 19 | 15, 75    6, 21 | 13, 77
//   points in space, 15 neighbours        17, 313             16, 33            14, 53
// A step takes a GPU about a microsecond, see triangle.hpp. A chain of n rows is coloured in n steps, as one triangular solve with it is.
#pragma once
#include "base/array.hpp"

namespace amgkit
{
enum class OrderingKind { natural, rcm, multicolor };

// order[new] = old. part, nullptr or 0 or 1 for each row: rows of part 0 come before those of part 1, each part in the order of this kind:
// a colour counts for the couplings within a part. Columns of A ascend; its values do not matter. Local; waits. Errors: PETSC_ERR_ARG_SIZ
// for a rectangle, PETSC_ERR_MEM.
template <class Ex> PetscErrorCode order_block(Ex &, OrderingKind, CsrView<double> A, const int *part, Array<int, Ex> &order);

// The steps of the above on a device. colour[i] = 0, 1, ..., *colours - 1. Waits.
template <class Ex> PetscErrorCode colour_rows(Ex &, CsrView<double> A, const int *part, int *colour, int *colours);
// Stably, by the part, if not nullptr, then by the colour, if not nullptr, of each row in the order.
template <class Ex>
PetscErrorCode sort_by_part_and_colour(Ex &, std::int64_t n, const int *part, const int *colour, int colours, int *order);
} // namespace amgkit
