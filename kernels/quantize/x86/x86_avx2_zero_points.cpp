// Casts f32, bf16 and f16 to unsigned integers with zero points, in rows of blocks, with AVX2; see x86_avx512_zero_points.cpp.
#include "kernels/quantize/kernels.hpp"
#include "kernels/quantize/x86/avx2_encode.hpp"
#include "kernels/quantize/x86/avx2_random.hpp"
#include "kernels/quantize/x86/avx2_scales.hpp"
#include "kernels/quantize/x86/avx2_words.hpp"
#include "kernels/quantize/zero_points_loop.hpp"

namespace lpt {
namespace {

// Constants shared by all groups of a cast.
struct ZeroLanes {
  __m256 bound;   // the largest magnitude of a scaled value that is valid
  __m256i most;   // the largest code, in bytes
  __m256i added;  // word of kAdded
  int64_t bits;
};

// A scaled value and a zero point of this magnitude exceed every code, so that clamping does not change a code.
constexpr float kLargestScaled = 1023.0f;

// Returns the scaled values rounded to integers. If not `kIsCareful`, they are finite and small.
template <WordRounding kRounding, bool kIsCareful>
[[gnu::always_inline]] inline __m256i whole_numbers(__m256 scaled_value, __m256i words, const ZeroLanes &lanes) {
  __m256 magnitude = _mm256_castsi256_ps(magnitude_bits(scaled_value));
  if constexpr (kIsCareful) {
    const __m256 is_number = _mm256_cmp_ps(magnitude, lanes.bound, _CMP_LE_OQ);
    magnitude = _mm256_and_ps(is_number, _mm256_min_ps(magnitude, _mm256_set1_ps(kLargestScaled)));
  }
  const __m256i whole =
      kRounding == WordRounding::kEven
          ? _mm256_cvtps_epi32(magnitude)
          : cut_at_17<kRounding>(_mm256_cvttps_epi32(_mm256_mul_ps(magnitude, _mm256_set1_ps(0x1p17f))), words);
  // vpsignd returns 0 for zero bits, whose integer is 0.
  return _mm256_sign_epi32(whole, _mm256_castps_si256(scaled_value));
}

// Inverses and zero points of blocks along a slab.
struct ZeroBlocks {
  const float *inverse;
  const int32_t *zero;
  int32_t log2_columns;

  [[gnu::always_inline]] inline int64_t of(int64_t column) const { return column >> log2_columns; }
};

// Returns the codes of 32 elements, of which the first is in column `column` of the slab.
template <WordRounding kRounding, bool kIsCareful>
[[gnu::always_inline]] inline __m256i zero_codes(const ZeroLanes &lanes, const ZeroBlocks &blocks, int64_t column,
                                                 const float *from, const uint8_t *random) {
  __m256i moved[4];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    const int64_t block = blocks.of(column + 8 * i);
    const __m256 scaled_value = _mm256_mul_ps(_mm256_loadu_ps(from + 8 * i), _mm256_set1_ps(blocks.inverse[block]));
    const __m256i words = words_at<kRounding>(random + 8 * i * random_bytes(kRounding), lanes.added);
    const __m256i whole = whole_numbers<kRounding, kIsCareful>(scaled_value, words, lanes);
    moved[i] = _mm256_add_epi32(whole, _mm256_set1_epi32(blocks.zero[block]));
  }
  const __m256i low = _mm256_packs_epi32(moved[0], moved[1]);
  const __m256i high = _mm256_packs_epi32(moved[2], moved[3]);
  const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  return _mm256_min_epu8(_mm256_permutevar8x32_epi32(_mm256_packus_epi16(low, high), order), lanes.most);
}

// Casts `count` elements from column `column` of the slab on.
template <WordRounding kRounding, bool kIsCareful>
void zero_span(const ZeroLanes &shared, const ZeroBlocks &blocks, int64_t column, int64_t count, const float *from,
               const uint8_t *random, uint8_t *to) {
  const ZeroLanes lanes = shared;
  int64_t at = 0;
  for (; at + 32 <= count; at += 32) {
    const __m256i codes =
        zero_codes<kRounding, kIsCareful>(lanes, blocks, column + at, from + at, random + at * random_bytes(kRounding));
    store_codes(codes, lanes.bits, to + at * lanes.bits / 8);
  }
  if (at == count) return;
  // Pads the elements with zeros, and clears the codes after the last one.
  float rest[32] = {};
  alignas(32) uint8_t codes[32];
  memcpy(rest, from + at, static_cast<size_t>(count - at) * sizeof(float));
  const __m256i all =
      zero_codes<kRounding, kIsCareful>(lanes, blocks, column + at, rest, random + at * random_bytes(kRounding));
  _mm256_store_si256(reinterpret_cast<__m256i *>(codes), all);
  memset(codes + (count - at), 0, static_cast<size_t>(32 - (count - at)));
  store_codes(_mm256_load_si256(reinterpret_cast<const __m256i *>(codes)), lanes.bits, codes);
  memcpy(to + at * lanes.bits / 8, codes, static_cast<size_t>(((count - at) * lanes.bits + 7) / 8));
}

using ZeroSpan = void (*)(const ZeroLanes &, const ZeroBlocks &, int64_t, int64_t, const float *, const uint8_t *,
                          uint8_t *);

template <bool kIsCareful>
ZeroSpan zero_span_of(WordRounding rounding) {
  switch (rounding) {
    case WordRounding::kEven:
      return zero_span<WordRounding::kEven, kIsCareful>;
    case WordRounding::kAdded:
      return zero_span<WordRounding::kAdded, kIsCareful>;
    case WordRounding::kDrawn16:
      return zero_span<WordRounding::kDrawn16, kIsCareful>;
    default:
      return zero_span<WordRounding::kDrawn8, kIsCareful>;
  }
}

// Smallest and largest elements of a block in each lane, or 0; NaN is excluded.
struct EndLanes {
  __m256 low, high, has_nan;
};

// Extends `ends` by `count` elements. minps and maxps return the second operand, the current extreme, if the element is a NaN
// or another zero. Not inlined: among the calls around it gcc keeps the extremes in memory.
[[gnu::noinline]] void add_numbers(const float *from, int64_t count, EndLanes &ends) {
  __m256 low = ends.low, high = ends.high, has_nan = ends.has_nan;
  const auto add = [&](__m256 number) __attribute__((always_inline)) {
    low = _mm256_min_ps(number, low);
    high = _mm256_max_ps(number, high);
    has_nan = _mm256_or_ps(has_nan, _mm256_cmp_ps(number, number, _CMP_UNORD_Q));
  };
  int64_t at = 0;
  for (; at + 8 <= count; at += 8) add(_mm256_loadu_ps(from + at));
  if (at < count) {
    alignas(32) float rest[8] = {};
    memcpy(rest, from + at, static_cast<size_t>(count - at) * sizeof(float));
    add(_mm256_load_ps(rest));
  }
  ends = {low, high, has_nan};
}

struct ZeroPointCast {
  const QuantizeRequest &request;
  ZeroLanes lanes;
  float largest;  // largest code, as f32
  PhiloxLanes philox;
  RandomSlab random;
  alignas(32) float numbers[kRandomColumns];
  ZeroSpan plain, careful;
  bool has_draws;

  explicit ZeroPointCast(const QuantizeRequest &of) : request(of) {
    const Element element = element_of(request.target.format.element);
    const WordRounding rounding = word_rounding(request);
    const bool keeps_infinity = request.overflow == LPT_OVERFLOW_SATURATE;
    lanes.bound = _mm256_set1_ps(keeps_infinity ? bits_float(kFloatInfinityBits) : kLargestFloat);
    lanes.most = _mm256_set1_epi8(static_cast<char>(element.max_code));
    lanes.added = all_lanes(added_word(request));
    lanes.bits = element.bits;
    largest = static_cast<float>(element.max_code);
    has_draws = is_drawn(rounding);
    if (has_draws) philox = philox_lanes(request.random);
    plain = zero_span_of<false>(rounding);
    careful = zero_span_of<true>(rounding);
  }

  bool find_ends(const ZeroBlockSpan &span, int64_t block, ZeroSlab &slab) {
    __m256i depths[kZeroBlocks] = {};
    __m256i highs[kZeroBlocks] = {};
    __m256 has_nan = _mm256_setzero_ps();
    for (int64_t b = 0; b < span.blocks; ++b) {
      EndLanes ends = {_mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps()};
      const int64_t end = least((b + 1) * block, span.count);
      for (int64_t at = b * block; at < end; at += kRandomColumns) {
        const int64_t count = least(kRandomColumns, end - at);
        add_numbers(numbers_at(request.source, span.row, span.column + at, count, numbers), count, ends);
      }
      depths[b] = magnitude_bits(ends.low);
      highs[b] = _mm256_castps_si256(ends.high);
      has_nan = _mm256_or_ps(has_nan, ends.has_nan);
    }
    __m256i largest_end = _mm256_setzero_si256();
    const auto settle_eight = [&](int half, const __m256i(&ends)[kZeroBlocks], float *to) {
      __m256i eight[8];
#pragma GCC unroll 8
      for (int i = 0; i < 8; ++i) eight[i] = ends[8 * half + i];
      const __m256i found = largest_of_each(eight);
      largest_end = _mm256_max_epi32(largest_end, found);
      _mm256_store_si256(reinterpret_cast<__m256i *>(to + 8 * half), found);
    };
    for (int half = 0; half < 2; ++half) {
      settle_eight(half, depths, slab.depth);
      settle_eight(half, highs, slab.high);
    }
    return _mm256_movemask_ps(has_nan) == 0 && largest_lane(largest_end) < kFloatInfinityBits;
  }

  void settle(ZeroSlab &slab) const {
    const __m256 one_half = _mm256_set1_ps(0.5f);
    const __m256 most = _mm256_set1_ps(largest);
    for (int i = 0; i < kZeroBlocks; i += 8) {
      const __m256 depth = _mm256_load_ps(slab.depth + i);
      const __m256 high = _mm256_load_ps(slab.high + i);
      // Uses halves of the extremes, so that the width of a block with both signs is in the range of f32.
      const __m256 half = _mm256_add_ps(_mm256_mul_ps(high, one_half), _mm256_mul_ps(depth, one_half));
      const __m256 ideal = clamped(_mm256_div_ps(half, _mm256_mul_ps(most, one_half)));
      const __m256 scale = f32_scales(half, ideal).value;
      const __m256 inverse = _mm256_div_ps(_mm256_set1_ps(1.0f), scale);
      const __m256 zero = _mm256_min_ps(_mm256_mul_ps(depth, inverse), most);
      _mm256_store_ps(slab.scale + i, scale);
      _mm256_store_ps(slab.inverse + i, inverse);
      _mm256_store_si256(reinterpret_cast<__m256i *>(slab.zero + i), _mm256_cvtps_epi32(zero));
    }
  }

  void cast(const ZeroBlockSpan &span, const ZeroSlab &slab, int64_t block, bool is_careful) {
    const int32_t log2_columns = span.blocks == 1 ? kEndless : __builtin_ctzll(static_cast<uint64_t>(block));
    const ZeroBlocks blocks = {slab.inverse, slab.zero, log2_columns};
    for (int64_t at = 0; at < span.count; at += kRandomColumns) {
      const int64_t count = least(kRandomColumns, span.count - at);
      const float *from = numbers_at(request.source, span.row, span.column + at, count, numbers);
      const uint8_t *bits = random.bytes;
      if (has_draws) {
        const uint64_t index = random_index(request.random, span.row, span.column + at);
        bits = fill_random(request.random, philox, index, count, random);
      }
      (is_careful ? careful : plain)(lanes, blocks, at, count, from, bits, span.to + at * lanes.bits / 8);
    }
  }
};

}  // namespace

void quantize_zero_points_x86_avx2(const QuantizeRequest &request) {
  ZeroPointCast cast(request);
  cast_zero_points(request, cast);
}

}  // namespace lpt
