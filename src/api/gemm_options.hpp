// Options of a GEMM as this release knows them.
#pragma once

#include "lpt/research/emulation.h"
#include "src/api/guard.hpp"

namespace lpt {

// The options with defaults for the members that the caller does not know, also in the structs that they point to.
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
