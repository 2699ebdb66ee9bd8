// Groups of few rows that a point smoother cannot tell apart from one another.
//
// Rows i and j are tied if a_ij^2 and a_ji^2 are above tie |a_ii a_jj|. Their common block may then be nearly singular, as in a sliver, a
// nearly flat tetrahedron, whose element matrix is nearly c g gᵀ. An error that is orthogonal to g there has next to no energy. Jacobi
// divides by the large a_ii and so leaves it as it is; nor is it nearly constant, so that no coarse grid has it. On a million points,
// 14,000 such groups made conjugate gradients take 1.3 to 2 times as many iterations. M⁻¹, which is D⁻¹ with the inverses of the groups'
// blocks in place of those of their diagonal entries, removes these.
//
// On grids with smooth coefficients and on meshes of well-shaped elements no rows are tied: a 7-point row has a_ij^2 = a_ii a_jj / 36, one
// of a line that is coupled in one direction alone a_ii a_jj / 4.
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
// blocks: for a polynomial M⁻¹ - D⁻¹, as its step has already added D⁻¹; for sweeps M⁻¹. All ranks sweep at the same time, so that an error
// shared by groups of m + 1 ranks is corrected m + 1 times. So a group that is coupled to other ranks by offd gets 1.5 / (m + 1) of M⁻¹,
// where m is the number of these couplings, or of the other ranks if that is smaller. As 2 / (m + 1) is the limit, every sweep then reduces
// the energy. A pivot below 1e-5 of its diagonal entry counts as 1e-5 of it. If a block is indefinite, its part of blocks is 0, and the
// group is smoothed as other rows are.
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
