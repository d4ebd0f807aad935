// What the files of this family offer to its table.
#pragma once

#include "kernels/monitor/monitor.hpp"

namespace lpt {

void pair_sums_f32_ref(const PairSumsRequest &request);
void pair_sums_any_ref(const PairSumsRequest &request);

void pair_sums_x86_avx2(const PairSumsRequest &request);
void pair_sums_x86_avx512(const PairSumsRequest &request);

}  // namespace lpt
