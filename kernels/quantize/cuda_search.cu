// Block scales of the rules that read more than an amax: sums of a block, or the errors that several scales would leave. They
// are written before the cast, which then takes the scales that it finds.
#include "kernels/quantize/cuda_search.hpp"
#include "kernels/quantize/cuda_strips.hpp"

namespace lpt {
namespace {

// The upper half onto the lower one, and so on. Widths are constants: others would put the array into memory.
template <int32_t kWidth>
__device__ __forceinline__ void fold(float (&sum)[kStrip]) {
#pragma unroll
  for (int32_t i = 0; i < kWidth; ++i) sum[i] += sum[i + kWidth];
  if constexpr (kWidth > 1) fold<kWidth / 2>(sum);
}

// lane_sum() of a block: each of its `lanes` threads has sixteen of the numbers, zeros beyond the end of the row.
__device__ __forceinline__ float sum_of_block(const NumberStrip &strip, uint32_t lanes) {
  const uint32_t first = thread_of_block() % 32 / lanes * lanes;
  float sum[kStrip] = {};
  for (uint32_t lane = 0; lane < lanes; ++lane) {
#pragma unroll
    for (int32_t i = 0; i < kStrip; ++i) sum[i] += __shfl_sync(kAllLanes, strip.number[i], first + lane);
  }
  fold<kStrip / 2>(sum);
  return sum[0];
}

// Zero for what is not finite.
__device__ __forceinline__ float finite_number(float number) {
  return (float_bits(number) & 0x7FFFFFFFu) < kFloatInfinityBits ? number + 0.0f : 0.0f;
}

// Of the rounding to nearest even with a scale, summed over the block.
template <Element kTarget>
__device__ __forceinline__ float squared_error(const NumberStrip &strip, float scale, uint32_t lanes) {
  const float inverse = inverse_scale(scale);
  NumberStrip squares;
#pragma unroll
  for (int32_t i = 0; i < kStrip; ++i) {
    const float number = strip.number[i];
    const float error = number - small_number<kTarget>(nearest_code<kTarget>(scaled(number, inverse))) * scale;
    squares.number[i] = number == 0.0f ? 0.0f : error * error;
  }
  return sum_of_block(squares, lanes);
}

// The numbers of a strip are finite.
template <lpt_format kFormat, lpt_format kScale>
__device__ __forceinline__ uint32_t best_candidate(const CastJob &job, const ScaleSpec &spec, const NumberStrip &strip,
                                                   float amax) {
  constexpr Element kTarget = small_element(kFormat);
  const float tensor_scale = tensor_scale_of(job);
  uint32_t best = candidate_code(spec, amax, 0);
  float least = squared_error<kTarget>(strip, block_scale_value(kScale, best) * tensor_scale, job.lanes);
  for (int32_t i = 1; i < candidate_count(spec); ++i) {
    const uint32_t code = candidate_code(spec, amax, i);
    const float error = squared_error<kTarget>(strip, block_scale_value(kScale, code) * tensor_scale, job.lanes);
    if (!(error < least)) continue;
    best = code;
    least = error;
  }
  return best;
}

__device__ __forceinline__ NumberStrip products(const NumberStrip &a, const NumberStrip &b) {
  NumberStrip result;
#pragma unroll
  for (int32_t i = 0; i < kStrip; ++i) result.number[i] = a.number[i] * b.number[i];
  return result;
}

__device__ __forceinline__ NumberStrip magnitudes_of(const NumberStrip &strip) {
  NumberStrip result;
#pragma unroll
  for (int32_t i = 0; i < kStrip; ++i) result.number[i] = bits_float(float_bits(strip.number[i]) & 0x7FFFFFFFu);
  return result;
}

// `count`: elements of the block.
__device__ __forceinline__ uint32_t quest_code(const CastJob &job, const ScaleSpec &spec, const NumberStrip &strip,
                                               float amax, float count) {
  BlockFacts facts = {};
  facts.amax = amax;
  facts.sum = sum_of_block(strip, job.lanes);
  facts.square_sum = sum_of_block(products(strip, strip), job.lanes);
  facts.count = count;
  return quest_scale(spec, facts);
}

__device__ __forceinline__ uint32_t mean_code(const CastJob &job, const ScaleSpec &spec, const NumberStrip &strip,
                                              float amax, float count) {
  const float sum = sum_of_block(magnitudes_of(strip), job.lanes);
  return float_bits(amax == 0.0f ? 1.0f : clamp_scale(sum / count * spec.tensor_inverse));
}

template <lpt_format kFormat, lpt_format kScale>
__device__ __forceinline__ uint32_t searched_code(const CastJob &job, const NumberStrip &strip, float amax,
                                                  float count) {
  ScaleSpec spec = job.spec;
  spec.kind = kScale;
  spec.tensor_inverse *= 1.0f / tensor_scale_of(job);
  if (kScale == LPT_FORMAT_E8M0FNU && is_quest_rule(spec.rule)) return quest_code(job, spec, strip, amax, count);
  if (kScale == LPT_FORMAT_F32 && spec.rule == LPT_SCALE_RULE_MEAN) return mean_code(job, spec, strip, amax, count);
  return best_candidate<kFormat, kScale>(job, spec, strip, amax);
}

// As quantize_strips, without the codes. Every thread of a block comes to the end.
template <lpt_format kFormat, lpt_format kScale, Numeral kSource>
__global__ void __launch_bounds__(kStripThreads) search_scales(CastJob job, uint32_t strips_of_row) {
  const StripPlace place = strip_place(job, strips_of_row);
  NumberStrip strip = {};
  if (place.count > 0) {
    strip = load_strip<kSource>(job.source, place.row * job.source_stride + place.column, place.count,
                                place.count == kStrip && job.loads_whole);
  }
#pragma unroll
  for (int32_t i = 0; i < kStrip; ++i) strip.number[i] = finite_number(strip.number[i]);
  const StripFacts all = facts_of_lanes(facts_of(strip), job.lanes);
  const int64_t block = place.column / kStrip / job.lanes;
  const int64_t begin = block * job.lanes * kStrip, left = job.columns - begin;
  const auto count = static_cast<float>(left < job.lanes * kStrip ? left : job.lanes * kStrip);
  const uint32_t code = searched_code<kFormat, kScale>(job, strip, bits_float(all.amax), count);
  if (place.count > 0 && place.column == begin) store_scale<kScale>(job, place.row, block, code);
}

template <lpt_format kFormat, lpt_format kScale>
void launch(const QuantizeRequest &request, void *stream) {
  for_numeral(request.source.format.element, [&]<Numeral kSource>(NumeralTag<kSource>) {
    for_strip_rows(cast_job(request), [&](const CastJob &job, uint32_t blocks, uint32_t strips_of_row) {
      LPT_LAUNCH((search_scales<kFormat, kScale, kSource>), blocks, kStripThreads, 0, stream, job, strips_of_row);
    });
  });
}

template <lpt_format kFormat>
void launch_bytes(const QuantizeRequest &request, void *stream) {
  if (request.target.format.block_scale == LPT_FORMAT_F32) {
    launch<kFormat, LPT_FORMAT_F32>(request, stream);
  } else {
    launch<kFormat, LPT_FORMAT_E8M0FNU>(request, stream);
  }
}

}  // namespace

void search_scales_cuda(const QuantizeRequest &request, void *stream) {
  switch (request.target.format.element) {
    case LPT_FORMAT_E4M3FN:
      return launch_bytes<LPT_FORMAT_E4M3FN>(request, stream);
    case LPT_FORMAT_E5M2:
      return launch_bytes<LPT_FORMAT_E5M2>(request, stream);
    case LPT_FORMAT_E3M2FN:
      return launch<LPT_FORMAT_E3M2FN, LPT_FORMAT_E8M0FNU>(request, stream);
    case LPT_FORMAT_E2M3FN:
      return launch<LPT_FORMAT_E2M3FN, LPT_FORMAT_E8M0FNU>(request, stream);
    case LPT_FORMAT_INT8:
      return launch<LPT_FORMAT_INT8, LPT_FORMAT_F32>(request, stream);
    case LPT_FORMAT_INT4:
      return launch<LPT_FORMAT_INT4, LPT_FORMAT_F32>(request, stream);
    default:
      if (request.target.format.block_scale == LPT_FORMAT_E8M0FNU) {
        return launch<LPT_FORMAT_E2M1FN, LPT_FORMAT_E8M0FNU>(request, stream);
      }
      return launch<LPT_FORMAT_E2M1FN, LPT_FORMAT_E4M3FN>(request, stream);
  }
}

}  // namespace lpt
