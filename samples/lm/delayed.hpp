// Averages of weights that run during the next step (DC-S3GD, arXiv 1911.02516).
#pragma once

#include <deque>
#include <optional>
#include <span>

#include "flat_values.hpp"
#include "ranks.hpp"

namespace lm {

// Each rank steps its weights with its own gradient, and starts their average over ranks. After the next forward and backward, the
// gradient is corrected for the distance to the average, which replaces the weights.
class DelayedRanks {
 public:
  // `strength` is the norm of the correction relative to the gradient. `ranks` and `parameters` must outlive the object.
  DelayedRanks(lpt_context *context, DataRanks &ranks, const std::deque<Parameter> &parameters, double strength);
  ~DelayedRanks();
  DelayedRanks(const DelayedRanks &) = delete;
  DelayedRanks &operator=(const DelayedRanks &) = delete;

  // Starts the average of the weights.
  void begin();

  // Waits for the average, if one was started, corrects the gradients, and replaces the weights.
  void join();

  // Waits for the average, and replaces the weights.
  void end();

  // Waits, and returns the average that join() will use; empty without one.
  std::span<const float> mean();
  void set_mean(std::span<const float> numbers);

 private:
  using Future = std::unique_ptr<lpt_future, Destroy<lpt_future_destroy>>;

  void wait();
  void replace();

  lpt_context *context_;
  DataRanks &ranks_;
  const std::deque<Parameter> &parameters_;
  double strength_;
  FlatValues mean_;
  bool has_mean_ = false;
  Future future_;  // of `mean_`; nullptr: complete
};

}  // namespace lm
