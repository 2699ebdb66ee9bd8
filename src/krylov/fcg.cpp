#include "krylov/fcg.hpp"

#include "base/log.hpp"
#include "dist/attempt.hpp"
#include "dist/global_sum.hpp"
#include "dist/vec_view.hpp"

#include <array>
#include <cmath>

namespace amgkit
{
namespace
{
template <class Ex> class FcgIn final : public FcgSteps {
public:
  PetscErrorCode create(Vec x) override
  {
    PetscInt n;

    PetscFunctionBegin;
    comm_ = PetscObjectComm(reinterpret_cast<PetscObject>(x));
    PetscCall(VecGetLocalSize(x, &n));
    n_ = n;
    PetscCall(open_on_all(comm_, ex_));
    PetscCall(need_memory_for("the sums of amgfcg", comm_, [&] {
      return attempt(comm_, [&] {
        PetscFunctionBegin;
        PetscCall(work_.allocate(ex_, 2 * sum_parts_of(n_)));
        PetscCall(scalars_.allocate(ex_, 1));
        PetscCall(memory_zero(ex_, scalars_.data(), scalars_.bytes()));
        PetscFunctionReturn(PETSC_SUCCESS);
      });
    }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode close() override
  {
    work_.release();
    scalars_.release();
    readers_ = {};
    writers_ = {};
    return amgkit::close(ex_);
  }

  PetscErrorCode norm(Vec r, PetscReal *norm) override
  {
    FcgScalars s;

    PetscFunctionBegin;
    const LogPhase logged(Phase::krylov);
    PetscCall(with<1, 0>({r}, {}, [&](auto in, auto) { return fcg_norm(ex_, n_, in[0], work_.data(), scalars_.data()); }));
    PetscCall(sum(1, &scalars_.data()->r_r, 2));
    PetscCall(scalars(&s));
    *norm = std::sqrt(s.r_r);
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode project(bool first, Vec w, Vec r, Vec q) override
  {
    PetscFunctionBegin;
    const LogPhase logged(Phase::krylov);
    if (first)
      PetscCall(with<2, 0>({w, r}, {}, [&](auto in, auto) {
        return fcg_projections(ex_, n_, in[0], in[1], static_cast<const double *>(nullptr), work_.data(), scalars_.data());
      }));
    else
      PetscCall(with<3, 0>({w, r, q}, {},
                           [&](auto in, auto) { return fcg_projections(ex_, n_, in[0], in[1], in[2], work_.data(), scalars_.data()); }));
    PetscCall(sum(2, &scalars_.data()->w_r, first ? 2 : 4));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode direct(bool first, Vec w, Vec d) override
  {
    PetscFunctionBegin;
    const LogPhase logged(Phase::krylov);
    PetscCall(with<1, 1>({w}, {d}, [&](auto in, auto out) { return fcg_direction(ex_, n_, first, scalars_.data(), in[0], out[0]); }));
    PetscCall(log_flops(ex_, first ? 0 : 2.0 * static_cast<double>(n_)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  // On a host MatMult() is as fast.
  PetscErrorCode multiply(Preconditioner &preconditioner, Vec d, Vec q, bool *done) override
  {
    auto *product = Ex::on_device ? dynamic_cast<UserProduct<Ex> *>(&preconditioner) : nullptr;

    PetscFunctionBegin;
    *done = product != nullptr;
    if (product) PetscCall(with<1, 1>({d}, {q}, [&](auto in, auto out) { return product->multiply(in[0], out[0]); }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode advance(Vec d, Vec q, Vec x, Vec r) override
  {
    PetscFunctionBegin;
    const LogPhase logged(Phase::krylov);
    PetscCall(with<2, 2>({d, q}, {x, r}, [&](auto in, auto out) {
      FcgScalars *s = scalars_.data();
      PetscFunctionBegin;
      PetscCall(fcg_curvature(ex_, n_, in[0], in[1], static_cast<const double *>(out[1]), work_.data(), s));
      PetscCall(sum(2, &s->d_q, 4));
      PetscCall(fcg_step(ex_, n_, in[0], in[1], out[0], out[1], work_.data(), s));
      PetscCall(sum(1, &s->r_r, 6));
      PetscFunctionReturn(PETSC_SUCCESS);
    }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode scalars(FcgScalars *s) override { return memory_to_host(ex_, s, scalars_.data(), sizeof *s); }

private:
  // f(entries of what is read, entries of what is changed)
  template <std::size_t N, std::size_t M, class F>
  PetscErrorCode with(const std::array<Vec, N> &read, const std::array<Vec, M> &changed, F f)
  {
    std::array<const double *, N> in{};
    std::array<double *, M> out{};

    PetscFunctionBegin;
    for (std::size_t k = 0; k < N; k++) PetscCall(readers_[k].access(ex_, read[k], &in[k]));
    for (std::size_t k = 0; k < M; k++) PetscCall(writers_[k].access(ex_, changed[k], &out[k], VecUse::change));
    const PetscErrorCode code = f(in, out);
    for (std::size_t k = 0; k < M; k++) PetscCall(writers_[k].release(ex_, changed[k]));
    for (std::size_t k = 0; k < N; k++) PetscCall(readers_[k].release(read[k]));
    PetscCall(code);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  // Over all ranks; flops: a row, for this rank's part
  PetscErrorCode sum(int count, double *first, double flops)
  {
    PetscFunctionBegin;
    PetscCall(sum_over_ranks(ex_, comm_, count, first));
    PetscCall(log_flops(ex_, flops * static_cast<double>(n_)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  Ex ex_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  std::int64_t n_ = 0;
  Array<double, Ex> work_;
  Array<FcgScalars, Ex> scalars_;
  std::array<VecReader<Ex>, 3> readers_;
  std::array<VecWriter<Ex>, 2> writers_;
};
} // namespace

std::unique_ptr<FcgSteps> make_fcg_steps(Vec x)
{
#if defined(AMGKIT_HAVE_CUDA)
  if (on_cuda(x)) return std::make_unique<FcgIn<Cuda>>();
#else
  static_cast<void>(x);
#endif
  return std::make_unique<FcgIn<Host>>();
}
} // namespace amgkit
