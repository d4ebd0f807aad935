// N:M masks: one thread loads sixteen adjacent elements, which are one or more groups, and selects in registers.
#include "kernels/sparse_mask/cuda_group.hpp"
#include "kernels/sparse_mask/cuda_kernels.hpp"

namespace lpt {
namespace {

template <lpt_sparse_rule kRule, int kOf>
__device__ __forceinline__ DeviceGroup<kOf> group_of(const MaskJob &job, const float (&magnitudes)[kOf], uint64_t draw,
                                                     const float *importance, int count) {
  constexpr bool kIsDrawn = kRule == LPT_SPARSE_RULE_MVUE || kRule == LPT_SPARSE_RULE_MVUE_TWO_DRAWS;
  const bool is_special = !(sum_of_group(magnitudes) < bits_float(0x7F800000u));
  if (kIsDrawn && !is_special) {
    if (kRule == LPT_SPARSE_RULE_MVUE) return mvue_group(magnitudes, job.kept, random_word(job.random, draw));
    return two_draws_group(magnitudes, random_word(job.random, 2 * draw), random_word(job.random, 2 * draw + 1));
  }
  DeviceGroup<kOf> group = largest_group(magnitudes, importance, count, job.kept);
  if (kRule == LPT_SPARSE_RULE_SOFT_THRESHOLD && !is_special) lower_by_dropped(group, magnitudes);
  return group;
}

// The result for one element, as f32. `is_same`: the element is unchanged.
struct Kept {
  float number;
  bool stays, is_same;
};

template <int kOf>
__device__ __forceinline__ Kept kept_of(const DeviceGroup<kOf> &group, int i, float number) {
  const bool stays = (group.bits >> i & 1) != 0;
  const uint32_t sign = float_bits(number) & 0x80000000u;
  const float value = bits_float((float_bits(group.values[i]) & 0x7FFFFFFFu) | sign);
  return {stays ? value : 0.0f, stays, stays && float_bits(value) == float_bits(number)};
}

template <Dtype kSource>
struct MaskedFragment {
  CodeFragment<8> mask;
  CodeFragment<8 * kDtypeBytes<kSource>> narrow;
  FloatFragment wide;
};

__device__ __forceinline__ uint32_t larger(uint32_t a, uint32_t b) { return a > b ? a : b; }
__device__ __forceinline__ uint32_t smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }

// Returns the mask of the two largest of four magnitudes, a byte per element. The numbers are 16-bit elements, so the two
// lowest bits of their f32 bits are free. These bits order equal magnitudes: the first is the largest. A NaN is ordered above
// infinity.
__device__ __forceinline__ uint32_t two_of_four(const float (&numbers)[4]) {
  constexpr uint32_t kNan = 0x7F800004u;
  uint32_t key[4];
#pragma unroll
  for (uint32_t i = 0; i < 4; ++i) key[i] = smaller((float_bits(numbers[i]) & 0x7FFFFFFCu) + (3 - i), kNan + (3 - i));
  const uint32_t low = larger(smaller(key[0], key[1]), smaller(key[2], key[3]));
  const uint32_t second = larger(smaller(larger(key[0], key[1]), larger(key[2], key[3])), low);
  uint32_t bytes = 0;
#pragma unroll
  for (uint32_t i = 0; i < 4; ++i) bytes |= key[i] >= second ? 1u << (8 * i) : 0u;
  return bytes;
}

// Returns whether the request is only for a mask of the two largest of four 16-bit elements.
template <Dtype kSource, lpt_sparse_rule kRule, int kOf>
__device__ __forceinline__ bool is_two_of_four(const MaskJob &job) {
  constexpr bool kCanBe = kSource != Dtype::kF32 && kRule == LPT_SPARSE_RULE_MAGNITUDE && kOf == 4;
  return kCanBe && job.kept == 2 && job.importance == nullptr && job.masked == nullptr;
}

template <Dtype kSource, lpt_sparse_rule kRule, int kOf>
__device__ __forceinline__ void mask_group(const MaskJob &job, const CodeFragment<8 * kDtypeBytes<kSource>> &codes,
                                           int first, int64_t row, int64_t column, MaskedFragment<kSource> &result) {
  float numbers[kOf];
  float magnitudes[kOf];
#pragma unroll
  for (int i = 0; i < kOf; ++i) {
    numbers[i] = plain_number<kSource>(code_at(codes, first + i));
    magnitudes[i] = bits_float(magnitude_bits(numbers[i]));
  }
  const int64_t begin = column + first;
  const uint64_t draw = job.first_draw + static_cast<uint64_t>(row) * job.row_draws +
                        static_cast<uint64_t>(begin / kOf) * job.group_draws;
  const int64_t left = job.columns - begin;
  const int count = left < 0 ? 0 : left < kOf ? static_cast<int>(left) : kOf;
  const float *importance = job.importance == nullptr || count == 0 ? nullptr : job.importance + begin;
  const DeviceGroup<kOf> group = group_of<kRule, kOf>(job, magnitudes, draw, importance, count);
#pragma unroll
  for (int i = 0; i < kOf; ++i) {
    const Kept kept = kept_of(group, i, numbers[i]);
    put_code(result.mask, first + i, static_cast<uint32_t>(kept.stays));
    put_code(result.narrow, first + i, kept.is_same ? code_at(codes, first + i) : code_of<kSource>(kept.number));
    result.wide.number[first + i] = kept.number;
  }
}

template <Dtype kSource, lpt_sparse_rule kRule, int kOf>
__global__ void __launch_bounds__(kMaskThreads) mask_fragments(MaskJob job) {
  constexpr int32_t kBytes = kDtypeBytes<kSource>;
  const int64_t column = first_column_of_grid();
  const int32_t count = fragment_count(job.columns, column);
  if (count == 0) return;
  const bool is_full = count == kFragment;
  for (int64_t row = first_row_of_grid(); row < job.rows; row += rows_of_grid()) {
    const CodeFragment<8 *kBytes> codes = load_codes<8 * kBytes>(
        job.source, (row * job.source_stride + column) * kBytes, count, is_full && job.loads_whole);
    MaskedFragment<kSource> result = {};
    if (is_two_of_four<kSource, kRule, kOf>(job)) {
#pragma unroll
      for (int first = 0; first < kFragment; first += 4) {
        float numbers[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) numbers[i] = number_of<kSource>(code_at(codes, first + i));
        result.mask.word[first / 4] = two_of_four(numbers);
      }
    } else {
#pragma unroll
      for (int first = 0; first < kFragment; first += kOf) {
        mask_group<kSource, kRule, kOf>(job, codes, first, row, column, result);
      }
    }
    if (job.mask != nullptr) {
      store_codes(job.mask, row * job.mask_stride + column, count, is_full && job.stores_mask_whole, result.mask);
    }
    if (job.masked == nullptr) continue;
    const int64_t index = row * job.masked_stride + column;
    if (job.is_wide) {
      store_fragment<Dtype::kF32>(job.masked, index, count, is_full && job.stores_whole, result.wide);
    } else {
      store_codes(job.masked, index * kBytes, count, is_full && job.stores_whole, result.narrow);
    }
  }
}

template <Dtype kSource, lpt_sparse_rule kRule, int kOf>
void launch(const SparseMaskRequest &request, void *stream) {
  const MaskJob job = mask_job(request);
  if (job.rows == 0 || job.columns == 0) return;
  const FragmentGrid grid = fragment_grid(job.rows, job.columns, kMaskThreads);
  LPT_LAUNCH((mask_fragments<kSource, kRule, kOf>), blocks_of_grid(grid), threads_of_grid(grid), 0, stream, job);
}

template <Dtype kSource, lpt_sparse_rule kRule>
void launch_length(const SparseMaskRequest &request, void *stream) {
  if (request.of == 4) {
    launch<kSource, kRule, 4>(request, stream);
  } else {
    launch<kSource, kRule, 8>(request, stream);
  }
}

template <Dtype kSource>
void launch_rule(const SparseMaskRequest &request, void *stream) {
  switch (request.rule) {
    case LPT_SPARSE_RULE_MVUE:
      return launch_length<kSource, LPT_SPARSE_RULE_MVUE>(request, stream);
    case LPT_SPARSE_RULE_MVUE_TWO_DRAWS:
      return launch_length<kSource, LPT_SPARSE_RULE_MVUE_TWO_DRAWS>(request, stream);
    case LPT_SPARSE_RULE_SOFT_THRESHOLD:
      return launch_length<kSource, LPT_SPARSE_RULE_SOFT_THRESHOLD>(request, stream);
    default:
      return launch_length<kSource, LPT_SPARSE_RULE_MAGNITUDE>(request, stream);
  }
}

}  // namespace

void sparse_mask_cuda(const SparseMaskRequest &request, void *stream) {
  for_float_dtype(request.source.format.element,
                  [&]<Dtype kSource>(DtypeTag<kSource>) { launch_rule<kSource>(request, stream); });
}

}  // namespace lpt
