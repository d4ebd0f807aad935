// The largest magnitudes of each group, once for all instruction sets. Included by ISA files: everything here has internal
// linkage.
//
// Numbers stay codes: without its sign, an integer orders them as the magnitude does, and all NaN are cut to the first one. A
// number wins against another if it is larger, or equal and comes first: own + (1 if it comes first) > other. It stays if it
// wins against all but N - 1.
//
// Lanes of one width give kWidth, kWidestTurn, Code, Vector, Kept (which lanes stay), and
//   load(from), store(to, vector), only(kept, vector), store_bytes(to, kept), all(number)
//   magnitudes(vector, most)      without signs, cut to `most`
//   plus_one, plus_if_above(count, a, b), at_least(count, number)
//   wins_two_of_three(magnitudes) of groups of four adjacent lanes
//   turn(indices), turned(vector, turn) lanes of a group by their indices
#pragma once

#include "kernels/sparse_mask/blocks.hpp"

namespace lpt {
namespace {

inline uint32_t first_nan_of(lpt_format plain) {
  return plain == LPT_FORMAT_F32 ? 0x7F800001u : plain == LPT_FORMAT_BF16 ? 0x7F81u : 0x7C01u;
}

template <typename Lanes>
[[gnu::always_inline]] inline void put(const Block<typename Lanes::Code> &block, int64_t at,
                                       typename Lanes::Vector code, typename Lanes::Kept kept, int64_t line = 0) {
  if (block.to != nullptr) Lanes::store(block.to + line * block.to_step + at, Lanes::only(kept, code));
  if (block.mask != nullptr) Lanes::store_bytes(block.mask + line * block.mask_step + at, kept);
}

// ---- groups along lines

template <typename Lanes>
struct TwoOfFour {
  typename Lanes::Vector most;

  [[gnu::always_inline]] typename Lanes::Kept operator()(typename Lanes::Vector code) const {
    return Lanes::wins_two_of_three(Lanes::magnitudes(code, most));
  }
};

// Any N of a power of two: against the others of the group in turn, by turning it.
template <typename Lanes>
struct ManyOfAdjacent {
  typename Lanes::Vector most;
  int others, needed;
  typename Lanes::Vector turn[Lanes::kWidestTurn - 1], first[Lanes::kWidestTurn - 1];

  ManyOfAdjacent(typename Lanes::Vector limit, int kept, int of) : most(limit), others(of - 1), needed(of - kept) {
    for (int step = 1; step < of; ++step) {
      alignas(64) typename Lanes::Code indices[Lanes::kWidth], comes_first[Lanes::kWidth];
      for (int lane = 0; lane < Lanes::kWidth; ++lane) {
        const int other = (lane + step) % of;
        indices[lane] = static_cast<typename Lanes::Code>(lane / of * of + other);
        comes_first[lane] = lane % of < other;
      }
      turn[step - 1] = Lanes::turn(indices);
      first[step - 1] = Lanes::load(comes_first);
    }
  }

  [[gnu::always_inline]] typename Lanes::Kept operator()(typename Lanes::Vector code) const {
    const typename Lanes::Vector own = Lanes::magnitudes(code, most);
    typename Lanes::Vector wins = Lanes::all(0);
    for (int i = 0; i < others; ++i) {
      wins = Lanes::plus_if_above(wins, Lanes::plus(own, first[i]), Lanes::turned(own, turn[i]));
    }
    return Lanes::at_least(wins, needed);
  }
};

constexpr int kVectors = 4;  // of a block of a line

template <typename Lanes, typename Choose>
[[gnu::always_inline]] inline void run_line_block(const Block<typename Lanes::Code> &block, const Choose &choose) {
  typename Lanes::Vector codes[kVectors];
#pragma GCC unroll 4
  for (int i = 0; i < kVectors; ++i) codes[i] = Lanes::load(block.from + i * Lanes::kWidth);
#pragma GCC unroll 4
  for (int i = 0; i < kVectors; ++i) put<Lanes>(block, i * Lanes::kWidth, codes[i], choose(codes[i]));
}

template <typename Lanes, typename Choose>
void keep_along_lines(const SparseMaskRequest &request, const Choose &choose) {
  using Code = typename Lanes::Code;
  constexpr int kSize = kVectors * Lanes::kWidth;
  constexpr int kBytes = kSize * static_cast<int>(sizeof(Code));
  const Lines lines = lines_of(request);
  const Ahead ahead =
      ahead_over(request.source.data, lines.count == 1 ? lines.length * static_cast<int64_t>(sizeof(Code)) : 0);
  const Block<Code> first = first_block<Code>(request, false);
  for (int64_t line = 0; line < lines.count; ++line) {
    const Block<Code> whole = first.moved(0, line);
    int64_t at = 0;
    for (; at + kSize <= lines.length; at += kSize) {
      ahead.ask<kBytes / 64>(whole.from + at);
      run_line_block<Lanes>(whole.moved(at), choose);
    }
    if (at == lines.length) continue;
    run_edge<Code, kSize, Lanes::kWidth>(whole.moved(at), 1, lines.length - at, kSize,
                                         [&](const Block<Code> &edge) { run_line_block<Lanes>(edge, choose); });
  }
}

// ---- groups across lines

// kOf is the size of a group, or 0: any.
template <typename Lanes, int kOf>
[[gnu::always_inline]] inline void run_cross_block(const Block<typename Lanes::Code> &block, int any_of, int needed,
                                                   typename Lanes::Vector most) {
  const int of = kOf == 0 ? any_of : kOf;
  typename Lanes::Vector codes[32], ranks[32];
#pragma GCC unroll 8
  for (int i = 0; i < of; ++i) {
    codes[i] = Lanes::load(block.from + i * block.from_step);
    ranks[i] = Lanes::magnitudes(codes[i], most);
  }
#pragma GCC unroll 8
  for (int i = 0; i < of; ++i) {
    typename Lanes::Vector wins = Lanes::all(0);
    const typename Lanes::Vector before_others = Lanes::plus_one(ranks[i]);
#pragma GCC unroll 8
    for (int j = 0; j < i; ++j) wins = Lanes::plus_if_above(wins, ranks[i], ranks[j]);
#pragma GCC unroll 8
    for (int j = i + 1; j < of; ++j) wins = Lanes::plus_if_above(wins, before_others, ranks[j]);
    put<Lanes>(block, 0, codes[i], Lanes::at_least(wins, needed), i);
  }
}

template <typename Lanes, int kOf>
void keep_across_lines(const SparseMaskRequest &request, typename Lanes::Vector most) {
  using Code = typename Lanes::Code;
  const int of = request.of, needed = request.of - request.kept;
  const int64_t rows = request.source.rows, columns = request.source.columns;
  const Block<Code> first = first_block<Code>(request, true);
  const auto run = [=](const Block<Code> &block) { run_cross_block<Lanes, kOf>(block, of, needed, most); };
  for (int64_t begin = 0; begin < columns; begin += of) {
    const int64_t lines = smaller(of, columns - begin);
    for (int64_t row = 0; row < rows; row += Lanes::kWidth) {
      const int64_t count = smaller(Lanes::kWidth, rows - row);
      const Block<Code> block = first.moved(row, begin);
      if (lines == of && count == Lanes::kWidth) {
        run(block);
      } else {
        run_edge<Code, 32 * Lanes::kWidth, Lanes::kWidth>(block, lines, count, Lanes::kWidth, run);
      }
    }
  }
}

template <typename Lanes>
void keep_largest_of(const SparseMaskRequest &request) {
  const auto most = Lanes::all(static_cast<typename Lanes::Code>(first_nan_of(request.source.format.element)));
  if (request.source.column_stride != 1) {
    const auto run = request.of == 2   ? keep_across_lines<Lanes, 2>
                     : request.of == 4 ? keep_across_lines<Lanes, 4>
                     : request.of == 8 ? keep_across_lines<Lanes, 8>
                                       : keep_across_lines<Lanes, 0>;
    return run(request, most);
  }
  if (request.of == 4 && request.kept == 2) return keep_along_lines<Lanes>(request, TwoOfFour<Lanes>{most});
  keep_along_lines<Lanes>(request, ManyOfAdjacent<Lanes>(most, request.kept, request.of));
}

// By the width of the codes.
template <typename Words, typename Halves>
void keep_largest_of_any(const SparseMaskRequest &request) {
  if (request.source.format.element == LPT_FORMAT_F32) return keep_largest_of<Words>(request);
  keep_largest_of<Halves>(request);
}

}  // namespace
}  // namespace lpt
