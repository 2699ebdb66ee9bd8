/*
  MPI's profiling interface: these functions stand before MPI's own, for the library and for PETSc, too, and call them as PMPI_. PETSc's
  headers would make macros of their names.
*/
#include "crossings_counts.h"

#include <mpi.h>

#define MOST_REQUESTS 65536

/* Persistent sends, by their requests, which MPI may give again once they are freed. */
static struct {
  MPI_Request request;
  double bytes;
} sends[MOST_REQUESTS];
static int nsends;

static double Bytes(double count, MPI_Datatype type)
{
  int size;

  PMPI_Type_size(type, &size);
  return count * size;
}

static void AddMessage(double bytes)
{
  CrossingsAdd(CROSSINGS_MESSAGES, 1);
  CrossingsAdd(CROSSINGS_BYTES, bytes);
}

static void AddCollective(double bytes)
{
  CrossingsAdd(CROSSINGS_COLLECTIVES, 1);
  CrossingsAdd(CROSSINGS_COLLECTIVE_BYTES, bytes);
}

static int SendIndex(MPI_Request request)
{
  for (int k = nsends - 1; k >= 0; k--) {
    if (sends[k].request == request) return k;
  }
  return -1;
}

static int AddStart(MPI_Request request)
{
  const int k = SendIndex(request);

  if (k < 0) return 0;
  AddMessage(sends[k].bytes);
  return 1;
}

int MPI_Isend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request)
{
  AddMessage(Bytes(count, type));
  CrossingsAdd(CROSSINGS_STARTS, 1);
  return PMPI_Isend(buffer, count, type, to, tag, comm, request);
}

int MPI_Issend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request)
{
  AddMessage(Bytes(count, type));
  CrossingsAdd(CROSSINGS_STARTS, 1);
  return PMPI_Issend(buffer, count, type, to, tag, comm, request);
}

int MPI_Send(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
  AddMessage(Bytes(count, type));
  CrossingsAdd(CROSSINGS_STARTS, 1);
  return PMPI_Send(buffer, count, type, to, tag, comm);
}

int MPI_Send_init(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request)
{
  const int code = PMPI_Send_init(buffer, count, type, to, tag, comm, request);

  if (code == MPI_SUCCESS && nsends < MOST_REQUESTS) {
    sends[nsends].request = *request;
    sends[nsends++].bytes = Bytes(count, type);
  }
  return code;
}

int MPI_Request_free(MPI_Request *request)
{
  const int k = SendIndex(*request);

  if (k >= 0) sends[k] = sends[--nsends];
  return PMPI_Request_free(request);
}

int MPI_Start(MPI_Request *request)
{
  if (AddStart(*request)) CrossingsAdd(CROSSINGS_STARTS, 1);
  return PMPI_Start(request);
}

int MPI_Startall(int count, MPI_Request requests[])
{
  int any = 0;

  for (int k = 0; k < count; k++) {
    if (AddStart(requests[k])) any = 1;
  }
  if (any) CrossingsAdd(CROSSINGS_STARTS, 1);
  return PMPI_Startall(count, requests);
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
  CrossingsAdd(CROSSINGS_WAITS, 1);
  return PMPI_Wait(request, status);
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
  if (count > 0) CrossingsAdd(CROSSINGS_WAITS, 1);
  return PMPI_Waitall(count, requests, statuses);
}

int MPI_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status)
{
  CrossingsAdd(CROSSINGS_WAITS, 1);
  return PMPI_Waitany(count, requests, index, status);
}

int MPI_Waitsome(int count, MPI_Request requests[], int *done, int indices[], MPI_Status statuses[])
{
  CrossingsAdd(CROSSINGS_WAITS, 1);
  return PMPI_Waitsome(count, requests, done, indices, statuses);
}

int MPI_Recv(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *status)
{
  CrossingsAdd(CROSSINGS_WAITS, 1);
  return PMPI_Recv(buffer, count, type, from, tag, comm, status);
}

int MPI_Barrier(MPI_Comm comm)
{
  AddCollective(0);
  return PMPI_Barrier(comm);
}

int MPI_Ibarrier(MPI_Comm comm, MPI_Request *request)
{
  AddCollective(0);
  return PMPI_Ibarrier(comm, request);
}

int MPI_Bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
  AddCollective(Bytes(count, type));
  return PMPI_Bcast(buffer, count, type, root, comm);
}

int MPI_Reduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm)
{
  AddCollective(Bytes(count, type));
  return PMPI_Reduce(from, to, count, type, op, root, comm);
}

int MPI_Allreduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
  AddCollective(Bytes(count, type));
  return PMPI_Allreduce(from, to, count, type, op, comm);
}

int MPI_Scan(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
  AddCollective(Bytes(count, type));
  return PMPI_Scan(from, to, count, type, op, comm);
}

int MPI_Exscan(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
  AddCollective(Bytes(count, type));
  return PMPI_Exscan(from, to, count, type, op, comm);
}

int MPI_Reduce_scatter_block(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
  AddCollective(Bytes(count, type));
  return PMPI_Reduce_scatter_block(from, to, count, type, op, comm);
}

int MPI_Gather(const void *from, int count, MPI_Datatype type, void *to, int count_to, MPI_Datatype type_to, int root, MPI_Comm comm)
{
  AddCollective(Bytes(count, type));
  return PMPI_Gather(from, count, type, to, count_to, type_to, root, comm);
}

int MPI_Allgather(const void *from, int count, MPI_Datatype type, void *to, int count_to, MPI_Datatype type_to, MPI_Comm comm)
{
  AddCollective(from == MPI_IN_PLACE ? Bytes(count_to, type_to) : Bytes(count, type));
  return PMPI_Allgather(from, count, type, to, count_to, type_to, comm);
}

int MPI_Alltoall(const void *from, int count, MPI_Datatype type, void *to, int count_to, MPI_Datatype type_to, MPI_Comm comm)
{
  int size;

  PMPI_Comm_size(comm, &size);
  AddCollective(size * Bytes(count, type));
  return PMPI_Alltoall(from, count, type, to, count_to, type_to, comm);
}

int MPI_Alltoallv(const void *from, const int counts[], const int begins[], MPI_Datatype type, void *to, const int counts_to[],
                  const int begins_to[], MPI_Datatype type_to, MPI_Comm comm)
{
  double count = 0;
  int size;

  PMPI_Comm_size(comm, &size);
  for (int r = 0; r < size; r++) count += counts[r];
  AddCollective(Bytes(count, type));
  return PMPI_Alltoallv(from, counts, begins, type, to, counts_to, begins_to, type_to, comm);
}

int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *part)
{
  AddCollective(0);
  return PMPI_Comm_split(comm, color, key, part);
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *copy)
{
  AddCollective(0);
  return PMPI_Comm_dup(comm, copy);
}
