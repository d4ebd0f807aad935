// MVUE of 1:2 and 2:4, once for all instruction sets: the law of group.hpp, operation by operation, with groups side by side in
// lanes. Included by ISA files: everything here has internal linkage.
//
// An Isa gives kWidth, Floats, Mask, and
//   load(from), store(to, vector), stream(to, vector) past the caches, all(number), zero(), magnitude(vector), with_sign_of(magnitude, source)
//   add, multiply, least, most, just_below, choose(mask, a, b), only(mask, vector)
//   above(a, b), at_least(a, b), equal(a, b), both, either, without(a, b), opposite, is_everywhere(mask)
//   uniforms(words)                  of kWidth words
//   apart(vectors)                   kOf vectors of adjacent groups to one vector for each place in a group
//   in_order_of_apart<kOf>(vector)   the order of groups in its lanes
//   together(vectors)                and back
//   store_bytes(to, masks)           of adjacent groups whose numbers lie apart
//   store_bytes(to, mask)            of groups across lines
//   store_words(lanes, block, rounds, to)   kBlocks blocks of Philox
#pragma once

#include "kernels/common/philox_lanes.hpp"
#include "kernels/sparse_mask/blocks.hpp"
#include "kernels/sparse_mask/group.hpp"

namespace lpt {
namespace {

// ---- random words

constexpr int64_t kSlabGroups = 256;

struct WordSlab {
  alignas(64) uint32_t words[kSlabGroups + 64];
};

// The words of kSlabGroups draws from `first` on, at most; they begin where the result points, and fill the last vector.
template <typename Isa>
const uint32_t *draw_words(const RandomSource &source, const PhiloxLanes &lanes, uint64_t first, int64_t count,
                           WordSlab &slab) {
  const int64_t needed = static_cast<int64_t>(first % 4) + (count + Isa::kWidth - 1) / Isa::kWidth * Isa::kWidth;
  uint64_t block = first / 4;
  for (int64_t at = 0; at < needed; at += 4 * Isa::kBlocks, block += Isa::kBlocks) {
    Isa::store_words(lanes, block, source.rounds, slab.words + at);
  }
  return slab.words + first % 4;
}

// ---- the law

// What stays of kOf magnitudes in each lane, and the magnitude it gets.
template <typename Isa, int kOf>
struct Selection {
  typename Isa::Mask kept[kOf];
  typename Isa::Floats value[kOf];
};

// A sum that is a number.
template <typename Isa>
[[gnu::always_inline]] inline bool is_plain(typename Isa::Floats sum) {
  return Isa::is_everywhere(Isa::above(Isa::all(__builtin_inff()), sum));
}

// False: some lane needs the law itself.
template <typename Isa>
[[gnu::always_inline]] inline bool select_drawn(const typename Isa::Floats (&a)[2], typename Isa::Floats uniform,
                                                Selection<Isa, 2> &selection) {
  const auto total = Isa::add(a[0], a[1]);
  if (!is_plain<Isa>(total)) return false;
  const auto stays_whole = Isa::at_least(Isa::most(a[0], a[1]), total);
  const auto place = Isa::least(Isa::multiply(uniform, total), Isa::just_below(total));
  const auto drawn = Isa::without(Isa::above(a[0], place), stays_whole);
  selection.kept[0] = Isa::either(drawn, Isa::both(stays_whole, Isa::at_least(a[0], a[1])));
  selection.kept[1] = Isa::opposite(selection.kept[0]);
  selection.value[0] = selection.value[1] = total;  // what stays whole is the total
  return true;
}

template <typename Isa>
[[gnu::always_inline]] inline typename Isa::Floats most_of(const typename Isa::Floats (&a)[4]) {
  return Isa::most(Isa::most(a[0], a[1]), Isa::most(a[2], a[3]));
}

// The first of those that are `most`.
template <typename Isa>
[[gnu::always_inline]] inline void find_largest(const typename Isa::Floats (&a)[4], typename Isa::Floats most,
                                                typename Isa::Mask (&is_largest)[4]) {
  is_largest[0] = Isa::equal(a[0], most);
  auto found = is_largest[0];
#pragma GCC unroll 3
  for (int i = 1; i < 4; ++i) {
    is_largest[i] = Isa::without(Isa::equal(a[i], most), found);
    found = Isa::either(found, is_largest[i]);
  }
}

// How two places are shared: one number whose share is a place or more stays whole. Then one mark falls on the others, else
// two on all.
template <typename Isa>
struct Shares {
  typename Isa::Mask is_whole[4], is_single;
  typename Isa::Mask has_second;  // the others vanish beside one of them, which stays whole as well: the end is its own
  typename Isa::Floats end[4];    // of what is left of each number, when all are laid one after the other
};

template <typename Isa>
[[gnu::always_inline]] inline Shares<Isa> share_places(const typename Isa::Floats (&a)[4], typename Isa::Floats sum) {
  Shares<Isa> shares;
  const typename Isa::Floats most = most_of<Isa>(a);
  shares.is_single = Isa::at_least(Isa::add(most, most), sum);
  find_largest<Isa>(a, most, shares.is_whole);
  typename Isa::Floats left[4];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    shares.is_whole[i] = Isa::both(shares.is_whole[i], shares.is_single);
    left[i] = Isa::choose(shares.is_whole[i], Isa::zero(), a[i]);
    shares.end[i] = i == 0 ? left[0] : Isa::add(shares.end[i - 1], left[i]);
  }
  shares.has_second = Isa::both(shares.is_single, Isa::at_least(most_of<Isa>(left), shares.end[3]));
  return shares;
}

// Whose numbers two marks fall on: the first that ends beyond a mark. False: rounding put both on one in some lane.
template <typename Isa>
[[gnu::always_inline]] inline bool find_marked(const Shares<Isa> &shares, typename Isa::Floats first,
                                               typename Isa::Floats second, typename Isa::Mask (&is_marked)[4]) {
  typename Isa::Mask beyond_first[3], beyond_second[3], is_between = shares.is_single;
#pragma GCC unroll 3
  for (int i = 0; i < 3; ++i) {
    beyond_first[i] = Isa::above(shares.end[i], first);
    beyond_second[i] = Isa::above(shares.end[i], second);
    is_between = Isa::either(is_between, Isa::without(beyond_first[i], beyond_second[i]));
  }
  is_marked[0] = beyond_first[0];
  is_marked[3] = Isa::opposite(beyond_second[2]);
#pragma GCC unroll 2
  for (int i = 1; i < 3; ++i) {
    is_marked[i] = Isa::either(Isa::without(beyond_first[i], beyond_first[i - 1]),
                               Isa::without(beyond_second[i], beyond_second[i - 1]));
  }
  return Isa::is_everywhere(is_between);
}

template <typename Isa>
[[gnu::always_inline]] inline bool select_drawn(const typename Isa::Floats (&a)[4], typename Isa::Floats uniform,
                                                Selection<Isa, 4> &selection) {
  using Floats = typename Isa::Floats;
  const Floats sum = Isa::add(Isa::add(Isa::add(a[0], a[1]), a[2]), a[3]);
  if (!is_plain<Isa>(sum)) return false;
  const Shares<Isa> shares = share_places<Isa>(a, sum);
  const Floats total = shares.end[3], last = Isa::just_below(total);
  const Floats step = Isa::choose(shares.is_single, total, Isa::multiply(total, Isa::all(0.5f)));
  const Floats place = Isa::least(Isa::multiply(uniform, step), last);
  const Floats second_place = Isa::least(Isa::multiply(Isa::add(uniform, Isa::all(1.0f)), step), last);
  const Floats first = Isa::choose(shares.has_second, last, place);
  const Floats second = Isa::choose(shares.is_single, first, second_place);
  if (!find_marked<Isa>(shares, first, second, selection.kept)) return false;
  // Where all that is left is zero, the first one of it fills up.
  const auto is_empty = Isa::at_least(Isa::zero(), total);
  selection.kept[0] = Isa::either(selection.kept[0], is_empty);
  selection.kept[1] = Isa::either(selection.kept[1], Isa::both(is_empty, shares.is_whole[0]));
  selection.kept[3] = Isa::without(selection.kept[3], is_empty);
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    selection.kept[i] = Isa::either(selection.kept[i], shares.is_whole[i]);
    selection.value[i] = Isa::choose(shares.is_whole[i], a[i], step);
  }
  return true;
}

// ---- blocks

// Groups one by one, where vectors cannot tell.
template <int kOf>
[[gnu::noinline]] void select_plainly(const Block<float> &block, bool is_transposed, int groups,
                                      const uint32_t *words) {
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

template <typename Isa, int kOf, bool kIsTransposed>
[[gnu::always_inline]] inline void run_drawn_block(const Block<float> &block, const uint32_t *words) {
  using Floats = typename Isa::Floats;
  Floats source[kOf], magnitude[kOf];
#pragma GCC unroll 4
  for (int i = 0; i < kOf; ++i) source[i] = Isa::load(block.from + i * (kIsTransposed ? block.from_step : Isa::kWidth));
  Floats uniform = Isa::uniforms(words);
  if constexpr (!kIsTransposed) {
    Isa::apart(source);
    uniform = Isa::template in_order_of_apart<kOf>(uniform);
  }
#pragma GCC unroll 4
  for (int i = 0; i < kOf; ++i) magnitude[i] = Isa::magnitude(source[i]);
  Selection<Isa, kOf> selection;
  if (!select_drawn<Isa>(magnitude, uniform, selection)) [[unlikely]] {
    return select_plainly<kOf>(block, kIsTransposed, Isa::kWidth, words);
  }
  if (block.to != nullptr) {
#pragma GCC unroll 4
    for (int i = 0; i < kOf; ++i) {
      source[i] = Isa::only(selection.kept[i], Isa::with_sign_of(selection.value[i], source[i]));
    }
    if constexpr (!kIsTransposed) Isa::together(source);
    const int64_t step = kIsTransposed ? block.to_step : Isa::kWidth;
    if (block.is_streamed) {
#pragma GCC unroll 4
      for (int i = 0; i < kOf; ++i) Isa::stream(block.to + i * step, source[i]);
    } else {
#pragma GCC unroll 4
      for (int i = 0; i < kOf; ++i) Isa::store(block.to + i * step, source[i]);
    }
  }
  if (block.mask == nullptr) return;
  if constexpr (kIsTransposed) {
#pragma GCC unroll 4
    for (int i = 0; i < kOf; ++i) Isa::store_bytes(block.mask + i * block.mask_step, selection.kept[i]);
  } else {
    Isa::store_bytes(block.mask, selection.kept);
  }
}

// ---- groups along lines, and across them

// Some numbers of a line, with the words of their groups.
template <typename Isa, int kOf>
void draw_slab(const Block<float> &slab, int64_t length, const uint32_t *words, const Prefetcher &prefetcher) {
  constexpr int kSize = kOf * Isa::kWidth;
  int64_t at = 0;
  for (; at + kSize <= length; at += kSize, words += Isa::kWidth) {
    prefetcher.prefetch<kSize / 16>(slab.from + at);
    run_drawn_block<Isa, kOf, false>(slab.moved(at), words);
  }
  if (at == length) return;
  run_edge<float, kSize, Isa::kWidth>(slab.moved(at), 1, length - at, kSize, [words](const Block<float> &edge) {
    run_drawn_block<Isa, kOf, false>(edge, words);
  });
}

template <typename Isa, int kOf>
void draw_along_lines(const SparseMaskRequest &request, const PhiloxLanes &lanes) {
  constexpr int64_t kSlab = kOf * kSlabGroups;
  const Lines lines = lines_of(request);
  const Prefetcher prefetcher =
      lines.count == 1 ? ahead_of_line(request, lines.length * 4) : prefetcher_over(nullptr, 0);
  const Block<float> first = first_block<float>(request, false);
  WordSlab slab;
  for (int64_t line = 0; line < lines.count; ++line) {
    Block<float> whole = first.moved(0, line);
    const int64_t head = head_of(whole, kOf);
    const uint64_t draw = request.first_draw + static_cast<uint64_t>(line) * request.row_draws;
    int64_t length = 0;
    for (int64_t begin = 0; begin < lines.length; begin += length) {
      length = smaller(begin == 0 && head > 0 ? head : kSlab, lines.length - begin);
      const uint32_t *const words = draw_words<Isa>(request.random, lanes, draw + static_cast<uint64_t>(begin / kOf),
                                                    (length + kOf - 1) / kOf, slab);
      draw_slab<Isa, kOf>(whole.moved(begin), length, words, prefetcher);
    }
  }
}

// So many groups side by side, of which so many lines are there.
template <typename Isa, int kOf>
void draw_piece(const Block<float> &piece, int64_t lines, int64_t groups, const uint32_t *words, int64_t distance) {
  for (int64_t at = 0; at < groups; at += Isa::kWidth, words += Isa::kWidth) {
    const int64_t count = smaller(Isa::kWidth, groups - at);
    const auto run = [words](const Block<float> &block) { run_drawn_block<Isa, kOf, true>(block, words); };
    request_for_lines(piece.moved(at), kOf, distance);
    if (lines == kOf && count == Isa::kWidth) {
      run(piece.moved(at));
    } else {
      run_edge<float, kOf * Isa::kWidth, Isa::kWidth>(piece.moved(at), lines, count, Isa::kWidth, run);
    }
  }
}

template <typename Isa, int kOf>
void draw_across_lines(const SparseMaskRequest &request, const PhiloxLanes &lanes) {
  const int64_t rows = request.source.rows, columns = request.source.columns;
  Block<float> first = first_block<float>(request, true);
  const int64_t head = head_across(first, Isa::kWidth);
  const int64_t distance = next_group(request, first);
  WordSlab slab;
  for (int64_t begin = 0; begin < columns; begin += kOf) {
    const int64_t present = smaller(kOf, columns - begin);
    const uint64_t draw = request.first_draw + static_cast<uint64_t>(begin / kOf) * request.group_draws;
    int64_t count = 0;
    for (int64_t row = 0; row < rows; row += count) {
      count = smaller(row == 0 && head > 0 ? head : kSlabGroups, rows - row);
      const uint32_t *const words =
          draw_words<Isa>(request.random, lanes, draw + static_cast<uint64_t>(row), count, slab);
      draw_piece<Isa, kOf>(first.moved(row, begin), present, count, words, distance);
    }
  }
}

template <typename Isa>
void select_drawn_of(const SparseMaskRequest &request) {
  const PhiloxLanes lanes = philox_lanes(request.random);
  const bool is_transposed = request.source.column_stride != 1;
  if (request.of == 2) return (is_transposed ? draw_across_lines<Isa, 2> : draw_along_lines<Isa, 2>)(request, lanes);
  (is_transposed ? draw_across_lines<Isa, 4> : draw_along_lines<Isa, 4>)(request, lanes);
}

}  // namespace
}  // namespace lpt
