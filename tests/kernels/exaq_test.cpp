// EXAQ softmax against the definition in double.
#include "tests/kernels/activation.hpp"
#include "tests/support/sanitized.hpp"

namespace lpt::test {
namespace {

struct ExaqProblem {
  int32_t bits;
  double clip, scale;
  bool is_causal;
};

// exp, its argument, and the roundings of sum and product are 5 units; the magnitude of the argument adds the remainder.
double exaq_error(const ExaqProblem &p) { return kEps * (5.0 - p.clip); }

// The levels of a row, by the definition.
struct Levels {
  double last, step;
  double place(double argument) const { return std::max(argument / step + last, 0.0); }
  double exponential(double argument) const { return std::exp((std::nearbyint(place(argument)) - last) * step); }
  // A tie, which f32 may round up or down.
  bool is_tie(double argument) const { return std::fabs(place(argument) - std::floor(place(argument)) - 0.5) < 1e-4; }
};

TEST(SoftmaxExaq, NumbersAreOfFewLevels) {
  constexpr ExaqProblem kProblems[] = {
      {2, -3.5, 1.0, false}, {3, -3.8, 0.5, true}, {4, -5.0, -1.0, false}, {2, -1.0, 2.0, true}};
  Random random(24);
  int64_t checked = 0;
  for (const auto &row : softmax_exaq_kernels()) {
    if (!can_run(row)) continue;
    for (const ExaqProblem &p : kProblems) {
      for (const int64_t columns : kSimdEdges) {
        const int64_t rows = 1 + random.below(4);
        Matrix input(random.of(kFormats), rows, columns, 1, 8), output(random.of(kFormats), rows, columns, 3, 8);
        fill_finite(random, input, Values::kNormal);
        if (columns > 3) input.set(0, 1, p.scale < 0 ? INFINITY : -INFINITY);
        const SoftmaxExaqRequest request{{input.view(), output.view(), p.scale, p.is_causal, 0, rows}, p.bits, p.clip};
        ASSERT_EQ(nullptr, row.unsupported_reason(request));
        row.run(request);
        const std::string where = shape_text(row.name, input.format().id, rows, columns, Values::kNormal);
        ASSERT_TRUE(output.is_intact()) << where;
        for (int64_t r = 0; r < rows; ++r) {
          const int64_t seen = p.is_causal ? std::clamp<int64_t>(r + columns - rows + 1, 0, columns) : columns;
          const double last = std::ldexp(1.0, p.bits) - 1.0;
          const Levels levels{last, -p.clip / last};
          double top = -INFINITY, sum = 0.0;
          bool has_tie = false;
          for (int64_t c = 0; c < seen; ++c) top = std::max(top, p.scale * number(input, r, c));
          const auto argument = [&](int64_t c) { return p.scale * number(input, r, c) - top; };
          for (int64_t c = 0; c < seen; ++c) {
            if (std::isinf(argument(c))) continue;
            sum += levels.exponential(argument(c));
            has_tie = has_tie || levels.is_tie(argument(c));
          }
          for (int64_t c = 0; c < columns && !has_tie; ++c) {
            const bool is_zero = c >= seen || std::isinf(argument(c));
            const double oracle = is_zero ? 0.0 : levels.exponential(argument(c)) / sum;
            expect_near(output, r, c, oracle, exaq_error(p) * oracle, where);
            checked += is_zero ? 0 : 1;
          }
        }
      }
    }
  }
  EXPECT_GT(checked, 1000);
}

// Windows, several blocks of rows, special values and the log of the sums: the bits of the reference.
TEST(SoftmaxExaq, KernelsHaveTheBitsOfTheReference) {
  Random random(25);
  for (const auto &kernel : softmax_exaq_kernels()) {
    if (!can_run(kernel) || &kernel == &reference_of(softmax_exaq_kernels())) continue;
    for (int i = 0; i < (kIsSanitized ? 100 : 600); ++i) {
      // More than 255 vectors of 16 lanes with one level in a byte.
      const int64_t rows = 1 + random.below(4), columns = i % 20 == 0 ? 4500 : random.of(kSimdEdges);
      const Values values = kAllValues[static_cast<size_t>(i) % std::size(kAllValues)];
      const int64_t padding = random.below(5);
      Matrix input(random.of(kFormats), rows, columns, padding, 4),
          found(random.of(kFormats), rows, columns, padding, 4);
      Matrix expected(found.format().id, rows, columns, padding, 4);
      Matrix sums(LPT_FORMAT_F32, 1, rows), expected_sums(LPT_FORMAT_F32, 1, rows);
      input.fill(random, values);
      constexpr double kScales[] = {0.7, 1.0, -0.3, 1e-30};
      const int64_t period = 1 + random.below(columns + 3);
      SoftmaxExaqRequest request{
          {input.view(), found.view(), kScales[random.below(4)], random.chance(0.5), random.below(period), period,
           random.chance(0.5) ? 1 + random.below(20) : 0, sums.data.data()},
          static_cast<int32_t>(2 + i % 3),
          -0.5 - 5.0 * random.uniform()};
      const std::string where = shape_text(kernel.name, input.format().id, rows, columns, values);
      ASSERT_EQ(nullptr, kernel.unsupported_reason(request));
      kernel.run(request);
      request.softmax.output = expected.view();
      request.softmax.log_sums = expected_sums.data.data();
      reference_of(softmax_exaq_kernels()).run(request);
      ASSERT_TRUE(found.is_intact() && sums.is_intact()) << where;
      ASSERT_TRUE(found.data.equals(expected.data) && sums.data.equals(expected_sums.data)) << where << ", case " << i;
    }
  }
}

// exp(x - log of the sums) are the outputs, up to the levels: with 4 bits and arguments that are levels, softmax itself.
TEST(SoftmaxExaq, LogSumsAndWindowsAreThoseOfSoftmaxAtTheLevels) {
  constexpr int64_t kColumns = 40, kWindow = 9;
  Matrix input(LPT_FORMAT_F32, kColumns, kColumns), output(LPT_FORMAT_F32, kColumns, kColumns);
  Matrix plain(LPT_FORMAT_F32, kColumns, kColumns), sums(LPT_FORMAT_F32, 1, kColumns),
      plain_sums(LPT_FORMAT_F32, 1, kColumns);
  Random random(26);
  for (int64_t r = 0; r < kColumns; ++r) {
    for (int64_t c = 0; c < kColumns; ++c) input.set(r, c, static_cast<float>(random.below(8)));
  }
  SoftmaxForwardRequest softmax{input.view(), plain.view(), 0.5, true, 0, kColumns, kWindow, plain_sums.data.data()};
  softmax_forward_kernels().back().run(softmax);
  softmax.output = output.view();
  softmax.log_sums = sums.data.data();
  for (const auto &kernel : softmax_exaq_kernels()) {
    if (!can_run(kernel)) continue;
    kernel.run({softmax, 4, -7.5});
    for (int64_t r = 0; r < kColumns; ++r) {
      EXPECT_NEAR(plain_sums.get(0, r), sums.get(0, r), 8 * kEps * (1 + std::fabs(plain_sums.get(0, r))))
          << kernel.name;
      for (int64_t c = 0; c < kColumns; ++c) {
        EXPECT_NEAR(plain.get(r, c), output.get(r, c), 8 * kEps) << kernel.name << ": " << r << ", " << c;
      }
    }
  }
}

TEST(SoftmaxExaq, KeepsSpecialsVisible) {
  const float inf = INFINITY, nan = NAN;
  const float values[][3] = {{1, nan, 2}, {inf, 1, -inf}, {-inf, -inf, -inf}, {5, 5, 5}};
  Matrix input(LPT_FORMAT_F32, 4, 3), output(LPT_FORMAT_F32, 4, 3);
  for (int64_t r = 0; r < 4; ++r) {
    for (int64_t c = 0; c < 3; ++c) input.set(r, c, values[r][c]);
  }
  for (const auto &row : softmax_exaq_kernels()) {
    const SoftmaxExaqRequest request{{input.view(), output.view(), 1.0, false, 0, 4}, 2, -3.0};
    if (!can_run(row)) continue;
    row.run(request);
    for (int64_t c = 0; c < 3; ++c) {
      EXPECT_TRUE(std::isnan(output.get(0, c)) && std::isnan(output.get(1, c))) << row.name;
      EXPECT_EQ(0.0f, output.get(2, c)) << row.name;
      EXPECT_EQ(1.0f / 3.0f, output.get(3, c)) << row.name;
    }
  }
}

}  // namespace
}  // namespace lpt::test
