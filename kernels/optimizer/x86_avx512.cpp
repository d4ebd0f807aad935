// The AdamW step for AVX-512: sixteen elements at a time, any mix of state formats and roundings. The operations of
// ref.cpp in the same order; the tail is the same code under a mask.
#include "kernels/common/x86_avx512.hpp"

#include <cstdint>

#include "kernels/common/intrinsics.hpp"
#include "kernels/optimizer/rows.hpp"
#include "src/formats/element.hpp"

namespace lpt {
namespace {

constexpr int64_t kWidth = 16;
constexpr int64_t kLine = 64;        // elements per turn: a cache line of bytes, eight blocks of random bits
constexpr int64_t kPrefetch = 1024;  // elements ahead: worth 1.3 times where memory is the limit
constexpr __mmask16 kAll = 0xFFFF;
constexpr lpt_format kAny = LPT_FORMAT_NONE;  // a format that is known at run time only

constexpr Element layout_of(lpt_format format) {
  return format == LPT_FORMAT_BF16     ? kElementBf16
         : format == LPT_FORMAT_F16    ? kElementF16
         : format == LPT_FORMAT_E5M2   ? kElementE5m2
         : format == LPT_FORMAT_E4M3FN ? kElementE4m3fn
                                       : kElementE4m3;
}

constexpr int64_t bytes_of(lpt_format format) {
  return format == LPT_FORMAT_F32 ? 4 : format == LPT_FORMAT_F16 || format == LPT_FORMAT_BF16 ? 2 : 1;
}

constexpr bool has_scale(lpt_format format) { return format != LPT_FORMAT_F32 && format != LPT_FORMAT_BF16; }

// A state array as vectors see it. kFormat folds the questions about its element; kAny asks them each time.
template <lpt_format kFormat>
struct Codec {
  explicit Codec(const StateArray &array)
      : data(static_cast<uint8_t *>(array.data)),
        given(array.element),
        given_layout(layout_of(array.element)),
        largest(_mm512_set1_ps(decode(given_layout, given_layout.max_code))),
        rounding(array.rounding),
        is_clamped(array.is_clamped),
        scale(_mm512_set1_ps(array.scale)),
        inverse_scale(_mm512_set1_ps(array.inverse_scale)),
        random(philox_lanes(array.random)) {}

  lpt_format element() const { return kFormat == kAny ? given : kFormat; }
  Element layout() const { return kFormat == kAny ? given_layout : layout_of(kFormat); }
  uint8_t *at(int64_t index) const { return data + index * bytes_of(element()); }

  uint8_t *data;
  lpt_format given;
  Element given_layout;  // of f32: unused
  __m512 largest;
  lpt_rounding rounding;
  bool is_clamped;
  __m512 scale, inverse_scale;
  PhiloxLanes random;
};

__m512 load_bf16(const uint8_t *data, __mmask16 mask) {
  const __m256i halves = _mm256_maskz_loadu_epi16(mask, data);
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16));
}

// Lays the code of 8 bits out as f16, lets the processor decode that, and moves the exponent. f16 shares infinity and
// NaN with e5m2; the others have theirs put in. The sign of a NaN does not matter.
inline __m512 load_bytes(lpt_format element, const uint8_t *data, __mmask16 mask) {
  const __m256i codes = _mm256_cvtepu8_epi16(_mm_maskz_loadu_epi8(mask, data));
  if (element == LPT_FORMAT_E5M2) return _mm512_cvtph_ps(_mm256_slli_epi16(codes, 8));
  const __m256i magnitude = _mm256_and_si256(codes, _mm256_set1_epi16(0x7F));
  const __m256i sign = _mm256_slli_epi16(_mm256_and_si256(codes, _mm256_set1_epi16(0x80)), 8);
  const __m256i halves = _mm256_or_si256(sign, _mm256_slli_epi16(magnitude, 7));
  const __m512 value = _mm512_mul_ps(_mm512_cvtph_ps(halves), _mm512_set1_ps(256.0f));
  const __m512 nan = _mm512_castsi512_ps(_mm512_set1_epi32(0x7FC00000));
  if (element == LPT_FORMAT_E4M3FN) {
    return _mm512_mask_mov_ps(value, _mm256_cmpeq_epi16_mask(magnitude, _mm256_set1_epi16(0x7F)), nan);
  }
  const __m512i infinities =
      _mm512_or_si512(_mm512_slli_epi32(_mm512_cvtepu16_epi32(sign), 16), _mm512_set1_epi32(0x7F800000));
  const __mmask16 is_special = _mm256_cmpge_epi16_mask(magnitude, _mm256_set1_epi16(0x78));
  const __mmask16 is_nan = _mm256_cmpge_epi16_mask(magnitude, _mm256_set1_epi16(0x79));
  return _mm512_mask_mov_ps(_mm512_mask_mov_ps(value, is_special, _mm512_castsi512_ps(infinities)), is_nan, nan);
}

template <lpt_format kFormat>
inline __m512 load_state(const Codec<kFormat> &codec, int64_t index, __mmask16 mask) {
  const uint8_t *data = codec.at(index);
  const lpt_format element = codec.element();
  const __m512 value = element == LPT_FORMAT_F32    ? _mm512_maskz_loadu_ps(mask, data)
                       : element == LPT_FORMAT_F16  ? _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(mask, data))
                       : element == LPT_FORMAT_BF16 ? load_bf16(data, mask)
                                                    : load_bytes(element, data, mask);
  return _mm512_mul_ps(value, codec.scale);
}

// Magnitude codes of finite magnitudes up to the largest, to nearest even. Adding c = 2^(e + 23 - M), with e the
// exponent of the magnitude or of the smallest normal, rounds: the sum's bits less those of c are the significand in
// units of the last place, and the code is (e - e_min) · 2^M more. bf16 has no room for c above it and rounds in integers.
inline __m512i nearest_codes(lpt_format element, const Element &layout, __m512 magnitude) {
  const __m512i bits = _mm512_castps_si512(magnitude);
  if (element == LPT_FORMAT_BF16) {
    const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
    return _mm512_srli_epi32(_mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7FFF)), odd), 16);
  }
  const int32_t dropped = 23 - layout.mantissa_bits;
  const __m512i least = _mm512_set1_epi32((layout.min_exponent + 127) << 23);
  const __m512i exponent = _mm512_max_epi32(_mm512_and_si512(bits, _mm512_set1_epi32(0x7F800000)), least);
  const __m512i c = _mm512_add_epi32(exponent, _mm512_set1_epi32(dropped << 23));
  const __m512i sum = _mm512_castps_si512(_mm512_add_ps(magnitude, _mm512_castsi512_ps(c)));
  const __m512i binades = _mm512_srli_epi32(_mm512_sub_epi32(exponent, least), static_cast<unsigned>(dropped));
  return _mm512_add_epi32(_mm512_sub_epi32(sum, c), binades);
}

// The same, stochastic or toward zero: the integer steps of encode(). Shifts by 32 or more give zero, as they should.
// Kept out of line, so that its registers do not weigh on the common case.
__attribute__((noinline)) __m512i cut_codes(const Element &layout, __m512 magnitude, bool is_stochastic,
                                            __m512i random) {
  const __m512i bits = _mm512_castps_si512(magnitude);
  const __m512i one = _mm512_set1_epi32(1);
  const __m512i field = _mm512_srli_epi32(bits, 23);
  const __mmask16 is_normal = _mm512_test_epi32_mask(field, field);
  const __m512i fraction = _mm512_and_si512(bits, _mm512_set1_epi32(0x007FFFFF));
  const __m512i significand = _mm512_mask_or_epi32(fraction, is_normal, fraction, _mm512_set1_epi32(0x00800000));
  const __m512i exponent = _mm512_max_epi32(field, one);  // biased
  const __m512i least = _mm512_set1_epi32(layout.min_exponent + 127);
  const __m512i grid = _mm512_max_epi32(exponent, least);
  const __m512i dropped =
      _mm512_add_epi32(_mm512_sub_epi32(grid, exponent), _mm512_set1_epi32(23 - layout.mantissa_bits));
  __m512i quotient = _mm512_srlv_epi32(significand, dropped);
  if (is_stochastic) {
    const __m512i rest = _mm512_and_si512(significand, _mm512_sub_epi32(_mm512_sllv_epi32(one, dropped), one));
    const __m512i wide = _mm512_set1_epi32(17);
    const __m512i psi = _mm512_or_si512(_mm512_srlv_epi32(rest, _mm512_sub_epi32(dropped, wide)),
                                        _mm512_sllv_epi32(rest, _mm512_sub_epi32(wide, dropped)));
    const __m512i sum = _mm512_add_epi32(_mm512_add_epi32(psi, _mm512_slli_epi32(random, 1)), one);
    quotient = _mm512_add_epi32(quotient, _mm512_srli_epi32(sum, 17));
  }
  const __m512i binades = _mm512_slli_epi32(_mm512_sub_epi32(grid, least), static_cast<unsigned>(layout.mantissa_bits));
  return _mm512_min_epi32(_mm512_add_epi32(binades, quotient), _mm512_set1_epi32(static_cast<int>(layout.max_code)));
}

template <lpt_format kFormat>
inline void store_state(const Codec<kFormat> &codec, int64_t index, __mmask16 mask, __m512 value, __m512i random) {
  uint8_t *data = codec.at(index);
  const lpt_format element = codec.element();
  const __m512 product = _mm512_mul_ps(value, codec.inverse_scale);
  const __mmask16 is_nan = _mm512_cmp_ps_mask(product, product, _CMP_UNORD_Q);
  const __m512i bits = _mm512_castps_si512(product);
  if (element == LPT_FORMAT_F32) {
    _mm512_mask_storeu_epi32(data, mask, _mm512_mask_mov_epi32(bits, is_nan, _mm512_set1_epi32(0x7FC00000)));
    return;
  }
  const Element layout = codec.layout();
  const __m512 magnitude = _mm512_min_ps(_mm512_abs_ps(product), codec.largest);
  __m512i codes = codec.rounding == LPT_ROUNDING_NEAREST_EVEN
                      ? nearest_codes(element, layout, magnitude)
                      : cut_codes(layout, magnitude, codec.rounding == LPT_ROUNDING_STOCHASTIC, random);
  if (codec.is_clamped) {
    const __mmask16 is_something = _mm512_cmp_ps_mask(value, _mm512_setzero_ps(), _CMP_NEQ_UQ);
    codes = _mm512_mask_max_epu32(codes, is_something, codes, _mm512_set1_epi32(1));
  }
  const __m512i sign_bit = _mm512_set1_epi32(static_cast<int>(1u << (layout.bits - 1)));
  const __m512i sign = _mm512_srli_epi32(bits, static_cast<unsigned>(32 - layout.bits));
  codes = _mm512_ternarylogic_epi32(codes, sign, sign_bit, 0xF8);  // codes | (sign & sign_bit)
  codes = _mm512_mask_mov_epi32(codes, is_nan, _mm512_set1_epi32(static_cast<int>(layout.nan_code)));
  if (layout.bits == 8) {
    _mm512_mask_cvtepi32_storeu_epi8(data, mask, codes);
  } else {
    _mm512_mask_cvtepi32_storeu_epi16(data, mask, codes);
  }
}

// Random bits of the line whose first element is `line`, which stands on a block of eight.
template <lpt_format kFormat>
void draw_line(const Codec<kFormat> &codec, const RandomSource &source, int64_t line, uint16_t *bits) {
  if (codec.element() == LPT_FORMAT_F32 || codec.rounding != LPT_ROUNDING_STOCHASTIC) return;
  const RandomU16x64 drawn = random_u16x64<7>(codec.random, static_cast<uint64_t>(source.offset + line) / 8);
  _mm512_store_si512(bits, drawn.low);
  _mm512_store_si512(bits + 32, drawn.high);
}

__m512i random_of(const uint16_t *bits) {
  return _mm512_cvtepu16_epi32(_mm256_load_si256(reinterpret_cast<const __m256i *>(bits)));
}

struct Constants {
  explicit Constants(const AdamwConstants &c)
      : beta1(_mm512_set1_ps(c.beta1)),
        one_minus_beta1(_mm512_set1_ps(c.one_minus_beta1)),
        beta2(_mm512_set1_ps(c.beta2)),
        one_minus_beta2(_mm512_set1_ps(c.one_minus_beta2)),
        root_correction(_mm512_set1_ps(c.root_correction)),
        step_size(_mm512_set1_ps(c.step_size)),
        decay(_mm512_set1_ps(c.decay)),
        epsilon(_mm512_set1_ps(c.epsilon)),
        gradient_scale(_mm512_set1_ps(c.gradient_scale)) {}
  __m512 beta1, one_minus_beta1, beta2, one_minus_beta2, root_correction, step_size, decay, epsilon, gradient_scale;
};

__m512 updated_first(const Constants &c, __m512 m, __m512 g) {
  return _mm512_add_ps(_mm512_mul_ps(c.beta1, m), _mm512_mul_ps(c.one_minus_beta1, g));
}

__m512 updated_second(const Constants &c, __m512 v, __m512 g) {
  return _mm512_add_ps(_mm512_mul_ps(c.beta2, v), _mm512_mul_ps(_mm512_mul_ps(c.one_minus_beta2, g), g));
}

__m512 updated_parameter(const Constants &c, __m512 p, __m512 m, __m512 v) {
  const __m512 root = _mm512_add_ps(_mm512_sqrt_ps(_mm512_mul_ps(v, c.root_correction)), c.epsilon);
  const __mmask16 is_something = _mm512_cmp_ps_mask(m, _mm512_setzero_ps(), _CMP_NEQ_UQ);
  const __m512 u = _mm512_maskz_div_ps(is_something, m, root);
  return _mm512_sub_ps(_mm512_sub_ps(p, _mm512_mul_ps(c.decay, p)), _mm512_mul_ps(c.step_size, u));
}

__m512 raise(__m512 amax, __mmask16 mask, __m512 value) {
  const __m512 magnitude = _mm512_abs_ps(value);
  const __mmask16 is_finite = _mm512_mask_cmp_ps_mask(mask, magnitude, _mm512_set1_ps(__builtin_inff()), _CMP_LT_OQ);
  return _mm512_mask_max_ps(amax, is_finite, amax, magnitude);
}

void raise_to(float &amax, __m512 values) {
  const float largest = _mm512_reduce_max_ps(values);
  if (largest > amax) amax = largest;
}

// kLine elements take as many cache lines as one has bytes.
void prefetch(const uint8_t *data, int64_t bytes) {
  for (int64_t line = 0; line < bytes; ++line) {
    _mm_prefetch(reinterpret_cast<const char *>(data + kPrefetch * bytes + 64 * line), _MM_HINT_T0);
  }
}

template <lpt_format kFirst, lpt_format kSecond, lpt_format kParameter>
void adamw(const AdamwRequest &request) {
  const Codec<kFirst> first(request.first);
  const Codec<kSecond> second(request.second);
  const Codec<kParameter> parameter(request.parameter);
  const Constants constants(request.constants);
  const bool is_f32 = request.gradient_format == LPT_FORMAT_F32;
  const int64_t gradient_bytes = is_f32 ? 4 : 2;
  const auto *gradients = static_cast<const uint8_t *>(request.gradient);
  const int64_t end = request.begin + request.count;
  __m512 amax[3] = {_mm512_setzero_ps(), _mm512_setzero_ps(), _mm512_setzero_ps()};
  alignas(64) uint16_t random[3][kLine] = {};
  // Lines start on a block of random bits; lanes before the range are masked out.
  const int64_t line_begin = request.begin - (request.first.random.offset + request.begin) % 8;
  for (int64_t line = line_begin; line < end; line += kLine) {
    prefetch(gradients + line * gradient_bytes, gradient_bytes);
    prefetch(first.at(line), bytes_of(first.element()));
    prefetch(second.at(line), bytes_of(second.element()));
    prefetch(parameter.at(line), bytes_of(parameter.element()));
    if (!request.is_measure) {
      draw_line(first, request.first.random, line, random[0]);
      draw_line(second, request.second.random, line, random[1]);
      draw_line(parameter, request.parameter.random, line, random[2]);
    }
    const auto group = [&](int64_t lane, __mmask16 mask) __attribute__((always_inline)) {
      const int64_t index = line + lane;
      const uint8_t *place = gradients + index * gradient_bytes;
      const __m512 gradient = is_f32 ? _mm512_maskz_loadu_ps(mask, place) : load_bf16(place, mask);
      const __m512 g = _mm512_mul_ps(gradient, constants.gradient_scale);
      const __m512 m = updated_first(constants, load_state(first, index, mask), g);
      const __m512 v = updated_second(constants, load_state(second, index, mask), g);
      if (request.is_measure) {
        if (has_scale(first.element())) amax[0] = raise(amax[0], mask, m);
        if (has_scale(second.element())) amax[1] = raise(amax[1], mask, v);
        if (!has_scale(parameter.element())) return;
        amax[2] = raise(amax[2], mask, updated_parameter(constants, load_state(parameter, index, mask), m, v));
      } else {
        const __m512 p = updated_parameter(constants, load_state(parameter, index, mask), m, v);
        store_state(first, index, mask, m, random_of(random[0] + lane));
        store_state(second, index, mask, v, random_of(random[1] + lane));
        store_state(parameter, index, mask, p, random_of(random[2] + lane));
      }
    };
    const __mmask64 lanes = lane_mask(request.begin - line, end - line);
    if (lanes == ~uint64_t{0}) {
      for (int64_t lane = 0; lane < kLine; lane += kWidth) group(lane, kAll);
    } else {
      for (int64_t lane = 0; lane < kLine; lane += kWidth) group(lane, static_cast<__mmask16>(lanes >> lane));
    }
  }
  for (int k = 0; k < 3 && request.is_measure; ++k) raise_to(request.amax[k], amax[k]);
}

}  // namespace

// What training uses most is compiled by itself, so that its loops ask nothing about formats.
void adamw_x86_avx512(const AdamwRequest &request) {
  const lpt_format first = request.first.element, second = request.second.element;
  const lpt_format parameter = request.parameter.element;
  if (first == LPT_FORMAT_F32 && second == LPT_FORMAT_F32 && parameter == LPT_FORMAT_F32) {
    return adamw<LPT_FORMAT_F32, LPT_FORMAT_F32, LPT_FORMAT_F32>(request);
  }
  if (first == LPT_FORMAT_E4M3FN && second == LPT_FORMAT_E5M2) {
    if (parameter == LPT_FORMAT_F32) return adamw<LPT_FORMAT_E4M3FN, LPT_FORMAT_E5M2, LPT_FORMAT_F32>(request);
    if (parameter == LPT_FORMAT_F16) return adamw<LPT_FORMAT_E4M3FN, LPT_FORMAT_E5M2, LPT_FORMAT_F16>(request);
    if (parameter == LPT_FORMAT_BF16) return adamw<LPT_FORMAT_E4M3FN, LPT_FORMAT_E5M2, LPT_FORMAT_BF16>(request);
  }
  adamw<kAny, kAny, kAny>(request);
}

}  // namespace lpt
