// lpt_statistics: what casts did to their numbers, summed on the CPU or on a device.
#pragma once

#include <memory>

#include "kernels/quantize/quantize.hpp"
#include "src/call/context.hpp"

struct lpt_statistics {
  lpt::HandleKind kind = lpt::HandleKind::kStatistics;
  lpt::CastStatistics sums;
  lpt::Device device;                // where casts are counted
  std::shared_ptr<std::byte> there;  // on a GPU: the sums, which those above are not then
};

namespace lpt {

// Statistics of casts of the context's device.
Status create_statistics(Context &context, lpt_statistics **out_statistics);
Status read_statistics(Context &context, const lpt_statistics &statistics,
                       CastStatistics &out_sums);  // of a GPU: waits
Status reset_statistics(Context &context, lpt_statistics &statistics);

// Where casts of the context add to them; on a GPU in its memory.
Status sums_of(const Context &context, lpt_statistics &statistics, CastStatistics **out_sums);

lpt_statistics_info statistics_values(const CastStatistics &sums);

}  // namespace lpt
