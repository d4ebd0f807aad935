// EXAQ softmax: one thread block per row. The sum is computed from the count of each level, so that it does not depend on the
// order of elements. In each warp, one lane counts one level.
#include "kernels/activation/cuda/cuda_kernels.hpp"
#include "kernels/activation/cuda/cuda_softmax.hpp"
#include "kernels/activation/exaq.hpp"
#include "src/formats/functions_f64.hpp"

namespace lpt {
namespace {

constexpr uint32_t kWarps = kLineThreads / 32;

struct ExaqJob {
  SoftmaxJob softmax;
  ExaqLevels levels;
  int32_t bits;
};

// Shared state of a row: counts per warp, and the output of each level.
struct ExaqRow {
  uint32_t counts[kWarps][32];
  double parts[kMostExaqLevels];  // count · exponential of each level
  float numbers[kMostExaqLevels];
};

__device__ __forceinline__ float lowest() { return bits_float(0xFF800000u); }

// Increments the count of lane `level` for each lane with `counts`.
__device__ __forceinline__ uint32_t add_levels(uint32_t count, int32_t level, bool counts, int32_t bits) {
  const uint32_t lane = threadIdx.x % 32;
  uint32_t mine = __ballot_sync(kAllLanes, counts);
#pragma unroll
  for (int32_t bit = 0; bit < 4; ++bit) {
    if (bit >= bits) break;
    const uint32_t votes = __ballot_sync(kAllLanes, (level >> bit & 1) != 0);
    mine &= (lane >> bit & 1) != 0 ? votes : ~votes;
  }
  return count + static_cast<uint32_t>(__popc(mine));
}

// Computes the outputs of the levels from all counts: one thread per level, then every thread computes the sum in level order,
// which is returned. All threads of the block must call it.
__device__ __forceinline__ double compute_level_outputs(const ExaqJob &job, ExaqRow &shared, uint32_t count,
                                                        bool has_nan) {
  const auto level = static_cast<int32_t>(threadIdx.x);
  shared.counts[threadIdx.x / 32][threadIdx.x % 32] = count;
  __syncthreads();
  if (level <= job.levels.last) {
    uint32_t all = 0;
    for (uint32_t warp = 0; warp < kWarps; ++warp) all += shared.counts[warp][level];
    shared.parts[level] = static_cast<double>(all) * static_cast<double>(job.levels.exponentials[level]);
  }
  __syncthreads();
  double sum = 0.0;
  for (int32_t k = 0; k <= job.levels.last; ++k) sum += shared.parts[k];
  const float inverse = has_nan ? bits_float(0x7FC00000u) : static_cast<float>(1.0 / sum);
  if (level <= job.levels.last) shared.numbers[level] = job.levels.exponentials[level] * inverse;
  __syncthreads();
  return sum;
}

// Returns the count of the lane's level in the row, and reports NaN.
__device__ __forceinline__ uint32_t count_levels(const ExaqJob &job, int64_t row, const VisibleColumns &seen, float top,
                                                 float &nans) {
  uint32_t count = 0;
  // Executed by all threads, for the warp votes.
  for (int64_t begin = seen.begin / kLineStep * kLineStep; begin < seen.end; begin += kLineStep) {
    const int64_t column = begin + first_column();
    const int32_t live = fragment_count(seen.end, column);
    const FloatFragment x = load_line(job.softmax.input, row, column, live);
#pragma unroll
    for (int32_t i = 0; i < kFragment; ++i) {
      const float argument = job.softmax.scale * (x.number[i] - top);
      const bool is_seen = i < live && column + i >= seen.begin;
      if (is_seen && argument != argument) nans = 1.0f;
      count = add_levels(count, exaq_level(job.levels, argument), is_seen && argument != lowest(), job.bits);
    }
  }
  return count;
}

__global__ void __launch_bounds__(kLineThreads) softmax_exaq(ExaqJob job) {
  __shared__ ExaqRow shared;
  const SoftmaxJob &softmax = job.softmax;
  const float sign = softmax.scale < 0.0f ? -1.0f : 1.0f;
  for (int64_t row = blockIdx.x; row < softmax.rows; row += gridDim.x) {
    VisibleColumns seen = visible_columns(softmax, row);
    const Peak peak = peak_of(softmax.input, row, seen, sign);
    const bool is_empty = !peak.has_nan && peak.number == lowest();
    if (is_empty) seen = {0, 0};
    const float top = sign * peak.number;
    float nans = peak.has_nan ? 1.0f : 0.0f;
    const uint32_t count = count_levels(job, row, seen, top, nans);
    const bool has_nan = block_largest(nans) > 0.0f;
    const double sum = compute_level_outputs(job, shared, count, has_nan);
    for (int64_t column = first_column(); column < softmax.columns; column += kLineStep) {
      const int32_t live = fragment_count(seen.end, column), wide = fragment_count(softmax.columns, column);
      FloatFragment x = load_line(softmax.input, row, column, wide);
#pragma unroll
      for (int32_t i = 0; i < kFragment; ++i) {
        const float argument = softmax.scale * (x.number[i] - top);
        const float number = shared.numbers[exaq_level(job.levels, argument)];
        const bool is_seen = i < live && column + i >= seen.begin;
        x.number[i] = !is_seen || (argument == lowest() && !has_nan) ? 0.0f : number;
      }
      store_line(softmax.output, row, column, wide, x);
    }
    if (softmax.log_sums != nullptr && threadIdx.x == 0) {
      const double log_sum = static_cast<double>(softmax.scale) * static_cast<double>(top) + log_f64(sum);
      softmax.log_sums[row] = is_empty ? lowest() : has_nan ? bits_float(0x7FC00000u) : static_cast<float>(log_sum);
    }
  }
}

}  // namespace

void softmax_exaq_cuda(const SoftmaxExaqRequest &request, void *stream) {
  const MatrixView &input = request.softmax.input;
  if (input.rows == 0 || input.columns == 0) return;
  const ExaqJob job = {softmax_job(request.softmax), exaq_levels(request.bits, request.clip), request.bits};
  LPT_LAUNCH(softmax_exaq, blocks_of_rows(input.rows), kLineThreads, 0, stream, job);
}

}  // namespace lpt
