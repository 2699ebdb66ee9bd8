// Memory of a process's GPU that other processes of the node use on the same GPU: CUDA IPC. The system may refuse it, as some containers
// do, which is no error here: these functions say why.
#pragma once
#include "base/compat.hpp"

#include <array>
#include <cstddef>
#include <string>

namespace amgkit
{
using IpcHandle = std::array<char, 64>; // what the others need

#if defined(AMGKIT_HAVE_CUDA)
// *p <- memory of the device that is chosen for this process; empty, or why there is none that others can use.
std::string ipc_allocate(std::size_t bytes, void **p, IpcHandle *);
// After all others have closed it; waits for the device.
void ipc_free(void *p);
// In another process, on the same device: its address there; empty, or why not.
std::string ipc_open(const IpcHandle &, void **p);
void ipc_close(void *p);
#else
inline std::string ipc_allocate(std::size_t, void **, IpcHandle *) { return "this build has no CUDA"; }
inline void ipc_free(void *) {}
inline std::string ipc_open(const IpcHandle &, void **) { return "this build has no CUDA"; }
inline void ipc_close(void *) {}
#endif
} // namespace amgkit
