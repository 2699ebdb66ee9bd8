// Which levels a cycle plays as one launch.
#include "amg/cycle.hpp"

namespace amgkit
{
// Collective. Of the levels of several ranks those may be recorded on which nothing goes by MPI; the coarsest one may gather its vectors.
template <class Ex> PetscErrorCode Cycle<Ex>::meet_peers(Ex &ex)
{
  const std::size_t held = hierarchy_.levels.size();

  PetscFunctionBegin;
  may_record_.assign(held, false);
  for (std::size_t l = 0; l < held; l++) {
    Peers *peers;
    int size;
    PetscCallMPI(MPI_Comm_size(hierarchy_.levels[l]->A.comm, &size));
    may_record_[l] = size == 1;
    PetscCall(peers_of(ex, hierarchy_.levels[l]->A.comm, &peers));
    if (!peers || !hierarchy_.levels[l]->transfer) continue;
    PetscCall(hierarchy_.levels[l]->meet_peers(ex));
    may_record_[l] = hierarchy_.levels[l]->by_peers();
  }
  for (std::size_t l = held; l-- > 1;) may_record_[l - 1] = may_record_[l - 1] && may_record_[l];
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode Cycle<Ex>::choose_recording(CycleChoice choice)
{
  constexpr PetscInt launches_of_exchanges = 4; // and of sums, which make recording worth more: so many times as many rows
  double entries = 0;                           // of this rank, on the levels that are not recorded

  PetscFunctionBegin;
  recorded_for_ = choice;
  recorded_below_ = hierarchy_.levels.size();
  PetscCall(recording_.forget());
  if (!parameters_.cuda_graph) PetscFunctionReturn(PETSC_SUCCESS);
  for (std::size_t l = 0; l + 1 < hierarchy_.levels.size(); l++) {
    int size;
    entries += static_cast<double>(hierarchy_.levels[l]->A.diag.nnz + hierarchy_.levels[l]->A.offd.nnz);
    if (choice.kind == CycleKind::v && entries > parameters_.entries_recorded) break;
    PetscCallMPI(MPI_Comm_size(hierarchy_.levels[l + 1]->A.comm, &size));
    const bool coarsest = !hierarchy_.levels[l + 1]->transfer;
    const PetscInt most = parameters_.rows_recorded * (size > 1 ? launches_of_exchanges : 1);
    if (!may_record_[l + 1] || (!coarsest && hierarchy_.levels[l + 1]->A.rows > most)) continue;
    // levels beyond kcycle_levels are visited by v-cycles alone
    choice_below_ = {static_cast<PetscInt>(l) > kcycle_levels_ ? CycleKind::v : choice.kind, choice.single};
    recorded_below_ = l;
    break;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define INSTANTIATE(Ex)                                                                                                                    \
  template PetscErrorCode Cycle<Ex>::meet_peers(Ex &);                                                                                     \
  template PetscErrorCode Cycle<Ex>::choose_recording(CycleChoice);
AMGKIT_FOR_ALL_SPACES(INSTANTIATE)
#undef INSTANTIATE
} // namespace amgkit
