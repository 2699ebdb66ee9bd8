#include "amg/prolongation_classical.hpp"

#include "amg/matrix_transfer.hpp"
#include "base/log.hpp"
#include "dist/attempt.hpp"
#include "graph/pmis.hpp"
#include "graph/second_strength.hpp"
#include "graph/strength.hpp"
#include "graph/two_stage.hpp"
#include "sparse/formats/spmv.hpp"
#include "sparse/rows/rows.hpp"

#include <array>
#include <cstdio>
#include <string>
#include <variant>

namespace amgkit
{
namespace
{
// P with what makes its weights again.
template <class Ex> class ClassicalTransfer final : public MatrixTransfer<Ex> {
public:
  std::variant<std::monostate, Interpolation<Ex>, TwoStageInterpolation<Ex>> interpolation; // nothing: P is kept
  double strong = 0; // couplings of a row on average, where they decided on direct interpolation

  std::string remark() const override
  {
    std::array<char, 96> text = {};
    if (strong > 0) std::snprintf(text.data(), text.size(), "direct, as a row depends strongly on %.1f others on average", strong);
    return text.data();
  }
  std::size_t bytes() const override
  {
    std::size_t own = 0;
    if (auto *one = std::get_if<1>(&interpolation)) own = one->bytes();
    if (auto *two = std::get_if<2>(&interpolation)) own = two->bytes();
    return MatrixTransfer<Ex>::bytes() + own;
  }

private:
  PetscErrorCode renew(Ex &ex, Level<Ex> &fine, const LevelSetup<Ex> &) override
  {
    PetscFunctionBegin;
    const LogPhase logged(Phase::interp);
    if (auto *one = std::get_if<1>(&interpolation)) PetscCall(one->update(ex, fine.A, this->P));
    if (auto *two = std::get_if<2>(&interpolation)) PetscCall(two->update(ex, fine.A, this->P));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

// What the steps of one level hand on.
template <class Ex> struct Coarsening {
  Array<int, Ex> ghost_unknown;
  Array<double, Ex> ghost_diagonal; // where fine is uneven
  Strength<Ex> strength;
  CoarsePoints<Ex> points; // the C points
  CoarsePoints<Ex> first;  // on aggressive levels, those of the first coarsening
};

InterpolationKind of_choice(InterpolationChoice choice)
{
  switch (choice) {
  case InterpolationChoice::direct:
    return InterpolationKind::direct;
  case InterpolationChoice::ext:
    return InterpolationKind::ext;
  case InterpolationChoice::ext_e:
    return InterpolationKind::ext_e;
  case InterpolationChoice::ext_i:
  case InterpolationChoice::automatic: // but where choose_kind() finds dense rows
    break;
  }
  return InterpolationKind::ext_i;
}

// auto: with more strong couplings a row on average, the finest level has direct interpolation (amgclassical.md, "Dense stencils").
constexpr double many_strong = 12;

// The finest level gives D⁻¹ away while it is coarsened, and finds it again by reading the whole matrix. Where rows are long, that takes a
// hundredth of a setup on a GPU, and D⁻¹ at most a twenty-fourth of the matrix's memory: then it stays.
template <class Ex> bool gives_diagonal_away(const Level<Ex> &level)
{
  constexpr std::int64_t long_rows = 16;
  return level.number == 0 && level.A.diag.nnz < long_rows * level.A.rows;
}

template <class Ex> class ClassicalProlongation final : public Prolongation<Ex> {
public:
  explicit ClassicalProlongation(const ClassicalParameters &parameters) : parameters_(parameters) {}

  PetscErrorCode look_at_finest(Ex &ex, Mat A, const Level<Ex> &finest, const LevelSetup<Ex> &of_finest) override
  {
    Magnitudes of;

    PetscFunctionBegin;
    PetscCall(Prolongation<Ex>::look_at_finest(ex, A, finest, of_finest));
    PetscCall(attempt(finest.A.comm, [&] { return magnitudes(ex, finest.A.rows, of_finest.diagonal.data(), &of); }));
    std::array<double, 2> all = {-of.least, of.most};
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, all.data(), 2, MPI_DOUBLE, MPI_MAX, finest.A.comm));
    uneven_ = all[1] / comparable > -all[0];
    PetscCall(take_unknowns_of_blocks(ex, finest));
    PetscCall(choose(finest.A));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode build(Ex &ex, Level<Ex> &fine, LevelSetup<Ex> &of_fine, Level<Ex> &coarse, LevelSetup<Ex> &of_coarse) override
  {
    auto transfer = std::make_unique<ClassicalTransfer<Ex>>();
    Coarsening<Ex> level;

    PetscFunctionBegin;
    PetscCheck(!aggressive(fine) || parameters_.interp_type != InterpolationChoice::direct, fine.A.comm, PETSC_ERR_SUP,
               "Direct interpolation has no second stage for aggressive levels: choose another interp_type, or agg_nl 0");
    if (!uneven_) of_fine.diagonal.release();
    if (gives_diagonal_away(fine)) fine.smoother.set_scaling({}, {}); // comes back when all levels are there, as the matrix stays
    if (unknowns_ > 1) PetscCall(take_ghosts(ex, fine.A, unknown_, level.ghost_unknown));
    if (uneven_) PetscCall(take_ghosts(ex, fine.A, of_fine.diagonal, level.ghost_diagonal));
    PetscCall(coarsen(ex, fine, of_fine.diagonal.data(), level));
    PetscCall(interpolate(ex, fine, level, *transfer));
    if (!parameters_.reweight) transfer->interpolation = std::monostate{};
    transfer->P.values_change = parameters_.reweight;
    transfer->P.in_single = this->in_single_;
    PetscCall(attempt(fine.A.comm, [&] { return inject_all(ex, fine.A.rows, level.points); }));
    level = {}; // nothing but P and the matrix stands beside the product
    of_fine = {};
    PetscCall(transfer->create(ex, ProductForm::two_products, spgemm(), fine.A, coarse.A, of_coarse));
    fine.transfer = std::move(transfer);
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode move(Ex &ex, Redistribution<Ex> &way) override
  {
    PetscFunctionBegin;
    PetscCall(Prolongation<Ex>::move(ex, way));
    if (unknowns_ > 1) PetscCall(way.move_vector(ex, unknown_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  bool aggressive(const Level<Ex> &level) const { return level.number < parameters_.agg_nl; }
  // Collective. auto is direct on the finest level where rows depend strongly on many others: the extended kinds then read tens of coarse
  // points a row, which takes a third of a setup, and save few iterations. On coarse levels they save more than they cost. *strong: how
  // many, where they decided so.
  PetscErrorCode choose_kind(Ex &ex, const Level<Ex> &level, const Strength<Ex> &strength, InterpolationKind *kind, double *strong) const
  {
    const DistMatrix<Ex> &A = level.A;
    std::int64_t own = 0, other = 0;

    PetscFunctionBegin;
    *kind = of_choice(parameters_.interp_type);
    if (parameters_.interp_type != InterpolationChoice::automatic || level.number > 0 || aggressive(level))
      PetscFunctionReturn(PETSC_SUCCESS);
    if (entries_a_row_ <= many_strong) PetscFunctionReturn(PETSC_SUCCESS); // all of them strong would be too few
    PetscCall(attempt(A.comm, [&] {
      PetscFunctionBegin;
      PetscCall(count_marks(ex, strength.diag, &own));
      PetscCall(count_marks(ex, strength.offd, &other));
      PetscFunctionReturn(PETSC_SUCCESS);
    }));
    std::array<double, 2> all = {static_cast<double>(own + other), static_cast<double>(A.rows)};
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, all.data(), 2, MPI_DOUBLE, MPI_SUM, A.comm));
    if (all[0] <= many_strong * all[1]) PetscFunctionReturn(PETSC_SUCCESS);
    *kind = InterpolationKind::direct;
    *strong = all[0] / all[1];
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  // Collective: what the options leave to choose. Direct interpolation has no second stage.
  PetscErrorCode choose(const DistMatrix<Ex> &A)
  {
    constexpr double few = 10; // entries a row, so that products are cheap
    std::array<double, 2> sums = {static_cast<double>(A.diag.nnz + A.offd.nnz), static_cast<double>(A.rows)};

    PetscFunctionBegin;
    if (parameters_.agg_nl < 0) parameters_.agg_nl = unknowns_ > 1 && parameters_.interp_type != InterpolationChoice::direct ? 1 : 0;
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sums.data(), 2, MPI_DOUBLE, MPI_SUM, A.comm));
    entries_a_row_ = sums[1] > 0 ? sums[0] / sums[1] : 0;
    if (parameters_.p_max < 0) parameters_.p_max = entries_a_row_ <= few * unknowns_ ? 4 : 3;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  SpgemmOptions spgemm() const
  {
    SpgemmOptions options;
    options.kind = parameters_.spgemm;
    return options;
  }

  // Collective. Rows are of one unknown each, from the finest level's blocks on.
  PetscErrorCode take_unknowns_of_blocks(Ex &ex, const Level<Ex> &finest)
  {
    const DistMatrix<Ex> &A = finest.A;

    PetscFunctionBegin;
    unknowns_ = finest.block_size;
    if (unknowns_ == 1) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(attempt(A.comm, [&] {
      PetscFunctionBegin;
      PetscCall(unknown_.allocate(ex, A.rows));
      PetscCall(unknowns_of_blocks(ex, A.rows, A.range.first(), unknowns_, unknown_.data()));
      PetscFunctionReturn(PETSC_SUCCESS);
    }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  // Collective: what other ranks have of theirs for A's ghosts.
  template <class T> PetscErrorCode take_ghosts(Ex &ex, DistMatrix<Ex> &A, const Array<T, Ex> &own, Array<T, Ex> &ghost) const
  {
    PetscFunctionBegin;
    PetscCall(attempt(A.comm, [&] { return ghost.allocate(ex, static_cast<std::int64_t>(A.ghosts.size())); }));
    PetscCall(A.halo.exchange_into(ex, own.data(), ghost));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  // Collective: strength and C points.
  PetscErrorCode coarsen(Ex &ex, Level<Ex> &fine, const double *diagonal, Coarsening<Ex> &level) const
  {
    DistMatrix<Ex> &A = fine.A;
    StrengthRule rule = {parameters_.threshold, parameters_.max_row_sum, unknown_.data(), level.ghost_unknown.data()};
    Array<unsigned char, Ex> is_coarse;

    PetscFunctionBegin;
    rule.cancel_positive = parameters_.cancel_positive;
    rule.coarse = fine.number > 0;
    if (uneven_) rule.diagonal = diagonal;
    if (uneven_) rule.ghost_diagonal = level.ghost_diagonal.data();
    {
      const LogPhase logged(Phase::strength);
      PetscCall(attempt(A.comm, [&] { return classical_strength(ex, A.diag, A.offd, A.ghosts_before(), rule, level.strength); }));
    }
    const DistGraph<Ex> graph = graph_of(A, level.strength.diag.data(), level.strength.offd.data());
    const LogPhase logged(Phase::coarsen);
    PetscCall(pmis(ex, graph, Isolated::fine, is_coarse));
    PetscCall(number_coarse_points(ex, graph, is_coarse.data(), level.points));
    if (aggressive(fine)) PetscCall(coarsen_again(ex, A, graph, is_coarse, level));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  // Collective: fewer C points, by PMIS on the paths between those that there are. One without a path to another stays.
  PetscErrorCode coarsen_again(Ex &ex, DistMatrix<Ex> &A, const DistGraph<Ex> &graph, Array<unsigned char, Ex> &is_coarse,
                               Coarsening<Ex> &level) const
  {
    SecondStrengthRule rule;
    SecondStrength<Ex> second;
    Array<unsigned char, Ex> chosen;

    PetscFunctionBegin;
    level.first = std::move(level.points);
    level.points = {};
    rule.kind = parameters_.agg_type;
    rule.spgemm = spgemm();
    PetscCall(second_strength(ex, A, level.strength, level.first, rule, second));
    PetscCall(pmis(ex, second.graph(A.comm), Isolated::coarse, chosen));
    PetscCall(spread_coarse(ex, A.rows, level.first.number.data(), chosen.data(), is_coarse.data()));
    PetscCall(number_coarse_points(ex, graph, is_coarse.data(), level.points));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  // Collective: the blocks of P. Takes strength.
  PetscErrorCode interpolate(Ex &ex, Level<Ex> &fine, Coarsening<Ex> &level, ClassicalTransfer<Ex> &transfer) const
  {
    TwoStageRule rule;
    InterpolationRule &one = rule.interpolation;

    PetscFunctionBegin;
    const LogPhase logged(Phase::interp);
    PetscCall(choose_kind(ex, fine, level.strength, &one.kind, &transfer.strong));
    one.truncation = {parameters_.truncfactor, static_cast<int>(parameters_.p_max)};
    one.spgemm = spgemm();
    one.unknown = unknown_.data();
    one.ghost_unknown = level.ghost_unknown.data();
    one.keep = parameters_.reweight;
    if (aggressive(fine)) {
      rule.of_factors = {parameters_.truncfactor, static_cast<int>(parameters_.agg_p_max)};
      auto &two = transfer.interpolation.template emplace<2>();
      PetscCall(two.create(ex, fine.A, level.strength, level.first, level.points, rule, transfer.P));
    } else {
      auto &direct = transfer.interpolation.template emplace<1>();
      PetscCall(direct.create(ex, fine.A, std::move(level.strength), level.points, one, transfer.P));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  // Local. What P interpolates to a fine vector is, in C points, the coarse one itself; unknowns stay what they are.
  PetscErrorCode inject_all(Ex &ex, int rows, const CoarsePoints<Ex> &points)
  {
    PetscFunctionBegin;
    PetscCall(inject_one(ex, rows, points, this->smooth_vector_));
    if (unknowns_ > 1) PetscCall(inject_one(ex, rows, points, unknown_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  template <class T> PetscErrorCode inject_one(Ex &ex, int rows, const CoarsePoints<Ex> &points, Array<T, Ex> &x) const
  {
    Array<T, Ex> coarse;
    PetscFunctionBegin;
    PetscCall(coarse.allocate(ex, points.count));
    PetscCall(inject(ex, rows, points.number.data(), x.data(), coarse.data()));
    x = std::move(coarse);
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  ClassicalParameters parameters_;
  int unknowns_ = 1;         // by the unknown approach, where rows are no nodes
  Array<int, Ex> unknown_;   // if there are several, which one each row is of
  double entries_a_row_ = 0; // of the finest level
  bool uneven_ = false;      // the finest level's a_ii differ so much that rows may not be comparable (graph/strength.hpp)
};
} // namespace

template <class Ex> std::unique_ptr<Prolongation<Ex>> make_classical_prolongation(const ClassicalParameters &parameters)
{
  return std::make_unique<ClassicalProlongation<Ex>>(parameters);
}

AMGKIT_INSTANTIATE(make_classical_prolongation)
} // namespace amgkit
