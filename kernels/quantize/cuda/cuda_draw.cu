// The random bits of a matrix, for a cast that processes elements in another order than that of the draws.
#include "kernels/common/cuda_random.hpp"
#include "kernels/quantize/cuda/cuda_draw.hpp"

namespace lpt {
namespace {

struct DrawJob {
  RandomSource random;
  void *target;
  int64_t rows, columns, target_stride;  // in elements
  bool stores_whole;
};

template <int32_t kBits>
__global__ void __launch_bounds__(kBlockThreads) draw_fragments(DrawJob job) {
  const int64_t column = first_column_of_grid();
  const int32_t count = fragment_count(job.columns, column);
  if (count == 0) return;
  for (int64_t row = first_row_of_grid(); row < job.rows; row += rows_of_grid()) {
    const int64_t index = job.random.offset + row * job.random.row_stride + column;
    const RandomFragment drawn = draw_fragment(job.random, static_cast<uint64_t>(index));
    CodeFragment<kBits> codes;
#pragma unroll
    for (int32_t i = 0; i < kBits / 2; ++i) codes.word[i] = drawn.word[i];
    store_codes(job.target, (row * job.target_stride + column) * kBits / 8, count,
                count == kFragment && job.stores_whole, codes);
  }
}

// Draws signs. The grid has one row of fragments, because signs are few.
__global__ void __launch_bounds__(kBlockThreads) draw_signs(RandomSource random, int8_t *signs, int64_t count) {
  const int64_t first = first_column_of_grid();
  const int32_t here = fragment_count(count, first);
  if (here == 0) return;
  const RandomFragment drawn = draw_fragment(random, static_cast<uint64_t>(random.offset + first));
  CodeFragment<8> codes = {};
#pragma unroll
  for (int32_t i = 0; i < kFragment; ++i) {
    put_code(codes, i, (random_of(drawn, 16, i) & 1) != 0 ? 0xFFu : 1u);
  }
  const bool is_whole = here == kFragment && reinterpret_cast<uintptr_t>(signs) % 16 == 0;
  store_codes(signs, first, here, is_whole, codes);
}

template <typename Request>
const char *unsupported_reason(const Request &request) {
  return request.random.words == nullptr ? nullptr : "the caller has drawn them";
}

constexpr KernelEntry<DrawRequest> kDrawKernels[] = {{"draw_cuda", 80, unsupported_reason, draw_cuda}};
constexpr KernelEntry<SignRequest> kSignKernels[] = {{"signs_cuda", 80, unsupported_reason, signs_cuda}};

}  // namespace

void draw_cuda(const DrawRequest &request, void *stream) {
  const MatrixView &target = request.target;
  const int64_t bytes = request.random.bits / 8;
  const bool is_on = are_rows_aligned(target.data, target.row_stride * bytes);
  const DrawJob job = {request.random, target.data, target.rows, target.columns, target.row_stride, is_on};
  if (job.rows == 0 || job.columns == 0) return;
  const FragmentGrid grid = fragment_grid(job.rows, job.columns, kBlockThreads);
  if (bytes == 1) {
    LPT_LAUNCH(draw_fragments<8>, blocks_of_grid(grid), threads_of_grid(grid), 0, stream, job);
  } else {
    LPT_LAUNCH(draw_fragments<16>, blocks_of_grid(grid), threads_of_grid(grid), 0, stream, job);
  }
}

void signs_cuda(const SignRequest &request, void *stream) {
  if (request.count == 0) return;
  const FragmentGrid grid = fragment_grid(1, request.count, kBlockThreads);
  LPT_LAUNCH(draw_signs, blocks_of_grid(grid), threads_of_grid(grid), 0, stream, request.random, request.signs,
             request.count);
}

std::span<const KernelEntry<DrawRequest>> draw_device_kernels() { return kDrawKernels; }

std::span<const KernelEntry<SignRequest>> sign_device_kernels() { return kSignKernels; }

}  // namespace lpt
