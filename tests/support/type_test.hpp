// What the tests of one multigrid type share: solves with the right-hand side of ones, and the levels of its hierarchy.
#pragma once
#include "support/gathered_matrix.hpp"

extern "C" {
#include "../share/amgkit/bench/model_problem.h"
}

namespace amgkit::test
{
constexpr System systems[] = {SYSTEM_7, SYSTEM_27, SYSTEM_ANISO, SYSTEM_JUMP};
inline const std::string cg = "-ksp_type cg -ksp_norm_type unpreconditioned ";

class TypeTest : public ::testing::Test {
protected:
  explicit TypeTest(const char *type) : type_(type) {}
  void SetUp() override { OK(AMGKitRegister()); }

  // It must converge, by the true residual too. The options are those of the type.
  void solve(Mat A, const std::string &options, Solution &solution, LevelSizes *sizes = nullptr)
  {
    OwnedVec x, b;
    OwnedKSP ksp;
    PC pc;
    OK(MatCreateVecs(A, x.out(), b.out()));
    OK(VecSet(b, 1));
    OK(make_ksp(A, options, ksp.out(), type_));
    OK(test::solve(ksp, b, x, &solution));
    EXPECT_TRUE(solution.converged()) << options << ": " << KSPConvergedReasons[solution.reason];
    EXPECT_LE(solution.residual, 1e-8 * 1.01) << options;
    OK(KSPGetPC(ksp, &pc));
    if (!sizes) return;
    OK(level_sizes(pc, sizes));
  }

private:
  const char *type_;
};

// Those of a hierarchy, the finest last
struct Levels {
  PetscInt count = 0;
  Mat *P = nullptr, *coarse = nullptr;

  Levels() = default;
  Levels(const Levels &) = delete;
  Levels &operator=(const Levels &) = delete;
  ~Levels() { free(); }
  void take(PC pc)
  {
    OK(PCGetInterpolations(pc, &count, &P));
    OK(PCGetCoarseOperators(pc, &count, &coarse));
  }

private:
  void free()
  {
    for (PetscInt l = 0; l + 1 < count; l++) {
      OK(MatDestroy(&P[l]));
      OK(MatDestroy(&coarse[l]));
    }
    OK(PetscFree(P));
    OK(PetscFree(coarse));
  }
};

// The same grids, three at least, on one rank and on all of them
inline void expect_same_levels(const Levels &alone, const Levels &together, const std::string &name)
{
  ASSERT_EQ(alone.count, together.count) << name;
  ASSERT_GE(alone.count, 3) << name;
  for (PetscInt l = alone.count - 2; l >= 0; l--) {
    const std::string level = std::to_string(l) + " of " + name;
    OwnedMat P, coarse;
    OK(gathered(together.P[l], P.out()));
    expect_same(alone.P[l], P, "P " + level);
    OK(gathered(together.coarse[l], coarse.out()));
    expect_same(alone.coarse[l], coarse, "coarse operator " + level);
  }
}
} // namespace amgkit::test
