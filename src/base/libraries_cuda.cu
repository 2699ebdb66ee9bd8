#include "base/libraries_cuda.hpp"

#include <dlfcn.h>
#include <string>

namespace amgkit
{
namespace
{
Cusparse cusparse_functions;
Cusolver cusolver_functions;

// The library stays loaded: its kernels are registered with the runtime.
PetscErrorCode open_library(const std::string &name, void **library)
{
  PetscFunctionBegin;
  *library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
#if defined(AMGKIT_CUDA_LIBRARIES)
  if (!*library) *library = dlopen((AMGKIT_CUDA_LIBRARIES "/" + name).c_str(), RTLD_NOW | RTLD_LOCAL);
#endif
  const char *reason = *library ? nullptr : dlerror();
  PetscCheck(*library, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "CUDA's library %s is needed here and cannot be loaded: %s. LD_LIBRARY_PATH may name its folder", name.c_str(),
             reason ? reason : "no reason was given");
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class F> PetscErrorCode find(void *library, const char *name, F &function)
{
  PetscFunctionBegin;
  function = reinterpret_cast<F>(dlsym(library, name));
  PetscCheck(function, PETSC_COMM_SELF, PETSC_ERR_SUP, "CUDA's library has no function %s: another version than that of the build", name);
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode load_cusparse()
{
  Cusparse found;
  void *library;

  PetscFunctionBegin;
  if (cusparse_functions.Create) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(open_library("libcusparse.so." + std::to_string(CUSPARSE_VER_MAJOR), &library));
#define AMGKIT_FIND(name) PetscCall(find(library, "cusparse" #name, found.name));
  AMGKIT_CUSPARSE_FUNCTIONS(AMGKIT_FIND)
#undef AMGKIT_FIND
  cusparse_functions = found;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode load_cusolver()
{
  Cusolver found;
  void *library;

  PetscFunctionBegin;
  if (cusolver_functions.Create) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(open_library("libcusolver.so." + std::to_string(CUSOLVER_VER_MAJOR), &library));
#define AMGKIT_FIND(name) PetscCall(find(library, "cusolverDn" #name, found.name));
  AMGKIT_CUSOLVER_FUNCTIONS(AMGKIT_FIND)
#undef AMGKIT_FIND
  cusolver_functions = found;
  PetscFunctionReturn(PETSC_SUCCESS);
}

const Cusparse &cusparse() { return cusparse_functions; }
const Cusolver &cusolver() { return cusolver_functions; }
} // namespace amgkit
