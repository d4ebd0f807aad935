// Casts between formats.
#pragma once

#include "src/ops/operation.hpp"
#include "src/ops/scaler.hpp"

namespace lpt {

// The cast of one matrix inside an operation: options without handles, which the caller has checked.
struct Cast {
  lpt_rounding rounding = LPT_ROUNDING_NEAREST_EVEN;
  lpt_overflow overflow = LPT_OVERFLOW_SATURATE;
  lpt_scale_rule rule = LPT_SCALE_RULE_DEFAULT;
  RandomSource random{};
  Scaler *scaler = nullptr;
  const uint8_t *smoothing = nullptr;  // e8m0fnu factors of the source's columns
  bool is_transposed = false;          // the target is columns × rows
};

// Numbers of lpt_quantize_options, in range and fit for the format.
Status check_cast_options(const lpt_quantize_options &options);
Status resolve_rule(const Format &target, lpt_rounding rounding, lpt_scale_rule rule, lpt_scale_rule &out_rule);

// Casts `source` to `target`; views are checked. With `is_check_only` it picks kernels and stops.
Status cast_matrix(Context &context, const MatrixView &source, const MatrixView &target, const Cast &cast,
                   bool is_check_only);

Status dequantize_matrix(Context &context, const MatrixView &source, const MatrixView &target, bool is_check_only);

// The same numbers in another wide format; a copy where the formats agree.
Status widen_matrix(Context &context, const MatrixView &source, const MatrixView &target, bool is_check_only);

Status quantize(Context &context, const Tensor *source, const lpt_quantize_options &options, Tensor *quantized,
                Tensor *transposed);
Status dequantize(Context &context, const Tensor *source, const lpt_dequantize_options &options, Tensor *output);

}  // namespace lpt
