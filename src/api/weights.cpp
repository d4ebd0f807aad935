#include "src/weights/weights.hpp"

#include "src/api/guard.hpp"
#include "src/tensor/packed.hpp"

using namespace lpt;

lpt_status lpt_weights_pack(lpt_context *context, const lpt_tensor *weights, const lpt_weights_options *options,
                            lpt_tensor **out_packed) {
  return guard(context, [&](Context &self) -> Status {
    lpt_weights_options known = LPT_WEIGHTS_OPTIONS_INIT;
    LPT_TRY(read_options(options, "options", known));
    LPT_TRY(check_out(out_packed, "out_packed"));
    return pack_weights(self, weights, known, out_packed);
  });
}

lpt_status lpt_weights_order(lpt_context *context, const lpt_tensor *weights, const lpt_weights_options *options,
                             int32_t *order, int64_t *out_given_count, int64_t *out_count) {
  return guard(context, [&](Context &self) -> Status {
    lpt_weights_options known = LPT_WEIGHTS_OPTIONS_INIT;
    known.storage = LPT_WEIGHTS_STORAGE_BLOCK_SPARSE;
    LPT_TRY(read_options(options, "options", known));
    LPT_TRY(check_out(order, "order"));
    int64_t given_count = 0, count = 0;
    LPT_TRY(order_weights(self, weights, known, order, given_count, count));
    if (out_given_count != nullptr) *out_given_count = given_count;
    if (out_count != nullptr) *out_count = count;
    return {};
  });
}

lpt_status lpt_weights_unpack(lpt_context *context, const lpt_tensor *packed, lpt_tensor *weights) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_writable(weights, "weights"));
    return unpack_weights(self, packed, weights);
  });
}

lpt_status lpt_weights_state_size(lpt_context *context, const lpt_tensor *packed, size_t *out_size_bytes) {
  return guard(context, [&](Context &) -> Status {
    LPT_TRY(check_packed(packed, "packed"));
    LPT_TRY(check_out(out_size_bytes, "out_size_bytes"));
    *out_size_bytes = weights_state_bytes(*packed);
    return {};
  });
}

lpt_status lpt_weights_state_save(lpt_context *context, const lpt_tensor *packed, void *buffer, size_t buffer_bytes) {
  return guard(context, [&](Context &) -> Status {
    LPT_TRY(check_packed(packed, "packed"));
    LPT_TRY(check_out(buffer, "buffer"));
    return save_weights(*packed).save(buffer, buffer_bytes);
  });
}

lpt_status lpt_weights_state_load(lpt_context *context, const void *buffer, size_t buffer_bytes,
                                  lpt_tensor **out_packed) {
  return guard(context, [&](Context &self) -> Status {
    if (buffer == nullptr) return invalid("buffer is NULL: expected a saved state");
    LPT_TRY(check_out(out_packed, "out_packed"));
    BlobReader reader;
    LPT_TRY(BlobReader::open(BlobKind::kWeights, buffer, buffer_bytes, reader));
    return load_weights(self, reader, out_packed);
  });
}
