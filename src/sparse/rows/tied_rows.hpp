// Groups of few rows that a point smoother cannot tell apart from one another.
//
// Rows i and j are tied if a_ij^2 and a_ji^2 are above tie |d_i d_j|, d the diagonal: their common block is then nearly singular, as that
// of two nodes of a sliver is, a flat tetrahedron, whose element matrix is nearly c g gᵀ. A vector that is orthogonal to g there has next
// to no energy, so Jacobi with the large d_i leaves it as it is; nor is it nearly constant, so that no coarse grid has it. A few hundred
// such groups among a million rows make conjugate gradients take half as many iterations again. Smoothed together, by M⁻¹ with the groups'
// blocks in place of D⁻¹, they cost no iteration.
//
// On grids with smooth coefficients and on meshes of well-shaped elements no rows are tied: a 7-point row has a_ij^2 = d_i d_j / 36, one of
// a line that is coupled in one direction alone d_i d_j / 4.
//
// A group is a component of the graph of ties with 2 to most_tied rows; larger ones are left alone. Ties to other ranks do not count.
#pragma once
#include "base/array.hpp"

namespace amgkit
{
inline constexpr double tie = 0.5;
inline constexpr int most_tied = 8; // an element of a mesh that is as good as flat has four nodes

template <class Ex> struct TiedRows {
  Array<int, Ex> begin;     // group g has the rows row[t], begin[g] <= t < begin[g + 1], ascending
  Array<int, Ex> row;       //
  Array<double, Ex> blocks; // most_tied for each t: its row of what invert_tied_blocks() makes of the group
  // Copies of these rows' entries, group g's from entry[g] on: each a column, ghosts after all own columns; a value; and t - begin[g]
  Array<int, Ex> entry, col;
  Array<double, Ex> val;
  Array<unsigned char, Ex> member;
  std::int64_t entries = 0;
  int own_columns = 0;

  int groups() const { return begin.size() > 0 ? static_cast<int>(begin.size()) - 1 : 0; }
  std::size_t bytes() const
  {
    return begin.bytes() + row.bytes() + blocks.bytes() + entry.bytes() + col.bytes() + val.bytes() + member.bytes();
  }
};

// All of these are local. A and offd are the blocks of own columns, ascending in each row, and of ghosts; d[i] is the inverse of the
// diagonal, 0 where there is none.
// begin, row, and the numbers of entries. Waits.
template <class Ex> PetscErrorCode find_tied_rows(Ex &, CsrView<double> A, CsrView<double> offd, const double *d, TiedRows<Ex> &);
// blocks: for a polynomial M⁻¹ - D⁻¹, which its step lacks; for sweeps M⁻¹. Ranks sweep at the same time, and where groups of m + 1 ranks
// meet, an error that they share is solved m + 1 times. So a group that is coupled to other ranks by offd gets 1.5 / (m + 1) of M⁻¹, m the
// number of these couplings' columns or of other ranks, whichever is smaller: every sweep then reduces the energy, as 2 / (m + 1) is the
// limit. A block that is singular to 1e-5 is inverted as one that is just not; a group whose block is indefinite gets nothing.
enum class TiedStep { of_polynomial, of_sweep };
template <class Ex>
PetscErrorCode invert_tied_blocks(Ex &, CsrView<double> A, CsrView<double> offd, int ranks, const double *d, TiedStep, TiedRows<Ex> &);
// The copies
template <class Ex> PetscErrorCode copy_tied_rows(Ex &, CsrView<double> A, CsrView<double> offd, TiedRows<Ex> &);

// y += factor blocks (b - A x) in these rows, from the copies; ghost: the x of ghosts. y must not be x.
template <class Ex, class V>
PetscErrorCode relax_tied_rows(Ex &, const TiedRows<Ex> &, double factor, const V *b, const V *x, const V *ghost, V *y);
// y += factor blocks r, transposed: factor blocksᵀ r, in these rows. y must not be r.
template <class Ex, class V> PetscErrorCode add_tied_blocks(Ex &, const TiedRows<Ex> &, double factor, bool transposed, const V *r, V *y);
} // namespace amgkit
