#include "base/cuda.hpp"
#include "base/ipc_memory.hpp"

#include <cstring>

namespace amgkit
{
namespace
{
// An error that is none leaves nothing for the next one who asks the runtime.
std::string said(const char *what, cudaError_t status)
{
  if (!status) return "";
  static_cast<void>(cudaGetLastError());
  return std::string(what) + ": " + cudaGetErrorName(status);
}
} // namespace

std::string ipc_allocate(std::size_t bytes, void **p, IpcHandle *handle)
{
  constexpr std::size_t page = std::size_t{2} << 20; // what is opened is whole pages: no other memory is on them
  cudaIpcMemHandle_t made;
  static_assert(sizeof made == sizeof(IpcHandle));

  *p = nullptr;
  std::string why = said("cudaMalloc", cudaMalloc(p, (bytes + page - 1) / page * page));
  if (!why.empty()) return why;
  why = said("cudaIpcGetMemHandle", cudaIpcGetMemHandle(&made, *p));
  if (why.empty()) {
    std::memcpy(handle->data(), &made, sizeof made);
  } else {
    ipc_free(*p);
    *p = nullptr;
  }
  return why;
}

void ipc_free(void *p) { static_cast<void>(said("cudaFree", cudaFree(p))); }

std::string ipc_open(const IpcHandle &handle, void **p)
{
  cudaIpcMemHandle_t given;

  *p = nullptr;
  std::memcpy(&given, handle.data(), sizeof given);
  return said("cudaIpcOpenMemHandle", cudaIpcOpenMemHandle(p, given, cudaIpcMemLazyEnablePeerAccess));
}

void ipc_close(void *p) { static_cast<void>(said("cudaIpcCloseMemHandle", cudaIpcCloseMemHandle(p))); }
} // namespace amgkit
