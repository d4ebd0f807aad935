// lpt bench: how fast this machine casts, beside its memory.
#pragma once

#include <string>

namespace tool {

struct BenchOptions {
  int mebibytes = 256;  // of the f32 source out of cache; 0 leaves that half out
  std::string picture;  // SVG to write; empty: none
};

// Prints figures as they come. Throws where the library refuses.
void bench_quantize(const BenchOptions &options);

}  // namespace tool
