// Operations with an existing mask: application, and decay of the elements that it prunes.
#include "kernels/sparse_mask/blocks.hpp"

namespace lpt {
namespace {

// Merges rows without gaps between them into one row. Returns no lines if the matrix has no columns.
template <typename... Views>
Lines lines_without_gaps(const MatrixView &first, const Views &...others) {
  const int64_t columns = first.columns;
  if (columns == 0) return {0, 0};
  const bool is_one = first.row_stride == columns && (... && (others.row_stride == columns));
  return is_one ? Lines{1, first.rows * columns} : Lines{first.rows, columns};
}

// Application.

template <typename Code>
struct ApplyLine {
  const Code *from;
  const uint8_t *mask;
  Code *to;
  int64_t length;
};

// Applies the mask to elements [begin, end) of a line.
template <typename Lanes, bool kIsStreamed>
[[gnu::always_inline]] inline void apply_part(const ApplyLine<typename Lanes::Code> &line, int64_t begin, int64_t end,
                                              const Prefetcher &prefetcher) {
  constexpr int kVectorsOfPart = 4;
  constexpr int64_t kSize = kVectorsOfPart * Lanes::kWidth;
  constexpr int kCacheLines = static_cast<int>(kSize * static_cast<int64_t>(sizeof(*line.from)) / kCacheLine);
  int64_t at = begin;
  const auto masked = [&](int64_t place) {
    return Lanes::only(Lanes::kept_of(line.mask + place), Lanes::load(line.from + place));
  };
  for (; at + kSize <= end; at += kSize) {
    prefetcher.prefetch<kCacheLines>(line.from + at);
#pragma GCC unroll 4
    for (int i = 0; i < kVectorsOfPart; ++i) {
      const int64_t place = at + i * Lanes::kWidth;
      if constexpr (kIsStreamed) {
        Lanes::stream(line.to + place, masked(place));
      } else {
        Lanes::store(line.to + place, masked(place));
      }
    }
  }
  for (; at + Lanes::kWidth <= end; at += Lanes::kWidth) Lanes::store(line.to + at, masked(at));
  for (; at < end; ++at) line.to[at] = line.mask[at] != 0 ? line.from[at] : typename Lanes::Code{0};
}

// Returns the number of elements before the first address that is aligned for streaming stores.
template <typename Code>
int64_t head_of(const ApplyLine<Code> &line) {
  const auto misfit = static_cast<int64_t>(reinterpret_cast<uintptr_t>(line.to) % uint64_t{kCacheLine});
  return smaller((kCacheLine - misfit) % kCacheLine / static_cast<int64_t>(sizeof(Code)), line.length);
}

template <typename Lanes>
void apply_to(const MaskApplyRequest &request) {
  using Code = typename Lanes::Code;
  const Lines lines = lines_without_gaps(request.source, request.mask, request.target);
  const bool is_streamed = request.is_streamed && request.target.data != request.source.data;
  const int64_t bytes = lines.count == 1 ? lines.length * static_cast<int64_t>(sizeof(Code)) : 0;
  const Prefetcher prefetcher = prefetcher_over(request.source.data, bytes);
  for (int64_t i = 0; i < lines.count; ++i) {
    const ApplyLine<Code> line = {static_cast<const Code *>(request.source.data) + i * request.source.row_stride,
                                  static_cast<const uint8_t *>(request.mask.data) + i * request.mask.row_stride,
                                  static_cast<Code *>(request.target.data) + i * request.target.row_stride,
                                  lines.length};
    const int64_t head = is_streamed ? head_of(line) : 0;
    if (!is_streamed) {
      apply_part<Lanes, false>(line, 0, line.length, prefetcher);
      continue;
    }
    apply_part<Lanes, false>(line, 0, head, prefetcher);
    apply_part<Lanes, true>(line, head, line.length, prefetcher);
  }
}

// Decay.

[[gnu::always_inline]] inline F32 load_number(const float *from) { return load(from); }
[[gnu::always_inline]] inline F32 load_number(const uint16_t *from) { return widened(from); }

template <typename Weight>
[[gnu::always_inline]] inline void decay_vector(const Weight *weight, const uint8_t *mask, F32 rate, float *gradient) {
  const F32 old = load(gradient);
  const F32 change = rate * load_number(weight);
  store(gradient, select(mask_of(mask), old, old + change));
}

// Processes the end of a line on a copy.
template <typename Weight>
[[gnu::noinline]] void decay_end(const Weight *weight, const uint8_t *mask, F32 rate, float *gradient, int64_t count) {
  Weight weights[kLanes] = {};
  uint8_t bytes[kLanes] = {};
  float gradients[kLanes] = {};
  const auto size = static_cast<size_t>(count);
  __builtin_memcpy(weights, weight, size * sizeof *weight);
  __builtin_memcpy(bytes, mask, size);
  __builtin_memcpy(gradients, gradient, size * sizeof *gradient);
  decay_vector(weights, bytes, rate, gradients);
  __builtin_memcpy(gradient, gradients, size * sizeof *gradient);
}

template <typename Weight>
void decay_of(const MaskDecayRequest &request) {
  const Lines lines = lines_without_gaps(request.weight, request.mask, request.gradient);
  const F32 rate = broadcast(request.rate);
  for (int64_t i = 0; i < lines.count; ++i) {
    const Weight *weight = static_cast<const Weight *>(request.weight.data) + i * request.weight.row_stride;
    const uint8_t *mask = static_cast<const uint8_t *>(request.mask.data) + i * request.mask.row_stride;
    float *gradient = static_cast<float *>(request.gradient.data) + i * request.gradient.row_stride;
    int64_t at = 0;
    for (; at + kLanes <= lines.length; at += kLanes) {
      decay_vector(weight + at, mask + at, rate, gradient + at);
    }
    if (at < lines.length) decay_end(weight + at, mask + at, rate, gradient + at, lines.length - at);
  }
}

}  // namespace

void LPT_KERNEL(mask_apply)(const MaskApplyRequest &request) {
  request.source.format.element == LPT_FORMAT_F32 ? apply_to<Words>(request) : apply_to<Halves>(request);
  if (request.is_streamed) _mm_sfence();
}

void LPT_KERNEL(mask_decay)(const MaskDecayRequest &request) {
  request.weight.format.element == LPT_FORMAT_F32 ? decay_of<float>(request) : decay_of<uint16_t>(request);
}

}  // namespace lpt
