// Results of a run, on the terminal and in files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "../lm/trainer.hpp"
#include "options.hpp"

namespace train_lm {

// Results of one of the two models.
struct TwinResult {
  std::string recipe;
  lm::Measured measured;
  lm::Bytes bytes;
  double training_loss = 0.0;      // bits per byte, mean of the last twentieth of the steps
  double validation_loss = 0.0;    // bits per byte, the last measurement
  double tokens_per_second = 0.0;  // of the steps of this process, without dropped ones; a token is a byte
  double steps_per_second = 0.0;
  std::vector<lm::ProfileLine> profile;
  lm::Traffic traffic;  // of the first rank
  lm::DropResult drop;
  std::vector<lm::LinkCounts> links;  // packets between the first rank and each other one
  double high_share = 0.0;            // of the work of the blocks, that the autopilot raised to bf16

  double gemm_share() const;     // of the busy time
  double dropped_share() const;  // of the micro-batches since the threshold was set
  double lost_share() const;     // of the packets to the first rank
};

struct Results {
  std::vector<TwinResult> twins;  // the selected recipe first, then f32
  int64_t parameter_count = 0;
  int64_t steps = 0;
  double seconds = 0.0;     // of this process, from start to end of training
  double gzip_loss = -1.0;  // bits per byte of gzip -9; negative: unknown
  std::string sample;

  bool has_twin() const { return twins.size() > 1; }
  bool is_compared_with_f32() const { return twins.at(1).recipe == "f32"; }
  double gap_percent() const;   // excess of the validation loss of the first model
  double moment_ratio() const;  // bytes of moments, first model over f32
  double state_ratio() const;   // bytes of moments and master weights, first model over f32
};

TwinResult twin_result(lm::Trainer &trainer, const std::string &recipe);

// Returns a text table.
std::string results_table(const Options &options, const Results &results);

std::string metrics_json(const Options &options, const Results &results);

// Writes loss_curves.svg, losses.csv and metrics.json into the folder.
void write_results(const Options &options, const Results &results);

}  // namespace train_lm
