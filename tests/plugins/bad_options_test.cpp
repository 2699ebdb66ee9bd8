// Options with values that there are not: an error that names the option, on every rank, and the object is usable afterwards. A program of
// its own, as PETSc does not free what it has begun to read options with when that ends in an error.
#include "support/every_type.hpp"

namespace amgkit::test
{
namespace
{
using BadOptions = EveryType;

std::vector<std::string> bad_options(const std::string &type)
{
  if (type == PCILU2LEVEL)
    return {"levels 3",    "levels 0",        "type nonsense",   "schur_its 0",   "triangular_solve sor", "triangular_sweeps 0",
            "ordering nd", "shift_type some", "shift_amount -1", "zero_pivot -1", "factorization mkl",    "space cuda"};
  std::vector<std::string> all = {"smoother nonsense", "cycle_type", "coarse_eq_limit -3", "jacobi_omega 2.1", "space cuda"};
  if (type == PCAMGMATCHING) all.insert(all.end(), {"matching_steps 0", "kappa -1"});
  if (type == PCAMGCLASSICAL) all.insert(all.end(), {"p_max -2", "interp_type ext+", "agg_type a3", "spgemm mkl"});
  if (type == PCAMGSA) all.insert(all.end(), {"agg_nsmooths -1", "strength_type none", "threshold 1.1"});
  return all;
}
} // namespace

TEST_P(BadOptions, AreErrorsThatNameThem)
{
  keep_no_watch_on_memory();
  for (const std::string &bad : bad_options(type())) {
    const std::string option = "-pc_" + std::string(type()) + "_" + bad;
    OwnedPC pc;
    OK(replace_options(option));
    OK(PCCreate(PETSC_COMM_WORLD, pc.out()));
    OK(PCSetType(pc, type()));
    const Refusal refusal = refusal_of([&] { return PCSetFromOptions(pc); });
    EXPECT_EQ(static_cast<int>(refusal.code), PETSC_ERR_ARG_OUTOFRANGE) << option;
    EXPECT_NE(refusal.message.find(option.substr(0, option.find(' ')) + " must "), std::string::npos) << refusal.message;
    OK(replace_options());
    OK(PCSetFromOptions(pc));
  }
}

INSTANTIATE_TEST_SUITE_P(Types, BadOptions, all_types(), [](const auto &info) { return info.param; });
} // namespace amgkit::test
