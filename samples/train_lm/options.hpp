// Options of train_lm.
#pragma once

#include <cstdint>
#include <string>

#include "../lm/archive.hpp"
#include "../lm/grid.hpp"
#include "../lm/trainer.hpp"

namespace train_lm {

struct Options {
  // Settings that the losses depend on. A checkpoint stores them, and a resumed run reads them from it.
  lm::TrainSettings train;
  std::string recipe = "fp8_trillion";
  std::string state;               // of the optimizer; empty: that of the recipe
  std::string method = "adamw";    // optimizer method
  std::string raised = "nothing";  // passes that the last steps compute in bf16 or f32
  bool has_no_twin = false;
  lm::Grid grid;
  double synced = 1.0;        // fraction of the channels of the stream that tensor-parallel ranks reduce
  std::string wire;           // wire format of these reductions; empty: f32
  std::string sequence_wire;  // of keys and values of ranks that divide windows; empty: that of activations
  std::string drop;           // threshold of ranks in seconds, or "auto"; empty: none
  std::string lossy;          // fraction of the packets that ranks lose on purpose; empty: reliable collectives

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

// Exits the program after --help. Throws lm::Error for invalid options.
Options parse_options(int argument_count, char **arguments);

// Returns the synchronization of the ranks. Throws lm::Error if a wire option is not a format.
lm::Synchrony synchrony_of(const Options &options);

// Returns the settings of ranks that stop. Throws lm::Error if the option is no time.
lm::DropSettings drop_of(const Options &options);

// Returns the settings of ranks that send packets. Throws lm::Error if the option is no fraction below 1.
lm::LossySettings lossy_of(const Options &options);

// Returns the settings that a checkpoint stores, one "name=value" per line.
std::string settings_text(Options options);

}  // namespace train_lm
