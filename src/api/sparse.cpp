#include "src/sparse/sparse.hpp"

#include "src/api/guard.hpp"

using namespace lpt;

lpt_status lpt_sparse_mask_select(lpt_context *context, const lpt_tensor *source, const lpt_sparse_options *options,
                                  lpt_tensor *mask, lpt_tensor *masked, lpt_sparse_info *out_info) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_writable(mask, "mask"));
    LPT_TRY(check_writable(masked, "masked"));
    lpt_sparse_options known = LPT_SPARSE_OPTIONS_INIT;
    lpt_sparse_info values = LPT_SPARSE_INFO_INIT;
    LPT_TRY(read_options(options, "options", known));
    if (out_info != nullptr) LPT_TRY(check_values(out_info, "out_info"));
    LPT_TRY(select_sparse_mask(self, source, known, mask, masked, out_info == nullptr ? nullptr : &values));
    if (out_info == nullptr || (known.flags & LPT_CHECK_ONLY) != 0) return {};
    return write_values(values, "out_info", out_info);
  });
}

lpt_status lpt_sparse_mask_check(lpt_context *context, const lpt_tensor *mask, int32_t kept, int32_t of,
                                 lpt_sparse_direction direction, int64_t *out_count) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_out(out_count, "out_count"));
    return check_sparse_mask(self, mask, kept, of, direction, out_count);
  });
}

lpt_status lpt_sparse_mask_compare(lpt_context *context, const lpt_tensor *mask, const lpt_tensor *other,
                                   int64_t *out_count) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_out(out_count, "out_count"));
    return compare_sparse_masks(self, mask, other, out_count);
  });
}

lpt_status lpt_sparse_mask_apply(lpt_context *context, const lpt_tensor *source, const lpt_tensor *mask,
                                 lpt_tensor *output) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_writable(output, "output"));
    return apply_sparse_mask(self, source, mask, output);
  });
}

lpt_status lpt_sparse_mask_decay(lpt_context *context, const lpt_tensor *weight, const lpt_tensor *mask, double rate,
                                 lpt_tensor *gradient) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_writable(gradient, "gradient"));
    return decay_masked(self, weight, mask, rate, gradient);
  });
}

lpt_status lpt_sparse_compress(lpt_context *context, const lpt_tensor *source, const lpt_tensor *mask,
                               lpt_tensor *compressed, lpt_tensor *transposed) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_writable(compressed, "compressed"));
    LPT_TRY(check_writable(transposed, "transposed"));
    return compress_sparse(self, source, mask, compressed, transposed);
  });
}

lpt_status lpt_sparse_decompress(lpt_context *context, const lpt_tensor *compressed, lpt_tensor *output) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_writable(output, "output"));
    return decompress_sparse(self, compressed, output);
  });
}

lpt_status lpt_sparse_diversity(lpt_context *context, int32_t kept, int32_t of, lpt_sparse_direction direction,
                                lpt_sparse_count count, double *out_bits) {
  return guard(context, [&](Context &) -> Status {
    LPT_TRY(check_out(out_bits, "out_bits"));
    return count_sparse_masks(kept, of, direction, count, out_bits);
  });
}

lpt_status lpt_sparse_choose_kept(lpt_context *context, double zero_share, int32_t of, double confidence,
                                  int32_t *out_kept) {
  return guard(context, [&](Context &) -> Status {
    LPT_TRY(check_out(out_kept, "out_kept"));
    return choose_kept(zero_share, of, confidence, out_kept);
  });
}

lpt_status lpt_sparse_absorb(lpt_context *context, const lpt_tensor *source, const lpt_tensor *mask, int32_t of,
                             lpt_sparse_direction direction, lpt_tensor *output) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_writable(output, "output"));
    return absorb_masked(self, source, mask, of, direction, output);
  });
}

lpt_status lpt_sparse_order(lpt_context *context, const lpt_tensor *weight, const lpt_sparse_options *options,
                            int32_t *order, lpt_sparse_info *out_info) {
  return guard(context, [&](Context &self) -> Status {
    lpt_sparse_options known = LPT_SPARSE_OPTIONS_INIT;
    lpt_sparse_info values = LPT_SPARSE_INFO_INIT;
    LPT_TRY(read_options(options, "options", known));
    LPT_TRY(check_out(order, "order"));
    if (out_info != nullptr) LPT_TRY(check_values(out_info, "out_info"));
    LPT_TRY(order_sparse(self, weight, known, order, values));
    return out_info == nullptr ? Status() : write_values(values, "out_info", out_info);
  });
}
