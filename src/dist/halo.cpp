#include "dist/halo.hpp"

#include "base/log.hpp"
#include "base/marks.hpp"
#include "sparse/formats/spmv.hpp"
#include "sparse/rows/rows.hpp"
#include "sparse/rows/transpose.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace amgkit
{
// Tells every owner which of its rows this rank needs. Ghosts ascend, so those of one owner stand together, and its send buffer holds them
// in the same order, in one piece for each rank that asked.
template <class Ex>
PetscErrorCode Halo<Ex>::exchange_requests(MPI_Comm comm, const std::vector<PetscInt> &range, const std::vector<PetscInt> &ghosts)
{
  const std::size_t ranks = range.size() - 1;
  std::vector<int> asked(ranks), given(ranks), requests(ghosts.size()); // requests: by the owners' own numbers

  PetscFunctionBegin;
  ask_at_.assign(ranks + 1, 0);
  give_at_.assign(ranks + 1, 0);
  for (std::size_t r = 0; r < ranks; r++) {
    const auto begin = ghosts.begin() + ask_at_[r], end = std::lower_bound(begin, ghosts.end(), range[r + 1]);
    const PetscInt first = range[r];
    std::transform(begin, end, requests.begin() + ask_at_[r], [first](PetscInt ghost) { return static_cast<int>(ghost - first); });
    ask_at_[r + 1] = static_cast<int>(end - ghosts.begin());
    asked[r] = ask_at_[r + 1] - ask_at_[r];
  }
  PetscCallMPI(MPI_Alltoall(asked.data(), 1, MPI_INT, given.data(), 1, MPI_INT, comm));
  std::partial_sum(given.begin(), given.end(), give_at_.begin() + 1);
  rows_to_send_.resize(static_cast<std::size_t>(give_at_.back()));
  PetscCall(messages_.create(comm, give_at_, ask_at_)); // to neighbours alone: MPI_Alltoallv() takes 30 to 80 us on two processes
  PetscCall(messages_.start(MPI_INT, sizeof(int), rows_to_send_.data(), requests.data(), true));
  PetscCall(messages_.wait());
  messages_.forget_arrays();
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The SF whose roots are the entries of the owners' send buffers.
template <class Ex> PetscErrorCode Halo<Ex>::make_forest(MPI_Comm comm)
{
  std::vector<int> piece(give_at_.size() - 1, 0);
  std::vector<PetscSFNode> roots(static_cast<std::size_t>(ask_at_.back()));

  PetscFunctionBegin;
  PetscCallMPI(MPI_Alltoall(give_at_.data(), 1, MPI_INT, piece.data(), 1, MPI_INT, comm));
  for (std::size_t r = 0; r < piece.size(); r++) {
    for (int g = ask_at_[r]; g < ask_at_[r + 1]; g++) {
      roots[static_cast<std::size_t>(g)].rank = static_cast<decltype(roots[0].rank)>(r);
      roots[static_cast<std::size_t>(g)].index = piece[r]++;
    }
  }
  PetscCall(PetscSFCreate(comm, &sf_));
  PetscCall(PetscSFSetGraph(sf_, static_cast<PetscInt>(rows_to_send_.size()), static_cast<PetscInt>(roots.size()), nullptr,
                            PETSC_COPY_VALUES, roots.data(), PETSC_COPY_VALUES));
  PetscCall(PetscSFSetUp(sf_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode Halo<Ex>::create(MPI_Comm comm, const std::vector<PetscInt> &range, const std::vector<PetscInt> &ghosts)
{
  int any = !ghosts.empty();

  PetscFunctionBegin;
  PetscCall(PetscSFDestroy(&sf_));
  peers_.forget();
  exchanges_ = 0;
  comm_ = comm;
  ghosts_ = static_cast<std::int64_t>(ghosts.size());
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, comm));
  active_ = any != 0;
  if (!active_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(exchange_requests(comm, range, ghosts));
  PetscCall(mpi_sees<Ex>(&direct_));
  if (!direct_) PetscCall(make_forest(comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode Halo<Ex>::allocate(Ex &ex)
{
  PetscFunctionBegin;
  ex_ = &ex;
  messages_.forget_arrays();
  PetscCall(upload(ex, rows_to_send_, send_row_));
  PetscCall(send_.allocate(ex, send_row_.size(), Memory::communicated));
  PetscCall(ghost_.allocate(ex, ghosts_, Memory::communicated));
  PetscCall(exchange_.reserve(send_.bytes(), ghost_.bytes()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode Halo<Ex>::meet_peers(Ex &ex)
{
  PetscFunctionBegin;
  if (!active_ || exchanges_ >= many) PetscFunctionReturn(PETSC_SUCCESS);
  exchanges_ = many;
  PetscCall(peers_.create(ex, comm_, give_at_, ask_at_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Peers are met when it is known that there are many exchanges, by all ranks at once.
template <class Ex> PetscErrorCode Halo<Ex>::count_exchange(Ex &ex)
{
  PetscFunctionBegin;
  if (exchanges_ >= many) PetscFunctionReturn(PETSC_SUCCESS);
  if (exchanges_ + 1 == many)
    PetscCall(meet_peers(ex));
  else
    exchanges_++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> template <class T> PetscErrorCode Halo<Ex>::exchange(Ex &ex, const T *owned)
{
  HaloExchange<Ex> exchange(*this);

  PetscFunctionBegin;
  PetscCall(exchange.begin(ex, owned));
  PetscCall(exchange.end());
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> template <class T> PetscErrorCode Halo<Ex>::exchange_back()
{
  HaloExchange<Ex> exchange(*this);

  PetscFunctionBegin;
  PetscCall(exchange.template begin_back<T>());
  PetscCall(exchange.end());
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> template <class T> PetscErrorCode HaloExchange<Ex>::begin(Ex &ex, const int *place, const T *owned)
{
  T *packed = halo_.send_.template as<T>();

  PetscFunctionBegin;
  if (!halo_.active()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(halo_.count_exchange(ex));
  if (halo_.peers_.ready()) {
    PetscCall(begin_to_peers<T>(ex, place, owned, false));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(gather(ex, halo_.send_row_.size(), place, owned, packed));
  PetscCall(begin_messages<T>(ex, false));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> template <class T> PetscErrorCode HaloExchange<Ex>::begin_back()
{
  PetscFunctionBegin;
  PetscCall(halo_.count_exchange(*halo_.ex_));
  if (halo_.peers_.ready())
    PetscCall(begin_to_peers<T>(*halo_.ex_, nullptr, halo_.template ghost<T>(), true));
  else
    PetscCall(begin_messages<T>(*halo_.ex_, true));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> template <class T> PetscErrorCode HaloExchange<Ex>::begin_to_peers(Ex &ex, const int *place, const T *from, bool back)
{
  const LogPhase logged(Phase::halo);

  PetscFunctionBegin;
  entry_bytes_ = sizeof(T);
  back_ = back;
  begun_ = true;
  PetscCall(halo_.peers_.send(ex, sizeof(T), place, from, back));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> template <class T> PetscErrorCode HaloExchange<Ex>::begin_messages(Ex &ex, bool back)
{
  PetscFunctionBegin;
  type_ = mpi_type<T>();
  entry_bytes_ = sizeof(T);
  back_ = back;
  started_ = false;
  if (!halo_.direct_) {
    PetscCall(halo_.exchange_.begin(ex, halo_.sf_, type_, halo_.template sent<T>(), halo_.template ghosts<T>(), back));
    begun_ = true;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const LogPhase logged(Phase::halo);
  begun_ = true;
  PetscCall(mark(ex));
  if (!Ex::on_device) PetscCall(start());
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode HaloExchange<Ex>::start()
{
  PetscFunctionBegin;
  started_ = true;
  PetscCall(halo_.messages_.start(type_, entry_bytes_, halo_.send_.data(), halo_.ghost_.data(), back_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex> PetscErrorCode HaloExchange<Ex>::end()
{
  const bool begun = std::exchange(begun_, false);

  PetscFunctionBegin;
  if (!begun) PetscFunctionReturn(PETSC_SUCCESS);
  if (halo_.peers_.ready()) {
    const LogPhase logged(Phase::halo);
    PetscCall(halo_.peers_.receive(*halo_.ex_, entry_bytes_, back_ ? halo_.send_.data() : halo_.ghost_.data(), back_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!halo_.direct_) {
    PetscCall(halo_.exchange_.end());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const LogPhase logged(Phase::halo);
  if (!started_) {
    PetscCall(wait_for_mark(*halo_.ex_));
    PetscCall(start());
  }
  PetscCall(halo_.messages_.wait());
  PetscFunctionReturn(PETSC_SUCCESS);
}

// use(the values that came)
template <class Ex> template <class V, class F> PetscErrorCode HaloExchange<Ex>::end_with(F use)
{
  PetscFunctionBegin;
  if constexpr (Ex::on_device) {
    if (begun_ && halo_.peers_.ready() && !halo_.keeps_values_) {
      {
        const LogPhase logged(Phase::halo); // counts the end of the exchange; the time is the product's
      }
      PetscCall(use(halo_.peers_.template values<V>(back_)));
      begun_ = false;
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
  PetscCall(end());
  PetscCall(use(back_ ? halo_.template returned<V>() : halo_.template ghost<V>()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Ex>
template <class D, class V>
PetscErrorCode HaloExchange<Ex>::subtract(Ex &ex, const CsrView<double> &M, const Array<int, Ex> &rows, double factor, const D *s, V *y)
{
  if (rows.size() == 0) return end();
  return end_with<V>([&](const auto &values) { return subtract_rows(ex, M, rows.size(), rows.data(), factor, s, values, y); });
}

template <class Ex>
template <int N, class V>
PetscErrorCode HaloExchange<Ex>::add(Ex &ex, const CsrView<double> &M, const Array<int, Ex> &rows, const V *x, V *y,
                                     const ProductSums<N, V> &sums)
{
  if (rows.size() == 0) return end();
  return end_with<V>([&](const auto &values) { return add_rows(ex, M, rows.size(), rows.data(), values, x, y, sums); });
}

template <class Ex> PetscErrorCode Halo<Ex>::arrivals(Ex &ex, int rows, Csr<double, Ex> &arrivals, Array<int, Ex> &receiving) const
{
  const auto n = static_cast<int>(send_row_.size());
  Array<int, Ex> ptr;
  Array<double, Ex> ones;

  PetscFunctionBegin;
  PetscCall(ptr.allocate(ex, std::int64_t{n} + 1));
  PetscCall(ones.allocate(ex, n));
  PetscCall(count_up(ex, std::int64_t{n} + 1, ptr.data()));
  PetscCall(fill(ex, n, 1, ones.data()));
  PetscCall(transpose(ex, CsrView<double>{n, rows, n, ptr.data(), send_row_.data(), ones.data()}, arrivals));
  PetscCall(nonempty_rows(ex, arrivals.view(), receiving));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define INSTANTIATE_TYPE(Ex, T)                                                                                                            \
  template PetscErrorCode Halo<Ex>::exchange(Ex &, const T *);                                                                             \
  template PetscErrorCode HaloExchange<Ex>::begin(Ex &, const int *, const T *);
#define INSTANTIATE_BACK(Ex, T)                                                                                                            \
  template PetscErrorCode Halo<Ex>::exchange_back<T>();                                                                                    \
  template PetscErrorCode HaloExchange<Ex>::begin_back<T>();
#define INSTANTIATE_ADD(Ex, V)                                                                                                             \
  template PetscErrorCode HaloExchange<Ex>::add(Ex &, const CsrView<double> &, const Array<int, Ex> &, const V *, V *,                     \
                                                const ProductSums<2, V> &);                                                                \
  template PetscErrorCode HaloExchange<Ex>::add(Ex &, const CsrView<double> &, const Array<int, Ex> &, const V *, V *,                     \
                                                const ProductSums<3, V> &);                                                                \
  template PetscErrorCode HaloExchange<Ex>::add(Ex &, const CsrView<double> &, const Array<int, Ex> &, const V *, V *,                     \
                                                const ProductSums<5, V> &);
#define INSTANTIATE_SUBTRACT(Ex, D, V)                                                                                                     \
  template PetscErrorCode HaloExchange<Ex>::subtract(Ex &, const CsrView<double> &, const Array<int, Ex> &, double, const D *, V *);
#define INSTANTIATE(Ex)                                                                                                                    \
  template class Halo<Ex>;                                                                                                                 \
  template class HaloExchange<Ex>;                                                                                                         \
  INSTANTIATE_TYPE(Ex, double)                                                                                                             \
  INSTANTIATE_TYPE(Ex, float)                                                                                                              \
  INSTANTIATE_TYPE(Ex, int)                                                                                                                \
  INSTANTIATE_TYPE(Ex, std::uint64_t)                                                                                                      \
  INSTANTIATE_BACK(Ex, double)                                                                                                             \
  INSTANTIATE_BACK(Ex, float)                                                                                                              \
  INSTANTIATE_BACK(Ex, int)                                                                                                                \
  INSTANTIATE_ADD(Ex, float)                                                                                                               \
  INSTANTIATE_ADD(Ex, double)                                                                                                              \
  INSTANTIATE_SUBTRACT(Ex, float, float)                                                                                                   \
  INSTANTIATE_SUBTRACT(Ex, float, double)                                                                                                  \
  INSTANTIATE_SUBTRACT(Ex, double, double)
AMGKIT_FOR_ALL_SPACES(INSTANTIATE)
#undef INSTANTIATE
#undef INSTANTIATE_TYPE
#undef INSTANTIATE_BACK
#undef INSTANTIATE_ADD
#undef INSTANTIATE_SUBTRACT
} // namespace amgkit
