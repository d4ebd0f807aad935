// Code that GEMM kernels by 4-bit weights share, for all tile shapes: the job, the compile-time parameters, and the epilogue of
// a sum.
#pragma once

#include "kernels/gemm/cuda/cuda_halves.hpp"
#include "kernels/gemm/gemm.hpp"

namespace lpt {

struct FourBitsJob {
  const void *a, *b, *b_scales;
  const float *a_scales, *a_tensor, *b_tensor, *bias;  // NULL: none
  void *c;
  int64_t m, n, k;
  int64_t a_stride, b_stride, c_stride;  // in elements; b_stride in bytes
  int64_t a_scale_stride, b_scale_stride;
  float alpha, beta;
  lpt_format c_format;
};

// Compile-time parameters of a kernel. f32 scales multiply the sums of groups. 8-bit scales multiply the converted weights.
template <lpt_format kA, lpt_format kScale, int32_t kGroup>
struct FourBitsKind {
  static constexpr Dtype kDtype = kA == LPT_FORMAT_BF16 ? Dtype::kBf16 : Dtype::kF16;
  static constexpr bool kIsInteger = kScale == LPT_FORMAT_F32;
  static constexpr bool kIsNarrow = kIsInteger && kGroup == 32;
};

__device__ __forceinline__ float read_c(const FourBitsJob &job, int64_t index) {
  if (job.c_format == LPT_FORMAT_F32) return static_cast<const float *>(job.c)[index];
  const uint32_t code = static_cast<const uint16_t *>(job.c)[index];
  return job.c_format == LPT_FORMAT_BF16 ? number_of<Dtype::kBf16>(code) : number_of<Dtype::kF16>(code);
}

__device__ __forceinline__ void write_c(const FourBitsJob &job, int64_t index, float number) {
  if (job.c_format == LPT_FORMAT_F32) {
    static_cast<float *>(job.c)[index] = number;
    return;
  }
  const uint32_t code = job.c_format == LPT_FORMAT_BF16 ? code_of<Dtype::kBf16>(number) : code_of<Dtype::kF16>(number);
  static_cast<uint16_t *>(job.c)[index] = static_cast<uint16_t>(code);
}

__device__ __forceinline__ void finish(const FourBitsJob &job, int64_t token, int64_t row, float sum) {
  float factor = job.alpha;
  if (job.a_tensor != nullptr) factor *= *job.a_tensor;
  if (job.b_tensor != nullptr) factor *= *job.b_tensor;
  if (job.a_scales != nullptr) factor *= job.a_scales[token * job.a_scale_stride];
  const int64_t index = token * job.c_stride + row;
  float number = sum * factor;
  if (job.beta != 0.0f) number += job.beta * read_c(job, index);
  if (job.bias != nullptr) number += job.bias[row];
  write_c(job, index, number);
}

inline FourBitsJob four_bits_job(const GemmRequest &request) {
  const MatrixView &a = request.a, &b = request.b, &c = request.c;
  FourBitsJob job = {};
  job.a = a.data;
  job.b = b.data;
  job.b_scales = b.block_scales;
  job.a_scales = a.format.has_block_scale() ? static_cast<const float *>(a.block_scales) : nullptr;
  job.a_tensor = a.format.has_tensor_scale() ? a.tensor_scale : nullptr;
  job.b_tensor = b.format.has_tensor_scale() ? b.tensor_scale : nullptr;
  job.bias = static_cast<const float *>(request.bias);
  job.c = c.data;
  job.m = request.m;
  job.n = request.n;
  job.k = request.k;
  job.a_stride = a.row_stride;
  job.b_stride = b.row_stride / 2;
  job.c_stride = c.row_stride;
  job.a_scale_stride = a.block_scale_stride;
  job.b_scale_stride = b.block_scale_stride;
  job.alpha = static_cast<float>(request.alpha);
  job.beta = static_cast<float>(request.beta);
  job.c_format = c.format.element;
  return job;
}

}  // namespace lpt
