// Casts with one scale for each 128 × 128 numbers: a block of threads takes one tile, and holds it in registers between its
// amax and its cast, so that memory is read once.
#include "kernels/quantize/cuda_blocks.hpp"
#include "kernels/quantize/cuda_rows.hpp"

namespace lpt {
namespace {

constexpr uint32_t kThreads = 256;
constexpr int32_t kTile = 128;
constexpr int32_t kStripsOfRow = kTile / kStrip;
constexpr int32_t kStrips = kTile * kStripsOfRow / static_cast<int32_t>(kThreads);  // of a thread

struct TileStrip {
  int64_t row, column;
  int32_t count;
};

__device__ __forceinline__ TileStrip tile_strip(const CastJob &job, int32_t turn) {
  const int32_t index = turn * static_cast<int32_t>(kThreads) + static_cast<int32_t>(threadIdx.x);
  TileStrip strip = {};
  strip.row = (job.first_line + blockIdx.y) * kTile + index / kStripsOfRow;
  strip.column = int64_t{blockIdx.x} * kTile + index % kStripsOfRow * kStrip;
  const int64_t left = job.columns - strip.column;
  strip.count = strip.row >= job.rows || left <= 0 ? 0 : static_cast<int32_t>(left < kStrip ? left : kStrip);
  return strip;
}

template <lpt_format kFormat, Numeral kSource, bool kIsDrawn>
__global__ void __launch_bounds__(kThreads) quantize_tiles(CastJob job) {
  constexpr Element kTarget = small_element(kFormat);
  NumberStrip strips[kStrips];
  StripFacts facts;
#pragma unroll
  for (int32_t i = 0; i < kStrips; ++i) {
    const TileStrip at = tile_strip(job, i);
    if (at.count == 0) continue;
    strips[i] = load_strip<kSource>(job.source, at.row * job.source_stride + at.column, at.count,
                                    at.count == kStrip && job.loads_whole);
    const StripFacts own = facts_of(strips[i]);
    facts.amax = larger(facts.amax, own.amax);
    facts.has_nan |= own.has_nan;
  }
  const StripFacts all = facts_of_block(facts);
  const BlockGridScale scale = settle_scale<LPT_FORMAT_F32>(job, all.amax);
  if (threadIdx.x == 0) {
    store_scale<LPT_FORMAT_F32>(job, job.first_line + blockIdx.y, blockIdx.x,
                                written_scale<kTarget, LPT_FORMAT_F32>(scale.code, all.has_nan));
    if (job.amax != nullptr) atomicMax(reinterpret_cast<uint32_t *>(job.amax), all.amax);
    if (job.has_nan != nullptr && all.has_nan) *job.has_nan = true;
  }
#pragma unroll
  for (int32_t i = 0; i < kStrips; ++i) {
    const TileStrip at = tile_strip(job, i);
    if (at.count == 0) continue;
    const CodeStrip<kTarget.bits> codes =
        cast_strip<kTarget, kIsDrawn>(job, strips[i], scale.inverse, random_index(job, at.row, at.column), at.count);
    store_codes(job.target, at.row * job.target_stride + at.column, at.count, at.count == kStrip && job.stores_whole,
                codes);
  }
}

template <lpt_format kTarget>
void launch(const QuantizeRequest &request, void *stream) {
  const auto tiles = static_cast<uint32_t>((request.source.columns + kTile - 1) / kTile);
  if (tiles == 0) return;
  for_cast(request, [&]<Numeral kSource, bool kIsDrawn>(CastTag<kSource, kIsDrawn>) {
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
