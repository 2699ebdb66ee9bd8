#include "amg/coarse_solver.hpp"

#include "dist/agree.hpp"
#include "sparse/dense.hpp"

#include <array>
#include <limits>
#include <numeric>

namespace amgkit
{
// Point to point, so that a GPU-aware MPI is asked for nothing else.
template <class Ex> PetscErrorCode CoarseSolver<Ex>::create_gather(const DistMatrix<Ex> &A)
{
  PetscLayout layout;
  std::vector<PetscInt> all(static_cast<std::size_t>(gathered_));

  PetscFunctionBegin;
  std::iota(all.begin(), all.end(), 0);
  PetscCall(PetscLayoutCreateFromSizes(A.comm, A.rows, PETSC_DETERMINE, 1, &layout));
  PetscCall(PetscSFDestroy(&gather_));
  PetscCall(PetscSFCreate(A.comm, &gather_));
  PetscCall(PetscSFSetGraphLayout(gather_, layout, gathered_, nullptr, PETSC_COPY_VALUES, all.data()));
  PetscCall(PetscSFSetUp(gather_));
  PetscCall(PetscLayoutDestroy(&layout));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode CoarseSolver<Ex>::fill_rows(Ex &ex, const DistMatrix<Ex> &A, double *rows) const
{
  std::vector<int> columns(A.ghosts.begin(), A.ghosts.end());
  Array<int, Ex> ghost;
  int rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(A.comm, &rank));
  PetscCall(upload(ex, columns, ghost));
  PetscCall(dense_rows(ex, A.diag, A.offd, static_cast<int>(A.first(rank)), ghost.data(), n_, rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode CoarseSolver<Ex>::gather_matrix(Ex &ex, const DistMatrix<Ex> &A, bool *out_of_memory)
{
  const std::int64_t n = n_;
  MPI_Datatype row;

  PetscFunctionBegin;
  PetscCall(attempt(
      A.comm,
      [&] {
        PetscFunctionBegin;
        PetscCall(inverse_.allocate(ex, n * gathered_, gather_ ? Memory::communicated : Memory::scratch));
        if (gather_) {
          PetscCall(rows_.allocate(ex, n * A.rows, Memory::communicated));
          PetscCall(part_.allocate(ex, A.rows, Memory::communicated));
          PetscCall(b_.allocate(ex, gathered_, Memory::communicated));
          PetscCall(x_.allocate(ex, gathered_, Memory::communicated));
        }
        PetscCall(fill_rows(ex, A, gather_ ? rows_.data() : inverse_.data()));
        PetscFunctionReturn(PETSC_SUCCESS);
      },
      out_of_memory));
  if (*out_of_memory || !gather_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Type_contiguous(n_, MPI_DOUBLE, &row));
  PetscCallMPI(MPI_Type_commit(&row));
  PetscCall(PetscSFBcastWithMemTypeBegin(gather_, row, memory_type<Ex>, rows_.data(), memory_type<Ex>, inverse_.data(), MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(gather_, row, rows_.data(), inverse_.data(), MPI_REPLACE));
  PetscCallMPI(MPI_Type_free(&row));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// b_ <- the vector's entries of all ranks, on rank 0
template <class Ex> PetscErrorCode CoarseSolver<Ex>::gather_vector(Ex &ex, const double *owned)
{
  double *part = part_.data();

  PetscFunctionBegin;
  PetscCall(memory_copy(ex, part, owned, part_.bytes()));
  PetscCall(PetscSFBcastWithMemTypeBegin(gather_, MPI_DOUBLE, memory_type<Ex>, part, memory_type<Ex>, b_.data(), MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(gather_, MPI_DOUBLE, part, b_.data(), MPI_REPLACE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Local. Where A z = 0 for the smooth vector z, (A + |A| z zᵀ / z·z)⁻¹ solves A x = b for every b without a part along z.
template <class Ex> PetscErrorCode CoarseSolver<Ex>::invert_here(Ex &ex, const double *smooth_vector, bool *singular, bool *regularised)
{
  constexpr double eps = std::numeric_limits<double>::epsilon(), zero = 1e-13; // zero: eps and the rounding of the products before
  double norm = 0, inverse_norm = 0, size = 0, image_size = 0;
  Array<double, Ex> image;

  PetscFunctionBegin;
  PetscCall(image.allocate(ex, n_));
  PetscCall(dense_norm(ex, n_, inverse_.data(), &norm));
  PetscCall(dense_apply(ex, n_, inverse_.data(), smooth_vector, image.data()));
  PetscCall(max_norm(ex, n_, smooth_vector, &size));
  PetscCall(max_norm(ex, n_, image.data(), &image_size));
  *regularised = size > 0 && image_size <= zero * norm * size;
  if (*regularised) PetscCall(dense_add_outer(ex, n_, norm / (size * size * n_), smooth_vector, inverse_.data()));
  PetscCall(dense_invert(ex, n_, inverse_.data(), singular));
  if (!*singular) PetscCall(dense_norm(ex, n_, inverse_.data(), &inverse_norm));
  *singular = *singular || !(norm * inverse_norm < 1 / eps);
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode CoarseSolver<Ex>::invert(Ex &ex, Level<Ex> &level, bool *out_of_memory)
{
  bool singular = false, regularised = false;

  PetscFunctionBegin;
  if (gather_) PetscCall(gather_vector(ex, level.smooth_vector.data()));
  PetscCall(attempt(
      level.A.comm,
      [&] {
        return gathered_ == 0 ? PETSC_SUCCESS : invert_here(ex, gather_ ? b_.data() : level.smooth_vector.data(), &singular, &regularised);
      },
      out_of_memory));
  std::array<int, 2> any = {singular, regularised};
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, any.data(), 2, MPI_INT, MPI_MAX, level.A.comm));
  kind_ = any[0] ? Kind::singular : any[1] ? Kind::regularised_inverse : Kind::inverse;
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode CoarseSolver<Ex>::create(Ex &ex, Level<Ex> &level, const AmgParameters &parameters, bool *out_of_memory)
{
  int rank, size;

  PetscFunctionBegin;
  *out_of_memory = false;
  PetscCallMPI(MPI_Comm_rank(level.A.comm, &rank));
  PetscCallMPI(MPI_Comm_size(level.A.comm, &size));
  sweeps_ = parameters.coarse_sweeps;
  kind_ = is_dense(parameters, level.A) ? Kind::inverse : Kind::smoother;
  if (kind_ == Kind::smoother || level.A.global_rows() == 0) PetscFunctionReturn(PETSC_SUCCESS);
  n_ = static_cast<int>(level.A.global_rows());
  gathered_ = rank == 0 ? n_ : 0;
  if (size > 1 && !gather_) PetscCall(create_gather(level.A));
  PetscCall(gather_matrix(ex, level.A, out_of_memory));
  if (!*out_of_memory) PetscCall(invert(ex, level, out_of_memory));
  if (kind_ == Kind::singular) inverse_.release();
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode CoarseSolver<Ex>::smooth(Ex &ex, Level<Ex> &level, const double *b, double *x) const
{
  Iterate iterate{x, level.A.work.data()};
  if (level.smoother.flips(sweeps_, true) % 2 == 1) std::swap(iterate.here, iterate.there);
  return level.smoother.apply(ex, level.A, sweeps_, true, b, iterate);
}

template <class Ex> PetscErrorCode CoarseSolver<Ex>::solve(Ex &ex, Level<Ex> &level, const double *b, double *x)
{
  PetscFunctionBegin;
  if (smooths()) {
    PetscCall(smooth(ex, level, b, x));
  } else if (!gather_) {
    PetscCall(dense_apply(ex, n_, inverse_.data(), b, x));
  } else {
    double *part = part_.data();
    PetscCall(gather_vector(ex, b));
    PetscCall(dense_apply(ex, gathered_, inverse_.data(), b_.data(), x_.data()));
    PetscCall(PetscSFReduceWithMemTypeBegin(gather_, MPI_DOUBLE, memory_type<Ex>, x_.data(), memory_type<Ex>, part, MPI_REPLACE));
    PetscCall(PetscSFReduceEnd(gather_, MPI_DOUBLE, x_.data(), part, MPI_REPLACE));
    PetscCall(memory_copy(ex, x, part, part_.bytes()));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> std::string CoarseSolver<Ex>::description() const
{
  std::string sweeps = std::to_string(sweeps_) + " sweeps of the smoother";
  switch (kind_) {
  case Kind::smoother:
    return sweeps;
  case Kind::inverse:
    return "dense inverse";
  case Kind::regularised_inverse:
    return "dense inverse; the matrix is singular along the smooth vector and was made regular there";
  case Kind::singular:
    return sweeps + ", as the matrix is singular";
  }
  return "";
}

#define INSTANTIATE(Ex) template class CoarseSolver<Ex>;
AMGKIT_FOR_ALL_SPACES(INSTANTIATE)
#undef INSTANTIATE
} // namespace amgkit
