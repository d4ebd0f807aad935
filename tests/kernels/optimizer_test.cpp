// The AdamW step: the reference kernel against the formula and the format tables in double, and all kernels on special values.
// Also measures the error that FP8 moments add to sixty steps. optimizer_kernels_test.cpp compares the kernels.
#include "kernels/optimizer/optimizer.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "src/formats/block_scale.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/kernels.hpp"

namespace lpt::test {
namespace {

constexpr lpt_format kStates[] = {LPT_FORMAT_F32,    LPT_FORMAT_BF16, LPT_FORMAT_F16,
                                  LPT_FORMAT_E4M3FN, LPT_FORMAT_E4M3, LPT_FORMAT_E5M2};

StepConstants constants_of(double t, double learning_rate, double decay, double epsilon, double gradient_scale) {
  const double beta1 = 0.9, beta2 = 0.95;
  return {static_cast<float>(beta1),
          static_cast<float>(1 - beta1),
          static_cast<float>(beta2),
          static_cast<float>(1 - beta2),
          static_cast<float>(1 / (1 - std::pow(beta2, t))),
          static_cast<float>(learning_rate / (1 - std::pow(beta1, t))),
          static_cast<float>(learning_rate * decay),
          0.0f,
          static_cast<float>(epsilon),
          static_cast<float>(gradient_scale),
          false};
}

bool has_scale(lpt_format element) { return element != LPT_FORMAT_F32 && element != LPT_FORMAT_BF16; }

// The four arrays of one parameter, with canaries.
struct UpdateProblem {
  UpdateProblem(lpt_format gradient_format, lpt_format first, lpt_format second, lpt_format parameter, int64_t count)
      : gradient(gradient_format, 1, count),
        first(first, 1, count),
        second(second, 1, count),
        parameter(parameter, 1, count) {}

  // Fills with any codes, the second moment without sign. Scales are used only if the format has one.
  void fill(Random &random, Values values) {
    gradient.fill(random, values);
    for (Matrix *matrix : {&first, &second, &parameter}) {
      const int32_t bits = element_bits(matrix->format().element);
      if (bits > 8) {
        matrix->fill(random, values);
      } else {
        for (int64_t i = 0; i < matrix->columns(); ++i) {
          matrix->set_code(0, i, static_cast<uint32_t>(random.below(int64_t{1} << bits)));
        }
      }
      if (matrix == &second) {
        for (int64_t i = 0; i < matrix->columns(); ++i) {
          matrix->set_code(0, i, matrix->code(0, i) & ~(1u << (bits - 1)));
        }
      }
      if (has_scale(matrix->format().element)) {
        matrix->tensor_scale = static_cast<float>(std::exp2(20 * random.uniform() - 15));
      }
    }
  }

  StepRequest request(Random &random, const StepConstants &constants, const lpt_rounding (&roundings)[3],
                      bool is_clamped) {
    StepRequest request{};
    request.begin = 0;
    request.count = gradient.columns();
    request.gradient = gradient.data.data();
    request.gradient_format = gradient.format().id;
    request.constants = constants;
    const int64_t random_offset = random.below(2000);
    Matrix *const matrices[3] = {&first, &second, &parameter};
    StateArray *const arrays[3] = {&request.first, &request.second, &request.parameter};
    for (uint32_t k = 0; k < 3; ++k) {
      const lpt_format element = matrices[k]->format().element;
      const float inverse = has_scale(element) ? static_cast<float>(std::exp2(20 * random.uniform() - 5)) : 1.0f;
      arrays[k]->data = matrices[k]->data.data();
      arrays[k]->element = element;
      arrays[k]->scale = matrices[k]->tensor_scale;
      arrays[k]->inverse_scale = inverse;
      arrays[k]->rounding = roundings[k];
      arrays[k]->underflow = k == 1 && is_clamped ? LPT_OPTIMIZER_UNDERFLOW_CLAMP : LPT_OPTIMIZER_UNDERFLOW_ALLOWED;
      arrays[k]->random = {77, random_offset, 0, random_stream(RandomDomain::kOptimizer, 5, k), 9, 7, 16};
    }
    return request;
  }

  Matrix gradient, first, second, parameter;
};

// Definitions in double: the value of a code, and the code of the nearest value by a search of all codes, ties to the even
// code.
double number_of(lpt_format element, uint32_t code) {
  const bool is_wide = element == LPT_FORMAT_E5M2;
  const int mantissa_bits = is_wide ? 2 : 3, bias = is_wide ? 15 : 7;
  const uint32_t magnitude = code & 0x7F;
  const uint32_t first_special = is_wide ? 0x7C : element == LPT_FORMAT_E4M3 ? 0x78 : 0x7F;
  if (magnitude >= first_special) return std::numeric_limits<double>::quiet_NaN();
  const int exponent = static_cast<int>(magnitude >> mantissa_bits);
  const int fraction = static_cast<int>(magnitude) & ((1 << mantissa_bits) - 1);
  const double value = exponent == 0 ? std::ldexp(fraction, 1 - bias - mantissa_bits)
                                     : std::ldexp((1 << mantissa_bits) + fraction, exponent - bias - mantissa_bits);
  return code & 0x80 ? -value : value;
}

uint32_t nearest_code(lpt_format element, double value) {
  uint32_t best = 0;
  for (uint32_t code = 0; code < 0x80; ++code) {
    const double number = number_of(element, code);
    if (std::isnan(number)) continue;
    const double gap = std::fabs(std::fabs(value) - number),
                 best_gap = std::fabs(std::fabs(value) - number_of(element, best));
    if (gap < best_gap || (gap == best_gap && code % 2 == 0)) best = code;
  }
  return best | (std::signbit(value) ? 0x80u : 0u);
}

// In 2^-23 · (|parameter| + |update|): roundings of the update and of two differences, and a margin for cancellation in m.
constexpr double kFormulaError = 6;

TEST(Adamw, IsTheFormula) {
  Random random(2);
  for (const lpt_format first : {LPT_FORMAT_E4M3FN, LPT_FORMAT_E4M3, LPT_FORMAT_E5M2}) {
    for (const lpt_format second : {LPT_FORMAT_E4M3FN, LPT_FORMAT_E4M3, LPT_FORMAT_E5M2}) {
      for (const bool is_clamped : {false, true}) {
        constexpr int64_t kCount = 500;
        UpdateProblem problem(LPT_FORMAT_F32, first, second, LPT_FORMAT_F32, kCount);
        problem.gradient.fill(random, Values::kOutliers);
        problem.parameter.fill(random, Values::kNormal);
        std::vector<double> m(kCount), v(kCount), p(kCount), p_error(kCount);
        for (int64_t i = 0; i < kCount; ++i) {
          problem.first.set_code(0, i, static_cast<uint32_t>(random.below(0x77)) | (random.chance(0.5) ? 0x80 : 0));
          problem.second.set_code(0, i, static_cast<uint32_t>(random.below(0x77)));
        }
        const StepConstants c = constants_of(3, 0.01, 0.1, 1e-8, 0.5);
        StepRequest request = problem.request(random, c, {}, is_clamped);
        request.first.scale = 0x1p-5f;
        request.second.scale = 0x1p-9f;
        request.first.inverse_scale = 3.0f;
        request.second.inverse_scale = 0.05f;
        float amax[3] = {};
        request.amax = amax;
        for (int64_t i = 0; i < kCount; ++i) {
          const auto at = static_cast<size_t>(i);
          const double g = 0.5 * static_cast<double>(problem.gradient.get(0, i));
          m[at] = 0.9 * number_of(first, problem.first.code(0, i)) * 0x1p-5 + 0.1 * g;
          v[at] = 0.95 * number_of(second, problem.second.code(0, i)) * 0x1p-9 + 0.05 * g * g;
          const double old = static_cast<double>(problem.parameter.get(0, i));
          const double step = 0.01 / (1 - 0.9 * 0.9 * 0.9);
          const double update = step * m[at] / (std::sqrt(v[at] / (1 - 0.95 * 0.95 * 0.95)) + 1e-8);
          p[at] = old - 0.001 * old - update;
          p_error[at] = kFormulaError * 0x1p-23 * (std::fabs(old) + std::fabs(update));
        }
        request.is_measure = true;
        step_kernels().back().run(request);
        double largest[2] = {};
        for (const double value : m) largest[0] = std::max(largest[0], std::fabs(value));
        for (const double value : v) largest[1] = std::max(largest[1], std::fabs(value));
        for (int k = 0; k < 2; ++k) EXPECT_NEAR(static_cast<double>(amax[k]) / largest[k], 1.0, 1e-6);
        EXPECT_EQ(amax[2], 0.0f);
        request.is_measure = false;
        step_kernels().back().run(request);
        int64_t differences = 0;
        for (int64_t i = 0; i < kCount; ++i) {
          const auto at = static_cast<size_t>(i);
          EXPECT_NEAR(problem.parameter.get(0, i), p[at], p_error[at]);
          uint32_t expected_second = nearest_code(second, v[at] * static_cast<double>(0.05f));
          if (is_clamped && expected_second == 0 && v[at] != 0) expected_second = 1;
          // If f32 and double are on different sides of a tie, the codes may differ by one.
          differences += problem.first.code(0, i) != nearest_code(first, m[at] * 3.0);
          differences += problem.second.code(0, i) != expected_second;
        }
        EXPECT_LE(differences, 1);
      }
    }
  }
}

TEST(Adamw, KeepsASecondMomentFromVanishingWhenItIsClamped) {
  for (const lpt_format second : {LPT_FORMAT_BF16, LPT_FORMAT_F16, LPT_FORMAT_E4M3FN, LPT_FORMAT_E5M2}) {
    for (const bool is_clamped : {false, true}) {
      for (const auto &row : step_kernels()) {
        if (!can_run(row)) continue;
        Random random(3);
        UpdateProblem problem(LPT_FORMAT_F32, LPT_FORMAT_F32, second, LPT_FORMAT_F32, 2);
        for (Matrix *matrix : {&problem.gradient, &problem.first, &problem.parameter})
          matrix->fill(random, Values::kNormal);
        problem.gradient.set(0, 0, 1e-20f);
        problem.gradient.set(0, 1, 0.0f);
        for (int64_t i = 0; i < 2; ++i) problem.second.set_code(0, i, 0);
        StepRequest request = problem.request(random, constants_of(1, 0.01, 0, 1e-8, 1), {}, is_clamped);
        request.second.inverse_scale = 0x1p-110f;  // the product underflows
        row.run(request);
        EXPECT_EQ(problem.second.code(0, 0), is_clamped ? 1u : 0u) << row.name << ' ' << format_name(second);
        EXPECT_EQ(problem.second.code(0, 1), 0u) << row.name << ' ' << format_name(second);
      }
    }
  }
}

TEST(Adamw, StaysFiniteWithoutEpsilonWhereNothingMoves) {
  for (const auto &row : step_kernels()) {
    if (!can_run(row)) continue;
    Random random(4);
    UpdateProblem problem(LPT_FORMAT_F32, LPT_FORMAT_F32, LPT_FORMAT_F32, LPT_FORMAT_F32, 20);
    for (int64_t i = 0; i < 20; ++i) {
      problem.gradient.set(0, i, 0.0f);
      problem.first.set(0, i, 0.0f);
      problem.second.set(0, i, 0.0f);
      problem.parameter.set(0, i, 2.0f);
    }
    row.run(problem.request(random, constants_of(1, 0.01, 0, 0, 1), {}, true));
    for (int64_t i = 0; i < 20; ++i) EXPECT_EQ(problem.parameter.get(0, i), 2.0f) << row.name;
  }
}

TEST(Adamw, ShowsANanInItsElementOnly) {
  for (const lpt_format state : kStates) {
    for (const auto &row : step_kernels()) {
      if (!can_run(row)) continue;
      Random random(5);
      UpdateProblem problem(LPT_FORMAT_F32, state, state, LPT_FORMAT_F32, 20);
      problem.fill(random, Values::kNormal);
      for (Matrix *matrix : {&problem.first, &problem.second}) {
        for (int64_t i = 0; i < 20; ++i) matrix->set_code(0, i, 1);
      }
      problem.gradient.set(0, 7, NAN);
      row.run(problem.request(random, constants_of(2, 0.01, 0, 1e-8, 1), {}, true));
      for (int64_t i = 0; i < 20; ++i) {
        EXPECT_EQ(std::isnan(problem.first.get(0, i)), i == 7) << row.name;
        EXPECT_EQ(std::isnan(problem.second.get(0, i)), i == 7) << row.name;
        EXPECT_EQ(std::isnan(problem.parameter.get(0, i)), i == 7) << row.name;
      }
    }
  }
}

// Sixty steps with gradients whose standard deviation is log-normal across elements with the given sigma. Measures the relative
// error of the summed update against f32 moments. The expected values are from a simulation of the published optimizer, in
// numerics.

struct Outcome {
  double error;    // |Σ updates - Σ updates with f32 moments| / |Σ updates with f32 moments|
  double flushed;  // fraction of second moments that are zero at the end
};

class Simulation {
 public:
  Simulation(lpt_format first, lpt_format second, bool is_clamped, int64_t count)
      : problem_(LPT_FORMAT_F32, first, second, LPT_FORMAT_F32, count), is_clamped_(is_clamped) {
    for (Matrix *matrix : {&problem_.first, &problem_.second, &problem_.parameter}) {
      for (int64_t i = 0; i < count; ++i) matrix->set_code(0, i, 0);
    }
  }

  void step(double t, const std::vector<float> &gradient) {
    std::memcpy(problem_.gradient.data.data(), gradient.data(), 4 * gradient.size());
    Random unused(0);
    StepRequest request = problem_.request(unused, constants_of(t, 1.0, 0.0, 1e-8, 1.0), {}, is_clamped_);
    float amax[3] = {};
    request.amax = amax;
    request.is_measure = true;
    kernel().run(request);
    Matrix *const matrices[2] = {&problem_.first, &problem_.second};
    StateArray *const arrays[2] = {&request.first, &request.second};
    for (int k = 0; k < 2; ++k) {
      const lpt_format element = matrices[k]->format().element;
      if (!has_scale(element)) continue;
      const ScaleSpec spec = scale_spec(matrices[k]->format(), LPT_SCALE_RULE_AMAX, 1.0f);
      matrices[k]->tensor_scale = tensor_scale_value(spec, amax[k]);
      arrays[k]->inverse_scale = inverse_scale(matrices[k]->tensor_scale);
    }
    request.is_measure = false;
    kernel().run(request);
  }

  double parameter(int64_t i) const { return static_cast<double>(problem_.parameter.get(0, i)); }
  bool is_flushed(int64_t i) const { return problem_.second.code(0, i) == 0; }

 private:
  static const KernelEntry<StepRequest> &kernel() {
    for (const auto &candidate : step_kernels()) {
      if (is_here(candidate)) return candidate;
    }
    return step_kernels().back();
  }
  UpdateProblem problem_;
  bool is_clamped_;
};

Outcome simulate(lpt_format first, lpt_format second, bool is_clamped, double sigma, uint64_t place = 7) {
  constexpr int64_t kCount = 1 << 13;
  Random random(place);
  std::vector<double> spread(kCount);
  for (double &value : spread) value = std::exp(sigma * random.normal());
  Simulation exact(LPT_FORMAT_F32, LPT_FORMAT_F32, false, kCount), small(first, second, is_clamped, kCount);
  std::vector<float> gradient(kCount);
  for (int t = 1; t <= 60; ++t) {
    for (size_t i = 0; i < gradient.size(); ++i) gradient[i] = static_cast<float>(spread[i] * random.normal());
    exact.step(t, gradient);
    small.step(t, gradient);
  }
  double difference = 0, whole = 0, flushed = 0;
  for (int64_t i = 0; i < kCount; ++i) {
    difference += std::pow(small.parameter(i) - exact.parameter(i), 2);
    whole += std::pow(exact.parameter(i), 2);
    flushed += small.is_flushed(i) ? 1 : 0;
  }
  return {std::sqrt(difference / whole), flushed / static_cast<double>(kCount)};
}

TEST(AdamwWithFp8Moments, AddsTheErrorOfThePublishedOptimizer) {
  // The mean of eight runs: if the largest gradients are between two codes, one run differs by a few percent.
  Outcome half{}, one{};
  for (uint64_t place = 100; place < 108; ++place) {
    half.error += simulate(LPT_FORMAT_E4M3FN, LPT_FORMAT_E5M2, true, 0.5, place).error / 8;
    one.error += simulate(LPT_FORMAT_E4M3FN, LPT_FORMAT_E5M2, true, 1.0, place).error / 8;
  }
  std::printf("summed update, sigma 0.5: %.4f, sigma 1: %.4f\n", half.error, one.error);
  EXPECT_NEAR(half.error, 0.062, 0.0062);
  EXPECT_NEAR(one.error, 0.064, 0.0064);
}

TEST(AdamwWithFp8Moments, ExplodesOnlyWhenUnderflowIsAllowed) {
  const Outcome clamped = simulate(LPT_FORMAT_E4M3FN, LPT_FORMAT_E5M2, true, 2.0);
  const Outcome allowed = simulate(LPT_FORMAT_E4M3FN, LPT_FORMAT_E5M2, false, 2.0);
  const Outcome narrow = simulate(LPT_FORMAT_E4M3FN, LPT_FORMAT_E4M3FN, true, 1.0);
  std::printf("sigma 2: clamped %.4f, underflow allowed %.4g with %.3f flushed; two e4m3fn at sigma 1, clamped: %.4f\n",
              clamped.error, allowed.error, allowed.flushed, narrow.error);
  EXPECT_EQ(clamped.flushed, 0.0);
  EXPECT_LT(clamped.error, 1.0);
  EXPECT_LT(narrow.error, 1.0);
  EXPECT_GT(allowed.error, 10 * clamped.error);
}

}  // namespace
}  // namespace lpt::test
