// The values of C = A B where A consists of blocks of Rows x Inner entries and B of Inner x M: the pattern of the blocks is all that is
// looked up. A lane takes a block of B (where B has few of them in a row, a column of all blocks), finds its place among the sums of the
// Rows rows of C once, and adds the block of A times it to Rows M of them. The rows of a block are added one after the other: every sum has
// the order that it has in spgemm_kernels.hpp, and its bits.
//
// At Rows x Inner x M = 3 x 3 x 6, A P of 3D elasticity, a lane loads 9 + 18 numbers and adds 54 products to 18 sums in scratch memory: 5
// instructions a product where a lane that takes a run of one row has 35, as an estimate.
#pragma once
#include "sparse/rows/search.hpp"
#include "sparse/spgemm/spgemm_backends.hpp"
#include "sparse/spgemm/spgemm_factors.hpp"
#include "sparse/spgemm/spgemm_lanes.hpp"

namespace amgkit
{
namespace spgemm
{
struct BlockFactors {
  CsrView<double> A, B, blocks; // blocks: of B, without values
};

// Where the lane's block of B is: its column of blocks, or its product's place, its block r of A's row, and in units of M entries of B its
// first row's begin and the distance of its rows.
struct BlockAt {
  int where, r, first, step;
};

template <int Rows, int M> struct BlockSums {
  double of[Rows][M];

  AMGKIT_FN void load(const double *from)
  {
    for (int p = 0; p < Rows; p++) {
      for (int q = 0; q < M; q++) of[p][q] = from[p * M + q];
    }
  }
  AMGKIT_FN void store(double *to) const
  {
    for (int p = 0; p < Rows; p++) {
      for (int q = 0; q < M; q++) to[p * M + q] = of[p][q];
    }
  }
};

// More blocks than that in a row of B, on average, keep lanes busy that take a block each.
constexpr double most_by_columns = 2;
// Lanes that take a column have four blocks of A under way, in registers: those of at most so many entries.
constexpr int most_in_registers = 9;

template <int Rows, int Inner, int M> struct Blocks {
  static constexpr int sums = Rows * M;

  // The blocks of A in a node's rows, of which each has as many entries.
  struct BlockRow {
    int begin, length;
    AMGKIT_FN int node(const CsrView<double> &A, int r) const { return A.col[begin + Inner * r] / Inner; }
  };

  // sum <- sum + a b; a: the block's first entry, its rows apart by row_of_a
  static AMGKIT_FN void add(const double *a, int row_of_a, const double *b, int row_of_b, BlockSums<Rows, M> &sum)
  {
    for (int c = 0; c < Inner; c++) {
      for (int p = 0; p < Rows; p++) {
        const double factor = a[p * row_of_a + c];
        for (int q = 0; q < M; q++) sum.of[p][q] += factor * b[c * row_of_b + q];
      }
    }
  }

  // The same by pairs of columns, which a register of a host has side by side: the compiler does not find them.
  static AMGKIT_FN void add_pairs(const double *a, int row_of_a, const double *b, int row_of_b, double *sum)
  {
    using Pair = Pack<amgkit::Rows<2>>;
    constexpr int pairs = M / 2;
    Pair of_b[Inner][pairs];
    for (int c = 0; c < Inner; c++) {
      for (int k = 0; k < pairs; k++) of_b[c][k] = load_pack<Pair>(b + c * row_of_b + 2 * k);
    }
    for (int p = 0; p < Rows; p++) {
      Pair of[pairs];
      for (int k = 0; k < pairs; k++) of[k] = load_pack<Pair>(sum + p * M + 2 * k);
      for (int c = 0; c < Inner; c++) {
        for (int k = 0; k < pairs; k++) of[k] += a[p * row_of_a + c] * of_b[c][k];
      }
      for (int k = 0; k < pairs; k++) store_pack(of[k], sum + p * M + 2 * k);
    }
  }

  // Lanes take a block of B each.
  struct ByBlocks {
    template <class Team, class Columns, class Places, class Table>
    static AMGKIT_FN void add_products(const Team &team, const BlockFactors &in, const BlockRow &row, const Columns &columns,
                                       const Places &places, Table &table)
    {
      team.for_numbered_entries_in_order(
          row.length / Inner, [&](int r) { return columns.of(in.blocks, row.node(in.A, r)); },
          [&](int r, int k, int nth) { return block_at(in, row, places.load(in.blocks, k, nth), r, k); },
          [&](int, const BlockAt &at) {
            const int place = places.place(table, at.where);
            if (place < 0) return;
            const double *a = in.A.val + row.begin + Inner * at.r, *b = in.B.val + std::int64_t{M} * at.first;
            if constexpr (teams_are_threads && M % 2 == 0) {
              add_pairs(a, row.length, b, M * at.step, table.sum[place]);
            } else {
              BlockSums<Rows, M> sum;
              sum.load(table.sum[place]);
              add(a, row.length, b, M * at.step, sum);
              sum.store(table.sum[place]);
            }
          });
    }
  };

  // Lane q takes column q of every block of B, and so of all sums: none waits for another. Where B has one block a row, as a tentative
  // prolongator has, one lane of those that take a block each would work while the others wait.
  struct ByColumns {
    struct Column {
      int where;
      double a[Rows][Inner], b[Inner];
    };
    template <class Team, class Columns, class Places, class Table>
    static AMGKIT_FN void add_products(const Team &team, const BlockFactors &in, const BlockRow &row, const Columns &columns,
                                       const Places &places, Table &table)
    {
      for (int q : team.share(0, M)) {
        team.lane().for_numbered_entries_in_order(
            row.length / Inner, [&](int r) { return columns.of(in.blocks, row.node(in.A, r)); },
            [&](int r, int k, int nth) {
              const BlockAt at = block_at(in, row, places.load(in.blocks, k, nth), r, k);
              Column of{at.where, {}, {}};
              for (int c = 0; c < Inner; c++) {
                for (int p = 0; p < Rows; p++) of.a[p][c] = in.A.val[row.begin + p * row.length + Inner * r + c];
                of.b[c] = in.B.val[M * (std::int64_t{at.first} + c * at.step) + q];
              }
              return of;
            },
            [&](int, const Column &of) {
              const int place = places.place(table, of.where);
              if (place < 0) return;
              for (int p = 0; p < Rows; p++) {
                double sum = table.sum[place][p * M + q];
                for (int c = 0; c < Inner; c++) sum += of.a[p][c] * of.b[c];
                table.sum[place][p * M + q] = sum;
              }
            });
      }
    }
  };

  static AMGKIT_FN BlockAt block_at(const BlockFactors &in, const BlockRow &row, int where, int r, int k)
  {
    const int K = row.node(in.A, r), first = in.blocks.ptr[K];
    return {where, r, Inner * first + k - first, in.blocks.ptr[K + 1] - first};
  }

  // val[p stride + t] <- the sum at column col[t] of row p of the node I, for the n ascending runs of M columns that the table holds
  template <class By, class Team, class Columns, class Places, class Table>
  static AMGKIT_FN void sum_node(const Team &team, const BlockFactors &in, int I, const Columns &columns, const Places &places,
                                 Table &table, int n, const int *col, double *val, int stride)
  {
    for (int t : team.share(0, n)) {
      for (int c = 0; c < sums; c++) table.sum[t][c] = 0;
    }
    places.prepare(team, table, n, col, M);
    const int begin = in.A.ptr[Rows * I];
    By::add_products(team, in, BlockRow{begin, in.A.ptr[Rows * I + 1] - begin}, columns, places, table);
    team.sync();
    for (int p = 0; p < Rows; p++) {
      for (int t : team.share(0, M * n)) val[p * stride + t] = table.sum[t / M][p * M + t % M];
    }
  }

  // The n nodes consist of Parts times Rows rows; a team takes Rows of them.
  template <class By, int Lanes, int Parts, class Table, class Places, class Ex>
  static PetscErrorCode sum_nodes(Ex &ex, const BlockFactors &in, const Places &places, const int *node, std::int64_t n,
                                  const SpgemmRows &C)
  {
    const int *ptr = C.ptr, *col = C.col;
    double *val = C.val;
    return for_rows_with<Lanes, Table>(ex, n * Parts, [=] AMGKIT_FN(auto team, std::int64_t l, auto &table) {
      const int J = node[l / Parts], I = J * Parts + static_cast<int>(l % Parts);
      const int begin = ptr[Rows * I], length = ptr[Rows * I + 1] - begin;
      sum_node<By>(team, in, I, WholeRows{}, places.of(J), table, length / M, col + begin, val + begin, length);
    });
  }

  // The nodes whose rows are longer than a table, in windows as in spgemm_kernels.hpp.
  template <int Parts, class Ex>
  static PetscErrorCode sum_windows(Ex &ex, const BlockFactors &in, const SpgemmPlan<Ex> &plan, const SpgemmRows &C)
  {
    constexpr int most = block_columns_of(tables - 1);
    const int *ptr = C.ptr, *col = C.col, *node = plan.row.data() + plan.begin[tables], *window = plan.window.data();
    const int longs = static_cast<int>(plan.begin[tables + 1] - plan.begin[tables]);
    double *val = C.val;
    return for_rows_with<32, BlockTable<block_slots_of(tables - 1), sums>>(
        ex, plan.windows * Parts, [=] AMGKIT_FN(auto team, std::int64_t nth, auto &table) {
          const std::int64_t w = nth / Parts;
          const int l = piece_of(window, longs, w), I = node[l] * Parts + static_cast<int>(nth % Parts);
          const int length = ptr[Rows * I + 1] - ptr[Rows * I];
          const int skipped = (static_cast<int>(w) - window[l]) * most, left = length / M - skipped, n = left < most ? left : most;
          const int begin = ptr[Rows * I] + M * skipped;
          const Window columns{col[begin] / M, col[begin + M * (n - 1)] / M};
          sum_node<ByBlocks>(team, in, I, columns, ByColumn{}, table, n, col + begin, val + begin, length);
        });
  }

  // The n nodes of a list whose rows fit tables of size T. working: lanes with work at once, on average.
  template <class By, bool Noted, int Least, int Parts, int T, class Ex>
  static PetscErrorCode sum_list(Ex &ex, const BlockFactors &in, const SpgemmPlan<Ex> &plan, double working, const int *node,
                                 std::int64_t n, const SpgemmRows &C)
  {
    using Table = std::conditional_t<Noted, BlockSumsOf<block_columns_of(T), sums>, BlockTable<block_slots_of(T), sums>>;
    using Places = std::conditional_t<Noted, AllAsNoted, AllByColumn>;
    Places places{};
    if constexpr (Noted) places = {plan.first.data(), plan.place.data()};
    return with_lanes<Table, Least>(
        lanes_for(working), [&](auto lanes) { return sum_nodes<By, decltype(lanes)::value, Parts, Table>(ex, in, places, node, n, C); });
  }

  // Noted: the plan has places.
  template <bool Noted, int Parts, class Ex>
  static PetscErrorCode numeric(Ex &ex, const BlockFactors &in, const SpgemmPlan<Ex> &plan, const SpgemmRows &C)
  {
    // the host's one lane would go through A for each column
    constexpr bool by_columns = !Ex::one_by_one && Rows * Inner <= most_in_registers;
    const double average = in.blocks.average();
    std::int64_t next = 0; // of plan.row

    PetscFunctionBegin;
    PetscCall(for_sizes([&](auto size) {
      constexpr int T = decltype(size)::value;
      const int *node = plan.row.data() + next;
      const std::int64_t n = plan.begin[T + 1] - next;
      const bool few = n * Parts < few_teams<Ex>;
      // As join_lists_of_few(), by teams. The last list, if it is of few, has twice the lanes where these take a block of B each.
      if (few && plan.begin[tables] > plan.begin[T + 1]) return PETSC_SUCCESS;
      next = plan.begin[T + 1];
      if constexpr (by_columns) {
        constexpr int least = M <= 4 ? 4 : 8;
        if (average <= most_by_columns) return sum_list<ByColumns, Noted, least, Parts, T>(ex, in, plan, M, node, n, C);
      }
      return sum_list<ByBlocks, Noted, 8, Parts, T>(ex, in, plan, few ? 2 * average : average, node, n, C);
    }));
    PetscCall(sum_windows<Parts>(ex, in, plan, C));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

// Teams that have whole nodes of fewer than so many do not fill a GPU: the coarse nodes of 3D elasticity are a 27th, and their rows long.
// A CPU has nothing to fill, but registers for 18 sums and not for 36: it takes six rows by halves.
constexpr std::int64_t few_nodes = 4096;
// Nor do halves of nodes with the sums of 6 rows, 37 KiB of them in the largest table, of fewer than so many.
constexpr std::int64_t few_large_nodes = 32768;

// By one of the shapes S <= s < End.
template <bool Noted, int S, int End, class Ex>
PetscErrorCode numeric_by_shape(Ex &ex, const BlockFactors &in, const SpgemmPlan<Ex> &plan, const SpgemmRows &C)
{
  if constexpr (S < End) {
    constexpr BlockShape shape = block_shapes[S];
    if (shape.rows != plan.rows || shape.inner != plan.inner || shape.run != plan.run)
      return numeric_by_shape<Noted, S + 1, End>(ex, in, plan, C);
    if constexpr (Ex::one_by_one) {
      constexpr int parts = shape.rows == 6 ? 2 : 1;
      return Blocks<shape.rows / parts, shape.inner, shape.run>::template numeric<Noted, parts>(ex, in, plan, C);
    } else {
      if (plan.row.size() < few_nodes) return Blocks<1, shape.inner, shape.run>::template numeric<Noted, shape.rows>(ex, in, plan, C);
      if constexpr (shape.rows == 6) {
        if (plan.row.size() < few_large_nodes) return Blocks<3, shape.inner, shape.run>::template numeric<Noted, 2>(ex, in, plan, C);
      }
      return Blocks<shape.rows, shape.inner, shape.run>::template numeric<Noted, 1>(ex, in, plan, C);
    }
  } else {
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_PLIB, "Blocks of %d x %d times %d x %d are not summed", plan.rows, plan.inner, plan.inner, plan.run);
  }
}

template <bool Noted, class Ex>
PetscErrorCode sum_narrow(Ex &ex, const SpgemmPlan<Ex> &plan, CsrView<double> A, CsrView<double> B, const SpgemmRows &C)
{
  return numeric_by_shape<Noted, 0, first_wide_shape>(ex, BlockFactors{A, B, plan.runs.view()}, plan, C);
}
template <bool Noted, class Ex>
PetscErrorCode sum_wide(Ex &ex, const SpgemmPlan<Ex> &plan, CsrView<double> A, CsrView<double> B, const SpgemmRows &C)
{
  return numeric_by_shape<Noted, first_wide_shape, count_block_shapes>(ex, BlockFactors{A, B, plan.runs.view()}, plan, C);
}
} // namespace spgemm
} // namespace amgkit
