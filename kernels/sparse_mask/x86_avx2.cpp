// N:M masks with AVX2.
#include "kernels/sparse_mask/avx2_lanes.hpp"
#include "kernels/sparse_mask/drawn_loop.hpp"
#include "kernels/sparse_mask/given_loop.hpp"
#include "kernels/sparse_mask/largest_loop.hpp"
#include "kernels/sparse_mask/measure_loop.hpp"

namespace lpt {

void sparse_mask_largest_x86_avx2(const SparseMaskRequest &request) {
  keep_largest_of_any<Avx2Words, Avx2Halves>(request);
  if (request.is_streamed) _mm_sfence();
}

void sparse_mask_drawn_x86_avx2(const SparseMaskRequest &request) {
  select_drawn_of<Avx2Floats>(request);
  if (request.is_streamed) _mm_sfence();
}

void mask_apply_x86_avx2(const MaskApplyRequest &request) {
  apply_to_any<Avx2Words, Avx2Halves>(request);
  if (request.is_streamed) _mm_sfence();
}

void mask_decay_x86_avx2(const MaskDecayRequest &request) { decay_of_any<Avx2Floats>(request); }

void sparse_measure_x86_avx2(const SparseMeasureRequest &request) { measure_of_any<Avx2Rows>(request); }

}  // namespace lpt
