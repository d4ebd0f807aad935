#include "tests/api/failing_memory.hpp"

#include <cstdlib>
#include <new>

namespace lpt::test {
namespace {

std::atomic<int64_t> g_live_blocks{0};

void *allocate_or_null(std::size_t bytes) noexcept {
  if (failing_memory().fails_here()) return nullptr;
  void *const memory = std::malloc(bytes == 0 ? 1 : bytes);
  if (memory != nullptr) ++g_live_blocks;
  return memory;
}

void *allocate_or_throw(std::size_t bytes) {
  if (void *const memory = allocate_or_null(bytes)) return memory;
  throw std::bad_alloc();
}

void release(void *memory) noexcept {
  if (memory != nullptr) --g_live_blocks;
  std::free(memory);
}

}  // namespace

FailingMemory &failing_memory() {
  static thread_local FailingMemory memory;
  return memory;
}

int64_t live_blocks() { return g_live_blocks; }

}  // namespace lpt::test

#if defined(__GNUC__) && !defined(__clang__)
// If gcc inlines only one function of a pair, it reports malloc with delete, or new with free.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
#endif

// These operators also serve the library: the operator new of a program replaces that of its shared libraries.
void *operator new(std::size_t bytes) { return lpt::test::allocate_or_throw(bytes); }
void *operator new[](std::size_t bytes) { return lpt::test::allocate_or_throw(bytes); }
void *operator new(std::size_t bytes, const std::nothrow_t &) noexcept { return lpt::test::allocate_or_null(bytes); }
void *operator new[](std::size_t bytes, const std::nothrow_t &) noexcept { return lpt::test::allocate_or_null(bytes); }
void operator delete(void *memory) noexcept { lpt::test::release(memory); }
void operator delete[](void *memory) noexcept { lpt::test::release(memory); }
void operator delete(void *memory, std::size_t) noexcept { lpt::test::release(memory); }
void operator delete[](void *memory, std::size_t) noexcept { lpt::test::release(memory); }
