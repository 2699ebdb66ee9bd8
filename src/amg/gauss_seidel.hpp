// Hybrid Gauss-Seidel for a smoother: M⁻¹, M a triangle of each rank's own block, see sparse/formats/gauss_seidel.hpp; other ranks' values
// are those at a sweep's beginning. On a plain host only, where rows are read one after the other.
//
// Tied rows are solved together, by the matrix's own rows, after each forward sweep and before each backward one.
//
// Forward sweeps before the coarse correction and backward ones after it make a symmetric cycle: for a symmetric A each of these is the
// other's adjoint. From a zero guess a sweep and the residual after it take one product together, or half of one where the block is
// symmetric.
#pragma once
#include "dist/transposed.hpp"
#include "sparse/formats/gauss_seidel.hpp"

namespace amgkit
{
// Two arrays that the iterate of a level alternates between: every step reads one and writes the other.
template <class V> struct Iterate {
  V *here, *there;
};

// What x.here holds on entry: nothing, which stands for zeros; the first step from zeros; or a guess.
enum class Guess { zero, first_step, given };

// The order of the rows. alternating: forward, backward, forward, ..., as many of both, for a symmetric operator that is not a cycle.
enum class SweepOrder { forward, backward, alternating };

template <class Ex> class GaussSeidel {
public:
  static constexpr bool available = Ex::one_by_one;

  // Local, anew for other values. d[i] = 1 / a_ii, or 0, becomes that of M. Whether this rank's block is symmetric is looked at, whatever
  // the user says of the matrix: rows that MatZeroRows() has changed may make it wrong. Sweeps read the block's values as floats, if all
  // can be and storage says so, and its columns by blocks, if A.stored has these; then A must stay stored.
  PetscErrorCode prepare(Ex &, const DistMatrix<Ex> &A, Storage, double *d);
  // Local, after that: the tied rows, with M⁻¹, which must outlive the sweeps; nullptr: none.
  void tie(const TiedRows<Ex> *tied) { tied_ = tied && tied->groups() > 0 ? tied : nullptr; }
  // Collective, after that: whether four sweeps on A x = 0, forward ones and backward ones, leave all |x_i| |a_ii|^(1/2) below the 1 that
  // they are random numbers below at first. Of symmetric definite matrices that is known; coarse ones of convection may be unfit.
  PetscErrorCode test_sweeps(Ex &, DistMatrix<Ex> &A, const double *d, bool *reduce) const;
  // Local, before sweeps for this transpose.
  PetscErrorCode prepare_transposed(Ex &, const TransposedMatrix<Ex> &At);
  // Collective: sweeps sweeps on A x = b in x.here; x.there is overwritten. Operator: DistMatrix, or the TransposedMatrix.
  template <class Operator>
  PetscErrorCode apply(Ex &, Operator &A, SweepOrder, PetscInt sweeps, Guess, const double *d, const double *b, Iterate<double> &x) const;
  // Collective: x.there = b - A x.here, right after forward sweeps with the same arguments.
  template <class Operator>
  PetscErrorCode residual(Ex &, Operator &A, PetscInt sweeps, Guess, const double *d, const double *b, Iterate<double> &x) const;
  // Whether this rank's block is symmetric.
  bool symmetric() const { return rows_.symmetric; }
  // Whether sweeps read the block's values as floats.
  bool in_single() const { return rows_.rounded.size() > 0; }
  // Whether sweeps go by blocks.
  bool by_blocks() const { return rows_.blocks != nullptr; }
  std::size_t bytes() const { return rows_.bytes() + transposed_.bytes(); }

private:
  struct Split {
    Array<int, Ex> below, own; // own: where sweeps go by blocks
    const BlockColumns<Ex> *blocks = nullptr;
    Array<float, Ex> rounded; // in place of the values, if there are any
    bool symmetric = false, alike = true;

    template <class T> SweptRows<T> rows(const CsrView<T> &A) const
    {
      return {A, below.data(), blocks ? blocks->view(A) : BlockCsrView<T>{}, own.data(), alike};
    }
    // f(the rows of A as sweeps read them)
    template <class F> void with_rows(const CsrView<double> &A, F f) const
    {
      if (rounded.size() > 0)
        f(rows(CsrView<float>{A.rows, A.cols, A.nnz, A.ptr, A.col, rounded.data()}));
      else
        f(rows(A));
    }
    std::size_t bytes() const { return below.bytes() + own.bytes() + rounded.bytes(); }
  };
  static PetscErrorCode split(Ex &, const CsrView<double> &, Storage, Split &);
  static PetscErrorCode take_blocks(Ex &, const DistMatrix<Ex> &, Split &);
  template <class Operator> const Split &split_of(const Operator &) const
  {
    return std::is_same_v<Operator, TransposedMatrix<Ex>> ? transposed_ : rows_;
  }
  Split rows_, transposed_;
  Storage storage_ = Storage::in_double;
  const TiedRows<Ex> *tied_ = nullptr;
};
} // namespace amgkit
