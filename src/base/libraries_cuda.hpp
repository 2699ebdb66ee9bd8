// cuSPARSE and cuSOLVER, which are loaded when they are first needed: the library starts without them, and most solves never do.
#pragma once
#define DISABLE_CUSPARSE_DEPRECATED // CUDA 13 still has csrilu02, but calls it deprecated without naming another
#include "base/cuda.hpp"

#include <cusolverDn.h>
#include <cusparse.h>

// What is called of them.
#define AMGKIT_CUSPARSE_FUNCTIONS(X)                                                                                                       \
  X(Create)                                                                                                                                \
  X(CreateCsr)                                                                                                                             \
  X(CreateCsrilu02Info)                                                                                                                    \
  X(CreateDnVec)                                                                                                                           \
  X(CreateMatDescr)                                                                                                                        \
  X(CsrSetPointers)                                                                                                                        \
  X(Dcsrilu02)                                                                                                                             \
  X(Dcsrilu02_analysis)                                                                                                                    \
  X(Dcsrilu02_bufferSize)                                                                                                                  \
  X(Destroy)                                                                                                                               \
  X(DestroyCsrilu02Info)                                                                                                                   \
  X(DestroyDnVec)                                                                                                                          \
  X(DestroyMatDescr)                                                                                                                       \
  X(DestroySpMat)                                                                                                                          \
  X(DnVecSetValues)                                                                                                                        \
  X(SetStream)                                                                                                                             \
  X(SpGEMM_createDescr)                                                                                                                    \
  X(SpGEMM_destroyDescr)                                                                                                                   \
  X(SpGEMMreuse_compute)                                                                                                                   \
  X(SpGEMMreuse_copy)                                                                                                                      \
  X(SpGEMMreuse_nnz)                                                                                                                       \
  X(SpGEMMreuse_workEstimation)                                                                                                            \
  X(SpMatGetSize)                                                                                                                          \
  X(SpMatSetAttribute)                                                                                                                     \
  X(SpSV_analysis)                                                                                                                         \
  X(SpSV_bufferSize)                                                                                                                       \
  X(SpSV_createDescr)                                                                                                                      \
  X(SpSV_destroyDescr)                                                                                                                     \
  X(SpSV_solve)                                                                                                                            \
  X(SpSV_updateMatrix)
#define AMGKIT_CUSOLVER_FUNCTIONS(X)                                                                                                       \
  X(Create)                                                                                                                                \
  X(Destroy)                                                                                                                               \
  X(SetStream)                                                                                                                             \
  X(Dgetrf)                                                                                                                                \
  X(Dgetrf_bufferSize)                                                                                                                     \
  X(Dgetrs)

namespace amgkit
{
struct Cusparse {
#define AMGKIT_MEMBER(name) decltype(&::cusparse##name) name = nullptr;
  AMGKIT_CUSPARSE_FUNCTIONS(AMGKIT_MEMBER)
#undef AMGKIT_MEMBER
};
struct Cusolver {
#define AMGKIT_MEMBER(name) decltype(&::cusolverDn##name) name = nullptr;
  AMGKIT_CUSOLVER_FUNCTIONS(AMGKIT_MEMBER)
#undef AMGKIT_MEMBER
};

// An error that names the library where it cannot be loaded. Before the first use of the functions below.
PetscErrorCode load_cusparse();
PetscErrorCode load_cusolver();
// The functions, for the process.
const Cusparse &cusparse();
const Cusolver &cusolver();
} // namespace amgkit
