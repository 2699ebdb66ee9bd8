// The groups of a communicator, as an attribute of it: who sets up again finds the communicators, shared memory and page-locked buffers
// that the last one has made.
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

// What this process has of all communicators: the attribute's key, and who has one, in the order in which they got it.
struct Registry {
  int key = MPI_KEYVAL_INVALID;
  std::vector<MPI_Comm> comms;
};
Registry &registry()
{
  static Registry of_process;
  return of_process;
}

extern "C" int delete_groups_of_comm(MPI_Comm comm, int, void *value, void *)
{
  std::vector<MPI_Comm> &comms = registry().comms;
  comms.erase(std::remove(comms.begin(), comms.end(), comm), comms.end());
  delete static_cast<GroupsOfComm *>(value);
  return MPI_SUCCESS;
}

// In PetscFinalize: communicators may live longer than this library.
PetscErrorCode forget_all_groups()
{
  Registry &known = registry();

  PetscFunctionBegin;
  while (!known.comms.empty()) PetscCallMPI(MPI_Comm_delete_attr(known.comms.back(), known.key));
  PetscCallMPI(MPI_Comm_free_keyval(&known.key));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode attribute_of(MPI_Comm comm, GroupsOfComm **all)
{
  Registry &known = registry();
  void *value = nullptr;
  int there = 0;

  PetscFunctionBegin;
  if (known.key == MPI_KEYVAL_INVALID) {
    PetscCallMPI(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_groups_of_comm, &known.key, nullptr));
    PetscCall(PetscRegisterFinalize(forget_all_groups));
  }
  PetscCallMPI(MPI_Comm_get_attr(comm, known.key, static_cast<void *>(&value), &there));
  if (!there) {
    value = new GroupsOfComm;
    PetscCallMPI(MPI_Comm_set_attr(comm, known.key, value));
    known.comms.push_back(comm);
  }
  *all = static_cast<GroupsOfComm *>(value);
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

PetscErrorCode groups_of(MPI_Comm comm, int heads_a_node, const std::string &device, std::shared_ptr<NodeGroups> *groups,
                         std::string *why_not)
{
  GroupsOfComm *all = nullptr;

  PetscFunctionBegin;
  *why_not = "";
  *groups = nullptr;
  PetscCall(attribute_of(comm, &all));
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
