#include "base/parameters.hpp"

#include <charconv>
#include <petscoptions.h>

namespace amgkit
{
namespace
{
std::string range_of(const Choice &p)
{
  std::string s = "one of ";
  for (const char *name : p.names) s += std::string(name == p.names.front() ? "" : ", ") + name;
  return s;
}

PetscErrorCode read(OptionItems PetscOptionsObject, const char *option, const char *meaning, const IntegerRange &p)
{
  PetscInt value = *p.value;
  PetscFunctionBegin;
  PetscCall(PetscOptionsInt(option, meaning, nullptr, value, &value, nullptr));
  PetscCheck(value >= p.least && value <= p.most, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "%s must lie in [%" PetscInt_FMT ", %" PetscInt_FMT "], not %" PetscInt_FMT, option, p.least, p.most, value);
  *p.value = value;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode read(OptionItems PetscOptionsObject, const char *option, const char *meaning, const RealRange &p)
{
  PetscReal value = *p.value;
  PetscFunctionBegin;
  PetscCall(PetscOptionsReal(option, meaning, nullptr, value, &value, nullptr));
  PetscCheck(value >= p.least && value <= p.most, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "%s must lie in [%g, %g], not %g", option,
             static_cast<double>(p.least), static_cast<double>(p.most), static_cast<double>(value));
  *p.value = value;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode read(OptionItems PetscOptionsObject, const char *option, const char *meaning, const Flag &p)
{
  PetscFunctionBegin;
  PetscCall(PetscOptionsBool(option, meaning, nullptr, *p.value, p.value, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// An unknown name is found here: PetscOptionsEList() would leak memory, and name no choices.
PetscErrorCode read(OptionItems PetscOptionsObject, const char *option, const char *meaning, const Choice &p)
{
  auto value = static_cast<PetscInt>(p.get());
  char given[64];
  PetscBool set, known = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetString(PetscOptionsObject->options, PetscOptionsObject->prefix, option, given, sizeof given, &set));
  for (const char *name : p.names) {
    if (set && !known) PetscCall(PetscStrcasecmp(given, name, &known));
  }
  PetscCheck(!set || known, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "%s must be %s, and not %s", option, range_of(p).c_str(), given);
  PetscCall(
      PetscOptionsEList(option, meaning, nullptr, p.names.data(), static_cast<PetscInt>(p.names.size()), p.names[value], &value, nullptr));
  p.set(static_cast<std::size_t>(value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// With as many digits as tell x from every other number.
std::string text(PetscReal x)
{
  char digits[64];
  return {digits, std::to_chars(digits, digits + sizeof digits, x).ptr};
}
std::string value_of(const IntegerRange &p) { return std::to_string(*p.value); }
std::string value_of(const RealRange &p) { return text(*p.value); }
std::string value_of(const Flag &p) { return *p.value ? "true" : "false"; }
std::string value_of(const Choice &p) { return p.names[p.get()]; }

std::string range_of(const IntegerRange &p) { return "integer in [" + std::to_string(p.least) + ", " + std::to_string(p.most) + "]"; }
std::string range_of(const RealRange &p) { return "real in [" + text(p.least) + ", " + text(p.most) + "]"; }
std::string range_of(const Flag &) { return "true or false"; }
} // namespace

Parameter space_parameter(SpaceKind *space)
{
  return {
      "space", choice(space, {"auto", "host", "gpu", "debug"}),
      "Where to run: where the matrix is (auto), on the CPU (host, or debug, with checks), on a GPU (gpu)",
      "With gpu the matrix may be on the CPU: its pattern is copied once, and its values when they have changed. The option -amgkit_gpu "
      "means gpu for all preconditioners whose own option is auto; with -amgkit_gpu try they run on the CPU if there is no GPU. The "
      "debug space runs loops in a shuffled order, poisons new memory and copies the matrix, so that errors show."};
}

ParameterList Consolidation::list()
{
  return {
      {"consolidate", choice(&kind, {"no", "copied", "auto", "yes"}),
       "Whether processes of a node hand their rows to one per GPU; copied: if the CPU has the matrix",
       "Those that hold the rows then do all the work of the preconditioner; with amgfcg and amgfgmres, they do the whole solve. The "
       "others "
       "hand over rows, right-hand sides and new values through shared memory, and sleep during the solve. With copied, rows are handed "
       "over "
       "if AMGKit copies the matrix from the CPU to a GPU (-amgkit_gpu, or space gpu) and a node has more processes than GPUs. With auto, "
       "also if PETSc has the matrix on a GPU; with yes, on CPUs, too. The debug space stands for a GPU if consolidate_to is not 0. Rows "
       "are "
       "not handed over with export_mg, nor if the processes of a node do not have consecutive ranks. With copied, sharing ends when "
       "PCGetInterpolations() or PCGetCoarseOperators() is called. -ksp_view shows which processes share what.",
       "AmgX"},
      {"consolidate_to", IntegerRange{&processes, 0, 100000}, "Number of processes of a node that hold the rows; 0 means one for each GPU",
       "On CPUs, 0 means one."},
  };
}

bool Consolidation::asked(SpaceKind space, bool on_gpu) const
{
  const bool as_on_gpu = space == SpaceKind::gpu || (space == SpaceKind::debug && processes > 0);
  if (kind == ConsolidateKind::copied) return as_on_gpu && !on_gpu;
  return kind == ConsolidateKind::yes || (kind == ConsolidateKind::automatic && as_on_gpu);
}

void copy_values(const ParameterList &from, const ParameterList &to)
{
  for (std::size_t k = 0; k < from.size(); k++) {
    std::visit(
        [&](const auto &source) {
          const auto &target = std::get<std::decay_t<decltype(source)>>(to[k].kind);
          if constexpr (std::is_same_v<std::decay_t<decltype(source)>, Choice>)
            target.set(source.get());
          else
            *target.value = *source.value;
        },
        from[k].kind);
  }
}

ParameterList joined(ParameterList first, ParameterList second)
{
  for (Parameter &p : second) first.push_back(std::move(p));
  return first;
}

PetscErrorCode parameters_from_options(OptionItems items, const std::string &type, const ParameterList &list)
{
  PetscFunctionBegin;
  for (const Parameter &p : list) {
    const std::string option = "-pc_" + type + "_" + p.name;
    PetscCall(std::visit([&](const auto &kind) { return read(items, option.c_str(), p.meaning.c_str(), kind); }, p.kind));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::string parameters_summary(const ParameterList &list)
{
  std::string s;
  for (const Parameter &p : list) {
    if (!s.empty()) s += ", ";
    s += p.name + "=" + std::visit([](const auto &kind) { return value_of(kind); }, p.kind);
  }
  return s;
}

std::string parameters_manual(const std::string &type, const ParameterList &list)
{
  std::string s;
  for (const Parameter &p : list) {
    const auto value = std::visit([](const auto &kind) { return value_of(kind); }, p.kind);
    const auto range = std::visit([](const auto &kind) { return range_of(kind); }, p.kind);
    s.append("- `-pc_")
        .append(type)
        .append("_")
        .append(p.name)
        .append("`: ")
        .append(range)
        .append(std::holds_alternative<Choice>(p.kind) ? "; default " : ", default ")
        .append(value);
    s.append(". ").append(p.meaning).append(".");
    if (!p.explanation.empty()) s.append(" ").append(p.explanation);
    if (!p.source.empty()) s.append(" Source: ").append(p.source).append(".");
    s.append("\n");
  }
  return s;
}
} // namespace amgkit
