// The element types that AMX multiplies: bf16, which represents the decoded elements exactly, or int8. Included by ISA files:
// all functions have internal linkage.
//
// A Numbers type defines the elements per step and the type of the sums. It decodes a lane of a, an unpacked panel of b, or a
// packed panel of b. A step of a lane fills its row of a tile. The row of the next step is two tiles further.
#pragma once

#include "kernels/gemm/x86/amx_operands.hpp"
#include "kernels/gemm/x86/avx512_bf16_elements.hpp"
#include "kernels/gemm/x86/avx512_vnni_bytes.hpp"

namespace lpt {
namespace {

constexpr int64_t kNextStep = 2 * kUnitBytes;

// Converts 64 floats of 8 bits to bf16, in order.
inline void decode_bytes(const ByteLookUp &look_up, __m512i codes, __m512i (&halves)[2]) {
  const __m512i ordered = _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 4, 1, 5, 2, 6, 3, 7), codes);
  const __m512i low = look_up.low(ordered), high = look_up.high(ordered, ordered, _mm512_set1_epi8(INT8_MIN));
  halves[0] = _mm512_unpacklo_epi8(low, high);
  halves[1] = _mm512_unpackhi_epi8(low, high);
}

// Multiplies both bf16 of each dword by the scale of its lane. Only called if the products are exact in bf16.
inline __m512i scale_pairs(__m512i pairs, __m512 scales) {
  const __m512i upper = _mm512_set1_epi32(static_cast<int32_t>(0xFFFF0000));
  const __m512 first = _mm512_castsi512_ps(_mm512_slli_epi32(pairs, 16));
  const __m512 second = _mm512_castsi512_ps(_mm512_and_si512(pairs, upper));
  return upper_halves(_mm512_mul_ps(first, scales), _mm512_mul_ps(second, scales));
}

struct Bf16Elements {
  using Unit = AmxBf16;
  using Sums = FloatSums;
  static constexpr int64_t kOfStep = 32;
  static constexpr bool kHasGroups = true;

  static void pack_lane(const Operand &a, int64_t lane, uint8_t *to) {
    switch (a.decoder) {
      case Decoder::kEightBits:
        return a.is_scaled_along_k ? pack_lane<Decoder::kEightBits>(a, lane, to) : pack_lane_of_bytes(a, lane, to);
      case Decoder::kInt8:
        return pack_lane<Decoder::kInt8>(a, lane, to);
      case Decoder::kTable:
        return pack_lane<Decoder::kTable>(a, lane, to);
      case Decoder::kBf16:
        return pack_lane<Decoder::kBf16>(a, lane, to);
      case Decoder::kF16:
      case Decoder::kF32:
        return;  // f16 and f32 are not exact in bf16: unsupported
    }
  }

  static void pack_plain_panel(const Operand &b, int64_t first, int64_t lanes, uint8_t *panel) {
    pack<Bf16, 4>(b, first, lanes, reinterpret_cast<uint32_t *>(panel));
    fill_panel((b.k + 1) / 2, panel);
  }

  static void pack_packed_panel(const PackedPanels &packed, int64_t panel, const Depth &depth, uint8_t *to) {
    const PanelOperand &b = packed.b;
    const int64_t block = panel * b.blocks + depth.first / packed.block_length;
    PanelTile tile = {};
    tile.steps = (depth.count + 1) / 2;
    tile.group_steps = min_i64(round_up(tile.steps, 2), packed.block_length / 2);
    tile.b[0] = b.data + panel * b.bytes + depth.first / kPanelSteps * panel_step_bytes(b.kind);
    tile.scale_format = b.scale_format;
    tile.scale_stride = b.scale_bytes;
    if (b.scales != nullptr) tile.scales[0] = b.scales + block * b.scale_bytes;
    if (b.zeros != nullptr) tile.zeros[0] = b.zeros + block * kPanelLanes;
    const bool is_scaled = packed.is_scaled_along_k && !packed.is_grouped;
    switch (b.kind) {
      case PanelKind::kNibbles:
        return b.zeros != nullptr ? expand<NibbleAnyZeroLines>(packed, tile, is_scaled, to)
                                  : expand<NibbleLines>(packed, tile, is_scaled, to);
      case PanelKind::kBytePairs:
        return b.element.is_fnuz ? expand<ByteLines<true>>(packed, tile, is_scaled, to)
                                 : expand<ByteLines<false>>(packed, tile, is_scaled, to);
      case PanelKind::kByteQuads:
        return b.zeros != nullptr ? expand<WideIntegerLines<true>>(packed, tile, is_scaled, to)
                                  : expand<IntegerLines>(packed, tile, is_scaled, to);
      default:
        return expand<HalfLines>(packed, tile, is_scaled, to);
    }
  }

 private:
  static void pack_lane_of_bytes(const Operand &a, int64_t lane, uint8_t *to) {
    const ByteLookUp look_up(*a.table);
    const uint8_t *const from = a.data + lane * a.row_stride;
    for (int64_t p = 0; p < a.k; p += 2 * kOfStep, to += 2 * kNextStep) {
      __m512i halves[2];
      decode_bytes(look_up, _mm512_maskz_loadu_epi8(lane_mask(0, a.k - p), from + p), halves);
      _mm512_store_si512(to, halves[0]);
      if (p + kOfStep < a.k) _mm512_store_si512(to + kNextStep, halves[1]);
    }
  }

  template <Decoder kDecoder>
  static void pack_lane(const Operand &a, int64_t lane, uint8_t *to) {
    for (int64_t p = 0; p < a.k; p += kOfStep, to += kNextStep) {
      _mm512_store_si512(to, Bf16::decode<kDecoder>(a, lane, p, min_i64(a.k - p, kOfStep)));
    }
  }

  template <typename Source>
  static void expand(const PackedPanels &packed, const PanelTile &tile, bool is_scaled, uint8_t *to) {
    expand_panel<Source>(tile, packed.tables, to);
    fill_panel(round_up(tile.steps, Source::kSteps), to);
    if (!is_scaled) return;
    for (int64_t first = 0, group = 0; first < tile.steps; first += tile.group_steps, ++group) {
      const uint8_t *const from = tile.scales[0] + group * tile.scale_stride;
      const __m512 low = load_scales_of_lanes(tile.scale_format, from, 0);
      const __m512 high = load_scales_of_lanes(tile.scale_format, from, 1);
      const int64_t steps = min_i64(tile.group_steps, tile.steps - first);
      for (int64_t step = 0; step < steps; ++step, to += kPairRowBytes) {
        _mm512_store_si512(to, scale_pairs(_mm512_load_si512(to), low));
        _mm512_store_si512(to + kStepBytes, scale_pairs(_mm512_load_si512(to + kStepBytes), high));
      }
    }
  }
};

// int8 without conversion, and exact sums in int32.
struct Int8Elements {
  using Unit = AmxInt8;
  using Sums = IntegerSums;
  static constexpr int64_t kOfStep = 64;
  static constexpr bool kHasGroups = false;

  static void pack_lane(const Operand &a, int64_t lane, uint8_t *to) {
    const uint8_t *const from = a.data + lane * a.row_stride;
    for (int64_t p = 0; p < a.k; p += kOfStep, to += kNextStep) {
      _mm512_store_si512(to, _mm512_maskz_loadu_epi8(lane_mask(0, a.k - p), from + p));
    }
  }

  static void pack_plain_panel(const Operand &b, int64_t first, int64_t lanes, uint8_t *panel) {
    pack<Int8, 4>(b, first, lanes, reinterpret_cast<uint32_t *>(panel));
    fill_panel((b.k + 3) / 4, panel);
  }

  static void pack_packed_panel(const PackedPanels &packed, int64_t panel, const Depth &depth, uint8_t *to) {
    const int64_t dwords = (depth.count + 3) / 4;
    memcpy(to, packed.b.data + panel * packed.b.bytes + depth.first / 4 * kPairRowBytes,
           static_cast<size_t>(dwords * kPairRowBytes));
    fill_panel(dwords, to);
  }
};

}  // namespace
}  // namespace lpt
