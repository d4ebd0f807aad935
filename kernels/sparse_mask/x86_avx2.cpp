// N:M masks with AVX2.
#include "kernels/sparse_mask/avx2_lanes.hpp"
#include "kernels/sparse_mask/drawn_walk.hpp"
#include "kernels/sparse_mask/largest_walk.hpp"

namespace lpt {

void sparse_mask_largest_x86_avx2(const SparseMaskRequest &request) {
  keep_largest_of_any<Avx2Words, Avx2Halves>(request);
  if (request.is_streamed) _mm_sfence();
}

void sparse_mask_drawn_x86_avx2(const SparseMaskRequest &request) {
  select_drawn_of<Avx2Floats>(request);
  if (request.is_streamed) _mm_sfence();
}

}  // namespace lpt
