// Where processes hand their rows to others though nobody has asked for that: where the matrix is copied to a GPU that they share. The
// debug space stands for the GPU.
#include "support/shared_rows.hpp"

#include <regex>

namespace amgkit::test
{
namespace
{
std::string by_default(int heads) { return " -pc_amgmatching_space debug -pc_amgmatching_consolidate_to " + std::to_string(heads) + small; }

class ConsolidatedByDefault : public Consolidated {
protected:
  void SetUp() override
  {
    Consolidated::SetUp();
    OK(rows_on(PETSC_COMM_WORLD, grid7(9, 8, 11), PETSC_DECIDE, 1, A.out()));
    OK(make_system(A, x.out(), b.out()));
  }
  static bool multigrid() { return std::string(type()) != PCILU2LEVEL; }
  static PetscErrorCode destroy_all(PetscInt levels, Mat *mats)
  {
    PetscFunctionBegin;
    for (PetscInt l = 0; l + 1 < levels; l++) PetscCall(MatDestroy(&mats[l]));
    PetscCall(PetscFree(mats));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  static void expect_solves(KSP ksp, Mat A, const std::string &name)
  {
    OwnedVec x, b;
    Solution solution;
    OK(make_system(A, x.out(), b.out()));
    OK(solve(ksp, b, x, &solution));
    EXPECT_TRUE(solution.converged()) << name << ": " << KSPConvergedReasons[solution.reason];
    EXPECT_LE(solution.residual, 1e-6) << name;
  }

  OwnedMat A;
  OwnedVec x, b;
};
INSTANTIATE_TEST_SUITE_P(Types, ConsolidatedByDefault, all_types());
} // namespace

TEST(ConsolidationRule, AsksWhereTheMatrixIsCopied)
{
  using K = ConsolidateKind;
  const auto asked = [](K kind, SpaceKind space, bool on_gpu, PetscInt processes = 0) {
    return Consolidation{kind, processes}.asked(space, on_gpu);
  };
  EXPECT_EQ(Consolidation().kind, K::copied);
  EXPECT_TRUE(asked(K::copied, SpaceKind::gpu, false));
  EXPECT_FALSE(asked(K::copied, SpaceKind::gpu, true)); // PETSc's own
  EXPECT_TRUE(asked(K::automatic, SpaceKind::gpu, true));
  for (const K kind : {K::copied, K::automatic}) {
    EXPECT_FALSE(asked(kind, SpaceKind::host, false, 1));
    EXPECT_FALSE(asked(kind, SpaceKind::host, true, 1)); // copied, but not to a GPU
    EXPECT_FALSE(asked(kind, SpaceKind::debug, false));
    EXPECT_TRUE(asked(kind, SpaceKind::debug, false, 1));
  }
  for (const SpaceKind space : {SpaceKind::host, SpaceKind::gpu, SpaceKind::debug}) {
    for (const bool on_gpu : {false, true}) {
      EXPECT_FALSE(asked(K::no, space, on_gpu, 1));
      EXPECT_TRUE(asked(K::yes, space, on_gpu));
    }
  }
}

// And says so. On one GPU, whose processes ask for no more than that it is used, one works for all.
TEST_P(ConsolidatedByDefault, IsWhereTheMatrixIsCopied)
{
  const bool several = size_of_world() > 1;
  for (const bool on_gpu : {false, true}) {
    if (on_gpu && !have_cuda_space()) continue;
    OwnedKSP ksp;
    OK(make_ksp(A, "-ksp_type amgfcg" + (on_gpu ? " -amgkit_gpu" + small : by_default(1)), ksp.out()));
    expect_solves(ksp, A, "copied");
    const std::string view = view_of(ksp);
    EXPECT_NE(view.find("consolidate=copied"), std::string::npos) << view;
    if (on_gpu && view.find("not consolidated: each process has a GPU of its own") < view.size()) continue;
    EXPECT_EQ(consolidated(ksp), several);
    EXPECT_EQ(view.find("the rows of all, as the matrix is copied there") < view.size(), several) << view;
  }
  for (const char *options :
       {" -pc_amgmatching_space debug", " -pc_amgmatching_space host -amgkit_gpu", " -pc_amgmatching_consolidate_to 1"}) {
    OwnedKSP ksp;
    OK(make_ksp(A, options + small, ksp.out()));
    expect_solves(ksp, A, options);
    EXPECT_FALSE(consolidated(ksp)) << options;
    EXPECT_EQ(view_of(ksp).find("consolidated:"), std::string::npos) << options;
  }
}

TEST_P(ConsolidatedByDefault, IsNotWhereTheOptionSaysNo)
{
  for (const std::string space : {"debug", "gpu"}) {
    if (space == "gpu" && !have_cuda_space()) continue;
    OwnedKSP ksp;
    OK(make_ksp(A, small + " -pc_amgmatching_space " + space + " -pc_amgmatching_consolidate_to 1 -pc_amgmatching_consolidate no",
                ksp.out()));
    expect_solves(ksp, A, space);
    EXPECT_FALSE(consolidated(ksp));
    EXPECT_EQ(view_of(ksp).find("consolidated:"), std::string::npos);
  }
}

TEST_P(ConsolidatedByDefault, IsNotWithoutAGpu)
{
  if (have_cuda_space()) GTEST_SKIP() << "there is a GPU";
  for (const char *kind : {"copied", "auto"}) {
    OwnedKSP ksp;
    OK(make_ksp(A, std::string("-amgkit_gpu try -pc_amgmatching_consolidate ") + kind + small, ksp.out()));
    expect_solves(ksp, A, kind);
    EXPECT_FALSE(consolidated(ksp));
    EXPECT_NE(view_of(ksp).find("not on a GPU, as -amgkit_gpu try allows: "), std::string::npos);
  }
}

// Whoever asks for the levels has them on all processes, and the PC applies those; but where fewer processes were asked for, too, it is an
// error that names the option.
TEST_P(ConsolidatedByDefault, EndsWhereTheLevelsAreAskedFor)
{
  if (!multigrid() || size_of_world() == 1) GTEST_SKIP();
  for (const bool interpolations : {true, false}) {
    OwnedKSP ksp;
    PC pc;
    PetscInt levels, first, last, first_of_A, last_of_A;
    Mat *mats;
    const auto get = interpolations ? PCGetInterpolations : PCGetCoarseOperators;
    OK(make_ksp(A, "-ksp_type amgfcg" + by_default(1), ksp.out()));
    expect_solves(ksp, A, "before");
    EXPECT_TRUE(consolidated(ksp));
    OK(KSPGetPC(ksp, &pc));
    OK(get(pc, &levels, &mats));
    ASSERT_GE(levels, 2);
    OK(MatGetOwnershipRange(mats[levels - 2], &first, &last));
    OK(MatGetOwnershipRange(A, &first_of_A, &last_of_A));
    if (interpolations) {
      EXPECT_EQ(first, first_of_A);
      EXPECT_EQ(last, last_of_A);
    }
    OK(destroy_all(levels, mats));
    for (const char *when : {"after", "with new values"}) {
      EXPECT_FALSE(consolidated(ksp)) << when;
      const std::string view = view_of(ksp);
      EXPECT_NE(view.find("not consolidated: PCGetInterpolations() or PCGetCoarseOperators() has asked"), std::string::npos) << view;
      OK(MatScale(A, 2));
      expect_solves(ksp, A, when);
    }
    for (const char *kind : {"auto", "yes"}) {
      OK(make_ksp(A, by_default(1) + " -pc_amgmatching_consolidate " + kind, ksp.out()));
      OK(KSPSetUp(ksp));
      OK(KSPGetPC(ksp, &pc));
      const Refusal refusal = refusal_of([&] { return get(pc, &levels, &mats); });
      EXPECT_EQ(static_cast<int>(refusal.code), PETSC_ERR_SUP);
      EXPECT_NE(refusal.message.find(renamed("-pc_amgmatching_consolidate no")), std::string::npos) << refusal.message;
      EXPECT_TRUE(consolidated(ksp));
    }
  }
}

// In the midst of a solve of the heads, whose preconditioner goes: the solve ends with an error on all ranks, and the next one is a new
// one.
TEST_P(ConsolidatedByDefault, LevelsThatAMonitorAsksForEndTheSolve)
{
  if (!multigrid() || size_of_world() == 1) GTEST_SKIP();
  OwnedKSP ksp;
  keep_no_watch_on_memory();
  OK(make_ksp(A, "-ksp_type amgfcg" + by_default(most_heads()), ksp.out()));
  OK(KSPMonitorSet(
      ksp,
      [](KSP of, PetscInt its, PetscReal, void *) -> PetscErrorCode {
        PC pc;
        PetscInt levels;
        Mat *mats;
        PetscFunctionBegin;
        if (its != 2) PetscFunctionReturn(PETSC_SUCCESS);
        PetscCall(KSPGetPC(of, &pc));
        PetscCall(PCGetInterpolations(pc, &levels, &mats));
        PetscCall(destroy_all(levels, mats));
        PetscFunctionReturn(PETSC_SUCCESS);
      },
      nullptr, nullptr));
  EXPECT_NE(static_cast<int>(quietly([&] { return KSPSolve(ksp, b, x); })), 0);
  OK(KSPMonitorCancel(ksp));
  expect_solves(ksp, A, "the next");
}

// PETSc's multigrid of another PC's levels.
TEST_P(ConsolidatedByDefault, AnHMGTakesItsLevels)
{
  if (!multigrid()) GTEST_SKIP();
  OwnedKSP ksp;
  const std::string inner = std::regex_replace(by_default(1), std::regex("-pc_"), "-hmg_inner_pc_");
  OK(replace_options(renamed("-pc_type hmg -ksp_type gmres -hmg_inner_pc_type amgmatching" + inner)));
  OK(make_ksp_of_present_options(A, ksp.out(), PCHMG));
  expect_solves(ksp, A, "hmg");
}

// One process has a preconditioner of its own, or some have one together, while the others do something else.
TEST_P(ConsolidatedByDefault, WhoTakesNoPartIsNotWaitedFor)
{
  const int rank = rank_of_world(), size = size_of_world();
  MPI_Comm some;
  MPI_Comm_split(PETSC_COMM_WORLD, rank < (size + 1) / 2 ? 0 : MPI_UNDEFINED, rank, &some);
  OK(replace_options(renamed("-ksp_type amgfcg" + by_default(1))));
  const auto solve_on = [](MPI_Comm comm, bool shared) {
    OwnedMat part;
    OwnedKSP ksp;
    OK(rows_on(comm, grid7(7, 6, 5), PETSC_DECIDE, 1, part.out()));
    OK(make_ksp_of_present_options(part, ksp.out(), type()));
    expect_solves(ksp, part, "of some");
    EXPECT_EQ(consolidated(ksp), shared);
  };
  if (rank == size - 1) solve_on(PETSC_COMM_SELF, false);
  if (some != MPI_COMM_NULL) solve_on(some, size > 2);
  solve_on(PETSC_COMM_WORLD, size > 1);
  if (some != MPI_COMM_NULL) MPI_Comm_free(&some);
}

// One solve for each column
TEST_P(ConsolidatedByDefault, SolvesForSeveralRightHandSides)
{
  for (const char *krylov : {"amgfcg", "gmres"}) {
    OwnedKSP ksp;
    OwnedMat B, X;
    OwnedVec of_B, of_X;
    PetscInt m;
    OK(MatGetLocalSize(A, &m, nullptr));
    for (OwnedMat *M : {&B, &X}) OK(MatCreateDense(PETSC_COMM_WORLD, m, PETSC_DECIDE, PETSC_DETERMINE, 3, nullptr, M->out()));
    OK(MatSetRandom(B, nullptr));
    OK(MatZeroEntries(X));
    for (Mat M : {static_cast<Mat>(B), static_cast<Mat>(X)}) {
      OK(MatAssemblyBegin(M, MAT_FINAL_ASSEMBLY));
      OK(MatAssemblyEnd(M, MAT_FINAL_ASSEMBLY));
    }
    OK(make_ksp(A, std::string("-ksp_type ") + krylov + by_default(1), ksp.out()));
    OK(KSPMatSolve(ksp, B, X));
    OK(VecDuplicate(x, of_B.out()));
    OK(VecDuplicate(x, of_X.out()));
    for (PetscInt j = 0; j < 3; j++) {
      PetscReal residual;
      OK(MatGetColumnVector(B, of_B, j));
      OK(MatGetColumnVector(X, of_X, j));
      OK(true_residual(A, of_B, of_X, &residual));
      EXPECT_LE(residual, 1e-6) << krylov << j;
    }
    EXPECT_EQ(consolidated(ksp), size_of_world() > 1);
  }
}

// Boundary conditions that come between solves, with the pattern kept and without
TEST_P(ConsolidatedByDefault, FollowsRowsThatBecomeTheIdentitys)
{
  for (const PetscBool keep : {PETSC_TRUE, PETSC_FALSE}) {
    compare(grid7(9, 8, 11), 1, "even", most_heads(), "-ksp_type amgfgmres -pc_amgmatching_space debug" + small,
            [=](Mat M, KSP ksp, std::vector<Left> *all) {
              PetscInt first, last;
              solve_once(M, ksp, all);
              OK(MatGetOwnershipRange(M, &first, &last));
              std::vector<PetscInt> rows;
              for (PetscInt i = first; i < last; i++)
                if (i % 9 == 0) rows.push_back(i);
              OK(MatSetOption(M, MAT_KEEP_NONZERO_PATTERN, keep));
              OK(MatZeroRows(M, static_cast<PetscInt>(rows.size()), rows.data(), 1, nullptr, nullptr));
              solve_once(M, ksp, all);
            });
  }
}
} // namespace amgkit::test
