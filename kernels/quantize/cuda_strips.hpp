// How casts of rows share out a matrix: a thread takes sixteen adjacent numbers, the threads of a block of numbers are lanes of
// one warp.
#pragma once

#include "kernels/quantize/cuda_blocks.hpp"

namespace lpt {

constexpr uint32_t kStripThreads = 256;
constexpr int64_t kMostStrips = int64_t{1} << 30;  // of a launch, to the end of a row

// Where a thread's strip lies. Rows are cut in whole groups of `lanes` strips: the lanes of a block are neighbours.
struct StripPlace {
  int64_t row, column;
  int32_t count;  // 0: beyond the row, or the matrix
};

__device__ __forceinline__ StripPlace strip_place(const CastJob &job, uint32_t strips_of_row) {
  const uint32_t index = blockIdx.x * kStripThreads + threadIdx.x;
  StripPlace place = {};
  place.row = job.first_row + index / strips_of_row;
  place.column = static_cast<int64_t>(index % strips_of_row) * kStrip;
  const int64_t left = job.columns - place.column;
  place.count = place.row >= job.rows || left <= 0 ? 0 : static_cast<int32_t>(left < kStrip ? left : kStrip);
  return place;
}

// Runs launch(job, blocks, strips_of_row) for as many rows at once as 32 bits count strips.
template <typename Launch>
void for_strip_rows(CastJob job, const Launch &launch) {
  const int64_t group = kStrip * (job.lanes == 0 ? 1 : job.lanes);
  const int64_t strips_of_row = (job.columns + group - 1) / group * group / kStrip;
  if (strips_of_row == 0) return;
  const int64_t most_rows = (kMostStrips + strips_of_row - 1) / strips_of_row;
  for (; job.first_row < job.rows; job.first_row += most_rows) {
    const int64_t left = job.rows - job.first_row, strips = (left < most_rows ? left : most_rows) * strips_of_row;
    launch(job, static_cast<uint32_t>((strips + kStripThreads - 1) / kStripThreads),
           static_cast<uint32_t>(strips_of_row));
  }
}

}  // namespace lpt
