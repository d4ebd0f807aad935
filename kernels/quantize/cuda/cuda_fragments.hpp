// Distribution of a matrix among threads in casts along rows: a thread processes 16 adjacent elements, and the threads of a
// block of elements are lanes of one warp.
#pragma once

#include "kernels/quantize/cuda/cuda_blocks.hpp"

namespace lpt {

constexpr uint32_t kFragmentThreads = 256;
constexpr int64_t kMostFragments = int64_t{1} << 30;  // per launch, rounded up to whole rows

// Position of the fragment of a thread. The fragments of a row are rounded up to a multiple of `lanes`, so that the lanes of a
// block are adjacent.
struct FragmentIndex {
  int64_t row, column;
  int32_t count;  // 0: past the end of the row or of the matrix
};

__device__ __forceinline__ FragmentIndex fragment_place(const CastJob &job, const Divisor &fragments_of_row) {
  const uint32_t index = blockIdx.x * kFragmentThreads + threadIdx.x;
  const uint32_t row = quotient(index, fragments_of_row);
  FragmentIndex place = {};
  place.row = job.first_line + row;
  place.column = static_cast<int64_t>(index - row * fragments_of_row.number) * kFragment;
  const int64_t left = job.columns - place.column;
  place.count = place.row >= job.rows || left <= 0 ? 0 : static_cast<int32_t>(left < kFragment ? left : kFragment);
  return place;
}

// Calls launch(job, blocks, fragments_of_row) for as many rows at a time as 32-bit fragment indices allow.
template <typename Launch>
void for_fragment_rows(const CastJob &whole, const Launch &launch) {
  const int64_t group = kFragment * (whole.lanes == 0 ? 1 : whole.lanes);
  const int64_t fragments_of_row = (whole.columns + group - 1) / group * group / kFragment;
  if (fragments_of_row == 0) return;
  const int64_t most = (kMostFragments + fragments_of_row - 1) / fragments_of_row;
  for_lines(whole, whole.rows, most, [&](const CastJob &job, uint32_t rows) {
    const int64_t fragments = rows * fragments_of_row;
    launch(job, static_cast<uint32_t>((fragments + kFragmentThreads - 1) / kFragmentThreads),
           divisor_of(static_cast<uint32_t>(fragments_of_row)));
  });
}

// Template parameters of a kernel for blocks along rows. for_block_format() calls body(BlockTag<...>{}).
template <lpt_format kElement, lpt_format kScale>
struct BlockTag {};

template <lpt_format kElement, typename Body>
void for_byte_blocks(lpt_format scale, const Body &body) {
  if (scale == LPT_FORMAT_F32) return body(BlockTag<kElement, LPT_FORMAT_F32>{});
  if (scale == LPT_FORMAT_E8M0FNU) return body(BlockTag<kElement, LPT_FORMAT_E8M0FNU>{});
  body(BlockTag<kElement, LPT_FORMAT_NONE>{});
}

template <typename Body>
void for_block_format(const Format &format, const Body &body) {
  switch (format.element) {
    case LPT_FORMAT_E4M3FN:
      return for_byte_blocks<LPT_FORMAT_E4M3FN>(format.block_scale, body);
    case LPT_FORMAT_E5M2:
      return for_byte_blocks<LPT_FORMAT_E5M2>(format.block_scale, body);
    case LPT_FORMAT_E3M2FN:
      return body(BlockTag<LPT_FORMAT_E3M2FN, LPT_FORMAT_E8M0FNU>{});
    case LPT_FORMAT_E2M3FN:
      return body(BlockTag<LPT_FORMAT_E2M3FN, LPT_FORMAT_E8M0FNU>{});
    case LPT_FORMAT_INT8:
      if (format.block_scale == LPT_FORMAT_F32) return body(BlockTag<LPT_FORMAT_INT8, LPT_FORMAT_F32>{});
      return body(BlockTag<LPT_FORMAT_INT8, LPT_FORMAT_NONE>{});
    case LPT_FORMAT_INT4:
      return body(BlockTag<LPT_FORMAT_INT4, LPT_FORMAT_F32>{});
    default:
      if (format.block_scale == LPT_FORMAT_E8M0FNU) return body(BlockTag<LPT_FORMAT_E2M1FN, LPT_FORMAT_E8M0FNU>{});
      return body(BlockTag<LPT_FORMAT_E2M1FN, LPT_FORMAT_E4M3FN>{});
  }
}

}  // namespace lpt
