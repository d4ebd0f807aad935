// The part of the CUDA runtime that LPT's backend calls, for a machine without a GPU: its memory is the host's, but locked
// save while the runtime or a kernel is at work, so that whoever else touches it dies.
//
// What tests change by the environment: CUDA_VISIBLE_DEVICES, as CUDA; LPT_TEST_DRIVER, a driver's version, 0: none;
// LPT_TEST_CAPABILITY, that of all devices; LPT_TEST_FAILS_AT, the piece of queued work that fails after it was queued.
#pragma once

#include <stddef.h>

enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInsufficientDriver = 35,
  cudaErrorNoDevice = 100,
  cudaErrorInvalidDevice = 101,
  cudaErrorIllegalAddress = 700
};
enum cudaMemcpyKind { cudaMemcpyDefault = 4 };
enum cudaMemoryType {
  cudaMemoryTypeUnregistered = 0,
  cudaMemoryTypeHost = 1,
  cudaMemoryTypeDevice = 2,
  cudaMemoryTypeManaged = 3
};
using cudaStream_t = struct CUstream_st *;

struct cudaDeviceProp {
  char name[256];
  size_t totalGlobalMem;
  int major, minor, multiProcessorCount;
};
struct cudaPointerAttributes {
  cudaMemoryType type;
  int device;
};

cudaError_t cudaDriverGetVersion(int *version);
cudaError_t cudaRuntimeGetVersion(int *version);
cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *facts, int device);
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaMalloc(void **memory, size_t bytes);
cudaError_t cudaFree(void *memory);
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *facts, const void *memory);
cudaError_t cudaMemsetAsync(void *memory, int value, size_t bytes, cudaStream_t stream);
cudaError_t cudaMemcpyAsync(void *target, const void *source, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaMemcpy2DAsync(void *target, size_t target_stride, const void *source, size_t source_stride,
                              size_t row_bytes, size_t rows, cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaGetLastError();
const char *cudaGetErrorString(cudaError_t error);

// Lets the caller's kernels at the memory of all devices, and takes it away.
void unlock_devices();
void lock_devices();
