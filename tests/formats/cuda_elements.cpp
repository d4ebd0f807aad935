// Compares elements with the host code of the CUDA toolkit headers, which rounds like CUDA devices.
//
// Usage: cuda_elements STEP: tests every STEP-th float, and both neighbors of every value halfway between two codes. Exit
// status 77 without the headers.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#if !__has_include(<cuda_fp4.h>) || !__has_include(<cuda_fp6.h>) || !__has_include(<cuda_fp8.h>)
int main() {
  std::printf("skipped: needs cuda_fp4.h, cuda_fp6.h and cuda_fp8.h of a CUDA toolkit\n");
  return 77;
}
#else
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>

#include "kernels/common/cuda_encode.hpp"
#include "src/formats/block_scale.hpp"

namespace {

using namespace lpt;

struct Named {
  const char *name;
  Element element;
  uint32_t (*theirs)(float);  // saturating; f16 and bf16: to infinity
  uint32_t (*fast)(float);    // conversion of the CUDA kernels; nullptr: they use the device instruction
  float (*their_number)(uint32_t);
};

uint32_t ours(const Named &named, float value) {
  const lpt_overflow overflow = named.element.bits == 16 ? LPT_OVERFLOW_INFINITE : LPT_OVERFLOW_SATURATE;
  return encode(named.element, value, LPT_ROUNDING_NEAREST_EVEN, overflow, 0, 0);
}

float of_half(__half_raw raw) { return __half2float(__half(raw)); }

template <__nv_fp8_interpretation_t kKind>
uint32_t fp8(float value) {
  return __nv_cvt_float_to_fp8(value, __NV_SATFINITE, kKind);
}
template <__nv_fp8_interpretation_t kKind>
float fp8_number(uint32_t code) {
  return of_half(__nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(code), kKind));
}
template <__nv_fp6_interpretation_t kKind>
uint32_t fp6(float value) {
  return __nv_cvt_float_to_fp6(value, kKind, cudaRoundNearest);
}
template <__nv_fp6_interpretation_t kKind>
float fp6_number(uint32_t code) {
  return of_half(__nv_cvt_fp6_to_halfraw(static_cast<__nv_fp6_storage_t>(code), kKind));
}
uint32_t fp4(float value) { return __nv_cvt_float_to_fp4(value, __NV_E2M1, cudaRoundNearest); }
float fp4_number(uint32_t code) {
  return of_half(__nv_cvt_fp4_to_halfraw(static_cast<__nv_fp4_storage_t>(code), __NV_E2M1));
}
uint32_t f16(float value) { return __half_raw(__float2half_rn(value)).x; }
float f16_number(uint32_t code) { return of_half(__half_raw{static_cast<unsigned short>(code)}); }
uint32_t bf16(float value) { return __nv_bfloat16_raw(__float2bfloat16_rn(value)).x; }
float bf16_number(uint32_t code) {
  return __bfloat162float(__nv_bfloat16(__nv_bfloat16_raw{static_cast<unsigned short>(code)}));
}

constexpr Named kNamed[] = {
    {"e4m3fn", kElementE4m3fn, fp8<__NV_E4M3>, nearest_code<kElementE4m3fn>, fp8_number<__NV_E4M3>},
    {"e5m2", kElementE5m2, fp8<__NV_E5M2>, nearest_code<kElementE5m2>, fp8_number<__NV_E5M2>},
    {"e3m2fn", kElementE3m2fn, fp6<__NV_E3M2>, nearest_code<kElementE3m2fn>, fp6_number<__NV_E3M2>},
    {"e2m3fn", kElementE2m3fn, fp6<__NV_E2M3>, nearest_code<kElementE2m3fn>, fp6_number<__NV_E2M3>},
    {"e2m1fn", kElementE2m1fn, fp4, nearest_code<kElementE2m1fn>, fp4_number},
    {"f16", kElementF16, f16, nullptr, f16_number},
    {"bf16", kElementBf16, bf16, nullptr, bf16_number},
};

int64_t differences = 0;

void tell(const char *name, uint32_t given, uint32_t ours, uint32_t theirs) {
  if (differences++ < 20) std::printf("%s of %08x: ours %x, theirs %x\n", name, given, ours, theirs);
}

// NVIDIA encodes a NaN without a sign, and as the largest value if the element has no NaN. LPT: NaN, or zero, with the sign.
void check_nan(const Named &named, float value) {
  const uint32_t sign = 1u << (named.element.bits - 1);
  const uint32_t oracle = named.element.nan_code | (float_bits(value) >> 31 != 0 ? sign : 0);
  if (ours(named, value) != oracle) tell(named.name, float_bits(value), ours(named, value), oracle);
  if (named.fast != nullptr && named.fast(value) != oracle)
    tell(named.name, float_bits(value), named.fast(value), oracle);
}

void check_float(const Named &named, float value) {
  if (value != value) return check_nan(named, value);
  const uint32_t theirs = named.theirs(value);
  if (ours(named, value) != theirs) tell(named.name, float_bits(value), ours(named, value), theirs);
  if (named.fast != nullptr && named.fast(value) != theirs)
    tell(named.name, float_bits(value), named.fast(value), theirs);
}

// Compares scales, which round up or down to a power of two.
void check_scale(float value) {
  if (!(value > 0.0f) || value > kLargestFloat) return;
  const ScaleSpec up = {LPT_FORMAT_E8M0FNU, LPT_SCALE_RULE_ROUND_UP, 1.0f, 0, 1.0f, nullptr, 0};
  const ScaleSpec down = {LPT_FORMAT_E8M0FNU, LPT_SCALE_RULE_FLOOR, 1.0f, 0, 1.0f, nullptr, 0};
  const uint32_t their_up = __nv_cvt_float_to_e8m0(value, __NV_SATFINITE, cudaRoundPosInf);
  const uint32_t their_down = __nv_cvt_float_to_e8m0(value, __NV_SATFINITE, cudaRoundZero);
  if (e8m0fnu_scale(up, value) != their_up) tell("e8m0fnu up", float_bits(value), e8m0fnu_scale(up, value), their_up);
  if (e8m0fnu_scale(down, value) != their_down) {
    tell("e8m0fnu down", float_bits(value), e8m0fnu_scale(down, value), their_down);
  }
}

void check_bits(uint32_t bits) {
  for (const Named &named : kNamed) check_float(named, bits_float(bits));
  check_scale(bits_float(bits));
}

float our_small_number(const Named &named, uint32_t code) {
  switch (named.element.mantissa_bits * 10 + named.element.bits) {
    case 38:
      return small_number<kElementE4m3fn>(code);
    case 28:
      return small_number<kElementE5m2>(code);
    case 26:
      return small_number<kElementE3m2fn>(code);
    case 36:
      return small_number<kElementE2m3fn>(code);
    case 14:
      return small_number<kElementE2m1fn>(code);
    default:
      return decode(named.element, code);
  }
}

void check_codes(const Named &named) {
  for (uint32_t code = 0; code < 1u << named.element.bits; ++code) {
    const float theirs = named.their_number(code);
    for (const float number : {decode(named.element, code), our_small_number(named, code)}) {
      const bool are_nan = number != number && theirs != theirs;
      if (!are_nan && float_bits(number) != float_bits(theirs)) {
        tell(named.name, code, float_bits(number), float_bits(theirs));
      }
    }
  }
}

// Tests values halfway between two codes of at most 8 bits, and the adjacent floats, with both signs.
void check_halfway(const Named &named) {
  for (uint32_t code = 0; code < named.element.max_code && named.element.bits <= 8; ++code) {
    const float halfway = 0.5f * (decode(named.element, code) + decode(named.element, code + 1));
    for (const uint32_t sign : {0u, 0x80000000u}) {
      for (uint32_t bits = float_bits(halfway) - 2; bits <= float_bits(halfway) + 2; ++bits) check_bits(bits | sign);
    }
  }
}

void check_scale_codes() {
  for (uint32_t code = 0; code < 255; ++code) {
    const __nv_bfloat16_raw raw = __nv_cvt_e8m0_to_bf16raw(static_cast<__nv_fp8_storage_t>(code));
    const float number = decode(kElementE8m0fnu, code);
    if (float_bits(number) != uint32_t{raw.x} << 16) tell("e8m0fnu", code, float_bits(number), uint32_t{raw.x} << 16);
  }
}

}  // namespace

int main(int count, char **arguments) {
  const uint64_t step = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 64;
  for (const Named &named : kNamed) {
    check_codes(named);
    check_halfway(named);
  }
  check_scale_codes();
  for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += step) check_bits(static_cast<uint32_t>(bits));
  std::printf("%zu elements, every %llu-th float: %lld differences\n", std::size(kNamed),
              static_cast<unsigned long long>(step), static_cast<long long>(differences));
  return differences == 0 ? 0 : 1;
}
#endif
