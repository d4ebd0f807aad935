// Packing of rows of a as signed bytes, with the start value of the sums of each group and its scale. Included by ISA files:
// all functions have internal linkage.
//
// A row of the block has k bytes, padded with zeros to full vectors. Then follow, for each group, -128 · (the sum of its bytes)
// and the scale. The former is the start value of the sums, because columns are stored as value + 128. Rows are `stride` bytes
// apart, an odd number of lines, so that they map to different sets of a cache. With a single group, the start values of all
// rows follow the block instead, so that a tile reads them from one line. Bytes may then be read in place.
#pragma once

#include "kernels/gemm/x86/avx512_vnni_integers.hpp"

namespace lpt {
namespace {

struct RowLayout {
  int64_t start_offset, scale_offset, stride;
};

inline RowLayout row_layout_of(const Groups &groups) {
  const int64_t bytes = round_up(4 * groups.steps, 64);
  const int64_t group_bytes = round_up(4 * groups.count, 64);
  const int64_t stride = bytes + 2 * group_bytes;
  return {bytes, bytes + group_bytes, stride + (stride / 64 % 2 == 0 ? 64 : 0)};
}

// Returns the dwords for intermediate sums: one for every eight bytes of a row, and for full groups.
inline int64_t sum_buffer_count(const Groups &groups) {
  return round_up(greater(groups.count << (groups.shift - 3), round_up(4 * groups.steps, 64) / 8), 32);
}

// Powers of two are multiplied by adding their exponents, if all products are normal numbers. This holds if the scales of both
// operands are from 2^-63 to 2^63: exponents from 64 to 190.
constexpr int32_t kLeastModerate = 64;
constexpr int32_t kModerateCount = 127;

inline bool are_moderate(__m512 scales, __mmask16 mask) {
  const __m512i above = _mm512_sub_epi32(_mm512_castps_si512(scales), _mm512_set1_epi32(kLeastModerate << 23));
  return _mm512_mask_cmpge_epu32_mask(mask, above, _mm512_set1_epi32(kModerateCount << 23)) == 0;
}

struct PackedRows {
  const MatrixView &view;
  const Integers &integers;
  const Groups &groups;
  RowLayout layout;
  int64_t k;
  bool is_order_of_nibbles;  // k is stored in the order 0, 2, 1, 3
  int32_t *sums;             // sum_buffer_count() of them
};

// Converts 64 codes from `column` on to bytes. Bytes past `count` are 0.
inline __m512i decode_row(const PackedRows &rows, int64_t row, int64_t column, int64_t count) {
  const auto *data = static_cast<const uint8_t *>(rows.view.data);
  const int64_t index = row * rows.view.row_stride + column;
  if (rows.integers.bits == 8) return _mm512_maskz_loadu_epi8(lane_mask(0, count), data + index);
  if (rows.integers.bits == 4) {
    const auto mask = static_cast<__mmask32>(lane_mask(0, (count + 1) / 2));
    const __m512i words = _mm512_cvtepu8_epi16(_mm256_maskz_loadu_epi8(mask, data + index / 2));
    const __m512i nibbles = _mm512_and_si512(_mm512_or_si512(words, _mm512_slli_epi16(words, 4)), _mm512_set1_epi8(15));
    const __m512i values =
        _mm512_broadcast_i32x4(_mm_load_si128(reinterpret_cast<const __m128i *>(rows.integers.value)));
    return _mm512_maskz_shuffle_epi8(lane_mask(0, count), values, nibbles);
  }
  const Element element = element_of(rows.view.format.element);
  const __m256i low = load_codes32(element, data, index, count);
  const __m256i high = count > 32 ? load_codes32(element, data, index + 32, count - 32) : _mm256_setzero_si256();
  const __m512i codes = _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
  return _mm512_maskz_permutexvar_epi8(lane_mask(0, count), codes, _mm512_load_si512(rows.integers.value));
}

// Returns the sums of eight adjacent bytes.
inline __m256i sum_groups_of_8(__m512i bytes) {
  const __m512i flipped = _mm512_xor_si512(bytes, _mm512_set1_epi8(-128));  // + 128: vpsadbw sums unsigned bytes
  const __m256i sums = _mm512_cvtepi64_epi32(_mm512_sad_epu8(flipped, _mm512_setzero_si512()));
  return _mm256_sub_epi32(sums, _mm256_set1_epi32(8 * 128));
}

// Adds adjacent sums in place: `count` sums become half as many.
inline void fold(int32_t *sums, int64_t count) {
  const __m512i evens = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  const __m512i odds = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
  for (int64_t at = 0; at < count; at += 32) {
    const __m512i low = _mm512_loadu_si512(sums + at), high = _mm512_loadu_si512(sums + at + 16);
    const __m512i sum =
        _mm512_add_epi32(_mm512_permutex2var_epi32(low, evens, high), _mm512_permutex2var_epi32(low, odds, high));
    _mm512_storeu_si512(sums + at / 2, sum);
  }
}

// Writes the scales of the groups of one row. Returns false if a scale is not moderate.
inline bool write_scales(const PackedRows &rows, int64_t row, float *to) {
  const GroupScales scales = group_scales_of(rows.view, rows.k);
  if (!scales.is_along_k) return true;
  const int64_t size = scale_bytes(scales.format);
  const int64_t first = (row >> shift_of(rows.view.format.block_rows)) * rows.view.block_scale_stride;
  const int32_t shift = scales.shift - rows.groups.shift;  // log2 of the groups per scale
  const int64_t blocks = ((rows.k - 1) >> scales.shift) + 1;
  bool is_moderate = true;
  for (int64_t block = 0; block < blocks; block += 16) {
    const __mmask16 mask = first16(blocks - block);
    const __m512 values = load_scales(scales.format, scales.data + (first + block) * size, mask);
    is_moderate = is_moderate && are_moderate(values, mask);
    if (shift == 0) {
      _mm512_mask_storeu_ps(to + block, mask, values);
      continue;
    }
    alignas(64) float each[16];
    _mm512_store_ps(each, values);
    const int64_t end = min_i64((block + 16) << shift, rows.groups.count);
    for (int64_t group = block << shift; group < end; ++group) to[group] = each[(group >> shift) - block];
  }
  return is_moderate;
}

// Computes the sums of the groups of a row. rows.sums has the sums of eight bytes.
inline void add_up_groups(const PackedRows &rows) {
  const int64_t count = sum_buffer_count(rows.groups);
  for (int64_t i = rows.layout.start_offset / 8; i < count; ++i) rows.sums[i] = 0;
  for (int32_t level = 3; level < rows.groups.shift; ++level) fold(rows.sums, count >> (level - 3));
}

// Computes the start values of the sums of rows that are read in place. Several rows are processed together, because the
// additions of one row depend on each other. The next rows are prefetched.
template <int kRows>
void write_starts(const PackedRows &rows, int64_t row, int32_t *starts) {
  const auto *const from = static_cast<const uint8_t *>(rows.view.data) + row * rows.view.row_stride;
  const __m512i ones = _mm512_set1_epi8(1);
  __m512i sums[kRows] = {};
  for (int64_t at = 0; at < rows.k; at += 64) {
    const __mmask64 mask = lane_mask(0, rows.k - at);
#pragma GCC unroll 4
    for (int i = 0; i < kRows; ++i) {
      __builtin_prefetch(from + (i + kRows) * rows.view.row_stride + at);
      const __m512i bytes = _mm512_maskz_loadu_epi8(mask, from + i * rows.view.row_stride + at);
      sums[i] = _mm512_dpbusd_epi32(sums[i], ones, bytes);
    }
  }
#pragma GCC unroll 4
  for (int i = 0; i < kRows; ++i) starts[i] = -(_mm512_reduce_add_epi32(sums[i]) * (1 << kColumnOffsetBits));
}

// Copies a row of bytes with a single group, and computes the start value of its sums.
inline void copy_bytes(const PackedRows &rows, int64_t row, __m512i order, uint8_t *to, int32_t *start) {
  const auto *const from = static_cast<const uint8_t *>(rows.view.data) + row * rows.view.row_stride;
  __m512i sum = _mm512_setzero_si512();
  for (int64_t at = 0; at < rows.k; at += 64) {
    const __m512i bytes = at + 64 <= rows.k ? _mm512_loadu_si512(from + at)
                                            : _mm512_maskz_loadu_epi8(lane_mask(0, rows.k - at), from + at);
    sum = _mm512_dpbusd_epi32(sum, _mm512_set1_epi8(1), bytes);
    _mm512_storeu_si512(to + at, rows.is_order_of_nibbles ? _mm512_shuffle_epi8(bytes, order) : bytes);
  }
  *start = -(_mm512_reduce_add_epi32(sum) * (1 << kColumnOffsetBits));
}

// Decodes a row of any element, and computes the start values of the sums of its groups.
inline void decode_codes(const PackedRows &rows, int64_t row, __m512i order, uint8_t *to, int32_t *starts) {
  const bool is_one_group = rows.groups.count == 1;
  __m512i sum = _mm512_setzero_si512();
  for (int64_t column = 0; column < rows.layout.start_offset; column += 64) {
    const __m512i bytes = decode_row(rows, row, column, rows.k - column);
    if (is_one_group) {
      sum = _mm512_dpbusd_epi32(sum, _mm512_set1_epi8(1), bytes);
    } else {
      _mm256_storeu_si256(reinterpret_cast<__m256i *>(rows.sums + column / 8), sum_groups_of_8(bytes));
    }
    _mm512_storeu_si512(to + column, rows.is_order_of_nibbles ? _mm512_shuffle_epi8(bytes, order) : bytes);
  }
  if (is_one_group) {
    rows.sums[0] = _mm512_reduce_add_epi32(sum);
  } else {
    add_up_groups(rows);
  }
  for (int64_t group = 0; group < rows.groups.count; group += 16) {
    const __m512i sums = _mm512_loadu_si512(rows.sums + group);
    const __m512i added = _mm512_slli_epi32(sums, kColumnOffsetBits);
    const __mmask16 mask = first16(rows.groups.count - group);
    _mm512_mask_storeu_epi32(starts + group, mask, _mm512_sub_epi32(_mm512_setzero_si512(), added));
  }
}

// Packs one row of the block and the start values of its sums. Returns whether its scales are moderate.
inline bool pack_row(const PackedRows &rows, int64_t row, uint8_t *to, int32_t *starts) {
  const __m512i order = _mm512_broadcast_i32x4(_mm_setr_epi8(0, 2, 1, 3, 4, 6, 5, 7, 8, 10, 9, 11, 12, 14, 13, 15));
  if (rows.groups.count == 1 && rows.integers.bits == 8) {
    copy_bytes(rows, row, order, to, starts);
  } else {
    decode_codes(rows, row, order, to, starts);
  }
  return write_scales(rows, row, reinterpret_cast<float *>(to + rows.layout.scale_offset));
}

}  // namespace
}  // namespace lpt
