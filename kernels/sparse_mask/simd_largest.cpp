// Selection of the largest magnitudes of each group.
//
// Elements are compared as codes. Integers without the sign bit have the order of the magnitudes; all NaN are clamped to the
// first NaN code. An element wins against another if it is larger, or equal and earlier: code + (1 if earlier) > other. It is
// kept if it wins against all but N - 1.
//
// A lane type of one width provides kWidth, kWidestTranspose, Code, Vector, Kept (mask of kept lanes), and
//   load(from), store(to, vector), stream(to, vector) bypassing the caches, only(kept, vector), store_bytes(to, kept),
//   all(code)
//   magnitudes(vector, most)      without signs, clamped to `most`
//   plus_one, plus_if_above(count, a, b), at_least(count, number)
//   wins_two_of_three(magnitudes) for groups of four adjacent lanes
//   rotation(indices), rotated(vector, rotation) to permute the lanes of a group by indices
#include "kernels/sparse_mask/blocks.hpp"
#include "kernels/sparse_mask/group.hpp"

namespace lpt {
namespace {

inline uint32_t first_nan_of(lpt_format plain) {
  return plain == LPT_FORMAT_F32 ? 0x7F800001u : plain == LPT_FORMAT_BF16 ? 0x7F81u : 0x7C01u;
}

// Stores one vector per step. Each output is tested once for all vectors.
template <typename Lanes, int kCount>
[[gnu::always_inline]] inline void put(const Block<typename Lanes::Code> &block, int64_t to_step, int64_t mask_step,
                                       const typename Lanes::Vector (&codes)[kCount],
                                       const typename Lanes::Kept (&kept)[kCount], int count = kCount) {
  if (block.to != nullptr && block.is_streamed) {
#pragma GCC unroll 8
    for (int i = 0; i < count; ++i) Lanes::stream(block.to + i * to_step, Lanes::only(kept[i], codes[i]));
  } else if (block.to != nullptr) {
#pragma GCC unroll 8
    for (int i = 0; i < count; ++i) Lanes::store(block.to + i * to_step, Lanes::only(kept[i], codes[i]));
  }
  if (block.mask == nullptr) return;
#pragma GCC unroll 8
  for (int i = 0; i < count; ++i) Lanes::store_bytes(block.mask + i * mask_step, kept[i]);
}

// Groups along lines.

template <typename Lanes>
struct TwoOfFour {
  typename Lanes::Vector most;

  [[gnu::always_inline]] typename Lanes::Kept operator()(typename Lanes::Vector code) const {
    return Lanes::wins_two_of_three(Lanes::magnitudes(code, most));
  }
};

// Selects any N of a power of two by comparison with the rotated elements of the group.
template <typename Lanes, int kOf>
struct ManyOfAdjacent {
  typename Lanes::Vector most;
  int needed;
  typename Lanes::Vector rotation[kOf - 1], first[kOf - 1];

  ManyOfAdjacent(typename Lanes::Vector limit, int kept) : most(limit), needed(kOf - kept) {
    for (int step = 1; step < kOf; ++step) {
      alignas(64) typename Lanes::Code indices[Lanes::kWidth], comes_first[Lanes::kWidth];
      for (int lane = 0; lane < Lanes::kWidth; ++lane) {
        const int other = (lane + step) % kOf;
        indices[lane] = static_cast<typename Lanes::Code>(lane / kOf * kOf + other);
        comes_first[lane] = lane % kOf < other;
      }
      rotation[step - 1] = Lanes::rotation(indices);
      first[step - 1] = Lanes::load(comes_first);
    }
  }

  [[gnu::always_inline]] typename Lanes::Kept operator()(typename Lanes::Vector code) const {
    const typename Lanes::Vector own = Lanes::magnitudes(code, most);
    typename Lanes::Vector wins = Lanes::all(0);
#pragma GCC unroll 16
    for (int i = 0; i < kOf - 1; ++i) {
      wins = Lanes::plus_if_above(wins, Lanes::plus(own, first[i]), Lanes::rotated(own, rotation[i]));
    }
    return Lanes::at_least(wins, needed);
  }
};

constexpr int kVectors = 4;  // vectors of a block of a line

template <typename Lanes, typename Choose>
[[gnu::always_inline]] inline void run_line_block(const Block<typename Lanes::Code> &block, const Choose &choose) {
  typename Lanes::Vector codes[kVectors];
#pragma GCC unroll 4
  for (int i = 0; i < kVectors; ++i) codes[i] = Lanes::load(block.from + i * Lanes::kWidth);
  typename Lanes::Kept kept[kVectors];
#pragma GCC unroll 4
  for (int i = 0; i < kVectors; ++i) kept[i] = choose(codes[i]);
  put<Lanes>(block, Lanes::kWidth, Lanes::kWidth, codes, kept);
}

template <typename Lanes, typename Choose>
void keep_along_lines(const SparseMaskRequest &request, const Choose &choose) {
  using Code = typename Lanes::Code;
  constexpr int kSize = kVectors * Lanes::kWidth;
  constexpr int kBytes = kSize * static_cast<int>(sizeof(Code));
  const Lines lines = lines_of(request);
  const Prefetcher prefetcher = lines.count == 1
                                    ? line_prefetcher(request, lines.length * static_cast<int64_t>(sizeof(Code)))
                                    : prefetcher_over(nullptr, 0);
  const Block<Code> first = first_block<Code>(request, false);
  for (int64_t line = 0; line < lines.count; ++line) {
    Block<Code> whole = first.moved(0, line);
    int64_t at = smaller(head_of(whole, request.of), lines.length);
    const auto run = [&](const Block<Code> &block) { run_line_block<Lanes>(block, choose); };
    if (at > 0) run_edge<Code, kSize, Lanes::kWidth>(whole, 1, at, kSize, run);
    for (; at + kSize <= lines.length; at += kSize) {
      prefetcher.prefetch<kBytes / 64>(whole.from + at);
      run_line_block<Lanes>(whole.moved(at), choose);
    }
    if (at < lines.length) run_edge<Code, kSize, Lanes::kWidth>(whole.moved(at), 1, lines.length - at, kSize, run);
  }
}

// Groups across lines.

// kOf is the size of a group, or 0 for any size.
template <typename Lanes, int kOf>
[[gnu::always_inline]] inline void run_cross_block(const Block<typename Lanes::Code> &block, int any_of, int needed,
                                                   typename Lanes::Vector most) {
  const int of = kOf == 0 ? any_of : kOf;
  constexpr int kMost = kOf == 0 ? kLongestGroup : kOf;
  typename Lanes::Vector codes[kMost], ranks[kMost];
  typename Lanes::Kept kept[kMost];
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
    kept[i] = Lanes::at_least(wins, needed);
  }
  put<Lanes>(block, block.to_step, block.mask_step, codes, kept, of);
}

template <typename Lanes, int kOf>
void keep_across_lines(const SparseMaskRequest &request, typename Lanes::Vector most) {
  using Code = typename Lanes::Code;
  const int of = request.of, needed = request.of - request.kept;
  const int64_t rows = request.source.rows, columns = request.source.columns;
  Block<Code> first = first_block<Code>(request, true);
  const int64_t head = head_across(first, Lanes::kWidth);
  const int64_t distance = next_group(request, first);
  const auto run = [=](const Block<Code> &block) { run_cross_block<Lanes, kOf>(block, of, needed, most); };
  for (int64_t begin = 0; begin < columns; begin += of) {
    const int64_t lines = smaller(of, columns - begin);
    int64_t count = 0;
    for (int64_t row = 0; row < rows; row += count) {
      count = smaller(row == 0 && head > 0 ? head : Lanes::kWidth, rows - row);
      const Block<Code> block = first.moved(row, begin);
      request_for_lines(block, of, distance);
      if (lines == of && count == Lanes::kWidth) {
        run(block);
      } else {
        run_edge<Code, kLongestGroup * Lanes::kWidth, Lanes::kWidth>(block, lines, count, Lanes::kWidth, run);
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
  if (request.of == 2) return keep_along_lines<Lanes>(request, ManyOfAdjacent<Lanes, 2>(most, request.kept));
  if (request.of == 4) return keep_along_lines<Lanes>(request, ManyOfAdjacent<Lanes, 4>(most, request.kept));
  if (request.of == 8) return keep_along_lines<Lanes>(request, ManyOfAdjacent<Lanes, 8>(most, request.kept));
  if constexpr (Lanes::kWidestTranspose == 16) {
    keep_along_lines<Lanes>(request, ManyOfAdjacent<Lanes, 16>(most, request.kept));
  }
}

}  // namespace

void LPT_KERNEL(sparse_mask_largest)(const SparseMaskRequest &request) {
  request.source.format.element == LPT_FORMAT_F32 ? keep_largest_of<Words>(request) : keep_largest_of<Halves>(request);
  if (request.is_streamed) _mm_sfence();
}

}  // namespace lpt
