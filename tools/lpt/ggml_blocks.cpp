#include "ggml_blocks.hpp"

#include <bit>
#include <cmath>

namespace tool {

namespace {

constexpr int kBlock = 32;
constexpr int kSuperBlock = BlockParts::kMostElements;
// Of IQ4_NL and IQ4_XS.
constexpr int8_t kLevels[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

float f16_at(const uint8_t *bytes) {
  const uint32_t code = bytes[0] | static_cast<uint32_t>(bytes[1]) << 8;
  const uint32_t exponent = code >> 10 & 31, mantissa = code & 1023, sign = code >> 15 << 31;
  if (exponent == 0) {
    const float magnitude = std::ldexp(static_cast<float>(mantissa), -24);
    return sign != 0 ? -magnitude : magnitude;
  }
  return std::bit_cast<float>(sign | (exponent == 31 ? 255 : exponent + 112) << 23 | mantissa << 13);
}

// The scale and minimum of a group.
struct Scale {
  float factor = 0.0f;
  float minimum = 0.0f;
};

// Fills the parts of a block. `scale_of` maps the index of a group of `group` elements, `code_of` that of an element.
template <int elements, int group, typename ScaleOf, typename CodeOf>
void fill(BlockParts &parts, ScaleOf scale_of, CodeOf code_of) {
  for (int i = 0; i < elements / group; ++i) {
    const Scale scale = scale_of(i);
    parts.scales[i] = scale.factor;
    parts.minima[i] = scale.minimum;
  }
  for (int i = 0; i < elements; ++i) parts.codes[i] = static_cast<int8_t>(code_of(i));
}

// Four bits of element i. A run of `run` bytes has its first elements in the low halves, the next ones in the high halves.
template <int run>
int four_bits(const uint8_t *bytes, int i) {
  return bytes[i / (2 * run) * run + i % run] >> i / run % 2 * 4 & 15;
}

// Two bits of element i: 32 bytes have 128 elements, the first 32 in the lowest bits.
int two_bits(const uint8_t *bytes, int i) { return bytes[i / 128 * 32 + i % 32] >> i / 32 % 4 * 2 & 3; }

// One bit of element i: 32 bytes have 256 elements, the first 32 in the lowest bits.
int one_bit(const uint8_t *bytes, int i) { return bytes[i % 32] >> i / 32 & 1; }

// The fifth bit of element i of a block of 32.
int high_bit(const uint8_t *bytes, int i) { return (bytes[i / 8] >> i % 8 & 1) << 4; }

// The scale and minimum i of Q4_K and Q5_K: eight of each, of six bits, in twelve bytes after d and dmin.
Scale packed_scale(const uint8_t *block, int i) {
  const uint8_t *low = block + 4, *both = low + 8;
  const int scale = i < 4 ? low[i] & 63 : (both[i - 4] & 15) | (low[i - 4] >> 6 << 4);
  const int minimum = i < 4 ? low[i + 4] & 63 : both[i - 4] >> 4 | (low[i] >> 6 << 4);
  return {f16_at(block) * static_cast<float>(scale), f16_at(block + 2) * static_cast<float>(minimum)};
}

// d, m, codes.
void split_q4_1(const uint8_t *block, BlockParts &parts) {
  fill<kBlock, kBlock>(
      parts,
      [&](int) {
        return Scale{f16_at(block), -f16_at(block + 2)};
      },
      [&](int i) { return four_bits<16>(block + 4, i); });
}

// d, high bits, low bits.
void split_q5_0(const uint8_t *block, BlockParts &parts) {
  fill<kBlock, kBlock>(
      parts, [&](int) { return Scale{f16_at(block)}; },
      [&](int i) { return (four_bits<16>(block + 6, i) | high_bit(block + 2, i)) - 16; });
}

// d, m, high bits, low bits.
void split_q5_1(const uint8_t *block, BlockParts &parts) {
  fill<kBlock, kBlock>(
      parts,
      [&](int) {
        return Scale{f16_at(block), -f16_at(block + 2)};
      },
      [&](int i) { return four_bits<16>(block + 8, i) | high_bit(block + 4, i); });
}

// d, codes.
void split_iq4_nl(const uint8_t *block, BlockParts &parts) {
  fill<kBlock, kBlock>(
      parts, [&](int) { return Scale{f16_at(block)}; }, [&](int i) { return kLevels[four_bits<16>(block + 2, i)]; });
}

// 16 scales and minima of four bits, codes, d, dmin.
void split_q2_k(const uint8_t *block, BlockParts &parts) {
  const float factor = f16_at(block + 80), minimum = f16_at(block + 82);
  fill<kSuperBlock, 16>(
      parts,
      [&](int i) {
        return Scale{factor * static_cast<float>(block[i] & 15), minimum * static_cast<float>(block[i] >> 4)};
      },
      [&](int i) { return two_bits(block + 16, i); });
}

// Inverted high bits, low bits, 16 scales of six bits: low halves in eight bytes, high pairs in four; d.
void split_q3_k(const uint8_t *block, BlockParts &parts) {
  const float factor = f16_at(block + 108);
  const uint8_t *low = block + 96, *high = low + 8;
  fill<kSuperBlock, 16>(
      parts,
      [&](int i) {
        const int scale = (low[i % 8] >> i / 8 * 4 & 15) | (high[i % 4] >> i / 4 * 2 & 3) << 4;
        return Scale{factor * static_cast<float>(scale - 32)};
      },
      [&](int i) { return two_bits(block + 32, i) - 4 * (1 - one_bit(block, i)); });
}

// d, dmin, scales, codes.
void split_q4_k(const uint8_t *block, BlockParts &parts) {
  fill<kSuperBlock, 32>(
      parts, [&](int i) { return packed_scale(block, i); }, [&](int i) { return four_bits<32>(block + 16, i); });
}

// d, dmin, scales, high bits, low bits.
void split_q5_k(const uint8_t *block, BlockParts &parts) {
  fill<kSuperBlock, 32>(
      parts, [&](int i) { return packed_scale(block, i); },
      [&](int i) { return four_bits<32>(block + 48, i) | one_bit(block + 16, i) << 4; });
}

// Low four bits, high two bits, 16 signed scales, d.
void split_q6_k(const uint8_t *block, BlockParts &parts) {
  const float factor = f16_at(block + 208);
  fill<kSuperBlock, 16>(
      parts, [&](int i) { return Scale{factor * static_cast<float>(static_cast<int8_t>(block[192 + i]))}; },
      [&](int i) { return (four_bits<64>(block, i) | two_bits(block + 128, i) << 4) - 32; });
}

// d, high pairs of eight scales, their low halves, codes.
void split_iq4_xs(const uint8_t *block, BlockParts &parts) {
  const float factor = f16_at(block);
  const int high = block[2] | block[3] << 8;
  fill<kSuperBlock, 32>(
      parts,
      [&](int i) {
        const int scale = (block[4 + i / 2] >> i % 2 * 4 & 15) | (high >> 2 * i & 3) << 4;
        return Scale{factor * static_cast<float>(scale - 32)};
      },
      [&](int i) { return kLevels[four_bits<16>(block + 8, i)]; });
}

}  // namespace

const BlockCoding kQ4_1 = {32, true, 8, "int4_1x32", split_q4_1};
const BlockCoding kQ5_0 = {32, false, 0, "int8_1x32", split_q5_0};
const BlockCoding kQ5_1 = {32, true, 16, "int8_1x32", split_q5_1};
const BlockCoding kQ2_K = {16, true, 2, "int2/1x16/f32", split_q2_k};
const BlockCoding kQ3_K = {16, false, 0, "int4/1x16/f32", split_q3_k};
const BlockCoding kQ4_K = {32, true, 8, "int4_1x32", split_q4_k};
const BlockCoding kQ5_K = {32, true, 16, "int8_1x32", split_q5_k};
const BlockCoding kQ6_K = {16, false, 0, "int8/1x16/f32", split_q6_k};
const BlockCoding kIq4Nl = {32, false, 0, "int8_1x32", split_iq4_nl};
const BlockCoding kIq4Xs = {32, false, 0, "int8_1x32", split_iq4_xs};

void BlockCoding::decode(const uint8_t *block, std::span<float> values) const {
  BlockParts parts;
  split(block, parts);
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t j = i / static_cast<size_t>(group);
    values[i] = parts.scales[j] * static_cast<float>(parts.codes[i]) - parts.minima[j];
  }
}

}  // namespace tool
