// The same in a space, for the files that define a method's steps.
#pragma once
#include "base/given_memory.hpp"
#include "base/log.hpp"
#include "dist/attempt.hpp"
#include "dist/global_sum.hpp"
#include "krylov/steps.hpp"

#include <array>

namespace amgkit
{
// The product to take in a space, if there is one that is faster than MatMult().
template <class Ex> UserProduct<Ex> *product_in(Preconditioner *solver)
{
  auto *product = dynamic_cast<UserProduct<Ex> *>(solver);
  return product && product->pays() ? product : nullptr;
}

// f(space) for steps on x: see krylov_space().
template <class F> auto in_krylov_space(Vec x, Preconditioner *solver, F f)
{
#if defined(AMGKIT_HAVE_CUDA)
  if (on_cuda(x) || space_vector<Cuda>(x)) return f(Cuda{});
#endif
  if (space_vector<Debug>(x) || product_in<Debug>(solver)) return f(Debug{});
  return f(Host{});
}

// Interface: the steps of a method.
template <class Ex, class Interface> class StepsIn : public Interface {
public:
  PetscErrorCode create(Vec x) override
  {
    PetscInt n;

    PetscFunctionBegin;
    comm_ = PetscObjectComm(reinterpret_cast<PetscObject>(x));
    PetscCall(VecGetLocalSize(x, &n));
    n_ = n;
    PetscCall(open_on_all(comm_, ex_));
    PetscCall(need_memory_for(method_, comm_, [&] { return attempt(comm_, [&] { return allocate(); }); }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode give_memory(Vec x) override
  {
    PetscFunctionBegin;
#if defined(AMGKIT_HAVE_CUDA) && defined(PETSC_HAVE_CUDA)
    if constexpr (Ex::on_device) {
      constexpr std::size_t much = std::size_t{1} << 29; // half of what is no longer taken from the pool
      PetscInt n;
      PetscMPIInt size;
      void *memory;
      if (!on_cuda(x)) PetscFunctionReturn(PETSC_SUCCESS);
      PetscCallMPI(MPI_Comm_size(comm_, &size));
      PetscCall(VecGetLocalSize(x, &n));
      const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(PetscScalar);
      if (size > 1 || bytes == 0 || bytes >= much) PetscFunctionReturn(PETSC_SUCCESS);
      PetscCall(memory_to_give(ex_, bytes, &memory));
      PetscCall(memory_zero(ex_, memory, bytes)); // as PETSc's is
      PetscCall(VecCUDAReplaceArray(x, static_cast<const PetscScalar *>(memory)));
    }
#else
    static_cast<void>(x);
#endif
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode close() override
  {
    release();
    readers_ = {};
    writers_ = {};
    vectors_.clear();
    return amgkit::close(ex_);
  }
  const char *space() const override { return Ex::name; }
  PetscErrorCode make_vector(SpaceVector **vector) override
  {
    PetscFunctionBegin;
    vectors_.push_back(std::make_unique<SpaceVectorIn<Ex>>());
    PetscCall(vectors_.back()->create(ex_, n_));
    *vector = vectors_.back().get();
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode copy(Vec from, Vec to) override
  {
    return with<1, 1>({from}, {to},
                      [&](auto in, auto out) { return memory_copy(ex_, out[0], in[0], static_cast<std::size_t>(n_) * sizeof(double)); });
  }
  bool has_product(Preconditioner &preconditioner) const override { return product_in<Ex>(&preconditioner); }
  PetscErrorCode multiply_exactly(Preconditioner &preconditioner, Vec x, Vec y, bool as_set_up) override
  {
    return with<1, 1>({x}, {y}, [&](auto in, auto out) {
      return dynamic_cast<UserProduct<Ex> &>(preconditioner).multiply(in[0], out[0], as_set_up, nullptr);
    });
  }

protected:
  explicit StepsIn(const char *method) : method_(method) {}
  // The method's own memory
  virtual PetscErrorCode allocate() = 0;
  virtual void release() = 0;
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

private:
  const char *method_;
  std::array<VecReader<Ex>, 3> readers_;
  std::array<VecWriter<Ex>, 3> writers_;
  std::vector<std::unique_ptr<SpaceVectorIn<Ex>>> vectors_;
};
} // namespace amgkit
