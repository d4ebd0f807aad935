// The AdamW step for AVX2 with F16C: eight elements at a time, any mix of state formats, rounding to nearest even. The
// operations of ref.cpp in the same order; the tail is copied to a full group and back.
#include <cstdint>

#include "kernels/common/intrinsics.hpp"
#include "kernels/optimizer/rows.hpp"
#include "src/formats/element.hpp"

namespace lpt {
namespace {

constexpr int64_t kWidth = 8;

// A state array as vectors see it.
struct Codec {
  uint8_t *data;
  int64_t bytes;
  lpt_format element;
  Element layout;
  bool is_clamped;
  __m256 scale, inverse_scale, largest;
};

Codec make_codec(const StateArray &array) {
  Codec codec{};
  codec.data = static_cast<uint8_t *>(array.data);
  codec.element = array.element;
  codec.is_clamped = array.is_clamped;
  codec.scale = _mm256_set1_ps(array.scale);
  codec.inverse_scale = _mm256_set1_ps(array.inverse_scale);
  switch (array.element) {
    case LPT_FORMAT_BF16:
      codec.layout = kElementBf16;
      break;
    case LPT_FORMAT_F16:
      codec.layout = kElementF16;
      break;
    case LPT_FORMAT_E4M3FN:
      codec.layout = kElementE4m3fn;
      break;
    case LPT_FORMAT_E4M3:
      codec.layout = kElementE4m3;
      break;
    case LPT_FORMAT_E5M2:
      codec.layout = kElementE5m2;
      break;
    default:
      codec.bytes = 4;
      return codec;
  }
  codec.bytes = codec.layout.bits / 8;
  codec.largest = _mm256_set1_ps(decode(codec.layout, codec.layout.max_code));
  return codec;
}

__m256 nan() { return _mm256_castsi256_ps(_mm256_set1_epi32(0x7FC00000)); }

__m256 load_bf16(const uint8_t *place) {
  const __m128i halves = _mm_loadu_si128(reinterpret_cast<const __m128i *>(place));
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(halves), 16));
}

// Lays the code of 8 bits out as f16, lets the processor decode that, and moves the exponent. f16 shares infinity and
// NaN with e5m2; the others have theirs put in. The sign of a NaN does not matter.
__m256 load_bytes(lpt_format element, const uint8_t *place) {
  const __m128i codes = _mm_cvtepu8_epi16(_mm_loadl_epi64(reinterpret_cast<const __m128i *>(place)));
  if (element == LPT_FORMAT_E5M2) return _mm256_cvtph_ps(_mm_slli_epi16(codes, 8));
  const __m128i magnitude = _mm_and_si128(codes, _mm_set1_epi16(0x7F));
  const __m128i sign = _mm_slli_epi16(_mm_and_si128(codes, _mm_set1_epi16(0x80)), 8);
  const __m256 value =
      _mm256_mul_ps(_mm256_cvtph_ps(_mm_or_si128(sign, _mm_slli_epi16(magnitude, 7))), _mm256_set1_ps(256.0f));
  const __m256i wide = _mm256_cvtepu16_epi32(magnitude);
  const int32_t last = element == LPT_FORMAT_E4M3FN ? 0x7E : 0x78;  // largest number, or infinity
  const __m256 is_nan = _mm256_castsi256_ps(_mm256_cmpgt_epi32(wide, _mm256_set1_epi32(last)));
  if (element == LPT_FORMAT_E4M3FN) return _mm256_blendv_ps(value, nan(), is_nan);
  const __m256 signs = _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(sign), 16));
  const __m256 infinity = _mm256_or_ps(signs, _mm256_set1_ps(__builtin_inff()));
  const __m256 is_infinite = _mm256_castsi256_ps(_mm256_cmpeq_epi32(wide, _mm256_set1_epi32(last)));
  return _mm256_blendv_ps(_mm256_blendv_ps(value, infinity, is_infinite), nan(), is_nan);
}

__m256 load_state(const Codec &codec, const uint8_t *place) {
  const lpt_format element = codec.element;
  const __m256 value = element == LPT_FORMAT_F32 ? _mm256_loadu_ps(reinterpret_cast<const float *>(place))
                       : element == LPT_FORMAT_F16
                           ? _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i *>(place)))
                       : element == LPT_FORMAT_BF16 ? load_bf16(place)
                                                    : load_bytes(element, place);
  return _mm256_mul_ps(value, codec.scale);
}

// Magnitude codes of finite magnitudes up to the largest, to nearest even. Adding c = 2^(e + 23 - M), with e the
// exponent of the magnitude or of the smallest normal, rounds: the sum's bits less those of c are the significand in
// units of the last place, and the code is (e - e_min) · 2^M more. bf16 has no room for c above it and rounds in integers.
__m256i nearest_codes(const Codec &codec, __m256 magnitude) {
  const __m256i bits = _mm256_castps_si256(magnitude);
  if (codec.element == LPT_FORMAT_BF16) {
    const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    return _mm256_srli_epi32(_mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7FFF)), odd), 16);
  }
  const int32_t dropped = 23 - codec.layout.mantissa_bits;
  const __m256i least = _mm256_set1_epi32((codec.layout.min_exponent + 127) << 23);
  const __m256i exponent = _mm256_max_epi32(_mm256_and_si256(bits, _mm256_set1_epi32(0x7F800000)), least);
  const __m256i c = _mm256_add_epi32(exponent, _mm256_set1_epi32(dropped << 23));
  const __m256i sum = _mm256_castps_si256(_mm256_add_ps(magnitude, _mm256_castsi256_ps(c)));
  const __m256i binades = _mm256_srl_epi32(_mm256_sub_epi32(exponent, least), _mm_cvtsi32_si128(dropped));
  return _mm256_add_epi32(_mm256_sub_epi32(sum, c), binades);
}

void store_state(const Codec &codec, uint8_t *place, __m256 value) {
  const __m256 product = _mm256_mul_ps(value, codec.inverse_scale);
  const __m256 is_nan = _mm256_cmp_ps(product, product, _CMP_UNORD_Q);
  if (codec.element == LPT_FORMAT_F32) {
    _mm256_storeu_ps(reinterpret_cast<float *>(place), _mm256_blendv_ps(product, nan(), is_nan));
    return;
  }
  const Element &layout = codec.layout;
  const __m256 sign_bit = _mm256_set1_ps(-0.0f);
  __m256i codes = nearest_codes(codec, _mm256_min_ps(_mm256_andnot_ps(sign_bit, product), codec.largest));
  if (codec.is_clamped) {
    const __m256i is_something = _mm256_castps_si256(_mm256_cmp_ps(value, _mm256_setzero_ps(), _CMP_NEQ_UQ));
    codes = _mm256_max_epi32(codes, _mm256_srli_epi32(is_something, 31));
  }
  const __m256i sign =
      _mm256_srl_epi32(_mm256_castps_si256(_mm256_and_ps(product, sign_bit)), _mm_cvtsi32_si128(32 - layout.bits));
  codes = _mm256_or_si256(codes, sign);
  codes = _mm256_blendv_epi8(codes, _mm256_set1_epi32(static_cast<int>(layout.nan_code)), _mm256_castps_si256(is_nan));
  const __m128i halves = _mm256_castsi256_si128(_mm256_permute4x64_epi64(_mm256_packus_epi32(codes, codes), 0x08));
  if (codec.bytes == 2) {
    _mm_storeu_si128(reinterpret_cast<__m128i *>(place), halves);
  } else {
    _mm_storel_epi64(reinterpret_cast<__m128i *>(place), _mm_packus_epi16(halves, halves));
  }
}

__m256 raise(const Codec &codec, __m256 amax, __m256 value) {
  if (codec.element == LPT_FORMAT_F32 || codec.element == LPT_FORMAT_BF16) return amax;
  const __m256 magnitude = _mm256_andnot_ps(_mm256_set1_ps(-0.0f), value);
  const __m256 is_finite = _mm256_cmp_ps(magnitude, _mm256_set1_ps(__builtin_inff()), _CMP_LT_OQ);
  return _mm256_max_ps(amax, _mm256_and_ps(magnitude, is_finite));
}

void raise_to(float &amax, __m256 values) {
  float lanes[kWidth];
  _mm256_storeu_ps(lanes, values);
  for (const float lane : lanes) amax = lane > amax ? lane : amax;
}

struct Step {
  Codec first, second, parameter;
  bool is_gradient_f32, is_measure;
  AdamwConstants constants;
  __m256 amax[3];
};

// One group of eight: places of the gradient and of the three arrays.
void run_group(Step &step, const uint8_t *gradient_place, uint8_t *const (&places)[3]) {
  const AdamwConstants &c = step.constants;
  const __m256 gradient = step.is_gradient_f32 ? _mm256_loadu_ps(reinterpret_cast<const float *>(gradient_place))
                                               : load_bf16(gradient_place);
  const __m256 g = _mm256_mul_ps(gradient, _mm256_set1_ps(c.gradient_scale));
  const __m256 m = _mm256_add_ps(_mm256_mul_ps(_mm256_set1_ps(c.beta1), load_state(step.first, places[0])),
                                 _mm256_mul_ps(_mm256_set1_ps(c.one_minus_beta1), g));
  const __m256 v = _mm256_add_ps(_mm256_mul_ps(_mm256_set1_ps(c.beta2), load_state(step.second, places[1])),
                                 _mm256_mul_ps(_mm256_mul_ps(_mm256_set1_ps(c.one_minus_beta2), g), g));
  const __m256 root =
      _mm256_add_ps(_mm256_sqrt_ps(_mm256_mul_ps(v, _mm256_set1_ps(c.root_correction))), _mm256_set1_ps(c.epsilon));
  const __m256 is_something = _mm256_cmp_ps(m, _mm256_setzero_ps(), _CMP_NEQ_UQ);
  const __m256 u = _mm256_and_ps(_mm256_div_ps(m, root), is_something);
  const __m256 old = load_state(step.parameter, places[2]);
  const __m256 p = _mm256_sub_ps(_mm256_sub_ps(old, _mm256_mul_ps(_mm256_set1_ps(c.decay), old)),
                                 _mm256_mul_ps(_mm256_set1_ps(c.step_size), u));
  if (step.is_measure) {
    step.amax[0] = raise(step.first, step.amax[0], m);
    step.amax[1] = raise(step.second, step.amax[1], v);
    step.amax[2] = raise(step.parameter, step.amax[2], p);
  } else {
    store_state(step.first, places[0], m);
    store_state(step.second, places[1], v);
    store_state(step.parameter, places[2], p);
  }
}

}  // namespace

void adamw_x86_avx2(const AdamwRequest &request) {
  Step step{make_codec(request.first),
            make_codec(request.second),
            make_codec(request.parameter),
            request.gradient_format == LPT_FORMAT_F32,
            request.is_measure,
            request.constants,
            {_mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps()}};
  const Codec *const codecs[3] = {&step.first, &step.second, &step.parameter};
  const int64_t gradient_bytes = step.is_gradient_f32 ? 4 : 2;
  const auto *gradients = static_cast<const uint8_t *>(request.gradient);
  const int64_t end = request.begin + request.count;
  int64_t index = request.begin;
  for (; index + kWidth <= end; index += kWidth) {
    uint8_t *places[3];
    for (int k = 0; k < 3; ++k) places[k] = codecs[k]->data + index * codecs[k]->bytes;
    run_group(step, gradients + index * gradient_bytes, places);
  }
  if (index < end) {
    const int64_t left = end - index;
    uint8_t gradient[4 * kWidth] = {}, arrays[3][4 * kWidth] = {};
    uint8_t *const places[3] = {arrays[0], arrays[1], arrays[2]};
    const auto bytes_left = [&](int k) { return static_cast<size_t>(left * codecs[k]->bytes); };
    const auto place_of = [&](int k) { return codecs[k]->data + index * codecs[k]->bytes; };
    __builtin_memcpy(gradient, gradients + index * gradient_bytes, static_cast<size_t>(left * gradient_bytes));
    for (int k = 0; k < 3; ++k) __builtin_memcpy(arrays[k], place_of(k), bytes_left(k));
    run_group(step, gradient, places);
    for (int k = 0; k < 3 && !request.is_measure; ++k) __builtin_memcpy(place_of(k), arrays[k], bytes_left(k));
  }
  for (int k = 0; k < 3 && request.is_measure; ++k) raise_to(request.amax[k], step.amax[k]);
}

}  // namespace lpt
