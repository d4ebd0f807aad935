// Chooses a level of a ladder of recipes for each GEMM of each layer of a training run, from reported signals.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "lpt/research/autopilot.h"
#include "src/linear/linear.hpp"

namespace lpt {

// What was reported for the casts of one GEMM since the last decision; the worst of several reports.
struct GemmReport {
  double nan_count = 0.0;
  double clipped = 0.0;  // share
  std::array<double, 2> amax = {};
  double error = 0.0;  // sum over both operands of squared error / squared sum
};

// One GEMM of a layer.
struct GemmLevel {
  int32_t level = 0;
  lpt_autopilot_reason reason = LPT_AUTOPILOT_REASON_CALM;  // of its last rise
  int64_t calm = 0;                                         // decisions since then without an urgent reason
  std::array<double, 2> mean_amax = {};                     // 0: none was reported
  GemmReport report;
};

// A reason to raise a GEMM, with the measured value and its limit.
struct Alarm {
  lpt_autopilot_reason reason = LPT_AUTOPILOT_REASON_CALM;
  double value = 0.0;
  double limit = 0.0;

  bool is_set() const { return reason != LPT_AUTOPILOT_REASON_CALM; }
};

struct RiseCandidate {
  size_t index;  // of the GEMM
  double merit;
};

}  // namespace lpt

struct lpt_autopilot {
  // All that changes. Saved states contain it.
  struct State {
    int64_t steps_done = 0;
    double spent = 0.0;      // sum over steps of the mean cost of a multiply-add
    double mean_loss = 0.0;  // exponential
    double loss_variance = 0.0;
    int64_t loss_count = 0;                   // finite losses
    std::vector<lpt::GemmLevel> gemms;        // [layers][kGemmCount]
    std::vector<double> alignment;            // of each layer, the largest
    std::vector<double> noise_ratio;          // of each layer, the smallest; infinite without a report
    std::vector<lpt_autopilot_decision> log;  // all decisions
  };

  lpt::HandleKind kind = lpt::HandleKind::kAutopilot;
  lpt_autopilot_options options;
  std::vector<lpt_recipe> ladder;
  std::vector<double> costs;
  std::vector<double> shares;  // of the work of all layers, for one GEMM of each layer; three times their sum is 1
  State state;
  bool is_replay = false;
  std::vector<lpt_autopilot_decision> replayed;  // followed from state.log.size() on

  // Scratch memory of a step.
  std::vector<lpt::Alarm> alarms;
  std::vector<lpt::RiseCandidate> candidates;
};

namespace lpt {

using Autopilot = lpt_autopilot;

Status create_autopilot(std::span<const Recipe *const> ladder, std::span<const double> costs,
                        std::span<const double> work, const lpt_autopilot_options &options, Autopilot &out_autopilot);
Status observe(Autopilot &autopilot, int32_t layer, lpt_autopilot_reason signal, double value);
Status observe_linear(Autopilot &autopilot, int32_t layer, const Linear &linear);
Status end_step(Autopilot &autopilot, int64_t step, double loss, int64_t &out_change_count);
Status compose_recipe(const Autopilot &autopilot, int32_t layer, Recipe &out_recipe);
Status set_replay(Autopilot &autopilot, std::span<const lpt_autopilot_decision> decisions);

// Mean cost of a multiply-add with the current levels.
double next_cost(const Autopilot &autopilot);

size_t autopilot_state_bytes(const Autopilot &autopilot);
Status save_autopilot(const Autopilot &autopilot, void *buffer, size_t buffer_bytes);
Status load_autopilot(Autopilot &autopilot, const void *buffer, size_t buffer_bytes);

}  // namespace lpt
