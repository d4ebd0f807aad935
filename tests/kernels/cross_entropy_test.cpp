// Every kernel of cross entropy against the definition in double.
#include <limits>

#include "tests/kernels/activation.hpp"

namespace lpt::test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr lpt_format kAll[] = {LPT_FORMAT_F64, LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_F16};

// Error of a sum of exponentials in f32: 2 units of an exponential, and the error of its exponent. Sums in f64 have a smaller
// error.
double exponent_error(double exponent) { return 4.0 + std::fabs(exponent); }

TEST(CrossEntropySums, RowsAreNearTheDefinition) {
  Random random(21);
  for (const auto &row : cross_entropy_sums_kernels()) {
    if (!can_run(row)) continue;
    for (const lpt_format format : kAll) {
      for (const int64_t columns : kSimdEdges) {
        const int64_t count = 1 + random.below(4);
        Matrix logits(format, count, columns, 1, 8);
        fill_finite(random, logits, Values::kNormal);
        std::vector<int64_t> places;
        for (int64_t r = 0; r < count; ++r) places.push_back(random.below(columns + 4) - 2);
        const CrossEntropySumsRequest request{logits.view(), places.data(), nullptr};
        if (row.unsupported_reason(request) != nullptr) continue;
        std::vector<RowSums> found(static_cast<size_t>(count));
        row.run({logits.view(), places.data(), found.data()});
        for (int64_t r = 0; r < count; ++r) {
          RowSums exact{-kInfinity, 0.0, 0.0, 0.0};
          double size = 0.0, bound = 0.0;
          for (int64_t c = 0; c < columns; ++c) {
            const double x = number(logits, r, c);
            exact.largest = std::max(exact.largest, x);
            exact.all += x;
            size += std::fabs(x);
            if (c == places[static_cast<size_t>(r)]) exact.target = x;
          }
          for (int64_t c = 0; c < columns; ++c) {
            const double e = std::exp(number(logits, r, c) - exact.largest);
            exact.exponentials += e;
            bound += kEps * e * exponent_error(number(logits, r, c) - exact.largest);
          }
          const RowSums &sums = found[static_cast<size_t>(r)];
          const std::string where = shape_text(row.name, format, count, columns, Values::kNormal);
          EXPECT_EQ(exact.largest, sums.largest) << where;
          EXPECT_EQ(exact.target, sums.target) << where;
          EXPECT_NEAR(exact.exponentials, sums.exponentials, format == LPT_FORMAT_F64 ? bound * 0x1p-28 : bound)
              << where;
          EXPECT_NEAR(exact.all, sums.all, size * 0x1p-44) << where;
        }
      }
    }
  }
}

TEST(CrossEntropySums, KeepSpecialsVisible) {
  for (const auto &row : cross_entropy_sums_kernels()) {
    if (!can_run(row)) continue;
    const float values[][3] = {
        {1, NAN, 2}, {NAN, 1, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}, {INFINITY, 1, 1}, {-INFINITY, 0, 0}};
    Matrix logits(LPT_FORMAT_F32, 5, 3);
    for (int64_t r = 0; r < 5; ++r) {
      for (int64_t c = 0; c < 3; ++c) logits.set(r, c, values[r][c]);
    }
    const std::vector<int64_t> places(5, 0);
    RowSums found[5];
    row.run({logits.view(), places.data(), found});
    EXPECT_TRUE(std::isnan(found[0].largest)) << row.name;
    EXPECT_TRUE(std::isnan(found[1].largest)) << row.name;
    EXPECT_EQ(-kInfinity, found[2].largest) << row.name;
    EXPECT_EQ(0.0, found[2].exponentials) << row.name;
    EXPECT_TRUE(std::isnan(found[3].exponentials)) << row.name;
    EXPECT_EQ(2.0, found[4].exponentials) << row.name;
    EXPECT_EQ(-kInfinity, found[4].target) << row.name;
    Matrix none(LPT_FORMAT_F32, 2, 0);
    row.run({none.view(), places.data(), found});
    EXPECT_EQ(-kInfinity, found[1].largest) << row.name;
    EXPECT_EQ(0.0, found[1].exponentials) << row.name;
  }
}

// Logits and logarithms are far from zero, so that rounding the logarithm to f32 causes a visible error.
TEST(CrossEntropyGradient, RowsAreNearTheDefinition) {
  constexpr double kFar = 100.0;
  Random random(22);
  for (const auto &row : cross_entropy_gradient_kernels()) {
    if (!can_run(row)) continue;
    for (const lpt_format format : kAll) {
      for (const int64_t columns : kSimdEdges) {
        const lpt_format target = random.of(kAll);
        const int64_t count = 1 + random.below(4);
        Matrix logits(format, count, columns, 1, 8), gradient(target, count, columns, 3, 8);
        fill_finite(random, logits, Values::kNormal);
        std::vector<int64_t> places;
        std::vector<double> log_sums, factors;
        for (int64_t r = 0; r < count; ++r) {
          places.push_back(random.below(columns + 4) - 2);
          log_sums.push_back(kFar + 1.0 + random.uniform());
          for (int64_t c = 0; c < columns; ++c) put(logits, r, c, kFar + number(logits, r, c));
          factors.push_back(r == 2 ? 0.0 : 3.0 * random.uniform());
        }
        const CrossEntropyGradientRequest request{
            logits.view(), gradient.view(), places.data(), log_sums.data(), factors.data(), 0.9, 0.1 / 7};
        if (row.unsupported_reason(request) != nullptr) continue;
        row.run(request);
        const std::string where = shape_text(row.name, format, count, columns, Values::kNormal);
        ASSERT_TRUE(gradient.is_intact()) << where;
        for (int64_t r = 0; r < count; ++r) {
          const auto i = static_cast<size_t>(r);
          for (int64_t c = 0; c < columns; ++c) {
            const double exponent = number(logits, r, c) - log_sums[i];
            const double taken = request.off + (c == places[i] ? request.on : 0.0);
            const double size = factors[i] * (std::exp(exponent) * exponent_error(exponent) + taken);
            const double unit = format == LPT_FORMAT_F64 && target == LPT_FORMAT_F64 ? 0x1p-50 : kEps;
            expect_near(gradient, r, c, factors[i] * (std::exp(exponent) - taken), unit * size, where);
          }
        }
      }
    }
  }
}

// The gradient of a row with factor 0 is zeros for any logits. The gradient may overwrite the logits.
TEST(CrossEntropyGradient, MayTakeThePlaceOfItsLogits) {
  for (const auto &row : cross_entropy_gradient_kernels()) {
    if (!can_run(row)) continue;
    Matrix logits(LPT_FORMAT_F32, 2, 40), apart(LPT_FORMAT_F32, 2, 40);
    Random random(23);
    logits.fill(random, Values::kNormal);
    logits.set(1, 7, NAN);
    const int64_t places[] = {3, -1};
    const double log_sums[] = {4.0, NAN}, factors[] = {1.0, 0.0};
    row.run({logits.view(), apart.view(), places, log_sums, factors, 1.0, 0.0});
    row.run({logits.view(), logits.view(), places, log_sums, factors, 1.0, 0.0});
    for (int64_t c = 0; c < 40; ++c) {
      EXPECT_EQ(apart.get(0, c), logits.get(0, c)) << row.name;
      EXPECT_EQ(0.0f, logits.get(1, c)) << row.name;
    }
  }
}

}  // namespace
}  // namespace lpt::test
