// Elements as signs and one scale: the compression of a one-bit average. Scalar loops suffice: sending a message of 2048
// elements takes longer than computing it.
#pragma once

#include <cstdint>

namespace lpt {

// Adds `more` to `numbers`.
void add_numbers(const float *more, int64_t elements, float *numbers);

// Returns the sum of squares in f64: eight sums, sum i of elements 8k + i, which are added in their order.
double squares_of(const float *numbers, int64_t elements);

// Writes the signs: bit i, lowest first, is 1 if element i is at least 0. Unused bits of the last byte are 0. Subtracts the
// signs times `scale` from the elements, which leaves the error of the compression.
void quantize_to_signs(float scale, int64_t elements, float *numbers, uint8_t *signs);

// Sets numbers(i) to `scale`, or to -scale if bit i is 0.
void scale_signs(const uint8_t *signs, float scale, int64_t elements, float *numbers);

// Adds `scale`, or -scale if bit i is 0, to numbers(i).
void add_signs(const uint8_t *signs, float scale, int64_t elements, float *numbers);

}  // namespace lpt
