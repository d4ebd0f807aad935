// Masks of nonzero elements with AVX-512.
#include "kernels/sparse_pack/avx512_lines.hpp"
#include "kernels/sparse_pack/walk.hpp"

namespace lpt {
namespace {

// Returns the bits of 64 columns whose codes have one of the significant bits.
template <int kBits>
inline uint64_t nonzero_of_64(const uint8_t *source, __m512i significant) {
  if constexpr (kBits == 4) {
    const __m512i words = _mm512_cvtepu8_epi16(load_half_line(source));
    return _mm512_test_epi8_mask(_mm512_or_si512(words, _mm512_slli_epi16(words, 4)), significant);
  } else if constexpr (kBits == 8) {
    return _mm512_test_epi8_mask(load_line(source), significant);
  } else if constexpr (kBits == 16) {
    const uint64_t low = _mm512_test_epi16_mask(load_line(source), significant);
    return low | uint64_t{_mm512_test_epi16_mask(load_line(source + 64), significant)} << 32;
  } else {
    uint64_t bits = 0;
    for (int i = 0; i < 4; ++i) {
      const __m512i codes = load_line(source + 64 * i);
      bits |= uint64_t{_mm512_test_epi32_mask(codes, significant)} << (16 * i);
    }
    return bits;
  }
}

template <int kCodeBits>
struct NonzeroStep {
  static constexpr int64_t kBits = kCodeBits;
  static constexpr int64_t kColumns = 256;

  static void nonzero(const uint8_t *source, uint32_t significant, uint8_t *mask) {
    const auto number = static_cast<int32_t>(significant);
    const __m512i bits = kCodeBits <= 8    ? _mm512_set1_epi8(static_cast<int8_t>(number))
                         : kCodeBits == 16 ? _mm512_set1_epi16(static_cast<int16_t>(number))
                                           : _mm512_set1_epi32(number);
    for (int64_t c = 0; c < kColumns; c += 64) {
      const uint64_t is_nonzero = nonzero_of_64<kCodeBits>(source + c * kCodeBits / 8, bits);
      _mm512_storeu_si512(mask + c, _mm512_maskz_set1_epi8(is_nonzero, 1));
    }
  }
};

}  // namespace

void nonzero_x86_avx512(const NonzeroRequest &request) { nonzero_codes<NonzeroStep>(request); }

}  // namespace lpt
