// Memory that fails when a test says so, on the thread of the test: operator new of the whole program, and an allocator for
// contexts.
#pragma once

#include <atomic>
#include <cstdint>

#include "lpt.h"

namespace lpt::test {

// What the thread's allocations come to. Operator new counts always, an allocator where it calls fails_here().
struct FailingMemory {
  int64_t left = -1;        // allocations that succeed before one fails; negative: all do
  bool is_lasting = false;  // all after it fail as well
  bool has_failed = false;

  bool fails_here() {
    if (left != 0) {
      if (left > 0) --left;
      return false;
    }
    if (!is_lasting) left = -1;
    has_failed = true;
    return true;
  }
};

FailingMemory &failing_memory();  // of this thread

// Blocks of operator new that live, of all threads.
int64_t live_blocks();

}  // namespace lpt::test
