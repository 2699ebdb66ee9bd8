// The options database in tests. A misspelt option would let a test say what it does not test: each test fails that leaves an option of
// this library unread, and so does whoever replaces the options before.
#pragma once
#include <petscsys.h>
#include <string>
#include <vector>

namespace amgkit::test
{
// The options that nobody has read, of those whose names begin with one of these, or have them after a prefix: pc_amg, pc_ilu2level,
// ilu2level_schur, ksp_amgfcg, ksp_amgfgmres
std::vector<std::string> unread_options();
// A failure of the test for each of them
void expect_options_read();
// expect_options_read(), and then the options are those of the command line and these.
PetscErrorCode replace_options(const std::string &options = "");
// Takes -malloc_dump off the command line: PETSc leaks memory where its functions end in an error.
void keep_no_watch_on_memory();
// Called once, after PetscInitialize(): what the command line says, and expect_options_read() at the end of every test that was not skipped
void watch_options();
} // namespace amgkit::test
