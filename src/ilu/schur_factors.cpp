#include "ilu/schur_factors.hpp"

#include "base/log.hpp"
#include "ilu/method.hpp"
#include "ilu/ordering.hpp"
#include "sparse/formats/spmv.hpp"
#include "sparse/ilu0/permute.hpp"

namespace amgkit
{
namespace
{
template <class Ex> PetscErrorCode take_values(Ex &ex, const double *val, SubMatrix<Ex> &M)
{
  return gather(ex, M.from.size(), M.from.data(), val, M.A.val.data());
}

// y -= M x; y += M x for factor = -1
template <class Ex> PetscErrorCode subtract(Ex &ex, const SubMatrix<Ex> &M, const double *x, double *y, double factor = 1)
{
  return subtract_rows(ex, M.A.view(), M.nonempty.size(), M.nonempty.data(), factor, unscaled<double>, x, y);
}

template <class Ex> double flops_of(const Triangle<Ex> &T) { return 2.0 * static_cast<double>(T.col.size()) + T.shape.rows; }
} // namespace

// interior_, interface_, order_, place_, sent_
template <class Ex> PetscErrorCode SchurFactors<Ex>::order(Ex &ex, const DistMatrix<Ex> &A)
{
  const Array<int, Ex> &sent = A.halo.sent_rows();
  const auto kind = parameters_.ordering;
  Array<int, Ex> part;

  PetscFunctionBegin;
  PetscCall(part.allocate(ex, A.rows));
  PetscCall(mark_interface(ex, A.offd, sent.size(), sent.data(), part.data(), &interior_));
  interface_ = A.rows - interior_;
  PetscCall(order_block(ex, kind, A.diag, static_cast<const int *>(part.data()), order_));
  PetscCall(place_.allocate(ex, A.rows));
  PetscCall(invert_permutation(ex, A.rows, order_.data(), place_.data()));
  PetscCall(sent_.allocate(ex, sent.size()));
  PetscCall(interface_places(ex, sent.size(), sent.data(), place_.data(), interior_, sent_.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The triangles and the blocks, without values
template <class Ex> PetscErrorCode SchurFactors<Ex>::take_apart(Ex &ex, const DistMatrix<Ex> &A)
{
  const CsrView<double> P = ordered_.view();
  const int n = A.rows, interior = interior_, interface = interface_;

  PetscFunctionBegin;
  PetscCall(triangle_symbolic(ex, {true, 0, interior}, P, L_B_));
  PetscCall(triangle_symbolic(ex, {false, 0, interior}, P, U_B_));
  PetscCall(triangle_symbolic(ex, {true, interior, interface}, P, L_S_));
  PetscCall(triangle_symbolic(ex, {false, interior, interface}, P, U_S_));
  PetscCall(sub_matrix(ex, P, {.rows = interface, .first = interior, .begin = 0, .end = interior}, E_));
  PetscCall(sub_matrix(ex, P, {.rows = interior, .first = 0, .begin = interior, .end = n}, F_));
  if (!galerkin()) PetscCall(sub_matrix(ex, P, {.rows = interface, .first = interior, .begin = interior, .end = n}, C_));
  PetscCall(sub_matrix(ex, A.offd, {.rows = interface, .row = order_.data() + interior, .begin = 0, .end = A.offd.cols}, offd_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode SchurFactors<Ex>::allocate(Ex &ex)
{
  PetscFunctionBegin;
  if (parameters_.sweeps() > 0) {
    for (Triangle<Ex> *T : {&L_B_, &U_B_, &L_S_, &U_S_}) PetscCall(T->other.allocate(ex, T->shape.rows));
  }
  PetscCall(f_.allocate(ex, interior_ + interface_));
  PetscCall(t_.allocate(ex, galerkin() ? interior_ + interface_ : interior_));
  PetscCall(memory_zero(ex, t_.data(), t_.bytes()));
  if (galerkin()) PetscCall(image_.allocate(ex, interior_ + interface_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode SchurFactors<Ex>::analyse(Ex &ex, const DistMatrix<Ex> &A, IluReport *report)
{
  IluOptions options = parameters_.options();
  options.solves = options.sweeps = false; // the parts are solved with

  PetscFunctionBegin;
  PetscCall(order(ex, A));
  PetscCall(permute_symmetric(ex, A.diag, order_.data(), place_.data(), ordered_, from_));
  PetscCall(ilu0_symbolic(ex, options, ordered_.view(), factors_, report));
  PetscCall(name_row(ex, order_, report));
  if (report->fault != IluFault::none) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(take_apart(ex, A));
  PetscCall(allocate(ex));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode SchurFactors<Ex>::factor(Ex &ex, const DistMatrix<Ex> &A, IluReport *report)
{
  PetscFunctionBegin;
  PetscCall(gather(ex, from_.size(), from_.data(), A.diag.view().val, ordered_.val.data()));
  PetscCall(ilu0_numeric(ex, ordered_.view(), factors_, report));
  PetscCall(name_row(ex, order_, report));
  const double *lu = factors_.val.data(), *inverse = factors_.inverse.data(), *a = ordered_.val.data();
  PetscCall(triangle_numeric(ex, lu, nullptr, L_B_));
  PetscCall(triangle_numeric(ex, lu, inverse, U_B_));
  PetscCall(triangle_numeric(ex, lu, nullptr, L_S_));
  PetscCall(triangle_numeric(ex, lu, inverse, U_S_));
  PetscCall(take_values(ex, galerkin() ? a : lu, E_));
  PetscCall(take_values(ex, galerkin() ? a : lu, F_));
  PetscCall(take_values(ex, a, C_));
  PetscCall(take_values(ex, A.offd.val, offd_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode SchurFactors<Ex>::solve(Ex &ex, Triangle<Ex> &T, const double *b, double *x)
{
  const int sweeps = parameters_.sweeps();

  PetscFunctionBegin;
  PetscCall(sweeps > 0 ? triangle_sweeps(ex, sweeps, T, b, x) : triangle_solve(ex, T, b, x));
  PetscCall(log_flops(ex, (sweeps > 0 ? sweeps : 1) * flops_of(T)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode SchurFactors<Ex>::solve_interior(Ex &ex, const double *b, double *x)
{
  PetscFunctionBegin;
  PetscCall(solve(ex, L_B_, b, x));
  PetscCall(solve(ex, U_B_, x, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// schur: f_ = L_B⁻¹ b_B, g = b_S - L_E f_. rap: g = b_S - E B~⁻¹ b_B.
template <class Ex> PetscErrorCode SchurFactors<Ex>::eliminate(Ex &ex, const double *b, double *g)
{
  double *f = f_.data();

  PetscFunctionBegin;
  PetscCall(gather(ex, interior_, order_.data(), b, f));
  PetscCall(gather(ex, interface_, order_.data() + interior_, b, g));
  PetscCall(solve(ex, L_B_, f, f));
  if (galerkin()) PetscCall(solve(ex, U_B_, f, f));
  PetscCall(subtract(ex, E_, f, g));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// schur: x_B = U_B⁻¹ (f_ - U_F y). rap: x_B = B~⁻¹ (b_B - F y).
template <class Ex> PetscErrorCode SchurFactors<Ex>::substitute(Ex &ex, const double *b, const double *y, double *x)
{
  double *f = f_.data();

  PetscFunctionBegin;
  if (galerkin()) PetscCall(gather(ex, interior_, order_.data(), b, f));
  PetscCall(subtract(ex, F_, y, f));
  if (galerkin()) PetscCall(solve(ex, L_B_, f, f));
  PetscCall(solve(ex, U_B_, f, f));
  PetscCall(memory_copy(ex, f + interior_, y, static_cast<std::size_t>(interface_) * sizeof(double)));
  PetscCall(gather(ex, f_.size(), place_.data(), static_cast<const double *>(f), x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode SchurFactors<Ex>::precondition(Ex &ex, const double *r, double *z)
{
  PetscFunctionBegin;
  PetscCall(solve(ex, L_S_, r, z));
  PetscCall(solve(ex, U_S_, z, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// z = C y - L_E (U_F y)
template <class Ex> PetscErrorCode SchurFactors<Ex>::multiply_factors(Ex &ex, const double *y, double *z)
{
  PetscFunctionBegin;
  PetscCall(spmv(ex, C_.A.view(), y, z));
  PetscCall(multiply_rows(ex, F_.A.view(), F_.nonempty.size(), F_.nonempty.data(), y, t_.data()));
  PetscCall(subtract(ex, E_, t_.data(), z));
  PetscCall(log_flops(ex, 2.0 * static_cast<double>(C_.from.size() + E_.from.size() + F_.from.size())));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// z = R A_loc P y
template <class Ex> PetscErrorCode SchurFactors<Ex>::multiply_galerkin(Ex &ex, const double *y, double *z)
{
  const auto size = static_cast<std::size_t>(interface_) * sizeof(double);
  double *t = t_.data(), *image = image_.data();

  PetscFunctionBegin;
  PetscCall(memory_zero(ex, t, static_cast<std::size_t>(interior_) * sizeof(double)));
  PetscCall(subtract(ex, F_, y, t));
  PetscCall(solve_interior(ex, t, t));
  PetscCall(memory_copy(ex, t + interior_, y, size));
  PetscCall(spmv(ex, ordered_.view(), static_cast<const double *>(t), image));
  PetscCall(memory_copy(ex, z, image + interior_, size));
  PetscCall(solve_interior(ex, image, image));
  PetscCall(subtract(ex, E_, image, z));
  PetscCall(log_flops(ex, 2.0 * static_cast<double>(from_.size() + E_.from.size() + F_.from.size())));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode SchurFactors<Ex>::multiply(Ex &ex, Halo<Ex> &halo, const double *y, double *z)
{
  HaloExchange<Ex> exchange(halo);

  PetscFunctionBegin;
  PetscCall(exchange.begin(ex, sent_.data(), y));
  PetscCall(galerkin() ? multiply_galerkin(ex, y, z) : multiply_factors(ex, y, z));
  PetscCall(exchange.end());
  PetscCall(subtract(ex, offd_, halo.template ghost<double>(), z, -1));
  PetscCall(log_flops(ex, 2.0 * static_cast<double>(offd_.from.size())));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> std::size_t SchurFactors<Ex>::bytes() const
{
  std::size_t sum = order_.bytes() + place_.bytes() + sent_.bytes() + ordered_.bytes() + from_.bytes() + factors_.bytes() + f_.bytes() +
                    t_.bytes() + image_.bytes();
  for (const Triangle<Ex> *T : {&L_B_, &U_B_, &L_S_, &U_S_}) sum += T->bytes();
  for (const SubMatrix<Ex> *M : {&E_, &F_, &C_, &offd_}) sum += M->bytes();
  return sum;
}

AMGKIT_INSTANTIATE_TYPE(class, SchurFactors)
} // namespace amgkit
