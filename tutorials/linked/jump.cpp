// A program that links AMGKit and chooses its solver in the source: diffusion where the conductivity jumps by orders of magnitude.
//
//   -div(k grad u) = 1 on the unit cube, u = 0 on its boundary
//
// k is 1 or `contrast`, alternating like the squares of a chessboard, in 4 x 4 x 4 blocks. The discretization is by finite volumes on
// n x n x n cells, with the harmonic mean of k between two cells. Build it with an installed AMGKit and run it:
//   cmake --install build/host --prefix $HOME/amgkit
//   cmake -S tutorials/linked -B build/linked -DCMAKE_PREFIX_PATH=$HOME/amgkit && cmake --build build/linked
//   build/linked/jump -n 64
// To compare with another preconditioner of PETSc, give its options the prefix other_:
//   build/linked/jump -n 64 -other_pc_type gamg -other_pc_gamg_threshold 0.02
// On a GPU:
//   build/linked/jump -n 64 -dm_mat_type aijcusparse -dm_vec_type cuda
#include <amgkit.h>
#include <array>
#include <petscdmda.h>
#include <petscksp.h>
#include <petsctime.h>

namespace
{
struct Medium {
  PetscInt n = 40;
  PetscReal contrast = 1000;

  PetscReal conductivity(PetscInt i, PetscInt j, PetscInt k) const { return (4 * i / n + 4 * j / n + 4 * k / n) % 2 == 0 ? 1 : contrast; }
};

// Sets the row of cell (i, j, k): what flows through each of its six faces. At the boundary u = 0 is half a cell away.
PetscErrorCode set_row(const Medium &medium, PetscInt i, PetscInt j, PetscInt k, Mat A)
{
  constexpr std::array<std::array<int, 3>, 6> faces = {{{-1, 0, 0}, {1, 0, 0}, {0, -1, 0}, {0, 1, 0}, {0, 0, -1}, {0, 0, 1}}};
  const PetscReal here = medium.conductivity(i, j, k);
  std::array<MatStencil, 7> columns{};
  std::array<PetscScalar, 7> values{};
  PetscInt count = 1;

  PetscFunctionBeginUser;
  columns[0].i = i, columns[0].j = j, columns[0].k = k;
  for (const auto &face : faces) {
    MatStencil &other = columns[count] = columns[0];
    other.i += face[0], other.j += face[1], other.k += face[2];
    if (PetscMin(PetscMin(other.i, other.j), other.k) < 0 || PetscMax(PetscMax(other.i, other.j), other.k) >= medium.n) {
      values[0] += 2 * here;
      continue;
    }
    const PetscReal there = medium.conductivity(other.i, other.j, other.k), mean = 2 * here * there / (here + there);
    values[0] += mean;
    values[count++] = -mean;
  }
  PetscCall(MatSetValuesStencil(A, 1, columns.data(), count, columns.data(), values.data(), INSERT_VALUES));
  PetscFunctionReturn(0);
}

PetscErrorCode assemble(const Medium &medium, DM grid, Mat A)
{
  DMDALocalInfo mine;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetLocalInfo(grid, &mine));
  for (PetscInt k = mine.zs; k < mine.zs + mine.zm; k++) {
    for (PetscInt j = mine.ys; j < mine.ys + mine.ym; j++) {
      for (PetscInt i = mine.xs; i < mine.xs + mine.xm; i++) PetscCall(set_row(medium, i, j, k, A));
    }
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatSetOption(A, MAT_SPD, PETSC_TRUE)); // so nobody has to test it
  PetscFunctionReturn(0);
}

// Solves, prints a line of the table, and ends the program if b - A x is not small: a Krylov method can be wrong about it.
PetscErrorCode solve_and_report(KSP ksp, Vec b, Vec x)
{
  PC pc;
  PCType type;
  Mat A;
  Vec residual;
  PetscReal error, size;
  PetscInt iterations;
  std::array<PetscLogDouble, 3> time{};

  PetscFunctionBeginUser;
  PetscCall(PetscTime(&time[0]));
  PetscCall(KSPSetUp(ksp));
  PetscCall(PetscTime(&time[1]));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(VecNorm(x, NORM_2, &size)); // on a GPU, waits for the solution
  PetscCall(PetscTime(&time[2]));

  PetscCall(KSPGetOperators(ksp, &A, nullptr));
  PetscCall(VecDuplicate(b, &residual));
  PetscCall(MatMult(A, x, residual));
  PetscCall(VecAYPX(residual, -1, b));
  PetscCall(VecNorm(residual, NORM_2, &error));
  PetscCall(VecNorm(b, NORM_2, &size));
  PetscCall(VecDestroy(&residual));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCGetType(pc, &type));
  PetscCall(KSPGetIterationNumber(ksp, &iterations));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-12s %10d %8.3f s %8.3f s   %.1e\n", type, static_cast<int>(iterations), time[1] - time[0],
                        time[2] - time[1], static_cast<double>(error / size)));
  PetscCheck(error < 1e-6 * size, PETSC_COMM_WORLD, PETSC_ERR_NOT_CONVERGED, "PC %s: the residual is not small", type);
  PetscFunctionReturn(0);
}

// A solver for A with this Krylov method and preconditioner, both of which, as all else, options with the prefix can change.
PetscErrorCode create_solver(Mat A, const char *prefix, KSPType ksp_type, PCType pc_type, KSP *ksp)
{
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp));
  PetscCall(KSPSetOptionsPrefix(*ksp, prefix));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPSetType(*ksp, ksp_type));
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(PCSetType(pc, pc_type));
  PetscCall(KSPSetTolerances(*ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPSetNormType(*ksp, KSP_NORM_UNPRECONDITIONED)); // the same measure for every preconditioner
  PetscCall(KSPSetFromOptions(*ksp));
  PetscFunctionReturn(0);
}

PetscErrorCode run()
{
  Medium medium;
  DM grid;
  Mat A;
  Vec x, b;
  KSP ksp;
  PetscBool other;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-n", &medium.n, nullptr));
  PetscCall(PetscOptionsGetReal(nullptr, nullptr, "-contrast", &medium.contrast, nullptr));
  PetscCall(PetscOptionsHasName(nullptr, nullptr, "-other_pc_type", &other));
  PetscCall(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, medium.n, medium.n,
                         medium.n, PETSC_DECIDE, PETSC_DECIDE, PETSC_DECIDE, 1, 1, nullptr, nullptr, nullptr, &grid));
  PetscCall(DMSetFromOptions(grid));
  PetscCall(DMSetUp(grid));
  PetscCall(DMCreateMatrix(grid, &A));
  PetscCall(assemble(medium, grid, A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1. / static_cast<PetscReal>(medium.n * medium.n)));

  // amgfcg, flexible conjugate gradients, lets the preconditioner be a k-cycle: its strongest form for symmetric matrices.
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "             iterations      setup      solve   residual\n"));
  PetscCall(create_solver(A, nullptr, KSPAMGFCG, PCAMGMATCHING, &ksp));
  PetscCall(solve_and_report(ksp, b, x));
  PetscCall(KSPDestroy(&ksp));
  if (other) {
    PetscCall(VecSet(x, 0));
    PetscCall(create_solver(A, "other_", KSPCG, PCNONE, &ksp));
    PetscCall(solve_and_report(ksp, b, x));
    PetscCall(KSPDestroy(&ksp));
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&grid));
  PetscFunctionReturn(0);
}
} // namespace

int main(int argc, char **argv)
{
  PetscCall(PetscInitialize(&argc, &argv, nullptr, "-n <40>: cells in each direction, -contrast <1000>, -other_pc_type gamg\n"));
  PetscCall(AMGKitRegister()); // from here on PETSc knows amgmatching and amgfcg
  PetscCall(run());
  PetscCall(PetscFinalize());
  return 0;
}
