#include "src/nn/attention.hpp"

#include "lpt/research/exaq.h"
#include "src/api/guard.hpp"

using namespace lpt;

namespace {

// Reads the options. `exaq` stores those of `options.exaq`.
Status read_attention_options(const lpt_attention_options *given, lpt_attention_options &known,
                              lpt_exaq_options &exaq) {
  LPT_TRY(read_options(given, "options", known));
  if (known.exaq == nullptr) return {};
  LPT_TRY(read_options(known.exaq, "options->exaq", exaq));
  known.exaq = &exaq;
  return {};
}

}  // namespace

lpt_status lpt_attention_forward(lpt_context *context, const lpt_tensor *query, const lpt_tensor *key,
                                 const lpt_tensor *value, const lpt_attention_options *options, lpt_tensor *output) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_writable(output, "output"));
    lpt_attention_options known = LPT_ATTENTION_OPTIONS_INIT;
    lpt_exaq_options exaq = LPT_EXAQ_OPTIONS_INIT;
    LPT_TRY(read_attention_options(options, known, exaq));
    if (known.log_sum_exp != nullptr) LPT_TRY(check_writable(known.log_sum_exp, "log_sum_exp"));
    return attention_forward(self, {query, key, value}, known, output);
  });
}

lpt_status lpt_attention_backward(lpt_context *context, const lpt_tensor *query, const lpt_tensor *key,
                                  const lpt_tensor *value, const lpt_tensor *output_gradient,
                                  const lpt_attention_options *options, lpt_tensor *query_gradient,
                                  lpt_tensor *key_gradient, lpt_tensor *value_gradient) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_writable(query_gradient, "query_gradient"));
    LPT_TRY(check_writable(key_gradient, "key_gradient"));
    LPT_TRY(check_writable(value_gradient, "value_gradient"));
    lpt_attention_options known = LPT_ATTENTION_OPTIONS_INIT;
    lpt_exaq_options exaq = LPT_EXAQ_OPTIONS_INIT;
    LPT_TRY(read_attention_options(options, known, exaq));
    return attention_backward(self, {query, key, value}, output_gradient, known,
                              {query_gradient, key_gradient, value_gradient});
  });
}
