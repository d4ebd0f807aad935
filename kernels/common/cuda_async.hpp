// Copies of sixteen bytes from global to shared memory that go on while the thread does other work: cp.async of sm_80 and later.
// A thread closes what it has begun as a group; groups end in the order in which they were closed. What others have copied is
// there after their wait and a barrier.
//
// On the CPU a copy is made as late as it may be: when its thread waits for it. A wait too few is a wrong number.
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

// What the threads of a block have begun and not waited for.
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

// Until at most kLeft of the groups that this thread closed are under way.
template <uint32_t kLeft>
__device__ __forceinline__ void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" : : "n"(kLeft) : "memory");
}

#endif

}  // namespace lpt
