// The parameter of those multigrid types whose setup multiplies sparse matrices.
#pragma once
#include "base/parameters.hpp"
#include "sparse/spgemm/spgemm.hpp"

namespace amgkit
{
inline Parameter spgemm_parameter(SpgemmKind *kind)
{
  return {"spgemm", choice(kind, {"native", "cusparse", "kokkos"}), "Library that multiplies sparse matrices in the setup",
          "With native it is AMGKit itself. With cusparse it is cuSPARSE, on GPUs. With kokkos it is Kokkos Kernels, if the build found "
          "it: on CPUs, and on GPUs if it was built with CUDA."};
}
} // namespace amgkit
