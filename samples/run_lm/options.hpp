// Options of run_lm.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "generate.hpp"

namespace run_lm {

struct Options {
  std::string command;  // generate, perplexity, quantize or compare
  std::string model;
  std::string activations = "bf16";
  std::string cache = "bf16";
  std::string head;  // empty: f32 if activations are in f32, otherwise int8_1x32
  int32_t threads = 0;
  bool is_quiet = false;

  std::string prompt;
  std::string prompt_file;
  Sampling sampling;

  std::vector<std::string> texts;
  int64_t window = 512;
  int64_t windows = 0;       // of all texts; 0: all
  std::string baseline;      // a model to compare predictions with
  int32_t softmax_bits = 0;  // of EXAQ; 0: the softmax is not rounded

  std::vector<std::string> formats;
  std::vector<std::string> methods;
  std::vector<double> bytes_per_weight;  // of models whose layers have different formats
  std::vector<std::string> calibration;
  int64_t calibration_windows = 32;
  std::string out;
  std::string json;          // a report of compare
  std::string command_line;  // as given
};

// Exits the program after --help. Throws tool::Error for invalid options.
Options parse_options(int argument_count, char **arguments);

}  // namespace run_lm
