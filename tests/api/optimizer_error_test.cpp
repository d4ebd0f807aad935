// Error of moments with few bits: the error of sixty summed updates against f32 moments, and the error of one cast.
//
// The published errors are from a simulation of the published optimizers. The standard deviations of the gradients are
// log-normal across the elements with spread sigma, and underflow is allowed. If second moments underflow to zero, a few very
// large updates dominate the error, and single runs differ by a factor of ten. The test checks that such a published error is
// within the range of the runs. It also tests the default, where no second moment underflows to zero.
// LPT_ERROR_RUNS=256 gives the table of docs/reference/optimizers.md.
#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "tests/api/optimizer.hpp"
#include "tests/support/sanitized.hpp"

namespace lpt::test {
namespace {

constexpr int64_t kElements = 1 << 13;
constexpr int kSteps = 60;
constexpr double kSigmas[] = {0.5, 1.0, 2.0};

struct Case {
  const char *name;
  lpt_format first, second;
  bool is_expanded;
  double published[3];  // at each sigma, with underflow allowed
  bool is_vanishing[3];
  double most_kept;  // bound of the error of the default at any sigma
};

size_t run_count() {
  const char *given = std::getenv("LPT_ERROR_RUNS");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : kIsSanitized ? 2 : 4;
}

std::vector<double> way(const Case &item, lpt_optimizer_underflow underflow, double sigma, uint64_t place) {
  const Context context = make_context();
  lpt_optimizer_options options = options_of(LPT_OPTIMIZER_METHOD_ADAMW);
  options.second_underflow = underflow;
  Option option;
  option.first = item.first;
  option.second = item.second;
  option.is_first_expanded = option.is_second_expanded = item.is_expanded;
  Trainee trainee(context.get(), options, option, std::vector<double>(kElements, 0.0));
  Random random(place);
  std::vector<double> deviation(kElements);
  for (double &value : deviation) value = std::exp(sigma * random.normal());
  std::vector<float> gradient(kElements);
  for (int t = 0; t < kSteps; ++t) {
    for (size_t i = 0; i < gradient.size(); ++i) gradient[i] = static_cast<float>(deviation[i] * random.normal());
    trainee.step(gradient, step_at(1.0));
  }
  return trainee.values();
}

// Errors of single runs in ascending order.
using Runs = std::vector<double>;

double mean(const Runs &runs) {
  return std::accumulate(runs.begin(), runs.end(), 0.0) / static_cast<double>(runs.size());
}

// Errors are compared by medians, because single ones are several times as large as the others.
double median(const Runs &runs) { return runs[runs.size() / 2]; }

double standard_error(const Runs &runs) {
  double squares = 0;
  for (const double error : runs) squares += (error - mean(runs)) * (error - mean(runs));
  const auto count = static_cast<double>(runs.size());
  return std::sqrt(squares / (count - 1) / count);
}

struct Errors {
  Runs allowed, kept;
};

Errors errors_of(const Case &item, double sigma) {
  static const Case kExact = {"f32", kF32, kF32, false, {}, {}, 0};
  Errors errors;
  for (uint64_t place = 0; place < run_count(); ++place) {
    const std::vector<double> exact = way(kExact, LPT_OPTIMIZER_UNDERFLOW_ALLOWED, sigma, place);
    errors.allowed.push_back(relative_error(way(item, LPT_OPTIMIZER_UNDERFLOW_ALLOWED, sigma, place), exact));
    errors.kept.push_back(relative_error(way(item, LPT_OPTIMIZER_UNDERFLOW_CLAMP, sigma, place), exact));
  }
  for (Runs *runs : {&errors.allowed, &errors.kept}) std::sort(runs->begin(), runs->end());
  return errors;
}

void print(const char *what, const Runs &runs) {
  std::printf("  %s: %.4g +- %.2g, runs %.4g .. %.4g .. %.4g", what, mean(runs), standard_error(runs), runs.front(),
              median(runs), runs.back());
}

void expect_errors(const Case &item) {
  for (int s = kIsSanitized ? 2 : 0; s < 3; ++s) {
    const auto [allowed, kept] = errors_of(item, kSigmas[s]);
    const double published = item.published[s];
    const auto below = std::upper_bound(allowed.begin(), allowed.end(), published) - allowed.begin();
    std::printf("%-24s sigma %.1f", item.name, kSigmas[s]);
    print("allowed", allowed);
    std::printf(", published %g: %lld of %zu below", published, static_cast<long long>(below), allowed.size());
    print("default", kept);
    std::printf("\n");
    EXPECT_LT(median(kept), item.most_kept) << item.name << ' ' << kSigmas[s];
    if (item.is_vanishing[s]) {
      EXPECT_GT(mean(allowed), mean(kept) - 4 * standard_error(kept)) << item.name << ' ' << kSigmas[s];
    } else {
      EXPECT_NEAR(median(allowed), published, 0.1 * published) << item.name << ' ' << kSigmas[s];
    }
  }
}

TEST(OptimizerError, OfE4m3fnAndE5m2WithOneScale) {
  expect_errors({"e4m3fn, e5m2, one scale",
                 LPT_FORMAT_E4M3FN_TENSOR,
                 LPT_FORMAT_E5M2_TENSOR,
                 false,
                 {0.062, 0.064, 30},
                 {false, false, true},
                 0.2});
}

TEST(OptimizerError, OfTwoE4m3fnWithOneScale) {
  const Case item = {"e4m3fn twice, one scale",
                     LPT_FORMAT_E4M3FN_TENSOR,
                     LPT_FORMAT_E4M3FN_TENSOR,
                     false,
                     {0.070, 14.4, 317},
                     {true, true, true},
                     1.0};
  expect_errors(item);
  EXPECT_GT(mean(errors_of(item, 2.0).allowed), 100.0) << "the second moment needs more range than that";
}

TEST(OptimizerError, OfTwoE4m3fnInGroups) {
  expect_errors({"e4m3fn twice, groups",
                 LPT_FORMAT_E4M3FN_1X128,
                 LPT_FORMAT_E4M3FN_1X128,
                 false,
                 {0.05, 0.65, 28.7},
                 {false, true, true},
                 0.5});
}

TEST(OptimizerError, OfE4m3fnAndE5m2InGroups) {
  expect_errors({"e4m3fn, e5m2, groups",
                 LPT_FORMAT_E4M3FN_1X128,
                 LPT_FORMAT_E5M2_1X128,
                 false,
                 {0.062, 0.062, 0.94},
                 {false, false, true},
                 0.1});
}

TEST(OptimizerError, OfTwoE4m3fnInExpandedGroups) {
  expect_errors({"e4m3fn twice, expanded",
                 LPT_FORMAT_E4M3FN_1X128,
                 LPT_FORMAT_E4M3FN_1X128,
                 true,
                 {0.031, 0.041, 0.066},
                 {false, false, false},
                 0.075});
}

// One cast of normal values, read from the saved state. With beta1 = 0 the first moment is the gradient.

constexpr int64_t kNumbers = 1 << 17;
constexpr int64_t kGroups = kNumbers / 128;
constexpr size_t kSectionBytes = 12;

struct Stored {
  std::vector<uint8_t> codes;
  std::vector<double> numbers, scales;
  std::vector<uint16_t> exponents;
};

// Decodes by the definition, in double.
Stored stored_first_moment(lpt_context *c, const Trainee &trainee, bool is_expanded) {
  const std::vector<uint8_t> state = trainee.state();
  constexpr size_t kBefore = 32 + 16 + 12;
  Stored stored;
  stored.codes.assign(state.begin() + kBefore, state.begin() + kBefore + kNumbers);
  const size_t exponent_bytes = is_expanded ? kSectionBytes + 2 * kGroups : 0;
  const std::vector<float> scales = tail_of<float>(state, kGroups, exponent_bytes);
  stored.scales.assign(scales.begin(), scales.end());
  if (is_expanded) stored.exponents = tail_of<uint16_t>(state, kGroups);
  const Tensor codes = wrap(c, LPT_FORMAT_E4M3FN, stored.codes.data(), 1, kNumbers);
  stored.numbers = numbers_of(c, codes.get());
  for (size_t i = 0; i < stored.numbers.size(); ++i) {
    double &number = stored.numbers[i];
    const double scale = stored.scales[i / 128];
    if (is_expanded) {
      number = std::copysign(scale * std::pow(std::fabs(number) / 448.0, 16.0 / stored.exponents[i / 128]), number);
    } else {
      number *= scale;
    }
  }
  return stored;
}

Stored cast_once(lpt_context *c, const std::vector<double> &numbers, bool is_expanded) {
  lpt_optimizer_options options = options_of(LPT_OPTIMIZER_METHOD_ADAMW);
  options.beta1 = 0.0;
  Option option;
  option.first = LPT_FORMAT_E4M3FN_1X128;
  option.is_first_expanded = is_expanded;
  Trainee trainee(c, options, option, std::vector<double>(kNumbers, 0.0));
  trainee.step(floats(numbers), step_at(0.0));
  return stored_first_moment(c, trainee, is_expanded);
}

TEST(OptimizerExpansion, CutsTheErrorOfNormalNumbersToAThird) {
  const Context context = make_context();
  lpt_context *c = context.get();
  const std::vector<double> numbers = draw_normal(510, kNumbers);
  const double plain = std::pow(relative_error(cast_once(c, numbers, false).numbers, numbers), 2);
  const double expanded = std::pow(relative_error(cast_once(c, numbers, true).numbers, numbers), 2);
  std::printf("squared error of one cast: %.3e plain, %.3e expanded\n", plain, expanded);
  EXPECT_NEAR(plain, 6.6e-4, 0.05 * 6.6e-4);
  EXPECT_NEAR(expanded, 2.1e-4, 0.05 * 2.1e-4);
}

// Returns the difference to the next code, or to the previous code for the largest code.
double code_step(const std::vector<double> &by_code, uint8_t code) {
  const int magnitude = code & 0x7F;
  return magnitude == 0x7E ? by_code[0x7E] - by_code[0x7D]
                           : by_code[static_cast<size_t>(magnitude) + 1] - by_code[static_cast<size_t>(magnitude)];
}

// A second cast of decoded values gives the same codes if the exponent of the group is unchanged. If rounding of the
// smallest value changes the exponent by a sixteenth, each value changes by at most half a step of its new code.
TEST(OptimizerExpansion, IsStableWhenItIsCastAgain) {
  const Context context = make_context();
  lpt_context *c = context.get();
  std::vector<double> numbers = draw_normal(511, kNumbers);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] *= std::exp2(static_cast<double>(i / 128 % 60) - 30.0);
  std::vector<uint8_t> all_codes(127);
  for (size_t i = 0; i < all_codes.size(); ++i) all_codes[i] = static_cast<uint8_t>(i);
  const std::vector<double> by_code = numbers_of(c, wrap(c, LPT_FORMAT_E4M3FN, all_codes.data(), 1, 127).get());
  const Stored once = cast_once(c, numbers, true);
  const Stored twice = cast_once(c, once.numbers, true);
  int64_t kept_groups = 0;
  for (size_t i = 0; i < once.codes.size(); ++i) {
    const size_t group = i / 128;
    if (i % 128 == 0) kept_groups += once.exponents[group] == twice.exponents[group];
    if (once.exponents[group] == twice.exponents[group]) {
      ASSERT_EQ(once.codes[i], twice.codes[i]) << i;
      continue;
    }
    // In codes: 448 (x / M)^k of the value decoded first, with the second exponent.
    const double power = twice.exponents[group] / 16.0;
    const double exact = 448.0 * std::pow(std::fabs(once.numbers[i]) / twice.scales[group], power);
    const double number = by_code[twice.codes[i] & 0x7F];
    ASSERT_LE(std::fabs(exact - number), 0.5001 * code_step(by_code, twice.codes[i])) << i;
  }
  std::printf("%lld of %lld groups keep their exponent\n", static_cast<long long>(kept_groups),
              static_cast<long long>(kGroups));
  EXPECT_GT(kept_groups, kGroups / 4);
}

// Group 0 is zero; 1 is constant; 2 has one magnitude, both signs and zeros; 3 has the widest range; 4 has infinities and NaN.
TEST(OptimizerExpansion, TakesGroupsWithoutRange) {
  const Context context = make_context();
  lpt_context *c = context.get();
  std::vector<double> numbers = draw_normal(512, kNumbers);
  for (size_t i = 0; i < 128; ++i) {
    numbers[i] = 0.0;
    numbers[128 + i] = 0.3125;
    numbers[256 + i] = i % 3 == 0 ? 0.0 : i % 3 == 1 ? 1e-30 : -1e-30;
    numbers[384 + i] = std::ldexp(i % 2 == 0 ? 1.0 : -1.0, static_cast<int>(2 * i) - 149);
  }
  numbers[512] = INFINITY;
  numbers[513] = -INFINITY;
  numbers[514] = NAN;
  const Stored stored = cast_once(c, numbers, true);
  for (size_t i = 0; i < 128; ++i) {
    EXPECT_EQ(stored.numbers[i], 0.0);
    EXPECT_EQ(stored.numbers[128 + i], 0.3125) << "the largest magnitude comes back as it was";
    EXPECT_EQ(stored.numbers[256 + i], static_cast<double>(static_cast<float>(numbers[256 + i])));
    // Codes are powers of 16 in this group, so only sign and magnitude are preserved.
    const double ratio = stored.numbers[384 + i] / numbers[384 + i];
    EXPECT_TRUE(ratio > 0x1p-8 && ratio < 0x1p8) << i << ": " << ratio;
  }
  EXPECT_EQ(stored.codes[512], 0x7E);
  EXPECT_EQ(stored.codes[513], 0xFE);
  EXPECT_EQ(stored.codes[514], 0x7F);
  for (size_t i = 515; i < numbers.size(); ++i) ASSERT_TRUE(std::isfinite(stored.numbers[i])) << i;
}

}  // namespace
}  // namespace lpt::test
