#include "krylov/fcg.hpp"

#include "base/log.hpp"
#include "dist/attempt.hpp"
#include "dist/global_sum.hpp"

#include <array>
#include <cmath>

namespace amgkit
{
namespace
{
// The product to take in a space, if there is one: on a host MatMult() is as fast.
template <class Ex> UserProduct<Ex> *product_in(Preconditioner *solver)
{
  return Ex::sliced_rows ? dynamic_cast<UserProduct<Ex> *>(solver) : nullptr;
}

// What both precisions share.
template <class Ex> class StepsIn : public FcgSteps {
public:
  PetscErrorCode create(Vec x) override
  {
    PetscInt n;

    PetscFunctionBegin;
    comm_ = PetscObjectComm(reinterpret_cast<PetscObject>(x));
    PetscCall(VecGetLocalSize(x, &n));
    n_ = n;
    PetscCall(open_on_all(comm_, ex_));
    PetscCall(need_memory_for("amgfcg", comm_, [&] { return attempt(comm_, [&] { return allocate(); }); }));
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
  const char *space() const override { return Ex::name; }

  PetscErrorCode norm(const FcgVectors &v, PetscReal *norm) override
  {
    FcgScalars out;

    PetscFunctionBegin;
    const LogPhase logged(Phase::krylov);
    PetscCall(with<1, 0>({v.r}, {}, [&](auto in, auto) { return fcg_norm(ex_, n_, in[0], work(), s()); }));
    PetscCall(sum(1, &s()->r_r, 2));
    PetscCall(memory_to_host(ex_, &out, s(), sizeof out));
    *norm = std::sqrt(out.r_r);
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode scalars(FcgScalars *out, PetscReal *norm) override
  {
    PetscFunctionBegin;
    PetscCall(memory_to_host(ex_, out, s(), sizeof *out));
    *norm = std::sqrt(out->r_r) / scale_;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  bool has_product(Preconditioner &preconditioner) const override { return product_in<Ex>(&preconditioner); }
  PetscErrorCode multiply_exactly(Preconditioner &preconditioner, Vec x, Vec y, bool as_set_up) override
  {
    return with<1, 1>(
        {x}, {y}, [&](auto in, auto out) { return dynamic_cast<UserProduct<Ex> &>(preconditioner).multiply(in[0], out[0], as_set_up); });
  }

protected:
  double *work() { return work_.data(); }
  FcgScalars *s() { return scalars_.data(); }
  virtual PetscErrorCode allocate()
  {
    PetscFunctionBegin;
    PetscCall(work_.allocate(ex_, 2 * sum_parts_of(n_)));
    PetscCall(scalars_.allocate(ex_, 1));
    PetscCall(memory_zero(ex_, scalars_.data(), scalars_.bytes()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
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
  double scale_ = 1; // of the steps' r in terms of b - A x
  Array<double, Ex> work_;
  Array<FcgScalars, Ex> scalars_;
  std::array<VecReader<Ex>, 3> readers_;
  std::array<VecWriter<Ex>, 2> writers_;
};

template <class Ex> class DoubleSteps final : public StepsIn<Ex> {
public:
  bool mixed() const override { return false; }

  PetscErrorCode project(bool first, const FcgVectors &v) override
  {
    PetscFunctionBegin;
    const LogPhase logged(Phase::krylov);
    if (first)
      PetscCall(this->template with<2, 0>(
          {v.w, v.r}, {}, [&](auto in, auto) { return fcg_projections<Ex, double, double>(ex_, n_, in[0], in[1], nullptr, work(), s()); }));
    else
      PetscCall(this->template with<3, 0>({v.w, v.r, v.q}, {},
                                          [&](auto in, auto) { return fcg_projections(ex_, n_, in[0], in[1], in[2], work(), s()); }));
    PetscCall(this->sum(2, &s()->w_r, first ? 2 : 4));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode direct(bool first, const FcgVectors &v) override
  {
    PetscFunctionBegin;
    const LogPhase logged(Phase::krylov);
    PetscCall(
        this->template with<1, 1>({v.w}, {v.d}, [&](auto in, auto out) { return fcg_direction(ex_, n_, first, s(), in[0], out[0]); }));
    PetscCall(log_flops(ex_, first ? 0 : 2.0 * static_cast<double>(n_)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode multiply(Preconditioner &preconditioner, const FcgVectors &v, bool as_set_up) override
  {
    return this->multiply_exactly(preconditioner, v.d, v.q, as_set_up);
  }

  PetscErrorCode advance(const FcgVectors &v) override
  {
    PetscFunctionBegin;
    const LogPhase logged(Phase::krylov);
    PetscCall(this->template with<2, 2>({v.d, v.q}, {v.x, v.r}, [&](auto in, auto out) {
      PetscFunctionBegin;
      PetscCall(fcg_curvature<Ex, double>(ex_, n_, in[0], in[1], out[1], work(), s()));
      PetscCall(this->sum(2, &s()->d_q, 4));
      PetscCall(fcg_step(ex_, n_, in[0], in[1], out[0], out[1], work(), s()));
      PetscCall(this->sum(1, &s()->r_r, 6));
      PetscFunctionReturn(PETSC_SUCCESS);
    }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  using StepsIn<Ex>::ex_;
  using StepsIn<Ex>::n_;
  using StepsIn<Ex>::s;
  using StepsIn<Ex>::work;
};

template <class Ex> class MixedSteps final : public StepsIn<Ex> {
public:
  bool mixed() const override { return true; }

  PetscErrorCode close() override
  {
    for (Array<float, Ex> *array : {&r_, &d_, &q_}) array->release();
    return StepsIn<Ex>::close();
  }

  PetscErrorCode take_residual(bool first, const FcgVectors &v, PetscReal norm) override
  {
    PetscFunctionBegin;
    const LogPhase logged(Phase::krylov);
    if (first) scale_ = norm > 0 && std::isfinite(norm) ? std::exp2(-std::ilogb(norm)) : 1;
    PetscCall(this->template with<0, 1>({}, {v.r}, [&](auto, auto out) { return fcg_take_residual(ex_, n_, scale_, out[0], r_.data()); }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  bool can_apply(Preconditioner &preconditioner) const override
  {
    const UserProduct<Ex> *of = product_in<Ex>(&preconditioner);
    return of && of->applies_in_single();
  }
  PetscErrorCode apply(Preconditioner &preconditioner, const FcgVectors &v) override
  {
    return this->template with<0, 1>({}, {v.w}, [&](auto, auto out) {
      return dynamic_cast<UserProduct<Ex> &>(preconditioner).apply_in_single(r_.data(), reinterpret_cast<float *>(out[0]));
    });
  }

  PetscErrorCode project(bool first, const FcgVectors &v) override
  {
    const float *r = r_.data(), *q = first ? nullptr : q_.data();

    PetscFunctionBegin;
    const LogPhase logged(Phase::krylov);
    PetscCall(with_w(v, [&](auto w) { return fcg_projections(ex_, n_, w, r, q, work(), s()); }));
    PetscCall(this->sum(2, &s()->w_r, first ? 2 : 4));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode direct(bool first, const FcgVectors &v) override
  {
    PetscFunctionBegin;
    const LogPhase logged(Phase::krylov);
    PetscCall(with_w(v, [&](auto w) { return fcg_direction(ex_, n_, first, s(), w, d_.data()); }));
    PetscCall(log_flops(ex_, first ? 0 : 2.0 * static_cast<double>(n_)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode multiply(Preconditioner &preconditioner, const FcgVectors &, bool /* as_set_up */) override
  {
    return dynamic_cast<UserProduct<Ex> &>(preconditioner).multiply(static_cast<const float *>(d_.data()), q_.data());
  }

  PetscErrorCode advance(const FcgVectors &v) override
  {
    const float *d = d_.data(), *q = q_.data(), *r = r_.data();

    PetscFunctionBegin;
    const LogPhase logged(Phase::krylov);
    PetscCall(fcg_curvature(ex_, n_, d, q, r, work(), s()));
    PetscCall(this->sum(2, &s()->d_q, 4));
    PetscCall(this->template with<0, 2>({}, {v.x, v.r}, [&](auto, auto out) {
      return fcg_step_in_mixed(ex_, n_, 1 / scale_, d, q, out[0], r_.data(), v.w_in_single ? nullptr : out[1], work(), s());
    }));
    PetscCall(this->sum(1, &s()->r_r, 6));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  // f(w), floats or doubles
  template <class F> PetscErrorCode with_w(const FcgVectors &v, F f)
  {
    return this->template with<1, 0>({v.w}, {},
                                     [&](auto in, auto) { return v.w_in_single ? f(reinterpret_cast<const float *>(in[0])) : f(in[0]); });
  }
  PetscErrorCode allocate() override
  {
    PetscFunctionBegin;
    PetscCall(StepsIn<Ex>::allocate());
    PetscCall(allocate_each(ex_, n_, r_, d_, q_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  using StepsIn<Ex>::ex_;
  using StepsIn<Ex>::n_;
  using StepsIn<Ex>::scale_;
  using StepsIn<Ex>::s;
  using StepsIn<Ex>::work;

  Array<float, Ex> r_, d_, q_; // scaled
};

// f(space) in the space of x, or, on a host, in that of a preconditioner for debugging.
template <class F> auto in_space_of(Vec x, Preconditioner *solver, F f)
{
#if defined(AMGKIT_HAVE_CUDA)
  if (on_cuda(x)) return f(Cuda{});
#else
  static_cast<void>(x);
#endif
  return product_in<Debug>(solver) ? f(Debug{}) : f(Host{});
}
} // namespace

bool fcg_can_mix(Vec x, Preconditioner *solver)
{
  return in_space_of(x, solver, [&](auto space) {
    using Ex = decltype(space);
    const UserProduct<Ex> *product = product_in<Ex>(solver);
    return product && product->in_single();
  });
}

const char *fcg_space(Vec x, Preconditioner *solver)
{
  return in_space_of(x, solver, [](auto space) { return decltype(space)::name; });
}

std::unique_ptr<FcgSteps> make_fcg_steps(Vec x, Preconditioner *solver, bool mixed)
{
  return in_space_of(x, solver, [&](auto space) -> std::unique_ptr<FcgSteps> {
    using Ex = decltype(space);
    if (mixed) return std::make_unique<MixedSteps<Ex>>();
    return std::make_unique<DoubleSteps<Ex>>();
  });
}
} // namespace amgkit
