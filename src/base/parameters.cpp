#include "base/parameters.hpp"

#include <petscoptions.h>
#include <sstream>

namespace amgkit
{
namespace
{
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

PetscErrorCode read(OptionItems PetscOptionsObject, const char *option, const char *meaning, const Choice &p)
{
  PetscInt value = *p.value;
  PetscFunctionBegin;
  PetscCall(PetscOptionsEList(option, meaning, nullptr, p.names.data(), static_cast<PetscInt>(p.names.size()), p.names[*p.value], &value,
                              nullptr));
  *p.value = static_cast<int>(value);
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::string text(PetscReal x)
{
  std::ostringstream s;
  s << x;
  return s.str();
}
std::string value_of(const IntegerRange &p) { return std::to_string(*p.value); }
std::string value_of(const RealRange &p) { return text(*p.value); }
std::string value_of(const Flag &p) { return *p.value ? "true" : "false"; }
std::string value_of(const Choice &p) { return p.names[*p.value]; }

std::string range_of(const IntegerRange &p) { return "integer in [" + std::to_string(p.least) + ", " + std::to_string(p.most) + "]"; }
std::string range_of(const RealRange &p) { return "real in [" + text(p.least) + ", " + text(p.most) + "]"; }
std::string range_of(const Flag &) { return "true or false"; }
std::string range_of(const Choice &p)
{
  std::string s = "one of";
  for (const char *name : p.names) s += std::string(" ") + name;
  return s;
}
} // namespace

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
    s.append("- `-pc_").append(type).append("_").append(p.name).append("`: ").append(range).append(", default ").append(value);
    s.append(". ").append(p.meaning).append(".");
    if (!p.source.empty()) s.append(" Source: ").append(p.source).append(".");
    s.append("\n");
  }
  return s;
}
} // namespace amgkit
