// The local sums of collectives. A thread processes 16 adjacent elements of every source, in the order of the sources.
#include "kernels/common/cuda_fragment.hpp"
#include "kernels/reduce/cuda_kernels.hpp"

namespace lpt {
namespace {

struct ReduceJob {
  const void *sources[kMostDeviceSources];
  void *targets[kMostDeviceSources];
  int32_t source_count, target_count;
  lpt_format format, target_format;
  Reduction reduction;
  float factor;
  int64_t elements;
  bool are_sources_whole, are_targets_whole;
};

__device__ __forceinline__ float maximum_of(float a, float b) {
  if (a != a || b != b) return bits_float(0x7FC00000u);
  return a > b || (a == b && float_bits(a) >> 31 == 0) ? a : b;
}

__device__ __forceinline__ float joined(Reduction reduction, float a, float b) {
  if (reduction == Reduction::kMaximum) return maximum_of(a, b);
  if (reduction == Reduction::kMinimum) return -maximum_of(-a, -b);
  return a + b;
}

__device__ __forceinline__ float finished(const ReduceJob &job, float number) {
  if (job.reduction == Reduction::kAverage) number = number / static_cast<float>(job.source_count);
  return positive_nan(number * job.factor);
}

__global__ void __launch_bounds__(kBlockThreads) reduce(const ReduceJob job) {
  const int64_t index = (int64_t{blockIdx.x} * kBlockThreads + threadIdx.x) * kFragment;
  const int32_t count = fragment_count(job.elements, index);
  if (count == 0) return;
  const bool is_full = count == kFragment;
  FloatFragment sum = load_numbers(job.format, job.sources[0], index, count, is_full && job.are_sources_whole);
  for (int32_t source = 1; source < job.source_count; ++source) {
    const FloatFragment next =
        load_numbers(job.format, job.sources[source], index, count, is_full && job.are_sources_whole);
#pragma unroll
    for (int32_t i = 0; i < kFragment; ++i) sum.number[i] = joined(job.reduction, sum.number[i], next.number[i]);
  }
#pragma unroll
  for (int32_t i = 0; i < kFragment; ++i) sum.number[i] = finished(job, sum.number[i]);
  for (int32_t target = 0; target < job.target_count; ++target) {
    store_numbers(job.target_format, job.targets[target], index, count, is_full && job.are_targets_whole, sum);
  }
}

bool is_whole(const void *address) { return reinterpret_cast<uintptr_t>(address) % 16 == 0; }

}  // namespace

void reduce_cuda(const ReduceRequest &request, void *stream) {
  if (request.elements == 0) return;
  ReduceJob job = {};
  job.source_count = request.source_count;
  job.target_count = request.target_count;
  job.format = request.format;
  job.target_format = request.target_format;
  job.reduction = request.reduction;
  job.factor = static_cast<float>(request.factor);
  job.elements = request.elements;
  job.are_sources_whole = job.are_targets_whole = true;
  for (int32_t i = 0; i < request.source_count; ++i) {
    job.sources[i] = request.sources[i];
    job.are_sources_whole = job.are_sources_whole && is_whole(request.sources[i]);
  }
  for (int32_t i = 0; i < request.target_count; ++i) {
    job.targets[i] = request.targets[i];
    job.are_targets_whole = job.are_targets_whole && is_whole(request.targets[i]);
  }
  const int64_t block = int64_t{kBlockThreads} * kFragment;
  LPT_LAUNCH(reduce, static_cast<uint32_t>((request.elements + block - 1) / block), kBlockThreads, 0, stream, job);
}

}  // namespace lpt
