// A small graph for tests in which each allocation fails in turn.
#pragma once
#include "support/distributed_graph.hpp"
#include "support/failing_allocations.hpp"

namespace amgkit::test
{
class FailingGraph : public ::testing::Test {
protected:
  void SetUp() override
  {
    OK(problem_.create(ex, grid7(6, 5, 2), -1));
    OK(problem_.mark_couplings(ex));
  }
  const DistGraph<Debug> &graph() const { return problem_.G; }

  Debug ex;
  FailingAllocations failing;

private:
  DistributedGraph<Debug> problem_;
};
} // namespace amgkit::test
