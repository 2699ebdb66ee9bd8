// Processes that hand their rows to one of them, or to two.
#include "support/convection.hpp"
#include "support/shared_rows.hpp"

#include <limits>

namespace amgkit::test
{
INSTANTIATE_TEST_SUITE_P(Types, Consolidated, all_types());

TEST_P(Consolidated, SolvesAsTheHeadsAlone)
{
  for (const char *space : {"host", "debug", "debug -amgkit_cuda_ipc no"}) {
    for (int heads = 1; heads <= most_heads(); heads++) {
      for (const char *krylov : {"amgfcg", "amgfgmres", "cg", "gmres"}) {
        for (const char *how : {"even", "first empty", "last has all"})
          compare(grid7(9, 8, 11, 1, 1, 0.3), 1, how, heads,
                  std::string("-ksp_type ") + krylov + " -ksp_norm_type unpreconditioned -ksp_pc_side " +
                      (std::string(krylov) == "gmres" || std::string(krylov) == "amgfgmres" ? "right" : "left") +
                      " -pc_amgmatching_space " + space + small,
                  solve_once);
      }
    }
  }
}

TEST_P(Consolidated, TakesNewValuesAndPatterns)
{
  for (int heads = 1; heads <= most_heads(); heads++) {
    for (const char *krylov : {"amgfcg", "cg -ksp_norm_type unpreconditioned", "amgfcg -pc_amgmatching_space debug",
                               "amgfcg -pc_amgmatching_space debug -amgkit_cuda_ipc no"})
      compare(grid7(9, 8, 11), 1, "even", heads, std::string("-ksp_type ") + krylov + small, [](Mat A, KSP ksp, std::vector<Left> *all) {
        solve_once(A, ksp, all);
        OK(MatScale(A, 3));
        OK(MatShift(A, 0.5));
        solve_once(A, ksp, all);
        OK(KSPSetReusePreconditioner(ksp, PETSC_TRUE));
        OK(MatShift(A, 0.1)); // the operator is new, the preconditioner is not
        solve_once(A, ksp, all);
        OK(KSPSetReusePreconditioner(ksp, PETSC_FALSE));
        solve_once(A, ksp, all);
        OK(add_antidiagonal(A));
        solve_once(A, ksp, all);
        OK(KSPReset(ksp));
        OK(KSPSetOperators(ksp, A, A));
        solve_once(A, ksp, all);
      });
  }
}

TEST_P(Consolidated, SolvesUnsymmetricSystems)
{
  for (int heads = 1; heads <= most_heads(); heads++) {
    for (const char *krylov : {"amgfgmres", "gmres -ksp_pc_side right"}) {
      for (const std::string &space : both_spaces)
        compare(convection_diffusion(2, 25, 0.5, Wind::constant), 1, "even", heads, std::string("-ksp_type ") + krylov + small + space,
                solve_once);
    }
  }
}

TEST_P(Consolidated, BeginsWithTheUsersGuess)
{
  for (const char *krylov : {"amgfcg", "amgfgmres"}) {
    for (const std::string &space : both_spaces)
      compare(grid7(9, 8, 11), 1, "even", 1, std::string("-ksp_type ") + krylov + small + space,
              [](Mat A, KSP ksp, std::vector<Left> *all) {
                OwnedVec b, x;
                KSPConvergedReason reason;
                OK(right_hand_side(A, b.out()));
                OK(VecDuplicate(b, x.out()));
                OK(VecSet(x, 3));
                OK(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
                for (int round = 0; round < 2; round++) { // the second one begins where the first has ended
                  PetscReal residual;
                  all->emplace_back();
                  OK(KSPSolve(ksp, b, x));
                  OK(KSPGetIterationNumber(ksp, &all->back().iterations));
                  OK(KSPGetConvergedReason(ksp, &reason));
                  all->back().reason = reason;
                  OK(true_residual(A, b, x, &residual));
                  EXPECT_LE(residual, 2e-5);
                }
                EXPECT_LT(all->back().iterations, all->front().iterations);
              });
  }
}

TEST_P(Consolidated, AppliesTheTranspose)
{
  if (size_of_world() == 1) GTEST_SKIP();
  for (const std::string &space : both_spaces) {
    OwnedMat A;
    OwnedPC pc;
    OwnedVec x, y, Bx, Bty;
    PetscScalar one, other;
    OK(rows_on(PETSC_COMM_WORLD, convection_diffusion(2, 20, 0.5, Wind::constant), PETSC_DECIDE, 1, A.out()));
    OK(make_pc(A, small + consolidate(1, space) + space, pc.out()));
    OK(PCSetUp(pc));
    OK(right_hand_side(A, x.out()));
    for (OwnedVec *v : {&y, &Bx, &Bty}) OK(VecDuplicate(x, v->out()));
    OK(VecSetRandom(y, nullptr));
    OK(PCApply(pc, x, Bx));
    OK(PCApplyTranspose(pc, y, Bty));
    OK(VecDot(Bx, y, &one));
    OK(VecDot(Bty, x, &other));
    EXPECT_NEAR(one, other,
                (space == both_spaces[0] ? 1e-10 : 1e-5) * std::abs(one)); // the debug space's matrices may be in single precision
  }
}

// The user's monitors and tests run on all ranks, and may ask for the solution.
TEST_P(Consolidated, AsksTheUsersMonitorsAndTests)
{
  static int monitored, tested;
  for (const std::string krylov : {"amgfcg", "amgfgmres", "amgfcg -pc_amgmatching_space debug"}) {
    compare(grid7(9, 8, 11), 1, "even", 1, "-ksp_type " + krylov + small, [](Mat A, KSP ksp, std::vector<Left> *all) {
      monitored = tested = 0;
      OK(KSPMonitorSet(
          ksp,
          [](KSP of, PetscInt, PetscReal norm, void *) -> PetscErrorCode {
            Vec r;
            PetscReal truly;
            PetscFunctionBegin;
            PetscCall(KSPBuildResidual(of, nullptr, nullptr, &r));
            PetscCall(VecNorm(r, NORM_2, &truly));
            EXPECT_NEAR(truly, norm, 1e-6 + 1e-6 * norm);
            PetscCall(VecDestroy(&r));
            monitored++;
            PetscFunctionReturn(PETSC_SUCCESS);
          },
          nullptr, nullptr));
      solve_once(A, ksp, all);
      EXPECT_EQ(monitored, all->back().iterations + 1);
      OK(KSPSetConvergenceTest(
          ksp,
          [](KSP, PetscInt its, PetscReal, KSPConvergedReason *reason, void *) -> PetscErrorCode {
            tested++;
            *reason = its == 5 ? KSP_CONVERGED_ITS : KSP_CONVERGED_ITERATING;
            return PETSC_SUCCESS;
          },
          nullptr, nullptr));
      solve_once(A, ksp, all);
      EXPECT_EQ(all->back().iterations, 5);
      EXPECT_GE(tested, 6);
      OK(KSPMonitorCancel(ksp));
      solve_once(A, ksp, all);
      EXPECT_EQ(all->back().iterations, 5);
    });
  }
}

// A monitor that applies the preconditioner, and solves with it, does not disturb the solve that it watches.
TEST_P(Consolidated, OtherSolvesMayRunInAMonitor)
{
  struct Others {
    KSP ksp;
    Vec b, x, y;
  };
  for (const std::string krylov : {"amgfcg", "amgfgmres", "amgfcg -pc_amgmatching_space debug"}) {
    compare(grid7(9, 8, 11), 1, "even", 1, "-ksp_type " + krylov + small, [&](Mat A, KSP ksp, std::vector<Left> *all) {
      OwnedKSP other;
      OwnedVec b, x, y;
      PC pc;
      OK(right_hand_side(A, b.out()));
      OK(VecScale(b, 3));
      OK(VecDuplicate(b, x.out()));
      OK(VecDuplicate(b, y.out()));
      OK(KSPGetPC(ksp, &pc));
      OK(KSPCreate(PetscObjectComm(reinterpret_cast<PetscObject>(A)), other.out()));
      OK(KSPSetType(other, krylov.substr(0, krylov.find(' ')).c_str()));
      OK(KSPSetPC(other, pc));
      Others others = {other, b, x, y};
      OK(KSPMonitorSet(
          ksp,
          [](KSP of, PetscInt its, PetscReal, void *context) -> PetscErrorCode {
            const Others &with = *static_cast<Others *>(context);
            PC inside;
            KSPConvergedReason reason;
            PetscFunctionBegin;
            if (its != 2) PetscFunctionReturn(PETSC_SUCCESS);
            PetscCall(KSPGetPC(of, &inside));
            PetscCall(PCApply(inside, with.b, with.y));
            PetscCall(KSPSolve(with.ksp, with.b, with.x));
            PetscCall(KSPGetConvergedReason(with.ksp, &reason));
            EXPECT_GT(reason, 0);
            PetscFunctionReturn(PETSC_SUCCESS);
          },
          &others, nullptr));
      solve_once(A, ksp, all);
      OK(KSPMonitorCancel(ksp));
      OwnedVec r;
      PetscReal residual;
      OK(true_residual(A, b, x, &residual));
      EXPECT_LE(residual, 2e-5);
    });
  }
}

TEST_P(Consolidated, TheViewSaysWhoSharesWhat)
{
  OwnedMat A;
  OwnedVec b;
  OwnedKSP ksp;
  Left left;
  OK(rows_on(PETSC_COMM_WORLD, grid7(9, 8, 11), PETSC_DECIDE, 1, A.out()));
  OK(right_hand_side(A, b.out()));
  OK(make_ksp(A, "-ksp_type amgfcg -pc_amgmatching_space debug" + small + consolidate(1, "_space debug"), ksp.out()));
  run(ksp, b, &left);
  const std::string view = view_of(ksp);
  if (size_of_world() == 1) {
    EXPECT_EQ(view.find("processes"), std::string::npos) << view;
    return;
  }
  EXPECT_NE(view.find(std::to_string(size_of_world()) + " processes: 1 of them has the rows of all, as the matrix is copied there"),
            std::string::npos)
      << view;
  EXPECT_NE(view.find("consolidate=copied"), std::string::npos) << view;
  EXPECT_NE(view.find("runs in the debug space"), std::string::npos) << view;
  EXPECT_NE(view.find("the last solve was in"), std::string::npos) << view;
  EXPECT_NE(view.find(std::string(type()) == PCILU2LEVEL ? "memory:" : "grid complexity"), std::string::npos) << view;
}

// With GPUs whose processes are in another order than the ranks, the head of a group is not its first process.
TEST_P(Consolidated, AHeadNeedNotBeTheFirstOfItsGroup)
{
  if (size_of_world() != 3) GTEST_SKIP();
  OwnedMat A;
  OwnedPC pc;
  OwnedVec b, x, y;
  std::string why_not;
  PetscReal difference, size;
  auto groups = std::make_shared<NodeGroups>();
  OK(rows_on(PETSC_COMM_WORLD, grid7(9, 8, 11), PETSC_DECIDE, 1, A.out()));
  OK(make_pc(A, small + consolidate(2), pc.out()));
  OK(right_hand_side(A, b.out()));
  OK(VecDuplicate(b, x.out()));
  OK(VecDuplicate(b, y.out()));
  OK(PCApply(pc, b, x));
  OK(groups->create(PETSC_COMM_WORLD, 0, rank_of_world() == 1 ? "second" : "first", &why_not));
  EXPECT_EQ(groups->is_head(), rank_of_world() > 0);
  EXPECT_EQ(groups->count(), 2);
  ConsolidatedSolver solver(pc, std::make_shared<SystemOfHeads>(std::move(groups), SpaceKind::host));
  OK(solver.setup(A));
  OK(solver.apply(b, y));
  const std::string view = printed([&](PetscViewer viewer) { return solver.view(viewer); });
  EXPECT_NE(view.find("3 processes share 2 GPUs: 2 of them have the rows of all"), std::string::npos) << view;
  EXPECT_NE(view.find(std::string(type()) == PCILU2LEVEL ? "memory:" : "grid complexity"), std::string::npos) << view;
  OK(solver.close());
  OK(VecNorm(x, NORM_2, &size));
  OK(VecAXPY(y, -1, x));
  OK(VecNorm(y, NORM_2, &difference));
  EXPECT_LE(difference, 1e-12 * size);
}

// Errors are the same on every rank, and the PC is of use afterwards.
TEST_P(Consolidated, ErrorsReachEveryRank)
{
  for (const std::string &space : both_spaces) {
    OwnedMat A, B;
    OwnedKSP ksp;
    OwnedVec b;
    PC pc;
    HostCsr matrix = grid7(9, 8, 7);
    matrix.val[static_cast<std::size_t>(matrix.ptr[300])] = std::numeric_limits<double>::quiet_NaN();
    keep_no_watch_on_memory();
    OK(rows_on(PETSC_COMM_WORLD, matrix, PETSC_DECIDE, 1, A.out()));
    OK(make_ksp(A, "-ksp_type amgfcg" + small + consolidate(1, space) + space, ksp.out()));
    OK(KSPGetPC(ksp, &pc));
    Refusal refusal = refusal_of([&] { return PCSetUp(pc); });
    const bool fault = std::string(type()) == PCILU2LEVEL; // which makes an outcome of it
    if (!fault) {
      EXPECT_EQ(static_cast<int>(refusal.code), PETSC_ERR_FP);
      EXPECT_NE(refusal.message.find("Row 300"), std::string::npos) << refusal.message;
    }
    OK(right_hand_side(A, b.out()));
    if (fault) {
      Left left;
      run(ksp, b, &left);
      EXPECT_EQ(left.reason, KSP_DIVERGED_PC_FAILED);
    }
    OK(rows_on(PETSC_COMM_WORLD, grid7(9, 8, 7), PETSC_DECIDE, 1, B.out()));
    OK(KSPSetOperators(ksp, B, B));
    Left left;
    run(ksp, b, &left);
    EXPECT_GT(left.reason, 0);
  }
}

// A process that cannot give or take its entries keeps nobody waiting: here one with a vector that has no type yet, and so no array.
TEST_P(Consolidated, WhoCannotTakePartKeepsNobodyWaiting)
{
  const bool culprit = rank_of_world() == size_of_world() - 1;
  if (size_of_world() == 1) GTEST_SKIP();
  for (const std::string &space : both_spaces) {
    OwnedMat A;
    OwnedPC pc;
    OwnedVec x, y, none;
    keep_no_watch_on_memory();
    OK(rows_on(PETSC_COMM_WORLD, grid7(9, 8, 7), PETSC_DECIDE, 1, A.out()));
    OK(right_hand_side(A, x.out()));
    OK(VecDuplicate(x, y.out()));
    OK(VecCreate(PETSC_COMM_SELF, none.out()));
    OK(make_pc(A, small + consolidate(most_heads(), space) + space, pc.out()));
    OK(PCSetUp(pc));
    ConsolidatedSolver *solver = consolidated_solver_of(pc);
    ASSERT_NE(solver, nullptr);
    for (const bool gives : {true, false}) {
      const Vec from = culprit && gives ? none : x, to = culprit && !gives ? none : y;
      EXPECT_NE(static_cast<int>(refusal_of([&] { return solver->apply(from, to); }).code), 0) << gives;
    }
    OK(solver->apply(x, y));
  }
}

TEST_P(Consolidated, AnErrorOfAMonitorEndsTheSolveOnEveryRank)
{
  for (int culprit = 0; culprit < 2 * size_of_world(); culprit++) { // in one space, then in the other
    OwnedMat A;
    OwnedKSP ksp;
    OwnedVec b, x;
    keep_no_watch_on_memory();
    OK(rows_on(PETSC_COMM_WORLD, grid7(9, 8, 7), PETSC_DECIDE, 1, A.out()));
    const std::string space = both_spaces[static_cast<std::size_t>(culprit / size_of_world())];
    OK(make_ksp(A, "-ksp_type amgfcg" + small + consolidate(1, space) + space, ksp.out()));
    OK(right_hand_side(A, b.out()));
    OK(VecDuplicate(b, x.out()));
    if (size_of_world() == 1) return;
    OK(KSPMonitorSet(
        ksp,
        [](KSP, PetscInt its, PetscReal, void *who) -> PetscErrorCode {
          PetscCheck(its < 2 || rank_of_world() != *static_cast<int *>(who) % size_of_world(), PETSC_COMM_SELF, PETSC_ERR_USER, "enough");
          return PETSC_SUCCESS;
        },
        &culprit, nullptr));
    const Refusal refusal = refusal_of([&] { return KSPSolve(ksp, b, x); });
    EXPECT_EQ(static_cast<int>(refusal.code), PETSC_ERR_USER) << culprit;
    EXPECT_NE(refusal.message.find("enough"), std::string::npos) << refusal.message;
    OK(KSPMonitorCancel(ksp));
  }
}

TEST_P(Consolidated, WhereTheUsersObjectsNeedAllProcessesItSaysSo)
{
  if (std::string(type()) == PCILU2LEVEL || size_of_world() == 1) GTEST_SKIP();
  OwnedMat A;
  OwnedPC pc;
  PetscInt levels;
  Mat *mats;
  OK(rows_on(PETSC_COMM_WORLD, grid7(9, 8, 7), PETSC_DECIDE, 1, A.out()));
  OK(make_pc(A, small + consolidate(1) + " -pc_amgmatching_export_mg", pc.out()));
  OK(PCSetUp(pc));
  EXPECT_NE(view_of(pc).find("not consolidated: "), std::string::npos);
  OK(make_pc(A, small + consolidate(1), pc.out()));
  OK(PCSetUp(pc));
  EXPECT_EQ(static_cast<int>(quietly([&] { return PCGetCoarseOperators(pc, &levels, &mats); })), PETSC_ERR_SUP);
  OK(make_pc(A, small, pc.out())); // auto, on a CPU
  OK(PCSetUp(pc));
  EXPECT_EQ(consolidated_solver_of(pc), nullptr);
}

// Every communicator has groups of its own, and a PC finds those that another one has made.
TEST_P(Consolidated, SystemsOfTwoCommunicatorsDoNotMeet)
{
  if (size_of_world() < 4) GTEST_SKIP();
  MPI_Comm comm;
  MPI_Comm_split(PETSC_COMM_WORLD, rank_of_world() % 2, rank_of_world(), &comm);
  for (const std::string &space : both_spaces) {
    OwnedMat A, B;
    OwnedKSP of_all, of_some, again;
    OwnedVec b, c;
    Left left;
    OK(rows_on(PETSC_COMM_WORLD, grid7(9, 8, 11), PETSC_DECIDE, 1, A.out()));
    OK(rows_on(comm, grid7(7, 8, 9 + rank_of_world() % 2), PETSC_DECIDE, 1, B.out()));
    OK(make_ksp(A, "-ksp_type amgfcg" + small + consolidate(1, space) + space, of_all.out()));
    OK(make_ksp(B, "-ksp_type amgfcg" + small + consolidate(1, space) + space, of_some.out()));
    OK(make_ksp(B, "-ksp_type amgfcg" + small + consolidate(1, space) + space, again.out()));
    OK(right_hand_side(A, b.out()));
    OK(right_hand_side(B, c.out()));
    std::vector<PetscInt> iterations;
    for (KSP ksp : {static_cast<KSP>(of_some), static_cast<KSP>(of_all), static_cast<KSP>(again), static_cast<KSP>(of_some)}) {
      run(ksp, ksp == static_cast<KSP>(of_all) ? b : c, &left);
      EXPECT_GT(left.reason, 0);
      EXPECT_TRUE(consolidated(ksp));
      iterations.push_back(left.iterations);
    }
    EXPECT_EQ(iterations[0], iterations[2]);
    EXPECT_EQ(iterations[0], iterations[3]);
  }
  MPI_Comm_free(&comm);
}
} // namespace amgkit::test
