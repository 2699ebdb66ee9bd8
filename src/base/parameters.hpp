// A parameter is stated once: name, default, range, meaning, source. The list drives the options database, -help, the view and
// the manual page.
#pragma once
#include "base/compat.hpp"

#include <functional>
#include <petscviewer.h>
#include <string>
#include <string_view>
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
// One of the enumerators of an enum, made by choice(); names holds one for each, in their order.
struct Choice {
  std::function<std::size_t()> get; // as index into names
  std::function<void(std::size_t)> set;
  std::vector<const char *> names;
};

#if defined(__EDG__)
template <class E, std::size_t N> inline constexpr bool one_name_each = true; // its __PRETTY_FUNCTION__ tells nothing
#else
// The compilers write an enumerator in the name of a function as E::name, a value that is none as (E)5.
template <auto Value> constexpr bool is_enumerator()
{
  return std::string_view(__PRETTY_FUNCTION__).find("Value = (") == std::string_view::npos;
}
// Of E, which count from 0.
template <class E, std::size_t First = 0> constexpr std::size_t count_enumerators()
{
  if constexpr (is_enumerator<static_cast<E>(First)>())
    return count_enumerators<E, First + 1>();
  else
    return First;
}
template <class E, std::size_t N> inline constexpr bool one_name_each = count_enumerators<E>() == N;
#endif

// choice(&kind, {"first", "second", ...}): as many names as the enum has enumerators, else it does not compile.
template <class E, std::size_t N>
requires one_name_each<E, N> Choice choice(E *value, const char *const (&names)[N])
{
  return {[=] { return static_cast<std::size_t>(*value); },
          [=](std::size_t index) { *value = static_cast<E>(index); },
          {std::begin(names), std::end(names)}};
}

struct Parameter {
  std::string name; // the option is -pc_<type>_<name>
  std::variant<IntegerRange, RealRange, Flag, Choice> kind;
  std::string meaning;          // a line of -help: at most 100 characters, without a full stop
  std::string explanation = {}; // whole sentences that the manual page adds
  std::string source = {};      // paper or system the default comes from; empty: this project
};
using ParameterList = std::vector<Parameter>;
// The second list behind the first
ParameterList joined(ParameterList, ParameterList);

// What -pc_<type>_space chooses, of every type.
enum class SpaceKind { automatic, host, gpu, debug };
Parameter space_parameter(SpaceKind *);

// Whether processes of a node leave their rows to fewer of them, of every type: -pc_<type>_consolidate. Each does so wherever the one
// before it does.
enum class ConsolidateKind { no, copied, automatic, yes };
struct Consolidation {
  ConsolidateKind kind = ConsolidateKind::copied;
  PetscInt processes = 0; // of a node, that hold the rows; 0: as many as it has GPUs
  ParameterList list();
  // Whether that is to be done where the preconditioner runs in this space: host, gpu or debug. on_gpu: the matrix is on a GPU.
  bool asked(SpaceKind space, bool on_gpu) const;
};

// The values of one list become those of another, of the same parameters in the same order.
void copy_values(const ParameterList &from, const ParameterList &to);

// Reads the options -pc_<type>_<name>, to be called between PetscOptionsHeadBegin and End. A value out of range or an unknown
// name is an error that names the option.
PetscErrorCode parameters_from_options(OptionItems, const std::string &type, const ParameterList &);
// One line: name=value, name=value, ... Values are exact: other values make another line.
std::string parameters_summary(const ParameterList &);
// The manual page's section on options, from the same list: name, type, range, default (the present value), meaning, source.
std::string parameters_manual(const std::string &type, const ParameterList &);
} // namespace amgkit
