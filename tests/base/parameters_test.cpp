#include "base/parameters.hpp"
#include "support/spaces.hpp"

#include <petscoptions.h>

namespace amgkit::test
{
namespace
{
struct Sample {
  PetscInt count = 3;
  PetscReal ratio = 0.25;
  PetscBool flag = PETSC_FALSE;
  int choice = 0;
  ParameterList list()
  {
    return {{"count", IntegerRange{&count, 1, 9}, "How many", "a paper"},
            {"ratio", RealRange{&ratio, 0, 1}, "How much", ""},
            {"flag", Flag{&flag}, "Whether", ""},
            {"choice", Choice{&choice, {"red", "green"}}, "Which", ""}};
  }
};

PetscErrorCode parse(const char *options, Sample &sample)
{
  PetscErrorCode code = PETSC_SUCCESS;
  PetscFunctionBegin;
  PetscCall(PetscOptionsClear(nullptr));
  PetscCall(PetscOptionsInsertString(nullptr, options));
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, nullptr));
  const auto body = [&]() -> PetscErrorCode {
    PetscOptionsBegin(PETSC_COMM_SELF, "", "test", "");
    const PetscErrorCode inner = parameters_from_options(PetscOptionsObject, "sample", sample.list());
    if (inner) return inner;
    PetscOptionsEnd();
    return PETSC_SUCCESS;
  };
  code = body();
  PetscCall(PetscPopErrorHandler());
  PetscCall(PetscOptionsClear(nullptr));
  PetscFunctionReturn(code);
}
} // namespace

TEST(Parameters, AreReadFromOptions)
{
  Sample s;
  OK(parse("-pc_sample_count 5 -pc_sample_ratio 0.5 -pc_sample_flag -pc_sample_choice green", s));
  EXPECT_EQ(parameters_summary(s.list()), "count=5, ratio=0.5, flag=true, choice=green");
}

TEST(Parameters, OutOfRangeOrUnknownIsAnErrorAndChangesNothing)
{
  for (const char *options : {"-pc_sample_count 10", "-pc_sample_count 0", "-pc_sample_ratio 1.5", "-pc_sample_choice blue"}) {
    Sample s;
    EXPECT_NE(static_cast<int>(parse(options, s)), 0) << options;
    EXPECT_EQ(parameters_summary(s.list()), "count=3, ratio=0.25, flag=false, choice=red") << options;
  }
}

TEST(Parameters, DriveTheManual)
{
  Sample s;
  const std::string manual = parameters_manual("sample", s.list());
  EXPECT_NE(manual.find("- `-pc_sample_count`: integer in [1, 9], default 3. How many. Source: a paper.\n"), std::string::npos) << manual;
  EXPECT_NE(manual.find("- `-pc_sample_choice`: one of red green, default red. Which.\n"), std::string::npos) << manual;
}
} // namespace amgkit::test
