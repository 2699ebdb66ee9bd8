#include "graph/growth.hpp"

#include "dist/attempt.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace amgkit
{
template <class Ex> PetscErrorCode ball_growth(Ex &ex, const DistGraph<Ex> &G, double *growth)
{
  constexpr double most_entries = 4e6; // of neighbours' rows, n d^2 for rows of d entries
  const double d = 1 + G.diag.average();
  const auto few = static_cast<std::int64_t>(std::clamp(most_entries / (d * d), 16.0, 512.0)), n = std::min<std::int64_t>(G.diag.rows, few);
  std::array<std::int64_t, 3> sums = {}; // balls, vertices of the first ones, marks of the second ones

  PetscFunctionBegin;
  PetscCall(attempt(G.comm, [&]() -> PetscErrorCode {
    Array<BallCount, Ex> counts;
    std::vector<BallCount> on_host(static_cast<std::size_t>(n));
    PetscFunctionBegin;
    PetscCall(counts.allocate(ex, n));
    PetscCall(count_balls(ex, G.diag, G.offd, n, counts.data()));
    PetscCall(memory_to_host(ex, on_host.data(), counts.data(), counts.bytes()));
    for (const BallCount &ball : on_host) {
      if (ball.first > 0) sums[0]++;
      sums[1] += ball.first;
      sums[2] += ball.marks;
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sums.data(), 3, MPI_INT64_T, MPI_SUM, G.comm));
  *growth = 0;
  if (sums[0] == 0) PetscFunctionReturn(PETSC_SUCCESS);
  // x vertices leave m (1 - 1/m)^x of m places without a mark
  const double m = marks_of_ball, balls = static_cast<double>(sums[0]), marks = static_cast<double>(sums[2]) / balls;
  const double second = std::log1p(-std::min(marks, m - 1) / m) / std::log1p(-1 / m);
  *growth = second * balls / static_cast<double>(sums[1]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

AMGKIT_INSTANTIATE(ball_growth)
} // namespace amgkit
