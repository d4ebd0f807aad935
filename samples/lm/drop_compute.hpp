// Ranks that stop a step at a threshold (DropCompute, arXiv 2306.10598), and emulated stragglers.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <vector>

#include "handles.hpp"
#include "parallel.hpp"

namespace lm {

struct DropSettings {
  bool is_enabled = false;
  double threshold = 0.0;   // seconds; 0: found from the times of the first steps
  double stragglers = 0.0;  // factor of random delays, whose mean is half of a micro-batch; 0: none
  double least = 0.0;       // seconds of a micro-batch without delays, by sleeping: a rank with a device of its own
};

// Result of the threshold in a run.
struct DropResult {
  double threshold = std::numeric_limits<double>::infinity();  // seconds; infinity: no rank stops
  int64_t first_step = 0;                                      // number of steps before the threshold was set
  double speedup = 0.0;  // as predicted from the times; 0: the threshold was given
};

// Steps that `threshold` = 0 measures, after some for warm-up, before ranks start to stop.
inline constexpr int64_t kDropWarmUpSteps = 5, kDropMeasuredSteps = 45;

// The clock of one rank for the micro-batches of a step. Only ranks that share the batch may stop at different micro-batches.
class MicroBatchClock {
 public:
  MicroBatchClock(const DropSettings &settings, int64_t micro_batches, uint64_t seed, const Parallel &parallel);

  void begin_step(int64_t step);

  // Delays the micro-batch as the settings specify. A delay ends at the threshold.
  void begin_micro_batch(int64_t micro_batch);

  // Returns whether the rank has to go to the reduction.
  bool is_over() const;

  void end_micro_batch();

  // Ends the step after its reduction and optimizer. After the measured steps, ranks exchange their times and get the same
  // threshold; all ranks call it.
  void end_step(lpt_context *context);

  // Saved with a checkpoint.
  const DropResult &result() const { return result_; }
  void set_result(const DropResult &result);

 private:
  using Clock = std::chrono::steady_clock;
  bool is_measuring() const;
  void choose_threshold(lpt_context *context);

  DropSettings settings_;
  int64_t micro_batches_;
  uint64_t seed_;
  Parallel parallel_;
  DropResult result_;
  bool is_chosen_;
  int64_t step_ = 0;
  int64_t steps_ = 0;  // of this process
  Clock::time_point step_start_, start_, computing_;
  double least_seconds_ = std::numeric_limits<double>::infinity();  // of a micro-batch, without delays
  std::vector<double> seconds_;                                     // of the micro-batches of the measured steps
  std::vector<double> step_seconds_;                                // of the measured steps
};

}  // namespace lm
