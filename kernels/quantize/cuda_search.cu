// Block scales of the rules that read more than an amax: sums of a block, or the errors that several scales would leave. They
// are written before the cast, which then takes the scales that it finds.
#include "kernels/quantize/cuda_candidates.hpp"
#include "kernels/quantize/cuda_search.hpp"
#include "kernels/quantize/cuda_strips.hpp"

namespace lpt {
namespace {

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
  const auto sum = [&](const NumberStrip &errors) { return sum_of_block(errors, job.lanes); };
  return best_candidate<kFormat, kScale>(job, spec, strip, amax, sum);
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
  strip = finite_numbers(strip);
  const StripFacts all = facts_of_lanes(facts_of(strip), job.lanes);
  const int64_t block = place.column / kStrip / job.lanes;
  const int64_t begin = block * job.lanes * kStrip, left = job.columns - begin;
  const auto count = static_cast<float>(left < job.lanes * kStrip ? left : job.lanes * kStrip);
  const uint32_t code = searched_code<kFormat, kScale>(job, strip, bits_float(all.amax), count);
  if (place.count > 0 && place.column == begin) store_scale<kScale>(job, place.row, block, code);
}

}  // namespace

void search_scales_cuda(const QuantizeRequest &request, void *stream) {
  for_block_format(request.target.format, [&]<lpt_format kFormat, lpt_format kScale>(BlockTag<kFormat, kScale>) {
    if constexpr (kScale != LPT_FORMAT_NONE) {
      for_numeral(request.source.format.element, [&]<Numeral kSource>(NumeralTag<kSource>) {
        for_strip_rows(cast_job(request), [&](const CastJob &job, uint32_t blocks, uint32_t strips_of_row) {
          LPT_LAUNCH((search_scales<kFormat, kScale, kSource>), blocks, kStripThreads, 0, stream, job, strips_of_row);
        });
      });
    }
  });
}

}  // namespace lpt
