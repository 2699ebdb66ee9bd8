// What the user's matrix says of the errors that a smoother leaves.
#pragma once
#include "dist/matrix.hpp"

#include <petscdm.h>
#include <vector>

namespace amgkit
{
// w <- the sum of the first bs vectors that MatSetNearNullSpace(), or else MatSetNullSpace(), attached, bs being the matrix's block size:
// for rigid body modes the translations. Vectors that are not attached count as constants; w = 1 without any. Local; w has A's rows;
// a vector of another length is an error. *ones: that w = 1 without any vector having been read; the same on all ranks.
template <class Ex> PetscErrorCode smooth_vector_of(Ex &, Mat A, Array<double, Ex> &w, bool *ones);

// The near-null space: m vectors on n rows side by side.
template <class Ex> struct NearNull {
  int m = 0;
  bool constant = false; // the space is the constant vector alone, and not attached as a vector
  Array<double, Ex> B;   // B[i * m + k]: row i of vector k
};
// So many vectors at most: every row of a tentative prolongator has m entries, every coarse entry is a block of m x m.
inline constexpr int most_near_null_vectors = 32;

// What the user says of the nodes, of bs rows each, besides the matrix. dim = 0: where they are is not known.
struct Coordinates {
  int dim = 0;
  std::vector<double> of_nodes;    // node I's are of_nodes[I * dim ...]; this rank's nodes
  DM dm = nullptr;                 // the discretisation that the PC has, borrowed for one setup
  MatNullSpace of_field = nullptr; // what a discretisation says, borrowed, where somebody has asked it before
};
// Collective: the object "nearnullspace", or else "nullspace", of the first field of the DM, or else of the matrix's; nullptr: there is
// none, or it is of another length.
PetscErrorCode near_null_space_of_field(Mat A, DM dm, MatNullSpace *out);
// Collective. The vectors of MatSetNearNullSpace(), the constant one before all others; without any, those of the object "nearnullspace",
// or else "nullspace", of the first field of the DM, its own or the matrix's, unless they are of another length; without any, where
// dim = bs is 2 or 3, the rigid body modes about the mean of all coordinates; else the constants of the bs components. MatSetNullSpace()
// is not asked. All that is as PCGAMG has it. Errors, the same on every rank: vectors or coordinates of another length than the matrix's,
// entries that are not finite, too many vectors.
template <class Ex> PetscErrorCode near_null_space_of(Ex &, Mat A, const Coordinates &, NearNull<Ex> &);
// Collective. ghost_B <- what the first `count` of m vectors have in A's ghosts, B being those of the rank's rows, side by side as in
// NearNull; x: room for A.rows numbers. Nothing happens where no rank has ghosts.
template <class Ex> PetscErrorCode exchange_vectors(Ex &, DistMatrix<Ex> &A, int m, int count, const double *B, double *x, double *ghost_B);
// Collective. *count: bs if the first bs vectors are constants of the components, as translations are: vector k is the same number in all
// rows bs I + k, and 0 in all others, and this number has the same size for all k, *size. Else *count is 0.
template <class Ex>
PetscErrorCode count_constants(Ex &, MPI_Comm, std::int64_t rows, int bs, const NearNull<Ex> &, int *count, double *size);
} // namespace amgkit
