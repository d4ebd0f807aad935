// Sums of squares of a gradient. Half a warp processes a block of elements: each of its 16 threads computes one of the 16
// partial sums of the reference kernel. Adjacent threads load adjacent elements, so that no alignment is required.
#include "kernels/common/cuda_fragment.hpp"
#include "kernels/optimizer/cuda_kernels.hpp"
#include "src/formats/block_scale.hpp"

namespace lpt {
namespace {

constexpr uint32_t kLanes = 16;

struct NormJob {
  const void *gradient;
  int64_t begin, count;
  double *sums;
  int64_t *nonfinite_count;
};

struct LaneSum {
  double squares = 0.0;
  uint32_t nonfinite = 0;
};

template <Dtype kGradient>
__device__ __forceinline__ float gradient_at(const void *gradient, int64_t index) {
  if constexpr (kGradient == Dtype::kF32) return static_cast<const float *>(gradient)[index];
  return number_of<kGradient>(static_cast<const uint16_t *>(gradient)[index]);
}

// Adds the squares of elements `lane`, `lane` + 16, ... of the `count` elements from `first` on.
template <Dtype kGradient>
__device__ __forceinline__ LaneSum sum_of_lane(const void *gradient, int64_t first, int32_t count, uint32_t lane) {
  LaneSum sum;
#pragma unroll 8
  for (auto i = static_cast<int32_t>(lane); i < count; i += kLanes) {
    const float number = gradient_at<kGradient>(gradient, first + i);
    const bool is_finite = (float_bits(number) & kFloatInfinityBits) != kFloatInfinityBits;
    const double wide = is_finite ? static_cast<double>(number) : 0.0;
    sum.squares += wide * wide;
    sum.nonfinite += is_finite ? 0 : 1;
  }
  return sum;
}

template <Dtype kGradient>
__global__ void __launch_bounds__(kBlockThreads) norm(NormJob job) {
  const int64_t block = (int64_t{blockIdx.x} * kBlockThreads + threadIdx.x) / kLanes;
  const int64_t left = job.count - block * kNormBlock;
  const auto count = static_cast<int32_t>(left <= 0 ? 0 : left < kNormBlock ? left : kNormBlock);
  const uint32_t lane = threadIdx.x % kLanes;
  LaneSum sum = sum_of_lane<kGradient>(job.gradient, job.begin + block * kNormBlock, count, lane);
  for (uint32_t width = kLanes / 2; width > 0; width /= 2) {
    sum.squares += __shfl_down_sync(kAllLanes, sum.squares, width, kLanes);
    sum.nonfinite += __shfl_down_sync(kAllLanes, sum.nonfinite, width, kLanes);
  }
  if (lane != 0 || count == 0) return;
  job.sums[job.begin / kNormBlock + block] = sum.squares;
  if (sum.nonfinite == 0) return;
  atomicAdd(reinterpret_cast<unsigned long long *>(job.nonfinite_count),
            static_cast<unsigned long long>(sum.nonfinite));
}

}  // namespace

void norm_cuda(const NormRequest &request, void *stream) {
  if (request.count == 0) return;
  const NormJob job = {request.gradient, request.begin, request.count, request.sums, request.nonfinite_count};
  const int64_t blocks = (request.count + kNormBlock - 1) / kNormBlock;
  const uint32_t grid = blocks_for(blocks * kLanes);
  if (request.gradient_format == LPT_FORMAT_F32) {
    LPT_LAUNCH((norm<Dtype::kF32>), grid, kBlockThreads, 0, stream, job);
  } else {
    LPT_LAUNCH((norm<Dtype::kBf16>), grid, kBlockThreads, 0, stream, job);
  }
}

}  // namespace lpt
