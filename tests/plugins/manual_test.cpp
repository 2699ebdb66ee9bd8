// The option list of a manual page is the parameter list, and -help prints a line for each. AMGKIT_WRITE_MANUAL=1 rewrites the pages.
#include "ilu/parameters.hpp"
#include "plugins/pc_classical.hpp"
#include "plugins/pc_matching.hpp"
#include "plugins/pc_sa.hpp"
#include "support/petsc_problems.hpp"

#include <cctype>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace amgkit::test
{
namespace
{
// What is wrong with the texts of a list: -help has room for a line each, the manual page joins them to sentences.
std::string faults(const ParameterList &list)
{
  constexpr std::size_t line = 100;
  std::string all;
  for (const Parameter &p : list) {
    const auto complain = [&](const std::string &what) { all += p.name + ": " + what + "\n"; };
    const auto capital = [](const std::string &text) {
      return !text.empty() && std::isupper(static_cast<unsigned char>(text.front())) != 0;
    };
    if (!capital(p.meaning)) complain("the meaning begins with no capital letter");
    if (!p.explanation.empty() && !capital(p.explanation)) complain("the explanation begins with no capital letter");
    if (p.meaning.size() > line) complain("the meaning has " + std::to_string(p.meaning.size()) + " characters");
    if (p.meaning.find_first_of("\n") != std::string::npos) complain("the meaning has several lines");
    if (p.meaning.ends_with('.')) complain("the meaning ends with a full stop");
    if (!p.explanation.empty() && !p.explanation.ends_with('.')) complain("the explanation ends without a full stop");
    if (p.source.ends_with('.')) complain("the source ends with a full stop");
  }
  return all;
}

void compare(const std::string &type, const ParameterList &list)
{
  EXPECT_EQ(faults(list), "") << type;
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

TEST(Manual, FaultsOfTextsAreFound)
{
  PetscBool flag = PETSC_FALSE;
  const std::string line(99, 'x');
  const auto faults_of = [&](const Parameter &p) { return faults({p}); };
  EXPECT_EQ(faults_of({"a", Flag{&flag}, "X" + line, "Whole sentences.", "PETSc"}), "");
  for (const Parameter &p : {Parameter{"b", Flag{&flag}, "X" + line + "x"},
                             {"c", Flag{&flag}, "Whether."},
                             {"d", Flag{&flag}, "whether"},
                             {"e", Flag{&flag}, ""},
                             {"f", Flag{&flag}, "0: none"},
                             {"g", Flag{&flag}, "Two\nlines"},
                             {"h", Flag{&flag}, "Whether", "No sentence"},
                             {"j", Flag{&flag}, "Whether", "no sentence."},
                             {"i", Flag{&flag}, "Whether", "", "PETSc."}})
    EXPECT_NE(faults_of(p), "") << p.name;
}

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
