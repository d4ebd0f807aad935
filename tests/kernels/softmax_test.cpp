// Every kernel of softmax against the definition in double.
#include <algorithm>
#include <limits>

#include "tests/kernels/activation.hpp"

namespace lpt::test {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

constexpr double kSoftmaxError = 4;  // plus the rounding of the exponent, which its magnitude covers

int64_t seen_by(int64_t t, int64_t period, int64_t columns, bool is_causal) {
  return is_causal ? std::min(columns, std::max<int64_t>(0, t + columns - period + 1)) : columns;
}

TEST(SoftmaxForward, RowsAreNearTheDefinition) {
  Random random(9);
  for (const auto &row : softmax_forward_kernels()) {
    if (!can_run(row)) continue;
    for (const lpt_format format : kFormats) {
      for (const int64_t columns : kSimdEdges) {
        for (const Values values : {Values::kNormal, Values::kOutliers, Values::kZeroRuns}) {
          const bool is_causal = random.chance(0.5);
          const int64_t period = 1 + random.below(2 * columns + 3), count = 1 + random.below(4);
          const int64_t first_row = random.below(3 * period);
          const double scales[] = {1.0, 0.125, -0.7, 30.0, 0.0};
          const double scale = static_cast<double>(static_cast<float>(random.of(scales)));
          const lpt_format target = random.of(kFormats);
          Matrix input(format, count, columns, 1, 4), output(target, count, columns, 3, 4);
          fill_finite(random, input, values);
          const int64_t window = random.chance(0.5) ? 0 : 1 + random.below(columns + 3);
          std::vector<float> log_sums(static_cast<size_t>(count), -1.0f);
          row.run({input.view(), output.view(), scale, is_causal, first_row, period, window, log_sums.data()});
          const std::string where = shape_text(row.name, format, count, columns, values) + " scale " +
                                    std::to_string(scale) +
                                    (is_causal ? " causal, window " + std::to_string(window) : "");
          ASSERT_TRUE(output.is_intact()) << where;
          for (int64_t r = 0; r < count; ++r) {
            const int64_t seen = seen_by((first_row + r) % period, period, columns, is_causal);
            const int64_t end = (first_row + r) % period + columns - period + 1;
            const int64_t begin = is_causal && window != 0 ? std::clamp<int64_t>(end - window, 0, columns) : 0;
            double peak = -kInfinity, sum = 0, terms = 0;
            for (int64_t c = begin; c < seen; ++c) peak = std::max(peak, scale * number(input, r, c));
            for (int64_t c = begin; c < seen; ++c) {
              const double exponent = scale * number(input, r, c) - peak;
              sum += std::exp(exponent);
              if (std::exp(exponent) > 0) terms += std::exp(exponent) * std::fabs(exponent);
            }
            const double log_sum = peak + std::log(sum), found = log_sums[static_cast<size_t>(r)];
            if (peak == -kInfinity) {
              EXPECT_EQ(-kInfinity, found) << where;
            } else {
              EXPECT_NEAR(log_sum, found, kEps * (std::fabs(peak) + std::fabs(log_sum) + terms / sum + 1)) << where;
            }
            for (int64_t c = 0; c < columns; ++c) {
              const double exponent = scale * number(input, r, c) - peak;
              const double expected = c >= begin && c < seen ? std::exp(exponent) / sum : 0.0;
              const double error = kSoftmaxError + std::fabs(exponent) + terms / sum;
              expect_near(output, r, c, expected, expected > 0 ? kEps * expected * error + 0x1p-140 : 0.0, where);
            }
          }
        }
      }
    }
  }
}

TEST(SoftmaxForward, RowsThatSeeNothingAreZeros) {
  Matrix input(LPT_FORMAT_F32, 5, 3);
  for (int64_t r = 0; r < 5; ++r) {
    for (int64_t c = 0; c < 3; ++c) input.set(r, c, r < 2 ? NAN : static_cast<float>(c));
  }
  for (const auto &row : softmax_forward_kernels()) {
    if (!can_run(row)) continue;
    Matrix output(LPT_FORMAT_F32, 5, 3);
    row.run({input.view(), output.view(), 1.0, true, 0, 5});  // T = 5, S = 3: rows 0 and 1 have no visible columns
    for (int64_t c = 0; c < 3; ++c) {
      EXPECT_EQ(output.get(0, c), 0.0f) << row.name;
      EXPECT_EQ(output.get(1, c), 0.0f) << row.name;
      EXPECT_EQ(output.get(2, c), c == 0 ? 1.0f : 0.0f) << row.name;
    }
    EXPECT_NEAR(output.get(4, 2), std::exp(2.0) / (1 + std::exp(1.0) + std::exp(2.0)), 1e-7) << row.name;
  }
}

TEST(SoftmaxForward, KeepsSpecialsVisible) {
  const float inf = INFINITY;
  const struct {
    float values[4];
    double expected[4];
  } cases[] = {
      {{1.0f, NAN, 2.0f, 3.0f}, {kNan, kNan, kNan, kNan}},
      {{1.0f, inf, 2.0f, 3.0f}, {kNan, kNan, kNan, kNan}},
      {{-inf, -inf, -inf, NAN}, {kNan, kNan, kNan, kNan}},
      {{NAN, -inf, -inf, -inf}, {kNan, kNan, kNan, kNan}},
      {{-inf, 5.0f, -inf, 5.0f}, {0.0, 0.5, 0.0, 0.5}},
      {{-inf, -inf, -inf, -inf}, {0.0, 0.0, 0.0, 0.0}},
      {{3e38f, 3e38f, -3e38f, -3e38f}, {0.5, 0.5, 0.0, 0.0}},
      {{-3e38f, -3e38f, -3e38f, -3e38f}, {0.25, 0.25, 0.25, 0.25}},
  };
  for (const auto &row : softmax_forward_kernels()) {
    if (!can_run(row)) continue;
    for (const auto &c : cases) {
      for (const lpt_format format : {LPT_FORMAT_F32, LPT_FORMAT_BF16}) {
        Matrix input(LPT_FORMAT_F32, 1, 4), output(format, 1, 4);
        for (int64_t column = 0; column < 4; ++column) input.set(0, column, c.values[column]);
        row.run({input.view(), output.view(), 1.0, false, 0, 1});
        for (int64_t column = 0; column < 4; ++column) expect_near(output, 0, column, c.expected[column], 0, row.name);
      }
    }
  }
}

TEST(SoftmaxBackward, RowsAreNearTheDefinition) {
  Random random(10);
  for (const auto &row : softmax_backward_kernels()) {
    if (!can_run(row)) continue;
    for (const lpt_format format : kFormats) {
      for (const int64_t columns : kSimdEdges) {
        const int64_t count = 1 + random.below(4);
        const double scale = static_cast<double>(static_cast<float>(0.7));
        const lpt_format target = random.of(kFormats);
        Matrix x(LPT_FORMAT_F32, count, columns), y(format, count, columns, 1), dy(format, count, columns, 2);
        Matrix dx(target, count, columns, 3, 4);
        fill_finite(random, x, Values::kNormal);
        fill_finite(random, dy, Values::kOutliers);
        softmax_forward_kernels().back().run({x.view(), y.view(), scale, true, 0, count});
        row.run({y.view(), dy.view(), dx.view(), scale});
        const std::string where = shape_text(row.name, format, count, columns, Values::kOutliers);
        ASSERT_TRUE(dx.is_intact()) << where;
        for (int64_t r = 0; r < count; ++r) {
          double sum = 0;
          for (int64_t c = 0; c < columns; ++c) sum += number(y, r, c) * number(dy, r, c);
          for (int64_t c = 0; c < columns; ++c) {
            const double scaled = scale * number(y, r, c), g = number(dy, r, c);
            expect_near(dx, r, c, scaled * (g - sum), kSoftmaxError * kEps * scaled * (std::fabs(g) + std::fabs(sum)),
                        where);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace lpt::test
