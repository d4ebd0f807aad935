// Which part of the work this process does. Every loader and model takes it, so that many ranks need no new signatures.
#pragma once

#include <cstdint>

namespace lm {

struct Parallel {
  int64_t rank = 0;   // from 0 to ranks - 1
  int64_t ranks = 1;  // processes that train one model on shares of the same batch
};

}  // namespace lm
