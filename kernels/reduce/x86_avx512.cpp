// Reductions for AVX-512.
#include "kernels/reduce/avx512_numbers.hpp"
#include "kernels/reduce/kernels.hpp"
#include "kernels/reduce/reduce_loop.hpp"

namespace lpt {

void reduce_x86_avx512(const ReduceRequest &request) { reduce_any<Avx512Numbers>(request); }

}  // namespace lpt
