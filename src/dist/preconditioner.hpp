// What a PETSc PC holds: a preconditioner of any method in any space.
#pragma once
#include "dist/user_space.hpp"
#include "dist/vec_view.hpp"
#include "sparse/formats/spmv.hpp"

#include <memory>
#include <petscpc.h>
#include <string>

namespace amgkit
{
// What went wrong in the numbers of a setup, in PETSc's terms; the same on all ranks.
struct SetupFault {
  PCFailedReason reason = PC_NOERROR;
  PetscErrorCode code = PETSC_SUCCESS; // for who wants an error of it
  std::string description;             // "failed: ..."

  bool none() const { return reason == PC_NOERROR; }
};

class Preconditioner {
public:
  Preconditioner() = default;
  Preconditioner(const Preconditioner &) = delete;
  Preconditioner &operator=(const Preconditioner &) = delete;
  virtual ~Preconditioner() = default;
  // Collective, once. Named errors for a matrix that cannot be taken; PETSC_ERR_MEM as attempt() has it. After an error this can only be
  // closed.
  virtual PetscErrorCode setup(Mat) = 0;
  // Whether refresh() can take the place of a new preconditioner's setup(): the same matrix, where it was, with the same pattern.
  // Collective.
  virtual PetscErrorCode can_refresh(Mat, bool *) const = 0;
  // As setup(), for new values of that matrix, with what its pattern alone decides. *fits = false: that does not serve the new values, and
  // this can only be closed.
  virtual PetscErrorCode refresh(bool *fits) = 0;
  // Of the last setup() or refresh(). Where there is one, apply() must not be called.
  virtual SetupFault fault() const { return {}; }
  // The matrix that was set up, and an error on all ranks, PETSC_ERR_ARG_WRONGSTATE, where it is no longer what it was: its contents
  // replaced, or its pattern changed. An application that reads it must not be called then.
  virtual Mat matrix() const = 0;
  virtual PetscErrorCode check_matrix() const = 0;
  // PETSC_ERR_ARG_SIZ, on all ranks, unless x has the rows of the matrix that was set up.
  virtual PetscErrorCode check_layout(Vec x) const = 0;
  // Whether the next application reads the matrix, and if so, finds it where it reads it, on the host or on the device. The same on all
  // ranks.
  virtual bool reads_matrix(bool /* transposed */) const { return true; }
  virtual bool reaches(Mat, bool transposed) const = 0;
  // Whether whoever applies the preconditioner next allows it to change from one application to the next; false after setup().
  virtual void set_flexible(bool) {}
  // A step of a flexible method that ends by this norm has left such a part of the residual's norm; the same on all ranks. From one step to
  // the next the preconditioner may change by that.
  virtual void observe(double /* factor */) {}
  // Another number if the last application used another cycle than the one before. Flexible methods then drop their directions, which
  // belong to the old cycle. The same on all ranks.
  virtual int version() const { return 0; }
  // Whether it is the same matrix B from one application to the next, without set_flexible(true).
  virtual bool linear() const { return true; }
  // y = B x
  virtual PetscErrorCode apply(Vec x, Vec y) = 0;
  // y = Bᵀ x; an error where there is no transpose. The first call after a setup takes memory.
  virtual PetscErrorCode apply_transpose(Vec x, Vec y) = 0;
  // Collective: what was set up and its memory, to an ASCII viewer.
  virtual PetscErrorCode view(PetscViewer) const = 0;
  virtual const char *space() const = 0;
  // Whether the space's memory is apart from that of the user's vectors on the host.
  virtual bool apart() const = 0;
  // Which entries of the user's matrix were copied to the space; nullptr: it is read where it is.
  virtual const MatCopies *copied() const = 0;
  std::string why_not_on_gpu; // as SpaceChoice has it
  // Frees everything; to be called before the destructor.
  virtual PetscErrorCode close() = 0;
};

// What a preconditioner may have besides, for a Krylov method in the same space: a product with the user's matrix, and what it does to
// vectors of floats.
template <class Ex> class UserProduct {
public:
  UserProduct() = default;
  UserProduct(const UserProduct &) = delete;
  UserProduct &operator=(const UserProduct &) = delete;
  virtual ~UserProduct() = default;
  // Whether it is to be used: on a plain host MatMult() is as fast, unless the matrix is read by blocks. The same on all ranks.
  virtual bool pays() const { return Ex::sliced_rows; }
  // Collective: y = A x with the values that the matrix has now, on the pattern that was set up; as_set_up: these are the values that were
  // set up. y must not be x. sums: what is summed of this rank's rows, or nullptr.
  virtual PetscErrorCode multiply(const double *x, double *y, bool as_set_up, const ProductSums<2, double> *sums) = 0;
  // The same for vectors of floats, where the cycle has the matrix in single precision and the values are those that were set up. A's
  // entries count to 40 bits at least.
  virtual bool in_single() const = 0;
  // In the space's memory, until the next setup: vectors of floats have entry order()[i] of the user's vectors at i; nullptr: entry i. Of
  // this rank's entries.
  virtual const int *order() const = 0;
  // Whether any rank has such an order; the same on all ranks.
  virtual bool reordered() const = 0;
  // Whether vectors of floats make a solve faster: not where rows are so few that it is launches.
  virtual bool floats_pay() const = 0;
  virtual PetscErrorCode multiply(const float *x, float *y, const ProductSums<2, float> *sums) = 0;
  // Whether the next application is in single precision, and then one of it: y = B x, for an x whose norm is about 1 or less, not below
  // 1e-18. y must not be x. stepped: whoever made x has taken first_step(y), of x;
  // that counts unless the preconditioner has been applied or set up since, which may have overwritten it.
  virtual bool applies_in_single() const = 0;
  virtual FirstStep<float> first_step(float *y) = 0;
  virtual PetscErrorCode apply_in_single(const float *x, float *y, bool stepped) = 0;
};

// The user's matrix as a space sees it.
template <class Ex> struct UserMatrix {
  MatView<Ex> &view;
  DistMatrix<Ex> &A;
};

// What is the same for all methods in a space. Interface: Preconditioner, or one that adds to it.
template <class Ex, class Interface = Preconditioner> class PreconditionerIn : public Interface {
public:
  Ex ex;

  explicit PreconditionerIn(SpaceKind choice) : choice_(choice) {}

  PetscErrorCode can_refresh(Mat A, bool *possible) const override
  {
    PetscFunctionBegin;
    PetscCall(user().view.matches(A, possible));
    *possible = *possible && stands_where<Ex>(choice_, A) && user().view.reaches(A);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  Mat matrix() const override { return user().view.matrix(); }
  PetscErrorCode check_matrix() const override { return user().view.check(); }
  PetscErrorCode check_layout(Vec x) const override { return amgkit::check_layout(user().A.range, x); }
  bool reaches(Mat A, bool transposed) const override
  {
    return !this->reads_matrix(transposed) || (stands_where<Ex>(choice_, A) && user().view.reaches(A));
  }
  const char *space() const override { return Ex::name; }
  bool apart() const override { return Ex::apart; }
  const MatCopies *copied() const override
  {
    const MatView<Ex> &view = user().view;
    return view.copies() ? &view.copied() : nullptr;
  }
  PetscErrorCode close() override
  {
    PetscFunctionBegin;
    forget();
    vectors_ = {};
    PetscCall(amgkit::close(ex));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

protected:
  // Once setup() has begun.
  virtual UserMatrix<Ex> user() const = 0;
  // Frees what was set up.
  virtual void forget() = 0;
  // f(x's entries, y's entries to be overwritten), with the matrix at hand if the application reads it.
  template <class F> PetscErrorCode with_arrays(bool transposed, Vec x, Vec y, F f)
  {
    return vectors_.with(ex, x, y, [&](const double *from, double *to) {
      return this->reads_matrix(transposed) ? with_matrix([&](DistMatrix<Ex> &) { return f(from, to); }) : f(from, to);
    });
  }
  // f(the user's matrix), whose memory is accessible meanwhile
  template <class F> PetscErrorCode with_matrix(F f)
  {
    const UserMatrix<Ex> matrix = user();
    const ReleaseAtEnd<Ex> at_end(matrix.view);

    PetscFunctionBegin;
    PetscCall(matrix.view.access(ex, matrix.A));
    PetscCall(f(matrix.A));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  SpaceKind choice_;
  VecPair<Ex> vectors_;
};

// Collective: out <- the preconditioner that make(space, choice) gives, in the space that the choice and the matrix's type call for,
// opened.
template <class Interface, class Make> PetscErrorCode make_in_space_of(Mat A, SpaceKind asked, Make make, std::unique_ptr<Interface> &out)
{
  MPI_Comm comm = PetscObjectComm(reinterpret_cast<PetscObject>(A));
  SpaceChoice choice;

  PetscFunctionBegin;
  PetscCall(choose_space(comm, asked, &choice));
  PetscCall(in_space_of(A, choice.kind, [&](auto space) {
    auto made = make(space, choice.kind);
    auto &ex = made->ex;

    PetscFunctionBegin;
    made->why_not_on_gpu = choice.note;
    out = std::move(made); // whoever owns it closes it, also after an error
    PetscCall(open_on_all(comm, ex));
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace amgkit
