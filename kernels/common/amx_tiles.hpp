// Tiles of AMX. Included by ISA files: all functions have internal linkage.
//
// A step is one multiplication of tiles: 16 rows of a times 16 columns of b, over 64 bytes of k. Two by two tiles of c are in
// tile registers. Each step loads two tiles of a and two of b for four multiplications.
//
//   a: two tiles of 16 rows by 64 bytes, 2 KiB per step     b: 16 dwords of k by 32 columns, 2 KiB per step
//
// Sums are stored and loaded as f32 or int32. Cutting k therefore does not change the bits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/common/intrinsics.hpp"

namespace lpt {
namespace {

constexpr int64_t kUnitRows = 16;
constexpr int64_t kUnitColumns = 16;
constexpr int64_t kStepBytes = 64;       // of k
constexpr int64_t kUnitBytes = 16 * 64;  // of a tile
constexpr int64_t kPairRows = 2 * kUnitRows;
constexpr int64_t kPairColumns = 2 * kUnitColumns;
constexpr int64_t kPairNumbers = kPairRows * kPairColumns;  // of c
constexpr int64_t kPairRowBytes = kPairColumns * 4;         // of c, and of a dword of k of b

// Configures the tile registers of the calling thread, and releases them in the destructor. Afterwards a context switch does
// not save tile data. A step has up to kStepBytes of k, a multiple of 4.
class AmxTileConfig {
 public:
  explicit AmxTileConfig(int64_t step_bytes = kStepBytes) {
    struct alignas(64) {
      uint8_t palette = 1, start_row = 0, reserved[14] = {};
      uint16_t row_bytes[16] = {};
      uint8_t rows[16] = {};
    } setup;
    for (int tile = 0; tile < 8; ++tile) {
      setup.row_bytes[tile] = kStepBytes;
      setup.rows[tile] = kUnitRows;
    }
    if (step_bytes < kStepBytes) {
      setup.row_bytes[4] = setup.row_bytes[5] = static_cast<uint16_t>(step_bytes);  // a
      setup.rows[6] = setup.rows[7] = static_cast<uint8_t>(step_bytes / 4);         // b
    }
    asm volatile("" : : "r"(&setup) : "memory");  // the intrinsic declares only the first bytes to the compiler
    _tile_loadconfig(&setup);
  }
  ~AmxTileConfig() { _tile_release(); }
  AmxTileConfig(const AmxTileConfig &) = delete;
  AmxTileConfig &operator=(const AmxTileConfig &) = delete;
};

// Tiles 0 to 3 are sums: 0 and 1 of the upper rows, 2 and 3 of the lower rows. Tiles 4 and 5 hold a, tiles 6 and 7 hold b.
struct AmxBf16 {
  static void multiply_upper_left() { _tile_dpbf16ps(0, 4, 6); }
  static void multiply_upper_right() { _tile_dpbf16ps(1, 4, 7); }
  static void multiply_lower_left() { _tile_dpbf16ps(2, 5, 6); }
  static void multiply_lower_right() { _tile_dpbf16ps(3, 5, 7); }
};

struct AmxInt8 {
  static void multiply_upper_left() { _tile_dpbssd(0, 4, 6); }
  static void multiply_upper_right() { _tile_dpbssd(1, 4, 7); }
  static void multiply_lower_left() { _tile_dpbssd(2, 5, 6); }
  static void multiply_lower_right() { _tile_dpbssd(3, 5, 7); }
};

// Each pair of tiles of a reads the same panel of b. If both fill the L1 cache, loads of a have a streaming hint, so that they
// do not evict the panel. If both fit in L1 with c, the hint costs a little time.
constexpr int64_t kStepsTogether = 8;

template <bool kIsStreamed>
void load_upper(const uint8_t *a) {
  if constexpr (kIsStreamed) {
    _tile_stream_loadd(4, a, kStepBytes);
  } else {
    _tile_loadd(4, a, kStepBytes);
  }
}

template <bool kIsStreamed>
void load_lower(const uint8_t *a) {
  if constexpr (kIsStreamed) {
    _tile_stream_loadd(5, a + kUnitBytes, kStepBytes);
  } else {
    _tile_loadd(5, a + kUnitBytes, kStepBytes);
  }
}

// Prefetches 32 f32 or int32, which will be written.
inline void prefetch_row(const uint8_t *row) {
  __builtin_prefetch(row, 1);
  __builtin_prefetch(row + kStepBytes, 1);
}

// Computes up to 32 rows by 32 columns. `sums` are the previous sums of c; NULL: zeros. `sums` and `out` may be the same
// memory. If loads of a are streamed, each step prefetches a row of `next`; two rows with kIsPair. `next` is the sums of the
// next call, or `out` if that reads none.
template <typename Unit, bool kIsPair, bool kIsStreamed>
[[gnu::noinline]] void multiply_steps(const uint8_t *a, const uint8_t *b, int64_t steps, const void *sums, void *out,
                                      const uint8_t *next) {
  asm volatile("" ::: "memory");  // the compiler does not treat tile loads as memory accesses
  const auto *const from = static_cast<const uint8_t *>(sums);
  if (from == nullptr) {
    _tile_zero(0);
    _tile_zero(1);
    if constexpr (kIsPair) {
      _tile_zero(2);
      _tile_zero(3);
    }
  } else {
    _tile_loadd(0, from, kPairRowBytes);
    _tile_loadd(1, from + kStepBytes, kPairRowBytes);
    if constexpr (kIsPair) {
      _tile_loadd(2, from + kUnitRows * kPairRowBytes, kPairRowBytes);
      _tile_loadd(3, from + kUnitRows * kPairRowBytes + kStepBytes, kPairRowBytes);
    }
  }
  for (int64_t step = 0; step < steps; ++step) {
    load_upper<kIsStreamed>(a);
    _tile_loadd(6, b, kPairRowBytes);
    Unit::multiply_upper_left();
    if constexpr (kIsStreamed) prefetch_row(next);
    next += kPairRowBytes;
    _tile_loadd(7, b + kStepBytes, kPairRowBytes);
    Unit::multiply_upper_right();
    if constexpr (kIsPair) {
      load_lower<kIsStreamed>(a);
      if constexpr (kIsStreamed) prefetch_row(next);
      next += kPairRowBytes;
      Unit::multiply_lower_left();
      Unit::multiply_lower_right();
    }
    a += 2 * kUnitBytes;
    b += 2 * kUnitBytes;
  }
  auto *const to = static_cast<uint8_t *>(out);
  _tile_stored(0, to, kPairRowBytes);
  _tile_stored(1, to + kStepBytes, kPairRowBytes);
  if constexpr (kIsPair) {
    _tile_stored(2, to + kUnitRows * kPairRowBytes, kPairRowBytes);
    _tile_stored(3, to + kUnitRows * kPairRowBytes + kStepBytes, kPairRowBytes);
  }
  asm volatile("" ::: "memory");
}

template <typename Unit, bool kIsPair>
void multiply_amx(const uint8_t *a, const uint8_t *b, int64_t steps, const void *sums, void *out, const void *next) {
  const auto *const from = static_cast<const uint8_t *>(next);
  return steps > kStepsTogether ? multiply_steps<Unit, kIsPair, true>(a, b, steps, sums, out, from)
                                : multiply_steps<Unit, kIsPair, false>(a, b, steps, sums, out, from);
}

}  // namespace
}  // namespace lpt
