// lpt bench: how fast this machine casts and multiplies, beside its own limits.
#pragma once

#include <string>
#include <vector>

namespace tool {

struct BenchOptions {
  int mebibytes = 256;  // of the f32 source out of cache; 0 leaves that half out
  std::string picture;  // SVG to write; empty: none
};

// Prints figures as they come. Throws where the library refuses.
void bench_quantize(const BenchOptions &options);

struct BenchGemmOptions {
  std::vector<std::string> shapes, pairs;  // empty: the usual ones
  std::string weights = "both";            // plain, packed, both
  std::string isa = "auto";                // or one of kIsas
  int threads = 1;
  double seconds = 0.3;            // for each contender
  std::string from;                // draws the figures of this file and measures nothing
  std::vector<std::string> peers;  // files whose peers are drawn beside
  std::string json, picture;       // files to write; empty: none
  bool is_quiet = false;           // no progress
};

void bench_gemm(const BenchGemmOptions &options);

}  // namespace tool
