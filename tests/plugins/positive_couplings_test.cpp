// -pc_amgsa_cancel_positive and -pc_amgclassical_cancel_positive: flat finite elements cost few iterations.
#include "support/every_type.hpp"
#include "support/positive_couplings.hpp"

namespace amgkit::test
{
namespace
{
using PositiveCouplings = EveryType;

// Row i times sign(i), column j times sign(j): couplings between unlike signs change theirs.
int sign(int i) { return i % 5 == 0 ? -1 : 1; }
HostCsr with_signs(HostCsr A)
{
  for (int i = 0; i < A.rows; i++) {
    for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) A.val[k] *= sign(i) * sign(A.col[k]);
  }
  return A;
}

void attach_signs(Mat A)
{
  OwnedVec signs;
  OwnedNullSpace space;
  PetscInt first, last;
  OK(MatCreateVecs(A, signs.out(), nullptr));
  OK(VecGetOwnershipRange(signs, &first, &last));
  for (PetscInt i = first; i < last; i++) OK(VecSetValue(signs, i, sign(static_cast<int>(i)), INSERT_VALUES));
  OK(VecAssemblyBegin(signs));
  OK(VecAssemblyEnd(signs));
  OK(VecNormalize(signs, nullptr));
  const Vec one = signs;
  OK(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_FALSE, 1, &one, space.out()));
  OK(MatSetNearNullSpace(A, space));
}
} // namespace

TEST_P(PositiveCouplings, OfFlatElementsCostFewIterations)
{
  const HostCsr positive = bricks(20, 1, 1, 0.05, 1, 0);
  for (const Use &use : uses()) {
    for (const double scale : {1.0, -1.0}) {
      OwnedMat A;
      Solution with, without;
      HostCsr flat = positive;
      for (double &value : flat.val) value *= scale;
      OK(distribute(flat, use.on_device, A.out()));
      const std::string options = std::string("-ksp_type gmres ") + use.option +
                                  " -pc_amgmatching_coarse_eq_limit 50"
                                  " -pc_amgmatching_smoother chebyshev -pc_amgmatching_cancel_positive ";
      solve_with(A, options + "0", &without);
      solve_with(A, options + "1", &with);
      EXPECT_TRUE(with.converged()) << use.name << " " << KSPConvergedReasons[with.reason];
      EXPECT_LE(with.residual, 1.1e-8) << use.name;
      EXPECT_LE(3 * with.iterations, 2 * without.iterations) << use.name;
    }
  }
}

// Rows with few positive couplings: those of coarse levels, where lines no longer match, and those beside a boundary at the short sides of
// quadratic elements. Before such rows cancelled couplings, amgsa took 65, 94 and 41 iterations, amgclassical 19, 15 and 21. Of
// discontinuous elements, smaller couplings come first. Bricks are long on coarse levels, too: when the threshold was halved on each, amgsa
// took 21 iterations on a CPU and 18 on a GPU.
TEST_P(PositiveCouplings, OfLongElementsCostFewIterations)
{
  std::vector<double> layers(60, 1e-5);
  for (std::size_t k = 1; k < layers.size(); k++) layers[k] = 1.2 * layers[k - 1];
  const auto even = [](int count, double length) { return std::vector<double>(count, length / count); };
  struct Case {
    Named of_elements;
    int most_of_amgsa, most_of_amgclassical;
  };
  const Case cases[] = {{{"1 : 1000", rectangles(conforming(even(100, 1), 1), conforming(even(100, 0.001), 1))}, 21, 17},
                        {{"quadratic, 1 : 100", rectangles(conforming(even(50, 1), 2), conforming(even(50, 0.01), 2))}, 19, 16},
                        {{"a boundary layer", rectangles(conforming(even(200, 1), 1), conforming(layers, 1))}, 19, 15},
                        {{"discontinuous, 1 : 20", rectangles(discontinuous(50, 0.02), discontinuous(50, 0.4))}, 21, 17},
                        {{"bricks 1 : 1 : 100", bricks(30, 1, 1, 100, 1, 0)}, 17, 15}};
  for (const auto &[of_elements, most_of_amgsa, most_of_amgclassical] : cases) {
    for (const Use &use : uses()) {
      OwnedMat A;
      Solution solution;
      OK(distribute(of_elements.A, use.on_device, A.out()));
      solve_with(A,
                 std::string("-ksp_type cg -ksp_norm_type unpreconditioned ") + use.option +
                     " -pc_amgmatching_coarse_eq_limit 50 -pc_amgmatching_smoother chebyshev",
                 &solution);
      EXPECT_TRUE(solution.converged()) << of_elements.name << ", " << use.name;
      EXPECT_LE(solution.residual, 1.1e-8) << of_elements.name << ", " << use.name;
      EXPECT_LE(solution.iterations, type() == std::string(PCAMGSA) ? most_of_amgsa : most_of_amgclassical)
          << of_elements.name << ", " << use.name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, PositiveCouplings, ::testing::Values(PCAMGSA, PCAMGCLASSICAL));

// What is positive depends on the signs of the near-null space: another than the constant vector, and amgsa does not ask for signs.
TEST(PositiveCouplingsOfAmgsa, AreThoseBesideTheConstantVector)
{
  OK(AMGKitRegister());
  for (const bool signs : {false, true}) {
    LevelSizes sizes[2];
    for (const int cancel : {0, 1}) {
      OwnedMat A;
      OwnedPC pc;
      const HostCsr flat = bricks(12, 1, 1, 0.05, 1, 0);
      OK(distribute(signs ? with_signs(flat) : flat, false, A.out()));
      if (signs) attach_signs(A);
      OK(test::make_pc(A, "-pc_amgsa_coarse_eq_limit 50 -pc_amgsa_cancel_positive " + std::to_string(cancel), pc.out(), PCAMGSA));
      OK(PCSetUp(pc));
      OK(level_sizes(pc, &sizes[cancel]));
    }
    EXPECT_EQ(sizes[0].rows == sizes[1].rows && sizes[0].entries == sizes[1].entries, signs);
  }
}
} // namespace amgkit::test
