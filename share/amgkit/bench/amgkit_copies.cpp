// Times copies between the user's memory and the device: the library's, with 1 to 16 threads, beside those of the CUDA runtime.
#include "base/array.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cuda_runtime_api.h>
#include <functional>
#include <petscsys.h>
#include <petsctime.h>
#include <string>

namespace
{
using namespace amgkit;

const char help[] =
    "Times copies of -megabytes (default 1000) between a process's memory and a GPU, best of -repeat (default 5), in GB/s.\n";

PetscErrorCode check(cudaError_t status)
{
  PetscFunctionBegin;
  PetscCheck(status == cudaSuccess, PETSC_COMM_SELF, PETSC_ERR_GPU, "%s", cudaGetErrorString(status));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode rate(PetscInt repeat, double bytes, const std::function<PetscErrorCode()> &copy, double *best)
{
  PetscLogDouble begin, end;

  PetscFunctionBegin;
  *best = 0;
  for (PetscInt k = 0; k < repeat; k++) {
    PetscCall(PetscTime(&begin));
    PetscCall(copy());
    PetscCall(check(cudaDeviceSynchronize()));
    PetscCall(PetscTime(&end));
    *best = std::max(*best, bytes / (end - begin) / 1e9);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode time_pair(const char *name, PetscInt repeat, double bytes, const std::function<PetscErrorCode()> &up,
                         const std::function<PetscErrorCode()> &down)
{
  double there, back;

  PetscFunctionBegin;
  PetscCall(rate(repeat, bytes, up, &there));
  PetscCall(rate(repeat, bytes, down, &back));
  std::printf("%-28s up %6.1f GB/s, down %6.1f GB/s\n", name, there, back);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode time_copies()
{
  PetscInt megabytes = 1000, repeat = 5;
  Cuda ex;
  Host host;
  Array<unsigned char, Cuda> device;
  Array<unsigned char, Host> pageable;
  void *locked;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-megabytes", &megabytes, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-repeat", &repeat, nullptr));
  const std::size_t bytes = static_cast<std::size_t>(megabytes) * 1000000;
  PetscCall(open(ex));
  PetscCall(device.allocate(ex, static_cast<std::int64_t>(bytes)));
  PetscCall(pageable.allocate(host, static_cast<std::int64_t>(bytes)));
  PetscCall(memory_zero(host, pageable.data(), bytes));
  PetscCall(check(cudaMallocHost(&locked, bytes)));
  PetscCall(memory_zero(host, locked, bytes));
  const std::array<std::pair<const char *, void *>, 2> memories = {
      {{"cudaMemcpy, page-locked", locked}, {"cudaMemcpy, pageable", pageable.data()}}};
  for (const auto &[name, memory] : memories)
    PetscCall(time_pair(
        name, repeat, static_cast<double>(bytes), [&] { return check(cudaMemcpy(device.data(), memory, bytes, cudaMemcpyHostToDevice)); },
        [&] { return check(cudaMemcpy(memory, device.data(), bytes, cudaMemcpyDeviceToHost)); }));
  for (const int threads : {1, 2, 4, 8, 16}) {
    const std::string number = std::to_string(threads), name = "ours, " + number + " threads";
    PetscCall(PetscOptionsSetValue(nullptr, "-amgkit_copy_threads", number.c_str()));
    PetscCall(time_pair(
        name.c_str(), repeat, static_cast<double>(bytes), [&] { return copy_in(ex, device.data(), pageable.data(), bytes); },
        [&] { return copy_out(ex, pageable.data(), device.data(), bytes); }));
  }
  PetscCall(check(cudaFreeHost(locked)));
  device.release();
  PetscCall(close(ex));
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace

int main(int argc, char **argv)
{
  if (PetscInitialize(&argc, &argv, nullptr, help)) return 1;
  const bool failed = time_copies() != 0;
  return PetscFinalize() || failed ? 1 : 0;
}
