// Preparation of one panel of b, its scales and its zero points for tiles. Included by ISA files: all functions have internal
// linkage.
#pragma once

#include "kernels/gemm/x86/avx512_panels.hpp"
#include "kernels/gemm/x86/avx512_vnni_rows.hpp"
#include "kernels/gemm/x86/avx512_vnni_steps.hpp"

namespace lpt {
namespace {

struct PanelBuffers {
  uint8_t *codes;     // of a panel, if b is not packed
  uint8_t *spread;    // codes of kPanelLanes rows, if codes of b do not have 4 or 8 bits
  uint8_t *blocks;    // scales or zero points of a panel in the order of blocks, if b is not packed
  float *scales;      // of groups
  uint32_t *addends;  // for each group, if b has zero points
  uint32_t *doubled;  // bit l: the start values of the sums of lane l are doubled
};

struct Columns {
  const MatrixView &view;
  const Integers &integers;
  const Groups &groups;
  int64_t k;
  PanelKind kind;
  GroupScales scales;
  PanelBuffers buffers;
};

inline int64_t block_count(const Columns &columns) { return panel_blocks(columns.view.format, columns.k); }

// Transposes bytes of at most 16 rows at `offsets`: the bytes of one block become adjacent. Processes four blocks at a time.
inline void transpose_blocks(const uint8_t *from, __m512i offsets, int64_t lanes, int64_t blocks, uint8_t *to) {
  const __mmask16 mask = first16(lanes);
  int64_t block = 0;
  for (; block + 4 <= blocks; block += 4) {
    __m512i dwords = _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), mask, offsets, from + block, 1);
    for (int64_t b = block; b < block + 4; ++b, dwords = _mm512_srli_epi32(dwords, 8)) {
      _mm_storeu_si128(reinterpret_cast<__m128i *>(to + b * kPanelLanes), _mm512_cvtepi32_epi8(dwords));
    }
  }
  int32_t offset[16];
  _mm512_storeu_si512(offset, offsets);
  for (; block < blocks; ++block) {
    for (int64_t l = 0; l < lanes; ++l) to[block * kPanelLanes + l] = from[offset[l] + block];
  }
}

// Returns scales or zero points, of `size` bytes each, in the order of panels.
inline const uint8_t *blocks_of(const Columns &columns, const void *data, int64_t size, int64_t lane, int64_t lanes) {
  constexpr int64_t kLargestStride = 1 << 25;  // offsets of 32 rows fit int32
  const auto *bytes = static_cast<const uint8_t *>(data);
  const int64_t blocks = block_count(columns), stride = columns.view.block_scale_stride * size;
  uint8_t *const to = columns.buffers.blocks;
  if (columns.view.layout == Layout::kPanels) return bytes + lane * blocks * size;
  const int32_t shift = shift_of(columns.view.format.block_rows);
  if (size == 1 && stride <= kLargestStride) {
    const __m512i each = _mm512_set1_epi32(static_cast<int32_t>(stride));
    const __m512i first = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    for (int64_t l = 0; l < lanes; l += 16) {
      const int64_t row = (lane + l) >> shift, left = (lane + l) - (row << shift);
      const __m512i rows = _mm512_srl_epi32(_mm512_add_epi32(first, _mm512_set1_epi32(static_cast<int32_t>(left))),
                                            _mm_cvtsi32_si128(shift));
      transpose_blocks(bytes + row * stride, _mm512_mullo_epi32(rows, each), min_i64(lanes - l, 16), blocks, to + l);
    }
    return to;
  }
  for (int64_t l = 0; l < lanes; ++l) {
    const uint8_t *const from = bytes + ((lane + l) >> shift) * stride;
    uint8_t *const each = to + l * size;
    if (size == 1) {
      for (int64_t block = 0; block < blocks; ++block) each[block * kPanelLanes] = from[block];
    } else {
      for (int64_t block = 0; block < blocks; ++block) memcpy(each + 4 * block * kPanelLanes, from + 4 * block, 4);
    }
  }
  return to;
}

// Writes the scales of a full panel. scales_of() converts 16 codes in dwords. Returns false if a code is not among the
// kModerateCount codes from `least` on.
template <typename ScalesOf>
bool write_scales_by(const Columns &columns, const uint8_t *from, int32_t shift, uint8_t least, ScalesOf scales_of) {
  __m256i largest = _mm256_setzero_si256();
  float *to = columns.buffers.scales;
  for (int64_t group = 0; group < columns.groups.count; ++group, to += kPanelLanes) {
    const __m256i codes = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(from + (group >> shift) * kPanelLanes));
    largest = _mm256_max_epu8(largest, _mm256_sub_epi8(codes, _mm256_set1_epi8(static_cast<char>(least))));
    _mm512_storeu_ps(to, scales_of(_mm512_cvtepu8_epi32(_mm256_castsi256_si128(codes))));
    _mm512_storeu_ps(to + 16, scales_of(_mm512_cvtepu8_epi32(_mm256_extracti128_si256(codes, 1))));
  }
  return _mm256_cmpge_epu8_mask(largest, _mm256_set1_epi8(kModerateCount)) == 0;
}

// Writes moderate powers of two by shifts only. `bias` is subtracted from their exponents.
inline bool write_powers(const Columns &columns, const uint8_t *from, int32_t shift, int32_t bias) {
  const __m512i taken = _mm512_set1_epi32(bias << 23);
  return write_scales_by(columns, from, shift, kLeastModerate, [taken](__m512i codes) {
    return _mm512_castsi512_ps(_mm512_sub_epi32(_mm512_slli_epi32(codes, 23), taken));
  });
}

// Writes positive e4m3fn, kModerateCount of them. Their bits are those of an f32 whose exponent is 120 too small.
inline bool write_positive_e4m3(const Columns &columns, const uint8_t *from, int32_t shift) {
  const __m512 unit = _mm512_set1_ps(0x1p120f);
  return write_scales_by(columns, from, shift, 0, [unit](__m512i codes) {
    return _mm512_mul_ps(_mm512_castsi512_ps(_mm512_slli_epi32(codes, 20)), unit);
  });
}

// Returns the scales of a packed panel if they are in the form that write_column_scales() writes; else NULL.
inline const float *scales_in_place(const Columns &columns, int64_t lane) {
  const GroupScales &scales = columns.scales;
  const bool is_same = scales.is_along_k && scales.format == LPT_FORMAT_F32 && scales.shift == columns.groups.shift;
  if (!is_same || columns.view.layout != Layout::kPanels) return nullptr;
  return reinterpret_cast<const float *>(scales.data) + lane * block_count(columns);
}

// Writes the scales of a panel, group by group. Returns whether they are exponents without bias, which requires `are_exponents`
// and moderate powers of two.
inline bool write_column_scales(const Columns &columns, int64_t lane, int64_t lanes, bool are_exponents) {
  float *to = columns.buffers.scales;
  const int64_t groups = columns.groups.count;
  if (!columns.scales.is_along_k) {
    const __m512 one = _mm512_set1_ps(are_exponents ? 0.0f : 1.0f);
    for (int64_t i = 0; i < 2 * groups; ++i) _mm512_storeu_ps(to + 16 * i, one);
    return are_exponents;
  }
  const lpt_format format = columns.scales.format;
  const int64_t size = scale_bytes(format);
  const uint8_t *const from = blocks_of(columns, columns.scales.data, size, lane, lanes);
  const int32_t shift = columns.scales.shift - columns.groups.shift;
  if (lanes == kPanelLanes && format == LPT_FORMAT_E8M0FNU) {
    if (write_powers(columns, from, shift, are_exponents ? 127 : 0)) return are_exponents;
  }
  if (lanes == kPanelLanes && format == LPT_FORMAT_E4M3FN && write_positive_e4m3(columns, from, shift)) return false;
  const __mmask16 low_mask = first16(lanes), high_mask = lanes > 16 ? first16(lanes - 16) : 0;
  for (int64_t group = 0; group < groups; ++group, to += kPanelLanes) {
    const uint8_t *const block = from + (group >> shift) * kPanelLanes * size;
    _mm512_storeu_ps(to, load_scales(format, block, low_mask));
    _mm512_storeu_ps(to + 16, load_scales(format, block + 16 * size, high_mask));
  }
  return false;
}

// Writes the addends that convert codes to unsigned bytes. code - zero point + 128 is a byte if the zero point is at most 128.
// For larger zero points, 128 more is added, and the start value of the sum is doubled.
inline void write_addends(const Columns &columns, int64_t lane, int64_t lanes) {
  const uint8_t *const from = blocks_of(columns, columns.view.zero_points, 1, lane, lanes);
  const int32_t shift = shift_of(columns.view.format.block_columns) - columns.groups.shift;
  const auto mask = static_cast<__mmask32>(lane_mask(0, lanes));
  const __m512i copies = _mm512_broadcast_i32x4(_mm_setr_epi8(0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12));
  const __m256i offset = _mm256_set1_epi8(-128);
  uint32_t *to = columns.buffers.addends;
  for (int64_t group = 0; group < columns.groups.count; ++group, to += kPanelLanes) {
    const __m256i zeros = _mm256_maskz_loadu_epi8(mask, from + (group >> shift) * kPanelLanes);
    const __mmask32 is_beyond = _mm256_cmpgt_epu8_mask(zeros, offset);
    const __m256i first = _mm256_sub_epi8(offset, zeros);
    const __m256i addends = _mm256_mask_sub_epi8(first, is_beyond, first, offset);
    for (int64_t v = 0; v < 2; ++v) {
      const __m128i half = v == 0 ? _mm256_castsi256_si128(addends) : _mm256_extracti128_si256(addends, 1);
      _mm512_storeu_si512(to + 16 * v, _mm512_shuffle_epi8(_mm512_cvtepu8_epi32(half), copies));
    }
    columns.buffers.doubled[group] = is_beyond;
  }
}

// Converts 2-bit codes and ternary digits to nibbles, and 6-bit codes to bytes.
inline const uint8_t *spread_codes(const Columns &columns, int64_t lane, int64_t lanes, int64_t stride) {
  const Element element = element_of(columns.view.format.element);
  for (int64_t l = 0; l < lanes; ++l) {
    uint8_t *const to = columns.buffers.spread + l * stride;
    const int64_t first = (lane + l) * columns.view.row_stride;
    for (int64_t p = 0; p < columns.k; p += 32) {
      const int64_t count = min_i64(columns.k - p, 32);
      const auto *data = static_cast<const uint8_t *>(columns.view.data);
      const __m256i codes = _mm256_maskz_mov_epi8(first32(count), load_codes32(element, data, first + p, count));
      if (element.bits == 6) {
        _mm256_mask_storeu_epi8(to + p, first32(count), codes);
      } else {
        const __m128i pairs = _mm256_cvtepi16_epi8(_mm256_maddubs_epi16(codes, _mm256_set1_epi16(0x1001)));
        _mm_mask_storeu_epi8(to + p / 2, first16((count + 1) / 2), pairs);
      }
    }
  }
  return columns.buffers.spread;
}

// The scales of the next panel, which tiles prefetch. The hardware does not prefetch them, because they are not one stream over
// all panels.
struct NextScales {
  const uint8_t *data;
  int64_t group_bytes;  // 0: no scales, or scales that are copied to another order
};

inline NextScales next_scales_of(const Columns &columns, int64_t lane) {
  const auto *none = static_cast<const uint8_t *>(columns.view.data);
  if (columns.view.layout != Layout::kPanels || !columns.scales.is_along_k) return {none, 0};
  const int64_t block_bytes = kPanelLanes * scale_bytes(columns.scales.format);
  const int64_t panel = lane / kPanelLanes + 1;
  return {columns.scales.data + panel * block_count(columns) * block_bytes, block_bytes};
}

// Returns the panel from lane `lane` on.
inline const uint8_t *panel_of(const Columns &columns, int64_t lane, int64_t lanes) {
  const auto *data = static_cast<const uint8_t *>(columns.view.data);
  if (columns.view.layout == Layout::kPanels) return data + lane / kPanelLanes * panel_bytes(columns.kind, columns.k);
  const bool is_nibbles = columns.kind == PanelKind::kNibbles;
  const int32_t bits = is_nibbles ? 4 : 8;
  const bool is_spread = columns.integers.is_ternary || columns.integers.bits != bits;
  const int64_t stride = (is_spread ? round_up(columns.k, 2) : columns.view.row_stride) * bits / 8;
  const uint8_t *const rows = is_spread ? spread_codes(columns, lane, lanes, stride) : data + lane * stride;
  const auto pack = is_nibbles                              ? pack_nibbles
                    : columns.kind == PanelKind::kByteQuads ? pack_byte_quads
                                                            : pack_byte_pairs;
  pack(rows, stride, lanes, columns.k, columns.buffers.codes);
  return columns.buffers.codes;
}

// Returns the prefetch stream of the first of `tiles` tiles that read a panel; `panels` panels are read alternately.
inline PrefetchStream prefetch_of(const Columns &columns, const uint8_t *panel, int64_t tiles, int64_t panels) {
  if (columns.view.layout != Layout::kPanels) return {panel, 0};
  const uint8_t *const next = panel + panels * panel_bytes(columns.kind, columns.k);
  return prefetch_of(tiles, panel, 1, next, panel_step_bytes(columns.kind));
}

}  // namespace
}  // namespace lpt
