// Trains several trainers at once, each on a thread of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "trainer.hpp"

namespace lm {

// Where one trainer stands; read while it trains.
struct Standing {
  int64_t steps = 0;
  double loss = 0.0;  // of its last step, in bits per byte
};

// Called on the caller's thread, several times a second.
using WatchFunction = std::function<void(std::span<const Standing>)>;

// Returns when every trainer has done `step` steps. If one throws, the others end early and its exception goes on.
void train_side_by_side(std::span<const std::unique_ptr<Trainer>> trainers, int64_t step, const WatchFunction &watch);

}  // namespace lm
