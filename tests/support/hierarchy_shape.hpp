// A hierarchy's levels on the host, to be compared between spaces.
#pragma once
#include "amg/hierarchy.hpp"
#include "amg/prolongation_classical.hpp"
#include "amg/prolongation_matching.hpp"
#include "amg/prolongation_smoothed.hpp"
#include "amgkit.h"

#include <map>
#include <string>
#include <vector>

namespace amgkit::test
{
// Rows of every level; all patterns and values of this rank on the levels below the finest, which is the user's. Values of large coarse
// matrices are those of the cycle, in single precision where the parameters have it so.
struct Shape {
  std::vector<PetscInt> rows;
  std::vector<int> patterns;
  std::vector<double> values;
};

enum class Method { matching, classical, smoothed };

// An exception where there is none: a new type is missing here.
inline Method method_of(const std::string &type)
{
  static const std::map<std::string, Method> methods = {
      {PCAMGMATCHING, Method::matching}, {PCAMGCLASSICAL, Method::classical}, {PCAMGSA, Method::smoothed}};
  return methods.at(type);
}

// With the method's own defaults
template <class Ex> std::unique_ptr<Prolongation<Ex>> make_prolongation(Method method)
{
  static const Coordinates unknown;
  switch (method) {
  case Method::matching:
    return make_matching_prolongation<Ex>({});
  case Method::classical:
    return make_classical_prolongation<Ex>({});
  case Method::smoothed:
    return make_smoothed_prolongation<Ex>({}, unknown);
  }
  return nullptr;
}

template <class Ex> PetscErrorCode shape_of(Ex &ex, Mat A, const AmgParameters &parameters, Shape &out, Method method = Method::matching)
{
  Hierarchy<Ex> hierarchy;
  const auto prolongation = make_prolongation<Ex>(method);

  PetscFunctionBegin;
  PetscCall(hierarchy.build(ex, A, parameters, *prolongation));
  for (const LevelStatistics &level : hierarchy.statistics) out.rows.push_back(level.rows);
  for (std::size_t l = 1; l < hierarchy.levels.size(); l++) {
    Csr<double, Ex> room;
    CsrView<double> diag;
    PetscCall(hierarchy.levels[l]->A.own_rows(ex, room, diag));
    for (const CsrView<double> &block : {diag, hierarchy.levels[l]->A.offd}) {
      std::vector<int> ptr, col;
      std::vector<double> val;
      PetscCall(download(ex, block.ptr, block.rows + 1, ptr));
      PetscCall(download(ex, block.col, block.nnz, col));
      PetscCall(download(ex, block.val, block.nnz, val));
      out.patterns.insert(out.patterns.end(), ptr.begin(), ptr.end());
      out.patterns.insert(out.patterns.end(), col.begin(), col.end());
      out.values.insert(out.values.end(), val.begin(), val.end());
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace amgkit::test
