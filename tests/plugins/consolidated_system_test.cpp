// What the user says of a system besides its rows, where processes hand these to others.
#include "support/elasticity.hpp"
#include "support/shared_rows.hpp"

#include <petscdm.h>

namespace amgkit::test
{
class ConsolidatedSystem : public Consolidated {
protected:
  static std::vector<double> own(Mat A, const std::vector<double> &of_all)
  {
    PetscInt first = 0, last = 0;
    EXPECT_EQ(static_cast<int>(MatGetOwnershipRange(A, &first, &last)), 0);
    return {of_all.begin() + first, of_all.begin() + last}; // dim rows a node, dim coordinates
  }
  static PetscErrorCode modes(Mat A, const Elasticity &problem, MatNullSpace *space)
  {
    OwnedVec where;
    PetscFunctionBegin;
    PetscCall(MatCreateVecs(A, where.out(), nullptr));
    PetscCall(VecSetBlockSize(where, problem.dim));
    PetscCall(set_entries(where, own(A, problem.coordinates)));
    PetscCall(MatNullSpaceCreateRigidBody(where, space));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

INSTANTIATE_TEST_SUITE_P(Types, ConsolidatedSystem, all_types());

TEST_P(ConsolidatedSystem, RigidBodyModesAndCoordinatesReachTheHeads)
{
  const Elasticity problem = elasticity(3, 6);
  for (int heads = 1; heads <= most_heads(); heads++) {
    for (const bool attach : {false, true}) {
      for (const char *how : {"even", "first empty"})
        compare(problem.A, 3, how, heads, "-ksp_type amgfcg" + small + both_spaces[attach], [&](Mat A, KSP ksp, std::vector<Left> *all) {
          OwnedNullSpace space;
          PC pc;
          std::vector<double> mine = own(A, problem.coordinates);
          OK(KSPGetPC(ksp, &pc));
          if (attach) {
            OK(modes(A, problem, space.out()));
            OK(MatSetNearNullSpace(A, space));
          } else if (std::string(type()) != PCILU2LEVEL) {
            OK(PCSetCoordinates(pc, 3, static_cast<PetscInt>(mine.size()) / 3, mine.data()));
          }
          solve_once(A, ksp, all);
        });
    }
  }
}

// As a discretisation attaches it to its field
TEST_P(ConsolidatedSystem, TheDiscretisationsModesReachTheHeads)
{
  const Elasticity problem = elasticity(2, 12);
  if (std::string(type()) != PCAMGSA) GTEST_SKIP();
  std::vector<PetscInt> iterations;
  for (const bool attach : {false, true})
    compare(problem.A, 2, "even", 1, "-ksp_type amgfcg" + small + both_spaces[0], [&](Mat A, KSP ksp, std::vector<Left> *all) {
      OwnedNullSpace space;
      DM dm;
      OK(DMCreate(PetscObjectComm(reinterpret_cast<PetscObject>(A)), &dm));
      OK(DMSetType(dm, DMSHELL));
      PetscObject field;
      OK(PetscContainerCreate(PetscObjectComm(reinterpret_cast<PetscObject>(A)), reinterpret_cast<PetscContainer *>(&field)));
      OK(modes(A, problem, space.out()));
      if (attach) {
        OK(PetscObjectCompose(field, "nearnullspace", static_cast<PetscObject>(static_cast<void *>(static_cast<MatNullSpace>(space)))));
      }
      OK(DMSetNumFields(dm, 1));
      OK(DMSetField(dm, 0, nullptr, field));
      OK(MatSetDM(A, dm));
      OK(PetscObjectDereference(field));
      OK(DMDestroy(&dm));
      solve_once(A, ksp, all);
      if (PetscObjectComm(reinterpret_cast<PetscObject>(A)) != MPI_COMM_NULL) iterations.push_back(all->back().iterations);
    });
  EXPECT_LT(iterations.back(), iterations.front());
}

// Modes that are attached after the first setup serve the next one, which keeps nothing.
TEST_P(ConsolidatedSystem, NewRigidBodyModesReachTheHeads)
{
  const Elasticity problem = elasticity(2, 12);
  if (std::string(type()) != PCAMGSA) GTEST_SKIP();
  for (const std::string &where : both_spaces) {
    compare(problem.A, 2, "even", 1, "-ksp_type amgfcg -pc_amgsa_reuse_interpolation 0" + small + where,
            [&](Mat A, KSP ksp, std::vector<Left> *all) {
              OwnedNullSpace space;
              solve_once(A, ksp, all);
              OK(modes(A, problem, space.out()));
              OK(MatSetNearNullSpace(A, space));
              OK(MatScale(A, 2));
              solve_once(A, ksp, all);
              EXPECT_LT(all->back().iterations, all->front().iterations);
            });
  }
}

// A pure Neumann problem
TEST_P(ConsolidatedSystem, TheNullSpaceReachesTheHeads)
{
  if (std::string(type()) == PCILU2LEVEL) GTEST_SKIP();
  std::map<std::pair<int, int>, double> edges;
  const int n = 20;
  for (int i = 0; i < n * n; i++) {
    if (i % n + 1 < n) edges[{i, i + 1}] = 1;
    if (i + n < n * n) edges[{i, i + n}] = 1;
  }
  for (int heads = 1; heads <= most_heads(); heads++) {
    for (const char *krylov : {"amgfcg", "amgfgmres", "cg -ksp_norm_type unpreconditioned", "amgfcg -pc_amgmatching_space debug"})
      compare(from_edges(n * n, edges, 0), 1, "even", heads, std::string("-ksp_type ") + krylov + small,
              [](Mat A, KSP ksp, std::vector<Left> *all) {
                OwnedNullSpace space;
                OK(MatNullSpaceCreate(PetscObjectComm(reinterpret_cast<PetscObject>(A)), PETSC_TRUE, 0, nullptr, space.out()));
                OK(MatSetNullSpace(A, space));
                OwnedVec b;
                OK(right_hand_side(A, b.out()));
                OK(MatNullSpaceRemove(space, b));
                all->emplace_back();
                run(ksp, b, &all->back());
                EXPECT_GT(all->back().reason, 0);
                OK(MatSetNullSpace(A, nullptr)); // later the null space goes, and comes again
                OK(MatShift(A, 0.1));
                solve_once(A, ksp, all);
                OK(MatShift(A, -0.1));
                OK(MatSetNullSpace(A, space));
                all->emplace_back();
                run(ksp, b, &all->back());
              });
  }
}

TEST_P(ConsolidatedSystem, HasTheLevelsOfTheHeads)
{
  if (std::string(type()) == PCILU2LEVEL) GTEST_SKIP();
  for (int heads = 1; heads <= most_heads(); heads++) {
    std::vector<std::string> levels;
    for (const bool together : {true, false}) {
      OwnedMat A;
      OwnedPC pc;
      const std::vector<PetscInt> share = shares(990, 1, "even");
      PetscInt rows = 0; // on the first ranks alone, which levels stay on as on the heads
      for (int r = 0; r < size_of_world(); r++) rows += head_of(r, std::min(heads, size_of_world())) == rank_of_world() ? share[r] : 0;
      MPI_Comm comm = PETSC_COMM_WORLD;
      if (!together) MPI_Comm_split(PETSC_COMM_WORLD, rank_of_world() < heads ? 0 : 1, rank_of_world(), &comm);
      if (together || rank_of_world() < heads) {
        OK(rows_on(comm, grid7(9, 10, 11), together ? share[rank_of_world()] : rows, 1, A.out()));
        OK(make_pc(A, small + (together ? consolidate(heads) : ""), pc.out()));
        OK(PCSetUp(pc));
        PetscViewer viewer;
        char text[8192] = "";
        const std::string file = ::testing::TempDir() + "amgkit_levels_" + std::to_string(rank_of_world() / (together ? 1000 : 1)) + "_" +
                                 std::to_string(size_of_world()) + type();
        OK(PetscViewerASCIIOpen(comm, file.c_str(), &viewer));
        OK(PCView(pc, viewer));
        OK(PetscViewerDestroy(&viewer));
        if (rank_of_world() == 0) {
          FILE *read = std::fopen(file.c_str(), "r");
          ASSERT_NE(read, nullptr);
          text[std::fread(text, 1, sizeof text - 1, read)] = 0;
          std::fclose(read);
          std::remove(file.c_str());
          levels.push_back(levels_of(text));
        }
        OK(PCDestroy(pc.out()));
        OK(MatDestroy(A.out()));
      }
      MPI_Barrier(PETSC_COMM_WORLD);
      if (!together) MPI_Comm_free(&comm);
    }
    if (rank_of_world() == 0) {
      EXPECT_NE(levels.front(), "");
      EXPECT_EQ(levels.front(), levels.back());
    }
  }
}
} // namespace amgkit::test
