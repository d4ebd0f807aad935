// 2:4 matrices of codes of 4, 8, 16 and 32 bits with AVX2, 256 columns at a time.
//
// Compression and decompression shuffle the bytes of a register, for codes of any size. Compression looks up the two kept
// indices of a group by its four mask bits and uses them as shuffle control. Decompression copies both codes of a group to all
// of its columns and keeps in each column the code with that index.
#include "kernels/sparse_pack/avx2_bytes.hpp"
#include "kernels/sparse_pack/avx2_nonzero.hpp"
#include "kernels/sparse_pack/walk.hpp"

namespace lpt {
namespace {

// Tables.

constexpr uint8_t kNothing = 0x80;  // shuffle control that yields 0

// Indexed by the mask bits of a group.
struct GroupTables {
  alignas(32) uint8_t places[32];             // index nibble; repeated for both halves of a register
  alignas(32) uint8_t first[32], second[32];  // byte offset of a column, or kNothing if none is kept
};

constexpr GroupTables group_tables(int bytes) {
  GroupTables tables{};
  for (int bits = 0; bits < 16; ++bits) {
    int fillers = 2;
    for (int i = 0; i < 4; ++i) fillers -= bits >> i & 1;
    int place[2] = {};
    int count = 0;
    for (int i = 0; i < 4 && count < 2; ++i) {
      const bool is_kept = (bits >> i & 1) != 0;
      if (is_kept || fillers-- > 0) place[count++] = i;
    }
    for (int entry = bits; entry < 32; entry += 16) {
      const auto control = [&](int i) { return (bits >> place[i] & 1) != 0 ? place[i] * bytes : kNothing; };
      tables.places[entry] = static_cast<uint8_t>(place[0] | place[1] << 2);
      tables.first[entry] = static_cast<uint8_t>(control(0));
      tables.second[entry] = static_cast<uint8_t>(control(1));
    }
  }
  return tables;
}

template <int kBytes>
constexpr GroupTables kGroupTables = group_tables(kBytes);

// Compression tables, indexed by the byte of a register. The shuffle works within each half of 16 bytes; results are in the
// lower 8 bytes of each half.
struct GatherTables {
  alignas(32) uint8_t place[32];   // entry of the indices of the register
  alignas(32) uint8_t offset[32];  // addend: begin of the group, byte of the code
};

constexpr GatherTables gather_tables(int bytes) {
  GatherTables tables{};
  for (int i = 0; i < 32; ++i) {
    const int code = i % 8 / bytes;
    tables.place[i] = static_cast<uint8_t>(i / 16 * (8 / bytes) + code);
    tables.offset[i] = static_cast<uint8_t>(code / 2 * 4 * bytes + i % bytes);
  }
  return tables;
}

template <int kBytes>
constexpr GatherTables kGatherTables = gather_tables(kBytes);

// Decompression tables, indexed by the byte of the target. `first` and `second` are the positions of both codes of the group
// among 16 stored bytes. `places` is the position of its index byte. The other tables are the bits of an index in that byte,
// and the value of those bits for this column.
struct SpreadTables {
  alignas(32) uint8_t first[32], second[32];
  alignas(32) uint8_t places[32];
  alignas(32) uint8_t first_bits[32], second_bits[32];
  alignas(32) uint8_t first_place[32], second_place[32];
};

constexpr SpreadTables spread_tables(int bytes) {
  SpreadTables tables{};
  for (int i = 0; i < 32; ++i) {
    const int column = i / bytes;
    const int group = column / 4;
    const int shift = group % 2 * 4;
    tables.first[i] = static_cast<uint8_t>(2 * group * bytes + i % bytes);
    tables.second[i] = static_cast<uint8_t>((2 * group + 1) * bytes + i % bytes);
    tables.places[i] = static_cast<uint8_t>(group / 2);
    tables.first_bits[i] = static_cast<uint8_t>(3 << shift);
    tables.second_bits[i] = static_cast<uint8_t>(12 << shift);
    tables.first_place[i] = static_cast<uint8_t>(column % 4 << shift);
    tables.second_place[i] = static_cast<uint8_t>(column % 4 << (shift + 2));
  }
  return tables;
}

template <int kBytes>
constexpr SpreadTables kSpreadTables = spread_tables(kBytes);

// Compression.

// The two indices of each group of 256 columns, in the encoding of kGroupTables.
template <int kBytes>
struct Places {
  alignas(32) uint8_t place[128];

  Places(const uint8_t *mask, uint8_t *indices) {
    const GroupTables &tables = kGroupTables<kBytes>;
    const __m256i bits = bits_of(mask);
    const __m256i low = _mm256_and_si256(bits, _mm256_set1_epi8(0x0F));
    const __m256i high = _mm256_and_si256(_mm256_srli_epi16(bits, 4), _mm256_set1_epi8(0x0F));
    const auto look_up = [](const uint8_t(&table)[32], __m256i at) {
      return _mm256_shuffle_epi8(load_bytes(table), at);
    };
    const __m256i high_places = _mm256_slli_epi16(look_up(tables.places, high), 4);
    write_bytes<false>(indices, _mm256_or_si256(look_up(tables.places, low), high_places));
    write(look_up(tables.first, low), look_up(tables.second, low), look_up(tables.first, high),
          look_up(tables.second, high));
  }

 private:
  // Combined in registers, because a load that spans several recent stores stalls until all of them complete.
  static __m256i bits_of(const uint8_t *mask) {
    const auto bits = [&](int i) {
      const __m256i is_dropped = _mm256_cmpeq_epi8(load_bytes(mask + 32 * i), _mm256_setzero_si256());
      return ~_mm256_movemask_epi8(is_dropped);
    };
    return _mm256_setr_epi32(bits(0), bits(1), bits(2), bits(3), bits(4), bits(5), bits(6), bits(7));
  }
  // Interleaves the first and second indices of even and odd groups.
  void write(__m256i even_first, __m256i even_second, __m256i odd_first, __m256i odd_second) {
    const __m256i even[2] = {_mm256_unpacklo_epi8(even_first, even_second),
                             _mm256_unpackhi_epi8(even_first, even_second)};
    const __m256i odd[2] = {_mm256_unpacklo_epi8(odd_first, odd_second), _mm256_unpackhi_epi8(odd_first, odd_second)};
    for (int i = 0; i < 2; ++i) {
      const __m256i low = _mm256_unpacklo_epi16(even[i], odd[i]);
      const __m256i high = _mm256_unpackhi_epi16(even[i], odd[i]);
      write_bytes<false>(place + 32 * i, _mm256_permute2x128_si256(low, high, 0x20));
      write_bytes<false>(place + 64 + 32 * i, _mm256_permute2x128_si256(low, high, 0x31));
    }
  }
};

// Returns all indices for a register of codes, in each half.
template <int kBytes>
inline __m256i places_at(const uint8_t *place) {
  if constexpr (kBytes == 1) return load_twice(place);
  if constexpr (kBytes == 2) return _mm256_set1_epi64x(load_word<int64_t>(place));
  if constexpr (kBytes == 4) return _mm256_set1_epi32(load_word<int32_t>(place));
}

// Returns the stored codes of two registers.
template <int kBytes>
inline __m256i gather(__m256i low, __m256i high, const uint8_t *place) {
  const GatherTables &tables = kGatherTables<kBytes>;
  const auto gathered = [&](__m256i codes, __m256i places) {
    const __m256i own = _mm256_shuffle_epi8(places, load_bytes(tables.place));
    return _mm256_shuffle_epi8(codes, _mm256_add_epi8(own, load_bytes(tables.offset)));
  };
  const __m256i first = gathered(low, places_at<kBytes>(place));
  const __m256i second = gathered(high, places_at<kBytes>(place + 16 / kBytes));
  return in_order(_mm256_unpacklo_epi64(first, second));
}

// Decompression.

// Returns the index bytes of a register of codes, in the order of kSpreadTables.
template <int kBytes>
inline __m256i spread_places(const uint8_t *indices) {
  const __m256i order = load_bytes(kSpreadTables<kBytes>.places);
  if constexpr (kBytes == 1) return _mm256_shuffle_epi8(_mm256_set1_epi32(load_word<int32_t>(indices)), order);
  if constexpr (kBytes == 2) return _mm256_shuffle_epi8(_mm256_set1_epi16(load_word<int16_t>(indices)), order);
  if constexpr (kBytes == 4) return _mm256_set1_epi8(load_word<int8_t>(indices));
}

// Expands 16 stored bytes, present in both halves of a register.
template <int kBytes>
inline __m256i spread(__m256i stored, const uint8_t *indices) {
  const SpreadTables &tables = kSpreadTables<kBytes>;
  const __m256i places = spread_places<kBytes>(indices);
  const auto chosen = [&](const uint8_t(&order)[32], const uint8_t(&bits)[32], const uint8_t(&place)[32]) {
    const __m256i is_here = _mm256_cmpeq_epi8(_mm256_and_si256(places, load_bytes(bits)), load_bytes(place));
    return _mm256_and_si256(is_here, _mm256_shuffle_epi8(stored, load_bytes(order)));
  };
  return _mm256_or_si256(chosen(tables.first, tables.first_bits, tables.first_place),
                         chosen(tables.second, tables.second_bits, tables.second_place));
}

// Steps.

template <int kCodeBits>
struct PackStep {
  static constexpr int64_t kBits = kCodeBits;
  static constexpr int64_t kColumns = 256;
  static constexpr int kBytes = kCodeBits / 8;
  static constexpr int64_t kCodes = 32 / kBytes;  // codes of a register

  template <bool kIsStreamed>
  static void compress(const uint8_t *source, const uint8_t *mask, uint8_t *stored, uint8_t *indices) {
    const Places<kBytes> places(mask, indices);
    for (int64_t c = 0; c < kColumns; c += 2 * kCodes) {
      const __m256i low = load_bytes(source + c * kBytes);
      const __m256i high = load_bytes(source + c * kBytes + 32);
      write_bytes<kIsStreamed>(stored + c / 2 * kBytes, gather<kBytes>(low, high, places.place + c / 2));
    }
  }

  template <bool kIsStreamed>
  static void decompress(const uint8_t *stored, const uint8_t *indices, uint8_t *target) {
    for (int64_t c = 0; c < kColumns; c += kCodes) {
      const __m256i codes = spread<kBytes>(load_twice(stored + c / 2 * kBytes), indices + c / 8);
      write_bytes<kIsStreamed>(target + c * kBytes, codes);
    }
  }
};

// Two codes per byte, the first in the low bits. Compression separates them.
template <>
struct PackStep<4> {
  static constexpr int64_t kBits = 4;
  static constexpr int64_t kColumns = 256;

  template <bool kIsStreamed>
  static void compress(const uint8_t *source, const uint8_t *mask, uint8_t *stored, uint8_t *indices) {
    const Places<1> places(mask, indices);
    const auto half = [&](int64_t c) {
      const __m256i pairs = load_bytes(source + c / 2);
      const __m256i low = apart(_mm256_castsi256_si128(pairs));
      return gather<1>(low, apart(_mm256_extracti128_si256(pairs, 1)), places.place + c / 2);
    };
    for (int64_t c = 0; c < kColumns; c += 128) {
      write_bytes<kIsStreamed>(stored + c / 4, together(half(c), half(c + 64)));
    }
  }

  // A group of one byte expands to a word: both codes are copied to all columns, then each column is masked.
  template <bool kIsStreamed>
  static void decompress(const uint8_t *stored, const uint8_t *indices, uint8_t *target) {
    const __m256i low_half = _mm256_set1_epi8(0x0F);
    for (int64_t c = 0; c < kColumns; c += 64) {
      const __m256i pairs = _mm256_shuffle_epi8(
          load_twice(stored + c / 4), _mm256_setr_epi8(0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7,  //
                                                       8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13, 14, 14, 15, 15));
      const __m256i low = _mm256_and_si256(pairs, low_half);
      const __m256i high = _mm256_andnot_si256(low_half, pairs);
      const __m256i first = _mm256_or_si256(low, _mm256_slli_epi16(low, 4));
      const __m256i second = _mm256_or_si256(high, _mm256_srli_epi16(high, 4));
      const __m256i places = places_of_words(indices + c / 8);
      const __m256i second_places = _mm256_srli_epi16(places, 2);
      write_bytes<kIsStreamed>(target + c / 2, _mm256_or_si256(only(places, first), only(second_places, second)));
    }
  }

 private:
  // Returns the indices of 16 groups, in the lower nibbles of both bytes of a word.
  static __m256i places_of_words(const uint8_t *indices) {
    const __m256i all = _mm256_set1_epi64x(load_word<int64_t>(indices));
    const __m256i twos = _mm256_shuffle_epi8(all, _mm256_setr_epi8(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3,  //
                                                                   4, 4, 4, 4, 5, 5, 5, 5, 6, 6, 6, 6, 7, 7, 7, 7));
    return _mm256_blend_epi16(twos, _mm256_srli_epi32(twos, 4), 0xAA);
  }
  // Moves a code to the column given by the lowest two bits: the lower byte of a word has the first two codes.
  static __m256i only(__m256i places, __m256i codes) {
    const __m128i by_place = _mm_setr_epi8(0x0F, -16, 0, 0, 0, 0, 0x0F, -16, 0, 0, 0, 0, 0, 0, 0, 0);
    const __m256i place = _mm256_and_si256(places, _mm256_set1_epi8(3));
    const __m256i at = _mm256_or_si256(place, _mm256_set1_epi16(0x0400));  // entries of the upper byte begin at 4
    return _mm256_and_si256(_mm256_shuffle_epi8(_mm256_broadcastsi128_si256(by_place), at), codes);
  }
};

}  // namespace

void compress_x86_avx2(const CompressRequest &request) { compress_codes<PackStep>(request); }

void decompress_x86_avx2(const DecompressRequest &request) { decompress_codes<PackStep>(request); }

void nonzero_x86_avx2(const NonzeroRequest &request) { nonzero_codes<NonzeroStep>(request); }

}  // namespace lpt
