#include "support/options.hpp"

#include "support/spaces.hpp"

#include <petscoptions.h>
#include <regex>

namespace amgkit::test
{
namespace
{
std::string of_command_line;

PetscErrorCode append_unread(std::vector<std::string> &out)
{
  static const std::regex ours("(.*_)?(pc_amg|amgkit_gpu|pc_ilu2level|ilu2level_schur|ksp_amgf(cg|gmres)).*");
  PetscInt count;
  char **names, **values;

  PetscFunctionBegin;
  PetscCall(PetscOptionsLeftGet(nullptr, &count, &names, &values));
  for (PetscInt k = 0; k < count; k++) {
    if (std::regex_match(names[k], ours)) out.push_back("-" + std::string(names[k]));
  }
  PetscCall(PetscOptionsLeftRestore(nullptr, &count, &names, &values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

class Watch : public ::testing::EmptyTestEventListener {
public:
  void OnTestEnd(const ::testing::TestInfo &test) override
  {
    if (!test.result()->Skipped()) expect_options_read();
    EXPECT_EQ(PetscOptionsClear(nullptr), 0);
    EXPECT_EQ(PetscOptionsInsertString(nullptr, of_command_line.c_str()), 0);
  }
};
} // namespace

std::vector<std::string> unread_options()
{
  std::vector<std::string> all;
  EXPECT_EQ(append_unread(all), 0);
  return all;
}

void expect_options_read()
{
  for (const std::string &option : unread_options()) ADD_FAILURE() << "nobody has read the option " << option;
}

PetscErrorCode replace_options(const std::string &options)
{
  PetscFunctionBegin;
  expect_options_read();
  PetscCall(PetscOptionsClear(nullptr));
  PetscCall(PetscOptionsInsertString(nullptr, (of_command_line + " " + options).c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void keep_no_watch_on_memory()
{
  of_command_line = std::regex_replace(of_command_line, std::regex("-malloc_dump *"), "");
  EXPECT_EQ(PetscOptionsClearValue(nullptr, "-malloc_dump"), 0);
}

void watch_options()
{
  char *all;
  EXPECT_EQ(PetscOptionsGetAll(nullptr, &all), 0);
  of_command_line = all;
  EXPECT_EQ(PetscFree(all), 0);
  ::testing::UnitTest::GetInstance()->listeners().Append(new Watch);
}
} // namespace amgkit::test
