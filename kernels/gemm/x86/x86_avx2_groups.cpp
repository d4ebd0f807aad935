// GEMM of small integers with scales for groups of k and packed b, for CPUs without VNNI.
//
//   c(i, j) = sum over groups g of float(sum over p in g of a(i, p) · b(p, j)) · (a's scale(i, g) · b's scale(g, j))
//
// The inner sums are exact in int32. Elements of b of at most 4 bits are looked up as value + offset, from 0 to 128. vpmaddubsw
// multiplies these by signed bytes and adds pairs, which fit int16. The sums start at -offset · (the sum of the row in the
// group). Elements of int8 are converted to words, and rows of a are then packed as words.
#include "kernels/gemm/blocked.hpp"
#include "kernels/gemm/integers.hpp"
#include "kernels/gemm/kernels.hpp"
#include "kernels/gemm/x86/avx2.hpp"

namespace lpt {
namespace {

// Eight sums are in registers at a time: of four rows and half of the lanes of a line, or of eight lanes.
constexpr int64_t kGroupTileRows = 4;
constexpr int64_t kGroupBlockBytes = 256 << 10;  // rows of a

// Sizes of the packed operands, and their addresses in the scratch.
struct GroupLayout {
  Groups groups;
  int64_t row_bytes;
  GemmBlocking blocking;
  uint8_t *rows;
  int32_t *row_starts;              // of groups: -offset · (sum of the row); with zero points -(sum of the row)
  float *row_scales, *row_factors;  // of groups; of rows
  float *column_scales;             // kPanelLanes for each group
  size_t scratch_bytes;

  explicit GroupLayout(const GemmRequest &request)
      : groups(groups_of(request.a, request.b, request.k)),
        row_bytes(groups.steps * (panel_kind(request.b.format.element) == PanelKind::kNibbles ? 4 : 8)),
        blocking(blocking_of(request, kGroupBlockBytes, row_bytes, kMinBlockRows, kGroupTileRows)) {
    blocking.span = kPanelLanes;
    ScratchParts parts(request.scratch);
    rows = parts.take<uint8_t>(blocking.row_space * row_bytes);
    row_starts = parts.take<int32_t>(blocking.row_space * groups.count);
    row_scales = parts.take<float>(blocking.row_space * groups.count);
    row_factors = parts.take<float>(blocking.row_space);
    column_scales = parts.take<float>(kPanelLanes * groups.count);
    scratch_bytes = parts.bytes();
  }
};

struct GroupTile {
  const uint8_t *panel;
  const uint8_t *rows;  // row_bytes apart
  int64_t row_bytes;
  const int32_t *row_starts;  // `groups` for each row
  const float *row_scales;
  int64_t groups;
  const float *column_scales;
  const uint8_t *zeros;            // zero points, kPanelLanes for each block; NULL: none
  int32_t block_shift;             // log2 of the groups that share a scale or a zero point of b
  alignas(16) uint8_t values[16];  // value + offset, by code
  int64_t steps, group_steps;
  int64_t pair_steps;  // whose sums of pairs fit int16
};

// Adds the scaled sums of a group to the totals of eight lanes.
template <int kRows>
[[gnu::always_inline]] inline void scale_sums(const GroupTile &tile, int64_t group, int e, const __m256i (&sums)[kRows],
                                              __m256 (&totals)[kRows][4]) {
  const __m256 columns = _mm256_loadu_ps(tile.column_scales + group * kPanelLanes + 8 * e);
#pragma GCC unroll 4
  for (int i = 0; i < kRows; ++i) {
    const __m256 scale = _mm256_mul_ps(columns, _mm256_broadcast_ss(tile.row_scales + i * tile.groups + group));
    totals[i][e] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(sums[i]), scale, totals[i][e]);
  }
}

// Elements of at most 4 bits. Half of a line has the lanes from 8 · half and from 16 + 8 · half on.
template <int kRows>
struct NibbleSums {
  static constexpr int64_t kStepBytes = 4;

  [[gnu::always_inline]] explicit NibbleSums(const GroupTile &tile)
      : values(_mm256_broadcastsi128_si256(_mm_load_si128(reinterpret_cast<const __m128i *>(tile.values)))) {}

  [[gnu::always_inline]] static __m256i start(const GroupTile &tile, int64_t group, int e, int i) {
    const __m256i sum = _mm256_set1_epi32(tile.row_starts[i * tile.groups + group]);
    if (tile.zeros == nullptr) return sum;
    const uint8_t *const from = tile.zeros + (group >> tile.block_shift) * kPanelLanes + 8 * e;
    return _mm256_mullo_epi32(sum, load_zeros(from));
  }

  // The assembly is an addition of words. gcc 12 would copy each sum to another register and back in every step.
  [[gnu::always_inline]] static void add_pairs(__m256i &sum, __m256i columns, __m256i row) {
    asm("vpaddw %1, %0, %0" : "+x"(sum) : "x"(_mm256_maddubs_epi16(columns, row)));
  }

  // Adds the pairs of some steps, whose sums fit int16.
  [[gnu::always_inline]] void add_steps(const GroupTile &tile, int half, int64_t first, int64_t last,
                                        __m256i (&low)[kRows], __m256i (&high)[kRows]) const {
    const __m256i half_byte = _mm256_set1_epi8(15);
    __m256i low_pairs[kRows], high_pairs[kRows];
#pragma GCC unroll 4
    for (int i = 0; i < kRows; ++i) low_pairs[i] = high_pairs[i] = _mm256_setzero_si256();
    const uint8_t *line = tile.panel + first * kPanelLineBytes + 32 * half;
    const uint8_t *rows = tile.rows + kStepBytes * first;
    for (int64_t step = first; step < last; ++step, line += kPanelLineBytes, rows += kStepBytes) {
      const __m256i codes = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(line));
      const __m256i low_values = _mm256_shuffle_epi8(values, _mm256_and_si256(codes, half_byte));
      const __m256i high_values = _mm256_shuffle_epi8(values, _mm256_and_si256(_mm256_srli_epi16(codes, 4), half_byte));
#pragma GCC unroll 4
      for (int i = 0; i < kRows; ++i) {
        int32_t four;
        memcpy(&four, rows + i * tile.row_bytes, sizeof four);
        const __m256i row = _mm256_set1_epi32(four);
        add_pairs(low_pairs[i], low_values, row);
        add_pairs(high_pairs[i], high_values, row);
      }
    }
    const __m256i ones = _mm256_set1_epi16(1);
#pragma GCC unroll 4
    for (int i = 0; i < kRows; ++i) {
      low[i] = _mm256_add_epi32(low[i], _mm256_madd_epi16(low_pairs[i], ones));
      high[i] = _mm256_add_epi32(high[i], _mm256_madd_epi16(high_pairs[i], ones));
    }
  }

  [[gnu::always_inline]] void add_group(const GroupTile &tile, int64_t group, int64_t first, int64_t last,
                                        __m256 (&totals)[kRows][4]) const {
    for (int half = 0; half < 2; ++half) {
      __m256i low[kRows], high[kRows];
#pragma GCC unroll 4
      for (int i = 0; i < kRows; ++i) {
        low[i] = start(tile, group, half, i);
        high[i] = start(tile, group, half + 2, i);
      }
      for (int64_t step = first; step < last; step += tile.pair_steps) {
        add_steps(tile, half, step, min_i64(last, step + tile.pair_steps), low, high);
      }
      scale_sums<kRows>(tile, group, half, low, totals);
      scale_sums<kRows>(tile, group, half + 2, high, totals);
    }
  }

  __m256i values;
};

// int8. Each lane has two sums, of pairs of k.
template <int kRows>
struct ByteSums {
  static constexpr int64_t kStepBytes = 8;

  [[gnu::always_inline]] explicit ByteSums(const GroupTile &) {}

  [[gnu::always_inline]] void add_group(const GroupTile &tile, int64_t group, int64_t first, int64_t last,
                                        __m256 (&totals)[kRows][4]) const {
    for (int e = 0; e < 4; ++e) {
      __m256i low[kRows], high[kRows];  // of the first four lanes, and of the last four
#pragma GCC unroll 4
      for (int i = 0; i < kRows; ++i) low[i] = high[i] = _mm256_setzero_si256();
      const uint8_t *line = tile.panel + 2 * first * kPanelLineBytes + 32 * e;
      for (int64_t step = first; step < last; ++step, line += 2 * kPanelLineBytes) {
        const auto *const codes = reinterpret_cast<const __m128i *>(line);
        const __m256i low_values = _mm256_cvtepi8_epi16(_mm_loadu_si128(codes));
        const __m256i high_values = _mm256_cvtepi8_epi16(_mm_loadu_si128(codes + 1));
#pragma GCC unroll 4
        for (int i = 0; i < kRows; ++i) {
          int64_t four;
          memcpy(&four, tile.rows + i * tile.row_bytes + kStepBytes * step, sizeof four);
          const __m256i row = _mm256_set1_epi64x(four);
          low[i] = _mm256_add_epi32(low[i], _mm256_madd_epi16(low_values, row));
          high[i] = _mm256_add_epi32(high[i], _mm256_madd_epi16(high_values, row));
        }
      }
#pragma GCC unroll 4
      for (int i = 0; i < kRows; ++i) low[i] = _mm256_permute4x64_epi64(_mm256_hadd_epi32(low[i], high[i]), 0xD8);
      scale_sums<kRows>(tile, group, e, low, totals);
    }
  }
};

template <typename Sums, int kRows>
[[gnu::noinline, gnu::flatten]] void multiply_group_tile(const GroupTile &tile, const TileEpilogue &epilogue) {
  const Sums sums(tile);
  __m256 totals[kRows][4];
  for (int i = 0; i < kRows; ++i) {
    for (__m256 &total : totals[i]) total = _mm256_setzero_ps();
  }
  for (int64_t group = 0; group < tile.groups; ++group) {
    const int64_t first = group * tile.group_steps;
    sums.add_group(tile, group, first, min_i64(tile.steps, first + tile.group_steps), totals);
  }
  write_tile<Avx2>(totals, epilogue);
}

using GroupTileFunction = void (*)(const GroupTile &tile, const TileEpilogue &epilogue);

template <template <int> typename Sums>
GroupTileFunction group_tile_of(int64_t rows) {
  static constexpr GroupTileFunction tiles[] = {multiply_group_tile<Sums<1>, 1>, multiply_group_tile<Sums<2>, 2>,
                                                multiply_group_tile<Sums<3>, 3>, multiply_group_tile<Sums<4>, 4>};
  static_assert(sizeof tiles / sizeof tiles[0] == kGroupTileRows);
  return tiles[rows - 1];
}

// Implements the Kernel of driver.hpp.
class GroupGemm {
 public:
  explicit GroupGemm(const GemmRequest &request)
      : request_(request),
        layout_(request),
        a_integers_(integers_of(request.a.format.element)),
        b_integers_(integers_of(request.b.format.element)),
        is_nibbles_(panel_kind(request.b.format.element) == PanelKind::kNibbles) {
    for (const int8_t value : b_integers_.value) offset_ = value < -offset_ ? -value : offset_;
    tile_.row_bytes = layout_.row_bytes;
    tile_.groups = layout_.groups.count;
    tile_.steps = layout_.groups.steps;
    tile_.group_steps = layout_.groups.group_steps;
    set_values();
    tile_.block_shift =
        request.b.format.has_block_scale() ? shift_of(request.b.format.block_columns) - layout_.groups.shift : 0;
  }

  void run() { run_driver(request_, layout_.blocking, *this); }

  void pack_columns(int64_t, int64_t) const {}

  void pack_rows(int64_t row, int64_t rows, const Depth &) const {
    const float unit = 1.0f / static_cast<float>(1 << a_integers_.fraction_bits);
    for (int64_t i = 0; i < rows; ++i) {
      const int64_t lane = request_.first_row + row + i;
      layout_.row_factors[i] = lane_factor(request_.a, lane, request_.k) * unit;
      pack_row(lane, layout_.rows + i * layout_.row_bytes, layout_.row_starts + i * layout_.groups.count);
      write_row_scales(lane, layout_.row_scales + i * layout_.groups.count);
    }
  }

  void multiply(const GemmArea &area, const Depth &) const {
    const int64_t lane = request_.first_column + area.column, panel = lane / kPanelLanes;
    const int64_t blocks = panel_blocks(request_.b.format, request_.k);
    GroupTile tile = tile_;
    tile.panel = static_cast<const uint8_t *>(request_.b.data) +
                 panel * panel_bytes(panel_kind(request_.b.format.element), request_.k);
    tile.column_scales = column_scales_of(panel);
    if (request_.b.format.has_zero_point()) tile.zeros = request_.b.zero_points + panel * blocks * kPanelLanes;
    alignas(32) float factors[kPanelLanes];
    const float unit = static_cast<float>(request_.alpha) / static_cast<float>(1 << b_integers_.fraction_bits);
    write_panel_factors(request_.b, lane, area.columns, request_.k, unit, factors);
    TileEpilogue epilogue = epilogue_of(request_, area);
    epilogue.column_factors = factors;
    for (int64_t row = 0; row < area.rows;) {  // tiles of nearly equal size
      const int64_t tiles = (area.rows - row + kGroupTileRows - 1) / kGroupTileRows, count = (area.rows - row) / tiles;
      tile.rows = layout_.rows + row * layout_.row_bytes;
      tile.row_starts = layout_.row_starts + row * layout_.groups.count;
      tile.row_scales = layout_.row_scales + row * layout_.groups.count;
      epilogue.row_factors = layout_.row_factors + row;
      (is_nibbles_ ? group_tile_of<NibbleSums>(count) : group_tile_of<ByteSums>(count))(tile, epilogue);
      epilogue.c += count * epilogue.row_bytes;
      row += count;
    }
  }

 private:
  // Writes the elements of a row, padded with zeros to a full step, and the start values of its groups.
  void pack_row(int64_t lane, uint8_t *to, int32_t *starts) const {
    const Element element = element_of(request_.a.format.element);
    const auto *const data = static_cast<const uint8_t *>(request_.a.data);
    const int64_t first = lane * request_.a.row_stride, step_bytes = is_nibbles_ ? 4 : 8;
    const int32_t factor = request_.b.format.has_zero_point() ? -1 : -offset_;
    alignas(32) int8_t values[4 * kStepsAtOnce];
    int32_t sum = 0;
    int64_t left = layout_.groups.group_steps;  // steps of the group
    for (int64_t step = 0; step < layout_.groups.steps; step += kStepsAtOnce) {
      const int64_t steps = min_i64(kStepsAtOnce, layout_.groups.steps - step);
      const int64_t count = min_i64(4 * steps, request_.k - 4 * step);
      if (element.bits == 8) {
        memcpy(values, data + first + 4 * step, static_cast<size_t>(count));
      } else {
        for (int64_t i = 0; i < count; ++i) {
          values[i] = a_integers_.value[load_code(element, data, first + 4 * step + i)];
        }
      }
      for (int64_t i = count; i < 4 * steps; ++i) values[i] = 0;
      write_steps(values, steps, to + step * step_bytes);
      for (int64_t s = 0; s < steps; ++s) {
        const int8_t *const four = values + 4 * s;
        sum += four[0] + four[1] + four[2] + four[3];
        if (--left > 0) continue;
        *starts++ = factor * sum;
        sum = 0;
        left = layout_.groups.group_steps;
      }
    }
    if (left < layout_.groups.group_steps) *starts = factor * sum;
  }

  void write_steps(const int8_t *values, int64_t steps, uint8_t *to) const {
    if (is_nibbles_) {
      for (int64_t i = 0; i < 4 * steps; ++i) {
        to[i] = static_cast<uint8_t>(values[i / 4 * 4 + kNibbleOrder[i % 4]]);
      }
      return;
    }
    for (int64_t i = 0; i < 4 * steps; ++i) {
      const int16_t word = values[i];
      memcpy(to + 2 * i, &word, sizeof word);
    }
  }

  void write_row_scales(int64_t lane, float *to) const {
    const GroupScales scales = group_scales_of(request_.a, request_.k);
    const int64_t first =
        scales.is_along_k ? (lane >> shift_of(request_.a.format.block_rows)) * request_.a.block_scale_stride : 0;
    for (int64_t group = 0; group < layout_.groups.count; ++group) {
      to[group] = 1.0f;
      if (!scales.is_along_k) continue;
      const int64_t block = group >> (scales.shift - layout_.groups.shift);
      to[group] = read_scale(scales.format, scales.data, first + block);
    }
  }

  void set_values() {
    int32_t largest = 0;
    for (int code = 0; code < 16; ++code) {
      const int32_t value = b_integers_.value[code] + offset_;
      tile_.values[code] = static_cast<uint8_t>(value);
      largest = value > largest ? value : largest;
    }
    tile_.pair_steps = largest <= 15 ? 8 : largest <= 31 ? 4 : 1;  // a pair is at most 2 · 128 · largest
  }

  // Returns the scales of groups of a panel as f32, in the scratch if they are not stored so.
  const float *column_scales_of(int64_t panel) const {
    const GroupScales scales = group_scales_of(request_.b, request_.k);
    const int64_t bytes = scale_bytes(scales.format), blocks = panel_blocks(request_.b.format, request_.k);
    if (scales.is_along_k && scales.format == LPT_FORMAT_F32 && tile_.block_shift == 0) {
      return reinterpret_cast<const float *>(scales.data) + panel * blocks * kPanelLanes;
    }
    for (int64_t group = 0; group < layout_.groups.count; ++group) {
      for (int64_t l = 0; l < kPanelLanes; l += 8) {
        __m256 each = _mm256_set1_ps(1.0f);
        if (scales.is_along_k) {
          const int64_t at = (panel * blocks + (group >> tile_.block_shift)) * kPanelLanes + l;
          each = load_scales(scales.format, scales.data + at * bytes, 8);
        }
        _mm256_storeu_ps(layout_.column_scales + group * kPanelLanes + l, each);
      }
    }
    return layout_.column_scales;
  }

  static constexpr int64_t kStepsAtOnce = 64;

  const GemmRequest &request_;
  GroupLayout layout_;
  Integers a_integers_, b_integers_;
  bool is_nibbles_;
  int32_t offset_ = 0;   // makes the smallest value 0
  GroupTile tile_ = {};  // what all panels share
};

}  // namespace

void gemm_groups_x86_avx2(const GemmRequest &request) { GroupGemm(request).run(); }

size_t gemm_scratch_groups_x86_avx2(const GemmRequest &request) { return GroupLayout(request).scratch_bytes; }

}  // namespace lpt
