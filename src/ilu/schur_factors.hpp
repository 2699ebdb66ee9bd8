// ILU(0) of a rank's rows with the interior ones first, and what it says of the interface.
//
//   A_loc = [B F; E C] ~ [L_B 0; L_E L_S] [U_B U_F; 0 U_S],   L_E ~ E U_B⁻¹,   U_F ~ L_B⁻¹ F,   B~ = L_B U_B
//
// The Schur complement S of all ranks' interfaces, A_off being the coupling to the interfaces of the others:
//   schur   S y = C y - L_E (U_F y) + A_off y: the incomplete parts that the factorisation gives, on the patterns of E and F. An
//           application of the two-level method solves with B~ once, as one level does.
//   rap     S = R A P, R = [-E B~⁻¹, I], P = [-B~⁻¹ F; I], with E and F as A has them: two solves with B~ in each product with S.
// L_S U_S is its preconditioner on each rank. Whoever factors, it is solved with the triangles of triangle.hpp.
#pragma once
#include "dist/matrix.hpp"
#include "ilu/interface.hpp"
#include "ilu/parameters.hpp"

#include <algorithm>

namespace amgkit
{
// Vectors of the interface are in the order of its rows here: natural, or that of the parameters.
template <class Ex> class SchurFactors {
public:
  explicit SchurFactors(const IluParameters &parameters) : parameters_(parameters) {}

  // Local: all but values. The faults' rows are A's. Waits.
  PetscErrorCode analyse(Ex &, const DistMatrix<Ex> &A, IluReport *);
  // Local: the factors of A's values, as often as wanted. After a fault they are undefined. Waits; allocates at first only.
  PetscErrorCode factor(Ex &, const DistMatrix<Ex> &A, IluReport *);

  int interior() const { return interior_; }
  int interface() const { return interface_; }
  // Steps that wait for one another in the longer solve of the two inside, and on the interface
  int interior_steps() const { return std::max(L_B_.levels, U_B_.levels); }
  int interface_steps() const { return std::max(L_S_.levels, U_S_.levels); }
  // Local: g = b_S - E B~⁻¹ b_B; what substitute() needs of b_B is kept.
  PetscErrorCode eliminate(Ex &, const double *b, double *g);
  // Collective: z = S y; z must not be y.
  PetscErrorCode multiply(Ex &, Halo<Ex> &, const double *y, double *z);
  // Local: z = U_S⁻¹ L_S⁻¹ r
  PetscErrorCode precondition(Ex &, const double *r, double *z);
  // Local, after eliminate() of the same b: x = B~⁻¹ (b_B - F y) and y, in A's order of the rows.
  PetscErrorCode substitute(Ex &, const double *b, const double *y, double *x);
  std::size_t bytes() const;

private:
  bool galerkin() const { return parameters_.type == SchurKind::rap; }
  PetscErrorCode order(Ex &, const DistMatrix<Ex> &A);
  PetscErrorCode take_apart(Ex &, const DistMatrix<Ex> &A);
  PetscErrorCode allocate(Ex &);
  PetscErrorCode solve(Ex &, Triangle<Ex> &T, const double *b, double *x);
  // x = B~⁻¹ b; x may be b
  PetscErrorCode solve_interior(Ex &, const double *b, double *x);
  PetscErrorCode multiply_factors(Ex &, const double *y, double *z);
  PetscErrorCode multiply_galerkin(Ex &, const double *y, double *z);

  IluParameters parameters_;
  int interior_ = 0, interface_ = 0;
  Array<int, Ex> order_, place_; // place_[order_[i]] = i: interior first
  Array<int, Ex> sent_;          // places on the interface of the halo's sent_rows()
  Csr<double, Ex> ordered_;      // A_loc in this order; entry t is A.diag's entry from_[t]
  Array<int, Ex> from_;
  Ilu0<Ex> factors_;
  Triangle<Ex> L_B_, U_B_, L_S_, U_S_;
  SubMatrix<Ex> E_, F_; // schur: of the factors; rap: of A
  SubMatrix<Ex> C_, offd_;
  Array<double, Ex> f_;         // schur: L_B⁻¹ b_B; then x in the order of the factors
  Array<double, Ex> t_, image_; // schur: U_F y, 0 where U_F has no entries; rap: P y, A P y
};
} // namespace amgkit
