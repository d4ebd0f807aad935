// How fast GEMMs are beside the limits of the machine and beside each other, through lpt.h: figures, for whoever prints
// them.
//
// All contenders of a shape race in rounds. A round measures the limits, then visits each contender: one run that no one
// counts, then some that are. A share is the median over the rounds of the best run of the visit by the limit of the round,
// so that a drifting clock affects both alike.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/gemm_cases.hpp"
#include "bench/gemm_contenders.hpp"
#include "lpt.h"

namespace lpt::bench {

// One figure. With several threads it is that of all of them.
struct GemmRate {
  GemmShape shape;
  std::string name;  // a pair, or a peer
  bool is_packed = false, is_peer = false;
  std::string row;
  GemmLimit kind = GemmLimit::kF32;   // what multiplies
  GemmLimit limit = GemmLimit::kF32;  // what the share is of
  double weight_bytes = 0;
  double seconds = 0, median_seconds = 0;
  double limit_rate = 0;  // the best of the race: GFLOP/s, or GB/s of reading; of all threads
  double share = 0;       // of the limit: the median of the rounds
  double best_share = 0;  // the fastest run by the best limit
  double scaling = 0;     // one thread's time by that of all; 0: there is one thread
  double bar = 0;         // what the share shall reach; 0: no bar

  double gflops() const { return shape.flops() / seconds * 1e-9; }
  double weight_gigabytes() const { return weight_bytes / seconds * 1e-9; }
  bool is_reached() const { return bar == 0 || share >= bar; }
};

// Somebody else's GEMM; it races where a pair is multiplied in its kind. `prepare` fills `runs` and `weight_bytes`; false:
// it has none of this shape.
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
  double seconds = 0.3;  // for each contender and number of threads; at least some rounds
  std::vector<GemmPeer> peers;
  std::vector<std::string> missing_peers;                                            // for the report
  std::function<void(double part, const std::string &note)> on_progress;             // part of the whole, 0 to 1
  std::function<void(const std::vector<GemmRate> &rates, bool is_judged)> on_shape;  // called as shapes are done
};

struct GemmReport {
  std::string build;
  int threads = 1;
  std::string isa;
  double load = 0;                                        // the highest that was seen
  bool is_judged = true;                                  // false: so high a load that bars say nothing
  double f32_gflops = 0, bf16_gflops = 0, int8_gops = 0;  // limits of one thread, the best of the run
  double bf16_tile_gflops = 0, int8_tile_gops = 0;        // the same of tiles; 0: not to be had, or not needed
  std::vector<std::string> missing_peers;
  std::vector<std::string> left_out;  // what was not measured, and why
  std::vector<GemmRate> rates;
};

// The load above which nothing is judged.
double load_limit(int threads);

// Measures. Empty rates, with the reason in `error`, if a call of the library failed.
GemmReport gemm_rates(const GemmRateOptions &options, std::string &error);

}  // namespace lpt::bench
