#include "src/nn/embedding.hpp"

#include "src/api/guard.hpp"

using namespace lpt;

lpt_status lpt_embedding_forward(lpt_context *context, const lpt_tensor *weight, const lpt_tensor *indices,
                                 const lpt_embedding_options *options, lpt_tensor *output) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_writable(output, "output"));
    lpt_embedding_options known = LPT_EMBEDDING_OPTIONS_INIT;
    LPT_TRY(read_options(options, "options", known));
    return embedding_forward(self, weight, indices, known, output);
  });
}

lpt_status lpt_embedding_backward(lpt_context *context, const lpt_tensor *indices, const lpt_tensor *output_gradient,
                                  const lpt_embedding_options *options, lpt_tensor *weight_gradient) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_writable(weight_gradient, "weight_gradient"));
    lpt_embedding_options known = LPT_EMBEDDING_OPTIONS_INIT;
    LPT_TRY(read_options(options, "options", known));
    return embedding_backward(self, indices, output_gradient, known, weight_gradient);
  });
}
