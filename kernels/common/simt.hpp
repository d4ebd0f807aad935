// The part of the CUDA language that kernels of LPT use, implemented on the CPU. Tests run the source of the kernels with one
// fiber per thread of a block. Requires LPT_SIMT; tests/simt/fibers.cpp runs the fibers.
//
// One thread runs at a time, until it waits or ends. Blocks run one after the other. The test sets the order, so that a missing
// barrier is detected. Misuse throws a Fault that names kernel, block and thread. Detected are barriers that not every thread
// of the block reaches, or that threads reach at different lines. Also detected are warp operations that a lane of the mask
// does not execute, and misaligned vector accesses. Device memory is host memory: AddressSanitizer checks it and is informed of
// the fibers.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <source_location>
#include <stdexcept>
#include <string>

// Keywords and types of the language.

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __shared__ static  // blocks run one after the other, so that one copy suffices
#define __launch_bounds__(...)

struct dim3 {
  dim3(uint32_t x = 1, uint32_t y = 1, uint32_t z = 1) : x(x), y(y), z(z) {}
  uint32_t x, y, z;
};
struct alignas(8) uint2 {
  uint32_t x, y;
};
struct alignas(16) uint4 {
  uint32_t x, y, z, w;
};

namespace lpt::simt {

using Where = std::source_location;

struct Fault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Coordinates of the calling thread.
struct ThreadCoords {
  dim3 thread, block, block_extent, grid_extent;
};
const ThreadCoords &place();

// Order in which the threads of a block run between two barriers, and in which the blocks of a grid run.
enum class Order { kForward, kBackward, kShuffled };
void set_order(Order order);

// Throws a Fault where CUDA rejects a launch: the limits of compute capabilities 8.0 to 12.0. `function` is the address of the
// kernel.
void check_launch(const char *kernel, const void *function, dim3 grid, dim3 block, std::size_t shared_bytes);
void allow_shared_bytes(const void *function, std::size_t bytes);

void run_grid(const char *kernel, dim3 grid, dim3 block, std::size_t shared_bytes, void (*body)(void *), void *closure);

// A function that runs or queues the work of a stream. set_queue(NULL): queue_work() runs the work immediately.
using Queue = void (*)(void *stream, std::function<void()> work);
void set_queue(Queue queue);
void queue_work(void *stream, std::function<void()> work);

template <typename Body, typename... Given>
void launch(const char *kernel, const void *function, dim3 grid, dim3 block, std::size_t shared_bytes, void *stream,
            Body body, Given... given) {
  check_launch(kernel, function, grid, block, shared_bytes);
  queue_work(stream, [=] {
    auto thread = [&] { body(given...); };
    run_grid(
        kernel, grid, block, shared_bytes, [](void *closure) { (*static_cast<decltype(thread) *>(closure))(); },
        &thread);
  });
}

void *dynamic_shared();
void wait_for_block(const Where &where);

// Waits for all lanes of the mask. Returns the value of lane `source`.
uint64_t exchange(uint32_t mask, uint64_t value, uint32_t source, const char *operation, const Where &where);

// Waits for all lanes of the mask. Returns a bit for each lane whose value is true.
uint32_t vote(uint32_t mask, bool is_true, const char *operation, const Where &where);

uint32_t lane();

// Aborts the grid. The arguments are C strings, because objects that a fiber owns are not destroyed afterwards.
[[noreturn]] void fault(const char *subject, const char *what, const Where &where);

inline void check_alignment(const void *address, std::size_t bytes, const Where &where) {
  if (reinterpret_cast<uintptr_t>(address) % bytes == 0) return;
  fault("a load or store", " at an address that is no multiple of its size", where);
}

template <typename T>
T exchange_as(uint32_t mask, T value, uint32_t source, const char *operation, const Where &where) {
  static_assert(sizeof(T) <= sizeof(uint64_t));
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  bits = exchange(mask, bits, source, operation, where);
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

}  // namespace lpt::simt

#define threadIdx (::lpt::simt::place().thread)
#define blockIdx (::lpt::simt::place().block)
#define blockDim (::lpt::simt::place().block_extent)
#define gridDim (::lpt::simt::place().grid_extent)

// Barriers and warp operations.

inline void __syncthreads(lpt::simt::Where where = lpt::simt::Where::current()) { lpt::simt::wait_for_block(where); }

inline void __syncwarp(uint32_t mask = ~0u, lpt::simt::Where where = lpt::simt::Where::current()) {
  lpt::simt::vote(mask, false, "__syncwarp", where);
}

inline uint32_t __ballot_sync(uint32_t mask, bool is_true, lpt::simt::Where where = lpt::simt::Where::current()) {
  return lpt::simt::vote(mask, is_true, "__ballot_sync", where);
}

// A lane whose source is outside its segment of `width` lanes returns its own value.
template <typename T>
T __shfl_xor_sync(uint32_t mask, T value, uint32_t distance, uint32_t width = 32,
                  lpt::simt::Where where = lpt::simt::Where::current()) {
  const uint32_t own = lpt::simt::lane();
  const uint32_t source = own ^ distance;
  const bool is_beyond = source >= (own / width + 1) * width;
  return lpt::simt::exchange_as(mask, value, is_beyond ? own : source, "__shfl_xor_sync", where);
}

template <typename T>
T __shfl_down_sync(uint32_t mask, T value, uint32_t distance, uint32_t width = 32,
                   lpt::simt::Where where = lpt::simt::Where::current()) {
  const uint32_t own = lpt::simt::lane();
  const bool is_beyond = own % width + distance >= width;
  return lpt::simt::exchange_as(mask, value, is_beyond ? own : own + distance, "__shfl_down_sync", where);
}

template <typename T>
T __shfl_up_sync(uint32_t mask, T value, uint32_t distance, uint32_t width = 32,
                 lpt::simt::Where where = lpt::simt::Where::current()) {
  const uint32_t own = lpt::simt::lane();
  const bool is_beyond = own % width < distance;
  return lpt::simt::exchange_as(mask, value, is_beyond ? own : own - distance, "__shfl_up_sync", where);
}

template <typename T>
T __shfl_sync(uint32_t mask, T value, uint32_t source, uint32_t width = 32,
              lpt::simt::Where where = lpt::simt::Where::current()) {
  const uint32_t own = lpt::simt::lane();
  return lpt::simt::exchange_as(mask, value, own / width * width + source % width, "__shfl_sync", where);
}

// Memory. The atomic functions return the previous value.

template <typename T>
T atomicAdd(T *address, T value) {
  const T before = *address;
  *address = before + value;
  return before;
}

template <typename T>
T atomicMax(T *address, T value) {
  const T before = *address;
  if (value > before) *address = value;
  return before;
}

template <typename T>
T atomicOr(T *address, T value) {
  const T before = *address;
  *address = before | value;
  return before;
}

// Loads and stores that bypass the caches.
template <typename T>
T __ldcs(const T *address, lpt::simt::Where where = lpt::simt::Where::current()) {
  lpt::simt::check_alignment(address, sizeof(T), where);
  return *address;
}

template <typename T>
void __stcs(T *address, T value, lpt::simt::Where where = lpt::simt::Where::current()) {
  lpt::simt::check_alignment(address, sizeof(T), where);
  *address = value;
}

// Arithmetic.

inline uint32_t __float_as_uint(float value) { return std::bit_cast<uint32_t>(value); }
inline float __uint_as_float(uint32_t bits) { return std::bit_cast<float>(bits); }
inline int __popc(uint32_t bits) { return std::popcount(bits); }

// Returns the low word of (high : low) >> (shift modulo 32).
inline uint32_t __funnelshift_r(uint32_t low, uint32_t high, uint32_t shift) {
  return static_cast<uint32_t>(((static_cast<uint64_t>(high) << 32) | low) >> (shift % 32));
}
