// Rows of blocks with zero points, a strip of blocks at a time: what the instruction sets share. Included by an ISA
// file only.
#pragma once

#include <cstring>

#include "kernels/quantize/added_words.hpp"
#include "src/formats/block_scale.hpp"

namespace lpt {
namespace {

constexpr int64_t kZeroBlocks = 16;           // of a strip
constexpr int64_t kWidestOfZeroBlocks = 256;  // wider ones are a strip each

// The blocks of a strip; those that are not there are all zero.
struct ZeroStrip {
  alignas(64) float depth[kZeroBlocks];  // magnitude of the least finite number or 0
  alignas(64) float high[kZeroBlocks];
  alignas(64) float scale[kZeroBlocks];
  alignas(64) float inverse[kZeroBlocks];  // a magnitude
  alignas(64) int32_t zero[kZeroBlocks];
  uint32_t has_nan, has_infinity;  // a bit for each block
};

// A part of a row: whole blocks, but the last one may be short.
struct ZeroStretch {
  const char *from;
  uint8_t *to;
  int64_t row, column, count, blocks;
};

inline float number_of(lpt_format plain, const char *data, int64_t index) {
  if (plain == LPT_FORMAT_F32) {
    float number;
    memcpy(&number, data + 4 * index, sizeof number);
    return number;
  }
  const Element element = plain == LPT_FORMAT_F16 ? kElementF16 : kElementBf16;
  return decode(element, load_code(element, data, index));
}

// The ends of blocks in which there are infinities or NaN.
[[gnu::noinline]] void find_ends_plainly(lpt_format plain, const ZeroStretch &stretch, int64_t block,
                                         ZeroStrip &strip) {
  for (int64_t b = 0; b < stretch.blocks; ++b) {
    float low = 0.0f, high = 0.0f;
    for (int64_t i = b * block; i < (b + 1) * block && i < stretch.count; ++i) {
      const float number = number_of(plain, stretch.from, i);
      const uint32_t magnitude = float_bits(number) & 0x7FFFFFFFu;
      strip.has_nan |= static_cast<uint32_t>(magnitude > kFloatInfinityBits) << b;
      strip.has_infinity |= static_cast<uint32_t>(magnitude == kFloatInfinityBits) << b;
      if (magnitude >= kFloatInfinityBits) continue;
      low = number < low ? number : low;
      high = number > high ? number : high;
    }
    strip.depth[b] = -low;
    strip.high[b] = high;
  }
}

inline void report_ends(const QuantizeRequest &request, const ZeroStrip &strip) {
  if (request.has_nan != nullptr && strip.has_nan != 0) *request.has_nan = true;
  if (request.amax == nullptr) return;
  for (int64_t b = 0; b < kZeroBlocks; ++b) {
    const float amax = strip.high[b] > strip.depth[b] ? strip.high[b] : strip.depth[b];
    if (amax > *request.amax) *request.amax = amax;
  }
}

// Where the scales and zero points of a stretch begin.
struct ZeroPlace {
  float *scales;
  uint8_t *zero_points;
};

inline void read_scales(const ZeroPlace &place, int64_t blocks, ZeroStrip &strip) {
  for (int64_t b = 0; b < blocks; ++b) {
    strip.inverse[b] = __builtin_fabsf(inverse_scale(place.scales[b]));
    strip.zero[b] = place.zero_points[b];
  }
}

inline void store_scales(const QuantizeRequest &request, const ZeroPlace &place, int64_t blocks,
                         const ZeroStrip &strip) {
  for (int64_t b = 0; b < blocks; ++b) place.scales[b] = strip.scale[b];
  for (int64_t b = 0; b < blocks; ++b) place.zero_points[b] = static_cast<uint8_t>(strip.zero[b]);
  const uint32_t poisoned = strip.has_nan | (request.overflow == LPT_OVERFLOW_INFINITE ? strip.has_infinity : 0);
  if (poisoned == 0) [[likely]]
    return;
  for (int64_t b = 0; b < blocks; ++b) {
    if ((poisoned >> b & 1) != 0) place.scales[b] = bits_float(kFloatNanBits);
  }
}

// `isa` has
//   find_ends(stretch, block, strip)          depth and high of all blocks; false if a NaN or an infinity was met
//   settle(strip)                             scale, inverse and zero from them
//   cast(stretch, strip, block, is_careful)   the codes; careful where products may be any number
template <typename Isa>
void cast_zero_points(const QuantizeRequest &request, Isa &isa) {
  const MatrixView &source = request.source;
  const MatrixView &target = request.target;
  const BlockGrid grid = block_grid(target.format, target.rows, target.columns);
  const int64_t block = grid.block_columns;
  const int64_t most = block <= kWidestOfZeroBlocks ? kZeroBlocks : 1;
  const int64_t bytes = source.format.element == LPT_FORMAT_F32 ? 4 : 2;
  const int64_t bits = element_of(target.format.element).bits;
  const bool is_fixed = request.rule == LPT_SCALE_RULE_FIXED;
  const bool needs_ends = !is_fixed || request.amax != nullptr || request.has_nan != nullptr;
  ZeroStrip strip = {};
  for (int64_t row = 0; row < target.rows; ++row) {
    for (int64_t first = 0; first < grid.columns; first += most) {
      const int64_t blocks = grid.columns - first < most ? grid.columns - first : most;
      const int64_t column = first * block;
      const int64_t left = target.columns - column;
      const ZeroStretch stretch = {static_cast<const char *>(source.data) + (row * source.row_stride + column) * bytes,
                                   static_cast<uint8_t *>(target.data) + (row * target.row_stride + column) * bits / 8,
                                   row,
                                   column,
                                   left < blocks * block ? left : blocks * block,
                                   blocks};
      const int64_t index = row * target.block_scale_stride + first;
      const ZeroPlace place = {static_cast<float *>(target.block_scales) + index, target.zero_points + index};
      bool is_careful = is_fixed;
      strip.has_nan = strip.has_infinity = 0;
      if (needs_ends) {
        if (!isa.find_ends(stretch, block, strip)) [[unlikely]] {
          find_ends_plainly(source.format.element, stretch, block, strip);
          is_careful = true;
        }
        report_ends(request, strip);
      }
      if (is_fixed) {
        read_scales(place, blocks, strip);
      } else {
        isa.settle(strip);
        store_scales(request, place, blocks, strip);
      }
      isa.cast(stretch, strip, block, is_careful);
    }
  }
}

}  // namespace
}  // namespace lpt
