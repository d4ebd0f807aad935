// 2:4 matrices of codes of 4, 8, 16 and 32 bits, 512 columns at a time.
#include "kernels/sparse_pack/avx512_lines.hpp"
#include "kernels/sparse_pack/avx512_places.hpp"
#include "kernels/sparse_pack/walk.hpp"

namespace lpt {
namespace {

// Stores 64 bytes. If kIsStreamed, bypasses the caches; the address is then a cache line.
template <bool kIsStreamed>
inline void write_line(void *to, __m512i codes) {
  if (kIsStreamed) {
    _mm512_stream_si512(static_cast<__m512i *>(to), codes);
  } else {
    _mm512_storeu_si512(to, codes);
  }
}

// Bit masks of kept and of stored columns.
struct Columns {
  alignas(64) uint8_t kept[64];
  alignas(64) uint8_t two[64];  // two per group: kept columns, padded with the lowest others

  Columns(const uint8_t *mask, uint8_t *indices) {
    const auto bits = [&](int i) {
      const __m512i bytes = load_line(mask + 64 * i);
      return static_cast<int64_t>(_mm512_test_epi8_mask(bytes, bytes));
    };
    // Combined in registers, because a load that spans several recent stores stalls until all of them complete.
    const __m512i all = _mm512_setr_epi64(bits(0), bits(1), bits(2), bits(3), bits(4), bits(5), bits(6), bits(7));
    _mm512_storeu_si512(kept, all);
    gather_places(all, two, indices);
  }
};

// Mask operations on codes of kBits bits.
template <int kBits>
struct Lanes;

template <>
struct Lanes<8> {
  using Mask = uint64_t;
  static __m512i only(Mask mask, __m512i codes) { return _mm512_maskz_mov_epi8(mask, codes); }
  static __m512i gather(Mask mask, __m512i codes) { return _mm512_maskz_compress_epi8(mask, codes); }
  static __m512i spread(Mask mask, __m512i codes) { return _mm512_maskz_expand_epi8(mask, codes); }
};

template <>
struct Lanes<16> {
  using Mask = uint32_t;
  static __m512i only(Mask mask, __m512i codes) { return _mm512_maskz_mov_epi16(mask, codes); }
  static __m512i gather(Mask mask, __m512i codes) { return _mm512_maskz_compress_epi16(mask, codes); }
  static __m512i spread(Mask mask, __m512i codes) { return _mm512_maskz_expand_epi16(mask, codes); }
};

template <>
struct Lanes<32> {
  using Mask = uint16_t;
  static __m512i only(Mask mask, __m512i codes) { return _mm512_maskz_mov_epi32(mask, codes); }
  static __m512i gather(Mask mask, __m512i codes) { return _mm512_maskz_compress_epi32(mask, codes); }
  static __m512i spread(Mask mask, __m512i codes) { return _mm512_maskz_expand_epi32(mask, codes); }
};

template <int kCodeBits>
struct PackStep {
  static constexpr int64_t kBits = kCodeBits;
  static constexpr int64_t kColumns = kSparseStep;
  static constexpr int64_t kBytes = kBits / 8;
  static constexpr int64_t kCodes = 64 / kBytes;  // codes of a register
  using Kind = Lanes<kCodeBits>;
  using Mask = typename Kind::Mask;

  template <bool kIsStreamed>
  static void compress(const uint8_t *source, const uint8_t *mask, uint8_t *stored, uint8_t *indices) {
    const Columns columns(mask, indices);
    const auto half = [&](int64_t c) {
      const __m512i codes = Kind::only(mask_at<Mask>(columns.kept + c / 8), load_line(source + c * kBytes));
      return Kind::gather(mask_at<Mask>(columns.two + c / 8), codes);
    };
    for (int64_t c = 0; c < kColumns; c += 2 * kCodes) {
      const __m512i low = half(c);
      const __m256i high = _mm512_castsi512_si256(half(c + kCodes));
      write_line<kIsStreamed>(stored + c / 2 * kBytes, _mm512_inserti64x4(low, high, 1));
    }
  }

  template <bool kIsStreamed>
  static void decompress(const uint8_t *stored, const uint8_t *indices, uint8_t *target) {
    alignas(64) uint8_t bits[64];
    spread_places(indices, bits);
    for (int64_t c = 0; c < kColumns; c += kCodes) {
      const __m512i half = _mm512_castsi256_si512(load_half_line(stored + c / 2 * kBytes));
      write_line<kIsStreamed>(target + c * kBytes, Kind::spread(mask_at<Mask>(bits + c / 8), half));
    }
  }
};

// Two codes per byte, the first in the low bits. Compression separates them.
template <>
struct PackStep<4> {
  static constexpr int64_t kBits = 4;
  static constexpr int64_t kColumns = kSparseStep;

  // Unpacks 64 codes to bytes; together() is the inverse.
  static __m512i apart(__m256i pairs) {
    const __m512i words = _mm512_cvtepu8_epi16(pairs);
    return _mm512_and_si512(_mm512_or_si512(words, _mm512_slli_epi16(words, 4)), _mm512_set1_epi8(0x0F));
  }
  static __m256i together(__m512i codes) {
    return _mm512_cvtepi16_epi8(_mm512_maddubs_epi16(codes, _mm512_set1_epi16(0x1001)));
  }

  template <bool kIsStreamed>
  static void compress(const uint8_t *source, const uint8_t *mask, uint8_t *stored, uint8_t *indices) {
    const Columns columns(mask, indices);
    const auto half = [&](int64_t c) {
      const __m512i codes = apart(load_half_line(source + c / 2));
      const __m512i kept = _mm512_maskz_mov_epi8(mask_at<uint64_t>(columns.kept + c / 8), codes);
      return _mm512_maskz_compress_epi8(mask_at<uint64_t>(columns.two + c / 8), kept);
    };
    const auto quarter = [&](int64_t c) {
      const __m512i low = half(c);
      return together(_mm512_inserti64x4(low, _mm512_castsi512_si256(half(c + 64)), 1));
    };
    for (int64_t c = 0; c < kColumns; c += 256) {
      const __m512i low = _mm512_castsi256_si512(quarter(c));
      write_line<kIsStreamed>(stored + c / 4, _mm512_inserti64x4(low, quarter(c + 128), 1));
    }
  }

  // A group of one byte expands to a word: codes are shifted to their columns.
  template <bool kIsStreamed>
  static void decompress(const uint8_t *stored, const uint8_t *indices, uint8_t *target) {
    for (int64_t c = 0; c < kColumns; c += 128) {
      const __m512i pairs = _mm512_cvtepu8_epi16(load_half_line(stored + c / 4));
      const __m512i bytes = _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i *>(indices + c / 8)));
      // The index is in the lowest bits of each word.
      const __m512i places = _mm512_or_si512(bytes, _mm512_slli_epi32(bytes, 12));
      const __m512i first_place = _mm512_and_si512(_mm512_slli_epi16(places, 2), _mm512_set1_epi16(12));
      const __m512i second_place = _mm512_and_si512(places, _mm512_set1_epi16(12));
      const __m512i first = _mm512_sllv_epi16(_mm512_and_si512(pairs, _mm512_set1_epi16(15)), first_place);
      const __m512i second = _mm512_sllv_epi16(_mm512_srli_epi16(pairs, 4), second_place);
      write_line<kIsStreamed>(target + c / 2, _mm512_or_si512(first, second));
    }
  }
};

}  // namespace

void compress_x86_avx512_vnni(const CompressRequest &request) { compress_codes<PackStep>(request); }

void decompress_x86_avx512_vnni(const DecompressRequest &request) { decompress_codes<PackStep>(request); }

}  // namespace lpt
