// Every kernel of RMSNorm against the definition in double.
#include <algorithm>

#include "tests/kernels/activation.hpp"

namespace lpt::test {
namespace {

constexpr double kRmsnormError = 3;
constexpr double kRmsnormGradientError = 4;

TEST(RmsnormForward, RowsAreNearTheDefinition) {
  Random random(7);
  for (const auto &row : rmsnorm_forward_kernels()) {
    if (!can_run(row)) continue;
    for (const lpt_format format : kFormats) {
      for (const int64_t columns : kSimdEdges) {
        for (const Values values : {Values::kNormal, Values::kOutliers, Values::kZeroRuns}) {
          const int64_t count = 1 + random.below(3), padding = random.below(5);
          const lpt_format target = random.of(kFormats);
          Matrix input(format, count, columns, padding, 4), output(target, count, columns, padding, 4);
          Matrix weight(LPT_FORMAT_F32, 1, columns), inverse(LPT_FORMAT_F32, 1, count);
          fill_finite(random, input, values);
          fill_finite(random, weight, Values::kNormal);
          const double epsilon = random.chance(0.5) ? 1e-5 : 0.0;
          row.run({input.view(), weight.data.data(), output.view(), inverse.data.data(), epsilon, false});
          const std::string where = shape_text(row.name, format, count, columns, values);
          ASSERT_TRUE(output.is_intact() && inverse.is_intact()) << where;
          for (int64_t r = 0; r < count; ++r) {
            double square = 0;
            for (int64_t c = 0; c < columns; ++c) square += number(input, r, c) * number(input, r, c);
            const double mean = columns == 0 ? epsilon : square / static_cast<double>(columns) + epsilon;
            const double expected = mean == 0 ? 0 : 1 / std::sqrt(mean);
            expect_near(inverse, 0, r, expected, kRmsnormError * kEps * expected, where + " inverse");
            for (int64_t c = 0; c < columns; ++c) {
              const double y = number(input, r, c) * expected * number(weight, 0, c);
              expect_near(output, r, c, y, kRmsnormError * kEps * std::fabs(y), where);
            }
          }
        }
      }
    }
  }
}

// All NaNs are equal.
bool has_numbers_of(const Matrix &found, const Matrix &expected) {
  for (int64_t r = 0; r < found.rows(); ++r) {
    for (int64_t c = 0; c < found.columns(); ++c) {
      const double a = number(found, r, c), b = number(expected, r, c);
      if (std::isnan(a) ? !std::isnan(b) : a != b || std::signbit(a) != std::signbit(b)) return false;
    }
  }
  return true;
}

// Sums are those of the reference kernel; norms those of the same kernel for the sum.
TEST(RmsnormForward, AddsAResidual) {
  Random random(10);
  for (const auto &row : rmsnorm_forward_kernels()) {
    if (!can_run(row)) continue;
    for (const lpt_format format : kFormats) {
      for (const lpt_format added : kFormats) {
        for (const int64_t columns : kSimdEdges) {
          const int64_t count = 1 + random.below(3), padding = random.below(5);
          Matrix residual(format, count, columns, padding, 4), branch(added, count, columns, padding, 4);
          Matrix sum(format, count, columns, padding, 4), expected_sum(format, count, columns);
          Matrix output(random.of(kFormats), count, columns, padding, 4), inverse(LPT_FORMAT_F32, 1, count);
          Matrix expected(output.format().id, count, columns), expected_inverse(LPT_FORMAT_F32, 1, count);
          Matrix weight(LPT_FORMAT_F32, 1, columns), unused(LPT_FORMAT_F32, count, columns);
          residual.fill(random, Values::kBits);
          branch.fill(random, Values::kNormal);
          fill_finite(random, weight, Values::kNormal);
          const bool is_in_place = random.chance(0.3);
          RmsnormForwardRequest reference = {
              expected_sum.view(), weight.data.data(), unused.view(), nullptr, 1e-5, false};
          reference.residual = residual.view();
          reference.branch = branch.view();
          rmsnorm_forward_kernels().back().run(reference);
          RmsnormForwardRequest request = reference;
          request.input = is_in_place ? residual.view() : sum.view();
          request.output = output.view();
          request.inverse_rms = inverse.data.data();
          row.run(request);
          row.run(
              {expected_sum.view(), weight.data.data(), expected.view(), expected_inverse.data.data(), 1e-5, false});
          const std::string where = shape_text(row.name, format, count, columns, Values::kNormal);
          ASSERT_TRUE(sum.is_intact() && residual.is_intact() && output.is_intact() && inverse.is_intact()) << where;
          ASSERT_TRUE(has_numbers_of(is_in_place ? residual : sum, expected_sum)) << where;
          ASSERT_TRUE(has_numbers_of(output, expected) && has_numbers_of(inverse, expected_inverse)) << where;
        }
      }
    }
  }
}

TEST(RmsnormBackward, RowsAreNearTheDefinition) {
  Random random(8);
  for (const auto &row : rmsnorm_backward_kernels()) {
    if (!can_run(row)) continue;
    for (const lpt_format format : kFormats) {
      for (const int64_t columns : kSimdEdges) {
        const int64_t count = 1 + random.below(3), padding = random.below(5);
        const lpt_format target = random.of(kFormats);
        Matrix x(format, count, columns, padding), dy(format, count, columns), dx(target, count, columns, padding);
        Matrix weight(LPT_FORMAT_F32, 1, columns), inverse(LPT_FORMAT_F32, 1, count);
        fill_finite(random, x, Values::kOutliers);
        fill_finite(random, dy, Values::kNormal);
        fill_finite(random, weight, Values::kNormal);
        rmsnorm_forward_kernels().back().run(
            {x.view(), weight.data.data(), dx.view(), inverse.data.data(), 1e-5, false});
        const bool wants_input = random.chance(0.8), wants_weight = random.chance(0.8);
        Guarded sums(static_cast<size_t>(columns) * 8);
        auto *dw = reinterpret_cast<double *>(sums.data());
        for (int64_t c = 0; c < columns; ++c) dw[c] = 1.0;
        row.run({x.view(), dy.view(), wants_input ? dx.view() : MatrixView{}, weight.data.data(), inverse.data.data(),
                 wants_weight ? dw : nullptr, false});
        const std::string where = shape_text(row.name, format, count, columns, Values::kOutliers);
        ASSERT_TRUE(dx.is_intact() && sums.is_intact()) << where;
        std::vector<double> expected(static_cast<size_t>(columns), 1.0), terms(static_cast<size_t>(columns), 1.0);
        for (int64_t r = 0; r < count; ++r) {
          const double i = number(inverse, 0, r);
          double mean = 0, mean_terms = 0;
          for (int64_t c = 0; c < columns; ++c) {
            const double normal = number(x, r, c) * i;
            const double product = number(weight, 0, c) * number(dy, r, c) * normal;
            mean += product / static_cast<double>(columns);
            mean_terms += std::fabs(product) / static_cast<double>(columns);
            expected[static_cast<size_t>(c)] += number(dy, r, c) * normal;
            terms[static_cast<size_t>(c)] += std::fabs(number(dy, r, c) * normal);
          }
          for (int64_t c = 0; c < columns && wants_input; ++c) {
            const double weighted = number(weight, 0, c) * number(dy, r, c), normal = number(x, r, c) * i;
            expect_near(dx, r, c, i * (weighted - normal * mean),
                        kRmsnormGradientError * kEps * i * (std::fabs(weighted) + std::fabs(normal) * mean_terms),
                        where);
          }
        }
        for (int64_t c = 0; c < columns; ++c) {
          const auto at = static_cast<size_t>(c);
          EXPECT_NEAR(dw[c], wants_weight ? expected[at] : 1.0, kEps * terms[at]) << where;
        }
      }
    }
  }
}

TEST(Rmsnorm, TakesHugeZeroAndSpecialRows) {
  const float rows_of[4][3] = {{1e30f, -1e30f, 1e30f}, {0.0f, 0.0f, 0.0f}, {1.0f, NAN, 2.0f}, {1e-30f, 1e-30f, 1e-30f}};
  Matrix input(LPT_FORMAT_F32, 4, 3), weight(LPT_FORMAT_F32, 1, 3);
  for (int64_t r = 0; r < 4; ++r) {
    for (int64_t c = 0; c < 3; ++c) input.set(r, c, rows_of[r][c]);
  }
  for (int64_t c = 0; c < 3; ++c) weight.set(0, c, 1.0f);
  for (const auto &row : rmsnorm_forward_kernels()) {
    if (!can_run(row)) continue;
    Matrix output(LPT_FORMAT_F32, 4, 3);
    row.run({input.view(), weight.data.data(), output.view(), nullptr, 0.0, false});
    for (int64_t c = 0; c < 3; ++c) {
      EXPECT_NEAR(output.get(0, c), c == 1 ? -1.0 : 1.0, 2 * kEps) << row.name;
      EXPECT_EQ(output.get(1, c), 0.0f) << row.name;
      EXPECT_TRUE(std::isnan(output.get(2, c))) << row.name;
      EXPECT_NEAR(output.get(3, c), 1.0, 2 * kEps) << row.name;
    }
  }
}

}  // namespace
}  // namespace lpt::test
