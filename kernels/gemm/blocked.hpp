// The blocked GEMM, one source for all instruction sets. Included by ISA files: all functions have internal linkage.
//
// Both operands are decoded and packed into panels of dwords. A dword holds kPerDword steps of k of one lane: one f32, two
// bf16, or four int8. A panel of a holds kTileRows lanes. A panel of b holds kTileVectors vectors of lanes. Each panel holds
// one depth of k:
//
//   a panel: dword (step, lane) at step · kTileRows + lane          b panel: at step · kTileVectors · kVector + lane
//
// A tile of c is one panel of a by one panel of b. Its sums are in registers for a depth. Between two depths they are in c, or in
// scratch if c is not f32 or is read; c is then computed area by area. The order of every sum depends on k only, not on the
// requested part of c. The packed size is bounded. The packed rows of a fill a part of a typical L2 and leave space for two panels
// of b: the current one, and the next one, which is prefetched. The packed columns of b form a slab that fits in L3.
//
// An Isa defines the tile sizes, the vector types and the operations on them; see Avx2 in x86_avx2.cpp.
#pragma once

#include <numeric>
#include <utility>

#include "kernels/gemm/driver.hpp"
#include "kernels/gemm/operand.hpp"
#include "kernels/gemm/panels.hpp"
#include "kernels/gemm/prefetch_stream.hpp"

namespace lpt {
namespace {

constexpr int64_t kBlockBytes = 128 << 10;
constexpr int64_t kFloatBlockBytes = 384 << 10;  // with AVX-512, whose CPUs have 1 MiB of L2: b is read less often
constexpr int64_t kFloatSlabBytes = 6 << 20;     // f32 panels are twice as wide as bf16, and each slab may pack a again
constexpr int64_t kFewRowsBytes = 384 << 10;     // of b, if a is one block that reads b once: a part of a typical L2
constexpr int64_t kStepsAtOnce = 16;             // of k, if lanes are adjacent: reads and writes are then short runs
constexpr int64_t kDepthDwords = 1024;           // a power of two: a depth has full blocks of scales, or a part of one
constexpr int64_t kSumRows = 1024;               // of sums in scratch
constexpr int64_t kSumColumns = 512;

// Sizes of the packed operands, and their addresses in the scratch.
template <typename Isa>
struct BlockedLayout {
  static constexpr int64_t kPanelColumns = Isa::kTileVectors * Isa::kVector;

  GemmBlocking blocking;
  int64_t depth;  // elements of k that are packed at once
  int64_t steps;  // dwords along a depth
  uint32_t *b_panels, *a_panels;
  float *row_factors, *column_factors;
  int32_t *starts;  // start values of the sums, if Isa::kHasStarts
  float *sums;      // of an area between two depths; NULL: they are in c
  size_t scratch_bytes;

  explicit BlockedLayout(const GemmRequest &request) {
    constexpr int64_t kMostDepth = kDepthDwords * Isa::kPerDword;
    const bool is_sum_in_c = request.c.format.element == LPT_FORMAT_F32 && request.beta == 0;
    const int64_t most_k = is_sum_in_c ? kMostDepth : 2 * kMostDepth;  // sums in scratch take longer
    const bool is_cut = !Isa::kHasStarts && request.k > most_k;
    depth = is_cut ? kMostDepth : request.k;
    steps = (depth + Isa::kPerDword - 1) / Isa::kPerDword;
    constexpr int64_t kRowUnit = Isa::kVector * Isa::kPerDword;  // lanes that one decoded vector may hold
    constexpr int64_t kColumnUnit = std::lcm(2 * kPanelColumns, kPanelLanes);
    constexpr int64_t kMostBytes = Isa::kPerDword == 1 ? kFloatSlabBytes : kSlabBytes;
    constexpr int64_t kRowBytes = Isa::kPerDword == 1 && Isa::kVector == 16 ? kFloatBlockBytes : kBlockBytes;
    const int64_t lane_bytes = 4 * greater(steps, 1);
    blocking = blocking_of(request, kRowBytes, lane_bytes, kRowUnit, kRowUnit);
    blocking.span = kPanelColumns;
    blocking.columns =
        min_i64(greater(kMostBytes / lane_bytes / kColumnUnit, 1) * kColumnUnit, round_up(request.n, kColumnUnit));
    if (request.m <= blocking.rows && request.b.layout != Layout::kPanels && request.is_b_transposed) {
      const int64_t panels = greater(kFewRowsBytes / lane_bytes / kPanelColumns, 1);
      blocking.columns = min_i64(blocking.columns, panels * kPanelColumns);
    }
    ScratchParts parts(request.scratch);
    b_panels = parts.take<uint32_t>(blocking.columns * steps);
    a_panels = parts.take<uint32_t>(blocking.row_space * steps);
    row_factors = parts.take<float>(blocking.row_space);
    column_factors = parts.take<float>(blocking.columns);
    starts = parts.take<int32_t>(Isa::kHasStarts ? blocking.columns : 0);
    sums = is_cut && !is_sum_in_c ? parts.take<float>(min_i64(request.m, kSumRows) * kSumColumns) : nullptr;
    scratch_bytes = parts.bytes();
  }
};

// Returns the address of half vector `half` of lanes, in panels of kHalves half vectors.
template <typename Isa, int kHalves>
uint32_t *half_at(uint32_t *panels, int64_t steps, int64_t half) {
  constexpr int64_t kHalf = Isa::kVector / 2;
  return panels + (half / kHalves) * steps * kHalves * kHalf + (half % kHalves) * kHalf;
}

// Stores kVector lanes of one step. The two halves are adjacent in a panel of b. A panel of a is half a vector wide.
template <typename Isa, int kHalves>
void store_lanes(typename Isa::Dwords lanes, uint32_t *low, uint32_t *high, int64_t step) {
  constexpr int64_t kWidth = kHalves * (Isa::kVector / 2);
  if constexpr (kHalves == 1) {
    Isa::store_halves(lanes, low + step * kWidth, high + step * kWidth);
  } else {
    Isa::store(lanes, low + step * kWidth);
  }
}

// Packs operands that are stored as lanes × k. fill(row, present, column, count, tile) decodes kVector steps of k. It reads
// `count` elements from `column` on, of `present` lanes from storage row `row` on. The loop prefetches the next lanes because
// the hardware does not prefetch so many short runs.
template <typename Isa, int kHalves, typename Fill>
void pack_tiles(const Operand &operand, int64_t first, int64_t lanes, uint32_t *panels, const Fill &fill) {
  constexpr int64_t kVector = Isa::kVector;
  constexpr int64_t kElements = kVector * Isa::kPerDword;
  const int64_t steps = (operand.k + Isa::kPerDword - 1) / Isa::kPerDword;
  for (int64_t lane = 0; lane < lanes; lane += kVector) {
    const int64_t present = min_i64(lanes - lane, kVector);
    uint32_t *const low = half_at<Isa, kHalves>(panels, steps, 2 * (lane / kVector));
    uint32_t *const high = half_at<Isa, kHalves>(panels, steps, 2 * (lane / kVector) + 1);
    const uint8_t *const next =
        operand.data + (operand.first_lane + first + lane + kVector) * operand.row_stride * operand.bits / 8;
    for (int64_t step = 0; step < steps; step += kVector) {
      const int64_t column = step * Isa::kPerDword;
      const int64_t count = min_i64(operand.k - column, kElements);
      typename Isa::Dwords tile[kVector];
      fill(operand.first_lane + first + lane, present, column, count, tile);
      for (int64_t l = 0; l < kVector; ++l)
        __builtin_prefetch(next + (l * operand.row_stride + column) * operand.bits / 8);
      const int64_t stored = min_i64(steps - step, kVector);
      if (stored == kVector) {
#pragma GCC unroll 16
        for (int64_t s = 0; s < kVector; ++s) store_lanes<Isa, kHalves>(tile[s], low, high, step + s);
      } else {
        for (int64_t s = 0; s < stored; ++s) store_lanes<Isa, kHalves>(tile[s], low, high, step + s);
      }
    }
  }
}

// The packing functions inline all that they call. `operand` is therefore a local copy in registers, which stores to the panels
// cannot change.

// Packs lanes × k. Lanes are decoded along k and transposed as dwords. Isa::Tiles, if it exists, decodes full tiles by table
// look-ups.
template <typename Isa, int kHalves, Decoder kDecoder>
[[gnu::noinline, gnu::flatten]] void pack_along_k(Operand operand, int64_t first, int64_t lanes, uint32_t *panels) {
  constexpr int64_t kVector = Isa::kVector;
  using Tile = typename Isa::Dwords[kVector];
  const auto fill = [&](int64_t row, int64_t present, int64_t column, int64_t count, Tile &tile) {
#pragma GCC unroll 16
    for (int64_t l = 0; l < kVector; ++l) {
      tile[l] = l < present ? Isa::template decode<kDecoder>(operand, row + l, column, count) : Isa::no_dwords();
    }
    Isa::transpose(tile);
  };
  if constexpr (kDecoder == Decoder::kTable) {
    if constexpr (requires { typename Isa::Tiles; }) {
      if (Isa::Tiles::takes(operand)) {
        typename Isa::Tiles tiles(operand);
        return pack_tiles<Isa, kHalves>(operand, first, lanes, panels,
                                        [&](int64_t row, int64_t present, int64_t column, int64_t count, Tile &tile) {
                                          const bool is_whole = present == kVector && count >= kVector;
                                          if (!is_whole) return fill(row, present, column, count, tile);
                                          tiles.decode_steps(operand, row, column, tile);
                                        });
      }
    }
  }
  pack_tiles<Isa, kHalves>(operand, first, lanes, panels, fill);
}

// Packs k × lanes. Lanes are adjacent, and the rows that share a dword are interleaved.
template <typename Isa, int kHalves, Decoder kDecoder>
[[gnu::noinline, gnu::flatten]] void pack_along_lanes(Operand operand, int64_t first, int64_t lanes, uint32_t *panels) {
  constexpr int64_t kVector = Isa::kVector;
  constexpr int64_t kRows = Isa::kPerDword;
  const int64_t steps = (operand.k + kRows - 1) / kRows;
  const int64_t first_column = operand.first_lane + first;
  for (int64_t step = 0; step < steps; step += kStepsAtOnce) {
    const int64_t end = min_i64(steps, step + kStepsAtOnce);
    for (int64_t lane = 0; lane < lanes; lane += kVector * kRows) {
      const int64_t count = min_i64(lanes - lane, kVector * kRows);
      uint32_t *low[kRows], *high[kRows];
      for (int64_t v = 0; v < kRows; ++v) {
        low[v] = half_at<Isa, kHalves>(panels, steps, 2 * (lane / kVector + v));
        high[v] = half_at<Isa, kHalves>(panels, steps, 2 * (lane / kVector + v) + 1);
      }
      for (int64_t s = step; s < end; ++s) {
        typename Isa::Dwords rows[kRows];
#pragma GCC unroll 4
        for (int64_t r = 0; r < kRows; ++r) {
          const bool is_present = kRows == 1 || kRows * s + r < operand.k;
          rows[r] = is_present ? Isa::template decode<kDecoder>(operand, kRows * s + r, first_column + lane, count)
                               : Isa::no_dwords();
        }
        Isa::interleave(rows);
#pragma GCC unroll 4
        for (int64_t v = 0; v < kRows; ++v) {
          if (v == 0 || v * kVector < count) store_lanes<Isa, kHalves>(rows[v], low[v], high[v], s);
        }
      }
    }
  }
}

template <typename Isa, int kHalves, Decoder kDecoder>
void pack_as(const Operand &operand, int64_t first, int64_t lanes, uint32_t *panels) {
  operand.is_k_adjacent ? pack_along_k<Isa, kHalves, kDecoder>(operand, first, lanes, panels)
                        : pack_along_lanes<Isa, kHalves, kDecoder>(operand, first, lanes, panels);
}

template <typename Isa, int kHalves>
void pack(const Operand &operand, int64_t first, int64_t lanes, uint32_t *panels) {
  if constexpr (Isa::kPerDword == 4) return pack_as<Isa, kHalves, Decoder::kInt8>(operand, first, lanes, panels);
  switch (operand.decoder) {
    case Decoder::kEightBits:
      if constexpr (requires { &Isa::template pack_bytes<kHalves>; }) {
        if (operand.is_k_adjacent && !operand.is_scaled_along_k) {
          return Isa::template pack_bytes<kHalves>(operand, first, lanes, panels);
        }
      }
      return pack_as<Isa, kHalves, Decoder::kEightBits>(operand, first, lanes, panels);
    case Decoder::kInt8:
      return pack_as<Isa, kHalves, Decoder::kInt8>(operand, first, lanes, panels);
    case Decoder::kTable:
      return pack_as<Isa, kHalves, Decoder::kTable>(operand, first, lanes, panels);
    case Decoder::kBf16:
      return pack_as<Isa, kHalves, Decoder::kBf16>(operand, first, lanes, panels);
    case Decoder::kF16:
      if constexpr (Isa::kPerDword == 1) pack_as<Isa, kHalves, Decoder::kF16>(operand, first, lanes, panels);
      return;
    case Decoder::kF32:
      if constexpr (Isa::kPerDword == 1) pack_as<Isa, kHalves, Decoder::kF32>(operand, first, lanes, panels);
      return;
  }
}

// Applies column factors, beta and bias to a sum, rounds it to the format of c, and stores the columns that exist. The sum is
// passed by reference. GCC 12 does not end a function that has a vector parameter with vzeroupper, and SSE instructions that
// follow would be slow.
template <typename Isa>
void apply_epilogue(const typename Isa::Floats &sum, const TileEpilogue &epilogue, int64_t column, uint8_t *c) {
  const int64_t count = min_i64(epilogue.columns - column, Isa::kVector);
  typename Isa::Floats value = sum * Isa::load_floats(epilogue.column_factors + column);
  if (epilogue.beta != 0) value = value + Isa::all(epilogue.beta) * Isa::read(epilogue.format, c, count);
  if (epilogue.bias != nullptr) {
    value = value + Isa::read(LPT_FORMAT_F32, reinterpret_cast<const uint8_t *>(epilogue.bias + column), count);
  }
  Isa::write(epilogue.format, c, value, count);
}

template <typename Isa, int kVectors>
bool is_stored_whole(const TileEpilogue &epilogue) {
  return epilogue.format == LPT_FORMAT_F32 && epilogue.beta == 0 && epilogue.bias == nullptr &&
         epilogue.columns >= kVectors * Isa::kVector;
}

// Stores a full tile whose sums need factors only. The constants are copied from `epilogue` because the compiler assumes that
// stores to c may change it.
template <typename Isa, bool kHasRowFactors = true, int kRows, int kVectors>
[[gnu::always_inline]] inline void store_tile(const typename Isa::Sums (&sums)[kRows][kVectors],
                                              const TileEpilogue &epilogue) {
  uint8_t *const c = epilogue.c;
  const int64_t row_bytes = epilogue.row_bytes;
  [[maybe_unused]] const float *const row_factors = epilogue.row_factors;
  typename Isa::Floats factors[kVectors];
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) factors[v] = Isa::load_floats(epilogue.column_factors + v * Isa::kVector);
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
    auto *const to = reinterpret_cast<float *>(c + i * row_bytes);
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      auto value = Isa::floats(sums[i][v]);
      if constexpr (kHasRowFactors) value = value * Isa::all(row_factors[i]);
      Isa::store_floats(value * factors[v], to + v * Isa::kVector);
    }
  }
}

// Reads and stores sums between two depths.
template <typename Isa, int kRows, int kVectors>
[[gnu::always_inline]] inline void read_sums(const TileEpilogue &epilogue,
                                             typename Isa::Sums (&sums)[kRows][kVectors]) {
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      const int64_t column = v * Isa::kVector;
      const float *const from = epilogue.sums + i * epilogue.sums_stride + column;
      sums[i][v] =
          Isa::read(LPT_FORMAT_F32, reinterpret_cast<const uint8_t *>(from), greater(epilogue.columns - column, 0));
    }
  }
}

template <typename Isa, int kRows, int kVectors>
[[gnu::always_inline]] inline void store_sums(const typename Isa::Sums (&sums)[kRows][kVectors],
                                              const TileEpilogue &epilogue) {
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      const int64_t column = v * Isa::kVector;
      float *const to = epilogue.sums + i * epilogue.sums_stride + column;
      Isa::write(LPT_FORMAT_F32, reinterpret_cast<uint8_t *>(to), sums[i][v], greater(epilogue.columns - column, 0));
    }
  }
}

template <typename Isa, int kRows, int kVectors>
[[gnu::always_inline]] inline void write_tile(const typename Isa::Sums (&sums)[kRows][kVectors],
                                              const TileEpilogue &epilogue) {
  if (is_stored_whole<Isa, kVectors>(epilogue)) return store_tile<Isa>(sums, epilogue);
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      const int64_t column = v * Isa::kVector;
      if (v > 0 && epilogue.columns <= column) break;
      uint8_t *const c = epilogue.c + i * epilogue.row_bytes + column * epilogue.element_bytes;
      apply_epilogue<Isa>(Isa::floats(sums[i][v]) * Isa::all(epilogue.row_factors[i]), epilogue, column, c);
    }
  }
}

// Multiplies a panel of a by a panel of b.
template <typename Isa, int kRows, int kVectors>
void multiply_tile(const uint32_t *a, const uint32_t *b, int64_t steps, PrefetchStream prefetch,
                   const TileEpilogue &epilogue) {
  typename Isa::Sums sums[kRows][kVectors];
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
    __builtin_prefetch(epilogue.c + i * epilogue.row_bytes, 1);
    __builtin_prefetch(epilogue.c + i * epilogue.row_bytes + epilogue.element_bytes * (kVectors * Isa::kVector - 1), 1);
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) sums[i][v] = Isa::start(epilogue.starts + v * Isa::kVector);
  }
  if constexpr (!Isa::kHasStarts) {
    if (!epilogue.is_first_depth) read_sums<Isa>(epilogue, sums);
  }
  for (int64_t step = 0; step < steps; ++step) {
    typename Isa::Dwords columns[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) columns[v] = Isa::load(b + v * Isa::kVector);
    __builtin_prefetch(prefetch.from, 0, 2);
    prefetch.advance();
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
      const auto row = Isa::repeat(a + i);
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) sums[i][v] = Isa::add_product(sums[i][v], row, columns[v]);
    }
    a += Isa::kTileRows;
    b += Isa::kTileVectors * Isa::kVector;
  }
  if constexpr (!Isa::kHasStarts) {
    if (!epilogue.is_last_depth) return store_sums<Isa>(sums, epilogue);
  }
  write_tile<Isa>(sums, epilogue);
}

using TileFunction = void (*)(const uint32_t *a, const uint32_t *b, int64_t steps, PrefetchStream prefetch,
                              const TileEpilogue &epilogue);

template <typename Isa, int kVectors, int... kRows>
TileFunction tile_of(int64_t rows, std::integer_sequence<int, kRows...>) {
  static constexpr TileFunction tiles[] = {multiply_tile<Isa, kRows + 1, kVectors>...};
  return tiles[rows - 1];
}

template <typename Isa, int kVectors>
TileFunction tile_of(int64_t rows) {
  return tile_of<Isa, kVectors>(rows, std::make_integer_sequence<int, Isa::kTileRows>());
}

template <typename Isa>
TileFunction tile_of(int64_t rows, int64_t columns) {
  if (columns <= Isa::kVector) return tile_of<Isa, 1>(rows);
  if (columns <= 2 * Isa::kVector || Isa::kTileVectors == 2) return tile_of<Isa, 2>(rows);
  return tile_of<Isa, Isa::kTileVectors>(rows);
}

// Implements the Kernel of driver.hpp, for one depth.
template <typename Isa>
struct BlockedGemm {
  const GemmRequest &request;
  const BlockedLayout<Isa> &layout;
  Operand a, b;
  Depth depth = {};

  int64_t steps() const { return (depth.count + Isa::kPerDword - 1) / Isa::kPerDword; }

  void pack_columns(int64_t column, int64_t columns) const {
    const int64_t filled = round_up(columns, layout.kPanelColumns);
    const auto alpha = static_cast<float>(request.alpha);
    if (!expand_columns(column, columns, alpha)) {
      pack<Isa, 2 * Isa::kTileVectors>(at_depth(b, depth), column, columns, layout.b_panels);
      for (int64_t j = 0; j < columns; ++j) layout.column_factors[j] = lane_factor(b, column + j) * alpha;
    }
    for (int64_t j = columns; j < filled; ++j) layout.column_factors[j] = 0;
    if constexpr (Isa::kHasStarts) {
      for (int64_t j = 0; j < filled; j += layout.kPanelColumns) {
        Isa::set_starts(layout.b_panels + j * steps(), steps(), layout.starts + j);
      }
    }
  }

  void pack_rows(int64_t row, int64_t rows, const Depth &) const {
    pack<Isa, 1>(at_depth(a, depth), row, rows, layout.a_panels);
    for (int64_t i = 0; i < rows; ++i) layout.row_factors[i] = lane_factor(a, row + i);
  }

  void multiply(const GemmArea &area, const Depth &) const {
    const int64_t steps = this->steps(), column = area.column - area.slab;
    const uint32_t *const a_panels = layout.a_panels, *const b_panel = layout.b_panels + column * steps;
    TileEpilogue epilogue = epilogue_of(request, area);
    epilogue.row_factors = layout.row_factors;
    epilogue.column_factors = layout.column_factors + column;
    epilogue.starts = layout.starts + column;
    epilogue.is_first_depth = depth.first == 0;
    epilogue.is_last_depth = depth.first + depth.count == request.k;
    epilogue.sums = reinterpret_cast<float *>(epilogue.c);
    epilogue.sums_stride = request.c.row_stride;
    if (layout.sums != nullptr) {
      epilogue.sums = layout.sums + area.row * kSumColumns + area.column;
      epilogue.sums_stride = kSumColumns;
    }
    const int64_t end = min_i64(request.n, area.slab + layout.blocking.columns);
    const bool is_end = area.column + area.columns == end;
    const uint32_t *const next = is_end ? layout.b_panels : b_panel + layout.kPanelColumns * steps;
    const int64_t tiles = (area.rows + Isa::kTileRows - 1) / Isa::kTileRows;
    PrefetchStream prefetch = prefetch_of(tiles, reinterpret_cast<const uint8_t *>(b_panel), 1,
                                          reinterpret_cast<const uint8_t *>(next), 4 * layout.kPanelColumns);
    for (int64_t i = 0; i < area.rows; i += Isa::kTileRows) {
      tile_of<Isa>(min_i64(area.rows - i, Isa::kTileRows), area.columns)(a_panels + i * steps, b_panel, steps, prefetch,
                                                                         epilogue);
      prefetch.skip(steps);
      epilogue.c += Isa::kTileRows * epilogue.row_bytes;
      epilogue.row_factors += Isa::kTileRows;
      epilogue.sums += Isa::kTileRows * epilogue.sums_stride;
    }
  }

 private:
  // Expands packed weights and returns true, if the Isa has a function for them.
  bool expand_columns(int64_t column, int64_t columns, float alpha) const {
    if constexpr (requires { Isa::expand_panels; }) {
      if (request.b.layout == Layout::kPanels) {
        const int64_t first = request.first_column + column;
        Isa::expand_panels(request.b, first, columns, request.k, depth, layout.b_panels);
        for (int64_t j = 0; j < columns; ++j) {
          layout.column_factors[j] = lane_factor(request.b, first + j, request.k) * alpha;
        }
        return true;
      }
    }
    return false;
  }
};

template <typename Isa>
void multiply_part(const GemmRequest &request, const BlockedLayout<Isa> &layout) {
  ValueTable a_values, b_values;
  BlockedGemm<Isa> gemm = {
      .request = request,
      .layout = layout,
      .a = operand_of(request.a, !request.is_a_transposed, request.first_row, request.k, a_values),
      .b = operand_of(request.b, request.is_b_transposed, request.first_column, request.k, b_values)};
  if (Isa::kHasStarts) gemm.a.flip = 0x80;
  do {
    gemm.depth.count = min_i64(request.k - gemm.depth.first, layout.depth);
    run_driver(request, layout.blocking, gemm);
    gemm.depth.first += gemm.depth.count;
  } while (gemm.depth.first < request.k);
}

template <typename Isa>
void multiply(const GemmRequest &request) {
  const BlockedLayout<Isa> layout(request);
  if (layout.sums == nullptr) return multiply_part(request, layout);
  GemmRequest area = request;
  for (int64_t row = 0; row < request.m; row += kSumRows) {
    area.first_row = request.first_row + row;
    area.m = min_i64(request.m - row, kSumRows);
    for (int64_t column = 0; column < request.n; column += kSumColumns) {
      area.first_column = request.first_column + column;
      area.n = min_i64(request.n - column, kSumColumns);
      multiply_part(area, layout);
    }
  }
}

template <typename Isa>
size_t scratch_bytes_of(const GemmRequest &request) {
  return BlockedLayout<Isa>(request).scratch_bytes;
}

}  // namespace
}  // namespace lpt
