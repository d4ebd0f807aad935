// Blocks of ggml: their types, bytes with finite values, and the values of the ggml formulas in double.
#pragma once

#include <cmath>

#include "tests/api/foreign_layout.hpp"

namespace lpt::test {

// Returns the value of an f16 code by its definition.
inline double half_number(uint32_t code) {
  const int exponent = static_cast<int>(code >> 10 & 31);
  const double fraction = static_cast<double>(code & 1023) / 1024;
  double value = exponent == 0 ? std::ldexp(fraction, -14) : std::ldexp(1 + fraction, exponent - 15);
  if (exponent == 31) value = fraction == 0 ? INFINITY : std::nan("");
  return (code >> 15) != 0 ? -value : value;
}

struct GgmlCase {
  lpt_format format;
  lpt_foreign_layout foreign_layout;
  size_t block_bytes;
};
constexpr GgmlCase kGgmlCases[] = {{LPT_FORMAT_INT8_1X32, LPT_FOREIGN_LAYOUT_GGML, 34},
                                   {LPT_FORMAT_INT4_1X32, LPT_FOREIGN_LAYOUT_GGML, 18},
                                   {LPT_FORMAT_UINT4_1X32, LPT_FOREIGN_LAYOUT_GGML_Q4_1, 20},
                                   {LPT_FORMAT_MXFP4, LPT_FOREIGN_LAYOUT_GGML, 17}};

constexpr double kDoubledE2m1[16] = {0, 1, 2, 3, 4, 6, 8, 12, -0.0, -1, -2, -3, -4, -6, -8, -12};

inline std::vector<double> ggml_numbers(const GgmlCase &of, const Bytes &bytes) {
  std::vector<double> numbers;
  for (size_t begin = 0; begin < bytes.size(); begin += of.block_bytes) {
    const uint8_t *block = &bytes[begin];
    const double d = half_number(static_cast<uint32_t>(block[0] | block[1] << 8));
    const double m = half_number(static_cast<uint32_t>(block[2] | block[3] << 8));
    const uint8_t *codes = block + of.block_bytes - (of.format == LPT_FORMAT_INT8_1X32 ? 32 : 16);
    for (int i = 0; i < 32; ++i) {
      const int half = i < 16 ? codes[i] & 15 : codes[i - 16] >> 4;
      if (of.format == LPT_FORMAT_INT8_1X32) numbers.push_back(d * static_cast<int8_t>(codes[i]));
      if (of.format == LPT_FORMAT_INT4_1X32) numbers.push_back(d * (half - 8));
      if (of.format == LPT_FORMAT_UINT4_1X32) numbers.push_back(d * half + m);
      if (of.format == LPT_FORMAT_MXFP4) numbers.push_back(std::ldexp(kDoubledE2m1[half], block[0] - 128));
    }
  }
  // The conversion to f32 rounds Q4_1, may overflow for MXFP4, and is exact for all other types.
  for (double &number : numbers) number = static_cast<double>(static_cast<float>(number));
  return numbers;
}

// Clears the top bit of an f16 exponent of 31, and the lowest bit of a scale of 255, so that every block is finite.
inline void make_finite(const GgmlCase &of, Bytes &bytes) {
  const size_t halves = of.format == LPT_FORMAT_MXFP4 ? 0 : of.format == LPT_FORMAT_UINT4_1X32 ? 2 : 1;
  for (size_t begin = 0; begin < bytes.size(); begin += of.block_bytes) {
    if (halves == 0 && bytes[begin] == 255) bytes[begin] = 254;
    for (size_t high = begin + 1; high < begin + 2 * halves; high += 2) {
      if ((bytes[high] & 0x7C) == 0x7C) bytes[high] &= 0xBF;
    }
  }
}

inline Bytes finite_blocks(const GgmlCase &of, uint64_t place, size_t count) {
  Bytes bytes = random_bytes(place, of.block_bytes * count);
  make_finite(of, bytes);
  return bytes;
}

inline Bytes operator+(Bytes a, const Bytes &b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// Returns a block of scale d and minimum m, both in f16. `codes` is the value of each of its 16 bytes of two codes.
inline Bytes q4_1_block(uint32_t d, uint32_t m, uint8_t codes) {
  return Bytes{static_cast<uint8_t>(d), static_cast<uint8_t>(d >> 8), static_cast<uint8_t>(m),
               static_cast<uint8_t>(m >> 8)} +
         Bytes(16, codes);
}

}  // namespace lpt::test
