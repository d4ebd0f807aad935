// Comparisons for AVX-512.
#include "kernels/common/vec8_avx512.hpp"
#include "kernels/monitor/kernels.hpp"
#include "kernels/monitor/pair_loop.hpp"

namespace lpt {

void pair_sums_x86_avx512(const PairSumsRequest &request) { add_pairs<Vec8Avx512>(request); }

}  // namespace lpt
