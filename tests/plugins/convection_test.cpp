// Convection and diffusion, far from the symmetric matrices that the method is made for: it converges at every Péclet number, with the
// iterations below. They are 1.25 times the most that 1 to 4 processes have been seen to take.
#include "amgkit.h"
#include "support/convection.hpp"
#include "support/petsc_problems.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace amgkit::test
{
namespace
{
constexpr std::array peclets = {0.1, 1.0, 10.0, 100.0, 1000.0};

struct Flow {
  const char *name;
  int dimension, n;
  Wind wind;
  std::array<PetscInt, peclets.size()> most; // iterations of gmres from the right, and of both fgmres
  double growth;                             // from the lowest Péclet number to the highest
};

struct Variant {
  const char *name, *type, *options;
  std::vector<Flow> flows;
};
const Variant plain = {"plain",
                       PCAMGMATCHING,
                       "-pc_amgmatching_matching_steps 2 -pc_amgmatching_kcycle_levels 3",
                       {{"2D, constant wind", 2, 48, Wind::constant, {19, 23, 28, 33, 34}, 2.5},
                        {"2D, rotating wind", 2, 48, Wind::rotating, {19, 25, 52, 114, 130}, 10},
                        {"3D, constant wind", 3, 16, Wind::constant, {17, 19, 24, 28, 28}, 2.2},
                        {"3D, rotating wind", 3, 16, Wind::rotating, {17, 18, 25, 45, 57}, 4.7}}};
const Variant quality_aware = {"quality_aware",
                               PCAMGMATCHING,
                               "-pc_amgmatching_matching_steps 2 -pc_amgmatching_kcycle_levels 3 -pc_amgmatching_quality_aware true "
                               "-pc_amgmatching_kappa 10",
                               {{"2D, constant wind", 2, 48, Wind::constant, {20, 23, 30, 35, 36}, 2.6},
                                {"2D, rotating wind", 2, 48, Wind::rotating, {18, 24, 31, 40, 44}, 3.3},
                                {"3D, constant wind", 3, 16, Wind::constant, {15, 18, 24, 28, 28}, 2.4},
                                {"3D, rotating wind", 3, 16, Wind::rotating, {15, 16, 25, 33, 34}, 3}}};
// A GPU's smoother, in all spaces
const Variant chebyshev = {"chebyshev",
                           PCAMGMATCHING,
                           "-pc_amgmatching_smoother chebyshev -pc_amgmatching_kcycle_levels 3",
                           {{"2D, constant wind", 2, 48, Wind::constant, {27, 32, 27, 28, 28}, 1.3},
                            {"2D, rotating wind", 2, 48, Wind::rotating, {27, 37, 50, 88, 91}, 4.2},
                            {"3D, constant wind", 3, 16, Wind::constant, {20, 22, 18, 20, 20}, 1.4},
                            {"3D, rotating wind", 3, 16, Wind::rotating, {18, 20, 26, 35, 38}, 2.8}}};
const Variant defaults = {"defaults",
                          PCAMGMATCHING,
                          "",
                          {{"2D, constant wind", 2, 48, Wind::constant, {22, 25, 21, 23, 23}, 1.2},
                           {"2D, rotating wind", 2, 48, Wind::rotating, {22, 28, 38, 61, 66}, 3.1},
                           {"3D, constant wind", 3, 16, Wind::constant, {14, 16, 15, 16, 16}, 1.2},
                           {"3D, rotating wind", 3, 16, Wind::rotating, {15, 16, 21, 27, 30}, 2.1}}};
const Variant classical = {"classical",
                           PCAMGCLASSICAL,
                           "-pc_amgclassical_cycle_type auto",
                           {{"2D, constant wind", 2, 48, Wind::constant, {12, 13, 18, 21, 22}, 2.3},
                            {"2D, rotating wind", 2, 48, Wind::rotating, {12, 13, 18, 21, 21}, 2.3},
                            {"3D, constant wind", 3, 16, Wind::constant, {11, 13, 20, 21, 22}, 2.5},
                            {"3D, rotating wind", 3, 16, Wind::rotating, {11, 11, 17, 21, 22}, 2.5}}};

// bcgs applies the preconditioner twice an iteration.
struct Krylov {
  const char *options;
  double share;
};
constexpr std::array methods = {Krylov{"-ksp_type gmres -ksp_pc_side right", 1}, Krylov{"-ksp_type fgmres", 1},
                                Krylov{"-ksp_type amgfgmres", 1}, Krylov{"-ksp_type bcgs -ksp_pc_side right", 0.65}};

class Convection : public ::testing::TestWithParam<Variant> {
protected:
  void SetUp() override { OK(AMGKitRegister()); }

  void solve_flow(Mat A, const Use &use, const Krylov &method, Solution &solution)
  {
    OwnedVec x, b;
    OwnedKSP ksp;
    OK(make_system(A, x.out(), b.out()));
    OK(make_ksp(A, std::string(use.option) + " " + method.options + " -pc_amgmatching_coarse_eq_limit 100 " + GetParam().options, ksp.out(),
                GetParam().type));
    OK(solve(ksp, b, x, &solution));
  }

  // Of the limits: what the defaults choose for a GPU, in the debug space, too, takes less time there, and up to a third more iterations.
  static double allowance(const Use &use) { return std::string(use.name) == "host" || GetParam().options[0] != '\0' ? 1 : 4.0 / 3; }

  // The iterations of each method at each Péclet number
  void check_flow(const Flow &flow, const Use &use, const std::vector<Krylov> &chosen)
  {
    std::vector<PetscInt> first(chosen.size()), last(chosen.size());
    for (std::size_t k = 0; k < peclets.size(); k++) {
      OwnedMat A;
      OK(distribute(convection_diffusion(flow.dimension, flow.n, peclets[k], flow.wind), use.on_device, A.out()));
      for (std::size_t m = 0; m < chosen.size(); m++) {
        const std::string name = std::string(use.name) + ", " + flow.name + ", " + std::to_string(peclets[k]) + ", " + chosen[m].options;
        Solution solution;
        solve_flow(A, use, chosen[m], solution);
        EXPECT_TRUE(solution.converged()) << name;
        EXPECT_LE(solution.residual, 1e-8 * 1.1) << name; // the recurrence of bcgs drifts
        EXPECT_LE(static_cast<double>(solution.iterations), allowance(use) * chosen[m].share * static_cast<double>(flow.most[k])) << name;
        if (k == 0) first[m] = solution.iterations;
        last[m] = solution.iterations;
      }
    }
    for (std::size_t m = 0; m < chosen.size(); m++) {
      const double most = allowance(use) * flow.growth * static_cast<double>(first[m]);
      EXPECT_LE(static_cast<double>(last[m]), most) << flow.name << ", " << chosen[m].options;
    }
  }
};
} // namespace

// The gate counts with gmres; the other methods and the Debug space are part of the full run.
TEST_P(Convection, ConvergesAtEveryPecletNumber)
{
  const bool all = full_run() && count_on_large_grids();
  for (const Use &use : uses()) {
    if (!full_run() && std::string(use.name) == "debug") continue;
    for (const Flow &flow : GetParam().flows) {
      if (use.on_device && size_of_world() > 1 && flow.dimension == 2) continue; // ranks on one GPU wait for each other
      check_flow(flow, use, {methods.begin(), all ? methods.end() : methods.begin() + 1});
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Variants, Convection, ::testing::Values(plain, quality_aware, chebyshev, defaults, classical),
                         [](const auto &info) { return info.param.name; });

// What the tests above take for granted of their matrices.
TEST(ConvectionDiffusion, IsAnMMatrixWithASymmetricPattern)
{
  for (int dimension : {2, 3}) {
    for (Wind wind : {Wind::constant, Wind::rotating}) {
      for (double peclet : peclets) {
        const HostCsr A = convection_diffusion(dimension, 6, peclet, wind);
        double asymmetry = 0;
        for (int i = 0; i < A.rows; i++) {
          double sum = 0;
          for (int k = A.ptr[i]; k < A.ptr[i + 1]; k++) {
            const int j = A.col[k];
            sum += A.val[k];
            EXPECT_EQ(A.val[k] > 0, i == j);
            EXPECT_NE(A.at(j, i), 0);
            asymmetry = std::max(asymmetry, std::abs(A.val[k] - A.at(j, i)));
          }
          EXPECT_GE(sum, -1e-12 * A.at(i, i));
        }
        EXPECT_LE(asymmetry, peclet * (1 + 1e-12));
        EXPECT_GE(asymmetry, 0.5 * peclet);
      }
    }
  }
}
} // namespace amgkit::test
