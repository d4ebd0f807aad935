// Comparisons for AVX-512.
#include "kernels/common/eight_avx512.hpp"
#include "kernels/monitor/pair_walk.hpp"
#include "kernels/monitor/rows.hpp"

namespace lpt {

void pair_sums_x86_avx512(const PairSumsRequest &request) { add_pairs<EightAvx512>(request); }

}  // namespace lpt
