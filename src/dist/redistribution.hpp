// Rows of consecutive ranks, gathered on the first of them: what a coarse level is moved by when it has too few rows for all ranks.
#pragma once
#include "dist/matrix.hpp"
#include "dist/peer_messages.hpp"

namespace amgkit
{
// Ranks form groups of consecutive ones. The first rank of a group, its head, receives the group's rows; global numbers stay.
// Messages are pieces of equal room, one a member, so that a vector and a matrix travel by the same PetscSF of one leaf a member.
template <class Ex> class Redistribution {
public:
  Redistribution() = default;
  Redistribution(const Redistribution &) = delete;
  Redistribution &operator=(const Redistribution &) = delete;
  Redistribution(Redistribution &&) = delete;
  Redistribution &operator=(Redistribution &&) = delete;
  ~Redistribution();

  // Collective: A's rows for `heads` of its ranks, 1 <= heads <= A's ranks; A has fewer than 2^31 rows in all.
  PetscErrorCode create(Ex &, const DistMatrix<Ex> &A, int heads);
  // Whether this rank is a head: rows of the group are here afterwards, if it has any.
  bool receives() const { return heads_ != MPI_COMM_NULL; }

  // Collective over A's ranks: on the heads, *to becomes A on a communicator of the heads, which this object owns; elsewhere to is not
  // read. Once more for new values of A.
  PetscErrorCode move_matrix(Ex &, const DistMatrix<Ex> &A, DistMatrix<Ex> *to);
  // This rank's part of a vector, where the next two read and write it. V is float or double; int for collect() alone.
  template <class V> V *part() { return part_.template as<V>(); }
  // Collective: all <- the members' parts, on the heads; elsewhere all is not read.
  template <class V> PetscErrorCode collect(Ex &, V *all);
  // Collective: vector, this rank's part of one, becomes the group's on the heads and empty elsewhere. T is double or int.
  template <class T> PetscErrorCode move_vector(Ex &, Array<T, Ex> &vector);
  // The same of m vectors side by side, as sparse/rows/multivector.hpp has them.
  PetscErrorCode move_vectors(Ex &, int m, Array<double, Ex> &B);
  // Collective: the members' parts <- all, of the heads.
  template <class V> PetscErrorCode spread(Ex &, const V *all);
  // Collective: vectors of floats and doubles go between peers from now on, if these are all. by_peers(): as Halo has it.
  PetscErrorCode meet_peers(Ex &);
  bool by_peers() const { return peers_.ready(); }
  std::size_t bytes() const { return part_.bytes() + pieces_.bytes() + slot_.bytes() + row_.bytes() + first_row_.bytes(); }

private:
  struct Message;
  PetscErrorCode create_groups(const DistMatrix<Ex> &A, int heads);
  PetscErrorCode create_maps(Ex &);
  PetscErrorCode pack(Ex &, const DistMatrix<Ex> &A, Message &) const;
  PetscErrorCode unpack(Ex &, const Message &, DistMatrix<Ex> &to) const;
  template <class V> MPI_Datatype piece() const { return sizeof(V) == sizeof(double) ? piece_of_doubles_ : piece_of_floats_; }
  template <class T> PetscErrorCode send(Ex &, Array<T, Ex> &from, Array<T, Ex> &to);
  template <class V> PetscErrorCode exchange(Ex &, bool to_head);
  template <class V> Exchanged mine() { return {part_.data(), static_cast<std::size_t>(part_.size()) * sizeof(V)}; }
  template <class V> Exchanged pieces() { return {pieces_.data(), static_cast<std::size_t>(pieces_.size()) * sizeof(V)}; }

  MPI_Comm comm_ = MPI_COMM_NULL; // of all ranks
  MPI_Comm group_ = MPI_COMM_NULL, heads_ = MPI_COMM_NULL;
  PetscSF sf_ = nullptr; // roots: the group's pieces, on its head; leaf: this rank's
  MPI_Datatype piece_of_doubles_ = MPI_DATATYPE_NULL, piece_of_floats_ = MPI_DATATYPE_NULL; // of a vector
  int number_of_heads_ = 0;
  std::vector<int> group_rows_;     // on a head: rows of each member
  int most_rows_ = 0;               // of a member of any group
  int rows_ = 0;                    // of this rank's group
  Array<double, Ex> part_, pieces_; // most_rows_ doubles; as many a member
  SfExchange<Ex> exchange_;
  PeerMessages<Ex> peers_;
  Array<int, Ex> slot_;      // of each row of the group, its place in pieces_
  Array<int, Ex> row_;       // the inverse; row 0 where the room is not used
  Array<int, Ex> first_row_; // of each piece
};
} // namespace amgkit
