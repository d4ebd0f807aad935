// Kernel launches for CUDA files that are compiled twice: by nvcc for a device, and by any C++ compiler for the CPU. On the
// CPU, LPT_SIMT is defined (kernels/common/simt.hpp), and tests compare the results with those of the reference kernels.
//
//   LPT_LAUNCH((cast<Bf16, E4m3fn>), grid, block, shared_bytes, stream, arguments...);
//
// queues a kernel on a stream: a cudaStream_t as void *, or NULL for the default stream. On the CPU the kernel runs
// immediately, unless a test installs its own streams with simt::set_queue(). Arguments are passed by value. A template with
// commas needs parentheses. cudaGetLastError() reports a failed launch; the owner of the stream calls it.
//
// LPT_DYNAMIC_SHARED(Type, name) names the `shared_bytes` of a launch inside a kernel: an array that is aligned to 16 bytes.
// For more than 48 KiB, allow_shared(kernel, bytes) must be called before the launch.
#pragma once

#include <cstdint>

#if defined(LPT_SIMT)

#include "kernels/common/simt.hpp"

#define LPT_LAUNCH(kernel, grid, block, shared_bytes, stream, ...)                                           \
  ::lpt::simt::launch(#kernel, reinterpret_cast<const void *>(&(kernel)), grid, block, shared_bytes, stream, \
                      [](auto... given) { kernel(given...); } __VA_OPT__(, ) __VA_ARGS__)
#define LPT_DYNAMIC_SHARED(Type, name) Type *name = static_cast<Type *>(::lpt::simt::dynamic_shared())

namespace lpt {
template <typename... Given>
void allow_shared(void (*kernel)(Given...), std::size_t bytes) {
  simt::allow_shared_bytes(reinterpret_cast<const void *>(kernel), bytes);
}
}  // namespace lpt

#elif defined(__CUDACC__)

#include <cuda_runtime.h>

namespace lpt {
template <typename... Given>
void allow_shared(void (*kernel)(Given...), std::size_t bytes) {
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
}
}  // namespace lpt

#define LPT_LAUNCH(kernel, grid, block, shared_bytes, stream, ...) \
  kernel<<<grid, block, shared_bytes, static_cast<cudaStream_t>(stream)>>>(__VA_ARGS__)
#define LPT_DYNAMIC_SHARED(Type, name)                                \
  extern __shared__ __align__(16) unsigned char lpt_dynamic_shared[]; \
  Type *name = reinterpret_cast<Type *>(lpt_dynamic_shared)

#else
#error "launch.hpp is for files that nvcc compiles, or that are compiled with LPT_SIMT"
#endif

namespace lpt {

// Threads of a block, in kernels without a reason for another number.
constexpr uint32_t kBlockThreads = 256;

// Blocks of kBlockThreads threads for a number of threads.
constexpr uint32_t blocks_for(int64_t threads) {
  return static_cast<uint32_t>((threads + kBlockThreads - 1) / kBlockThreads);
}

}  // namespace lpt
