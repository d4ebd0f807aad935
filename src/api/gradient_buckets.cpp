#include "src/parallel/gradient_buckets.hpp"

#include "src/api/reduce_options.hpp"

using namespace lpt;

namespace {

template <typename Body>
lpt_status with_buckets(lpt_context *context, lpt_gradient_buckets *buckets, const Body &body) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_handle(buckets, HandleKind::kGradientBuckets, "buckets"));
    return body(self);
  });
}

}  // namespace

lpt_status lpt_gradient_buckets_create(lpt_context *context, lpt_comm *comm, lpt_tensor *const *gradients,
                                       int64_t count, const lpt_gradient_buckets_options *options,
                                       lpt_gradient_buckets **out_buckets) {
  return guard(context, [&](Context &) -> Status {
    LPT_TRY(check_writable(gradients, count, "gradients"));
    lpt_gradient_buckets_options known = LPT_GRADIENT_BUCKETS_OPTIONS_INIT;
    LPT_TRY(read_options(options, "options", known));
    LPT_TRY(check_handle(comm, HandleKind::kComm, "comm"));
    LPT_TRY(check_out(out_buckets, "out_buckets"));
    return create_gradient_buckets(*comm, gradients, count, known, out_buckets);
  });
}

lpt_status lpt_gradient_buckets_begin(lpt_context *context, lpt_gradient_buckets *buckets, int32_t is_last,
                                      const lpt_reduce_options *options) {
  return with_buckets(context, buckets, [&](Context &self) -> Status {
    OwnedReduceOptions known;
    LPT_TRY(read_reduce_options(options, "options", known));
    return begin_buckets(self, *buckets, is_last, known);
  });
}

lpt_status lpt_gradient_buckets_ready(lpt_context *context, lpt_gradient_buckets *buckets, int64_t index) {
  return with_buckets(context, buckets, [&](Context &self) { return make_ready(self, *buckets, index); });
}

lpt_status lpt_gradient_buckets_wait(lpt_context *context, lpt_gradient_buckets *buckets) {
  return with_buckets(context, buckets, [&](Context &self) { return wait_for_buckets(self, *buckets); });
}

lpt_status lpt_gradient_buckets_read(lpt_context *context, const lpt_gradient_buckets *buckets,
                                     lpt_gradient_buckets_info *out_info) {
  return guard(context, [&](Context &) -> Status {
    LPT_TRY(check_handle(buckets, HandleKind::kGradientBuckets, "buckets"));
    return write_values(bucket_values(*buckets), "out_info", out_info);
  });
}

void lpt_gradient_buckets_destroy(lpt_gradient_buckets *buckets) { destroy(buckets, HandleKind::kGradientBuckets); }
