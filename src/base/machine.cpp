#include "src/base/machine.hpp"

#include "src/base/environment.hpp"

namespace lpt {

KernelOptions read_kernel_options() {
  KernelOptions options;
  options.has_fp4_tiles = variable("LPT_GEMM_TILES") != nullptr;
  options.has_warpgroups = variable("LPT_GEMM_WGMMA") != nullptr;
  options.may_round = variable("LPT_GEMM_ROUND") != nullptr;
  options.has_sparse_library = variable("LPT_GEMM_SPARSE") != nullptr;
  options.tunes_library = variable("LPT_GEMM_TUNE") != nullptr;
  return options;
}

}  // namespace lpt
