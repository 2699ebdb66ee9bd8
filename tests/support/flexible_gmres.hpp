// What the tests of flexible GMRES begin with: a flow's matrix and a KSP.
#pragma once
#include "support/convection.hpp"
#include "support/flexible_krylov.hpp"

namespace amgkit::test
{
class FlexibleGMRES : public FlexibleKrylov {
protected:
  void SetUp() override { set_up(convection_diffusion(3, 11, 10, Wind::rotating)); }
};

inline std::string in_debug(const std::string &type) { return have_gpu() ? "" : " -pc_" + type + "_space debug"; }
} // namespace amgkit::test
