// Slow test: encodes all 2^32 floats to e4m3fn and e5m2 with the reference encode(), and compares with ml_dtypes.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "src/formats/element.hpp"
#include "tests/formats/golden.hpp"

namespace {

using namespace lpt;

// Lane i has the floats whose low half is i, in the order of their high halves. The threads divide the lanes.
std::string digest_of_all(const Element &element) {
  std::vector<uint64_t> lanes(golden::kLanes, golden::kFnvOffset);
  const uint64_t thread_count = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::thread> threads;
  for (uint64_t first = 0; first < thread_count; ++first) {
    threads.emplace_back([&, first] {
      for (uint64_t lane = first * golden::kLanes / thread_count; lane < (first + 1) * golden::kLanes / thread_count;
           ++lane) {
        uint64_t hash = golden::kFnvOffset;
        for (uint32_t high = 0; high < 65536; ++high) {
          golden::fnv(hash, golden::encode_nearest(element, bits_float(high << 16 | static_cast<uint32_t>(lane))), 1);
        }
        lanes[lane] = hash;
      }
    });
  }
  for (std::thread &thread : threads) thread.join();
  return golden::digest_of_lanes(lanes);
}

}  // namespace

int main() {
  constexpr golden::NamedElement kElements[] = {{"e4m3fn", kElementE4m3fn}, {"e5m2", kElementE5m2}};
  bool is_equal = true;
  for (const golden::NamedElement &named : kElements) {
    const std::string oracle = golden::digest("all_floats", "all_floats", named.name);
    const std::string got = digest_of_all(named.element);
    std::printf("%s: %s, golden \"%s\"\n", named.name, got.c_str(), oracle.c_str());
    is_equal = is_equal && got == oracle;
  }
  return is_equal ? 0 : 1;
}
