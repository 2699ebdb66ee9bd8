#include "base/parameters.hpp"
#include "support/options.hpp"
#include "support/spaces.hpp"

#include <cmath>
#include <petscoptions.h>

namespace amgkit::test
{
namespace
{
enum class Colour { red, green };

template <class E, std::size_t N>
concept CanBeChosen = requires(E *value, const char *const (&names)[N])
{
  choice(value, names);
};
static_assert(CanBeChosen<Colour, 2>);
static_assert(!CanBeChosen<Colour, 1> && !CanBeChosen<Colour, 3>, "choice() takes more or fewer names than there are enumerators");

struct Sample {
  PetscInt count = 3;
  PetscReal ratio = 0.25;
  PetscBool flag = PETSC_FALSE;
  Colour colour = Colour::red;
  ParameterList list()
  {
    return {{"count", IntegerRange{&count, 1, 9}, "How many", "At least one.", "a paper"},
            {"ratio", RealRange{&ratio, 0, 1}, "How much"},
            {"flag", Flag{&flag}, "Whether"},
            {"colour", choice(&colour, {"red", "green"}), "Which"}};
  }
};

PetscErrorCode parse(const char *options, Sample &sample)
{
  PetscErrorCode code = PETSC_SUCCESS;
  PetscFunctionBegin;
  PetscCall(replace_options(options));
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, nullptr));
  PetscOptionsBegin(PETSC_COMM_SELF, "", "test", "");
  if (!code) code = parameters_from_options(PetscOptionsObject, "sample", sample.list()); // more than once with -help
  PetscOptionsEnd();
  PetscCall(PetscPopErrorHandler());
  PetscFunctionReturn(code);
}
} // namespace

TEST(Parameters, AreReadFromOptions)
{
  Sample s;
  OK(parse("-pc_sample_count 5 -pc_sample_ratio 0.5 -pc_sample_flag -pc_sample_colour green", s));
  EXPECT_EQ(parameters_summary(s.list()), "count=5, ratio=0.5, flag=true, colour=green");
  EXPECT_EQ(s.colour, Colour::green);
}

TEST(Parameters, OutOfRangeOrUnknownIsAnErrorAndChangesNothing)
{
  for (const char *options : {"-pc_sample_count 10", "-pc_sample_count 0", "-pc_sample_ratio 1.5", "-pc_sample_colour blue"}) {
    Sample s;
    EXPECT_NE(static_cast<int>(parse(options, s)), 0) << options;
    EXPECT_EQ(parameters_summary(s.list()), "count=3, ratio=0.25, flag=false, colour=red") << options;
  }
}

// The summary is what shows that options have changed.
TEST(Parameters, SummaryIsExact)
{
  Sample s;
  for (const PetscReal ratio : {0.25, 0.1, 1.0 / 3, 1e-17, 0.0, 1.0}) {
    s.ratio = ratio;
    const std::string before = parameters_summary(s.list());
    EXPECT_EQ(parameters_summary(s.list()), before);
    s.ratio = std::nextafter(ratio, PetscReal(2));
    EXPECT_NE(parameters_summary(s.list()), before);
  }
  s.ratio = 0.1;
  EXPECT_NE(parameters_summary(s.list()).find("ratio=0.1,"), std::string::npos) << "no more digits than necessary";
}

TEST(Parameters, DriveTheManual)
{
  Sample s;
  const std::string manual = parameters_manual("sample", s.list());
  EXPECT_NE(manual.find("- `-pc_sample_count`: integer in [1, 9], default 3. How many. At least one. Source: a paper.\n"),
            std::string::npos)
      << manual;
  EXPECT_NE(manual.find("- `-pc_sample_colour`: one of red, green; default red. Which.\n"), std::string::npos) << manual;
}
} // namespace amgkit::test
