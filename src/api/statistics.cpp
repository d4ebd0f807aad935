#include "src/api/guard.hpp"
#include "src/cast/quantize.hpp"

using namespace lpt;

lpt_status lpt_statistics_create(lpt_context *context, lpt_statistics **out_statistics) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_out(out_statistics, "out_statistics"));
    return create_statistics(self, out_statistics);
  });
}

void lpt_statistics_destroy(lpt_statistics *statistics) { destroy(statistics, HandleKind::kStatistics); }

lpt_status lpt_statistics_read(lpt_context *context, const lpt_statistics *statistics, lpt_statistics_info *out_info) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_handle(statistics, HandleKind::kStatistics, "statistics"));
    CastStatistics sums;
    LPT_TRY(read_statistics(self, *statistics, sums));
    return write_values(statistics_values(sums), "out_info", out_info);
  });
}

lpt_status lpt_statistics_reset(lpt_context *context, lpt_statistics *statistics) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_handle(statistics, HandleKind::kStatistics, "statistics"));
    return reset_statistics(self, *statistics);
  });
}
