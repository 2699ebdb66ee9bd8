// The groups of a communicator, as an attribute of it: who sets up again finds the communicators, shared memory and page-locked buffers
// that the last one has made.
#include "dist/comm_attribute.hpp"
#include "dist/node_groups.hpp"

#include <algorithm>

namespace amgkit
{
namespace
{
struct Known {
  int heads_a_node;
  std::string device;
  std::shared_ptr<NodeGroups> groups; // nullptr: there can be none
  std::string why_not;
};
using GroupsOfComm = std::vector<Known>;
} // namespace

PetscErrorCode groups_of(MPI_Comm comm, int heads_a_node, const std::string &device, std::shared_ptr<NodeGroups> *groups,
                         std::string *why_not)
{
  GroupsOfComm *all = nullptr;

  PetscFunctionBegin;
  *why_not = "";
  *groups = nullptr;
  PetscCall(CommAttribute<GroupsOfComm>::of(comm, &all));
  // the newest: where a device has changed on some ranks alone, the others have older ones, too
  const auto known =
      std::find_if(all->rbegin(), all->rend(), [&](const Known &one) { return one.heads_a_node == heads_a_node && one.device == device; });
  int number = known == all->rend() ? -1 : static_cast<int>(all->rend() - known) - 1;
  std::array<int, 2> numbers = {number, -number};
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, numbers.data(), 2, MPI_INT, MPI_MAX, comm));
  if (numbers[0] >= 0 && numbers[0] == -numbers[1]) {
    *groups = known->groups;
    *why_not = known->why_not;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  auto made = std::make_shared<NodeGroups>();
  PetscCall(made->create(comm, heads_a_node, device, why_not));
  if (!why_not->empty() && made->possible()) PetscFunctionReturn(PETSC_SUCCESS); // there may be memory the next time
  if (why_not->empty()) *groups = std::move(made);
  all->push_back({heads_a_node, device, *groups, *why_not});
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace amgkit
