#include "amg/coarse_solver.hpp"

#include "dist/agree.hpp"
#include "sparse/dense.hpp"

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

template <class Ex> PetscErrorCode CoarseSolver<Ex>::invert(Ex &ex, MPI_Comm comm, CoarseStatus *status)
{
  bool singular = false, out_of_memory = false;

  PetscFunctionBegin;
  PetscCall(attempt(
      comm,
      [&] {
        double norm = 0, inverse_norm = 0;
        PetscFunctionBegin;
        if (gathered_ == 0) PetscFunctionReturn(PETSC_SUCCESS);
        PetscCall(dense_norm(ex, n_, inverse_.data(), &norm));
        PetscCall(dense_invert(ex, n_, inverse_.data(), &singular));
        if (!singular) PetscCall(dense_norm(ex, n_, inverse_.data(), &inverse_norm));
        singular = singular || !(norm * inverse_norm < 1 / std::numeric_limits<double>::epsilon());
        PetscFunctionReturn(PETSC_SUCCESS);
      },
      &out_of_memory));
  int any = singular;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, comm));
  *status = out_of_memory ? CoarseStatus::out_of_memory : any ? CoarseStatus::singular : CoarseStatus::ready;
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode CoarseSolver<Ex>::create(Ex &ex, Level<Ex> &level, const AmgParameters &parameters, CoarseStatus *status)
{
  int rank, size;
  bool out_of_memory = false;

  PetscFunctionBegin;
  *status = CoarseStatus::ready;
  PetscCallMPI(MPI_Comm_rank(level.A.comm, &rank));
  PetscCallMPI(MPI_Comm_size(level.A.comm, &size));
  sweeps_ = parameters.coarse_sweeps;
  dense_ = is_dense(parameters, level.A);
  if (!dense_ || level.A.global_rows() == 0) PetscFunctionReturn(PETSC_SUCCESS);
  n_ = static_cast<int>(level.A.global_rows());
  gathered_ = rank == 0 ? n_ : 0;
  if (size > 1) PetscCall(create_gather(level.A));
  PetscCall(gather_matrix(ex, level.A, &out_of_memory));
  if (out_of_memory)
    *status = CoarseStatus::out_of_memory;
  else
    PetscCall(invert(ex, level.A.comm, status));
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
  if (!dense_) {
    PetscCall(smooth(ex, level, b, x));
  } else if (!gather_) {
    PetscCall(dense_apply(ex, n_, inverse_.data(), b, x));
  } else {
    double *part = part_.data();
    PetscCall(memory_copy(ex, part, b, part_.bytes()));
    PetscCall(PetscSFBcastWithMemTypeBegin(gather_, MPI_DOUBLE, memory_type<Ex>, part, memory_type<Ex>, b_.data(), MPI_REPLACE));
    PetscCall(PetscSFBcastEnd(gather_, MPI_DOUBLE, part, b_.data(), MPI_REPLACE));
    PetscCall(dense_apply(ex, gathered_, inverse_.data(), b_.data(), x_.data()));
    PetscCall(PetscSFReduceWithMemTypeBegin(gather_, MPI_DOUBLE, memory_type<Ex>, x_.data(), memory_type<Ex>, part, MPI_REPLACE));
    PetscCall(PetscSFReduceEnd(gather_, MPI_DOUBLE, x_.data(), part, MPI_REPLACE));
    PetscCall(memory_copy(ex, x, part, part_.bytes()));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> std::string CoarseSolver<Ex>::description() const
{
  return dense_ ? "dense inverse" : std::to_string(sweeps_) + " sweeps of the smoother";
}

#define INSTANTIATE(Ex) template class CoarseSolver<Ex>;
AMGKIT_FOR_ALL_SPACES(INSTANTIATE)
#undef INSTANTIATE
} // namespace amgkit
