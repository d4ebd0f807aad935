// Options of a GEMM in the version of this release.
#pragma once

#include "lpt/research/emulation.h"
#include "src/api/guard.hpp"

namespace lpt {

// The options, with defaults for members that the structs of the caller lack, including the structs that the options point
// to.
struct KnownGemmOptions {
  lpt_gemm_options gemm = LPT_GEMM_OPTIONS_INIT;
  lpt_quantize_options quantize = LPT_QUANTIZE_OPTIONS_INIT;
  lpt_gemm_emulation emulation = LPT_GEMM_EMULATION_INIT;

  Status read(const lpt_gemm_options *options) {
    LPT_TRY(read_options(options, "options", gemm));
    if (gemm.quantize != nullptr) {
      LPT_TRY(read_options(gemm.quantize, "quantize", quantize));
      gemm.quantize = &quantize;
    }
    if (gemm.emulation != nullptr) {
      LPT_TRY(read_options(gemm.emulation, "emulation", emulation));
      gemm.emulation = &emulation;
    }
    return {};
  }
};

}  // namespace lpt
