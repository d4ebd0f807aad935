// Casts on a device: kernels of its plugin, queued in order.
#pragma once

#include "kernels/hadamard/hadamard.hpp"
#include "src/cast/cast.hpp"

namespace lpt {

Status cast_on_device(Context &context, const MatrixView &source, const MatrixView &target, const Cast &cast,
                      bool is_check_only);

// cast_outputs() for devices; also counts the statistics of the first output.
Status cast_outputs_on_device(Context &context, const MatrixView &source, const MatrixView (&outputs)[2],
                              const Cast &cast, bool is_check_only);

// Casts to scratch and back. Statistics count the codes in scratch.
Status cast_and_back_on_device(Context &context, const MatrixView &source, const Format &format,
                               const MatrixView &target, const Cast &cast, bool is_check_only);

// Writes `count` random signs.
Status signs_on_device(Context &context, const RandomSource &random, int8_t *signs, int64_t count);

// Converts a vector of the caller to f32 factors in scratch: signs of int8, inverses of f32 and e8m0fnu. The `given` elements
// are repeated up to `count`. The values are not checked.
Status factors_on_device(Context &context, lpt_format format, const void *data, int64_t given, int64_t count,
                         bool is_check_only, const float **out_factors);

// Transposes a matrix in scratch, because kernels read adjacent elements. The tensor scale is that of the source.
Status transpose_on_device(Context &context, const MatrixView &source, bool is_check_only, MatrixView &out_transposed);

}  // namespace lpt
