// Properties of the machine that the selection of a kernel depends on.
#pragma once

#include "src/base/cpu.hpp"

namespace lpt {

// Kernels, and algorithms of vendor libraries, that are used on request only: see docs/guides/gpu.md.
struct KernelOptions {
  bool has_fp4_tiles = false;       // LPT_GEMM_TILES
  bool has_warpgroups = false;      // LPT_GEMM_WGMMA
  bool may_round = false;           // LPT_GEMM_ROUND
  bool has_sparse_library = false;  // LPT_GEMM_SPARSE
  bool tunes_library = false;       // LPT_GEMM_TUNE
};

// Reads the environment.
KernelOptions read_kernel_options();

struct Machine {
  lpt_device kind = LPT_DEVICE_CPU;
  CpuFeatures cpu = 0;         // features that kernels may use
  bool has_slow_dots = false;  // kernels with bf16 dot products are used only where those in f32 are not faster
  int32_t capability = 0;      // of a GPU: 10 · major + minor, such as 90; 0 for the CPU
  KernelOptions options{};
};

}  // namespace lpt
