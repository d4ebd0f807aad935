// lpt_statistics: counts and sums of the effects of casts, in memory of the CPU or of a device.
#pragma once

#include <memory>

#include "kernels/quantize/quantize.hpp"
#include "src/call/context.hpp"

struct lpt_statistics {
  lpt::HandleKind kind = lpt::HandleKind::kStatistics;
  lpt::CastStatistics sums;
  lpt::Device device;                // device of the casts that are counted
  std::shared_ptr<std::byte> there;  // GPU: the sums, which replace `sums`
};

namespace lpt {

// Creates statistics for casts on the device of the context.
Status create_statistics(Context &context, lpt_statistics **out_statistics);
Status read_statistics(Context &context, const lpt_statistics &statistics,
                       CastStatistics &out_sums);  // GPU: waits for the device
Status reset_statistics(Context &context, lpt_statistics &statistics);

// Returns the sums that casts of the context add to. For a GPU they are in device memory.
Status sums_of(const Context &context, lpt_statistics &statistics, CastStatistics **out_sums);

lpt_statistics_info statistics_values(const CastStatistics &sums);

}  // namespace lpt
