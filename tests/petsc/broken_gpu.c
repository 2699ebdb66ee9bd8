/* A CUDA runtime that sees one GPU and cannot use it, for LD_PRELOAD: BROKEN_GPU is the number of the error that opening it gives. 46:
   another process has it for itself, 2: another process has all of its memory. Compiled with OLD_DRIVER, it is the driver (libcuda.so.1) of
   CUDA 11.4, as far as the runtime asks before it refuses that. */
#if defined(OLD_DRIVER)
int cuDriverGetVersion(int *version)
{
  *version = 11040;
  return 0;
}
#else
  #include <stdlib.h>

static int broken(void) { return atoi(getenv("BROKEN_GPU")); }

int cudaDriverGetVersion(int *version)
{
  *version = 13000;
  return 0;
}
int cudaGetDeviceCount(int *count)
{
  *count = 1;
  return 0;
}
int cudaGetDevice(int *device)
{
  *device = 0;
  return 0;
}
/* Of the properties the UUID alone, behind a name of 256 characters; the name of the function in CUDA 13, and in CUDA 12 */
int cudaGetDeviceProperties(char *properties, int device)
{
  for (int k = 0; k < 16; k++) properties[256 + k] = (char)(device + k);
  return 0;
}
int cudaGetDeviceProperties_v2(char *properties, int device) { return cudaGetDeviceProperties(properties, device); }
int cudaSetDevice(int device)
{
  (void)device;
  return broken();
}
int cudaSetDeviceFlags(unsigned flags)
{
  (void)flags;
  return broken();
}
int cudaGetLastError(void) { return broken(); }
int cudaFuncGetAttributes(void *attributes, const void *function)
{
  (void)attributes;
  (void)function;
  return broken();
}
#endif
