// Trains several trainers at once, each in a separate thread.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>

#include "trainer.hpp"

namespace lm {

// Progress of one trainer, read while it trains.
struct Standing {
  int64_t steps = 0;
  double loss = 0.0;  // of its last step, in bits per byte
  double kept = 1.0;  // fraction of the micro-batches since the threshold was set
  double threshold = std::numeric_limits<double>::infinity();
};

// Runs on the calling thread several times per second.
using WatchFunction = std::function<void(std::span<const Standing>)>;

// Returns when every trainer has done `step` steps. If one throws, the others stop early and the exception is rethrown.
void train_side_by_side(std::span<const std::unique_ptr<Trainer>> trainers, int64_t step, const WatchFunction &watch);

}  // namespace lm
