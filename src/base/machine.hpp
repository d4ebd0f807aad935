// Properties of the machine that the selection of a kernel depends on.
#pragma once

#include "src/base/cpu.hpp"

namespace lpt {

// Preferences among the kernels that support a request. All but the first are kernels, and algorithms of vendor libraries, that
// are used on request only: see docs/guides/gpu.md.
struct KernelOptions {
  bool has_slow_dots = false;   // bf16 dot products have a lower rate than f32 multiply-adds: see docs/guides/gemm.md
  bool has_fp4_tiles = false;   // LPT_GEMM_TILES
  bool has_warpgroups = false;  // LPT_GEMM_WGMMA
  bool may_round = false;       // LPT_GEMM_ROUND
  bool has_sparse_library = false;  // LPT_GEMM_SPARSE
  bool tunes_library = false;       // LPT_GEMM_TUNE
};

// Reads the options that are environment variables.
KernelOptions read_kernel_options();

struct Machine {
  lpt_device kind = LPT_DEVICE_CPU;
  CpuFeatures cpu = 0;     // features that kernels may use
  int32_t capability = 0;  // of a GPU: 10 · major + minor, such as 90; 0 for the CPU
  KernelOptions options{};
};

}  // namespace lpt
