// Casts with one scale per 128 × 128 elements. A thread block processes a tile and holds it in registers between amax and
// codes, so that memory is read once.
#include "kernels/quantize/cuda/cuda_blocks.hpp"
#include "kernels/quantize/cuda/cuda_kernels.hpp"

namespace lpt {
namespace {

constexpr uint32_t kThreads = 512;
constexpr int32_t kTile = 128;
constexpr int32_t kFragmentsOfRow = kTile / kFragment;
constexpr int32_t kFragments = kTile * kFragmentsOfRow / static_cast<int32_t>(kThreads);  // per thread

struct TileFragment {
  int64_t row, column;
  int32_t count;
};

__device__ __forceinline__ TileFragment tile_fragment(const CastJob &job, int32_t pass) {
  const int32_t index = pass * static_cast<int32_t>(kThreads) + static_cast<int32_t>(threadIdx.x);
  TileFragment fragment = {};
  fragment.row = (job.first_line + blockIdx.y) * kTile + index / kFragmentsOfRow;
  fragment.column = int64_t{blockIdx.x} * kTile + index % kFragmentsOfRow * kFragment;
  const int64_t left = job.columns - fragment.column;
  fragment.count =
      fragment.row >= job.rows || left <= 0 ? 0 : static_cast<int32_t>(left < kFragment ? left : kFragment);
  return fragment;
}

template <lpt_format kFormat, Dtype kSource, bool kIsDrawn>
__global__ void __launch_bounds__(kThreads) quantize_tiles(CastJob job) {
  constexpr Element kTarget = small_element(kFormat);
  RawFragment<kSource> raw[kFragments];
#pragma unroll
  for (int32_t i = 0; i < kFragments; ++i) {
    const TileFragment at = tile_fragment(job, i);
    raw[i] = load_raw_fragment<kSource>(job.source, at.row * job.source_stride + at.column, at.count,
                                        at.count == kFragment && job.loads_whole);
  }
  FloatFragment fragments[kFragments];
  FragmentStats facts;
#pragma unroll
  for (int32_t i = 0; i < kFragments; ++i) {
    fragments[i] = decode_fragment(raw[i]);
    const FragmentStats own = stats_of(fragments[i]);
    facts.amax = larger(facts.amax, own.amax);
    facts.has_nan |= own.has_nan;
  }
  const FragmentStats all = facts_of_block(facts);
  const BlockGridScale scale = compute_scale<LPT_FORMAT_F32>(job, all.amax);
  if (threadIdx.x == 0) {
    store_scale<LPT_FORMAT_F32>(job, job.first_line + blockIdx.y, blockIdx.x,
                                written_scale<kTarget, LPT_FORMAT_F32>(scale.code, all.has_nan));
    if (job.amax != nullptr) atomicMax(reinterpret_cast<uint32_t *>(job.amax), all.amax);
    if (job.has_nan != nullptr && all.has_nan) *job.has_nan = true;
  }
#pragma unroll
  for (int32_t i = 0; i < kFragments; ++i) {
    const TileFragment at = tile_fragment(job, i);
    if (at.count == 0) continue;
    const CodeFragment<kTarget.bits> codes = cast_fragment<kTarget, kIsDrawn>(
        job, fragments[i], scale.inverse, random_index(job, at.row, at.column), at.count);
    store_codes(job.target, at.row * job.target_stride + at.column, at.count, at.count == kFragment && job.stores_whole,
                codes);
  }
}

template <lpt_format kTarget>
void launch(const QuantizeRequest &request, void *stream) {
  const auto tiles = static_cast<uint32_t>((request.source.columns + kTile - 1) / kTile);
  if (tiles == 0) return;
  for_cast(request, [&]<Dtype kSource, bool kIsDrawn>(CastTag<kSource, kIsDrawn>) {
    const int64_t tile_rows = (request.source.rows + kTile - 1) / kTile;
    for_lines(cast_job(request), tile_rows, kMostGridLines, [&](const CastJob &job, uint32_t rows) {
      LPT_LAUNCH((quantize_tiles<kTarget, kSource, kIsDrawn>), dim3(tiles, rows), kThreads, 0, stream, job);
    });
  });
}

}  // namespace

void quantize_tiles_cuda(const QuantizeRequest &request, void *stream) {
  if (request.target.format.element == LPT_FORMAT_E4M3FN) {
    launch<LPT_FORMAT_E4M3FN>(request, stream);
  } else {
    launch<LPT_FORMAT_E5M2>(request, stream);
  }
}

}  // namespace lpt
