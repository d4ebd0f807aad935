// Decodes blocks of ggml that no format of LPT expresses: blocks with quantized scales, with minima, or with a table of values.
//
// docs/reference/cli.md has their bytes. A value is scale · code - minimum. The product is exact in f32, so only the
// subtraction rounds.
#pragma once

#include <cstdint>

namespace tool {

// Writes the values of one block: 32 of Q5_0, Q5_1 and IQ4_NL, 256 of the other types. An f16 scale that is infinite or NaN gives
// infinities and NaN, as in ggml.
using DecodeBlock = void (*)(const uint8_t *block, float *values);

void decode_q5_0(const uint8_t *block, float *values);
void decode_q5_1(const uint8_t *block, float *values);
void decode_iq4_nl(const uint8_t *block, float *values);
void decode_q2_k(const uint8_t *block, float *values);
void decode_q3_k(const uint8_t *block, float *values);
void decode_q4_k(const uint8_t *block, float *values);
void decode_q5_k(const uint8_t *block, float *values);
void decode_q6_k(const uint8_t *block, float *values);
void decode_iq4_xs(const uint8_t *block, float *values);

}  // namespace tool
