// The option list of a manual page is the parameter list. AMGKIT_WRITE_MANUAL=1 rewrites the pages.
#include "ilu/parameters.hpp"
#include "plugins/pc_classical.hpp"
#include "plugins/pc_matching.hpp"
#include "plugins/pc_sa.hpp"
#include "support/petsc_problems.hpp"

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace amgkit::test
{
namespace
{
void compare(const std::string &type, const ParameterList &list)
{
  const std::string folder = AMGKIT_SOURCE_DIR "/share/amgkit/doc/", file = folder + type + ".md", mark = "## Options\n\n";
  std::ifstream in(file);
  if (!in) GTEST_SKIP() << "the sources are not on this machine";
  std::stringstream page;
  page << in.rdbuf();
  const auto at = page.str().find(mark);
  ASSERT_NE(at, std::string::npos);
  const std::string expected = page.str().substr(0, at) + mark + parameters_manual(type, list);
  if (std::getenv("AMGKIT_WRITE_MANUAL") && rank_of_world() == 0)
    std::ofstream(file) << expected;
  else
    EXPECT_EQ(page.str(), expected);
}
} // namespace

TEST(Manual, StatesTheParametersOfMatching)
{
  AmgParameters shared;
  MatchingParameters own;
  compare("amgmatching", matching_parameter_list(shared, own));
}

TEST(Manual, StatesTheParametersOfClassical)
{
  AmgParameters shared;
  ClassicalParameters own;
  compare("amgclassical", classical_parameter_list(shared, own));
}

TEST(Manual, StatesTheParametersOfSmoothed)
{
  AmgParameters shared;
  SmoothedParameters own;
  compare("amgsa", smoothed_parameter_list(shared, own));
}

TEST(Manual, StatesTheParametersOfIlu)
{
  IluParameters own;
  compare("ilu2level", own.list());
}
} // namespace amgkit::test
