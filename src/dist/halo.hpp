// Values of other ranks' rows: the exchange of a matrix's ghost columns.
#pragma once
#include "dist/neighbour_messages.hpp"
#include "dist/peer_messages.hpp"
#include "sparse/formats/spmv.hpp"

#include <type_traits>
#include <vector>

namespace amgkit
{
// What MPI is told of a double, a float, an int or a 64-bit word.
template <class T> MPI_Datatype mpi_type()
{
  if constexpr (std::is_same_v<T, double>)
    return MPI_DOUBLE;
  else if constexpr (std::is_same_v<T, float>)
    return MPI_FLOAT;
  else if constexpr (std::is_same_v<T, int>)
    return MPI_INT;
  else {
    static_assert(std::is_same_v<T, std::uint64_t>);
    return MPI_UINT64_T;
  }
}

template <class Ex> class HaloExchange;

// The rows that others need are packed into a buffer of the halo's own, one piece for each neighbour, and arrive in another: MPI
// sees these two small buffers only, for the life of the halo, never a level's vectors. Where MPI cannot see the space's memory, PetscSF
// takes them through the host. GPUs that are each other's peers do without both, from the third exchange on: many halos see only one.
template <class Ex> class Halo {
public:
  Halo() = default;
  Halo(const Halo &) = delete;
  Halo &operator=(const Halo &) = delete;
  Halo(Halo &&) = delete;
  Halo &operator=(Halo &&) = delete;
  ~Halo() { static_cast<void>(PetscSFDestroy(&sf_)); }

  // Collective. Rank r owns rows range[r] <= i < range[r + 1]; ghosts: global indices of the rows needed from others, ascending.
  PetscErrorCode create(MPI_Comm comm, const std::vector<PetscInt> &range, const std::vector<PetscInt> &ghosts);
  // Local: the buffers. Before the first exchange.
  PetscErrorCode allocate(Ex &);
  // Whether any rank needs anything: else nothing is exchanged.
  bool active() const { return active_; }
  // Collective: ghost<T>() <- the ghosts' values, until the next exchange. T is double, float, int or std::uint64_t. HaloExchange does the
  // same in two steps.
  template <class T> PetscErrorCode exchange(Ex &, const T *owned);
  template <class T> const T *ghost() const { return ghost_.template as<T>(); }
  // The same into an array of one's own, a T a ghost.
  template <class T> PetscErrorCode exchange_into(Ex &ex, const T *owned, Array<T, Ex> &ghosts)
  {
    PetscFunctionBegin;
    PetscCall(exchange(ex, owned));
    PetscCall(memory_copy(ex, ghosts.data(), ghost<T>(), ghosts.bytes()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  // Collective, the way back: what is put into to_return<T>(), a T a ghost, arrives in returned<T>() of the ghosts' owners, a T for each of
  // sent_rows(), in which a row stands once for every rank that has it as a ghost. Only while active. T is double, float or int.
  template <class T> T *to_return() { return ghost_.template as<T>(); }
  template <class T> PetscErrorCode exchange_back();
  template <class T> const T *returned() const { return send_.template as<T>(); }
  const Array<int, Ex> &sent_rows() const { return send_row_; }
  // Local: arrivals(i, k) = 1 where the k-th value of returned() is for row i of these `rows`; receiving: the rows for which any come.
  PetscErrorCode arrivals(Ex &, int rows, Csr<double, Ex> &arrivals, Array<int, Ex> &receiving) const;
  // The ghosts that rank r owns begin at place ghosts_of_rank()[r] of the ghosts, the rows that it has as ghosts at place
  // sent_to_rank()[r] of sent_rows(); with a last entry for the end. Only while active.
  const std::vector<int> &ghosts_of_rank() const { return ask_at_; }
  const std::vector<int> &sent_to_rank() const { return give_at_; }
  // Collective, after allocate(): exchanges go between peers from now on, if these are all. by_peers(): the same on all ranks; then
  // exchanges neither wait for the device nor call MPI, so that they may be recorded.
  PetscErrorCode meet_peers(Ex &);
  bool by_peers() const { return !active_ || peers_.ready(); }
  // From now on ghost() and returned() have values after every exchange, also one whose values a product read: see HaloExchange.
  void keep_values() { keeps_values_ = true; }
  std::size_t bytes() const { return send_row_.bytes() + send_.bytes() + ghost_.bytes(); }

private:
  friend class HaloExchange<Ex>;
  template <class T> Exchanged sent() { return {send_.data(), static_cast<std::size_t>(send_.size()) * sizeof(T)}; }
  template <class T> Exchanged ghosts() { return {ghost_.data(), static_cast<std::size_t>(ghost_.size()) * sizeof(T)}; }
  PetscErrorCode exchange_requests(MPI_Comm, const std::vector<PetscInt> &range, const std::vector<PetscInt> &ghosts);
  PetscErrorCode make_forest(MPI_Comm);
  PetscErrorCode count_exchange(Ex &);

  bool active_ = false, direct_ = false; // direct: by messages_, not by sf_
  bool keeps_values_ = false;
  MPI_Comm comm_ = MPI_COMM_NULL; // the caller's
  NeighbourMessages messages_;
  PeerMessages<Ex> peers_;
  static constexpr int many = 3;  // exchanges
  int exchanges_ = 0;             // counted so far, at most many
  PetscSF sf_ = nullptr;          // roots: entries of send_; leaves: ghosts
  std::vector<int> rows_to_send_; // row behind each entry of send_
  std::vector<int> ask_at_, give_at_;
  std::int64_t ghosts_ = 0;
  Ex *ex_ = nullptr; // of the buffers
  Array<int, Ex> send_row_;
  Array<double, Ex> send_, ghost_;
  SfExchange<Ex> exchange_;
};

// An exchange that other work goes on beside, from begin() or begin_back() to end(). Where an error leaves it under way, the destructor
// ends it, so that its messages do not meet those of the next one. On a GPU messages leave in end(), when the host has seen that they are
// packed: what was queued after begin() runs meanwhile. A wait in begin() would leave the GPU without work. To peers values leave in
// begin(), and no host waits.
template <class Ex> class HaloExchange {
public:
  explicit HaloExchange(Halo<Ex> &halo) : halo_(halo) {}
  HaloExchange(const HaloExchange &) = delete;
  HaloExchange &operator=(const HaloExchange &) = delete;
  ~HaloExchange() { static_cast<void>(end()); }

  // As Halo's exchange() and exchange_back().
  template <class T> PetscErrorCode begin(Ex &ex, const T *owned) { return begin(ex, halo_.send_row_.data(), owned); }
  // The same with place[k], the place in owned of the k-th of sent_rows(), where the rows are kept in another order, or only these.
  template <class T> PetscErrorCode begin(Ex &, const int *place, const T *owned);
  template <class T> PetscErrorCode begin_back();
  PetscErrorCode end();
  // end(); then y_i -= factor s_i (M x)_i for these rows, or y_i += (M others)_i and sums with it, as subtract_rows() and add_rows() of
  // sparse/formats/spmv.hpp; x and others are the values that came. Between peers M reads them where they arrived, in one kernel, and
  // ghost() or returned() does not have them.
  template <class D, class V>
  PetscErrorCode subtract(Ex &, const CsrView<double> &M, const Array<int, Ex> &rows, double factor, const D *s, V *y);
  template <int N, class V>
  PetscErrorCode add(Ex &, const CsrView<double> &M, const Array<int, Ex> &rows, const V *x, V *y, const ProductSums<N, V> &sums);

private:
  template <class V, class F> PetscErrorCode end_with(F use);
  template <class T> PetscErrorCode begin_messages(Ex &, bool back);
  template <class T> PetscErrorCode begin_to_peers(Ex &, const int *place, const T *from, bool back);
  PetscErrorCode start();

  Halo<Ex> &halo_;
  bool begun_ = false; // by this object
  bool started_ = false, back_ = false;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  std::size_t entry_bytes_ = 0;
};
} // namespace amgkit
