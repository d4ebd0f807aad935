// Allocations that fail on request on the thread of the test: operator new of the program, and an allocator for contexts.
#pragma once

#include <atomic>
#include <cstdint>

#include "lpt.h"

namespace lpt::test {

// State of the allocations of one thread. operator new always counts; an allocator counts where it calls fails_here().
struct FailingMemory {
  int64_t left = -1;        // number of allocations that succeed before one fails; negative: all succeed
  bool is_lasting = false;  // all later allocations fail too
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

FailingMemory &failing_memory();  // of the calling thread

// Returns the number of live blocks of operator new, of all threads.
int64_t live_blocks();

}  // namespace lpt::test
