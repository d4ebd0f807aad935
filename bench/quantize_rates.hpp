// Speed of casts relative to memcpy and to each other, through lpt.h on one thread. The callers print the results.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "lpt.h"

namespace lpt::bench {

// One result. Bytes are those that must be read and written once: source and outputs.
struct QuantizeRate {
  std::string name;
  double elements = 0, bytes = 0;
  double seconds = 0;       // the fastest run
  double copy_seconds = 0;  // the fastest memcpy of the same source between those runs
  std::string measure;      // meaning of `ratio`, such as "of memcpy's bytes"; empty: none
  double ratio = 0;
  double bar = 0;           // target of the ratio; 0: no target
  bool is_ceiling = false;  // the ratio must not exceed the target

  double gigabytes() const { return bytes / seconds * 1e-9; }
  double gigaelements() const { return elements / seconds * 1e-9; }
  double copy_gigabytes() const { return 8 * elements / copy_seconds * 1e-9; }
  bool is_reached() const { return bar == 0 || (is_ceiling ? ratio <= bar : ratio >= bar); }
};

// A cast of `count` f32 to 8 bits by another library, interleaved with those of LPT.
struct QuantizePeer {
  std::string name;
  std::function<void(const float *from, void *to, int64_t count)> run;
  double bar = 0;  // target of the nearest casts of LPT, as a fraction of its elements per second
};

// Casts to 8-bit floats that were measured elsewhere.
struct QuantizeGivenPeer {
  std::string name;
  double elements_per_second = 0;
  double bar = 0;
};

struct QuantizeRateOptions {
  int64_t source_bytes = 0;  // of f32; far beyond any cache, or within the second-level cache
  bool is_in_cache = false;  // selects the targets
  lpt_isa isa = LPT_ISA_AUTO;
  std::vector<QuantizePeer> peers;                        // in cache
  std::vector<QuantizeGivenPeer> given_peers;             // in cache
  std::function<void(const QuantizeRate &rate)> on_rate;  // called for each result
};

// Returns all results of one size. Empty, with the reason in `error`, if a call of the library failed.
std::vector<QuantizeRate> quantize_rates(const QuantizeRateOptions &options, std::string &error);

}  // namespace lpt::bench
