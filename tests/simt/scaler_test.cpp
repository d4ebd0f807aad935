// The conditional amax kernel of device scalers: computes the amax only if the given one is 0.
#include <gtest/gtest.h>

#include "kernels/quantize/cuda/cuda_scaler.hpp"
#include "tests/simt/device_kernels.hpp"
#include "tests/support/guarded.hpp"

namespace lpt::test {
namespace {

TEST(SimtLook, SeeksNothingWhereThereIsAnAmax) {
  Random random(91);
  Matrix source(LPT_FORMAT_F32, 3, 50, 0, 0);
  source.fill(random, Values::kNormal);
  for (const float unless : {0.0f, 2.0f}) {
    float amax = -1.0f;
    bool has_nan = true;
    take_next_order();
    conditional_amax_device_kernels().front().queue({{source.view(), &amax, &has_nan}, &unless}, nullptr);
    EXPECT_EQ(unless == 0.0f, amax > 0.0f);
    EXPECT_FALSE(has_nan);
  }
}

TEST(SimtLook, WhatTheRowDoesNotTakeIsRejected) {
  Matrix source(LPT_FORMAT_F64, 1, 1, 0, 0);
  EXPECT_STREQ("takes f32, bf16 and f16 only", conditional_amax_device_kernels().front().unsupported_reason(
                                                   {{source.view(), nullptr, nullptr}, nullptr}));
}

}  // namespace
}  // namespace lpt::test
