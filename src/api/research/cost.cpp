#include "src/collective/cost.hpp"

#include "src/api/guard.hpp"

using namespace lpt;

lpt_status lpt_cost_estimate(lpt_context *context, lpt_cost_collective collective, lpt_cost_algorithm algorithm,
                             int32_t ranks, int64_t elements, lpt_format payload, const lpt_cost_link *link,
                             lpt_cost_info *out_info) {
  return guard(context, [&](Context &) -> Status {
    lpt_cost_link known = LPT_COST_LINK_INIT;
    lpt_cost_info values = LPT_COST_INFO_INIT;
    LPT_TRY(read_options(link, "link", known));
    LPT_TRY(collective_cost(collective, algorithm, ranks, elements, payload, known, values));
    return write_values(values, "out_info", out_info);
  });
}

lpt_status lpt_cost_fit_link(lpt_context *context, const double *bytes, const double *seconds, int64_t count,
                             lpt_cost_link *out_link) {
  return guard(context, [&](Context &) -> Status {
    lpt_cost_link link = LPT_COST_LINK_INIT;
    LPT_TRY(fit_link(bytes, seconds, count, link));
    return write_values(link, "out_link", out_link);
  });
}

lpt_status lpt_cost_break_even(lpt_context *context, lpt_cost_collective collective, lpt_cost_algorithm algorithm,
                               int32_t ranks, lpt_format plain, lpt_format payload, const lpt_cost_cast_rates *rates,
                               const lpt_cost_link *link, int64_t *out_elements) {
  return guard(context, [&](Context &) -> Status {
    lpt_cost_cast_rates known_rates = LPT_COST_CAST_RATES_INIT;
    lpt_cost_link known_link = LPT_COST_LINK_INIT;
    LPT_TRY(read_options(rates, "rates", known_rates));
    LPT_TRY(read_options(link, "link", known_link));
    LPT_TRY(check_out(out_elements, "out_elements"));
    return break_even({collective, algorithm, ranks, plain, payload}, known_rates, known_link, *out_elements);
  });
}
