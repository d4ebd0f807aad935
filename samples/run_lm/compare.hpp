// Tables and pictures of versions of one model.
#pragma once

#include <string>
#include <vector>

#include "measure.hpp"

namespace run_lm {

struct Version {
  std::string format = "";
  std::string method = "";
  double bytes_per_weight = 0.0;  // of the matrices of all layers, with scales
  Score score = {};
  double decode_rate = 0.0;  // tokens per second, one after the other
  double fit_seconds = 0.0;  // CPU time of the quantization
};

// What a report says about its run.
struct RunFacts {
  std::string command;
  std::string table;  // the name of its table
  int32_t threads = 0;
};

// The first version is the baseline in f32. Versions without a method, "-", are not quantized; the picture leaves them out.
std::string version_table(const std::vector<Version> &versions);
std::string version_picture(const std::string &subtitle, const std::vector<Version> &versions);

// Returns JSON for `tools/make_benchmarks.py import`.
std::string version_report(const RunFacts &facts, const std::vector<Version> &versions);

}  // namespace run_lm
