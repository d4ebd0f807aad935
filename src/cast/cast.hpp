// Casts between formats for other operations. Arguments are views and numbers, not handles of the public options.
#pragma once

#include <functional>

#include "kernels/hadamard/hadamard.hpp"
#include "kernels/quantize/quantize.hpp"
#include "src/call/operation.hpp"
#include "src/cast/scaler.hpp"

namespace lpt {

// Preprocessing of the source before its scales are computed. Vectors are f32.
struct CastPreprocess {
  int32_t hadamard_size = 0;       // 0: no rotation
  const float *signs = nullptr;    // 1 or -1
  const float *factors = nullptr;  // one for each column of the source, or NULL

  bool is_needed() const { return hadamard_size != 0 || factors != nullptr; }
};

// Replaces the amax of a part of a tensor by that of the full tensor.
struct AmaxResult {
  float amax = 0.0f;
  bool has_nan = false;
};
using ShareAmax = std::function<Status(AmaxResult &)>;

// Parameters of a cast.
struct Cast {
  lpt_rounding rounding = LPT_ROUNDING_NEAREST_EVEN;
  lpt_overflow overflow = LPT_OVERFLOW_SATURATE;
  lpt_scale_rule rule = LPT_SCALE_RULE_DEFAULT;
  RandomSource random{};
  Scaler *scaler = nullptr;
  const uint8_t *smoothing = nullptr;  // e8m0fnu factors of the columns of the source; the block scales of the target
  bool is_transposed = false;          // the target is columns × rows
  bool keeps_tensor_scale = false;
  const float *scale_list = nullptr;  // NULL: the list of Gaudi 2
  int32_t scale_list_count = 0;
  CastPreprocess preparation;
  CastStatistics *sums = nullptr;         // NULL, or the statistics that the cast adds to
  const ShareAmax *share_amax = nullptr;  // NULL: the source is the full tensor

  // For two outputs that one device kernel writes: the cast of the first computes only its scale. The cast of the second writes
  // the codes of both.
  bool is_scale_only = false;
  const MatrixView *untransposed = nullptr;
};

void add_sums(const CastStatistics &from, CastStatistics &to);

// Resolves DEFAULT to a rule. Rejects a rule that does not apply to the scales of the target.
Status resolve_rule(const Format &target, lpt_rounding rounding, lpt_scale_rule rule, lpt_scale_rule &out_rule);

// Finds out whether neither elements nor block scales of a format can represent a NaN. Rejects such a format if overflow is
// INFINITE, because it cannot represent an infinity either.
Status find_hidden_nan(const Format &target, lpt_overflow overflow, bool &out_hides_nan);

// Returns the error for a source with a NaN that neither the codes nor a tensor scale of the target can represent.
Status unrepresentable_nan(const Format &target);

// Returns the view of a target without its block scales. A cast with e8m0fnu smoothing writes it; the smoothing factors
// become the block scales.
Status without_block_scales(const MatrixView &target, MatrixView &out_inner);

// The functions below run on the device of the context. Callers check the views. With `is_check_only` they only select
// kernels.

// Casts `source` to `target`.
Status cast_matrix(Context &context, const MatrixView &source, const MatrixView &target, const Cast &cast,
                   bool is_check_only);

// Casts `source` to each output that has a format. The second output is transposed. The CPU reads the source once for both.
Status cast_outputs(Context &context, const MatrixView &source, const MatrixView (&outputs)[2], const Cast &cast,
                    bool is_check_only);

// Casts `source` to `format` and back to `target`. `target` may be the same memory as `source`.
Status cast_and_back(Context &context, const MatrixView &source, const Format &format, const MatrixView &target,
                     const Cast &cast, bool is_check_only);

Status dequantize_matrix(Context &context, const MatrixView &source, const MatrixView &target, bool is_check_only);

// Rotates the rows of a wide float matrix. The result is a wide float matrix.
Status rotate_matrix(Context &context, const HadamardRequest &rotation, bool is_check_only);

// Converts a matrix to another wide float format. Copies it if the formats are equal.
Status widen_matrix(Context &context, const MatrixView &source, const MatrixView &target, bool is_check_only);

}  // namespace lpt
