// Casts f32, bf16 and f16 to unsigned integers with zero points, in rows of blocks, with AVX-512.
#include "kernels/quantize/kernels.hpp"
#include "kernels/quantize/x86/avx512_amax.hpp"
#include "kernels/quantize/x86/avx512_blocks.hpp"
#include "kernels/quantize/x86/avx512_words.hpp"
#include "kernels/quantize/zero_points_loop.hpp"

namespace lpt {
namespace {

// Constants shared by all groups of a cast.
struct ZeroLanes {
  __m512 bound;  // the largest magnitude of a scaled value that is valid
  __m512i most;  // the largest code, in bytes
  int32_t bits, block_shift;
  bool is_streamed;
};

// A scaled value and a zero point of this magnitude exceed every code, so that clamping does not change a code.
constexpr float kLargestScaled = 1023.0f;

// Returns the scaled values rounded to integers. If not `kIsCareful`, they are finite and small.
template <WordRounding kRounding, bool kIsCareful>
[[gnu::always_inline]] inline __m512i whole_numbers(__m512 scaled_value, __m512i words, const ZeroLanes &lanes) {
  if constexpr (kIsCareful) {
    const __mmask16 is_number = _mm512_cmp_ps_mask(abs(scaled_value), lanes.bound, _CMP_LE_OQ);
    scaled_value =
        _mm512_maskz_range_ps(is_number, scaled_value, _mm512_set1_ps(kLargestScaled), kSmallerMagnitudeSigned);
  }
  if constexpr (kRounding == WordRounding::kEven) return _mm512_cvtps_epi32(scaled_value);
  const __m512i fixed = _mm512_cvttps_epi32(_mm512_mul_ps(abs(scaled_value), _mm512_set1_ps(0x1p17f)));
  const __m512i whole = cut_at_17<kRounding>(fixed, words);
  const __mmask16 is_negative = _mm512_movepi32_mask(_mm512_castps_si512(scaled_value));
  return _mm512_mask_sub_epi32(whole, is_negative, _mm512_setzero_si512(), whole);
}

// Returns four vectors of integers as bytes in order, clamped to 0 .. 255.
[[gnu::always_inline]] inline __m512i held_bytes(const __m512i (&lanes)[4]) {
  const __m512i low = _mm512_packs_epi32(lanes[0], lanes[1]);
  const __m512i high = _mm512_packs_epi32(lanes[2], lanes[3]);
  const __m512i order = _mm512_set_epi32(15, 11, 7, 3, 14, 10, 6, 2, 13, 9, 5, 1, 12, 8, 4, 0);
  return _mm512_permutexvar_epi32(order, _mm512_packus_epi16(low, high));
}

// Returns the codes of 64 elements, whose first vector has index `vector` in the slab.
template <Source kSource, WordRounding kRounding, bool kIsCareful>
[[gnu::always_inline]] inline __m512i zero_codes(const ZeroLanes &lanes, const char *from, const ZeroSlab &slab,
                                                 int64_t vector, const __m512i (&words)[2]) {
  __m512i moved[4];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    const int64_t block = (vector + i) >> lanes.block_shift;
    const __m512 source = load16<kSource>(from + 16 * i * bytes_of(kSource));
    const __m512 scaled_value = _mm512_mul_ps(source, _mm512_set1_ps(slab.inverse[block]));
    const __m512i whole =
        whole_numbers<kRounding, kIsCareful>(scaled_value, words_in_lanes(words[i / 2], i % 2), lanes);
    moved[i] = _mm512_add_epi32(whole, _mm512_set1_epi32(slab.zero[block]));
  }
  return _mm512_min_epu8(held_bytes(moved), lanes.most);
}

template <Source kSource, WordRounding kRounding, bool kIsCareful>
void zero_span(const ZeroLanes &shared, const WordSource &source, const ZeroBlockSpan &span, const ZeroSlab &slab,
               uint64_t index) {
  constexpr int64_t kBytes = bytes_of(kSource);
  const ZeroLanes lanes = shared;
  const bool is_streamed = lanes.is_streamed && reinterpret_cast<uintptr_t>(span.to) % 64 == 0;
  alignas(64) char rest[kUnit * 4];
  for (int64_t at = 0; at < span.count; at += kUnit) {
    const int64_t left = span.count - at;
    const char *from = span.from + at * kBytes;
    if (left < kUnit) [[unlikely]] {
      memset(rest, 0, sizeof rest);
      memcpy(rest, from, static_cast<size_t>(left * kBytes));
      from = rest;
    }
    const WordUnit words = words_at<kRounding>(source, index + static_cast<uint64_t>(at));
#pragma GCC unroll 2
    for (int half = 0; half < 2; ++half) {
      if (half == 1 && left <= 64) break;
      const __m512i codes =
          zero_codes<kSource, kRounding, kIsCareful>(lanes, from + 64 * half * kBytes, slab, at / 16 + 4 * half,
                                                     {words.group[2 * half], words.group[2 * half + 1]});
      store_codes(span.to + (at + 64 * half) * lanes.bits / 8, codes, lanes.bits, left - 64 * half, is_streamed);
    }
  }
}

using ZeroSpan = void (*)(const ZeroLanes &, const WordSource &, const ZeroBlockSpan &, const ZeroSlab &, uint64_t);

template <Source kSource, bool kIsCareful>
ZeroSpan zero_span_of(WordRounding rounding) {
  switch (rounding) {
    case WordRounding::kEven:
      return zero_span<kSource, WordRounding::kEven, kIsCareful>;
    case WordRounding::kAdded:
      return zero_span<kSource, WordRounding::kAdded, kIsCareful>;
    case WordRounding::kDrawn16:
      return zero_span<kSource, WordRounding::kDrawn16, kIsCareful>;
    default:
      return zero_span<kSource, WordRounding::kDrawn8, kIsCareful>;
  }
}

// Smallest and largest elements in each lane, or 0. minps and maxps return the second operand for a NaN or another zero, which
// excludes NaN and -0. As unsigned integers, the largest bits of the remaining values are the extreme.
struct EndLanes {
  __m512 low, high;

  [[gnu::always_inline]] inline void add(__m512 number) {
    low = _mm512_min_ps(number, low);
    high = _mm512_max_ps(number, high);
  }
};

// Sets the members one at a time, because gcc keeps an initialized array in memory.
[[gnu::always_inline]] inline void set_none(EndLanes (&ends)[4]) {
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) ends[i] = {_mm512_setzero_ps(), _mm512_setzero_ps()};
}

// Extremes of four blocks: lane i of each quarter holds an extreme of block i.
struct FourEnds {
  __m512i low, high;
};

[[gnu::always_inline]] inline __m512i four_in_quarters(__m512 a, __m512 b, __m512 c, __m512 d) {
  const __m512i first = _mm512_castps_si512(a), second = _mm512_castps_si512(b);
  const __m512i third = _mm512_castps_si512(c), fourth = _mm512_castps_si512(d);
  const __m512i two = _mm512_max_epu32(_mm512_unpacklo_epi32(first, second), _mm512_unpackhi_epi32(first, second));
  const __m512i more = _mm512_max_epu32(_mm512_unpacklo_epi32(third, fourth), _mm512_unpackhi_epi32(third, fourth));
  return _mm512_max_epu32(_mm512_unpacklo_epi64(two, more), _mm512_unpackhi_epi64(two, more));
}

[[gnu::always_inline]] inline FourEnds in_quarters(const EndLanes (&ends)[4]) {
  return {four_in_quarters(ends[0].low, ends[1].low, ends[2].low, ends[3].low),
          four_in_quarters(ends[0].high, ends[1].high, ends[2].high, ends[3].high)};
}

// Returns block j of operand i in lane 4 · i + j.
[[gnu::always_inline]] inline __m512i in_order(__m512i a, __m512i b, __m512i c, __m512i d) {
  const __m512i low = _mm512_max_epu32(_mm512_shuffle_i32x4(a, b, 0x88), _mm512_shuffle_i32x4(a, b, 0xDD));
  const __m512i high = _mm512_max_epu32(_mm512_shuffle_i32x4(c, d, 0x88), _mm512_shuffle_i32x4(c, d, 0xDD));
  return _mm512_max_epu32(_mm512_shuffle_i32x4(low, high, 0x88), _mm512_shuffle_i32x4(low, high, 0xDD));
}

// Adds one of four vectors to each of the extremes.
template <Source kSource>
[[gnu::always_inline]] inline void add_four(EndLanes (&ends)[4], const char *from, int64_t stride,
                                            const Prefetcher &prefetcher, __mmask16 &has_nan) {
  __m512 numbers[4];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    prefetcher.prefetch<1>(from + i * stride);
    numbers[i] = load16<kSource>(from + i * stride);
    ends[i].add(numbers[i]);
  }
  const __mmask16 first = _mm512_cmp_ps_mask(numbers[0], numbers[1], _CMP_UNORD_Q);
  const __mmask16 second = _mm512_cmp_ps_mask(numbers[2], numbers[3], _CMP_UNORD_Q);
  has_nan = _kor_mask16(has_nan, _kor_mask16(first, second));
}

// Computes the extremes of four narrow blocks at once.
template <Source kSource>
[[gnu::always_inline]] inline FourEnds narrow_ends(const char *from, int64_t block, const Prefetcher &prefetcher,
                                                   __mmask16 &has_nan) {
  constexpr int64_t kBytes = bytes_of(kSource);
  EndLanes ends[4];
  set_none(ends);
  for (int64_t at = 0; at < block; at += 16) {
    add_four<kSource>(ends, from + at * kBytes, block * kBytes, prefetcher, has_nan);
  }
  return in_quarters(ends);
}

// Computes the extremes of a block of any width. Reads memory in one stream, which is fastest.
template <Source kSource>
[[gnu::always_inline]] inline EndLanes wide_ends(const char *from, int64_t count, const Prefetcher &prefetcher,
                                                 __mmask16 &has_nan) {
  constexpr int64_t kBytes = bytes_of(kSource);
  EndLanes ends[4];
  set_none(ends);
  int64_t at = 0;
  for (; at + 64 <= count; at += 64) add_four<kSource>(ends, from + at * kBytes, 16 * kBytes, prefetcher, has_nan);
  for (; at < count; at += 16) {
    const __m512 number = load16<kSource>(from + at * kBytes, static_cast<__mmask16>(lane_mask(0, count - at)));
    ends[0].add(number);
    has_nan |= _mm512_cmp_ps_mask(number, number, _CMP_UNORD_Q);
  }
  return {_mm512_min_ps(_mm512_min_ps(ends[0].low, ends[1].low), _mm512_min_ps(ends[2].low, ends[3].low)),
          _mm512_max_ps(_mm512_max_ps(ends[0].high, ends[1].high), _mm512_max_ps(ends[2].high, ends[3].high))};
}

template <Source kSource>
bool find_block_ends(const ZeroBlockSpan &span, int64_t block, const Prefetcher &prefetcher, ZeroSlab &slab) {
  constexpr int64_t kBytes = bytes_of(kSource);
  __mmask16 has_nan = 0;
  FourEnds fours[4] = {};
  for (int64_t first = 0; first < span.blocks; first += 4) {
    const char *from = span.from + first * block * kBytes;
    if (block < 64 && (first + 4) * block <= span.count) {
      fours[first / 4] = narrow_ends<kSource>(from, block, prefetcher, has_nan);
      continue;
    }
    EndLanes ends[4];
#pragma GCC unroll 4
    for (int64_t i = 0; i < 4; ++i) {
      const int64_t count = least(block, span.count - (first + i) * block);
      ends[i] = wide_ends<kSource>(from + i * block * kBytes, count, prefetcher, has_nan);
    }
    fours[first / 4] = in_quarters(ends);
  }
  const __m512i low = in_order(fours[0].low, fours[1].low, fours[2].low, fours[3].low);
  const __m512i high = in_order(fours[0].high, fours[1].high, fours[2].high, fours[3].high);
  const __m512i depth = magnitude_bits(_mm512_castsi512_ps(low));
  _mm512_store_si512(slab.depth, depth);
  _mm512_store_si512(slab.high, high);
  const __m512i infinity = _mm512_set1_epi32(static_cast<int>(kFloatInfinityBits));
  return (has_nan | _mm512_cmpge_epu32_mask(_mm512_max_epu32(depth, high), infinity)) == 0;
}

template <Source kSource>
struct ZeroPointCast {
  ZeroLanes lanes;
  WordSource words;
  const RandomSource &random;
  __m512 largest;  // largest code, as f32
  Prefetcher prefetcher;
  ZeroSpan plain, careful;

  explicit ZeroPointCast(const QuantizeRequest &request) : random(request.random) {
    const Element element = element_of(request.target.format.element);
    const bool keeps_infinity = request.overflow == LPT_OVERFLOW_SATURATE;
    lanes.bound = _mm512_set1_ps(keeps_infinity ? bits_float(kFloatInfinityBits) : kLargestFloat);
    lanes.most = _mm512_set1_epi8(static_cast<char>(element.max_code));
    lanes.bits = element.bits;
    lanes.is_streamed = request.is_streamed;
    words = word_source(request);
    largest = _mm512_set1_ps(static_cast<float>(element.max_code));
    prefetcher = prefetcher_of(request, request.target.columns * bytes_of(kSource));
    plain = zero_span_of<kSource, false>(word_rounding(request));
    careful = zero_span_of<kSource, true>(word_rounding(request));
  }

  bool find_ends(const ZeroBlockSpan &span, int64_t block, ZeroSlab &slab) const {
    return find_block_ends<kSource>(span, block, prefetcher, slab);
  }

  void settle(ZeroSlab &slab) const {
    const __m512 depth = _mm512_load_ps(slab.depth);
    const __m512 one_half = _mm512_set1_ps(0.5f);
    // Uses halves of the extremes, so that the width of a block with both signs is in the range of f32.
    const __m512 half =
        _mm512_add_ps(_mm512_mul_ps(_mm512_load_ps(slab.high), one_half), _mm512_mul_ps(depth, one_half));
    const __mmask16 is_zero = _mm512_cmp_ps_mask(half, _mm512_setzero_ps(), _CMP_EQ_OQ);
    const __m512 ideal = clamped(_mm512_div_ps(half, _mm512_mul_ps(largest, one_half)));
    const __m512 scale = _mm512_mask_mov_ps(ideal, is_zero, _mm512_set1_ps(1.0f));
    const __m512 inverse = _mm512_div_ps(_mm512_set1_ps(1.0f), scale);
    _mm512_store_ps(slab.scale, scale);
    _mm512_store_ps(slab.inverse, inverse);
    _mm512_store_si512(slab.zero, _mm512_cvtps_epi32(_mm512_min_ps(_mm512_mul_ps(depth, inverse), largest)));
  }

  void cast(const ZeroBlockSpan &span, const ZeroSlab &slab, int64_t block, bool is_careful) {
    lanes.block_shift = span.blocks == 1 ? 62 : __builtin_ctzll(static_cast<uint64_t>(block / 16));
    const uint64_t index = random_index(random, span.row, span.column);
    (is_careful ? careful : plain)(lanes, words, span, slab, index);
  }
};

template <Source kSource>
void cast_zeros(const QuantizeRequest &request) {
  ZeroPointCast<kSource> cast(request);
  cast_zero_points(request, cast);
  if (request.is_streamed) _mm_sfence();
}

}  // namespace

void quantize_zero_points_x86_avx512(const QuantizeRequest &request) {
  switch (source_of(request.source.format.element)) {
    case Source::kF32:
      cast_zeros<Source::kF32>(request);
      break;
    case Source::kBf16:
      cast_zeros<Source::kBf16>(request);
      break;
    default:
      cast_zeros<Source::kF16>(request);
      break;
  }
}

}  // namespace lpt
