// The manual page's option list is the parameter list. AMGKIT_WRITE_MANUAL=1 rewrites the page.
#include "plugins/pc_matching.hpp"
#include "support/petsc_problems.hpp"

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace amgkit::test
{
TEST(Manual, StatesTheParametersAsTheyAre)
{
  const std::string file = std::string(AMGKIT_SOURCE_DIR) + "/share/amgkit/doc/amgmatching.md", mark = "## Options\n\n";
  AmgParameters shared;
  MatchingParameters own;
  const std::string options = parameters_manual("amgmatching", matching_parameter_list(shared, own));
  std::ifstream in(file);
  if (!in) GTEST_SKIP() << "the sources are not on this machine";
  std::stringstream page;
  page << in.rdbuf();
  const auto at = page.str().find(mark);
  ASSERT_NE(at, std::string::npos);
  const std::string expected = page.str().substr(0, at) + mark + options;
  if (std::getenv("AMGKIT_WRITE_MANUAL") && rank_of_world() == 0)
    std::ofstream(file) << expected;
  else
    EXPECT_EQ(page.str(), expected);
}
} // namespace amgkit::test
