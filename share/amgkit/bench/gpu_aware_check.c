/*
  A preload library for GPU-aware runs with an Open MPI that was built without CUDA but uses a UCX that was built with it.

  Point-to-point messages of device memory then work: Open MPI hands the pointers to UCX as they are, and those messages are
  all that PetscSF makes. Reductions do not: Open MPI computes them on the CPU and would touch device memory there. PETSc,
  however, tests for GPU awareness with a reduction: MPI_Allreduce() of a device buffer on a communicator of one process,
  where the answer is the input. So this library makes that one case a copy with CUDA, and leaves all else to MPI.

    mpicc -O2 -shared -fPIC gpu_aware_check.c -o liballreduce_self.so -I$CUDA/include -L$CUDA/lib64 -lcudart
    mpirun -n 2 env LD_PRELOAD=./liballreduce_self.so program ...          (with OMPI_MCA_pml=ucx and that UCX, see run_gpu_bundle.sh)
*/
#include <cuda_runtime_api.h>
#include <mpi.h>

static int is_on_device(const void *p)
{
  struct cudaPointerAttributes attributes;

  if (cudaPointerGetAttributes(&attributes, p) != cudaSuccess) {
    (void)cudaGetLastError(); /* no GPU or no context: not ours, and not an error the program should find */
    return 0;
  }
  return attributes.type == cudaMemoryTypeDevice;
}

int MPI_Allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
  int size, bytes;

  PMPI_Comm_size(comm, &size);
  if (size > 1 || sendbuf == MPI_IN_PLACE || !is_on_device(recvbuf)) return PMPI_Allreduce(sendbuf, recvbuf, count, datatype, op, comm);
  PMPI_Type_size(datatype, &bytes);
  return cudaMemcpy(recvbuf, sendbuf, (size_t)bytes * (size_t)count, cudaMemcpyDefault) == cudaSuccess ? MPI_SUCCESS : MPI_ERR_OTHER;
}
