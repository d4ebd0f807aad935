#include "src/cast/statistics.hpp"

namespace lpt {
namespace {

Status check_statistics_place(const Context &context, const lpt_statistics &statistics) {
  const Device &here = context.queue.device();
  if (statistics.device == here) return {};
  return invalid("statistics counts on %s: expected one of a context on %s", device_text(statistics.device).c_str(),
                 device_text(here).c_str());
}

}  // namespace

Status create_statistics(Context &context, lpt_statistics **out_statistics) {
  auto statistics = std::make_unique<lpt_statistics>();
  statistics->device = context.queue.device();
  if (!statistics->device.is_cpu()) {
    LPT_TRY(allocate_uncleared(context.device_allocator, sizeof(CastStatistics), statistics->there));
  }
  LPT_TRY(reset_statistics(context, *statistics));
  *out_statistics = statistics.release();
  return {};
}

Status read_statistics(Context &context, const lpt_statistics &statistics, CastStatistics &out_sums) {
  LPT_TRY(check_statistics_place(context, statistics));
  out_sums = statistics.sums;
  if (statistics.there == nullptr) return {};
  constexpr int64_t kBytes = sizeof out_sums;
  LPT_TRY(context.queue.copy({&out_sums, kBytes, statistics.there.get(), kBytes, kBytes, 1}));
  return context.queue.synchronize();
}

// Zero bytes are zeros of every member.
Status reset_statistics(Context &context, lpt_statistics &statistics) {
  LPT_TRY(check_statistics_place(context, statistics));
  statistics.sums = {};
  return statistics.there == nullptr ? Status() : context.queue.fill(statistics.there.get(), 0, sizeof(CastStatistics));
}

Status sums_of(const Context &context, lpt_statistics &statistics, CastStatistics **out_sums) {
  LPT_TRY(check_statistics_place(context, statistics));
  const bool is_here = statistics.there == nullptr;
  *out_sums = is_here ? &statistics.sums : reinterpret_cast<CastStatistics *>(statistics.there.get());
  return {};
}

lpt_statistics_info statistics_values(const CastStatistics &sums) {
  lpt_statistics_info values = LPT_STATISTICS_INFO_INIT;
  values.element_count = sums.elements;
  values.nan_count = sums.nans;
  values.clipped_count = sums.clipped;
  values.underflow_count = sums.underflows;
  values.amax = static_cast<double>(sums.amax);
  values.squared_sum = sums.squares;
  values.squared_error = sums.squared_errors;
  return values;
}

}  // namespace lpt
