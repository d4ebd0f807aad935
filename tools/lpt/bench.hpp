// lpt bench: speed of casts, GEMMs and collectives on this machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tool {

struct BenchOptions {
  int mebibytes = 256;  // of the f32 source out of cache; 0 omits this half
  std::string picture;  // SVG to write; empty: none
};

// Prints each result when it is available. Throws Error if the library rejects a call.
void bench_quantize(const BenchOptions &options);

struct BenchGemmOptions {
  std::vector<std::string> shapes, pairs;  // empty: the default ones
  std::string weights = "both";            // plain, packed, both
  std::string isa = "auto";                // or one of kIsas
  int threads = 1;
  double seconds = 0.3;            // for each contender
  std::string from;                // plots the results of this file without measuring
  std::vector<std::string> peers;  // files whose peers are added to the plot
  std::string json, picture;       // files to write; empty: none
  bool is_quiet = false;           // no progress
};

void bench_gemm(const BenchGemmOptions &options);

struct BenchCommOptions {
  int ranks = 2;
  int threads = 1;                                                          // of each rank
  std::vector<std::string> collectives;                                     // empty: all that can be measured
  std::vector<std::string> formats = {"f32", "bf16"};                       // of the tensors
  std::vector<std::string> payloads = {"bf16", "mxfp8_e4m3", "int8_1x32"};  // formats whose crossover is reported
  std::vector<std::string> wires;  // wire formats for reductions, measured in addition to the tensor formats
  int64_t least_bytes = int64_t{1} << 10, most_bytes = int64_t{64} << 20;
  double seconds = 0.05;                             // for each size
  double link_microseconds = 0, link_gigabytes = 0;  // of an emulated link; 0: none
  bool sends_messages = false;                       // instead of reading the memory of other ranks
  std::string json, picture;                         // files to write; empty: none
  bool is_quiet = false;                             // no progress
};

void bench_comm(const BenchCommOptions &options);

struct BenchStepOptions {
  int ranks = 1;    // that compute at the same time
  int threads = 1;  // of each rank
  std::vector<std::string> recipes = {"f32", "bf16"};
  std::vector<std::string> moments = {"f32"};      // one format, or two separated by a colon
  std::vector<std::string> wires = {"int8_1x32"};  // of all-reduces of f32
  double seconds = 0.1;                            // for each shape
  std::string json;                                // file to write; empty: none
  bool is_quiet = false;                           // no progress
};

void bench_step(const BenchStepOptions &options);

}  // namespace tool
