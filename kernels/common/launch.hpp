// How the CUDA files of a family are written once and run twice: by nvcc on a device, and by any C++ compiler on the CPU
// (LPT_SIMT defined: kernels/common/simt.hpp), where tests hold them against the reference rows.
//
//   LPT_LAUNCH((cast<Bf16, E4m3fn>), grid, block, shared_bytes, stream, arguments...);
//
// queues a kernel on a stream (a cudaStream_t as void *, NULL for the default one; on the CPU the kernel has run when the line
// is done, unless a test's runtime keeps streams of its own: simt::set_queue()). Arguments are taken by value. A template with commas stands in parentheses. A launch that fails is reported by
// cudaGetLastError(), which the owner of the stream checks.
//
// LPT_DYNAMIC_SHARED(Type, name) names the `shared_bytes` of a launch inside a kernel: an array on a 16-byte boundary. Beyond
// 48 KiB of them a kernel has to be allowed them before it is launched: allow_shared(kernel, bytes).
#pragma once

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
