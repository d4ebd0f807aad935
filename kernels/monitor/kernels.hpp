// What the files of this family offer to its table.
#pragma once

#include "kernels/common/simd_entries.hpp"
#include "kernels/monitor/monitor.hpp"

namespace lpt {

void pair_sums_f32_ref(const PairSumsRequest &request);
void pair_sums_any_ref(const PairSumsRequest &request);

LPT_DECLARE_SIMD(pair_sums, PairSumsRequest)

}  // namespace lpt
