// Whether there is a GPU that this build can use.
#pragma once
#include "base/compat.hpp"

#include <array>
#include <string>
#include <utility>

namespace amgkit
{
// What the option -amgkit_gpu asks for.
enum class GpuWish { no, yes, attempted };
// By the word that follows it, "" for none. *known: whether that is one of the option's; else *wish is no.
inline PetscErrorCode gpu_wish_of(const std::string &word, GpuWish *wish, bool *known)
{
  const std::array<std::pair<const char *, GpuWish>, 4> words = {
      {{"", GpuWish::yes}, {"yes", GpuWish::yes}, {"no", GpuWish::no}, {"try", GpuWish::attempted}}};
  PetscBool same;

  PetscFunctionBegin;
  *wish = GpuWish::no;
  *known = false;
  for (const auto &[one, meaning] : words) {
    PetscCall(PetscStrcasecmp(word.c_str(), one, &same));
    if (same) *wish = meaning;
    *known = *known || same;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

inline constexpr int most_copy_threads = 16; // of -amgkit_copy_threads
// What is missing for that, as part of a sentence; empty: nothing. Local. The first call starts the driver.
#if defined(AMGKIT_HAVE_CUDA)
std::string why_no_gpu();
// How many there are. Opens none.
int count_gpus();
#else
inline int count_gpus() { return 0; }
inline std::string why_no_gpu() { return "this build of AMGKit has no CUDA: configure it with -DAMGKIT_CUDA=ON"; }
#endif
} // namespace amgkit
