// Statistics of a selection: one thread adds a row from its first to its last element, as the reference kernel does, so that
// the sums are equal. Matrices large enough for a GPU have many rows.
#include "kernels/sparse_mask/cuda_group.hpp"
#include "kernels/sparse_mask/cuda_kernels.hpp"

namespace lpt {
namespace {

constexpr uint32_t kRowThreads = 64;

struct MeasureJob {
  const void *source;
  const uint8_t *mask;
  SparseSums *sums;
  int64_t rows, columns;
  int64_t source_row, source_column, mask_row, mask_column;  // strides in elements
  lpt_format format;                                         // of the source
  int32_t kept, of;
};

__device__ __forceinline__ float magnitude_warp(const MeasureJob &job, int64_t row, int64_t column) {
  const int64_t index = row * job.source_row + column * job.source_column;
  float number;
  if (job.format == LPT_FORMAT_F32) {
    number = static_cast<const float *>(job.source)[index];
  } else {
    const uint32_t code = static_cast<const uint16_t *>(job.source)[index];
    number = job.format == LPT_FORMAT_BF16 ? plain_number<Dtype::kBf16>(code) : plain_number<Dtype::kF16>(code);
  }
  return bits_float(float_bits(number) & 0x7FFFFFFFu);
}

// Adds one element to all sums except the variance, and returns its magnitude.
__device__ __forceinline__ float add_number(const MeasureJob &job, int64_t row, int64_t column, SparseSums &sums) {
  const float magnitude = magnitude_warp(job, row, column);
  const bool stays = job.mask[row * job.mask_row + column * job.mask_column] != 0;
  sums.kept += stays;
  if (!(magnitude < bits_float(0x7F800000u))) return magnitude;
  const double square = static_cast<double>(magnitude) * static_cast<double>(magnitude);
  sums.energy += square;
  if (stays) sums.kept_energy += square;
  return magnitude;
}

template <int kOf>
__device__ __forceinline__ double variance_of_shares(const float (&magnitudes)[kOf], int kept) {
  const DeviceShares<kOf> shares = share_group(magnitudes, kept);
  const float step = shares.draws > 0 ? shares.total / static_cast<float>(shares.draws) : 0.0f;
  double variance = 0.0;
#pragma unroll
  for (int i = 0; i < kOf; ++i) {
    const double number = shares.left[i];
    variance += number * (static_cast<double>(step) - number);
  }
  return variance;
}

template <int kOf>
__device__ __forceinline__ double variance_of_two_draws(const float (&magnitudes)[kOf]) {
  double variance = 0.0;
  if (count_positive_of(magnitudes) <= 2) return variance;
#pragma unroll
  for (int i = 0; i < kOf; ++i) {
    const double number = magnitudes[i];
    if (number > 0.0) variance += number * (static_cast<double>(value_of_two_draws(magnitudes, i)) - number);
  }
  return variance;
}

// Adds a group of a random rule.
template <lpt_sparse_rule kRule, int kOf>
__device__ __forceinline__ void add_drawn_group(const MeasureJob &job, int64_t row, int64_t begin, SparseSums &sums) {
  float magnitudes[kOf];
#pragma unroll
  for (int i = 0; i < kOf; ++i) {
    magnitudes[i] = begin + i < job.columns ? add_number(job, row, begin + i, sums) : 0.0f;
  }
  if (!(sum_of_group(magnitudes) < bits_float(0x7F800000u))) {
    ++sums.special_groups;
  } else {
    sums.variance +=
        kRule == LPT_SPARSE_RULE_MVUE ? variance_of_shares(magnitudes, job.kept) : variance_of_two_draws(magnitudes);
  }
}

__device__ __forceinline__ void add_group(const MeasureJob &job, int64_t row, int64_t begin, SparseSums &sums) {
  const int64_t end = begin + job.of < job.columns ? begin + job.of : job.columns;
  float total = 0.0f;
  for (int64_t column = begin; column < end; ++column) total += add_number(job, row, column, sums);
  sums.special_groups += !(total < bits_float(0x7F800000u));
}

// kOf is 0 for rules that are not random: groups of any length.
template <lpt_sparse_rule kRule, int kOf>
__global__ void __launch_bounds__(kRowThreads) measure_rows(MeasureJob job) {
  const int64_t step = int64_t{gridDim.x} * kRowThreads;
  for (int64_t row = int64_t{blockIdx.x} * kRowThreads + threadIdx.x; row < job.rows; row += step) {
    SparseSums sums;
    for (int64_t begin = 0; begin < job.columns; begin += job.of) {
      if constexpr (kOf == 0) {
        add_group(job, row, begin, sums);
      } else {
        add_drawn_group<kRule, kOf>(job, row, begin, sums);
      }
    }
    job.sums[row] = sums;
  }
}

template <lpt_sparse_rule kRule, int kOf>
void launch(const MeasureJob &job, void *stream) {
  const int64_t blocks = (job.rows + kRowThreads - 1) / kRowThreads;
  const auto most = static_cast<int64_t>(kMostBlocks);
  LPT_LAUNCH((measure_rows<kRule, kOf>), dim3(static_cast<uint32_t>(blocks < most ? blocks : most)), dim3(kRowThreads),
             0, stream, job);
}

template <lpt_sparse_rule kRule>
void launch_drawn(const MeasureJob &job, void *stream) {
  return job.of == 4 ? launch<kRule, 4>(job, stream) : launch<kRule, 8>(job, stream);
}

}  // namespace

void sparse_measure_cuda(const SparseMeasureRequest &request, void *stream) {
  const MatrixView &source = request.source, &mask = request.mask;
  const MeasureJob job = {source.data,          static_cast<const uint8_t *>(mask.data),
                          request.sums,         source.rows,
                          source.columns,       source.row_stride,
                          source.column_stride, mask.row_stride,
                          mask.column_stride,   source.format.element,
                          request.kept,         request.of};
  if (job.rows == 0) return;
  switch (request.rule) {
    case LPT_SPARSE_RULE_MVUE:
      return launch_drawn<LPT_SPARSE_RULE_MVUE>(job, stream);
    case LPT_SPARSE_RULE_MVUE_TWO_DRAWS:
      return launch_drawn<LPT_SPARSE_RULE_MVUE_TWO_DRAWS>(job, stream);
    default:
      return launch<LPT_SPARSE_RULE_MAGNITUDE, 0>(job, stream);
  }
}

}  // namespace lpt
