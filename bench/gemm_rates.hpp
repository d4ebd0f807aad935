// Rates of GEMMs through lpt.h, relative to the limits of the machine and to each other. The callers print the results.
//
// All contenders of a shape race in rounds. A round measures the limits, then visits each contender: one warm-up run, then
// timed runs. The share of a round is that of the best run of the visit, relative to the limit of the round, so that a drifting
// clock affects both. The result is the median over the rounds.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/gemm_cases.hpp"
#include "bench/gemm_contenders.hpp"
#include "lpt.h"

namespace lpt::bench {

// One result. With several threads it is that of all of them.
struct GemmRate {
  GemmShape shape;
  std::string name;  // a pair, or a peer
  bool is_packed = false, is_peer = false;
  std::string row;
  GemmLimit kind = GemmLimit::kF32;   // the multiplication used
  GemmLimit limit = GemmLimit::kF32;  // the limit that the share is relative to
  double weight_bytes = 0;
  double seconds = 0, median_seconds = 0;
  double limit_rate = 0;  // the best of the race: GFLOP/s, or GB/s of reading; of all threads
  double share = 0;       // of the limit: the median of the rounds
  double best_share = 0;  // the fastest run relative to the best limit
  double scaling = 0;     // time of one thread relative to that of all; 0: one thread only
  double bar = 0;         // target of the share; 0: no target

  double gflops() const { return shape.flops() / seconds * 1e-9; }
  double weight_gigabytes() const { return weight_bytes / seconds * 1e-9; }
  bool is_reached() const { return bar == 0 || share >= bar; }
};

// The GEMM of another library. It races with the pairs of its kind. `prepare` sets `runs` and `weight_bytes`; it returns false
// if the library does not support the shape.
struct GemmPeer {
  std::string name;
  GemmLimit kind = GemmLimit::kF32;
  bool is_packed = false;
  std::function<bool(const GemmShape &shape, int threads, GemmContender &out_contender)> prepare;
};

struct GemmRateOptions {
  std::vector<GemmShape> shapes;
  std::vector<GemmPair> pairs;
  bool wants_plain = true, wants_packed = true;
  int threads = 1;
  lpt_isa isa = LPT_ISA_AUTO;
  double seconds = 0.3;  // for each contender and number of threads; at least kLeastRounds rounds
  std::vector<GemmPeer> peers;
  std::vector<std::string> missing_peers;                                 // for the report
  std::function<void(double part, const std::string &note)> on_progress;  // completed fraction of the benchmark, 0 to 1
  std::function<void(const std::vector<GemmRate> &rates, bool is_judged)> on_shape;  // called after each shape
};

struct GemmReport {
  std::string build;
  int threads = 1;
  std::string isa;
  double load = 0;                                        // the highest during the run
  bool is_judged = true;                                  // false: the load is too high to evaluate targets
  double f32_gflops = 0, bf16_gflops = 0, int8_gops = 0;  // limits of one thread, the best of the run
  double bf16_tile_gflops = 0, int8_tile_gops = 0;        // the same with tiles; 0: unavailable or not measured
  std::vector<std::string> missing_peers;
  std::vector<std::string> left_out;  // omitted measurements with the reason
  std::vector<GemmRate> rates;
};

// Returns the load above which targets are not evaluated.
double load_limit(int threads);

// Measures. Returns no rates, with the reason in `error`, if a call of the library failed.
GemmReport gemm_rates(const GemmRateOptions &options, std::string &error);

}  // namespace lpt::bench
