// Vectors of a linear layer.
#include "kernels/common/cuda_lines.hpp"
#include "kernels/linear/cuda_kernels.hpp"

namespace lpt {
namespace {

__device__ __forceinline__ int64_t index_of_thread() { return int64_t{blockIdx.x} * kBlockThreads + threadIdx.x; }

__global__ void __launch_bounds__(kBlockThreads) write_signs(RotationSignsRequest request) {
  const int64_t column = index_of_thread();
  if (column >= request.count) return;
  RandomSource random = request.random;
  if (request.seed != nullptr) {
    random.seed = request.seed->seed;
    random.stream = random_stream(RandomDomain::kSigns, request.seed->stream, request.role);
    random.step = request.seed->step;
  }
  request.target[column] = sign_of(request.signs, random, request.size, column);
}

__global__ void __launch_bounds__(1) write_words(WordsRequest request) {
  // One thread writes all words. With a variable index, they would be placed in local memory.
#pragma unroll
  for (int32_t i = 0; i < 8; ++i) request.target[i] = request.word[i];
}

__global__ void __launch_bounds__(kBlockThreads) write_ones(DeviceRows lines, int64_t count) {
  const int64_t column = index_of_thread() * kFragment;
  FloatFragment fragment;
#pragma unroll
  for (int32_t i = 0; i < kFragment; ++i) fragment.number[i] = 1.0f;
  if (column < count) store_line(lines, 0, column, fragment_count(count, column), fragment);
}

}  // namespace

void rotation_signs_cuda(const RotationSignsRequest &request, void *stream) {
  if (request.count == 0) return;
  LPT_LAUNCH(write_signs, blocks_for(request.count), kBlockThreads, 0, stream, request);
}

void words_cuda(const WordsRequest &request, void *stream) { LPT_LAUNCH(write_words, 1, 1, 0, stream, request); }

void ones_cuda(const OnesRequest &request, void *stream) {
  const int64_t count = request.target.columns;
  if (count == 0) return;
  LPT_LAUNCH(write_ones, blocks_for((count + kFragment - 1) / kFragment), kBlockThreads, 0, stream,
             lines_of(request.target), count);
}

}  // namespace lpt
