#include "src/collective/lossy.hpp"

#include "src/api/guard.hpp"

using namespace lpt;

lpt_status lpt_lossy_link_create(lpt_context *context, lpt_comm *comm, const lpt_lossy_link_options *options,
                                 lpt_lossy_link **out_link) {
  return guard(context, [&](Context &self) -> Status {
    lpt_lossy_link_options known = LPT_LOSSY_LINK_OPTIONS_INIT;
    LPT_TRY(read_options(options, "options", known));
    LPT_TRY(check_handle(comm, HandleKind::kComm, "comm"));
    LPT_TRY(check_out(out_link, "out_link"));
    return create_lossy_link(self, *comm, known, out_link);
  });
}

lpt_status lpt_lossy_link_read(lpt_context *context, const lpt_lossy_link *link, int32_t peer,
                               lpt_lossy_link_info *out_info) {
  return guard(context, [&](Context &) -> Status {
    LPT_TRY(check_handle(link, HandleKind::kLossyLink, "link"));
    LPT_TRY(check_values(out_info, "out_info"));
    lpt_lossy_link_info values = LPT_LOSSY_LINK_INFO_INIT;
    LPT_TRY(lossy_link_info(*link, peer, values));
    return write_values(values, "out_info", out_info);
  });
}

void lpt_lossy_link_destroy(lpt_lossy_link *link) { destroy(link, HandleKind::kLossyLink); }

lpt_status lpt_lossy_reduce_scatter(lpt_context *context, lpt_lossy_link *link, const lpt_tensor *input,
                                    const int64_t *counts, lpt_lossy_mode mode, const double *loss,
                                    int64_t arrival_count, lpt_tensor *output, uint8_t *out_arrivals) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_writable(output, "output"));
    LPT_TRY(check_handle(link, HandleKind::kLossyLink, "link"));
    return lossy_reduce_scatter(self, *link, {input, counts, mode, loss, arrival_count, output, out_arrivals});
  });
}

lpt_status lpt_lossy_all_gather(lpt_context *context, lpt_lossy_link *link, const lpt_tensor *input,
                                const int64_t *counts, int64_t age_count, lpt_tensor *output, int32_t *ages) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_writable(output, "output"));
    LPT_TRY(check_handle(link, HandleKind::kLossyLink, "link"));
    return lossy_all_gather(self, *link, {input, counts, age_count, output, ages});
  });
}

lpt_status lpt_lossy_estimate(lpt_context *context, double loss, int32_t rank_count, lpt_lossy_info *out_info) {
  return guard(context, [&](Context &) -> Status {
    LPT_TRY(check_values(out_info, "out_info"));
    lpt_lossy_info values = LPT_LOSSY_INFO_INIT;
    LPT_TRY(estimate_lossy(loss, rank_count, values));
    return write_values(values, "out_info", out_info);
  });
}
