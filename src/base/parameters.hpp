// A parameter is stated once: name, default, range, meaning, source. The list drives the options database, -help, the view and
// the manual page.
#pragma once
#include "base/compat.hpp"

#include <petscviewer.h>
#include <string>
#include <variant>
#include <vector>

namespace amgkit
{
struct IntegerRange {
  PetscInt *value;
  PetscInt least, most;
};
struct RealRange {
  PetscReal *value;
  PetscReal least, most;
};
struct Flag {
  PetscBool *value;
};
struct Choice {
  int *value; // index into names
  std::vector<const char *> names;
};

struct Parameter {
  std::string name; // the option is -pc_<type>_<name>
  std::variant<IntegerRange, RealRange, Flag, Choice> kind;
  std::string meaning; // one sentence
  std::string source;  // paper or system the default comes from; empty: this project
};
using ParameterList = std::vector<Parameter>;
// The second list behind the first
ParameterList joined(ParameterList, ParameterList);

// What -pc_<type>_space chooses, of every type.
enum class SpaceKind : int { automatic, host, debug };

// Reads the options -pc_<type>_<name>, to be called between PetscOptionsHeadBegin and End. A value out of range or an unknown
// name is an error that names the option.
PetscErrorCode parameters_from_options(OptionItems, const std::string &type, const ParameterList &);
// One line: name=value, name=value, ...
std::string parameters_summary(const ParameterList &);
// The manual page's section on options, from the same list: name, type, range, default (the present value), meaning, source.
std::string parameters_manual(const std::string &type, const ParameterList &);
} // namespace amgkit
