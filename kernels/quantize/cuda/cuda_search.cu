// Block scales of rules that read more than an amax: sums of a block, or the errors of several scales. They are stored before
// the cast, whose kernel loads them.
#include "kernels/quantize/cuda/cuda_candidates.hpp"
#include "kernels/quantize/cuda/cuda_fragments.hpp"
#include "kernels/quantize/cuda/cuda_search.hpp"

namespace lpt {
namespace {

// Computes striped_sum() of a block. Each of its `lanes` threads has 16 elements, which are 0 past the end of the row.
__device__ __forceinline__ float sum_of_block(const FloatFragment &fragment, uint32_t lanes) {
  const uint32_t first = thread_of_block() % 32 / lanes * lanes;
  float sum[kFragment] = {};
  for (uint32_t lane = 0; lane < lanes; ++lane) {
#pragma unroll
    for (int32_t i = 0; i < kFragment; ++i) sum[i] += __shfl_sync(kAllLanes, fragment.number[i], first + lane);
  }
  fold<kFragment / 2>(sum);
  return sum[0];
}

__device__ __forceinline__ FloatFragment scaled_values(const FloatFragment &a, const FloatFragment &b) {
  FloatFragment result;
#pragma unroll
  for (int32_t i = 0; i < kFragment; ++i) result.number[i] = a.number[i] * b.number[i];
  return result;
}

__device__ __forceinline__ FloatFragment magnitudes_of(const FloatFragment &fragment) {
  FloatFragment result;
#pragma unroll
  for (int32_t i = 0; i < kFragment; ++i) result.number[i] = bits_float(float_bits(fragment.number[i]) & 0x7FFFFFFFu);
  return result;
}

// Returns the scale code of a QUEST rule. `count` is the number of elements of the block.
__device__ __forceinline__ uint32_t quest_code(const CastJob &job, const ScaleSpec &spec, const FloatFragment &fragment,
                                               float amax, float count) {
  BlockStats facts = {};
  facts.amax = amax;
  facts.sum = sum_of_block(fragment, job.lanes);
  facts.square_sum = sum_of_block(scaled_values(fragment, fragment), job.lanes);
  facts.count = count;
  return quest_scale(spec, facts);
}

__device__ __forceinline__ uint32_t mean_code(const CastJob &job, const ScaleSpec &spec, const FloatFragment &fragment,
                                              float amax, float count) {
  const float sum = sum_of_block(magnitudes_of(fragment), job.lanes);
  return float_bits(amax == 0.0f ? 1.0f : clamp_scale(sum / count * spec.tensor_inverse));
}

template <lpt_format kFormat, lpt_format kScale>
__device__ __forceinline__ uint32_t searched_code(const CastJob &job, const FloatFragment &fragment, float amax,
                                                  float count) {
  ScaleSpec spec = job.spec;
  spec.kind = kScale;
  spec.tensor_inverse *= 1.0f / tensor_scale_of(job);
  if (kScale == LPT_FORMAT_E8M0FNU && is_quest_rule(spec.rule)) return quest_code(job, spec, fragment, amax, count);
  if (kScale == LPT_FORMAT_F32 && spec.rule == LPT_SCALE_RULE_MEAN) return mean_code(job, spec, fragment, amax, count);
  const auto sum = [&](const FloatFragment &errors) { return sum_of_block(errors, job.lanes); };
  return best_candidate<kFormat, kScale>(job, spec, fragment, amax, sum);
}

// Computes and stores the scales of quantize_fragments(). No thread returns early, because all lanes of a warp must execute the
// shuffles.
template <lpt_format kFormat, lpt_format kScale, Dtype kSource>
__global__ void __launch_bounds__(kFragmentThreads) search_scales(CastJob job, Divisor fragments_of_row) {
  const FragmentIndex place = fragment_place(job, fragments_of_row);
  FloatFragment fragment = {};
  if (place.count > 0) {
    fragment = load_fragment<kSource>(job.source, place.row * job.source_stride + place.column, place.count,
                                      place.count == kFragment && job.loads_whole);
  }
  fragment = finite_numbers(fragment);
  const FragmentStats all = facts_of_lanes(stats_of(fragment), job.lanes);
  const int64_t block = place.column / kFragment >> job.lane_shift;
  const int64_t begin = block * job.lanes * kFragment, left = job.columns - begin;
  const auto count = static_cast<float>(left < job.lanes * kFragment ? left : job.lanes * kFragment);
  const uint32_t code = searched_code<kFormat, kScale>(job, fragment, bits_float(all.amax), count);
  if (place.count > 0 && place.column == begin) store_scale<kScale>(job, place.row, block, code);
}

}  // namespace

void search_scales_cuda(const QuantizeRequest &request, void *stream) {
  for_block_format(request.target.format, [&]<lpt_format kFormat, lpt_format kScale>(BlockTag<kFormat, kScale>) {
    if constexpr (kScale != LPT_FORMAT_NONE) {
      for_float_dtype(request.source.format.element, [&]<Dtype kSource>(DtypeTag<kSource>) {
        for_fragment_rows(cast_job(request), [&](const CastJob &job, uint32_t blocks, const Divisor &fragments_of_row) {
          LPT_LAUNCH((search_scales<kFormat, kScale, kSource>), blocks, kFragmentThreads, 0, stream, job,
                     fragments_of_row);
        });
      });
    }
  });
}

}  // namespace lpt
