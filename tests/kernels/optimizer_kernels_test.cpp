// Every kernel of the optimizer steps computes the bits of the reference kernel: all methods, states, roundings, policies.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "src/base/status.hpp"
#include "tests/kernels/optimizer_problem.hpp"
#include "tests/support/kernels.hpp"
#include "tests/support/sanitized.hpp"

namespace lpt::test {
namespace {

using StepKernel = KernelTest<StepRequest>;

const char *name_of_method(lpt_optimizer_method method) {
  static const char *const names[] = {"AdamW", "Adam", "SGD", "Lion"};
  return names[method];
}

// Sizes around the widths of vectors, of blocks, and of one kernel step.
constexpr int64_t kCounts[] = {0,   1,   2,   15,  16,  17,  63,  64,  65,  100,  127,  128,  129,  200,
                               255, 256, 257, 300, 384, 511, 512, 513, 640, 1000, 1024, 1100, 1536, 1700};

class Comparison {
 public:
  Comparison(const KernelEntry<StepRequest> &kernel, Random &random) : kernel_(kernel), random_(random) {}

  // Returns true if the kernel supports the request.
  bool compare(const StepKinds &kinds, Values values) {
    const int64_t count = random_.of(kCounts);
    const bool is_whole = kinds.first.block == 0 && kinds.second.block == 0;
    StepRequest request = random_request(random_, kinds);
    request.begin = random_.chance(0.5) ? 0 : is_whole ? random_.below(300) : 256 * random_.below(3);
    request.count = count;
    // If a part ends inside a unit, the following elements belong to the next part and must not change.
    const int64_t rest = random_.chance(0.5) || !(is_whole || count % 256 == 0) ? 0 : 1 + random_.below(700);
    StepProblem found(kinds, request.begin + count + rest), expected(kinds, request.begin + count + rest);
    found.fill(random_, values);
    expected.copy_from(found);
    StepRequest reference = request;
    found.place(request);
    expected.place(reference);
    if (!takes(kernel_, request)) return false;
    where_ =
        text("%s: %s of %s, %s, %s%s, gradient %s, %s numbers, %lld from %lld, roundings %d %d %d, underflow %d",
             kernel_.name, name_of_method(kinds.method), kinds.first.name, kinds.second.name, kinds.parameter.name,
             kinds.has_compensation ? " with compensation" : "", format_name(kinds.gradient).c_str(), name_of(values),
             static_cast<long long>(count), static_cast<long long>(request.begin), request.first.rounding,
             request.second.rounding, request.parameter.rounding, request.second.underflow);
    request.is_measure = reference.is_measure = true;
    run(request, reference);
    EXPECT_EQ(found.difference(expected), "") << where_ << ": measuring wrote";
    request.is_measure = reference.is_measure = false;
    if (random_.chance(0.5)) {
      run(request, reference);
    } else {
      request.amax = reference.amax = nullptr;
      kernel_.run(request);
      step_kernels().back().run(reference);
    }
    EXPECT_EQ(found.difference(expected), "") << where_;
    EXPECT_TRUE(found.is_intact()) << where_;
    return true;
  }

 private:
  void run(StepRequest &request, StepRequest &reference) {
    float found[3] = {0.0f, 0.25f, 0.0f}, expected[3] = {0.0f, 0.25f, 0.0f};
    request.amax = found;
    reference.amax = expected;
    kernel_.run(request);
    step_kernels().back().run(reference);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(found[i], expected[i]) << where_ << ", amax " << i;
  }

  const KernelEntry<StepRequest> &kernel_;
  Random &random_;
  std::string where_;
};

TEST_P(StepKernel, GivesTheBitsOfTheReference) {
  Random random(101);
  Comparison comparison(*GetParam(), random);
  std::vector<StateKind> kinds(std::begin(kWholeKinds), std::end(kWholeKinds));
  kinds.insert(kinds.end(), std::begin(kBlockKinds), std::end(kBlockKinds));
  int64_t taken = 0, offered = 0;
  for (const lpt_optimizer_method method :
       {LPT_OPTIMIZER_METHOD_ADAMW, LPT_OPTIMIZER_METHOD_ADAM, LPT_OPTIMIZER_METHOD_SGD, LPT_OPTIMIZER_METHOD_LION}) {
    for (const StateKind &first : kinds) {
      for (const StateKind &second : kinds) {
        for (const Values values : kAllValues) {
          if (!is_taken(random, 6)) continue;
          const StateKind parameter = kWholeKinds[random.below(3)];
          const bool has_compensation = parameter.element == LPT_FORMAT_BF16 && random.chance(0.5);
          const lpt_format gradient = random.chance(0.5) ? LPT_FORMAT_F32 : LPT_FORMAT_BF16;
          ++offered;
          taken += comparison.compare({method, first, second, parameter, has_compensation, gradient}, values);
          if (HasFailure()) return;
        }
      }
    }
  }
  EXPECT_EQ(taken, offered);
}

// One nonfinite element in one unit of a long step: kernels that process many units at once must report only its unit.
TEST_P(StepKernel, ReportsOneNonfiniteElement) {
  constexpr int64_t kCount = 4 * 1024;
  // Values of the gradient element; 0: the first moment has a NaN instead.
  constexpr float kValues[] = {0.0f, std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                               -std::numeric_limits<float>::infinity()};
  Random random(103);
  for (const StateKind &first : {kBlockKinds[0], kBlockKinds[2], kBlockKinds[3], kBlockKinds[6], kWholeKinds[3]}) {
    for (const StateKind &second : {kBlockKinds[0], kBlockKinds[2], kBlockKinds[3], kBlockKinds[7], kWholeKinds[5]}) {
      for (int64_t unit = 0; unit < 4; ++unit) {
        for (const float value : kValues) {
          if (!is_taken(random, 6)) continue;
          const StepKinds all = {LPT_OPTIMIZER_METHOD_ADAMW, first, second, kWholeKinds[0], false, LPT_FORMAT_F32};
          StepRequest request = random_request(random, all);
          for (StateArray *array : {&request.first, &request.second}) array->rounding = LPT_ROUNDING_NEAREST_EVEN;
          request.second.underflow = LPT_OPTIMIZER_UNDERFLOW_CLAMP;
          StepProblem found(all, kCount), expected(all, kCount);
          found.fill_small(random);
          const int64_t place = 1024 * unit + random.below(1024);
          request.count = kCount;
          found.place(request);
          if (value == 0.0f) {
            static_cast<uint8_t *>(request.first.data)[place] = 0x7F;
          } else {
            found.set_gradient(place, value);
          }
          expected.copy_from(found);
          ASSERT_TRUE(takes(request));
          GetParam()->run(request);
          expected.place(request);
          step_kernels().back().run(request);
          ASSERT_EQ(found.difference(expected), "") << first.name << ", " << second.name << ", unit " << unit;
        }
      }
    }
  }
}

// If no parameter changes, only the second moment shows the NaN.
TEST_P(StepKernel, WritesTheQuietNanForASecondMomentAlone) {
  constexpr int64_t kCount = 600;
  constexpr uint32_t kNan = 0xFFABCDEFu, kPlain = 0x7FC00000u;
  Random random(104);
  const StepKinds all = {
      LPT_OPTIMIZER_METHOD_ADAMW, kWholeKinds[0], kWholeKinds[0], kWholeKinds[0], false, LPT_FORMAT_F32};
  StepRequest request = random_request(random, all);
  StepProblem problem(all, kCount);
  problem.fill_small(random);
  request.count = kCount;
  problem.place(request);
  for (const int64_t index : {int64_t{0}, int64_t{300}, kCount - 1}) {
    problem.set_gradient(index, 0.0f);
    static_cast<float *>(request.first.data)[index] = 0.0f;
    std::memcpy(static_cast<float *>(request.second.data) + index, &kNan, sizeof kNan);
  }
  ASSERT_TRUE(takes(request));
  GetParam()->run(request);
  for (const int64_t index : {int64_t{0}, int64_t{300}, kCount - 1}) {
    uint32_t found;
    std::memcpy(&found, static_cast<const float *>(request.second.data) + index, sizeof found);
    EXPECT_EQ(found, kPlain) << index;
    EXPECT_TRUE(std::isfinite(static_cast<const float *>(request.parameter.data)[index])) << index;
  }
}

// Parts end at block boundaries, and random bits depend on the element: the parts of a step compute the bits of the full step.
TEST_P(StepKernel, DoesNotDependOnHowAStepIsCut) {
  constexpr int64_t kCount = 3 * 1024 + 77;
  constexpr int64_t kEnds[] = {256, 1024, 1280, 2816, kCount};
  Random random(102);
  std::vector<StateKind> kinds(std::begin(kWholeKinds), std::end(kWholeKinds));
  kinds.insert(kinds.end(), std::begin(kBlockKinds), std::end(kBlockKinds));
  for (const StateKind &kind : kinds) {
    for (const Values values : kFiniteValues) {
      const StepKinds all = {LPT_OPTIMIZER_METHOD_ADAMW,   kind,  kind,
                             kWholeKinds[random.below(3)], false, LPT_FORMAT_F32};
      StepRequest request = random_request(random, all);
      StepProblem whole(all, kCount), parts(all, kCount);
      whole.fill(random, values);
      parts.copy_from(whole);
      request.count = kCount;
      whole.place(request);
      if (!takes(request)) continue;
      GetParam()->run(request);
      parts.place(request);
      request.begin = 0;
      for (const int64_t end : kEnds) {
        request.count = end - request.begin;
        GetParam()->run(request);
        request.begin = end;
      }
      ASSERT_EQ(whole.difference(parts), "") << kind.name << ", " << name_of(values);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, StepKernel, testing::ValuesIn(fast_kernels(step_kernels())),
                         kernel_name<StepRequest>);

}  // namespace
}  // namespace lpt::test
