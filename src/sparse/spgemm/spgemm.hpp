// Products of one rank's sparse matrices, C = A B and C = R A P, pattern and values apart.
//
// native sums every entry of C from 0 in one fixed order, that of the left factor's entries: all spaces compute the same bits, in every
// run. Its rows of C are collected in hash tables, in shared memory on Cuda, rows too long for them as bits of all of C's columns; on a
// plain host in an array of these.
//
// A numeric A P of 7-point 256³ with 3.25 entries in a row of P, 0.38 G terms, must read A, 1.4 GB, P, 0.7 GB, and of C, 196 M entries, the
// columns, 0.8 GB, and write its values, 1.6 GB: 1.1 ms on an H200. At 12 bytes a term, from caches, 30 G terms/s are 0.36 TB/s. So it is
// latency and instructions that bind: few lanes a row and small tables, to have many rows under way.
//
// Where the columns of B come in runs, as those of smoothed aggregation's prolongators do, native looks up runs, not columns: a lane takes
// a run of B, 8 bytes a term and 4 more a run, finds its place once and adds all its terms. C has the same runs, and its pattern is found
// on runs alone. For 6 runs of 6 in a row of P the SASS has about 35 instructions of a lane a term, idle lanes counted, where lanes that
// take an entry each have 130.
#pragma once
#include "base/array.hpp"

#include <memory>
#include <vector>

namespace amgkit
{
// native: ours, in every space. cusparse: cuSPARSE's SpGEMMreuse, on Cuda. kokkos: Kokkos Kernels, where CMake found it, on hosts, and on
// Cuda where it was built with CUDA.
enum class SpgemmKind { native, cusparse, kokkos };

struct SpgemmOptions {
  SpgemmKind kind = SpgemmKind::native;
  std::int64_t work_bytes = std::int64_t{256} << 20; // native: at most so many for long rows, which are done in slices, a row at least
  std::int64_t kept_bytes = std::int64_t{512} << 20; // native: at most so many for columns that are kept, see spgemm_columns.hpp
  // About so many for A P in R (A P) with the rows of A that it is made of, see sliced_product.hpp; 0: half of what is free, as slices
  // share rows and find their patterns twice: four of them at 7-point 256³ take 261 ms for a setup of 206.
  std::int64_t product_bytes = 0;
  // native: where a rank's A has more entries than this, its rows with ghosts may be multiplied apart, so that R A P needs no copy of A:
  // see boundary_product.hpp. -1: 2^25 on GPUs, where that takes some more kernels, 2^20 on hosts.
  std::int64_t most_copied_entries = -1;
  // native: at most about so many for the values of A P in R (A P), where that is possible, see windowed_product.hpp.
  std::int64_t window_bytes = std::int64_t{128} << 20;
  // The right factor's columns come in complete aligned runs: a row that has one of the columns run I to run I + run - 1 has them all.
  // native uses it, values by runs of 2, 3 and 6 in A B, patterns by any; it changes no bit of C.
  int run = 1;
  bool with_values = true; // spgemm_symbolic(), native: else C's values are not allocated
  // The left factor's entries may come in complete aligned blocks of rows x inner, and the right one's in blocks of inner x run: a node's
  // rows have one pattern. Where both do, which native looks for with one pass over their columns, patterns are found by blocks, and values
  // summed by them for the shapes in spgemm_lanes.hpp; elsewhere by runs alone. It changes no bit of C.
  int rows = 1, inner = 1;
};

// What a back end other than native keeps of a pattern.
struct SpgemmState {
  SpgemmState() = default;
  SpgemmState(const SpgemmState &) = delete;
  SpgemmState &operator=(const SpgemmState &) = delete;
  virtual ~SpgemmState() = default;
};

// How to fill a pattern with values: made by the symbolic call, read by the numeric ones.
template <class Ex> struct SpgemmPlan {
  static constexpr int tables = 4; // sizes of them

  SpgemmKind kind = SpgemmKind::native;
  std::int64_t products = 0; // native: so many terms a numeric call sums, at most 2^31 - 1 of them counted for a row
  int run = 1;               // native: columns of a run that are summed together
  int rows = 1, inner = 1;   // native, rows > 1: by blocks, as in SpgemmOptions
  bool incomplete = false;   // native: blocks were looked for, and not all are complete
  Csr<double, Ex> runs;      // native, run > 1: which runs, or blocks of inner x run, B has; no values
  // native: row[k], begin[t] <= k < begin[t + 1], are C's rows for tables of size t, ascending. Those from begin[tables] on are too long,
  // and are summed in windows of their runs: the l-th of them in window[l] to window[l + 1] - 1. By blocks, these are rows of blocks.
  Array<int, Ex> row, window;
  std::int64_t begin[tables + 2] = {}, windows = 0;
  // native, after spgemm_note_places(): of each product of runs, or blocks, its place among those of its row of C; first[i]: products of
  // the rows before row i. one_each: every entry of A has one product, and first is A's.
  Array<int, Ex> first;
  Array<unsigned char, Ex> place;
  bool one_each = false, places_sought = false;
  std::unique_ptr<SpgemmState> state;

  bool noted() const { return place.size() > 0; }
  std::size_t bytes() const { return runs.bytes() + row.bytes() + window.bytes() + first.bytes() + place.bytes(); } // but for the state's
};

// native: rows first <= i < end of C in the lists of a plan: row[k], begin[t] <= k < end[t], and the windows of those too long.
struct SpgemmPart {
  static constexpr int lists = SpgemmPlan<Host>::tables + 1;

  int first = 0, end = 0;
  std::int64_t begin_of[lists] = {}, end_of[lists] = {}, begin_window = 0, end_window = 0;
};
// Completes parts, whose first and end are set. Waits.
template <class Ex> PetscErrorCode find_parts(Ex &, const SpgemmPlan<Ex> &, std::vector<SpgemmPart> &);

// Whether this build has the back end for the space, and it can run here.
template <class Ex> bool spgemm_available(SpgemmKind);

// C's pattern: columns ascending; values allocated, not set. Reads no values. Waits. Errors: PETSC_ERR_ARG_OUTOFRANGE when C would have
// more than 2^31 - 1 entries, PETSC_ERR_SUP for a back end that is not available, PETSC_ERR_ARG_INCOMP where native finds that the right
// factor has no such runs, PETSC_ERR_MEM. C is then undefined.
template <class Ex>
PetscErrorCode spgemm_symbolic(Ex &, const SpgemmOptions &, CsrView<double> A, CsrView<double> B, Csr<double, Ex> &C, SpgemmPlan<Ex> &plan);
// C's values, as often as wanted, for any values of A and B with the patterns that the plan was made for. native neither waits nor
// allocates.
template <class Ex>
PetscErrorCode spgemm_numeric(Ex &, const SpgemmPlan<Ex> &plan, CsrView<double> A, CsrView<double> B, Csr<double, Ex> &C);

// Rows of a product that are computed elsewhere: its row row[l] is row l of M. row ascends. All are in the space's memory.
struct GivenRows {
  const int *row = nullptr;
  CsrView<double> M;

  int n() const { return M.rows; }
};
// Both at once: C's pattern, and its values, whatever options.with_values says. native: only where these take at most values_bytes; else
// C.val is empty. On a plain host native takes one pass for both where it sums neither runs nor blocks. Waits. Errors: as
// spgemm_symbolic().
// given, native without runs and blocks: C has these rows in place of those of A B, all of whose columns they have. Numeric calls spoil
// their values; spgemm_put_values() sets them again.
template <class Ex>
PetscErrorCode spgemm_product(Ex &, SpgemmOptions options, CsrView<double> A, CsrView<double> B, Csr<double, Ex> &C, SpgemmPlan<Ex> &plan,
                              std::int64_t values_bytes = INT64_MAX, const GivenRows &given = {});
// val[ptr[i], ...] <- the values of the rows first <= i < end of C that are given. ptr: C's.
template <class Ex> PetscErrorCode spgemm_put_values(Ex &, const GivenRows &given, int first, int end, const int *ptr, double *val);

// Once a plan: notes where each product of the pattern goes, 1 byte a product and 4 a row of C. Numeric calls then look nothing up, and
// read no columns of B and C, but for long rows, of more than 256 columns, or runs, or 128 blocks. It changes no bit of C. native, of two
// factors. Does nothing where there are 2^31 - 1 products or more, or the memory is not to spare, see memory.hpp. C's pattern is the
// symbolic call's. Waits. Errors: PETSC_ERR_MEM; the plan serves as before.
template <class Ex>
PetscErrorCode spgemm_note_places(Ex &, CsrView<double> A, CsrView<double> B, const Csr<double, Ex> &C, SpgemmPlan<Ex> &plan);

// Rows of a C that may have more: ptr is theirs, col and val are the whole's.
struct SpgemmRows {
  int rows = 0, cols = 0;
  const int *ptr = nullptr, *col = nullptr;
  double *val = nullptr;
};
// The values of these rows, which the plan was made for as a C of their own. native alone.
template <class Ex>
PetscErrorCode spgemm_numeric(Ex &, const SpgemmPlan<Ex> &plan, CsrView<double> A, CsrView<double> B, const SpgemmRows &C);
// The values of a part of C's rows; val[k] of other entries need not be there. native alone.
template <class Ex>
PetscErrorCode spgemm_numeric(Ex &, const SpgemmPlan<Ex> &plan, const SpgemmPart &, CsrView<double> A, CsrView<double> B,
                              const SpgemmRows &C);

// The same for C = R A P, c_IJ = sum of (r_Ii a_ij) p_jJ, row by row: A P is not formed. native alone.
template <class Ex>
PetscErrorCode triple_product_symbolic(Ex &, const SpgemmOptions &, CsrView<double> R, CsrView<double> A, CsrView<double> P,
                                       Csr<double, Ex> &C, SpgemmPlan<Ex> &plan);
template <class Ex>
PetscErrorCode triple_product_numeric(Ex &, const SpgemmPlan<Ex> &plan, CsrView<double> R, CsrView<double> A, CsrView<double> P,
                                      Csr<double, Ex> &C);
} // namespace amgkit
