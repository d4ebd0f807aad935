// Casts f32 and bf16 to e4m3fn and bf16 (nearest even, one inverse or none) and back; amax of f32 and bf16.
#include <cstring>

#include "kernels/common/simd_neon.hpp"
#include "kernels/quantize/kernels.hpp"
#include "src/formats/element.hpp"

namespace lpt {
namespace {

constexpr uint32_t kSign = 0x80000000;
constexpr uint32_t kInfinity = 0x7F800000;
constexpr int64_t kStep = 8;  // elements per step

[[gnu::always_inline]] inline uint32x4_t every(uint32_t bits) { return vdupq_n_u32(bits); }

inline int64_t element_bytes(const MatrixView &view) {
  const lpt_format plain = view.format.element;
  return plain == LPT_FORMAT_F32 ? 4 : plain == LPT_FORMAT_BF16 ? 2 : 1;
}

// Element types: load and store kStep elements.

struct FloatElements {
  [[gnu::always_inline]] static void load(const uint8_t *from, F32 (&value)[2]) {
    const auto *const numbers = reinterpret_cast<const float *>(from);
    value[0] = lpt::load(numbers);
    value[1] = lpt::load(numbers + 4);
  }
  [[gnu::always_inline]] static void store(uint8_t *to, const F32 (&value)[2], uint32x4_t /*limit*/) {
    auto *const numbers = reinterpret_cast<float *>(to);
    lpt::store(numbers, value[0]);
    lpt::store(numbers + 4, value[1]);
  }
};

struct Bf16Elements {
  [[gnu::always_inline]] static void load(const uint8_t *from, F32 (&value)[2]) {
    const uint16x8_t codes = vreinterpretq_u16_u8(vld1q_u8(from));
    value[0] = f32_of_bf16(vget_low_u16(codes));
    value[1] = f32_of_bf16(vget_high_u16(codes));
  }
  // Returns bf16 codes. Clamps magnitudes to the limit, infinity or the largest element; a NaN becomes the quiet NaN of its
  // sign.
  [[gnu::always_inline]] static U16 codes(F32 value, uint32x4_t limit) {
    const uint32x4_t magnitude = vbicq_u32(u32_of(value), every(kSign));
    const uint32x4_t held =
        vbslq_u32(vcgtq_u32(magnitude, every(kInfinity)), every(0x7FC00000), vminq_u32(magnitude, limit));
    return bf16_of_f32(f32_of(vorrq_u32(held, vandq_u32(u32_of(value), every(kSign)))));
  }
  [[gnu::always_inline]] static void store(uint8_t *to, const F32 (&value)[2], uint32x4_t limit) {
    vst1q_u8(to, vreinterpretq_u8_u16(vcombine_u16(codes(value[0], limit), codes(value[1], limit))));
  }
};

struct E4m3fnElements {
  // The bits of a magnitude shifted to the fraction of f32 are 2^-120 times its value, also for subnormals.
  [[gnu::always_inline]] static F32 number(uint32x4_t code) {
    const uint32x4_t magnitude = vandq_u32(code, every(0x7F));
    const F32 value = f32_of(vshlq_n_u32(magnitude, 20)) * broadcast(0x1p120f);
    const uint32x4_t is_nan = vceqq_u32(magnitude, every(kElementE4m3fn.nan_code));
    const uint32x4_t bits = vbslq_u32(is_nan, every(0x7FC00000), u32_of(value));
    return f32_of(vsliq_n_u32(bits, vshrq_n_u32(code, 7), 31));
  }
  [[gnu::always_inline]] static void load(const uint8_t *from, F32 (&value)[2]) {
    const uint16x8_t words = vmovl_u8(vld1_u8(from));
    value[0] = number(vmovl_u16(vget_low_u16(words)));
    value[1] = number(vmovl_high_u16(words));
  }
  // Below 2^-6 codes are units of 2^-9, which is the last place of 2^14. Values beyond the largest element, and NaN, become
  // NaN.
  [[gnu::always_inline]] static uint32x4_t code(F32 value, uint32x4_t limit) {
    const uint32x4_t magnitude = vbicq_u32(u32_of(value), every(kSign));
    const uint32x4_t is_nan = vcgtq_u32(magnitude, every(kInfinity));
    const uint32x4_t held = vbslq_u32(is_nan, magnitude, vminq_u32(magnitude, limit));
    const uint32x4_t odd = vandq_u32(vshrq_n_u32(held, 20), every(1));
    const uint32x4_t rounded = vaddq_u32(vaddq_u32(held, every(0x7FFFF)), odd);
    const uint32x4_t normal = vsubq_u32(vshrq_n_u32(rounded, 20), every(120 << 3));
    const F32 unit = broadcast(0x1p14f);
    const uint32x4_t subnormal = vsubq_u32(u32_of(f32_of(held) + unit), u32_of(unit));
    const uint32x4_t is_small = vcltq_u32(held, every((127 - 6) << 23));
    const uint32x4_t code = vminq_u32(vbslq_u32(is_small, subnormal, normal), every(kElementE4m3fn.nan_code));
    return vsliq_n_u32(code, vshrq_n_u32(u32_of(value), 31), 7);
  }
  [[gnu::always_inline]] static void store(uint8_t *to, const F32 (&value)[2], uint32x4_t limit) {
    const uint16x8_t words = vcombine_u16(vmovn_u32(code(value[0], limit)), vmovn_u32(code(value[1], limit)));
    vst1_u8(to, vmovn_u16(words));
  }
};

// Largest magnitudes of the source as bits: of all elements, and of finite elements.
struct Magnitudes {
  uint32x4_t largest = every(0), finite = every(0);

  bool has_nan() const { return vmaxvq_u32(largest) > kInfinity; }
  float amax() const { return bits_float(vmaxvq_u32(finite)); }
  [[gnu::always_inline]] void add(F32 value) {
    const uint32x4_t magnitude = vbicq_u32(u32_of(value), every(kSign));
    largest = vmaxq_u32(largest, magnitude);
    finite = vmaxq_u32(finite, vandq_u32(magnitude, vcltq_u32(magnitude, every(kInfinity))));
  }
};

// Calls `step` with the source and target of kStep elements. The last elements of a row are copied through a zero-padded
// buffer.
template <typename Step>
void for_steps(const MatrixView &source, const MatrixView &target, const Step &step) {
  const int64_t from_bytes = element_bytes(source), to_bytes = element_bytes(target);
  for (int64_t row = 0; row < source.rows; ++row) {
    const auto *const from = static_cast<const uint8_t *>(source.data) + row * source.row_stride * from_bytes;
    auto *const to = static_cast<uint8_t *>(target.data) + row * target.row_stride * to_bytes;
    int64_t at = 0;
    for (; at + kStep <= source.columns; at += kStep) step(from + at * from_bytes, to + at * to_bytes);
    if (at == source.columns) continue;
    alignas(16) uint8_t last_from[kStep * 4] = {}, last_to[kStep * 4];
    memcpy(last_from, from + at * from_bytes, static_cast<size_t>((source.columns - at) * from_bytes));
    step(last_from, last_to);
    memcpy(to + at * to_bytes, last_to, static_cast<size_t>((source.columns - at) * to_bytes));
  }
}

template <typename Source>
Magnitudes magnitudes_of(const MatrixView &source) {
  Magnitudes magnitudes;
  const auto add = [&](const uint8_t *from) {
    F32 value[2];
    Source::load(from, value);
    magnitudes.add(value[0]);
    magnitudes.add(value[1]);
  };
  const int64_t bytes = element_bytes(source);
  for (int64_t row = 0; row < source.rows; ++row) {
    const auto *const from = static_cast<const uint8_t *>(source.data) + row * source.row_stride * bytes;
    int64_t at = 0;
    for (; at + kStep <= source.columns; at += kStep) add(from + at * bytes);
    if (at == source.columns) continue;
    uint8_t last[kStep * 4] = {};
    memcpy(last, from + at * bytes, static_cast<size_t>((source.columns - at) * bytes));
    add(last);
  }
  return magnitudes;
}

template <typename Source, typename Target>
void quantize(const QuantizeRequest &request) {
  const bool saturates = request.overflow == LPT_OVERFLOW_SATURATE;
  const F32 inverse = broadcast(request.tensor_inverse);
  const float largest = largest_of(request.target.format.element);
  const uint32x4_t limit = every(saturates ? float_bits(largest) : kInfinity);
  Magnitudes magnitudes;
  for_steps(request.source, request.target, [&](const uint8_t *from, uint8_t *to) {
    F32 value[2];
    Source::load(from, value);
#pragma GCC unroll 2
    for (F32 &number : value) {
      magnitudes.add(number);
      number = f32_of(vbslq_u32(every(kSign), u32_of(number), u32_of(number * inverse)));
    }
    Target::store(to, value, limit);
  });
  if (request.amax != nullptr && magnitudes.amax() > *request.amax) *request.amax = magnitudes.amax();
  if (request.has_nan != nullptr && magnitudes.has_nan()) *request.has_nan = true;
}

template <typename Source, typename Target>
void dequantize(const DequantizeRequest &request) {
  const MatrixView &source = request.source;
  const F32 scale = broadcast(source.format.tensor_scale != LPT_FORMAT_NONE ? *source.tensor_scale : 1.0f);
  for_steps(source, request.target, [&](const uint8_t *from, uint8_t *to) {
    F32 value[2];
    Source::load(from, value);
#pragma GCC unroll 2
    for (F32 &element : value) {
      const uint32x4_t nan = vorrq_u32(vandq_u32(u32_of(element), every(kSign)), every(0x7FC00000));
      const F32 scaled_value = element * scale;
      element = select(is_nan(scaled_value), f32_of(nan), scaled_value);
    }
    Target::store(to, value, every(kInfinity));
  });
}

}  // namespace

void amax_arm_neon(const AmaxRequest &request) {
  const MatrixView source = with_adjacent_columns(request.source);
  const Magnitudes magnitudes = source.format.element == LPT_FORMAT_F32 ? magnitudes_of<FloatElements>(source)
                                                                        : magnitudes_of<Bf16Elements>(source);
  *request.amax = magnitudes.amax();
  *request.has_nan = magnitudes.has_nan();
}

void quantize_arm_neon(const QuantizeRequest &request) {
  const bool is_f32 = request.source.format.element == LPT_FORMAT_F32;
  if (request.target.format.element == LPT_FORMAT_BF16) {
    return is_f32 ? quantize<FloatElements, Bf16Elements>(request) : quantize<Bf16Elements, Bf16Elements>(request);
  }
  is_f32 ? quantize<FloatElements, E4m3fnElements>(request) : quantize<Bf16Elements, E4m3fnElements>(request);
}

void dequantize_arm_neon(const DequantizeRequest &request) {
  const bool is_f32 = request.target.format.element == LPT_FORMAT_F32;
  if (request.source.format.element == LPT_FORMAT_BF16) {
    return is_f32 ? dequantize<Bf16Elements, FloatElements>(request) : dequantize<Bf16Elements, Bf16Elements>(request);
  }
  is_f32 ? dequantize<E4m3fnElements, FloatElements>(request) : dequantize<E4m3fnElements, Bf16Elements>(request);
}

}  // namespace lpt
