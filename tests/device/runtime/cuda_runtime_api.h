// The part of the CUDA runtime that LPT's backend calls, for a machine without a GPU. Device memory is host memory, locked
// except while the runtime or a kernel runs, so that any other access ends the process.
//
// Work runs when it is queued. With LPT_TEST_LATE it runs when its stream is synchronized, which detects work on a stream other
// than the caller's. Messages of ranks (nccl_stub.cpp) complete when the other rank has queued its message; work queued after
// them waits for them.
//
// Other environment variables for tests:
//   CUDA_VISIBLE_DEVICES  as in CUDA
//   LPT_TEST_DRIVER       version of the driver, 0: none
//   LPT_TEST_DEVICES      number of devices, default 2
//   LPT_TEST_CAPABILITY   compute capability of all devices
//   LPT_TEST_FAILS_AT     number of the queued work item that fails after it is queued
//   LPT_TEST_STEPS        file name, to which the device number is appended; receives one line per queued work item: "context
//                         kernel", "comm message". The default stream is "context"; a mark is a recorded event
//   LPT_TEST_CONTEXTS     file name, to which the device number is appended; created when a device creates a context
//   LPT_TEST_NO_MEMORY    every allocation fails
#pragma once

#include <stddef.h>

#include <functional>

enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInsufficientDriver = 35,
  cudaErrorNoDevice = 100,
  cudaErrorInvalidDevice = 101,
  cudaErrorNotReady = 600,
  cudaErrorIllegalAddress = 700
};
enum cudaDriverEntryPointQueryResult { cudaDriverEntryPointSuccess = 0, cudaDriverEntryPointSymbolNotFound = 1 };
constexpr unsigned long long cudaEnableDefault = 0;
enum cudaMemcpyKind { cudaMemcpyDefault = 4 };
enum cudaMemoryType {
  cudaMemoryTypeUnregistered = 0,
  cudaMemoryTypeHost = 1,
  cudaMemoryTypeDevice = 2,
  cudaMemoryTypeManaged = 3
};
using cudaStream_t = struct CUstream_st *;
using cudaEvent_t = struct CUevent_st *;
constexpr unsigned cudaStreamNonBlocking = 1, cudaEventDisableTiming = 2;
struct cudaPos {
  size_t x, y, z;
};
struct cudaExtent {
  size_t width, height, depth;
};
struct cudaPitchedPtr {
  void *ptr;
  size_t pitch, xsize, ysize;
};
struct cudaMemcpy3DPeerParms {
  void *srcArray;
  cudaPos srcPos;
  cudaPitchedPtr srcPtr;
  int srcDevice;
  void *dstArray;
  cudaPos dstPos;
  cudaPitchedPtr dstPtr;
  int dstDevice;
  cudaExtent extent;
};

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
cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **function, unsigned version,
                                             unsigned long long flags, cudaDriverEntryPointQueryResult *result);
cudaError_t cudaMalloc(void **memory, size_t bytes);
cudaError_t cudaFree(void *memory);
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *facts, const void *memory);
cudaError_t cudaMemsetAsync(void *memory, int value, size_t bytes, cudaStream_t stream);
cudaError_t cudaMemcpyAsync(void *target, const void *source, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaMemcpy2DAsync(void *target, size_t target_stride, const void *source, size_t source_stride,
                              size_t row_bytes, size_t rows, cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaMemcpyPeerAsync(void *target, int target_device, const void *source, int source_device, size_t bytes,
                                cudaStream_t stream);
cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms *parameters, cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaGetLastError();
const char *cudaGetErrorString(cudaError_t error);

// Unlocks and locks the memory of all devices for the caller's kernels; used by one thread at a time.
void unlock_devices();
void lock_devices();

// Interface of this runtime for the NCCL stub, passed to its lpt_test_connect().
struct PendingWork {
  void *self;
  bool (*has_ended)(void *self);  // also makes progress
  void (*drop)(void *self);
};
struct TestRuntime {
  void (*unlock)();
  void (*lock)();
  int (*current_device)();
  void (*queue)(int device, cudaStream_t stream, PendingWork work);
};
const TestRuntime &test_runtime();

// Queues the work of a kernel.
void queue_kernel(void *stream, std::function<void()> work);
