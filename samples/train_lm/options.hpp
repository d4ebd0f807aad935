// Options of train_lm.
#pragma once

#include <cstdint>
#include <string>

#include "../lm/archive.hpp"
#include "../lm/grid.hpp"
#include "../lm/trainer.hpp"

namespace train_lm {

struct Options {
  // These make the losses what they are. A checkpoint keeps them, and a resumed run takes them from it.
  lm::TrainSettings train;
  std::string recipe = "fp8_trillion";
  std::string state;               // of the optimizer; empty: the recipe's own
  std::string method = "adamw";    // how it steps
  std::string raised = "nothing";  // what the last steps compute in bf16
  bool has_no_twin = false;
  lm::Grid grid;
  double synced = 1.0;  // share of the stream's channels that tensor-parallel ranks sum
  std::string wire;     // format in which those sums are sent; empty: f32

  std::string data;
  std::string out = "build/run";
  std::string resume;
  int64_t checkpoint_every = 100;  // 0: none
  int64_t stop_after = 0;          // 0: run to the end
  int32_t threads = 0;             // of each model and rank; 0: they share the cores
  std::string engine = "local";
  int64_t sample_bytes = 320;
  double temperature = 0.8;
  bool is_quiet = false;
  bool is_json = false;
};

// Ends the program after --help. Throws lm::Error for anything that is wrong.
Options parse_options(int argument_count, char **arguments);

// How the ranks of the run are in step. Throws lm::Error for a wire that is no format.
lm::Synchrony synchrony_of(const Options &options);

// The settings that a checkpoint keeps, one "name=value" per line.
std::string settings_text(Options options);

}  // namespace train_lm
