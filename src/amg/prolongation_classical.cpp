#include "amg/prolongation_classical.hpp"

#include "amg/matrix_transfer.hpp"
#include "base/log.hpp"
#include "dist/agree.hpp"
#include "graph/interpolation.hpp"
#include "graph/pmis.hpp"
#include "graph/strength.hpp"
#include "sparse/spmv.hpp"

#include <algorithm>

namespace amgkit
{
namespace
{
template <class Ex> class ClassicalProlongation final : public Prolongation<Ex> {
public:
  explicit ClassicalProlongation(const ClassicalParameters &parameters) : parameters_(parameters) {}

  PetscErrorCode build(Ex &ex, Level<Ex> &fine, Level<Ex> &coarse, bool *out_of_memory) const override
  {
    auto transfer = std::make_unique<MatrixTransfer<Ex>>();
    Strength<Ex> strength;
    CoarsePoints<Ex> points;
    CoarseBlocks<Ex> P;

    PetscFunctionBegin;
    PetscCall(coarsen(ex, fine, strength, points, out_of_memory));
    if (*out_of_memory) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(interpolate(ex, fine, strength, points, P, out_of_memory));
    if (*out_of_memory) PetscFunctionReturn(PETSC_SUCCESS);
    transfer->P.diag = std::move(P.diag);
    transfer->P.offd = std::move(P.offd);
    transfer->P.ghosts = std::move(P.ghosts);
    PetscCall(transfer->create(ex, ProductForm::two_products, spgemm(), fine.A, coarse.A, out_of_memory));
    if (*out_of_memory) PetscFunctionReturn(PETSC_SUCCESS);
    coarse.block_size = fine.block_size;
    PetscCall(attempt(
        fine.A.comm, [&] { return restrict_smooth_vector(ex, fine, points, coarse); }, out_of_memory));
    fine.transfer = std::move(transfer);
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  SpgemmOptions spgemm() const
  {
    SpgemmOptions options;
    options.kind = static_cast<SpgemmKind>(parameters_.spgemm);
    return options;
  }

  // Collective
  PetscErrorCode coarsen(Ex &ex, Level<Ex> &fine, Strength<Ex> &strength, CoarsePoints<Ex> &points, bool *out_of_memory) const
  {
    DistMatrix<Ex> &A = fine.A;
    const StrengthRule rule = {parameters_.threshold, parameters_.max_row_sum, nullptr, nullptr};
    Array<unsigned char, Ex> is_coarse;
    int rank;

    PetscFunctionBegin;
    PetscCallMPI(MPI_Comm_rank(A.comm, &rank));
    const auto before = static_cast<int>(std::lower_bound(A.ghosts.begin(), A.ghosts.end(), A.first(rank)) - A.ghosts.begin());
    PetscCall(log_begin(Phase::strength));
    PetscCall(attempt(
        A.comm, [&] { return classical_strength(ex, A.diag, A.offd, before, rule, strength); }, out_of_memory));
    PetscCall(log_end(Phase::strength));
    if (*out_of_memory) PetscFunctionReturn(PETSC_SUCCESS);
    const DistGraph<Ex> graph = graph_of(A, strength.diag.data(), strength.offd.data());
    PetscCall(log_begin(Phase::coarsen));
    PetscCall(pmis(ex, graph, Isolated::fine, is_coarse, out_of_memory));
    if (!*out_of_memory) PetscCall(number_coarse_points(ex, graph, is_coarse.data(), points, out_of_memory));
    PetscCall(log_end(Phase::coarsen));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  // Collective
  PetscErrorCode interpolate(Ex &ex, Level<Ex> &fine, const Strength<Ex> &strength, const CoarsePoints<Ex> &points, CoarseBlocks<Ex> &P,
                             bool *out_of_memory) const
  {
    Interpolation<Ex> interpolation;
    InterpolationRule rule;

    PetscFunctionBegin;
    rule.kind = static_cast<InterpolationKind>(parameters_.interp_type);
    rule.truncation = {parameters_.truncfactor, static_cast<int>(parameters_.p_max)};
    rule.spgemm = spgemm();
    PetscCall(log_begin(Phase::interp));
    PetscCall(interpolation.create(ex, fine.A, strength, points, rule, P, out_of_memory));
    PetscCall(log_end(Phase::interp));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  // What P interpolates to the fine vector is, in C points, the coarse one itself. Local.
  PetscErrorCode restrict_smooth_vector(Ex &ex, const Level<Ex> &fine, const CoarsePoints<Ex> &points, Level<Ex> &coarse) const
  {
    PetscFunctionBegin;
    PetscCall(coarse.smooth_vector.allocate(ex, points.count));
    PetscCall(inject(ex, fine.A.rows, points.number.data(), fine.smooth_vector.data(), coarse.smooth_vector.data()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  ClassicalParameters parameters_;
};
} // namespace

template <class Ex> std::unique_ptr<Prolongation<Ex>> make_classical_prolongation(const ClassicalParameters &parameters)
{
  return std::make_unique<ClassicalProlongation<Ex>>(parameters);
}

#define INSTANTIATE(Ex) template std::unique_ptr<Prolongation<Ex>> make_classical_prolongation(const ClassicalParameters &);
AMGKIT_FOR_ALL_SPACES(INSTANTIATE)
#undef INSTANTIATE
} // namespace amgkit
