// Comparisons for AVX2 and F16C.
#include "kernels/common/vec8_avx2.hpp"
#include "kernels/monitor/kernels.hpp"
#include "kernels/monitor/pair_loop.hpp"

namespace lpt {

void pair_sums_x86_avx2(const PairSumsRequest &request) { add_pairs<Vec8Avx2>(request); }

}  // namespace lpt
