// Reductions with SIMD vectors: sources and targets are processed four vectors at a time.
#include <cstdint>

#include "kernels/common/prefetcher.hpp"
#include "kernels/common/simd.hpp"
#include "kernels/reduce/reduce.hpp"

namespace lpt {
namespace {

constexpr int kStepVectors = 4;
constexpr int64_t kLineBytes = 64;

// Returns the prefetch distance in bytes. All sources together prefetch at most a third of L1. Otherwise lines would be evicted
// before they are read.
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

// Formats. load() reads a vector, load_few() and store_few() access at most a vector, and store() writes four vectors.

template <typename Element>
struct Stored {
  using Number = Element;
  using Lanes = decltype(broadcast(Number()));
  static constexpr int64_t kBytes = sizeof(Number);
  static constexpr int64_t kCount = sizeof(Lanes) / sizeof(Number);

  [[gnu::always_inline]] static Lanes load(const uint8_t *from) {
    return lpt::load(reinterpret_cast<const Number *>(from));
  }
  static Lanes load_few(const uint8_t *from, int64_t count) {
    return lpt::load(reinterpret_cast<const Number *>(from), first_lanes(count));
  }
  static void store_few(uint8_t *to, Lanes lanes, int64_t count) {
    lpt::store(reinterpret_cast<Number *>(to), first_lanes(count), lanes);
  }
  [[gnu::always_inline]] static void store(uint8_t *to, const Lanes (&lanes)[kStepVectors], bool is_streamed) {
#pragma GCC unroll 4
    for (int i = 0; i < kStepVectors; ++i) {
      store_bits(to + i * static_cast<int64_t>(sizeof(Lanes)), bits_of(lanes[i]), is_streamed);
    }
  }
};
using StoredF64 = Stored<double>;
using StoredF32 = Stored<float>;

// f16 or bf16.
template <lpt_format kFormat>
struct StoredHalves {
  using Number = float;
  using Lanes = F32;
  static constexpr int64_t kBytes = 2;
  static constexpr int64_t kCount = kLanes;
  static constexpr bool kIsBf16 = kFormat == LPT_FORMAT_BF16;

  [[gnu::always_inline]] static F32 numbers(U16 codes) { return kIsBf16 ? f32_of_bf16(codes) : f32_of_f16(codes); }
  [[gnu::always_inline]] static Lanes load(const uint8_t *from) { return numbers(load_u16(from, all_lanes())); }
  static Lanes load_few(const uint8_t *from, int64_t count) { return numbers(load_u16(from, first_lanes(count))); }
  static void store_few(uint8_t *to, Lanes lanes, int64_t count) {
    store_u16(to, first_lanes(count), kIsBf16 ? bf16_of_f32(lanes) : f16_of_f32(lanes));
  }
  [[gnu::always_inline]] static void store(uint8_t *to, const Lanes (&lanes)[kStepVectors], bool is_streamed) {
#pragma GCC unroll 2
    for (int i = 0; i < kStepVectors; i += 2) {
      store_bits(to + i * static_cast<int64_t>(sizeof(U16)),
                 kIsBf16 ? bf16_of_f32(lanes[i], lanes[i + 1]) : f16_of_f32(lanes[i], lanes[i + 1]), is_streamed);
    }
  }
};

// The last operations on the reduced elements: a quotient, if one is requested, and a product. An average of 2^n sources with
// factor 1 is one product. Its factor 1 / 2^n is exact, so that product and quotient are equal, subnormal or not.
template <typename From>
struct Finish {
  using Number = typename From::Number;
  using Lanes = typename From::Lanes;

  explicit Finish(const ReduceRequest &request) {
    const int32_t count = request.reduction == Reduction::kAverage ? request.source_count : 1;
    const auto number = static_cast<Number>(count), given_factor = static_cast<Number>(request.factor);
    divides = (count & (count - 1)) != 0 || (count > 1 && given_factor != 1);
    divisor = broadcast(number);
    factor = broadcast(divides ? given_factor : given_factor / number);
  }
  [[gnu::always_inline]] Lanes of(Lanes lanes) const {
    return with_default_nan((divides ? lanes / divisor : lanes) * factor);
  }

  Lanes divisor, factor;
  bool divides;
};

template <typename From, Reduction kReduction>
[[gnu::always_inline]] inline typename From::Lanes joined(typename From::Lanes a, typename From::Lanes b) {
  if constexpr (kReduction == Reduction::kMaximum) return maximum(a, b);
  if constexpr (kReduction == Reduction::kMinimum) return minimum(a, b);
  return a + b;
}

// The streamed stores of one request.
struct Stream {
  int64_t head = 0;      // elements before the first streamed target is aligned to a line
  uint64_t targets = 0;  // one bit each: aligned to a line after `head` elements; stores bypass the caches

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

// Selects the targets that are stored past the caches. A target that is a source is excluded: its lines are in the cache when
// it is written.
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

// kSources: the number of sources; 0: request.source_count.
template <typename From, typename To, Reduction kReduction, int32_t kSources>
struct Walk {
  using Lanes = typename From::Lanes;
  static constexpr int64_t kStep = kStepVectors * From::kCount;

  explicit Walk(const ReduceRequest &given)
      : request(given),
        is_spread(prefetcher_over(given.sources[0], given.elements * From::kBytes).is_spread()),
        distance(distance_of(given.source_count)),
        finish(given) {}

  int32_t source_count() const { return kSources != 0 ? kSources : request.source_count; }

  // Reduces at most a vector of elements, at the edges.
  void few(int64_t at, int64_t elements) const {
    Lanes lanes = From::load_few(source_at(request, 0) + at * From::kBytes, elements);
    for (int32_t source = 1; source < source_count(); ++source) {
      const uint8_t *const from = source_at(request, source) + at * From::kBytes;
      lanes = joined<From, kReduction>(lanes, From::load_few(from, elements));
    }
    lanes = finish.of(lanes);
    for (int32_t target = 0; target < request.target_count; ++target) {
      To::store_few(target_at(request, target) + at * To::kBytes, lanes, elements);
    }
  }

  [[gnu::noinline]] void edge(int64_t begin, int64_t end) const {
    for (int64_t at = begin; at < end; at += From::kCount) {
      few(at, end - at < From::kCount ? end - at : From::kCount);
    }
  }

  [[gnu::always_inline]] const uint8_t *address(int32_t source, int64_t at) const {
    const uint8_t *const from = source_at(request, source) + at * From::kBytes;
    const Prefetcher prefetcher = {is_spread ? static_cast<const char *>(request.sources[source]) : nullptr, distance};
    prefetcher.prefetch<(kStep * From::kBytes + kLineBytes - 1) / kLineBytes>(from);
    return from;
  }

  [[gnu::always_inline]] void step(int64_t at, const Stream &stream) const {
    Lanes lanes[kStepVectors];
    const uint8_t *from = address(0, at);
#pragma GCC unroll 4
    for (int i = 0; i < kStepVectors; ++i) lanes[i] = From::load(from + i * From::kCount * From::kBytes);
    for (int32_t source = 1; source < source_count(); ++source) {
      from = address(source, at);
#pragma GCC unroll 4
      for (int i = 0; i < kStepVectors; ++i) {
        lanes[i] = joined<From, kReduction>(lanes[i], From::load(from + i * From::kCount * From::kBytes));
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
    if (stream.targets != 0) store_fence();
  }

  const ReduceRequest &request;
  bool is_spread;  // kind and distance of the prefetches
  int64_t distance;
  Finish<From> finish;
};

template <typename From, typename To>
void reduce(const ReduceRequest &request) {
  if (request.reduction == Reduction::kMaximum) return Walk<From, To, Reduction::kMaximum, 0>(request).run();
  if (request.reduction == Reduction::kMinimum) return Walk<From, To, Reduction::kMinimum, 0>(request).run();
  // A separate loop for two sources is a twelfth faster if they are in the caches. For four or eight sources it is not faster.
  if (request.source_count == 2) return Walk<From, To, Reduction::kSum, 2>(request).run();
  Walk<From, To, Reduction::kSum, 0>(request).run();
}

template <typename From>
void reduce_to(const ReduceRequest &request) {
  if (request.target_format == LPT_FORMAT_BF16) return reduce<From, StoredHalves<LPT_FORMAT_BF16>>(request);
  if (request.target_format == LPT_FORMAT_F16) return reduce<From, StoredHalves<LPT_FORMAT_F16>>(request);
  reduce<From, StoredF32>(request);
}

}  // namespace

void LPT_KERNEL(reduce)(const ReduceRequest &request) {
  if (request.format == LPT_FORMAT_F64) return reduce<StoredF64, StoredF64>(request);
  if (request.format == LPT_FORMAT_BF16) return reduce_to<StoredHalves<LPT_FORMAT_BF16>>(request);
  if (request.format == LPT_FORMAT_F16) return reduce_to<StoredHalves<LPT_FORMAT_F16>>(request);
  reduce_to<StoredF32>(request);
}

}  // namespace lpt
