// Factors of Smooth-SwiGLU: one thread per column.
#include "kernels/activation/cuda/cuda_steps.hpp"
#include "kernels/activation/smoothing.hpp"
#include "kernels/common/launch.hpp"

namespace lpt {
namespace {

__global__ void smoothing(const float *column_amax, int64_t columns, uint8_t *factors) {
  const int64_t column = int64_t{blockIdx.x} * kBlockThreads + threadIdx.x;
  if (column < columns) factors[column] = smoothing_factor(column_amax[column]);
}

}  // namespace

void smoothing_cuda(const SmoothingRequest &request, void *stream) {
  if (request.columns == 0) return;
  LPT_LAUNCH(smoothing, blocks_for(request.columns), kBlockThreads, 0, stream, request.column_amax, request.columns,
             request.factors);
}

}  // namespace lpt
