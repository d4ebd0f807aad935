// Casts between formats, as operations use them: views and numbers, no handles of the caller's options.
#pragma once

#include "kernels/hadamard/hadamard.hpp"
#include "kernels/quantize/quantize.hpp"
#include "src/call/operation.hpp"
#include "src/cast/scaler.hpp"

namespace lpt {

// What happens to the source before its scales are found. Vectors in f32.
struct CastPreprocess {
  int32_t hadamard_size = 0;       // 0: no rotation
  const float *signs = nullptr;    // 1 or -1
  int64_t sign_count = 0;          // hadamard_size, or the columns of the output
  const float *factors = nullptr;  // one for each column of the source, or none

  bool is_needed() const { return hadamard_size != 0 || factors != nullptr; }
};

// How to cast.
struct Cast {
  lpt_rounding rounding = LPT_ROUNDING_NEAREST_EVEN;
  lpt_overflow overflow = LPT_OVERFLOW_SATURATE;
  lpt_scale_rule rule = LPT_SCALE_RULE_DEFAULT;
  RandomSource random{};
  Scaler *scaler = nullptr;
  const uint8_t *smoothing = nullptr;  // e8m0fnu factors of the source's columns, which become the target's scales
  bool is_transposed = false;          // the target is columns × rows
  bool keeps_tensor_scale = false;
  const float *scale_list = nullptr;  // NULL: the list of Gaudi 2
  int32_t scale_list_count = 0;
  CastPreprocess preparation;
  CastStatistics *sums = nullptr;  // added to

  // Of two outputs of one cast on a device: the first one finds its scale, and the cast of the second one writes its codes.
  bool is_scale_only = false;
  const MatrixView *untransposed = nullptr;
};

void add_sums(const CastStatistics &from, CastStatistics &to);

// The rule that DEFAULT stands for, or a rejection if the target's scales have no such rule.
Status resolve_rule(const Format &target, lpt_rounding rounding, lpt_scale_rule rule, lpt_scale_rule &out_rule);

// Whether nothing in a format's elements or block scales can tell of a NaN; rejected where an infinity has to be reported too.
Status find_hidden_nan(const Format &target, lpt_overflow overflow, bool &out_hides_nan);

// The error of a cast that found such a NaN, where no tensor scale carries it.
Status unrepresentable_nan(const Format &target);

// A target without its block scales: what is cast where smoothing factors become them.
Status without_block_scales(const MatrixView &target, MatrixView &out_inner);

// What follows runs where the context works; views are checked. With `is_check_only` it selects kernels and stops.

// Casts `source` to `target`.
Status cast_matrix(Context &context, const MatrixView &source, const MatrixView &target, const Cast &cast,
                   bool is_check_only);

// Casts `source` to the outputs that have a format, the first as it is, the second transposed; on the CPU in one read.
Status cast_outputs(Context &context, const MatrixView &source, const MatrixView (&outputs)[2], const Cast &cast,
                    bool is_check_only);

// Casts `source` to `format` and back into `target`, which may lie where the source does.
Status cast_and_back(Context &context, const MatrixView &source, const Format &format, const MatrixView &target,
                     const Cast &cast, bool is_check_only);

Status dequantize_matrix(Context &context, const MatrixView &source, const MatrixView &target, bool is_check_only);

// Rotates rows of wide floats to wide floats.
Status rotate_matrix(Context &context, const HadamardRequest &rotation, bool is_check_only);

// The same numbers in another wide format; a copy where the formats agree.
Status widen_matrix(Context &context, const MatrixView &source, const MatrixView &target, bool is_check_only);

}  // namespace lpt
