// Kernels that compute a few values from the results of a pass: one thread block, of which one thread computes.
#include "kernels/common/launch.hpp"
#include "kernels/optimizer/clip.hpp"
#include "kernels/optimizer/cuda_found.hpp"
#include "src/formats/block_scale.hpp"

namespace lpt {
namespace {

constexpr int64_t kPiece = 4096;  // sums per copy to shared memory

// Adds the sums of blocks in their order, which is that of the CPU: one thread adds. All threads copy the sums to shared
// memory.
__device__ double sum_in_order(const double *sums, int64_t count) {
  __shared__ double piece[kPiece];
  double sum = 0.0;
  for (int64_t begin = 0; begin < count; begin += kPiece) {
    const int64_t here = count - begin < kPiece ? count - begin : kPiece;
    for (int64_t i = threadIdx.x; i < here; i += kBlockThreads) piece[i] = sums[begin + i];
    __syncthreads();
    if (threadIdx.x == 0) {
#pragma unroll 8
      for (int64_t i = 0; i < here; ++i) sum += piece[i];
    }
    __syncthreads();
  }
  return sum;
}

__global__ void __launch_bounds__(kBlockThreads) clip(ClipRequest request) {
  const double sum = sum_in_order(request.sums, request.count);
  if (threadIdx.x != 0) return;
  GradientStats &facts = *request.facts;
  if (request.nonfinite_counts != nullptr) facts.nonfinite_count = 0;
  for (int32_t q = 0; q < request.rank_count; ++q) facts.nonfinite_count += request.nonfinite_counts[q];
  facts.sum_of_squares = sum;
  facts.norm = gradient_norm(sum, facts.nonfinite_count, request.gradient_scale);
  facts.clip_factor = request.largest_norm > 0.0 ? clip_factor(facts.norm, request.largest_norm) : 1.0;
  facts.gradient_scale = static_cast<float>(request.gradient_scale * facts.clip_factor);
}

__device__ __forceinline__ float new_scale(const StepScalesRequest &request, int32_t k) {
  if (request.largest[k] == 0.0f) return 1.0f;
  const bool is_known = request.is_delayed[k] && request.stored->amax[k] != 0.0f;
  const float amax = is_known ? 2.0f * request.stored->amax[k] : request.next->amax[k];
  const ScaleSpec spec = {LPT_FORMAT_F32, LPT_SCALE_RULE_AMAX, request.largest[k], 0, 1.0f, nullptr, 0};
  return tensor_scale_value(spec, amax > kLargestFloat ? kLargestFloat : amax);
}

__global__ void step_scales(StepScalesRequest request) {
  for (int32_t k = 0; k < 2; ++k) {
    const float scale = new_scale(request, k);
    request.next->scale[k] = scale;
    request.next->inverse[k] = inverse_scale(scale);
  }
}

constexpr KernelEntry<ClipRequest> kClip[] = {{"clip_cuda", 80, nullptr, clip_cuda}};
constexpr KernelEntry<StepScalesRequest> kStepScales[] = {{"step_scales_cuda", 80, nullptr, step_scales_cuda}};

}  // namespace

void clip_cuda(const ClipRequest &request, void *stream) { LPT_LAUNCH(clip, 1, kBlockThreads, 0, stream, request); }

void step_scales_cuda(const StepScalesRequest &request, void *stream) {
  LPT_LAUNCH(step_scales, 1, 1, 0, stream, request);
}

std::span<const KernelEntry<ClipRequest>> clip_device_kernels() { return kClip; }
std::span<const KernelEntry<StepScalesRequest>> step_scales_device_kernels() { return kStepScales; }

}  // namespace lpt
