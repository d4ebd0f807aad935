// The walk over the sources and targets of a reduction, four vectors at a time. Included by an ISA file only, after its
// numbers (avx2_numbers.hpp, avx512_numbers.hpp).
#pragma once

#include <cstdint>

#include "kernels/common/prefetcher.hpp"
#include "kernels/reduce/reduce.hpp"

namespace lpt {
namespace {

constexpr int kStepVectors = 4;
constexpr int64_t kLineBytes = 64;

// How far ahead memory is requested, in bytes: of all sources together a third of the first cache at most, or what was
// requested is gone before it is read.
inline int64_t distance_of(int32_t source_count) {
  constexpr int64_t kMost = 4096, kOfAll = 16384;
  const int64_t lines = kOfAll / kLineBytes / source_count;
  return lines * kLineBytes < kMost ? lines * kLineBytes : kMost;
}

inline const uint8_t *source_at(const ReduceRequest &request, int32_t source) {
  return static_cast<const uint8_t *>(request.sources[source]);
}

inline uint8_t *target_at(const ReduceRequest &request, int32_t target) {
  return static_cast<uint8_t *>(request.targets[target]);
}

// What is done to the joined numbers: a quotient where one is requested, then a product. An average over a power of two whose
// factor is 1 is a product alone: its share is exact, so that the product is the quotient, subnormal or not.
template <typename Lanes>
struct Finish {
  using Number = typename Lanes::Number;

  explicit Finish(const ReduceRequest &request) {
    const int32_t count = request.reduction == Reduction::kAverage ? request.source_count : 1;
    const auto number = static_cast<Number>(count), given_factor = static_cast<Number>(request.factor);
    divides = (count & (count - 1)) != 0 || (count > 1 && given_factor != 1);
    divisor = Lanes::all(number);
    factor = Lanes::all(divides ? given_factor : given_factor / number);
  }
  [[gnu::always_inline]] Lanes of(Lanes lanes) const {
    return ((divides ? lanes / divisor : lanes) * factor).with_plain_nan();
  }

  Lanes divisor, factor;
  bool divides;
};

template <typename Lanes, Reduction kReduction>
[[gnu::always_inline]] inline Lanes joined(Lanes a, Lanes b) {
  if constexpr (kReduction == Reduction::kMaximum) return a.larger(b);
  if constexpr (kReduction == Reduction::kMinimum) return a.smaller(b);
  return a + b;
}

// How the targets of one request are written.
struct Stream {
  int64_t head = 0;      // elements until the first target that can begins a line
  uint64_t targets = 0;  // one bit for each: it begins a line then, and goes past the caches

  bool has(int32_t target) const { return target < 64 && (targets >> target & 1) != 0; }
};

inline int64_t bytes_to_line(const void *address) {
  return static_cast<int64_t>(-reinterpret_cast<uintptr_t>(address) % kLineBytes);
}

inline bool is_source(const ReduceRequest &request, const void *target) {
  for (int32_t source = 0; source < request.source_count; ++source) {
    if (request.sources[source] == target) return true;
  }
  return false;
}

// A target that is a source has been read when it is written: its lines are at hand.
template <int64_t kBytes>
Stream stream_of(const ReduceRequest &request) {
  Stream stream;
  if (!request.is_streamed) return stream;
  for (int32_t target = 0; target < request.target_count && target < 64; ++target) {
    const int64_t misfit = bytes_to_line(request.targets[target]);
    if (misfit % kBytes != 0 || is_source(request, request.targets[target])) continue;
    if (stream.targets == 0) stream.head = misfit / kBytes;
    if (stream.head * kBytes == misfit) stream.targets |= uint64_t{1} << target;
  }
  return stream;
}

// kSources: how many there are; 0: any number.
template <typename From, typename To, Reduction kReduction, int32_t kSources>
struct Walk {
  using Lanes = typename From::Lanes;
  static constexpr int64_t kStep = kStepVectors * Lanes::kCount;

  explicit Walk(const ReduceRequest &given)
      : request(given),
        is_spread(prefetcher_over(given.sources[0], given.elements * From::kBytes).is_spread()),
        distance(distance_of(given.source_count)),
        finish(given) {}

  int32_t source_count() const { return kSources != 0 ? kSources : request.source_count; }

  // At most a vector of them: the edges.
  void few(int64_t at, int64_t elements) const {
    Lanes lanes = From::load_few(source_at(request, 0) + at * From::kBytes, elements);
    for (int32_t source = 1; source < source_count(); ++source) {
      const uint8_t *const from = source_at(request, source) + at * From::kBytes;
      lanes = joined<Lanes, kReduction>(lanes, From::load_few(from, elements));
    }
    lanes = finish.of(lanes);
    for (int32_t target = 0; target < request.target_count; ++target) {
      To::store_few(target_at(request, target) + at * To::kBytes, lanes, elements);
    }
  }

  [[gnu::noinline]] void edge(int64_t begin, int64_t end) const {
    for (int64_t at = begin; at < end; at += Lanes::kCount) {
      few(at, end - at < Lanes::kCount ? end - at : Lanes::kCount);
    }
  }

  [[gnu::always_inline]] const uint8_t *address(int32_t source, int64_t at) const {
    const uint8_t *const from = source_at(request, source) + at * From::kBytes;
    const Prefetcher prefetcher = {is_spread ? static_cast<const char *>(request.sources[source]) : nullptr, distance};
    prefetcher.prefetch<kStep * From::kBytes / kLineBytes>(from);
    return from;
  }

  [[gnu::always_inline]] void step(int64_t at, const Stream &stream) const {
    Lanes lanes[kStepVectors];
    const uint8_t *from = address(0, at);
#pragma GCC unroll 4
    for (int i = 0; i < kStepVectors; ++i) lanes[i] = From::load(from + i * Lanes::kCount * From::kBytes);
    for (int32_t source = 1; source < source_count(); ++source) {
      from = address(source, at);
#pragma GCC unroll 4
      for (int i = 0; i < kStepVectors; ++i) {
        lanes[i] = joined<Lanes, kReduction>(lanes[i], From::load(from + i * Lanes::kCount * From::kBytes));
      }
    }
#pragma GCC unroll 4
    for (int i = 0; i < kStepVectors; ++i) lanes[i] = finish.of(lanes[i]);
    for (int32_t target = 0; target < request.target_count; ++target) {
      To::store(target_at(request, target) + at * To::kBytes, lanes, stream.has(target));
    }
  }

  void run() const {
    const Stream stream = stream_of<To::kBytes>(request);
    int64_t at = stream.head < request.elements ? stream.head : request.elements;
    edge(0, at);
    for (; at + kStep <= request.elements; at += kStep) step(at, stream);
    edge(at, request.elements);
    if (stream.targets != 0) _mm_sfence();
  }

  const ReduceRequest &request;
  bool is_spread;  // how memory is requested, and how far ahead
  int64_t distance;
  Finish<Lanes> finish;
};

template <typename From, typename To>
void reduce(const ReduceRequest &request) {
  if (request.reduction == Reduction::kMaximum) return Walk<From, To, Reduction::kMaximum, 0>(request).run();
  if (request.reduction == Reduction::kMinimum) return Walk<From, To, Reduction::kMinimum, 0>(request).run();
  // Two are worth a loop of their own while they are in the caches, by a twelfth; four or eight are not.
  if (request.source_count == 2) return Walk<From, To, Reduction::kSum, 2>(request).run();
  Walk<From, To, Reduction::kSum, 0>(request).run();
}

template <typename Set, typename From>
void reduce_to(const ReduceRequest &request) {
  if (request.target_format == LPT_FORMAT_BF16) return reduce<From, typename Set::Bf16>(request);
  if (request.target_format == LPT_FORMAT_F16) return reduce<From, typename Set::F16>(request);
  reduce<From, typename Set::F32>(request);
}

// Set: what an instruction set has for each format.
template <typename Set>
void reduce_any(const ReduceRequest &request) {
  if (request.format == LPT_FORMAT_F64) return reduce<typename Set::F64, typename Set::F64>(request);
  if (request.format == LPT_FORMAT_BF16) return reduce_to<Set, typename Set::Bf16>(request);
  if (request.format == LPT_FORMAT_F16) return reduce_to<Set, typename Set::F16>(request);
  reduce_to<Set, typename Set::F32>(request);
}

}  // namespace
}  // namespace lpt
