// Asynchronous copies of 16 bytes from global to shared memory: cp.async of sm_80 and later. A thread closes the copies that it
// started as a group. Groups complete in the order in which they are closed. Copies of other threads are visible after their
// wait and a barrier.
//
// On the CPU, a copy is performed as late as possible: when its thread waits for it. A missing wait then gives a wrong result.
#pragma once

#include <cstring>
#if defined(LPT_SIMT)
#include <deque>
#include <vector>
#endif

#include "kernels/common/cuda_fragment.hpp"

namespace lpt {

#if defined(LPT_SIMT)

struct AsyncCopy {
  void *target;
  const void *source;
};

// Copies that a thread of a block started and has not waited for.
struct AsyncCopies {
  std::vector<AsyncCopy> open;
  std::deque<std::vector<AsyncCopy>> closed;
};

inline AsyncCopies &async_copies() {
  static AsyncCopies threads[1024];
  return threads[thread_of_block()];
}

inline void copy_async(void *target, const void *source, simt::Where where = simt::Where::current()) {
  simt::check_alignment(target, 16, where);
  simt::check_alignment(source, 16, where);
  async_copies().open.push_back({target, source});
}

inline void close_copies() {
  AsyncCopies &copies = async_copies();
  copies.closed.push_back(std::move(copies.open));
  copies.open.clear();
}

template <std::size_t kLeft>
void wait_for_copies() {
  std::deque<std::vector<AsyncCopy>> &closed = async_copies().closed;
  for (; closed.size() > kLeft; closed.pop_front()) {
    for (const AsyncCopy &copy : closed.front()) std::memcpy(copy.target, copy.source, 16);
  }
}

#else

__device__ __forceinline__ void copy_async(void *target, const void *source) {
  const auto address = static_cast<uint32_t>(__cvta_generic_to_shared(target));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" : : "r"(address), "l"(source) : "memory");
}

__device__ __forceinline__ void close_copies() { asm volatile("cp.async.commit_group;" : : : "memory"); }

// Waits until at most kLeft of the groups that this thread closed are pending.
template <uint32_t kLeft>
__device__ __forceinline__ void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" : : "n"(kLeft) : "memory");
}

#endif

}  // namespace lpt
