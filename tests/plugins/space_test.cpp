// -pc_<type>_space gpu and -amgkit_gpu, for a matrix on the host.
#include "support/every_type.hpp"
#include "support/gallery.hpp"

namespace amgkit::test
{
namespace
{
class Space : public EveryType {
protected:
  void SetUp() override
  {
    EveryType::SetUp();
    OK(distribute(grid7(9, 8, 7), false, A.out()));
    OK(make_system(A, x.out(), b.out()));
  }
  std::string view_with(const std::string &options)
  {
    OwnedPC pc;
    EXPECT_EQ(static_cast<int>(make_pc(A, options, pc.out())), 0);
    EXPECT_EQ(static_cast<int>(PCApply(pc, b, x)), 0);
    return view_of(pc);
  }
  Refusal refusal_with(const std::string &options)
  {
    return refusal_of([&] {
      OwnedPC pc;
      PetscFunctionBegin;
      PetscCall(make_pc(A, options, pc.out()));
      PetscCall(PCSetUp(pc));
      PetscFunctionReturn(PETSC_SUCCESS);
    });
  }
  static bool has(const std::string &text, const std::string &part) { return text.find(part) != std::string::npos; }

  OwnedMat A;
  OwnedVec x, b;
};
INSTANTIATE_TEST_SUITE_P(Types, Space, all_types(), [](const auto &one) { return std::string(one.param); });
} // namespace

TEST_P(Space, GpuIsAnErrorThatSaysWhatIsMissing)
{
  if (have_cuda_space()) GTEST_SKIP() << "there is a GPU";
  for (const char *options : {"-pc_amgmatching_space gpu", "-amgkit_gpu", "-amgkit_gpu yes"}) {
    const Refusal refusal = refusal_with(options);
    EXPECT_EQ(refusal.code, PETSC_ERR_SUP) << options;
    EXPECT_TRUE(has(refusal.message, "No GPU to run on")) << refusal.message;
#if defined(AMGKIT_HAVE_CUDA)
    EXPECT_TRUE(has(refusal.message, "NVIDIA")) << refusal.message;
#else
    EXPECT_TRUE(has(refusal.message, "this build of AMGKit has no CUDA")) << refusal.message;
#endif
  }
}

TEST_P(Space, TryTakesTheCpuAndSaysSo)
{
  const std::string view = view_with("-amgkit_gpu try");
  if (have_cuda_space()) {
    EXPECT_TRUE(has(view, "runs in the cuda space")) << view;
  } else {
    EXPECT_TRUE(has(view, "runs in the host space")) << view;
    EXPECT_TRUE(has(view, "not on a GPU, as -amgkit_gpu try allows: ")) << view;
  }
}

TEST_P(Space, ATypesOwnOptionWins)
{
  for (const char *word : {"yes", "try", "no"}) {
    const std::string gpu = std::string(" -amgkit_gpu ") + word;
    EXPECT_TRUE(has(view_with("-pc_amgmatching_space debug" + gpu), "runs in the debug space"));
    EXPECT_TRUE(has(view_with("-pc_amgmatching_space host" + gpu), "runs in the host space"));
    if (std::string(word) == "no") {
      EXPECT_TRUE(has(view_with(gpu), "runs in the host space"));
      EXPECT_FALSE(has(view_with(gpu), "not on a GPU"));
    }
  }
}

TEST_P(Space, UnknownWordsAreRefused)
{
  const Refusal refusal = refusal_with("-amgkit_gpu maybe");
  EXPECT_EQ(refusal.code, PETSC_ERR_ARG_OUTOFRANGE);
  EXPECT_TRUE(has(refusal.message, "-amgkit_gpu must be one of yes, no, try, and not maybe")) << refusal.message;
}

// The GPU gets what the CPU gets, from a matrix on the host.
TEST_P(Space, GpuSolvesWithAHostMatrix)
{
  if (!have_cuda_space()) GTEST_SKIP() << "no GPU here";
  for (const char *krylov : {"amgfcg", "amgfgmres", "cg", "gmres"}) {
    OwnedKSP ksp;
    Solution solution;
    OK(make_ksp(A, std::string("-amgkit_gpu -ksp_type ") + krylov, ksp.out()));
    for (int step = 0; step < 3; step++) {
      OK(VecSet(x, 0));
      OK(solve(ksp, b, x, &solution));
      EXPECT_TRUE(solution.converged()) << krylov << step;
      EXPECT_LE(solution.residual, 1e-6) << krylov << step;
      EXPECT_TRUE(has(view_of(ksp), "runs in the cuda space"));
      OK(MatScale(A, 1.5));
    }
  }
}
} // namespace amgkit::test
