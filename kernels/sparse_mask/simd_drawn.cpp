// MVUE of 1:2 and 2:4: performs the operations of group.hpp, with one group per lane.
#include "kernels/common/philox_lanes.hpp"
#include "kernels/sparse_mask/blocks.hpp"
#include "kernels/sparse_mask/group.hpp"

namespace lpt {
namespace {

// Random words.

constexpr int64_t kSlabGroups = 256;

struct WordSlab {
  alignas(64) uint32_t words[kSlabGroups + 64];
};

// Fills the words of at most kSlabGroups draws from `first` on, in full vectors. Returns a pointer to the first word.
const uint32_t *draw_words(const RandomSource &source, const PhiloxLanes &lanes, uint64_t first, int64_t count,
                           WordSlab &slab) {
  const int64_t needed = static_cast<int64_t>(first % 4) + (count + kLanes - 1) / kLanes * kLanes;
  uint64_t block = first / 4;
  for (int64_t at = 0; at < needed; at += 4 * kRandomBlocks, block += kRandomBlocks) {
    store_random_words(lanes, block, source.rounds, slab.words + at);
  }
  return slab.words + first % 4;
}

// Sampling.

// Kept elements among kOf magnitudes per lane, and their output magnitudes.
template <int kOf>
struct Selection {
  Mask kept[kOf];
  F32 value[kOf];
};

// Returns true if all sums are finite.
[[gnu::always_inline]] inline bool is_plain(F32 sum) { return has_all(is_greater(broadcast(__builtin_inff()), sum)); }

// Returns false if a lane requires the scalar function.
[[gnu::always_inline]] inline bool select_drawn(const F32 (&a)[2], F32 uniform, Selection<2> &selection) {
  const auto total = a[0] + a[1];
  if (!is_plain(total)) return false;
  const auto stays_whole = is_at_least(max(a[0], a[1]), total);
  const auto place = min(uniform * total, just_below(total));
  const auto drawn = without(is_greater(a[0], place), stays_whole);
  selection.kept[0] = either(drawn, both(stays_whole, is_at_least(a[0], a[1])));
  selection.kept[1] = opposite(selection.kept[0]);
  selection.value[0] = selection.value[1] = total;  // an element kept at its full value is the total
  return true;
}

[[gnu::always_inline]] inline F32 most_of(const F32 (&a)[4]) { return max(max(a[0], a[1]), max(a[2], a[3])); }

// Marks the first element of each lane that equals `most`.
[[gnu::always_inline]] inline void find_largest(const F32 (&a)[4], F32 most, Mask (&is_largest)[4]) {
  is_largest[0] = is_equal(a[0], most);
  auto found = is_largest[0];
#pragma GCC unroll 3
  for (int i = 1; i < 4; ++i) {
    is_largest[i] = without(is_equal(a[i], most), found);
    found = either(found, is_largest[i]);
  }
}

// Distribution of two kept elements. An element with inclusion probability 1 is kept at its full value; then one mark is placed
// over the others, else two over all.
struct Shares {
  Mask is_whole[4], is_single;
  Mask has_second;  // the sum of the others rounds to one of them, which is kept at its full value
  F32 end[4];       // prefix sums of the remaining magnitudes
};

[[gnu::always_inline]] inline Shares share_places(const F32 (&a)[4], F32 sum) {
  Shares shares;
  const F32 most = most_of(a);
  shares.is_single = is_at_least(most + most, sum);
  find_largest(a, most, shares.is_whole);
  F32 left[4];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    shares.is_whole[i] = both(shares.is_whole[i], shares.is_single);
    left[i] = select(shares.is_whole[i], broadcast(0.0f), a[i]);
    shares.end[i] = i == 0 ? left[0] : (shares.end[i - 1] + left[i]);
  }
  shares.has_second = both(shares.is_single, is_at_least(most_of(left), shares.end[3]));
  return shares;
}

// Finds the elements of two marks: the first whose prefix sum exceeds a mark. Returns false if rounding assigned both marks to
// one element in a lane.
[[gnu::always_inline]] inline bool find_marked(const Shares &shares, F32 first, F32 second, Mask (&is_marked)[4]) {
  Mask beyond_first[3], beyond_second[3], is_between = shares.is_single;
#pragma GCC unroll 3
  for (int i = 0; i < 3; ++i) {
    beyond_first[i] = is_greater(shares.end[i], first);
    beyond_second[i] = is_greater(shares.end[i], second);
    is_between = either(is_between, without(beyond_first[i], beyond_second[i]));
  }
  is_marked[0] = beyond_first[0];
  is_marked[3] = opposite(beyond_second[2]);
#pragma GCC unroll 2
  for (int i = 1; i < 3; ++i) {
    is_marked[i] =
        either(without(beyond_first[i], beyond_first[i - 1]), without(beyond_second[i], beyond_second[i - 1]));
  }
  return has_all(is_between);
}

[[gnu::always_inline]] inline bool select_drawn(const F32 (&a)[4], F32 uniform, Selection<4> &selection) {
  const F32 sum = ((a[0] + a[1]) + a[2]) + a[3];
  if (!is_plain(sum)) return false;
  const Shares shares = share_places(a, sum);
  const F32 total = shares.end[3], last = just_below(total);
  const F32 step = select(shares.is_single, total, total * broadcast(0.5f));
  const F32 place = min(uniform * step, last);
  const F32 second_place = min((uniform + broadcast(1.0f)) * step, last);
  const F32 first = select(shares.has_second, last, place);
  const F32 second = select(shares.is_single, first, second_place);
  if (!find_marked(shares, first, second, selection.kept)) return false;
  // If all others are zero, the first of them is kept.
  const auto is_empty = is_at_least(broadcast(0.0f), total);
  selection.kept[0] = either(selection.kept[0], is_empty);
  selection.kept[1] = either(selection.kept[1], both(is_empty, shares.is_whole[0]));
  selection.kept[3] = without(selection.kept[3], is_empty);
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    selection.kept[i] = either(selection.kept[i], shares.is_whole[i]);
    selection.value[i] = select(shares.is_whole[i], a[i], step);
  }
  return true;
}

// Blocks.

// Selects groups one at a time, if select_drawn() returned false.
template <int kOf>
[[gnu::noinline]] void select_scalar(const Block<float> &block, bool is_transposed, int groups, const uint32_t *words) {
  for (int g = 0; g < groups; ++g) {
    float source[kOf], magnitudes[kOf];
    const auto at = [&](int i, int64_t step) { return is_transposed ? i * step + g : g * kOf + i; };
    for (int i = 0; i < kOf; ++i) {
      source[i] = block.from[at(i, block.from_step)];
      magnitudes[i] = __builtin_bit_cast(float, magnitude_bits(source[i]));
    }
    const auto word = [&](uint64_t) { return words[g]; };
    const SparseGroup group = select_group(LPT_SPARSE_RULE_MVUE, magnitudes, nullptr, kOf, kOf / 2, word);
    for (int i = 0; i < kOf; ++i) {
      const bool stays = (group.bits >> i & 1) != 0;
      const float value = stays ? __builtin_copysignf(group.values[i], source[i]) : 0.0f;
      if (block.to != nullptr) __builtin_memcpy(block.to + at(i, block.to_step), &value, sizeof value);
      if (block.mask != nullptr) block.mask[at(i, block.mask_step)] = stays;
    }
  }
}

template <int kOf, bool kIsTransposed>
[[gnu::always_inline]] inline void run_drawn_block(const Block<float> &block, const uint32_t *words) {
  F32 source[kOf], magnitude[kOf];
#pragma GCC unroll 4
  for (int i = 0; i < kOf; ++i) source[i] = load(block.from + i * (kIsTransposed ? block.from_step : kLanes));
  F32 uniform = uniforms(words);
  if constexpr (!kIsTransposed) {
    apart(source);
    uniform = in_order_of_apart<kOf>(uniform);
  }
#pragma GCC unroll 4
  for (int i = 0; i < kOf; ++i) magnitude[i] = abs(source[i]);
  Selection<kOf> selection;
  if (!select_drawn(magnitude, uniform, selection)) [[unlikely]] {
    return select_scalar<kOf>(block, kIsTransposed, kLanes, words);
  }
  if (block.to != nullptr) {
#pragma GCC unroll 4
    for (int i = 0; i < kOf; ++i) {
      source[i] = only(selection.kept[i], with_sign_of(selection.value[i], source[i]));
    }
    if constexpr (!kIsTransposed) together(source);
    const int64_t step = kIsTransposed ? block.to_step : kLanes;
    if (block.is_streamed) {
#pragma GCC unroll 4
      for (int i = 0; i < kOf; ++i) store_past_caches(block.to + i * step, source[i]);
    } else {
#pragma GCC unroll 4
      for (int i = 0; i < kOf; ++i) store(block.to + i * step, source[i]);
    }
  }
  if (block.mask == nullptr) return;
  if constexpr (kIsTransposed) {
#pragma GCC unroll 4
    for (int i = 0; i < kOf; ++i) store_bytes(block.mask + i * block.mask_step, selection.kept[i]);
  } else {
    store_bytes(block.mask, selection.kept);
  }
}

// Groups along lines, and across lines.

// Selects a span of a line with the random words of its groups.
template <int kOf>
void draw_slab(const Block<float> &slab, int64_t length, const uint32_t *words, const Prefetcher &prefetcher) {
  constexpr int kSize = kOf * kLanes;
  int64_t at = 0;
  for (; at + kSize <= length; at += kSize, words += kLanes) {
    prefetcher.prefetch<kSize / 16>(slab.from + at);
    run_drawn_block<kOf, false>(slab.moved(at), words);
  }
  if (at == length) return;
  run_edge<float, kSize, kLanes>(slab.moved(at), 1, length - at, kSize,
                                 [words](const Block<float> &edge) { run_drawn_block<kOf, false>(edge, words); });
}

template <int kOf>
void draw_along_lines(const SparseMaskRequest &request, const PhiloxLanes &lanes) {
  constexpr int64_t kSlab = kOf * kSlabGroups;
  const Lines lines = lines_of(request);
  const Prefetcher prefetcher =
      lines.count == 1 ? line_prefetcher(request, lines.length * 4) : prefetcher_over(nullptr, 0);
  const Block<float> first = first_block<float>(request, false);
  WordSlab slab;
  for (int64_t line = 0; line < lines.count; ++line) {
    Block<float> whole = first.moved(0, line);
    const int64_t head = head_of(whole, kOf);
    const uint64_t draw = request.first_draw + static_cast<uint64_t>(line) * request.row_draws;
    int64_t length = 0;
    for (int64_t begin = 0; begin < lines.length; begin += length) {
      length = smaller(begin == 0 && head > 0 ? head : kSlab, lines.length - begin);
      const uint32_t *const words =
          draw_words(request.random, lanes, draw + static_cast<uint64_t>(begin / kOf), (length + kOf - 1) / kOf, slab);
      draw_slab<kOf>(whole.moved(begin), length, words, prefetcher);
    }
  }
}

// Selects `groups` adjacent groups, of which `lines` lines exist.
template <int kOf>
void draw_groups(const Block<float> &piece, int64_t lines, int64_t groups, const uint32_t *words, int64_t distance) {
  for (int64_t at = 0; at < groups; at += kLanes, words += kLanes) {
    const int64_t count = smaller(kLanes, groups - at);
    const auto run = [words](const Block<float> &block) { run_drawn_block<kOf, true>(block, words); };
    request_for_lines(piece.moved(at), kOf, distance);
    if (lines == kOf && count == kLanes) {
      run(piece.moved(at));
    } else {
      run_edge<float, kOf * kLanes, kLanes>(piece.moved(at), lines, count, kLanes, run);
    }
  }
}

template <int kOf>
void draw_across_lines(const SparseMaskRequest &request, const PhiloxLanes &lanes) {
  const int64_t rows = request.source.rows, columns = request.source.columns;
  Block<float> first = first_block<float>(request, true);
  const int64_t head = head_across(first, kLanes);
  const int64_t distance = next_group(request, first);
  WordSlab slab;
  for (int64_t begin = 0; begin < columns; begin += kOf) {
    const int64_t present = smaller(kOf, columns - begin);
    const uint64_t draw = request.first_draw + static_cast<uint64_t>(begin / kOf) * request.group_draws;
    int64_t count = 0;
    for (int64_t row = 0; row < rows; row += count) {
      count = smaller(row == 0 && head > 0 ? head : kSlabGroups, rows - row);
      const uint32_t *const words = draw_words(request.random, lanes, draw + static_cast<uint64_t>(row), count, slab);
      draw_groups<kOf>(first.moved(row, begin), present, count, words, distance);
    }
  }
}

}  // namespace

void LPT_KERNEL(sparse_mask_drawn)(const SparseMaskRequest &request) {
  const PhiloxLanes lanes = philox_lanes(request.random);
  const bool is_transposed = request.source.column_stride != 1;
  if (request.of == 2) {
    (is_transposed ? draw_across_lines<2> : draw_along_lines<2>)(request, lanes);
  } else {
    (is_transposed ? draw_across_lines<4> : draw_along_lines<4>)(request, lanes);
  }
  if (request.is_streamed) _mm_sfence();
}

}  // namespace lpt
