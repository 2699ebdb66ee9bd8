// Each allocation in turn fails on one rank.
#pragma once
#include "dist/attempt.hpp"
#include "support/petsc_problems.hpp"

namespace amgkit::test
{
// for (bool more = true; more;) { ...; more = failing.run(ex, [&] { return what may fail; }); }
// some_only_save_time: some allocations are for what work can go on without.
class FailingAllocations {
public:
  explicit FailingAllocations(bool some_only_save_time = false) : some_only_save_time_(some_only_save_time) {}

  // Runs work, in which one allocation more than the last time succeeds on the last rank, and the next one fails. Whether any failed, and
  // so more may; expects all ranks to say so, and no other error. Collective.
  bool run(Debug &ex, const std::function<PetscErrorCode()> &work)
  {
    bool none_left = false;
    begin(ex);
    EXPECT_EQ(static_cast<int>(out_of_memory(work, &none_left)), 0) << "allocation " << k_;
    return next(ex, none_left);
  }
  // The same in two steps.
  void begin(Debug &ex) const
  {
    ex.allocations = 0;
    ex.fail_at = rank_of_world() == culprit_ ? k_ : -1;
  }
  bool next(Debug &ex, bool none_left)
  {
    ex.fail_at = -1;
    int more = rank_of_world() == culprit_ && ex.allocations <= k_ ? 0 : 1; // all have had their turn
    MPI_Bcast(&more, 1, MPI_INT, culprit_, PETSC_COMM_WORLD);
    EXPECT_TRUE(none_left == (more != 0) || (some_only_save_time_ && !none_left)) << "allocation " << k_;
    failures_ += none_left;
    gone_without_ += more != 0 && !none_left;
    k_++;
    return more != 0;
  }
  int failures() const { return failures_; }
  int gone_without() const { return gone_without_; }

private:
  bool some_only_save_time_;
  int culprit_ = size_of_world() - 1, failures_ = 0, gone_without_ = 0;
  std::int64_t k_ = 0;
};
} // namespace amgkit::test
