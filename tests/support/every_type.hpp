// Tests that every multigrid type meets: TEST_P, in a fixture derived from EveryType and instantiated over multigrid_types() or
// all_types().
#pragma once
#include "amgkit.h"
#include "support/petsc_problems.hpp"

#include <vector>

namespace amgkit::test
{
inline const std::vector<const char *> multigrid_names = {PCAMGMATCHING, PCAMGCLASSICAL, PCAMGSA};
inline auto multigrid_types() { return ::testing::ValuesIn(multigrid_names); }

// And those that are no multigrid
inline auto all_types()
{
  std::vector<const char *> names = multigrid_names;
  names.push_back(PCILU2LEVEL);
  return ::testing::ValuesIn(names);
}

class EveryType : public ::testing::TestWithParam<const char *> {
protected:
  void SetUp() override { OK(AMGKitRegister()); }

  static const char *type() { return GetParam(); }
  // Those of petsc_problems.hpp; options and names are written as amgmatching's.
  static std::string renamed(const std::string &text) { return named_for(text, type()); }
  static PetscErrorCode make_ksp(Mat A, const std::string &options, KSP *ksp) { return test::make_ksp(A, options, ksp, type()); }
  static PetscErrorCode make_pc(Mat A, const std::string &options, PC *pc) { return test::make_pc(A, options, pc, type()); }
  // With the right-hand side of make_system(); view: of the KSP, after the solve
  void solve_with(Mat A, const std::string &options, Solution *solution, std::string *view = nullptr)
  {
    OwnedVec x, b;
    OwnedKSP ksp;
    OK(make_system(A, x.out(), b.out()));
    OK(make_ksp(A, options, ksp.out()));
    OK(solve(ksp, b, x, solution));
    if (view) *view = view_of(ksp);
  }
};
} // namespace amgkit::test
