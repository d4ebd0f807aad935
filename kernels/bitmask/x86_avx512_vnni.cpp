// Bitmask storage by the compress and expand instructions of VBMI2.
#include <cstring>

#include "kernels/bitmask/bitmask.hpp"
#include "kernels/common/intrinsics.hpp"
#include "kernels/common/prefetcher.hpp"

namespace lpt {
namespace {

struct Units1 {
  using Mask = uint64_t;
  static constexpr int32_t kBytes = 1;
  static Mask mark(__m512i line) { return _mm512_test_epi8_mask(line, line); }
  static __m512i gather(Mask mask, __m512i line) { return _mm512_maskz_compress_epi8(mask, line); }
  static __m512i spread(Mask mask, __m512i units) { return _mm512_maskz_expand_epi8(mask, units); }
};

struct Units2 {
  using Mask = uint32_t;
  static constexpr int32_t kBytes = 2;
  static Mask mark(__m512i line) { return _mm512_test_epi16_mask(line, line); }
  static __m512i gather(Mask mask, __m512i line) { return _mm512_maskz_compress_epi16(mask, line); }
  static __m512i spread(Mask mask, __m512i units) { return _mm512_maskz_expand_epi16(mask, units); }
};

struct Units4 {
  using Mask = uint16_t;
  static constexpr int32_t kBytes = 4;
  static Mask mark(__m512i line) { return _mm512_test_epi32_mask(line, line); }
  static __m512i gather(Mask mask, __m512i line) { return _mm512_maskz_compress_epi32(mask, line); }
  static __m512i spread(Mask mask, __m512i units) { return _mm512_maskz_expand_epi32(mask, units); }
};

template <typename Units>
inline typename Units::Mask mask_of(const uint8_t *bits, int64_t line) {
  typename Units::Mask mask;
  memcpy(&mask, bits + line * static_cast<int64_t>(sizeof mask), sizeof mask);
  return mask;
}

template <typename Units>
inline int64_t kept_bytes(typename Units::Mask mask) {
  return __builtin_popcountll(mask) * Units::kBytes;
}

template <typename Units>
void mark_lines(const MarkRequest &request) {
  int64_t kept = 0;
  for (int64_t i = 0; i < request.count; ++i) {
    const auto mask = Units::mark(_mm512_loadu_si512(request.lines + i * kBitmaskLine));
    memcpy(request.bits + i * static_cast<int64_t>(sizeof mask), &mask, sizeof mask);
    kept += __builtin_popcountll(mask);
  }
  *request.out_kept = kept;
}

template <typename Units>
void compact_lines(const CompactRequest &request) {
  uint8_t *to = request.units;
  for (int64_t i = 0; i < request.count; ++i) {
    const auto mask = mask_of<Units>(request.bits, i);
    const __m512i units = Units::gather(mask, _mm512_loadu_si512(request.lines + i * kBitmaskLine));
    const int64_t bytes = kept_bytes<Units>(mask);
    const uint64_t written = bytes == kBitmaskLine ? ~uint64_t{0} : (uint64_t{1} << bytes) - 1;
    _mm512_mask_storeu_epi8(to, written, units);
    to += bytes;
  }
}

// The address of the units of the next line depends only on the mask of this line, so that lines are expanded independently.
template <typename Units>
void fill_lines(const ExpandRequest &request) {
  const uint8_t *from = request.units;
  const Prefetcher prefetcher = make_prefetcher(nullptr, 2048);
  for (int64_t i = 0; i < request.count; ++i) {
    const auto mask = mask_of<Units>(request.bits, i);
    prefetcher.prefetch<1>(from);
    _mm512_store_si512(request.lines + i * kBitmaskLine, Units::spread(mask, _mm512_loadu_si512(from)));
    from += kept_bytes<Units>(mask);
  }
}

}  // namespace

void mark_units_x86_avx512_vnni(const MarkRequest &request) {
  if (request.unit_bytes == 1) return mark_lines<Units1>(request);
  if (request.unit_bytes == 2) return mark_lines<Units2>(request);
  mark_lines<Units4>(request);
}

void compact_units_x86_avx512_vnni(const CompactRequest &request) {
  if (request.unit_bytes == 1) return compact_lines<Units1>(request);
  if (request.unit_bytes == 2) return compact_lines<Units2>(request);
  compact_lines<Units4>(request);
}

void fill_units_x86_avx512_vnni(const ExpandRequest &request) {
  if (request.unit_bytes == 1) return fill_lines<Units1>(request);
  if (request.unit_bytes == 2) return fill_lines<Units2>(request);
  fill_lines<Units4>(request);
}

}  // namespace lpt
