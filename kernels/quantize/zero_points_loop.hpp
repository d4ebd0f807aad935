// Loop over rows of blocks with zero points, one slab of blocks per step, shared by all instruction sets. Included by an ISA
// file only.
#pragma once

#include <cstring>

#include "kernels/quantize/added_words.hpp"
#include "src/formats/block_scale.hpp"

namespace lpt {
namespace {

constexpr int64_t kZeroBlocks = 16;           // blocks of a slab
constexpr int64_t kWidestOfZeroBlocks = 256;  // columns; each wider block is a slab

// The blocks of a slab; unused entries are zero.
struct ZeroSlab {
  alignas(64) float depth[kZeroBlocks];  // magnitude of min(0, smallest finite element)
  alignas(64) float high[kZeroBlocks];
  alignas(64) float scale[kZeroBlocks];
  alignas(64) float inverse[kZeroBlocks];  // magnitude
  alignas(64) int32_t zero[kZeroBlocks];
  uint32_t has_nan, has_infinity;  // bit b: block b
};

// A span of a row: whole blocks, except that the last one may be short.
struct ZeroBlockSpan {
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

// Computes the extremes of blocks that contain infinities or NaN.
[[gnu::noinline]] void find_ends_scalar(lpt_format plain, const ZeroBlockSpan &span, int64_t block, ZeroSlab &slab) {
  for (int64_t b = 0; b < span.blocks; ++b) {
    float low = 0.0f, high = 0.0f;
    for (int64_t i = b * block; i < (b + 1) * block && i < span.count; ++i) {
      const float number = number_of(plain, span.from, i);
      const uint32_t magnitude = float_bits(number) & 0x7FFFFFFFu;
      slab.has_nan |= static_cast<uint32_t>(magnitude > kFloatInfinityBits) << b;
      slab.has_infinity |= static_cast<uint32_t>(magnitude == kFloatInfinityBits) << b;
      if (magnitude >= kFloatInfinityBits) continue;
      low = number < low ? number : low;
      high = number > high ? number : high;
    }
    slab.depth[b] = -low;
    slab.high[b] = high;
  }
}

inline void report_ends(const QuantizeRequest &request, const ZeroSlab &slab) {
  if (request.has_nan != nullptr && slab.has_nan != 0) *request.has_nan = true;
  if (request.amax == nullptr) return;
  for (int64_t b = 0; b < kZeroBlocks; ++b) {
    const float amax = slab.high[b] > slab.depth[b] ? slab.high[b] : slab.depth[b];
    if (amax > *request.amax) *request.amax = amax;
  }
}

// Addresses of the first scale and zero point of a span.
struct ZeroPlace {
  float *scales;
  uint8_t *zero_points;
};

inline void read_scales(const ZeroPlace &place, int64_t blocks, ZeroSlab &slab) {
  for (int64_t b = 0; b < blocks; ++b) {
    slab.inverse[b] = __builtin_fabsf(inverse_scale(place.scales[b]));
    slab.zero[b] = place.zero_points[b];
  }
}

inline void store_scales(const QuantizeRequest &request, const ZeroPlace &place, int64_t blocks, const ZeroSlab &slab) {
  for (int64_t b = 0; b < blocks; ++b) place.scales[b] = slab.scale[b];
  for (int64_t b = 0; b < blocks; ++b) place.zero_points[b] = static_cast<uint8_t>(slab.zero[b]);
  const uint32_t poisoned = slab.has_nan | (request.overflow == LPT_OVERFLOW_INFINITE ? slab.has_infinity : 0);
  if (poisoned == 0) [[likely]]
    return;
  for (int64_t b = 0; b < blocks; ++b) {
    if ((poisoned >> b & 1) != 0) place.scales[b] = bits_float(kFloatNanBits);
  }
}

// Casts a matrix. `isa` provides
//   find_ends(span, block, slab)          computes depth and high of all blocks; returns false for a NaN or an infinity
//   settle(slab)                          computes scale, inverse and zero from them
//   cast(span, slab, block, is_careful)   computes the codes; is_careful: scaled values may be any f32
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
  ZeroSlab slab = {};
  for (int64_t row = 0; row < target.rows; ++row) {
    for (int64_t first = 0; first < grid.columns; first += most) {
      const int64_t blocks = grid.columns - first < most ? grid.columns - first : most;
      const int64_t column = first * block;
      const int64_t left = target.columns - column;
      const ZeroBlockSpan span = {static_cast<const char *>(source.data) + (row * source.row_stride + column) * bytes,
                                  static_cast<uint8_t *>(target.data) + (row * target.row_stride + column) * bits / 8,
                                  row,
                                  column,
                                  left < blocks * block ? left : blocks * block,
                                  blocks};
      const int64_t index = row * target.block_scale_stride + first;
      const ZeroPlace place = {static_cast<float *>(target.block_scales) + index, target.zero_points + index};
      bool is_careful = is_fixed;
      slab.has_nan = slab.has_infinity = 0;
      if (needs_ends) {
        if (!isa.find_ends(span, block, slab)) [[unlikely]] {
          find_ends_scalar(source.format.element, span, block, slab);
          is_careful = true;
        }
        report_ends(request, slab);
      }
      if (is_fixed) {
        read_scales(place, blocks, slab);
      } else {
        isa.settle(slab);
        store_scales(request, place, blocks, slab);
      }
      isa.cast(span, slab, block, is_careful);
    }
  }
}

}  // namespace
}  // namespace lpt
