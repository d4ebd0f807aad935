#include "src/cast/quantize.hpp"

#include "src/api/guard.hpp"

using namespace lpt;

lpt_status lpt_quantize(lpt_context *context, const lpt_tensor *source, const lpt_quantize_options *options,
                        lpt_tensor *quantized, lpt_tensor *transposed) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_writable(quantized, "quantized"));
    LPT_TRY(check_writable(transposed, "transposed"));
    lpt_quantize_options known = LPT_QUANTIZE_OPTIONS_INIT;
    LPT_TRY(read_options(options, "options", known));
    return quantize(self, source, known, quantized, transposed);
  });
}

lpt_status lpt_fake_quantize(lpt_context *context, const lpt_tensor *source, lpt_format format,
                             const lpt_quantize_options *options, lpt_tensor *output) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_writable(output, "output"));
    lpt_quantize_options known = LPT_QUANTIZE_OPTIONS_INIT;
    LPT_TRY(read_options(options, "options", known));
    return fake_quantize(self, source, format, known, output);
  });
}

lpt_status lpt_dequantize(lpt_context *context, const lpt_tensor *source, const lpt_dequantize_options *options,
                          lpt_tensor *output) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_writable(output, "output"));
    lpt_dequantize_options known = LPT_DEQUANTIZE_OPTIONS_INIT;
    LPT_TRY(read_options(options, "options", known));
    return dequantize(self, source, known, output);
  });
}
