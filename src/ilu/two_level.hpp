// Two levels of ILU(0): the rows of each rank that only it knows of, and the interface between the ranks, solved for by GMRES.
#pragma once
#include "dist/vec_view.hpp"
#include "ilu/method.hpp"
#include "ilu/schur_factors.hpp"

#include <petscksp.h>
#include <string>

namespace amgkit
{
// x = B b: with f, g the parts of b on the interior and the interface, and schur_factors.hpp's symbols,
//   g' = g - E B~⁻¹ f,   S y = g' by schur_its steps of GMRES preconditioned with L_S U_S,   x = (B~⁻¹ (f - F y), y).
// B depends on b: the method outside must be flexible. The solver of the interface has the prefix <prefix>ilu2level_schur_; as it is, it
// has no convergence test and each step sums over the ranks twice.
//
// Iterations of fgmres(30) to 1e-8 on 2 | 4 | 8 ranks, slabs of a 32³ grid, b = 1, one level -> schur -> rap:
//   7-point                                      50 -> 45 -> 45   48 -> 41 -> 37   51 -> 36 -> 25
//   jumping coefficients                         78 -> 68 -> 68   79 -> 65 -> 58   81 -> 61 -> 39
//   convection-diffusion, rotating, Peclet 1     65 -> 60 -> 59   67 -> 55 -> 51   71 -> 49 -> 34
// With the S that has E and F as A has them but g' and x from the factors' parts these are those of 7-point 52, 44, 41: all three from the
// factors is better, and cheaper. On one rank, or where no rank is coupled with another, it is the one-level method.
// Xu, Li, Osei-Kuffuor 2022, and hypre's ILU.
template <class Ex> class TwoLevelIlu final : public IluMethod<Ex> {
public:
  TwoLevelIlu(const IluParameters &parameters, const char *options_prefix)
      : parameters_(parameters), prefix_(options_prefix ? options_prefix : ""), factors_(parameters)
  {}
  TwoLevelIlu(const TwoLevelIlu &) = delete;
  TwoLevelIlu &operator=(const TwoLevelIlu &) = delete;
  TwoLevelIlu(TwoLevelIlu &&) = delete;
  TwoLevelIlu &operator=(TwoLevelIlu &&) = delete;
  ~TwoLevelIlu() override;

  PetscErrorCode create(Ex &, DistMatrix<Ex> &A, IluSetup &) override;
  PetscErrorCode update_values(Ex &, DistMatrix<Ex> &A, IluSetup &) override;
  // Of A only the halo is used.
  PetscErrorCode apply(Ex &, DistMatrix<Ex> &A, const double *b, double *x) override;
  PetscErrorCode apply_transpose(Ex &, DistMatrix<Ex> &A, const double *b, double *x) override;
  bool reads_matrix(bool transposed) const override { return plain_ && plain_->reads_matrix(transposed); }
  PetscErrorCode view(PetscViewer) const override;
  // With the solver's vectors as it is: g, y, and GMRES's for its steps and 4 more
  std::size_t bytes() const override;
  bool linear() const override { return plain_ != nullptr; }

private:
  PetscErrorCode create_solver(MPI_Comm);
  PetscErrorCode destroy_solver();
  static PetscErrorCode multiply(Mat, Vec y, Vec z);
  static PetscErrorCode precondition(PC, Vec r, Vec z);

  IluParameters parameters_;
  std::string prefix_;
  std::unique_ptr<IluMethod<Ex>> plain_; // in place of everything else, without an interface
  SchurFactors<Ex> factors_;
  Mat S_ = nullptr;
  KSP ksp_ = nullptr;
  Vec g_ = nullptr, y_ = nullptr;
  VecPair<Ex> vectors_;
  VecReader<Ex> reader_;
  VecWriter<Ex> writer_;
  // of the setup, and while ksp_ solves
  Ex *ex_ = nullptr;
  Halo<Ex> *halo_ = nullptr;
};
} // namespace amgkit
