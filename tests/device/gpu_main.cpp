// The suite on the GPU that the library finds.
//   --probe   only prints the GPU, or the reason why none is available
// Exit status 77: no GPU is available.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>

#include "lpt.h"

namespace {

constexpr int kSkipped = 77;

bool is_present() {
  lpt_device_info gpu = LPT_DEVICE_INFO_INIT;
  if (lpt_device_describe(nullptr, LPT_DEVICE_CUDA, 0, &gpu) != LPT_OK) return false;
  if (gpu.is_usable != 0) {
    std::printf("cuda:0 is %s, compute capability %d.%d\n", gpu.name, gpu.capability_major, gpu.capability_minor);
  } else {
    std::printf("no GPU: %s\n", gpu.reason);
  }
  return gpu.is_usable != 0;
}

}  // namespace

int main(int argument_count, char **arguments) {
  testing::InitGoogleTest(&argument_count, arguments);
  if (GTEST_FLAG_GET(list_tests)) return RUN_ALL_TESTS();
  if (!is_present()) return kSkipped;
  const bool only_probes = argument_count > 1 && std::strcmp(arguments[1], "--probe") == 0;
  return only_probes ? 0 : RUN_ALL_TESTS();
}
