// N:M masks with AVX-512.
#include "kernels/sparse_mask/avx512_lanes.hpp"
#include "kernels/sparse_mask/drawn_loop.hpp"
#include "kernels/sparse_mask/given_loop.hpp"
#include "kernels/sparse_mask/largest_loop.hpp"
#include "kernels/sparse_mask/measure_loop.hpp"

namespace lpt {

void sparse_mask_largest_x86_avx512(const SparseMaskRequest &request) {
  keep_largest_of_any<Avx512Words, Avx512Halves>(request);
  if (request.is_streamed) _mm_sfence();
}

void sparse_mask_drawn_x86_avx512(const SparseMaskRequest &request) {
  select_drawn_of<Avx512Floats>(request);
  if (request.is_streamed) _mm_sfence();
}

void mask_apply_x86_avx512(const MaskApplyRequest &request) {
  apply_to_any<Avx512Words, Avx512Halves>(request);
  if (request.is_streamed) _mm_sfence();
}

void mask_decay_x86_avx512(const MaskDecayRequest &request) { decay_of_any<Avx512Floats>(request); }

void sparse_measure_x86_avx512(const SparseMeasureRequest &request) { measure_of_any<Avx512Rows>(request); }

}  // namespace lpt
