// Reductions for AVX2 and F16C.
#include "kernels/reduce/avx2_numbers.hpp"
#include "kernels/reduce/kernels.hpp"
#include "kernels/reduce/reduce_loop.hpp"

namespace lpt {

void reduce_x86_avx2(const ReduceRequest &request) { reduce_any<Avx2Numbers>(request); }

}  // namespace lpt
