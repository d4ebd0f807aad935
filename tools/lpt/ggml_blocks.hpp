// Decodes blocks of ggml that no single tensor of LPT expresses: blocks with quantized scales, with minima, or with a table of
// values.
//
// docs/reference/cli.md has their bytes. A value is scale · code - minimum. The product is exact in f32, so only the
// subtraction rounds.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace tool {

// The content of a block.
struct BlockParts {
  static constexpr int kMostElements = 256, kMostGroups = 16;

  int8_t codes[kMostElements];
  float scales[kMostGroups];
  float minima[kMostGroups];
};

// A type of blocks: 32 elements of Q4_1, Q5_0, Q5_1 and IQ4_NL, 256 of the other types.
struct BlockCoding {
  int32_t group;  // adjacent elements with one scale and one minimum
  bool has_minima;
  int32_t center;           // code - center is an element of `format`
  std::string_view format;  // of the codes with their scales; the values are then too large by minimum - scale · center
  void (*split)(const uint8_t *block, BlockParts &parts);

  // Writes the values of one block. An f16 scale that is infinite or NaN gives infinities and NaN, as in ggml.
  void decode(const uint8_t *block, std::span<float> values) const;
};

extern const BlockCoding kQ4_1, kQ5_0, kQ5_1, kQ2_K, kQ3_K, kQ4_K, kQ5_K, kQ6_K, kIq4Nl, kIq4Xs;

}  // namespace tool
