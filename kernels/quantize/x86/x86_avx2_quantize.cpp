// Casts a matrix with AVX2: for each panel, computes the scales of its blocks, then casts spans of its rows.
#include "kernels/common/simd_avx2.hpp"
#include "kernels/quantize/kernels.hpp"
#include "kernels/quantize/x86/avx2_candidates.hpp"
#include "kernels/quantize/x86/avx2_encode.hpp"
#include "kernels/quantize/x86/avx2_random.hpp"
#include "kernels/quantize/x86/avx2_scales.hpp"

namespace lpt {
namespace {

constexpr int64_t kPanelColumns = kRandomColumns;
constexpr int64_t kPanelBlocks = kPanelColumns / 16;

// Random bits of eight rows, 16 per element, if the bits of a column are adjacent.
struct RandomTile {
  alignas(32) uint8_t row[8][2 * kPanelColumns];
  int64_t first;  // row of the tile that is the first row of the request
};

// State of one request.
struct CastState {
  Coder coder;
  const RandomTile *tile = nullptr;  // NULL: random bits run along rows
  int64_t bits;                      // of a code
  PhiloxLanes philox;
  RandomSlab random;
  alignas(32) float numbers[kPanelColumns];
  alignas(32) uint32_t amax[kPanelBlocks + 8];  // magnitudes of blocks, as bits
  alignas(32) float inverse[kPanelBlocks + 8];  // of block scales, or the only one
  int32_t log2_columns;                         // of a block

  explicit CastState(const QuantizeRequest &request) : coder(coder_of(request)), bits(coder.element.bits) {
    if (is_drawn(coder.rounding)) philox = philox_lanes(request.random);
  }
};

// Adjacent elements of a row; the first is in column `slab_column` of the panel.
struct CastSpan {
  int64_t row, column, count, slab_column;
};

// Returns a part of a request that begins at a block boundary and at a byte of the target.
inline QuantizeRequest part_of(const QuantizeRequest &request, int64_t bits, int64_t row, int64_t rows, int64_t column,
                               int64_t columns) {
  QuantizeRequest part = request;
  part.source.rows = part.target.rows = rows;
  part.source.columns = part.target.columns = columns;
  part.source.data =
      static_cast<uint8_t *>(request.source.data) +
      (row * request.source.row_stride + column * request.source.column_stride) * source_bytes(request.source);
  part.target.data =
      static_cast<uint8_t *>(request.target.data) + (row * request.target.row_stride + column) * bits / 8;
  part.random.offset += row * request.random.row_stride + column * request.random_column_stride;
  const Format &format = request.target.format;
  if (format.block_scale == LPT_FORMAT_NONE) return part;
  const int64_t block_row = format.block_rows > 0 ? row / format.block_rows : 0;
  const int64_t block_column = format.block_columns > 0 ? column / format.block_columns : 0;
  part.target.block_scales =
      static_cast<uint8_t *>(request.target.block_scales) +
      (block_row * request.target.block_scale_stride + block_column) * (format.block_scale == LPT_FORMAT_F32 ? 4 : 1);
  return part;
}

// Casts a few elements with one inverse by the reference kernel.
[[gnu::noinline]] void cast_by_reference(const QuantizeRequest &request, const CastState &state, const CastSpan &span) {
  for (int64_t at = 0; at < span.count; at += 16) {
    QuantizeRequest part = part_of(request, state.bits, span.row, 1, span.column + at, least(16, span.count - at));
    part.target.format.block_scale = part.target.format.tensor_scale = LPT_FORMAT_NONE;
    part.tensor_inverse = state.inverse[(span.slab_column + at) >> state.log2_columns];
    quantize_any_ref(part);
  }
}

// Spans.

// Inverses of blocks along a row, or one for all.
struct InverseLanes {
  BlockLanes blocks;
  const float *slab;
  __m256 one;
  bool is_one;

  explicit InverseLanes(const CastState &state) : blocks(state.log2_columns), slab(state.inverse) {
    one = _mm256_set1_ps(state.inverse[0]);
    is_one = state.log2_columns == kEndless;
  }
  [[gnu::always_inline]] inline __m256 of(int64_t column) const { return is_one ? one : blocks.of(slab, column); }
};

// Casts one group of 32 elements. Returns false if nothing was stored.
template <typename Lanes>
[[gnu::always_inline]] inline bool cast_group(const Lanes &lanes, const InverseLanes &inverses, int64_t slab_column,
                                              const float *from, const uint8_t *random, int64_t bits, uint8_t *to,
                                              bool has_amax, __m256i &amax) {
  __m256 source[4];
  __m256 inverse[4];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    source[i] = _mm256_loadu_ps(from + 8 * i);
    inverse[i] = inverses.of(slab_column + 8 * i);
  }
  __m256i codes;
  if (!lanes.codes_of(source, inverse, random, codes)) return false;
  if (has_amax) {
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) amax = _mm256_max_epi32(amax, magnitude_bits(source[i]));
  }
  store_codes(codes, bits, to);
  return true;
}

// Casts a span whose elements are at `from`. Returns the largest magnitude of the elements cast by vectors, as bits.
template <typename Lanes, Rounding kRounding>
uint32_t cast_span(const QuantizeRequest &request, const CastState &state, const CastSpan &span, const float *from,
                   const uint8_t *random, uint8_t *to) {
  const Lanes lanes(state.coder);
  const InverseLanes inverses(state);
  const bool has_amax = request.amax != nullptr;
  const int64_t bits = state.bits;
  const int64_t count = span.count;
  const int64_t slab_column = span.slab_column;
  __m256i amax = _mm256_setzero_si256();
  int64_t at = 0;
  for (; at + 32 <= count; at += 32) {
    const bool is_done =
        cast_group(lanes, inverses, slab_column + at, from + at, random, bits, to + at * bits / 8, has_amax, amax);
    if (!is_done) cast_by_reference(request, state, {span.row, span.column + at, 32, slab_column + at});
    if constexpr (is_drawn(kRounding)) random += 32 * random_bytes(kRounding);
  }
  if (at == count) return largest_lane(amax);
  float rest[32] = {};
  uint8_t codes[32];
  memcpy(rest, from + at, static_cast<size_t>(count - at) * sizeof(float));
  if (cast_group(lanes, inverses, slab_column + at, rest, random, bits, codes, has_amax, amax)) {
    const int64_t rest_bits = (count - at) * bits;
    if (rest_bits % 8 != 0) codes[rest_bits / 8] &= static_cast<uint8_t>((1 << rest_bits % 8) - 1);  // as store_code()
    memcpy(to + at * bits / 8, codes, static_cast<size_t>((rest_bits + 7) / 8));
  } else {
    cast_by_reference(request, state, {span.row, span.column + at, count - at, slab_column + at});
  }
  return largest_lane(amax);
}

template <Elements kElements>
uint32_t cast_span(const QuantizeRequest &request, const CastState &state, const CastSpan &span, const float *from,
                   const uint8_t *random, uint8_t *to) {
  const auto cast = [&]<Rounding kRounding>() {
    return cast_span<CoderLanes<kElements, kRounding>, kRounding>(request, state, span, from, random, to);
  };
  switch (state.coder.rounding) {
    case Rounding::kNearest:
      return cast.template operator()<Rounding::kNearest>();
    case Rounding::kDown:
      return cast.template operator()<Rounding::kDown>();
    case Rounding::kDrawn16:
      return cast.template operator()<Rounding::kDrawn16>();
    default:
      return cast.template operator()<Rounding::kDrawn8>();
  }
}

inline uint32_t cast_span(const QuantizeRequest &request, const CastState &state, const CastSpan &span,
                          const float *from, const uint8_t *random, uint8_t *to) {
  switch (elements_of(state.coder.element)) {
    case Elements::kFloat:
      return cast_span<Elements::kFloat>(request, state, span, from, random, to);
    case Elements::kInteger:
      return cast_span<Elements::kInteger>(request, state, span, from, random, to);
    case Elements::kUnsigned:
      return cast_span<Elements::kUnsigned>(request, state, span, from, random, to);
    default:
      return cast_span<ListLanes, Rounding::kNearest>(request, state, span, from, random, to);
  }
}

// Casts one row of a panel, in spans that fit the buffers.
inline uint32_t cast_row(const QuantizeRequest &request, CastState &state, const CastSpan &row) {
  const bool is_direct = request.source.format.element == LPT_FORMAT_F32 && !is_drawn(state.coder.rounding);
  const int64_t width = is_direct ? row.count : kPanelColumns;
  uint32_t amax = 0;
  for (int64_t at = 0; at < row.count; at += width) {
    const CastSpan span = {row.row, row.column + at, least(width, row.count - at), row.slab_column + at};
    const float *from = numbers_at(request.source, row.row, span.column, span.count, state.numbers);
    const uint8_t *random = state.random.bytes;
    if (is_drawn(state.coder.rounding)) {
      const uint64_t index = static_cast<uint64_t>(request.random.offset) +
                             static_cast<uint64_t>(row.row) * static_cast<uint64_t>(request.random.row_stride) +
                             static_cast<uint64_t>(span.column);
      random = state.tile != nullptr ? state.tile->row[state.tile->first + row.row] + 2 * span.column
                                     : fill_random(request.random, state.philox, index, span.count, state.random);
    }
    uint8_t *to = static_cast<uint8_t *>(request.target.data) +
                  (row.row * request.target.row_stride + span.column) * state.bits / 8;
    const uint32_t found = cast_span(request, state, span, from, random, to);
    amax = found > amax ? found : amax;
  }
  return amax;
}

// Panels.

inline void raise_amax(const QuantizeRequest &request, uint32_t bits) {
  if (request.amax != nullptr && bits_float(bits) > *request.amax) *request.amax = bits_float(bits);
}

// Computes the magnitudes of the blocks of a panel into state.amax. Returns the largest, as bits.
inline uint32_t compute_panel_amax(const QuantizeRequest &request, CastState &state, int64_t row, int64_t rows,
                                   int64_t column, int64_t columns) {
  const int64_t blocks = state.log2_columns == kEndless ? 1 : (columns >> state.log2_columns) + 1;
  const int64_t lanes = least((blocks + 7) / 8 * 8, kPanelBlocks);
  memset(state.amax, 0, static_cast<size_t>(lanes) * sizeof *state.amax);
  const bool is_one = state.log2_columns == kEndless;
  for (int64_t r = row; r < row + rows; ++r) {
    for (int64_t at = 0; at < columns; at += kPanelColumns) {
      const int64_t count = least(kPanelColumns, columns - at);
      const float *from = numbers_at(request.source, r, column + at, count, state.numbers);
      raise_blocks(from, count, is_one ? count : int64_t{1} << state.log2_columns, state.amax);
    }
  }
  __m256i largest = _mm256_setzero_si256();
  for (int64_t i = 0; i < lanes; i += 8) largest = _mm256_max_epi32(largest, load_bytes(state.amax + i));
  return largest_lane(largest);
}

// Computes and writes `count` scales from block `index` on, and computes their inverses.
inline void compute_scales(const QuantizeRequest &request, const ScaleSpec &spec, CastState &state, int64_t index,
                           int64_t count) {
  const MatrixView &target = request.target;
  const __m256 tensor_scale =
      _mm256_set1_ps(target.format.tensor_scale != LPT_FORMAT_NONE ? *target.tensor_scale : 1.0f);
  for (int64_t i = 0; i < count; i += 8) {
    BlockScales scales;
    if (request.rule == LPT_SCALE_RULE_FIXED) {
      scales.value = load_scales(target, index + i, count - i);
    } else {
      scales = block_scales(spec, _mm256_castsi256_ps(load_bytes(state.amax + i)));
      store_scales(target, index + i, scales.codes, count - i);
    }
    _mm256_store_ps(state.inverse + i, inverses_of(_mm256_mul_ps(scales.value, tensor_scale)));
  }
}

// Rows and columns that begin at block boundaries.
struct Panel {
  int64_t row, rows, column, columns;
};

constexpr int64_t kErrorColumns = 32;  // columns of squared errors between two comparisons of candidates

// Does the same for a rule that compares several scales.
template <typename Lanes>
void search_scales(const Lanes &shared, const QuantizeRequest &request, const ScaleSpec &spec, CastState &state,
                   const Panel &panel, int64_t index, int64_t count) {
  const Lanes lanes = shared;  // in registers
  const MatrixView &target = request.target;
  const float tensor_scale = target.format.tensor_scale != LPT_FORMAT_NONE ? *target.tensor_scale : 1.0f;
  const int64_t width = state.log2_columns == kEndless ? panel.columns : int64_t{1} << state.log2_columns;
  Candidates candidates;
  for (int64_t block = 0; block < count; ++block) {
    fill_candidates(spec, bits_float(state.amax[block]), tensor_scale, candidates);
    const int64_t first = panel.column + block * width;
    const int64_t columns = least(width, panel.column + panel.columns - first);
    const auto numbers = [&](int64_t row, int64_t at, int64_t some) {
      return numbers_at(request.source, panel.row + row, first + at, some, state.numbers);
    };
    const int64_t best = best_candidate(lanes, candidates, panel.rows, columns, kErrorColumns, numbers);
    store_scales(target, index + block, all_lanes(candidates.code[best]), 1);
    state.inverse[block] = candidates.inverse[best];
  }
}

inline void search_scales(const QuantizeRequest &request, const ScaleSpec &spec, CastState &state, const Panel &panel,
                          int64_t index, int64_t count) {
  with_rounded_lanes(state.coder.element,
                     [&](const auto &lanes) { search_scales(lanes, request, spec, state, panel, index, count); });
}

// A panel that has a block with an infinity or a NaN is cast by the reference kernel.
inline void cast_blocks(const QuantizeRequest &request, CastState &state) {
  const MatrixView &target = request.target;
  const Format &format = target.format;
  const BlockGrid grid = block_grid(format, target.rows, target.columns);
  const ScaleSpec spec =
      scale_spec(format, request.rule, request.tensor_inverse, request.scale_list, request.scale_list_count);
  const bool is_cut = grid.block_columns <= kPanelColumns && format.block_columns > 0;
  state.log2_columns = is_cut ? __builtin_ctz(static_cast<uint32_t>(grid.block_columns)) : kEndless;
  const int64_t narrow = grid.block_rows > 1 ? kPanelColumns / 4 : kPanelColumns;
  const int64_t width = grid.block_columns > narrow ? grid.block_columns : narrow;
  for (int64_t row = 0; row < target.rows; row += grid.block_rows) {
    const int64_t rows = least(grid.block_rows, target.rows - row);
    for (int64_t column = 0; column < target.columns; column += width) {
      const int64_t columns = least(width, target.columns - column);
      if (request.rule != LPT_SCALE_RULE_FIXED) {
        const uint32_t largest = compute_panel_amax(request, state, row, rows, column, columns);
        if (largest >= kFloatInfinityBits) {
          quantize_any_ref(part_of(request, state.bits, row, rows, column, columns));
          continue;
        }
      }
      const int64_t blocks = (columns + grid.block_columns - 1) / grid.block_columns;
      const int64_t index = row / grid.block_rows * target.block_scale_stride + column / grid.block_columns;
      if (candidate_count(spec) > 1) {
        search_scales(request, spec, state, {row, rows, column, columns}, index, blocks);
      } else {
        compute_scales(request, spec, state, index, blocks);
      }
      for (int64_t r = row; r < row + rows; ++r) raise_amax(request, cast_row(request, state, {r, column, columns, 0}));
    }
  }
}

inline void cast_adjacent(const QuantizeRequest &request, CastState &state) {
  if (request.target.format.block_scale != LPT_FORMAT_NONE) {
    cast_blocks(request, state);
    return;
  }
  const MatrixView &source = request.source;
  const bool is_dense = source.row_stride == source.columns && request.target.row_stride == source.columns;
  const bool is_one_row = is_dense &&
                          (!is_drawn(state.coder.rounding) || request.random.row_stride == source.columns) &&
                          state.tile == nullptr;
  state.log2_columns = kEndless;
  state.inverse[0] = request.tensor_inverse;
  const int64_t rows = is_one_row ? 1 : source.rows;
  const int64_t columns = is_one_row ? source.rows * source.columns : source.columns;
  for (int64_t row = 0; row < rows; ++row) raise_amax(request, cast_row(request, state, {row, 0, columns, 0}));
}

// Sources with adjacent rows: tiles are transposed, then cast as rows.

constexpr int64_t kTransposedRows = 32;      // two full cache lines of f32, so that each line is read once
constexpr int64_t kTransposedColumns = 128;  // or one block

// Rows are padded by eight elements, because strides of powers of two cause cache set conflicts.
struct FloatTile {
  alignas(32) float numbers[8 * (kPanelColumns + 8)];
  int64_t stride, rows;

  explicit FloatTile(int64_t columns) : stride(columns + 8) {
    rows = least(kTransposedRows, static_cast<int64_t>(sizeof numbers / sizeof *numbers) / stride / 8 * 8);
  }
  float *row(int64_t index) { return numbers + index * stride; }
};

// Loads eight lines of memory, which are columns of the target; `lines` of them exist, with `rows` elements each.
[[gnu::noinline]] void load_lines(const MatrixView &source, int64_t row, int64_t rows, int64_t column, int64_t lines,
                                  __m256 *v) {
  MatrixView view = source;
  view.row_stride = source.column_stride;
  for (int64_t i = 0; i < 8; ++i) {
    alignas(32) float numbers[8] = {};
    v[i] = i < lines ? load_some(numbers_at(view, column + i, row, rows, numbers), rows) : _mm256_setzero_ps();
  }
}

// Loads eight elements of a line.
template <lpt_format kPlain>
[[gnu::always_inline]] inline __m256 load_line(const void *from, int64_t first) {
  if constexpr (kPlain == LPT_FORMAT_F32) return _mm256_loadu_ps(static_cast<const float *>(from) + first);
  return halves_to_floats(load_half_bytes(static_cast<const uint16_t *>(from) + first), kPlain == LPT_FORMAT_F16);
}

// Transposes at most tile.rows rows from `row` on, and columns from `column` on.
template <lpt_format kPlain>
void transpose_values(const MatrixView &source, int64_t row, int64_t rows, int64_t column, int64_t columns,
                      FloatTile &tile) {
  const int64_t stride = source.column_stride;
  for (int64_t at = 0; at < columns; at += 8) {
    for (int64_t first = 0; first < rows; first += 8) {
      __m256 v[8];
      if (first + 8 <= rows && at + 8 <= columns) {
#pragma GCC unroll 8
        for (int i = 0; i < 8; ++i) v[i] = load_line<kPlain>(source.data, (column + at + i) * stride + row + first);
      } else {
        __m256 lines[8];
        load_lines(source, row + first, least(rows - first, 8), column + at, columns - at, lines);
#pragma GCC unroll 8
        for (int i = 0; i < 8; ++i) v[i] = lines[i];
      }
      transpose(v);
#pragma GCC unroll 8
      for (int i = 0; i < 8; ++i) _mm256_store_ps(tile.row(first + i) + at, v[i]);
    }
  }
}

// Transposes eight blocks of eight 16-bit random words.
[[gnu::always_inline]] inline void transpose_halves(const __m128i (&block)[8], uint8_t *to, int64_t stride) {
  __m128i pairs[8];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    pairs[i] = _mm_unpacklo_epi16(block[2 * i], block[2 * i + 1]);
    pairs[4 + i] = _mm_unpackhi_epi16(block[2 * i], block[2 * i + 1]);
  }
  __m128i fours[8];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    fours[i] = _mm_unpacklo_epi32(pairs[2 * i], pairs[2 * i + 1]);
    fours[4 + i] = _mm_unpackhi_epi32(pairs[2 * i], pairs[2 * i + 1]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    const __m128i low = i % 2 == 0 ? fours[i / 2 * 2] : fours[4 + i / 2 * 2];
    const __m128i high = i % 2 == 0 ? fours[i / 2 * 2 + 1] : fours[4 + i / 2 * 2 + 1];
    _mm_store_si128(reinterpret_cast<__m128i *>(to + 2 * i * stride), _mm_unpacklo_epi64(low, high));
    _mm_store_si128(reinterpret_cast<__m128i *>(to + (2 * i + 1) * stride), _mm_unpackhi_epi64(low, high));
  }
}

template <int kRounds>
void fill_tile_rounds(const PhiloxLanes &shared, uint64_t block, uint64_t stride, int64_t columns, RandomTile &tile) {
  const PhiloxLanes lanes = shared;
  for (int64_t at = 0; at < columns; at += 8) {
    __m128i blocks[8];
#pragma GCC unroll 2
    for (int i = 0; i < 2; ++i) {
      const uint64_t first = block + static_cast<uint64_t>(at + 4 * i) * stride;
      const __m256i counters =
          _mm256_setr_epi64x(static_cast<int64_t>(first), static_cast<int64_t>(first + 2 * stride),
                             static_cast<int64_t>(first + stride), static_cast<int64_t>(first + 3 * stride));
      const RandomPair pair = philox_blocks<kRounds, false>(lanes, counters);
      blocks[4 * i] = _mm256_castsi256_si128(pair.low);
      blocks[4 * i + 1] = _mm256_extracti128_si256(pair.low, 1);
      blocks[4 * i + 2] = _mm256_castsi256_si128(pair.high);
      blocks[4 * i + 3] = _mm256_extracti128_si256(pair.high, 1);
    }
    transpose_halves(blocks, tile.row[0] + 2 * at, 2 * kPanelColumns);
  }
}

// Fills the random bits of the eight rows around the index; columns are `stride` apart, a multiple of 8.
inline void fill_tile(int32_t rounds, const PhiloxLanes &lanes, uint64_t index, uint64_t stride, int64_t columns,
                      RandomTile &tile) {
  tile.first = static_cast<int64_t>(index % 8);
  if (rounds == 7) {
    fill_tile_rounds<7>(lanes, index / 8, stride / 8, columns, tile);
  } else {
    fill_tile_rounds<10>(lanes, index / 8, stride / 8, columns, tile);
  }
}

// Casts rows in groups that share a tile of random bits.
inline void cast_transposed(const QuantizeRequest &request, CastState &state) {
  const int32_t block = request.target.format.block_columns;
  const int64_t panel = block > kTransposedColumns ? block : kTransposedColumns;
  FloatTile numbers(panel);
  RandomTile random;
  const lpt_format plain = request.source.format.element;
  const auto transpose_lines = plain == LPT_FORMAT_F32    ? transpose_values<LPT_FORMAT_F32>
                               : plain == LPT_FORMAT_BF16 ? transpose_values<LPT_FORMAT_BF16>
                                                          : transpose_values<LPT_FORMAT_F16>;
  const bool has_random = is_drawn(state.coder.rounding);
  const MatrixView &target = request.target;
  int64_t rows = 0;
  for (int64_t row = 0; row < target.rows; row += rows) {
    const uint64_t index = static_cast<uint64_t>(request.random.offset) + static_cast<uint64_t>(row);
    rows = least(has_random ? 8 - static_cast<int64_t>(index % 8) : numbers.rows, target.rows - row);
    for (int64_t column = 0; column < target.columns; column += panel) {
      const int64_t columns = least(panel, target.columns - column);
      transpose_lines(request.source, row, rows, column, columns, numbers);
      QuantizeRequest part = part_of(request, state.bits, row, rows, column, columns);
      if (has_random) {
        fill_tile(request.random.rounds, state.philox, static_cast<uint64_t>(part.random.offset),
                  static_cast<uint64_t>(request.random_column_stride), columns, random);
        state.tile = &random;
      }
      part.source.format.id = part.source.format.element = LPT_FORMAT_F32;
      part.source.data = numbers.numbers;
      part.source.row_stride = numbers.stride;
      part.source.column_stride = 1;
      cast_adjacent(part, state);
    }
  }
}

}  // namespace

void quantize_x86_avx2(const QuantizeRequest &request) {
  CastState state(request);
  if (request.source.column_stride == 1) {
    cast_adjacent(request, state);
  } else {
    cast_transposed(request, state);
  }
}

}  // namespace lpt
