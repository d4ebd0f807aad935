// Casts along rows: a thread processes 16 adjacent elements, and the threads of a block of elements compute its scale by
// shuffles.
#include "kernels/common/cuda_rotation.hpp"
#include "kernels/quantize/cuda/cuda_fragments.hpp"
#include "kernels/quantize/cuda/cuda_kernels.hpp"
#include "kernels/quantize/cuda/cuda_search.hpp"

namespace lpt {
namespace {

// Loads the scale of a block. All lanes of the warp must call it: the barrier orders their loads before the store of the scale.
template <lpt_format kScale>
__device__ __forceinline__ BlockGridScale found_scale(const CastJob &job, const FragmentIndex &place) {
  BlockGridScale scale = {};
  if (place.count > 0) scale.code = load_scale<kScale>(job, place.row, place.column / kFragment >> job.lane_shift);
  __syncwarp();
  scale.inverse = inverse_scale(block_scale_value(kScale, scale.code) * tensor_scale_of(job));
  return scale;
}

// Multiplies by the factors and signs, and rotates, with the bits of cuda_rotate.cu.
__device__ __forceinline__ void prepare_fragment(const CastJob &job, FloatFragment &fragment,
                                                 const FragmentIndex &place) {
  multiply(fragment, job.factors, place.column, place.count);
  multiply(fragment, job.signs, place.column, place.count);
  if (job.is_rotated) rotate_sixteen(fragment, place.count);
}

template <lpt_format kFormat, lpt_format kScale, Dtype kSource, bool kIsDrawn, bool kIsPrepared>
__global__ void __launch_bounds__(kFragmentThreads) quantize_fragments(CastJob job, Divisor fragments_of_row) {
  constexpr Element kTarget = small_element(kFormat);
  const FragmentIndex place = fragment_place(job, fragments_of_row);
  const bool is_full = place.count == kFragment;
  FloatFragment fragment = {};
  if (place.count > 0) {
    fragment = load_fragment<kSource>(job.source, place.row * job.source_stride + place.column, place.count,
                                      is_full && job.loads_whole);
    if constexpr (kIsPrepared) prepare_fragment(job, fragment, place);
  }
  FragmentStats facts;
  if (kScale != LPT_FORMAT_NONE || job.amax != nullptr || job.has_nan != nullptr) facts = stats_of(fragment);
  float inverse = 1.0f / tensor_scale_of(job);
  if constexpr (kScale != LPT_FORMAT_NONE) {
    const FragmentStats all = facts_of_lanes(facts, job.lanes);
    const bool is_found = job.scales != BlockScales::kSettled;
    const BlockGridScale scale = is_found ? found_scale<kScale>(job, place) : compute_scale<kScale>(job, all.amax);
    inverse = scale.inverse;
    const int64_t fragment_column = place.column / kFragment;
    if (place.count > 0 && (fragment_column & (job.lanes - 1)) == 0 && job.scales != BlockScales::kGiven) {
      store_scale<kScale>(job, place.row, fragment_column >> job.lane_shift,
                          written_scale<kTarget, kScale>(scale.code, all.has_nan));
    }
  }
  if (place.count > 0) {
    const CodeFragment<kTarget.bits> codes = cast_fragment<kTarget, kIsDrawn>(
        job, fragment, inverse, random_index(job, place.row, place.column), place.count);
    store_codes(job.target, place.row * job.target_stride + place.column * kTarget.bits / 8, place.count,
                is_full && job.stores_whole, codes);
  }
  report_stats(job.amax, job.has_nan, facts);
}

template <lpt_format kTarget, lpt_format kScale, bool kIsPrepared>
void launch(const QuantizeRequest &request, void *stream) {
  for_cast(request, [&]<Dtype kSource, bool kIsDrawn>(CastTag<kSource, kIsDrawn>) {
    for_fragment_rows(cast_job(request), [&](const CastJob &job, uint32_t blocks, const Divisor &fragments_of_row) {
      LPT_LAUNCH((quantize_fragments<kTarget, kScale, kSource, kIsDrawn, kIsPrepared>), blocks, kFragmentThreads, 0,
                 stream, job, fragments_of_row);
    });
  });
}

}  // namespace

void quantize_fragments_cuda(const QuantizeRequest &request, void *stream) {
  if (is_searched(request)) search_scales_cuda(request, stream);
  for_block_format(request.target.format, [&]<lpt_format kTarget, lpt_format kScale>(BlockTag<kTarget, kScale>) {
    if constexpr (kTarget == LPT_FORMAT_E2M1FN) {
      if (is_prepared(request)) return launch<kTarget, kScale, true>(request, stream);
    }
    launch<kTarget, kScale, false>(request, stream);
  });
}

}  // namespace lpt
