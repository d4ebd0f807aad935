// The CUDA optimizer step on the CPU against the reference kernel: all methods, states, roundings, underflows, kinds of values.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernels/optimizer/cuda_kernels.hpp"
#include "src/base/status.hpp"
#include "tests/kernels/optimizer_problem.hpp"
#include "tests/simt/device_kernels.hpp"
#include "tests/support/sanitized.hpp"

namespace lpt::test {
namespace {

constexpr int64_t kCounts[] = {0, 1, 15, 16, 17, 127, 128, 129, 255, 256, 257, 512, 1000, 4096, 4500};

const KernelEntry<StepRequest> &kernel() { return step_device_kernels().front(); }

// Runs both kernels, with and without an amax, and compares their outputs.
void run_both(StepRequest request, StepRequest reference, bool wants_amax, const std::string &what) {
  float found[3] = {0.0f, 0.25f, 0.0f}, expected[3] = {0.0f, 0.25f, 0.0f};
  request.amax = wants_amax ? found : nullptr;
  reference.amax = wants_amax ? expected : nullptr;
  take_next_order();
  kernel().queue(request, nullptr);
  step_kernels().back().run(reference);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(found[i], expected[i]) << what << ", amax " << i;
}

// Returns true if the kernel supports the request.
bool compare(Random &random, const StepKinds &kinds, Values values) {
  const bool is_whole = kinds.first.block == 0 && kinds.second.block == 0;
  StepRequest request = random_request(random, kinds);
  request.begin = random.chance(0.5) ? 0 : is_whole ? random.below(300) : 256 * random.below(3);
  request.count = random.of(kCounts);
  const bool is_part = random.chance(0.5) && (is_whole || request.count % 256 == 0);
  const int64_t all = request.begin + request.count + (is_part ? 1 + random.below(700) : 0);
  StepProblem found(kinds, all), expected(kinds, all);
  found.fill(random, values);
  expected.copy_from(found);
  StepRequest reference = request;
  found.place(request);
  expected.place(reference);
  if (kernel().unsupported_reason(request) != nullptr) return false;
  const std::string what =
      text("method %d of %s, %s, %s, %s numbers, %lld from %lld, roundings %d %d %d, underflow %d", kinds.method,
           kinds.first.name, kinds.second.name, kinds.parameter.name, name_of(values),
           static_cast<long long>(request.count), static_cast<long long>(request.begin), request.first.rounding,
           request.second.rounding, request.parameter.rounding, request.second.underflow);
  request.is_measure = reference.is_measure = true;
  run_both(request, reference, true, what);
  EXPECT_EQ(found.difference(expected), "") << what << ": measuring wrote";
  request.is_measure = reference.is_measure = false;
  run_both(request, reference, random.chance(0.5), what);
  EXPECT_EQ(found.difference(expected), "") << what;
  EXPECT_TRUE(found.is_intact()) << what;
  return true;
}

std::vector<StateKind> state_kinds() {
  std::vector<StateKind> kinds;
  for (const StateKind &kind : kWholeKinds) kinds.push_back(kind);
  for (const StateKind &kind : kBlockKinds) kinds.push_back(kind);
  return kinds;
}

TEST(SimtOptimizer, GivesTheBitsOfTheReference) {
  Random random(51);
  const std::vector<StateKind> kinds = state_kinds();
  int64_t taken = 0;
  for (const lpt_optimizer_method method :
       {LPT_OPTIMIZER_METHOD_ADAMW, LPT_OPTIMIZER_METHOD_ADAM, LPT_OPTIMIZER_METHOD_SGD, LPT_OPTIMIZER_METHOD_LION}) {
    for (const StateKind &first : kinds) {
      for (const StateKind &second : kinds) {
        if (!is_taken(random, 8)) continue;
        const StateKind parameter = kWholeKinds[random.below(2)];
        const lpt_format gradient = random.chance(0.5) ? LPT_FORMAT_F32 : LPT_FORMAT_BF16;
        for (int draw = 0; draw < (method == LPT_OPTIMIZER_METHOD_ADAMW ? 3 : 1); ++draw) {
          const bool is_compensated = parameter.element == LPT_FORMAT_BF16 && random.chance(0.3);
          taken += compare(random, {method, first, second, parameter, is_compensated, gradient}, random.of(kAllValues));
          if (HasFailure()) return;
        }
      }
    }
  }
  EXPECT_GE(taken, kIsSanitized ? 20 : 200);
}

TEST(SimtOptimizer, WhatTheRowDoesNotTakeIsRejected) {
  const StateKind f32 = kWholeKinds[0];
  const StepKinds kinds = {LPT_OPTIMIZER_METHOD_ADAMW, f32, f32, f32, false, LPT_FORMAT_F32};
  struct Rejected {
    void (*change)(StepRequest &);
    const char *why;
  };
  static constexpr Rejected rejected[] = {
      {[](StepRequest &r) { r.gradient_format = LPT_FORMAT_F16; }, "the gradient is neither f32 nor bf16"},
      {[](StepRequest &r) { r.first.element = LPT_FORMAT_E4M3FNUZ; },
       "a state is none of f32, bf16, f16, e4m3fn, e4m3, e5m2, the last three in groups of 128, dynamic trees"},
      {[](StepRequest &r) { r.parameter.element = LPT_FORMAT_F16; }, "the parameter is neither f32 nor bf16"},
      {[](StepRequest &r) { r.compensation.data = r.parameter.data; }, "a compensation is not of bf16 beside bf16"},
      {[](StepRequest &r) { r.second.rounding = LPT_ROUNDING_TOWARD_ZERO; },
       "a rounding is neither to nearest even nor stochastic"},
      {[](StepRequest &r) { r.first.random.words = static_cast<const uint8_t *>(r.first.data); },
       "random bits are the caller's"},
  };
  StepProblem problem(kinds, 64);
  for (const Rejected &one : rejected) {
    StepRequest request = {};
    request.method = LPT_OPTIMIZER_METHOD_ADAMW;
    request.gradient_format = LPT_FORMAT_F32;
    problem.place(request);
    EXPECT_EQ(kernel().unsupported_reason(request), nullptr);
    one.change(request);
    EXPECT_STREQ(kernel().unsupported_reason(request), one.why);
  }
}

}  // namespace
}  // namespace lpt::test
