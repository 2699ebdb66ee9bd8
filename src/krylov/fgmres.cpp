#include "krylov/fgmres.hpp"

#include "krylov/steps_in.hpp"

#include <algorithm>
#include <cmath>

namespace amgkit
{
namespace
{
// So many iterations more have memory each time when it does not suffice.
constexpr int more = 4;

// Whether z's entries may stand in memory of ours for a while: not those of a vector that has more than them, ghosts or parts.
PetscErrorCode is_plain(Vec z, bool *plain)
{
  PetscBool sequential, parallel;
  Vec with_ghosts = nullptr;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny(reinterpret_cast<PetscObject>(z), &sequential, VECSEQ, VECSEQCUDA, ""));
  PetscCall(PetscObjectTypeCompareAny(reinterpret_cast<PetscObject>(z), &parallel, VECMPI, VECMPICUDA, ""));
  if (parallel) {
    PetscCall(VecGhostGetLocalForm(z, &with_ghosts));
    PetscCall(VecGhostRestoreLocalForm(z, &with_ghosts));
  }
  *plain = sequential || (parallel && !with_ghosts);
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> class FgmresStepsIn final : public StepsIn<Ex, FgmresSteps> {
public:
  FgmresStepsIn() : StepsIn<Ex, FgmresSteps>("amgfgmres") {}

  PetscErrorCode reserve(int k) override
  {
    PetscFunctionBegin;
    if (k < ready_) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(need_memory_for("amgfgmres", comm_, [&] { return attempt(comm_, [&] { return grow(k + more); }); }));
    ready_ = k + more;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode residual(Vec b, Vec w, Vec u, PetscReal *norm) override
  {
    double *sum = &numbers()->u_u;

    PetscFunctionBegin;
    const LogPhase logged(Phase::krylov);
    if (w)
      PetscCall(this->template with<2, 1>(
          {b, w}, {u}, [&](auto in, auto out) { return fgmres_residual(ex_, n_, in[0], in[1], out[0], work_.data(), sum); }));
    else
      PetscCall(this->template with<1, 1>(
          {b}, {u}, [&](auto in, auto out) { return fgmres_residual<Ex>(ex_, n_, in[0], nullptr, out[0], work_.data(), sum); }));
    PetscCall(read_sum(w ? 3 : 2, norm));
    *norm = std::sqrt(*norm);
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode normalise(PetscReal norm, Vec u) override
  {
    PetscFunctionBegin;
    const LogPhase logged(Phase::krylov);
    PetscCall(this->template with<0, 1>({}, {u}, [&](auto, auto out) { return fgmres_normalise(ex_, n_, norm, out[0]); }));
    PetscCall(log_flops(ex_, static_cast<double>(n_)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode with_direction(int k, Vec z, const std::function<PetscErrorCode()> &f) override
  {
    double *to = directions_[static_cast<std::size_t>(k)];
    bool plain;

    PetscFunctionBegin;
    PetscCall(can_place(z, &plain));
    plain = plain && n_ > 0; // or there is no memory to place it in
    if (plain) PetscCall(place(z, to));
    const PetscErrorCode code = f();
    if (plain) PetscCall(take_back(z));
    PetscCall(code);
    if (!plain)
      PetscCall(this->template with<1, 0>(
          {z}, {}, [&](auto in, auto) { return memory_copy(ex_, to, in[0], static_cast<std::size_t>(n_) * sizeof(double)); }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode orthogonalise(int k, Vec w, Vec u, FgmresColumn *column) override
  {
    PetscFunctionBegin;
    const LogPhase logged(Phase::krylov);
    PetscCall(this->template with<1, 1>({w}, {u}, [&](auto in, auto out) {
      PetscFunctionBegin;
      PetscCall(dots(k, in[0], out[0]));
      PetscCall(fgmres_coefficients(ex_, k, sums_.data(), numbers(), pairs()));
      PetscCall(fgmres_orthogonalise(ex_, n_, k, table_.data(), in[0], out[0], work_.data(), numbers(), pairs()));
      PetscFunctionReturn(PETSC_SUCCESS);
    }));
    PetscCall(log_flops(ex_, (8.0 * k + 12) * static_cast<double>(n_)));
    PetscCall(read_column(k, column));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode correct(const std::vector<double> &y, Vec x, Vec to) override
  {
    const auto count = static_cast<int>(y.size());

    PetscFunctionBegin;
    const LogPhase logged(Phase::krylov);
    PetscCall(memory_from_host(ex_, y_.data(), y.data(), y.size() * sizeof(double)));
    const auto add = [&](const double *from, double *into) {
      return fgmres_correct<Ex>(ex_, n_, count, y_.data(), table_.data() + table_.size() / 2, from, into);
    };
    if (x == to)
      PetscCall(this->template with<0, 1>({}, {to}, [&](auto, auto out) { return add(out[0], out[0]); }));
    else
      PetscCall(this->template with<1, 1>({x}, {to}, [&](auto in, auto out) { return add(in[0], out[0]); }));
    PetscCall(log_flops(ex_, 2.0 * count * static_cast<double>(n_)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  using StepsIn<Ex, FgmresSteps>::comm_;
  using StepsIn<Ex, FgmresSteps>::ex_;
  using StepsIn<Ex, FgmresSteps>::n_;

  FgmresNumbers *numbers() { return reinterpret_cast<FgmresNumbers *>(column_.data()); }
  FgmresPair *pairs() { return reinterpret_cast<FgmresPair *>(numbers() + 1); }

  PetscErrorCode allocate() override
  {
    PetscFunctionBegin;
    PetscCall(work_.allocate(ex_, fgmres_sums * sum_parts_of(n_)));
    PetscCall(grow(0));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  void release() override
  {
    basis_.clear();
    directions_.clear();
    vectors_.clear();
    table_.release();
    for (Array<double, Ex> *array : {&work_, &sums_, &column_, &y_}) array->release();
    ready_ = 0;
  }
  // Memory for so many iterations. After an error, also another rank's, all of it is still there that was there before.
  PetscErrorCode grow(int count)
  {
    const int there = static_cast<int>(basis_.size());
    std::vector<double *> addresses;
    Array<double *, Ex> table;
    Array<double, Ex> sums, column, y;

    PetscFunctionBegin;
    if (there < count) { // in one piece, for which a host has large pages
      const std::int64_t stride = (n_ + 31) / 32 * 32;
      Array<double, Ex> vectors;
      PetscCall(vectors.allocate(ex_, 2 * (count - there) * stride));
      for (int k = 0; k < count - there; k++) basis_.push_back(vectors.data() + k * stride);
      for (int k = count - there; k < 2 * (count - there); k++) directions_.push_back(vectors.data() + k * stride);
      vectors_.push_back(std::move(vectors));
    }
    for (const auto *vectors : {&basis_, &directions_}) addresses.insert(addresses.end(), vectors->begin(), vectors->begin() + count);
    PetscCall(table.allocate(ex_, 2 * std::int64_t{count}));
    PetscCall(sums.allocate(ex_, std::int64_t{count / fgmres_block + 1} * fgmres_sums));
    PetscCall(column.allocate(ex_, 3 + 2 * std::int64_t{count}));
    PetscCall(y.allocate(ex_, count));
    PetscCall(memory_from_host(ex_, table.data(), addresses.data(), table.bytes()));
    table_ = std::move(table);
    sums_ = std::move(sums);
    column_ = std::move(column);
    y_ = std::move(y);
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  // Where z's entries are those of this space.
  PetscErrorCode can_place(Vec z, bool *can)
  {
    PetscFunctionBegin;
    *can = space_vector<Ex>(z) != nullptr;
    if (!*can && (!Ex::apart || (Ex::on_device && on_cuda(z)))) PetscCall(is_plain(z, can));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode place(Vec z, double *entries)
  {
    PetscFunctionBegin;
    if (SpaceVectorIn<Ex> *vector = space_vector<Ex>(z)) {
      vector->place(entries);
      PetscFunctionReturn(PETSC_SUCCESS);
    }
#if defined(AMGKIT_HAVE_CUDA) && defined(PETSC_HAVE_CUDA)
    if constexpr (Ex::on_device)
      PetscCall(VecCUDAPlaceArray(z, entries));
    else
#endif
      PetscCall(VecPlaceArray(z, entries));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode take_back(Vec z)
  {
    PetscFunctionBegin;
    if (SpaceVectorIn<Ex> *vector = space_vector<Ex>(z)) {
      PetscCall(vector->take_back());
      PetscFunctionReturn(PETSC_SUCCESS);
    }
#if defined(AMGKIT_HAVE_CUDA) && defined(PETSC_HAVE_CUDA)
    if constexpr (Ex::on_device)
      PetscCall(VecCUDAResetArray(z));
    else
#endif
      PetscCall(VecResetArray(z));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  // Of v_0, ..., v_{k-1}, u with u and w, over all ranks
  PetscErrorCode dots(int k, const double *w, const double *u)
  {
    PetscFunctionBegin;
    for (int first = 0; first <= k; first += fgmres_block) {
      const int count = std::min(fgmres_block, k + 1 - first);
      FgmresBlock block{};
      for (int c = 0; c < count; c++) block.vector[c] = first + c < k ? basis_[first + c] : u;
      PetscCall(fgmres_dots(ex_, n_, count, block, u, w, work_.data(), sums_.data() + first / fgmres_block * fgmres_sums));
    }
    PetscCall(sum_over_ranks(ex_, comm_, k / fgmres_block * fgmres_sums + 1 + 2 * (k % fgmres_block + 1), sums_.data()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode read_column(int k, FgmresColumn *column)
  {
    std::vector<double> numbers(3 + 2 * (static_cast<std::size_t>(k) + 1));

    PetscFunctionBegin;
    PetscCall(memory_to_host(ex_, numbers.data(), column_.data(), numbers.size() * sizeof(double)));
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &numbers[2], 1, MPI_DOUBLE, MPI_SUM, comm_));
    column->numbers = {numbers[0], numbers[1], numbers[2]};
    column->pairs.clear();
    for (std::size_t c = 3; c < numbers.size(); c += 2) column->pairs.push_back({numbers[c], numbers[c + 1]});
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  // numbers()->u_u over all ranks; flops: a row
  PetscErrorCode read_sum(double flops, double *sum)
  {
    PetscFunctionBegin;
    PetscCall(this->sum(1, &numbers()->u_u, flops));
    PetscCall(memory_to_host(ex_, sum, &numbers()->u_u, sizeof *sum));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  int ready_ = 0;                            // iterations of a cycle that all ranks have memory for
  std::vector<Array<double, Ex>> vectors_;   // the memory of
  std::vector<double *> basis_, directions_; // v and z
  Array<double *, Ex> table_;                // where they stand: all v, then all z
  Array<double, Ex> work_, sums_, column_, y_;
};
} // namespace

std::unique_ptr<FgmresSteps> make_fgmres_steps(Vec x, Preconditioner *solver)
{
  return in_krylov_space(x, solver,
                         [](auto space) -> std::unique_ptr<FgmresSteps> { return std::make_unique<FgmresStepsIn<decltype(space)>>(); });
}
} // namespace amgkit
