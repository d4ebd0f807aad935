// N:M masks of groups of any length: one warp per group, one lane per element. Performs the operations of group.hpp in their
// order: every lane computes each sequential sum.
#include "kernels/sparse_mask/cuda_group.hpp"
#include "kernels/sparse_mask/cuda_kernels.hpp"

namespace lpt {
namespace {

constexpr uint32_t kLanes = 32;

// A selection: all lanes hold the kept bits, and each lane holds the output magnitude of its element.
struct LaneGroup {
  uint32_t bits;
  float value;
};

__device__ __forceinline__ uint32_t lane_of_group() { return threadIdx.x % kLanes; }
__device__ __forceinline__ float number_of_lane(float number, int lane) {
  return __shfl_sync(kAllLanes, number, static_cast<uint32_t>(lane));
}
__device__ __forceinline__ bool is_in(uint32_t bits, int place) { return (bits >> place & 1) != 0; }
__device__ __forceinline__ bool is_own(int place) { return lane_of_group() == static_cast<uint32_t>(place); }

// random_word() without a variable index, which moves the block to local memory.
__device__ __forceinline__ uint32_t word_warp(const RandomSource &random, uint64_t index) {
  const PhiloxBlock block = random_block(random, index / 4);
  const uint32_t low = index % 2 == 0 ? block.word[0] : block.word[1];
  const uint32_t high = index % 2 == 0 ? block.word[2] : block.word[3];
  return index % 4 < 2 ? low : high;
}

__device__ __forceinline__ float sum_of_lanes(float number, int of) {
  float sum = 0.0f;
  for (int i = 0; i < of; ++i) sum += number_of_lane(number, i);
  return sum;
}

// Returns the first lane with the largest value; lanes beyond the group hold zeros.
__device__ __forceinline__ int largest_lane(float number, int of, float &out_largest) {
  int place = 0;
  out_largest = number_of_lane(number, 0);
  for (int i = 1; i < of; ++i) {
    const float next = number_of_lane(number, i);
    place = next > out_largest ? i : place;
    out_largest = next > out_largest ? next : out_largest;
  }
  return place;
}

// Returns the bit of number_at().
__device__ __forceinline__ uint32_t bit_at_place(float number, int of, float total, float place) {
  const float last = just_below(total);
  if (place > last) place = last;
  float end = 0.0f;
  for (int i = 0; i < of - 1; ++i) {
    end += number_of_lane(number, i);
    if (end > place) return 1u << i;
  }
  return 1u << (of - 1);
}

__device__ __forceinline__ LaneGroup largest_of_lanes(const MaskJob &job, float magnitude, float weight) {
  const uint32_t rank = magnitude_rank(weight);
  const int lane = static_cast<int>(lane_of_group());
  int before = 0;
  for (int i = 0; i < job.of; ++i) {
    const uint32_t other = __shfl_sync(kAllLanes, rank, static_cast<uint32_t>(i));
    before += i < lane ? other >= rank : other > rank;
  }
  return {__ballot_sync(kAllLanes, lane < job.of && before < job.kept), magnitude};
}

// Keeps all nonzero elements, then the first zeros.
__device__ __forceinline__ LaneGroup positive_lanes(const MaskJob &job, float magnitude, uint32_t positive) {
  for (int i = 0; i < job.of && __popc(positive) < job.kept; ++i) positive |= 1u << i;
  return {positive, magnitude};
}

__device__ __forceinline__ LaneGroup mvue_lanes(const MaskJob &job, float magnitude, uint32_t word) {
  const uint32_t positive = __ballot_sync(kAllLanes, magnitude > 0.0f);
  if (__popc(positive) <= job.kept) return positive_lanes(job, magnitude, positive);
  float left = magnitude, total, largest;
  uint32_t whole = 0;  // elements with inclusion probability 1
  int draws = job.kept;
  for (;; --draws) {
    total = sum_of_lanes(left, job.of);
    const int place = largest_lane(left, job.of, largest);
    if (draws == 0 || largest * static_cast<float>(draws) < total) break;
    whole |= 1u << place;
    if (is_own(place)) left = 0.0f;
  }
  const float step = draws > 0 ? total / static_cast<float>(draws) : 0.0f;
  uint32_t bits = whole;
  for (int draw = 0; draw < draws; ++draw) {
    bits |= bit_at_place(left, job.of, total, (uniform_of(word) + static_cast<float>(draw)) * step);
  }
  const uint32_t open = __ballot_sync(kAllLanes, left > 0.0f) & ~bits;
  for (int i = 0; i < job.of && __popc(bits) < job.kept; ++i) bits |= open & 1u << i;
  return {bits, is_in(whole, static_cast<int>(lane_of_group())) ? magnitude : step};
}

// two_draws_value() of the element of each lane.
__device__ __forceinline__ float value_of_lane(float magnitude, int of) {
  float without = 0.0f, sum = 1.0f;
  for (int i = 0; i < of; ++i) {
    const float other = number_of_lane(magnitude, i);
    without += is_own(i) ? 0.0f : other;
  }
  const float share = magnitude / without;
  for (int i = 0; i < of; ++i) {
    const float other = number_of_lane(share, i);
    if (!is_own(i)) sum += other;
  }
  return sum_of_lanes(magnitude, of) / sum;
}

__device__ __forceinline__ LaneGroup two_draws_lanes(const MaskJob &job, float magnitude, uint64_t draw) {
  const uint32_t positive = __ballot_sync(kAllLanes, magnitude > 0.0f);
  if (__popc(positive) <= job.kept) return positive_lanes(job, magnitude, positive);
  LaneGroup group = {0, value_of_lane(magnitude, job.of)};
  float left = magnitude;
  for (uint64_t i = 0; i < 2; ++i) {
    const float total = sum_of_lanes(left, job.of);
    const uint32_t bit = bit_at_place(left, job.of, total, uniform_of(word_warp(job.random, 2 * draw + i)) * total);
    group.bits |= bit;
    if ((bit >> lane_of_group()) == 1) left = 0.0f;
  }
  return group;
}

__device__ __forceinline__ LaneGroup settle_lanes(const MaskJob &job, float magnitude, float weight, uint64_t draw) {
  const bool is_special = !(sum_of_lanes(magnitude, job.of) < bits_float(0x7F800000u));
  if (job.rule == LPT_SPARSE_RULE_MVUE && !is_special) {
    return mvue_lanes(job, magnitude, word_warp(job.random, draw));
  }
  if (job.rule == LPT_SPARSE_RULE_MVUE_TWO_DRAWS && !is_special) return two_draws_lanes(job, magnitude, draw);
  LaneGroup group = largest_of_lanes(job, magnitude, weight);
  if (job.rule == LPT_SPARSE_RULE_SOFT_THRESHOLD && !is_special) {
    float threshold;
    largest_lane(is_in(group.bits, static_cast<int>(lane_of_group())) ? 0.0f : magnitude, job.of, threshold);
    group.value = magnitude - threshold;
  }
  return group;
}

template <Dtype kSource>
__device__ __forceinline__ uint32_t load_code(const MaskJob &job, int64_t index) {
  if constexpr (kSource == Dtype::kF32) return static_cast<const uint32_t *>(job.source)[index];
  return static_cast<const uint16_t *>(job.source)[index];
}

template <Dtype kSource>
__device__ __forceinline__ void store_number(const MaskJob &job, int64_t index, uint32_t code, float number,
                                             float kept) {
  if (job.is_wide) {
    static_cast<float *>(job.masked)[index] = kept;
    return;
  }
  const uint32_t result = float_bits(kept) == float_bits(number) ? code : code_of<kSource>(kept);
  if constexpr (kSource == Dtype::kF32) {
    static_cast<uint32_t *>(job.masked)[index] = result;
  } else {
    static_cast<uint16_t *>(job.masked)[index] = static_cast<uint16_t>(result);
  }
}

template <Dtype kSource>
__device__ __forceinline__ void mask_lanes(const MaskJob &job, int64_t row, int64_t group_index) {
  const auto lane = static_cast<int>(lane_of_group());
  const int64_t column = group_index * job.of + lane;
  const bool is_inside = lane < job.of && column < job.columns;
  const uint32_t code = is_inside ? load_code<kSource>(job, row * job.source_stride + column) : 0;
  const float number = plain_number<kSource>(code);
  const float magnitude = bits_float(magnitude_bits(number));
  const bool is_weighted = is_inside && job.importance != nullptr;
  const uint64_t draw = job.first_draw + static_cast<uint64_t>(row) * job.row_draws +
                        static_cast<uint64_t>(group_index) * job.group_draws;
  const LaneGroup group =
      settle_lanes(job, magnitude, is_weighted ? magnitude * job.importance[column] : magnitude, draw);
  if (!is_inside) return;
  const bool stays = is_in(group.bits, lane);
  if (job.mask != nullptr) job.mask[row * job.mask_stride + column] = static_cast<uint8_t>(stays);
  if (job.masked == nullptr) return;
  const float signed_value = bits_float(magnitude_bits(group.value) | (float_bits(number) & 0x80000000u));
  store_number<kSource>(job, row * job.masked_stride + column, code, number, stays ? signed_value : 0.0f);
}

template <Dtype kSource>
__global__ void __launch_bounds__(kMaskThreads) mask_groups(MaskJob job) {
  const int64_t groups = (job.columns + job.of - 1) / job.of;
  const int64_t step = int64_t{gridDim.x} * (kMaskThreads / kLanes);
  for (int64_t i = int64_t{blockIdx.x} * (kMaskThreads / kLanes) + threadIdx.x / kLanes; i < groups * job.rows;
       i += step) {
    mask_lanes<kSource>(job, i / groups, i % groups);
    __syncwarp();
  }
}

template <Dtype kSource>
void launch(const MaskJob &job, void *stream) {
  const int64_t groups = (job.columns + job.of - 1) / job.of * job.rows;
  if (groups == 0) return;
  const int64_t blocks = (groups + kMaskThreads / kLanes - 1) / (kMaskThreads / kLanes);
  const auto grid = static_cast<uint32_t>(blocks < kMostBlocks ? blocks : kMostBlocks);
  LPT_LAUNCH(mask_groups<kSource>, dim3(grid), dim3(kMaskThreads), 0, stream, job);
}

}  // namespace

void sparse_mask_any_cuda(const SparseMaskRequest &request, void *stream) {
  const MaskJob job = mask_job(request);
  for_float_dtype(request.source.format.element,
                  [&]<Dtype kSource>(DtypeTag<kSource>) { launch<kSource>(job, stream); });
}

}  // namespace lpt
