// The rules of group.hpp for groups of a constant length: the same operations in the same order. Without variable indices, a
// group remains in registers. Elements beyond the end of a row are zeros. No rule draws them, and they are kept only after all
// other elements.
#pragma once

#include "kernels/common/cuda_fragment.hpp"
#include "kernels/sparse_mask/group.hpp"

namespace lpt {

constexpr uint32_t kMaskThreads = 128;

// A SparseMaskRequest in registers.
struct MaskJob {
  const void *source;
  uint8_t *mask;  // NULL: not requested
  void *masked;   // NULL: not requested
  int64_t rows, columns;
  int64_t source_stride, mask_stride, masked_stride;  // in elements
  lpt_sparse_rule rule;
  int32_t kept, of;
  RandomSource random;
  uint64_t first_draw, row_draws, group_draws;
  const float *importance;
  bool is_wide;  // masked is f32 and the source is not
  bool loads_whole, stores_mask_whole, stores_whole;
};

inline MaskJob mask_job(const SparseMaskRequest &request) {
  MaskJob job = {};
  job.source = request.source.data;
  job.mask = static_cast<uint8_t *>(request.mask.data);
  job.masked = request.masked.data;
  job.rows = request.source.rows;
  job.columns = request.source.columns;
  job.source_stride = request.source.row_stride;
  job.mask_stride = request.mask.row_stride;
  job.masked_stride = request.masked.row_stride;
  job.rule = request.rule;
  job.kept = request.kept;
  job.of = request.of;
  job.random = request.random;
  job.first_draw = request.first_draw;
  job.row_draws = request.row_draws;
  job.group_draws = request.group_draws;
  job.importance = request.importance;
  job.is_wide = request.masked.format.element != request.source.format.element;
  job.loads_whole = are_rows_aligned(job.source, job.source_stride * number_bytes(request.source.format.element));
  job.stores_mask_whole = are_rows_aligned(job.mask, job.mask_stride);
  job.stores_whole = are_rows_aligned(job.masked, job.masked_stride * number_bytes(request.masked.format.element));
  return job;
}

template <int kOf>
struct DeviceGroup {
  uint32_t bits;
  float values[kOf];
};

template <int kOf>
__device__ __forceinline__ float sum_of_group(const float (&numbers)[kOf]) {
  float sum = 0.0f;
#pragma unroll
  for (int i = 0; i < kOf; ++i) sum += numbers[i];
  return sum;
}

template <int kOf>
__device__ __forceinline__ int count_positive_of(const float (&numbers)[kOf]) {
  int count = 0;
#pragma unroll
  for (int i = 0; i < kOf; ++i) count += numbers[i] > 0.0f;
  return count;
}

template <int kOf>
__device__ __forceinline__ uint32_t largest_ranks(const uint32_t (&ranks)[kOf], int kept) {
  uint32_t bits = 0;
#pragma unroll
  for (int i = 0; i < kOf; ++i) {
    int before = 0;
#pragma unroll
    for (int j = 0; j < kOf; ++j) before += j < i ? ranks[j] >= ranks[i] : ranks[j] > ranks[i];
    bits |= static_cast<uint32_t>(before < kept) << i;
  }
  return bits;
}

// Adds the first elements that are not kept yet until `places` elements are kept.
template <int kOf>
__device__ __forceinline__ uint32_t filled_up(uint32_t bits, int places) {
  int missing = places - __popc(bits);
#pragma unroll
  for (int i = 0; i < kOf; ++i) {
    const bool is_taken = missing > 0 && (bits >> i & 1) == 0;
    bits |= static_cast<uint32_t>(is_taken) << i;
    missing -= is_taken;
  }
  return bits;
}

template <int kOf>
__device__ __forceinline__ DeviceGroup<kOf> positive_group(const float (&magnitudes)[kOf], int places) {
  DeviceGroup<kOf> group = {};
#pragma unroll
  for (int i = 0; i < kOf; ++i) {
    group.values[i] = magnitudes[i];
    group.bits |= static_cast<uint32_t>(magnitudes[i] > 0.0f) << i;
  }
  group.bits = filled_up<kOf>(group.bits, places);
  return group;
}

// Returns the bit of the element at `place`; see number_at().
template <int kOf>
__device__ __forceinline__ uint32_t bit_at(const float (&numbers)[kOf], float total, float place) {
  const float last = just_below(total);
  if (place > last) place = last;
  float end = 0.0f;
  uint32_t bit = 1u << (kOf - 1);
  bool is_found = false;
#pragma unroll
  for (int i = 0; i < kOf - 1; ++i) {
    end += numbers[i];
    if (!is_found && end > place) {
      bit = 1u << i;
      is_found = true;
    }
  }
  return bit;
}

template <int kOf>
__device__ __forceinline__ void clear_bits(float (&numbers)[kOf], uint32_t bits) {
#pragma unroll
  for (int i = 0; i < kOf; ++i) {
    if ((bits >> i & 1) != 0) numbers[i] = 0.0f;
  }
}

template <int kOf>
struct DeviceShares {
  float left[kOf];
  float total;
  int draws;
  uint32_t bits;
};

template <int kOf>
__device__ __forceinline__ DeviceShares<kOf> share_group(const float (&magnitudes)[kOf], int places) {
  DeviceShares<kOf> shares = {};
#pragma unroll
  for (int i = 0; i < kOf; ++i) shares.left[i] = magnitudes[i];
  shares.draws = places;
  for (;;) {
    shares.total = sum_of_group(shares.left);
    float largest = shares.left[0];
    uint32_t bit = 1;
#pragma unroll
    for (int i = 1; i < kOf; ++i) {
      bit = shares.left[i] > largest ? 1u << i : bit;
      largest = shares.left[i] > largest ? shares.left[i] : largest;
    }
    if (shares.draws == 0 || largest * static_cast<float>(shares.draws) < shares.total) return shares;
    shares.bits |= bit;
    clear_bits(shares.left, bit);
    --shares.draws;
  }
}

template <int kOf>
__device__ __forceinline__ DeviceGroup<kOf> mvue_group(const float (&magnitudes)[kOf], int kept, uint32_t word) {
  if (count_positive_of(magnitudes) <= kept) return positive_group(magnitudes, kept);
  const DeviceShares<kOf> shares = share_group(magnitudes, kept);
  DeviceGroup<kOf> group = {};
  group.bits = shares.bits;
  const float uniform = uniform_of(word);
  const float step = shares.draws > 0 ? shares.total / static_cast<float>(shares.draws) : 0.0f;
  for (int draw = 0; draw < shares.draws; ++draw) {
    group.bits |= bit_at(shares.left, shares.total, (uniform + static_cast<float>(draw)) * step);
  }
#pragma unroll
  for (int i = 0; i < kOf; ++i) {
    const bool has_no_place = shares.left[i] > 0.0f && (group.bits >> i & 1) == 0;
    if (has_no_place && __popc(group.bits) < kept) group.bits |= 1u << i;
    group.values[i] = (shares.bits >> i & 1) != 0 ? magnitudes[i] : step;
  }
  return group;
}

// Returns magnitude i divided by the probability that it is drawn first or second.
template <int kOf>
__device__ __forceinline__ float value_of_two_draws(const float (&magnitudes)[kOf], int i) {
  float sum = 1.0f;
#pragma unroll
  for (int k = 0; k < kOf; ++k) {
    float without = 0.0f;
#pragma unroll
    for (int j = 0; j < kOf; ++j) without += j == k ? 0.0f : magnitudes[j];
    if (k != i) sum += magnitudes[k] / without;
  }
  return sum_of_group(magnitudes) / sum;
}

template <int kOf>
__device__ __forceinline__ DeviceGroup<kOf> two_draws_group(const float (&magnitudes)[kOf], uint32_t first_word,
                                                            uint32_t second_word) {
  if (count_positive_of(magnitudes) <= 2) return positive_group(magnitudes, 2);
  DeviceGroup<kOf> group = {};
  float left[kOf];
#pragma unroll
  for (int i = 0; i < kOf; ++i) left[i] = magnitudes[i];
#pragma unroll
  for (int draw = 0; draw < 2; ++draw) {
    const float total = sum_of_group(left);
    const uint32_t bit = bit_at(left, total, uniform_of(draw == 0 ? first_word : second_word) * total);
    group.bits |= bit;
    clear_bits(left, bit);
  }
#pragma unroll
  for (int i = 0; i < kOf; ++i) {
    if ((group.bits >> i & 1) != 0) group.values[i] = value_of_two_draws(magnitudes, i);
  }
  return group;
}

// `importance`: NULL, or the importance of the group's columns, `count` of which exist.
template <int kOf>
__device__ __forceinline__ DeviceGroup<kOf> largest_group(const float (&magnitudes)[kOf], const float *importance,
                                                          int count, int kept) {
  DeviceGroup<kOf> group = {};
  uint32_t ranks[kOf];
#pragma unroll
  for (int i = 0; i < kOf; ++i) {
    group.values[i] = magnitudes[i];
    const bool is_weighted = importance != nullptr && i < count;
    ranks[i] = magnitude_rank(is_weighted ? magnitudes[i] * importance[i] : magnitudes[i]);
  }
  group.bits = largest_ranks(ranks, kept);
  return group;
}

template <int kOf>
__device__ __forceinline__ void lower_by_dropped(DeviceGroup<kOf> &group, const float (&magnitudes)[kOf]) {
  float threshold = 0.0f;
#pragma unroll
  for (int i = 0; i < kOf; ++i) {
    if ((group.bits >> i & 1) == 0 && magnitudes[i] > threshold) threshold = magnitudes[i];
  }
#pragma unroll
  for (int i = 0; i < kOf; ++i) group.values[i] = magnitudes[i] - threshold;
}

}  // namespace lpt
