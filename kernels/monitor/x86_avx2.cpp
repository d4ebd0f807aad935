// Comparisons for AVX2 and F16C.
#include "kernels/common/eight_avx2.hpp"
#include "kernels/monitor/pair_walk.hpp"
#include "kernels/monitor/rows.hpp"

namespace lpt {

void pair_sums_x86_avx2(const PairSumsRequest &request) { add_pairs<EightAvx2>(request); }

}  // namespace lpt
