// Numbers as their signs and one scale: what an average of one bit is made of. Plain loops: a message of 2048 numbers costs
// more than to reckon them.
#pragma once

#include <cstdint>

namespace lpt {

// Adds `more` to `numbers`.
void add_numbers(const float *more, int64_t elements, float *numbers);

// The sum of squares, in f64: eight sums, the i-th of elements 8k + i, added up in their order.
double squares_of(const float *numbers, int64_t elements);

// Writes bit i of `signs`, lowest first: 1 where number i is at least 0, and the rest of a last byte 0. What the signs times
// scale leave out becomes the numbers.
void take_signs(float scale, int64_t elements, float *numbers, uint8_t *signs);

// numbers(i) = scale, or -scale where bit i is 0.
void scale_signs(const uint8_t *signs, float scale, int64_t elements, float *numbers);

// Adds the same to the numbers.
void add_signs(const uint8_t *signs, float scale, int64_t elements, float *numbers);

}  // namespace lpt
