#include "support/options.hpp"

#include <gtest/gtest-spi.h>
#include <petscoptions.h>

namespace amgkit::test
{
TEST(Options, OnlyThoseThatNobodyReadsAreFound)
{
  PetscBool set;
  ASSERT_EQ(PetscOptionsInsertString(nullptr,
                                     "-pc_amgsa_threshold 1 -pc_amgsa_treshold 1 -inner_pc_ilu2level_level 2 -ksp_amgfcg_x -ksp_amgfgmres_x"
                                     " -sub_ilu2level_schur_ksp_its 2 -pc_type amgsa -pc_gamg_threshold 1 -my_pc_amgmatching 3"),
            0);
  ASSERT_EQ(PetscOptionsHasName(nullptr, "my_", "-pc_amgmatching", &set), 0);
  ASSERT_EQ(PetscOptionsHasName(nullptr, nullptr, "-pc_amgsa_threshold", &set), 0);
  std::vector<std::string> found = unread_options();
  std::sort(found.begin(), found.end());
  EXPECT_EQ(found, (std::vector<std::string>{"-inner_pc_ilu2level_level", "-ksp_amgfcg_x", "-ksp_amgfgmres_x", "-pc_amgsa_treshold",
                                             "-sub_ilu2level_schur_ksp_its"}));
  ASSERT_EQ(PetscOptionsClear(nullptr), 0);
  EXPECT_EQ(unread_options(), std::vector<std::string>());
}

TEST(Options, ThatNobodyReadsAreAFailureWhenTheyAreReplaced)
{
  ASSERT_EQ(replace_options("-pc_amgsa_treshold 1"), 0);
  EXPECT_NONFATAL_FAILURE(EXPECT_EQ(replace_options("-mat_type aij"), 0), "nobody has read the option -pc_amgsa_treshold");
  EXPECT_EQ(unread_options(), std::vector<std::string>());
}

// Not one to pass: the CTest options_check runs it and sees it fail.
TEST(Options, DISABLED_AreLeftUnread) { ASSERT_EQ(PetscOptionsInsertString(nullptr, "-pc_amgsa_treshold 1"), 0); }
} // namespace amgkit::test
