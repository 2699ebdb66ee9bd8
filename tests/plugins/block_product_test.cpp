// The Krylov methods of this library multiply by blocks on a plain host, if all ranks' rows consist of complete ones.
#include "dist/preconditioner.hpp"
#include "plugins/pc_plugin.hpp"
#include "support/block_matrices.hpp"
#include "support/distributed_graph.hpp"
#include "support/every_type.hpp"

namespace amgkit::test
{
namespace
{
using Multiply = PetscErrorCode (*)(Mat, Vec, Vec);
Multiply multiply_before;
int calls; // of MatMult()

PetscErrorCode multiply_and_count(Mat A, Vec x, Vec y)
{
  calls++;
  return multiply_before(A, x, y);
}

PetscErrorCode count_products(Mat A)
{
  PetscFunctionBegin;
  PetscCall(MatGetOperation(A, MATOP_MULT, reinterpret_cast<void (**)()>(&multiply_before)));
  PetscCall(MatSetOperation(A, MATOP_MULT, reinterpret_cast<void (*)()>(multiply_and_count)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Symmetric ones, on nodes of a grid; holed: two entries of the last rank's are not stored.
HostCsr blocks_on_grid(int block, bool holed)
{
  HostCsr A = definite_blocks(grid7(9, 8, 7), block, true);
  if (!holed) return A;
  auto entries = entries_of(A);
  entries.erase({A.rows - 1, A.rows - block - 2});
  entries.erase({A.rows - block - 2, A.rows - 1});
  return make_csr(A.rows, A.rows, entries);
}

class BlockProduct : public EveryType {
protected:
  static std::string with_levels(const std::string &method)
  {
    return "-ksp_type " + method + " -ksp_rtol 1e-9 -pc_type amgmatching -pc_amgmatching_space host -pc_amgmatching_coarse_eq_limit 50";
  }
  void expect_solution(KSP ksp, Vec b, Vec x, const std::string &name)
  {
    Solution solution;
    OK(VecZeroEntries(x));
    OK(solve(ksp, b, x, &solution));
    EXPECT_TRUE(solution.converged()) << name;
    EXPECT_LE(solution.residual, 1.1e-9) << name;
  }
};
} // namespace

TEST_P(BlockProduct, IsTakenWhereAllRanksHaveIt)
{
  for (const std::string method : {"amgfcg", "amgfgmres"}) {
    for (int block : {1, 2, 3, 6}) {
      for (const bool holed : {false, true}) {
        const std::string name = method + ", " + std::to_string(block) + (holed ? ", holed" : "");
        const HostCsr M = blocks_on_grid(block, holed);
        const PetscInt nodes = M.rows / block, own = nodes / size_of_world() + (rank_of_world() < nodes % size_of_world() ? 1 : 0);
        OwnedMat A;
        OwnedVec x, b;
        OwnedKSP ksp;
        OK(distribute(M, false, A.out(), own * block));
        OK(MatSetBlockSize(A, block));
        OK(make_system(A, x.out(), b.out()));
        OK(make_ksp(A, with_levels(method), ksp.out()));
        expect_solution(ksp, b, x, name);
        PC pc;
        OK(KSPGetPC(ksp, &pc));
        const auto *product = dynamic_cast<UserProduct<Host> *>(solver_of(pc));
        ASSERT_NE(product, nullptr);
        EXPECT_EQ(product->pays(), block > 1 && !holed) << name;
        OK(MatScale(A, 3));
        expect_solution(ksp, b, x, name + ", new values");
        OK(KSPSetReusePreconditioner(ksp, PETSC_TRUE));
        OK(MatScale(A, 0.5));
        expect_solution(ksp, b, x, name + ", values that were not set up");
      }
    }
  }
}

// One that the user has set, and where a rank has no rows.
TEST_P(BlockProduct, LeavesTheUsersProductInPlace)
{
  const HostCsr M = definite_blocks(grid7(6, 5, 4), 3, true);
  for (const std::string method : {"amgfcg", "amgfgmres"}) {
    for (const PetscInt nodes : layouts(M.rows / 3)) {
      OwnedMat A;
      OwnedVec x, b;
      OwnedKSP ksp;
      OK(distribute(M, false, A.out(), nodes < 0 ? nodes : 3 * nodes));
      OK(MatSetBlockSize(A, 3));
      OK(make_system(A, x.out(), b.out()));
      OK(make_ksp(A, with_levels(method), ksp.out()));
      expect_solution(ksp, b, x, method);
      OK(count_products(A));
      calls = 0;
      expect_solution(ksp, b, x, method + ", counted");
      EXPECT_GT(calls, 4) << method; // one of them for the residual
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, BlockProduct, multigrid_types(), [](const auto &info) { return info.param; });
} // namespace amgkit::test
