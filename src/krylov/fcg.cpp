#include "krylov/fcg.hpp"

#include "krylov/steps_in.hpp"

#include <cmath>

namespace amgkit
{
namespace
{
// What both precisions share.
template <class Ex> class FcgStepsIn : public StepsIn<Ex, FcgSteps> {
public:
  FcgStepsIn() : StepsIn<Ex, FcgSteps>("amgfcg") {}

  PetscErrorCode norm(const FcgVectors &v, PetscReal *norm) override
  {
    PetscFunctionBegin;
    const LogPhase logged(Phase::krylov);
    PetscCall(this->template with<1, 0>({v.r}, {}, [&](auto in, auto) { return fcg_norm(ex_, n_, in[0], work(), s()); }));
    PetscCall(norm_of_residual(2, norm));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode remove_mean(Vec w) override
  {
    PetscInt rows;

    PetscFunctionBegin;
    const LogPhase logged(Phase::krylov);
    PetscCall(VecGetSize(w, &rows));
    PetscCall(this->template with<0, 1>({}, {w}, [&](auto, auto out) {
      PetscFunctionBegin;
      PetscCall(fcg_sum(ex_, n_, static_cast<const double *>(out[0]), work(), s()));
      PetscCall(this->sum(1, &s()->w_r, 2));
      PetscCall(fcg_remove_mean(ex_, n_, static_cast<double>(rows), s(), out[0]));
      PetscFunctionReturn(PETSC_SUCCESS);
    }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode residual(bool, const FcgVectors &v, Vec b, PetscReal *norm) override { return subtract(v, b, 1, nullptr, norm); }

  bool runs_alone() const override { return Ex::sliced_rows; }
  PetscErrorCode post_scalars() override { return post_to_host(ex_, s(), sizeof(FcgScalars)); }
  PetscErrorCode scalars(FcgScalars *out, PetscReal *norm) override
  {
    PetscFunctionBegin;
    PetscCall(take_posted(ex_, out, sizeof *out));
    *norm = std::sqrt(out->r_r) / scale_;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

protected:
  PetscErrorCode subtract(const FcgVectors &v, Vec b, double scale, float *single, PetscReal *norm)
  {
    PetscFunctionBegin;
    const LogPhase logged(Phase::krylov);
    PetscCall(this->template with<2, 1>({b, v.w}, {v.r}, [&](auto in, auto out) {
      return fcg_residual(ex_, n_, v.order, in[0], in[1], scale, out[0], single, work(), s());
    }));
    if (norm) PetscCall(norm_of_residual(3, norm));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  // What a product sums, for r of either precision.
  template <class V> ProductSums<2, V> curvature(const V *r) { return {false, r, nullptr, work(), &s()->d_q}; }
  double *work() { return work_.data(); }
  FcgScalars *s() { return scalars_.data(); }
  PetscErrorCode allocate() override
  {
    PetscFunctionBegin;
    PetscCall(work_.allocate(ex_, 2 * product_sum_parts_of(n_)));
    PetscCall(scalars_.allocate(ex_, 1));
    PetscCall(memory_zero(ex_, scalars_.data(), scalars_.bytes()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  void release() override
  {
    work_.release();
    scalars_.release();
  }
  using StepsIn<Ex, FcgSteps>::ex_;
  using StepsIn<Ex, FcgSteps>::n_;

  double scale_ = 1; // of the steps' r in terms of b - A x

private:
  // From this rank's s->r_r; waits
  PetscErrorCode norm_of_residual(double flops, PetscReal *norm)
  {
    FcgScalars out;

    PetscFunctionBegin;
    PetscCall(this->sum(1, &s()->r_r, flops));
    PetscCall(memory_to_host(ex_, &out, s(), sizeof out));
    *norm = std::sqrt(out.r_r);
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  Array<double, Ex> work_;
  Array<FcgScalars, Ex> scalars_;
};

template <class Ex> class DoubleSteps final : public FcgStepsIn<Ex> {
public:
  bool mixed() const override { return false; }

  PetscErrorCode project(bool first, const FcgVectors &v) override
  {
    PetscFunctionBegin;
    const LogPhase logged(Phase::krylov);
    if (first)
      PetscCall(this->template with<2, 0>({v.w, v.r}, {}, [&](auto in, auto) {
        return fcg_projections<Ex, double, double>(ex_, n_, nullptr, in[0], in[1], nullptr, work(), s());
      }));
    else
      PetscCall(this->template with<3, 0>(
          {v.w, v.r, v.q}, {}, [&](auto in, auto) { return fcg_projections(ex_, n_, nullptr, in[0], in[1], in[2], work(), s()); }));
    PetscCall(this->sum(2, &s()->w_r, first ? 2 : 4));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode direct(bool first, const FcgVectors &v) override
  {
    PetscFunctionBegin;
    const LogPhase logged(Phase::krylov);
    PetscCall(this->template with<1, 1>({v.w}, {v.d},
                                        [&](auto in, auto out) { return fcg_direction(ex_, n_, nullptr, first, s(), in[0], out[0]); }));
    PetscCall(log_flops(ex_, first ? 0 : 2.0 * static_cast<double>(n_)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode multiply(Preconditioner &preconditioner, const FcgVectors &v, bool as_set_up) override
  {
    return this->template with<2, 1>({v.d, v.r}, {v.q}, [&](auto in, auto out) {
      const auto sums = this->curvature(in[1]);
      return dynamic_cast<UserProduct<Ex> &>(preconditioner).multiply(in[0], out[0], as_set_up, &sums);
    });
  }

  PetscErrorCode advance(const FcgVectors &v, Preconditioner *multiplied_by) override
  {
    PetscFunctionBegin;
    const LogPhase logged(Phase::krylov);
    PetscCall(this->template with<2, 2>({v.d, v.q}, {v.x, v.r}, [&](auto in, auto out) {
      PetscFunctionBegin;
      if (!multiplied_by) PetscCall(sum_products(ex_, n_, in[0], in[1], this->curvature(static_cast<const double *>(out[1]))));
      PetscCall(this->sum(2, &s()->d_q, 4));
      PetscCall(fcg_step(ex_, n_, in[0], in[1], out[0], out[1], work(), s()));
      PetscCall(this->sum(1, &s()->r_r, 6));
      PetscFunctionReturn(PETSC_SUCCESS);
    }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  using FcgStepsIn<Ex>::ex_;
  using FcgStepsIn<Ex>::n_;
  using FcgStepsIn<Ex>::s;
  using FcgStepsIn<Ex>::work;
};

template <class Ex> class MixedSteps final : public FcgStepsIn<Ex> {
public:
  bool mixed() const override { return true; }

  PetscErrorCode residual(bool first, const FcgVectors &v, Vec b, PetscReal *norm) override
  {
    stepped_ = false;
    return this->subtract(v, b, scale_, first ? nullptr : r_.data(), norm);
  }

  PetscErrorCode take_residual(const FcgVectors &v, PetscReal norm) override
  {
    PetscFunctionBegin;
    const LogPhase logged(Phase::krylov);
    stepped_ = false;
    if (collects_) PetscCall(memory_zero(ex_, collected_.data(), collected_.bytes())); // a solve ended by an error
    collects_ = false;
    scale_ = norm > 0 && std::isfinite(norm) ? std::exp2(-std::ilogb(norm)) : 1;
    PetscCall(this->template with<0, 1>({}, {v.r},
                                        [&](auto, auto out) { return fcg_take_residual(ex_, n_, v.order, scale_, out[0], r_.data()); }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  const int *order(Preconditioner &preconditioner) const override
  {
    const UserProduct<Ex> *of = product_in<Ex>(&preconditioner);
    return of ? of->order() : nullptr;
  }
  bool reordered(Preconditioner &preconditioner) const override
  {
    const UserProduct<Ex> *of = product_in<Ex>(&preconditioner);
    return of && of->reordered();
  }
  bool can_apply(Preconditioner &preconditioner) const override
  {
    const UserProduct<Ex> *of = product_in<Ex>(&preconditioner);
    return of && of->applies_in_single();
  }
  PetscErrorCode apply(Preconditioner &preconditioner, const FcgVectors &v) override
  {
    const bool stepped = stepped_;
    stepped_ = false;
    return this->template with<0, 1>({}, {v.w}, [&](auto, auto out) {
      return dynamic_cast<UserProduct<Ex> &>(preconditioner).apply_in_single(r_.data(), reinterpret_cast<float *>(out[0]), stepped);
    });
  }

  PetscErrorCode project(bool first, const FcgVectors &v) override
  {
    const float *r = r_.data(), *q = first ? nullptr : q_.data();

    PetscFunctionBegin;
    const LogPhase logged(Phase::krylov);
    PetscCall(with_w(v, [&](auto w) { return fcg_projections(ex_, n_, order_of_w(v), w, r, q, work(), s()); }));
    PetscCall(this->sum(2, &s()->w_r, first ? 2 : 4));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode direct(bool first, const FcgVectors &v) override
  {
    PetscFunctionBegin;
    const LogPhase logged(Phase::krylov);
    PetscCall(with_w(v, [&](auto w) { return fcg_direction(ex_, n_, order_of_w(v), first, s(), w, d_.data()); }));
    PetscCall(log_flops(ex_, first ? 0 : 2.0 * static_cast<double>(n_)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode multiply(Preconditioner &preconditioner, const FcgVectors &, bool /* as_set_up */) override
  {
    const auto sums = this->curvature(static_cast<const float *>(r_.data()));
    return dynamic_cast<UserProduct<Ex> &>(preconditioner).multiply(d_.data(), q_.data(), &sums);
  }

  PetscErrorCode advance(const FcgVectors &v, Preconditioner *multiplied_by) override
  {
    auto &product = dynamic_cast<UserProduct<Ex> &>(*multiplied_by);
    const float *d = d_.data(), *q = q_.data();

    PetscFunctionBegin;
    const LogPhase logged(Phase::krylov);
    PetscCall(this->sum(2, &s()->d_q, 4));
    PetscCall(prepare_to_collect(v));
    PetscCall(this->template with<0, 3>({}, {v.x, v.r, v.w}, [&](auto, auto out) {
      const bool single = v.w_in_single;
      const int *order = collects_ ? nullptr : v.order;
      double *x = collects_ ? collected_.data() : out[0];
      const FirstStep<float> step = single ? product.first_step(reinterpret_cast<float *>(out[2])) : FirstStep<float>{};
      stepped_ = step.x != nullptr;
      return fcg_step_in_mixed(ex_, n_, order, 1 / scale_, d, q, x, r_.data(), single ? nullptr : out[1], step, work(), s());
    }));
    PetscCall(this->sum(1, &s()->r_r, 6));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode complete(const FcgVectors &v) override
  {
    PetscFunctionBegin;
    if (!collects_) PetscFunctionReturn(PETSC_SUCCESS);
    const LogPhase logged(Phase::krylov);
    PetscCall(this->template with<0, 1>({}, {v.x},
                                        [&](auto, auto out) { return fcg_add_in_order(ex_, n_, v.order, collected_.data(), out[0]); }));
    collects_ = false;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  // What the steps add to x is collected in their own order where it may be, without the memory added to x at once.
  PetscErrorCode prepare_to_collect(const FcgVectors &v)
  {
    PetscFunctionBegin;
    if (!v.order || !v.x_may_wait || !v.w_in_single) PetscFunctionReturn(PETSC_SUCCESS);
    if (collected_.size() == 0 && n_ > 0) {
      PetscCall(without_memory_go_on([&] { return collected_.allocate(ex_, n_); }));
      if (collected_.size() > 0) PetscCall(memory_zero(ex_, collected_.data(), collected_.bytes()));
    }
    collects_ = collected_.size() > 0;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  static const int *order_of_w(const FcgVectors &v) { return v.w_in_single ? nullptr : v.order; }
  // f(w), floats or doubles
  template <class F> PetscErrorCode with_w(const FcgVectors &v, F f)
  {
    return this->template with<1, 0>({v.w}, {},
                                     [&](auto in, auto) { return v.w_in_single ? f(reinterpret_cast<const float *>(in[0])) : f(in[0]); });
  }
  PetscErrorCode allocate() override
  {
    PetscFunctionBegin;
    PetscCall(FcgStepsIn<Ex>::allocate());
    PetscCall(allocate_each(ex_, n_, r_, d_, q_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  void release() override
  {
    FcgStepsIn<Ex>::release();
    for (Array<float, Ex> *array : {&r_, &d_, &q_}) array->release();
    collected_.release();
    collects_ = false;
  }
  using FcgStepsIn<Ex>::ex_;
  using FcgStepsIn<Ex>::n_;
  using FcgStepsIn<Ex>::scale_;
  using FcgStepsIn<Ex>::s;
  using FcgStepsIn<Ex>::work;

  Array<float, Ex> r_, d_, q_; // scaled
  Array<double, Ex> collected_;
  bool collects_ = false; // whether x lacks what is collected; nothing is when it does not
  bool stepped_ = false;  // whether the first step of the next application has been taken, of the present r
};
} // namespace

bool fcg_can_mix(Vec x, Preconditioner *solver, bool must_pay)
{
  return in_krylov_space(x, solver, [&](auto space) {
    using Ex = decltype(space);
    const UserProduct<Ex> *product = product_in<Ex>(solver);
    return product && product->in_single() && (!must_pay || product->floats_pay());
  });
}

std::unique_ptr<FcgSteps> make_fcg_steps(Vec x, Preconditioner *solver, bool mixed)
{
  return in_krylov_space(x, solver, [&](auto space) -> std::unique_ptr<FcgSteps> {
    using Ex = decltype(space);
    if (mixed) return std::make_unique<MixedSteps<Ex>>();
    return std::make_unique<DoubleSteps<Ex>>();
  });
}
} // namespace amgkit
