// 2:4 matrices of codes of 1, 2 and 4 bytes, 512 columns at a time. Included by an ISA file only.
#pragma once

#include "kernels/common/ahead.hpp"
#include "kernels/common/avx512_places.hpp"
#include "kernels/sparse_pack/sparse_pack.hpp"

namespace lpt {
namespace {

template <typename Mask>
inline Mask bits_at(const uint8_t *bits, int64_t column) {
  Mask mask;
  memcpy(&mask, bits + column / 8, sizeof mask);
  return mask;
}

struct Bytes1 {
  using Code = uint8_t;
  using Mask = uint64_t;
  static __m512i load(Mask mask, const Code *from) { return _mm512_maskz_loadu_epi8(mask, from); }
  static __m512i gather(Mask mask, __m512i codes) { return _mm512_maskz_compress_epi8(mask, codes); }
  static __m512i spread(Mask mask, __m512i codes) { return _mm512_maskz_expand_epi8(mask, codes); }
};

struct Bytes2 {
  using Code = uint16_t;
  using Mask = uint32_t;
  static __m512i load(Mask mask, const Code *from) { return _mm512_maskz_loadu_epi16(mask, from); }
  static __m512i gather(Mask mask, __m512i codes) { return _mm512_maskz_compress_epi16(mask, codes); }
  static __m512i spread(Mask mask, __m512i codes) { return _mm512_maskz_expand_epi16(mask, codes); }
};

struct Bytes4 {
  using Code = uint32_t;
  using Mask = uint16_t;
  static __m512i load(Mask mask, const Code *from) { return _mm512_maskz_loadu_epi32(mask, from); }
  static __m512i gather(Mask mask, __m512i codes) { return _mm512_maskz_compress_epi32(mask, codes); }
  static __m512i spread(Mask mask, __m512i codes) { return _mm512_maskz_expand_epi32(mask, codes); }
};

template <typename Kind>
constexpr int64_t kCodes = 64 / static_cast<int64_t>(sizeof(typename Kind::Code));  // of a register

// A whole line of memory, past the caches where it is one.
template <bool kIsStreamed>
inline void write_line(void *to, __m512i codes) {
  if (kIsStreamed) {
    _mm512_stream_si512(static_cast<__m512i *>(to), codes);
  } else {
    _mm512_storeu_si512(to, codes);
  }
}

// 512 columns.
template <typename Kind, bool kIsStreamed = false>
inline void compress_step(const typename Kind::Code *source, const uint8_t *mask, typename Kind::Code *stored,
                          uint8_t *indices) {
  using Mask = typename Kind::Mask;
  alignas(64) uint8_t kept[64];
  alignas(64) uint8_t two[64];
  for (int64_t c = 0; c < kSparseStep; c += 64) {
    const __m512i bytes = _mm512_loadu_si512(mask + c);
    const uint64_t bits = _mm512_test_epi8_mask(bytes, bytes);
    memcpy(kept + c / 8, &bits, sizeof bits);
  }
  gather_places(kept, two, indices);
  const auto half = [&](int64_t c) {
    return Kind::gather(bits_at<Mask>(two, c), Kind::load(bits_at<Mask>(kept, c), source + c));
  };
  for (int64_t c = 0; c < kSparseStep; c += 2 * kCodes<Kind>) {
    const __m512i low = half(c);
    const __m256i high = _mm512_castsi512_si256(half(c + kCodes<Kind>));
    write_line<kIsStreamed>(stored + c / 2, _mm512_inserti64x4(low, high, 1));
  }
}

template <typename Kind, bool kIsStreamed = false>
inline void decompress_step(const typename Kind::Code *stored, const uint8_t *indices, typename Kind::Code *target) {
  alignas(64) uint8_t bits[64];
  spread_places(indices, bits);
  for (int64_t c = 0; c < kSparseStep; c += kCodes<Kind>) {
    const __m256i half = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(stored + c / 2));
    const __m512i codes = Kind::spread(bits_at<typename Kind::Mask>(bits, c), _mm512_castsi256_si512(half));
    write_line<kIsStreamed>(target + c, codes);
  }
}

// What is left of a row, in a step of its own that is filled up with zeros.
template <typename Kind>
struct LastStep {
  using Code = typename Kind::Code;
  Code dense[kSparseStep] = {};
  Code stored[kSparseStep / 2] = {};
  uint8_t mask[kSparseStep] = {};
  uint8_t indices[64];

  void compress(const Code *source, const uint8_t *source_mask, int64_t columns, Code *to, uint8_t *to_indices) {
    memcpy(dense, source, static_cast<size_t>(columns) * sizeof(Code));
    memcpy(mask, source_mask, static_cast<size_t>(columns));
    compress_step<Kind>(dense, mask, stored, indices);
    memcpy(to, stored, static_cast<size_t>((columns + 3) / 4 * 2) * sizeof(Code));
    memcpy(to_indices, indices, static_cast<size_t>((columns + 7) / 8));
  }
  void decompress(const Code *from, const uint8_t *from_indices, int64_t columns, Code *target) {
    memset(indices, 0x44, sizeof indices);
    memcpy(indices, from_indices, static_cast<size_t>((columns + 7) / 8));
    memcpy(stored, from, static_cast<size_t>((columns + 3) / 4 * 2) * sizeof(Code));
    decompress_step<Kind>(stored, indices, dense);
    memcpy(target, dense, static_cast<size_t>(columns) * sizeof(Code));
  }
};

// Whether each row begins with a line.
template <typename Kind>
bool has_lines(const MatrixView &matrix) {
  const auto begin = reinterpret_cast<uintptr_t>(matrix.data);
  return begin % 64 == 0 && static_cast<uintptr_t>(matrix.row_stride) * sizeof(typename Kind::Code) % 64 == 0;
}

template <typename Kind>
void compress_rows(const CompressRequest &request) {
  using Code = typename Kind::Code;
  const int64_t columns = request.source.columns;
  const bool is_past_caches = request.is_streamed && has_lines<Kind>(request.stored);
  const int64_t rows = request.source.rows;
  const Ahead source_ahead =
      ahead_over(request.source.data, rows * request.source.row_stride * static_cast<int64_t>(sizeof(Code)));
  const Ahead mask_ahead = ahead_over(request.mask.data, rows * request.mask.row_stride);
  for (int64_t row = 0; row < request.source.rows; ++row) {
    const Code *source = static_cast<const Code *>(request.source.data) + row * request.source.row_stride;
    const uint8_t *mask = static_cast<const uint8_t *>(request.mask.data) + row * request.mask.row_stride;
    Code *stored = static_cast<Code *>(request.stored.data) + row * request.stored.row_stride;
    uint8_t *indices = request.indices + row * request.index_stride;
    int64_t c = 0;
    for (; c + kSparseStep <= columns; c += kSparseStep) {
      mask_ahead.ask<8>(mask + c);
      for (int64_t line = 0; line < kSparseStep; line += 8 * kCodes<Kind>) source_ahead.ask<8>(source + c + line);
      if (is_past_caches) {
        compress_step<Kind, true>(source + c, mask + c, stored + c / 2, indices + c / 8);
      } else {
        compress_step<Kind>(source + c, mask + c, stored + c / 2, indices + c / 8);
      }
    }
    if (c == columns) continue;
    LastStep<Kind> last;
    last.compress(source + c, mask + c, columns - c, stored + c / 2, indices + c / 8);
  }
  if (is_past_caches) _mm_sfence();
}

template <typename Kind>
void decompress_rows(const DecompressRequest &request) {
  using Code = typename Kind::Code;
  const int64_t columns = request.target.columns;
  const bool is_past_caches = request.is_streamed && has_lines<Kind>(request.target);
  const int64_t stored_bytes = request.target.rows * request.stored.row_stride * static_cast<int64_t>(sizeof(Code));
  const Ahead ahead = ahead_over(request.stored.data, stored_bytes);
  for (int64_t row = 0; row < request.target.rows; ++row) {
    const Code *stored = static_cast<const Code *>(request.stored.data) + row * request.stored.row_stride;
    const uint8_t *indices = request.indices + row * request.index_stride;
    Code *target = static_cast<Code *>(request.target.data) + row * request.target.row_stride;
    int64_t c = 0;
    for (; c + kSparseStep <= columns; c += kSparseStep) {
      for (int64_t line = 0; line < kSparseStep / 2; line += 4 * kCodes<Kind>) ahead.ask<4>(stored + c / 2 + line);
      if (is_past_caches) {
        decompress_step<Kind, true>(stored + c / 2, indices + c / 8, target + c);
      } else {
        decompress_step<Kind>(stored + c / 2, indices + c / 8, target + c);
      }
    }
    if (c == columns) continue;
    LastStep<Kind> last;
    last.decompress(stored + c / 2, indices + c / 8, columns - c, target + c);
  }
  if (is_past_caches) _mm_sfence();
}

}  // namespace
}  // namespace lpt
