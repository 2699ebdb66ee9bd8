// cuSPARSE and cuSOLVER are loaded when they are needed, and may be missing where a program runs.
#include "base/libraries_cuda.hpp"
#include "support/petsc_problems.hpp"

#include <dlfcn.h>
#include <string_view>

namespace
{
std::string_view hidden;        // no library is found whose path contains this; empty: all are
const char *instead = "absent"; // what is opened in its place
} // namespace

// The one that the program's calls find, before libc's.
extern "C" void *dlopen(const char *path, int mode)
{
  const auto real = reinterpret_cast<void *(*)(const char *, int)>(dlsym(RTLD_NEXT, "dlopen"));
  const bool hide = path && !hidden.empty() && std::string_view(path).find(hidden) != std::string_view::npos;
  return real(hide ? instead : path, mode);
}

namespace amgkit::test
{
namespace
{
void expect_refusal(const std::function<PetscErrorCode()> &load, const char *library, const char *place, const std::string &text)
{
  hidden = library;
  instead = place;
  const Refusal refusal = refusal_of(load);
  hidden = "";
  EXPECT_EQ(refusal.code, PETSC_ERR_SUP);
  EXPECT_NE(refusal.message.find(text), std::string::npos) << refusal.message;
}
} // namespace

TEST(Libraries, AreNamedWhereTheyCannotBeLoaded)
{
  expect_refusal(load_cusparse, "libcusparse", "absent.so", "CUDA's library libcusparse.so." + std::to_string(CUSPARSE_VER_MAJOR));
  expect_refusal(load_cusolver, "libcusolver", "absent.so", "CUDA's library libcusolver.so." + std::to_string(CUSOLVER_VER_MAJOR));
  expect_refusal(load_cusparse, "libcusparse", "absent.so", "absent.so: cannot open shared object file");
  expect_refusal(load_cusparse, "libcusparse", "absent.so", "LD_LIBRARY_PATH");
  EXPECT_EQ(cusparse().Create, nullptr);
}

TEST(Libraries, OfAnotherVersionAreRefused)
{
  expect_refusal(load_cusparse, "libcusparse", "libm.so.6",
                 "CUDA's library has no function cusparseCreate: another version than that of the build");
  expect_refusal(load_cusolver, "libcusolver", "libm.so.6", "has no function cusolverDnCreate");
}

TEST(Libraries, AreFoundLaterWhereTheyWereMissing)
{
  expect_refusal(load_cusparse, "libcusparse", "absent.so", "cannot be loaded");
  EXPECT_EQ(static_cast<int>(load_cusparse()), 0);
  EXPECT_EQ(static_cast<int>(load_cusolver()), 0);
  EXPECT_NE(cusparse().Create, nullptr);
  EXPECT_NE(cusolver().Create, nullptr);
}
} // namespace amgkit::test
