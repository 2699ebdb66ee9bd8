// Each allocation in turn fails on one rank.
#pragma once
#include "support/petsc_problems.hpp"

namespace amgkit::test
{
// for (bool more = true; more;) { ...; failing.begin(ex); ... the work ...; more = failing.next(ex, out_of_memory); }
class FailingAllocations {
public:
  // The next one from here on fails on the last rank.
  void begin(Debug &ex) const
  {
    ex.allocations = 0;
    ex.fail_at = rank_of_world() == culprit_ ? k_ : -1;
  }
  // Whether any failed, and so more may; expects all ranks to say so. Collective.
  bool next(const Debug &ex, bool out_of_memory)
  {
    int more = rank_of_world() == culprit_ && ex.allocations <= k_ ? 0 : 1; // all have had their turn
    MPI_Bcast(&more, 1, MPI_INT, culprit_, PETSC_COMM_WORLD);
    EXPECT_EQ(out_of_memory, more != 0) << "allocation " << k_;
    failures_ += out_of_memory;
    k_++;
    return more != 0;
  }
  int failures() const { return failures_; }

private:
  int culprit_ = size_of_world() - 1, failures_ = 0;
  std::int64_t k_ = 0;
};
} // namespace amgkit::test
