#include "src/ops/gemm.hpp"

#include "src/api/guard.hpp"

using namespace lpt;

void lpt_gemm_options_init(lpt_gemm_options *options, size_t struct_size) {
  write_defaults(options, struct_size, LPT_GEMM_OPTIONS_INIT);
}

lpt_status lpt_gemm(lpt_context *context, const lpt_tensor *a, const lpt_tensor *b, const lpt_gemm_options *options,
                    lpt_tensor *c) {
  return guard(context, [&](Context &self) -> Status {
    lpt_gemm_options known = LPT_GEMM_OPTIONS_INIT;
    LPT_TRY(read_options(options, "options", known));
    return gemm(self, a, b, known, c);
  });
}
