// GEMM in f32 for 64-bit Arm.
#include "kernels/common/simd_neon.hpp"
#include "kernels/gemm/blocked.hpp"
#include "kernels/gemm/kernels.hpp"

namespace lpt {
namespace {

struct Floats8 {
  F32 low, high;

  [[gnu::always_inline]] friend inline Floats8 operator+(Floats8 a, Floats8 b) {
    return {a.low + b.low, a.high + b.high};
  }
  [[gnu::always_inline]] friend inline Floats8 operator*(Floats8 a, Floats8 b) {
    return {a.low * b.low, a.high * b.high};
  }
};

// Rounds to nearest, ties to even. NaN is preserved.
inline U16 round_to_bf16(F32 value) { return bf16_of_f32(with_quiet_nan(value)); }

// A tile of 4 × 24 has 24 vectors of four sums. With six vectors of b and one of a, it needs 31 of 32 registers. gcc 12 loads
// rows of a early and spills two sums to memory.
struct Neon {
  using Dwords = Floats8;  // the bits of f32
  using Floats = Floats8;
  using Sums = Floats8;
  static constexpr int64_t kVector = 8;
  static constexpr int64_t kPerDword = 1;
  static constexpr bool kHasStarts = false;
  static constexpr int64_t kTileRows = 4;
  static constexpr int64_t kTileVectors = 3;

  static Dwords no_dwords() { return all(0.0f); }
  static Floats all(float value) { return {broadcast(value), broadcast(value)}; }
  static Dwords load(const uint32_t *from) { return load_floats(reinterpret_cast<const float *>(from)); }
  static Floats load_floats(const float *from) { return {lpt::load(from), lpt::load(from + 4)}; }
  static Floats start(const int32_t *) { return all(0.0f); }
  static Floats floats(Floats sum) { return sum; }
  static void interleave(Dwords (&)[1]) {}
  static F32 repeat(const uint32_t *from) { return vld1q_dup_f32(reinterpret_cast<const float *>(from)); }
  static void store(Dwords lanes, uint32_t *to) { store_floats(lanes, reinterpret_cast<float *>(to)); }
  static void store_floats(Floats value, float *to) {
    lpt::store(to, value.low);
    lpt::store(to + 4, value.high);
  }
  static void store_halves(Dwords lanes, uint32_t *low, uint32_t *high) {
    lpt::store(reinterpret_cast<float *>(low), lanes.low);
    lpt::store(reinterpret_cast<float *>(high), lanes.high);
  }

  static Sums add_product(Sums sum, F32 row, Dwords columns) {
    return {mul_add(row, columns.low, sum.low), mul_add(row, columns.high, sum.high)};
  }

  // Transposes 8 × 8 dwords as four blocks of 4 × 4; the two off-diagonal blocks are exchanged.
  static void transpose(Dwords (&rows)[8]) {
    F32 upper_left[4], upper_right[4], lower_left[4], lower_right[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      upper_left[i] = rows[i].low;
      upper_right[i] = rows[i].high;
      lower_left[i] = rows[4 + i].low;
      lower_right[i] = rows[4 + i].high;
    }
    lpt::transpose(upper_left);
    lpt::transpose(upper_right);
    lpt::transpose(lower_left);
    lpt::transpose(lower_right);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      rows[i] = {upper_left[i], lower_left[i]};
      rows[4 + i] = {upper_right[i], lower_right[i]};
    }
  }

  static Floats of_int8(const uint8_t *from, int64_t count) {
    int8_t codes[8] = {};
    memcpy(codes, from, static_cast<size_t>(count));
    const int16x8_t words = vmovl_s8(vld1_s8(codes));
    return {vcvtq_f32_s32(vmovl_s16(vget_low_s16(words))), vcvtq_f32_s32(vmovl_high_s16(words))};
  }

  // Decodes elements of at most 8 bits one by one.
  template <Decoder kDecoder>
  static Floats one_by_one(const Operand &operand, int64_t row, int64_t column, int64_t count) {
    float values[32] = {};
    if constexpr (kDecoder == Decoder::kTable) {
      read_values(operand, row, column, count, values);
    } else {
      uint8_t codes[32];
      read_codes(operand, row * operand.row_stride + column, count, codes);
      for (int64_t i = 0; i < count; ++i) values[i] = lpt::decode(operand.element, codes[i]);
    }
    return load_floats(values);
  }

  // Decodes eight adjacent elements. Elements past `count` are 0.
  template <Decoder kDecoder>
  static Dwords decode(const Operand &operand, int64_t row, int64_t column, int64_t count) {
    const int64_t index = row * operand.row_stride + column;
    const int64_t present = min_i64(count, 8);
    Floats value;
    if constexpr (kDecoder == Decoder::kF32) {
      value = read(LPT_FORMAT_F32, operand.data + 4 * index, present);
    } else if constexpr (kDecoder == Decoder::kBf16) {
      value = read(LPT_FORMAT_BF16, operand.data + 2 * index, present);
    } else if constexpr (kDecoder == Decoder::kF16) {
      value = read(LPT_FORMAT_F16, operand.data + 2 * index, present);
    } else if constexpr (kDecoder == Decoder::kInt8) {
      value = of_int8(operand.data + index, present);
    } else {
      value = one_by_one<kDecoder>(operand, row, column, present);
    }
    if (operand.is_scaled_along_k) {
      float scales[8] = {};
      for (int64_t i = 0; i < present; ++i) scales[i] = scale_at(operand, row, column + i);
      value = value * load_floats(scales);
    }
    return value;
  }

  static Floats read(lpt_format format, const uint8_t *from, int64_t count) {
    const int64_t low = min_i64(count, 4), high = count - low;
    if (format == LPT_FORMAT_F32) {
      const auto *const numbers = reinterpret_cast<const float *>(from);
      return {lpt::load(numbers, low), lpt::load(numbers + 4, high)};
    }
    const U16 first = load_u16(from, low), second = load_u16(from + 8, high);
    if (format == LPT_FORMAT_BF16) return {f32_of_bf16(first), f32_of_bf16(second)};
    return {f32_of_f16(first), f32_of_f16(second)};
  }

  static void write(lpt_format format, uint8_t *to, Floats value, int64_t count) {
    const int64_t low = min_i64(count, 4), high = count - low;
    if (format == LPT_FORMAT_F32) {
      auto *const numbers = reinterpret_cast<float *>(to);
      lpt::store(numbers, low, value.low);
      return lpt::store(numbers + 4, high, value.high);
    }
    const bool is_bf16 = format == LPT_FORMAT_BF16;
    store_u16(to, low, is_bf16 ? round_to_bf16(value.low) : f16_of_f32(value.low));
    store_u16(to + 8, high, is_bf16 ? round_to_bf16(value.high) : f16_of_f32(value.high));
  }
};

}  // namespace

void gemm_any_arm_neon(const GemmRequest &request) { multiply<Neon>(request); }

size_t gemm_scratch_arm_neon(const GemmRequest &request) { return scratch_bytes_of<Neon>(request); }

}  // namespace lpt
