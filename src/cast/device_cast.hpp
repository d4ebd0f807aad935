// Casts on a device: the rows of its plugin, queued one after the other.
#pragma once

#include "kernels/hadamard/hadamard.hpp"
#include "src/cast/cast.hpp"

namespace lpt {

Status cast_on_device(Context &context, const MatrixView &source, const MatrixView &target, const Cast &cast,
                      bool is_check_only);

// cast_outputs(), with statistics of the first output.
Status cast_outputs_on_device(Context &context, const MatrixView &source, const MatrixView (&outputs)[2],
                              const Cast &cast, bool is_check_only);

// Into scratch and back. Statistics count what the cast wrote.
Status cast_and_back_on_device(Context &context, const MatrixView &source, const Format &format,
                               const MatrixView &target, const Cast &cast, bool is_check_only);

// Random signs of `count` numbers.
Status signs_on_device(Context &context, const RandomSource &random, int8_t *signs, int64_t count);

// A vector of the caller's as f32 in scratch, `given` numbers repeated up to `count`: signs of int8, inverses of f32 and
// e8m0fnu. Its numbers are not looked at.
Status factors_on_device(Context &context, lpt_format format, const void *data, int64_t given, int64_t count,
                         bool is_check_only, const float **out_factors);

// Columns as rows, in scratch: kernels read adjacent numbers. The tensor scale is that of the source.
Status transpose_on_device(Context &context, const MatrixView &source, bool is_check_only, MatrixView &out_transposed);

}  // namespace lpt
