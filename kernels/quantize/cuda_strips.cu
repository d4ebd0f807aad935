// Casts of rows: a thread takes sixteen adjacent numbers, the threads of a block of numbers settle its scale by shuffles.
#include "kernels/quantize/cuda_blocks.hpp"
#include "kernels/quantize/cuda_rows.hpp"

namespace lpt {
namespace {

constexpr uint32_t kThreads = 256;
constexpr int64_t kMostStrips = int64_t{1} << 30;  // of a launch, to the end of a row

// Where a thread's strip lies. Rows are cut in whole groups of `lanes` strips: the lanes of a block are neighbours.
struct StripPlace {
  int64_t row, column;
  int32_t count;  // 0: beyond the row, or the matrix
};

__device__ __forceinline__ StripPlace strip_place(const CastJob &job, uint32_t strips_of_row) {
  const uint32_t index = blockIdx.x * kThreads + threadIdx.x;
  StripPlace place = {};
  place.row = job.first_row + index / strips_of_row;
  place.column = static_cast<int64_t>(index % strips_of_row) * kStrip;
  const int64_t left = job.columns - place.column;
  place.count = place.row >= job.rows || left <= 0 ? 0 : static_cast<int32_t>(left < kStrip ? left : kStrip);
  return place;
}

template <lpt_format kFormat, lpt_format kScale, Numeral kSource, bool kIsDrawn>
__global__ void __launch_bounds__(kThreads) quantize_strips(CastJob job, uint32_t strips_of_row) {
  constexpr Element kTarget = small_element(kFormat);
  const StripPlace place = strip_place(job, strips_of_row);
  const bool is_full = place.count == kStrip;
  NumberStrip strip = {};
  if (place.count > 0) {
    strip = load_strip<kSource>(job.source, place.row * job.source_stride + place.column, place.count,
                                is_full && job.loads_whole);
  }
  StripFacts facts;
  if (kScale != LPT_FORMAT_NONE || job.amax != nullptr || job.has_nan != nullptr) facts = facts_of(strip);
  tell_facts(job.amax, job.has_nan, facts);
  float inverse = 1.0f / tensor_scale_of(job);
  if constexpr (kScale != LPT_FORMAT_NONE) {
    const StripFacts all = facts_of_lanes(facts, job.lanes);
    const BlockGridScale scale = settle_scale<kScale>(job, all.amax);
    inverse = scale.inverse;
    const int64_t strip_column = place.column / kStrip;
    if (place.count > 0 && strip_column % job.lanes == 0) {
      store_scale<kScale>(job, place.row, strip_column / job.lanes,
                          written_scale<kTarget, kScale>(scale.code, all.has_nan));
    }
  }
  if (place.count == 0) return;
  const CodeStrip<kTarget.bits> codes =
      cast_strip<kTarget, kIsDrawn>(job, strip, inverse, random_index(job, place.row, place.column), place.count);
  store_codes(job.target, place.row * job.target_stride + place.column * kTarget.bits / 8, place.count,
              is_full && job.stores_whole, codes);
}

template <lpt_format kTarget, lpt_format kScale, Numeral kSource>
void launch_rows(const CastJob &job, int64_t rows, uint32_t strips_of_row, bool is_drawn, void *stream) {
  const auto blocks = static_cast<uint32_t>((rows * strips_of_row + kThreads - 1) / kThreads);
  if (is_drawn) {
    LPT_LAUNCH((quantize_strips<kTarget, kScale, kSource, true>), blocks, kThreads, 0, stream, job, strips_of_row);
  } else {
    LPT_LAUNCH((quantize_strips<kTarget, kScale, kSource, false>), blocks, kThreads, 0, stream, job, strips_of_row);
  }
}

// As many rows at once as 32 bits count strips.
template <lpt_format kTarget, lpt_format kScale, Numeral kSource>
void launch(CastJob job, bool is_drawn, void *stream) {
  const int64_t group = kStrip * (job.lanes == 0 ? 1 : job.lanes);
  const int64_t strips_of_row = (job.columns + group - 1) / group * group / kStrip;
  if (strips_of_row == 0) return;
  const int64_t most_rows = (kMostStrips + strips_of_row - 1) / strips_of_row;
  for (; job.first_row < job.rows; job.first_row += most_rows) {
    const int64_t left = job.rows - job.first_row;
    launch_rows<kTarget, kScale, kSource>(job, left < most_rows ? left : most_rows,
                                          static_cast<uint32_t>(strips_of_row), is_drawn, stream);
  }
}

template <lpt_format kTarget, lpt_format kScale>
void launch_from(const QuantizeRequest &request, void *stream) {
  const CastJob job = cast_job(request);
  const bool is_drawn = request.rounding == LPT_ROUNDING_STOCHASTIC;
  for_numeral(request.source.format.element,
              [&]<Numeral kSource>(NumeralTag<kSource>) { launch<kTarget, kScale, kSource>(job, is_drawn, stream); });
}

// Bytes: any scale but e4m3fn's.
template <lpt_format kTarget>
void launch_bytes(const QuantizeRequest &request, void *stream) {
  switch (request.target.format.block_scale) {
    case LPT_FORMAT_F32:
      return launch_from<kTarget, LPT_FORMAT_F32>(request, stream);
    case LPT_FORMAT_E8M0FNU:
      return launch_from<kTarget, LPT_FORMAT_E8M0FNU>(request, stream);
    default:
      return launch_from<kTarget, LPT_FORMAT_NONE>(request, stream);
  }
}

}  // namespace

void quantize_strips_cuda(const QuantizeRequest &request, void *stream) {
  switch (request.target.format.element) {
    case LPT_FORMAT_E4M3FN:
      return launch_bytes<LPT_FORMAT_E4M3FN>(request, stream);
    case LPT_FORMAT_E5M2:
      return launch_bytes<LPT_FORMAT_E5M2>(request, stream);
    case LPT_FORMAT_E3M2FN:
      return launch_from<LPT_FORMAT_E3M2FN, LPT_FORMAT_E8M0FNU>(request, stream);
    case LPT_FORMAT_E2M3FN:
      return launch_from<LPT_FORMAT_E2M3FN, LPT_FORMAT_E8M0FNU>(request, stream);
    default:
      if (request.target.format.block_scale == LPT_FORMAT_E8M0FNU) {
        return launch_from<LPT_FORMAT_E2M1FN, LPT_FORMAT_E8M0FNU>(request, stream);
      }
      return launch_from<LPT_FORMAT_E2M1FN, LPT_FORMAT_E4M3FN>(request, stream);
  }
}

}  // namespace lpt
