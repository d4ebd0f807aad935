// Every kernel of the rotary embedding against the reference kernel bit for bit, and the reference kernel against the
// definition.
#include <array>

#include "tests/kernels/activation.hpp"
#include "tests/kernels/rotary_problem.hpp"

namespace lpt::test {
namespace {

constexpr lpt_format kAllFormats[] = {LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_F16, LPT_FORMAT_F64};

TEST(Rotary, KernelsGiveTheBitsOfTheReference) {
  Random random(31);
  for (const auto &kernel : rotary_kernels()) {
    if (!can_run(kernel)) continue;
    for (const lpt_format format : kFormats) {
      for (const int64_t columns : kSimdEdges) {
        for (const Values values : kAllValues) {
          RotaryProblem problem(random, format, random.of(kFormats), columns, values);
          RotaryRequest request = problem.request();
          if (!takes(kernel, request)) continue;
          Matrix expected(problem.output.format().id, problem.output.rows(), columns, problem.padding, problem.shift);
          RotaryRequest oracle = request;
          oracle.output = expected.view();
          rotary_kernels().back().run(oracle);
          // Splits the rows in two parts, as threads do.
          const int64_t rows = request.rows;
          request.rows = random.below(rows + 1);
          kernel.run(request);
          request.first_row = request.rows;
          request.rows = rows - request.first_row;
          kernel.run(request);
          ASSERT_TRUE(problem.output.equals(expected)) << kernel.name << ' ' << text_of(problem);
          ASSERT_TRUE(problem.output.is_intact()) << kernel.name << ' ' << text_of(problem);
        }
      }
    }
  }
}

TEST(Rotary, KernelsRotateInPlace) {
  Random random(32);
  for (const auto &kernel : rotary_kernels()) {
    if (!can_run(kernel)) continue;
    for (const int64_t columns : kSimdEdges) {
      const lpt_format format = random.of(kFormats);
      RotaryProblem problem(random, format, format, columns, Values::kNormal);
      problem.is_input_transposed = false;
      RotaryRequest request = problem.request();
      rotary_kernels().back().run(request);
      request.output = request.input;
      for (RotaryAxis &axis : request.axes) axis.output_stride = axis.input_stride;
      kernel.run(request);
      ASSERT_TRUE(problem.input.equals(problem.output)) << kernel.name << ' ' << text_of(problem);
    }
  }
}

// Two products and a sum in f32 or f64.
TEST(Rotary, IsTheDefinition) {
  Random random(33);
  for (const lpt_format source : kAllFormats) {
    for (const lpt_format target : kAllFormats) {
      for (const int64_t columns : {int64_t{0}, int64_t{1}, int64_t{6}, int64_t{37}, int64_t{64}}) {
        RotaryProblem problem(random, source, target, columns, Values::kNormal);
        rotary_kernels().back().run(problem.request());
        const std::string where = text_of(problem);
        const double unit = problem.table.is_f64 && target == LPT_FORMAT_F64 ? 0x1p-52 : 0x1p-23;
        for (int64_t i = 0; i < problem.outer; ++i) {
          for (int64_t j = 0; j < problem.inner; ++j) {
            const int64_t from = problem.input_row(i, j), to = problem.output_row(i, j);
            for (int64_t k = 0; k < problem.count; ++k) {
              const bool is_halves = problem.layout == LPT_ROTARY_LAYOUT_HALVES;
              const int64_t first = is_halves ? k : 2 * k, second = is_halves ? problem.count + k : 2 * k + 1;
              const double x = number(problem.input, from, first), y = number(problem.input, from, second);
              const double angle = static_cast<double>(problem.table.first_position + problem.position(i, j)) *
                                   problem.frequencies[static_cast<size_t>(k)] *
                                   (problem.table.is_inverse ? -1.0 : 1.0);
              const double cosine = problem.table.scale * std::cos(angle), sine = problem.table.scale * std::sin(angle);
              // The table, the products and the sum are rounded: three times half a unit of each product.
              const double error = 2.0 * unit * 1.25 * (std::fabs(x) + std::fabs(y));
              expect_near(problem.output, to, first, x * cosine - y * sine, error, where);
              expect_near(problem.output, to, second, x * sine + y * cosine, error, where);
            }
            for (int64_t column = 2 * problem.count; column < columns; ++column) {
              expect_near(problem.output, to, column, number(problem.input, from, column), 0.0, where);
            }
          }
        }
      }
    }
  }
}

// Includes angles out of range, whose entries are NaN.
TEST(RotaryTable, KernelsGiveTheBitsOfTheReference) {
  Random random(35);
  for (const auto &kernel : rotary_table_kernels()) {
    if (!can_run(kernel)) continue;
    for (int64_t count = 0; count < 40; ++count) {
      const int64_t rows = 1 + random.below(5), stride = 2 * count;
      std::vector<double> wide;
      std::vector<float> narrow;
      for (int64_t i = 0; i < count; ++i) narrow.push_back(static_cast<float>(2.0 * random.uniform()));
      for (const float frequency : narrow) wide.push_back(static_cast<double>(frequency) * (1.0 + 0x1p-50));
      const bool is_wide = random.chance(0.5);
      std::vector<float> found(static_cast<size_t>(2 * rows * stride)), expected = found;
      RotaryTableRequest request{
          .frequencies = is_wide ? static_cast<const void *>(wide.data()) : narrow.data(),
          .is_frequency_f64 = is_wide,
          .count = count,
          .positions = nullptr,
          .is_position_wide = false,
          .first_position = random.below(int64_t{1} << (10 * (1 + random.below(3)))),
          .first_row = 0,
          .rows = rows,
          .layout = random.chance(0.5) ? LPT_ROTARY_LAYOUT_HALVES : LPT_ROTARY_LAYOUT_INTERLEAVED,
          .scale = 1.1,
          .is_inverse = random.chance(0.5),
          .cosines = found.data(),
          .sines = found.data() + rows * stride,
          .stride = stride,
          .is_f64 = false};
      kernel.run(request);
      request.cosines = expected.data();
      request.sines = expected.data() + rows * stride;
      rotary_table_kernels().back().run(request);
      for (size_t i = 0; i < found.size(); ++i) {
        if (std::isnan(expected[i]) && std::isnan(found[i])) continue;
        ASSERT_EQ(0, std::memcmp(&expected[i], &found[i], sizeof(float))) << kernel.name << ' ' << count << " at " << i;
      }
    }
  }
}

// An entry is rounded once to f32: half a unit of f32, plus the errors of the f64 functions and the product with scale.
TEST(RotaryTable, IsTheDefinition) {
  Random random(34);
  constexpr int64_t kRows = 40, kCount = 19, kStride = 48;
  std::vector<double> wide_frequencies;
  std::vector<float> frequencies;
  std::vector<int64_t> wide_positions;
  std::vector<int32_t> positions;
  for (int64_t i = 0; i < kCount; ++i) frequencies.push_back(static_cast<float>(random.uniform()));
  for (const float frequency : frequencies) wide_frequencies.push_back(static_cast<double>(frequency));
  for (int64_t i = 0; i < kRows; ++i) positions.push_back(static_cast<int32_t>(random.below(1 << 30)) - (1 << 29));
  for (const int32_t position : positions) wide_positions.push_back(position);
  const double scales[] = {1.0, 1.3};
  for (int choice = 0; choice < 32; ++choice) {
    const bool is_wide = (choice & 1) != 0, is_interleaved = (choice & 2) != 0, is_inverse = (choice & 4) != 0;
    const bool has_positions = (choice & 8) != 0;
    const double scale = scales[choice / 16];
    std::vector<float> cosines(kRows * kStride, 7.0f), sines(kRows * kStride, 7.0f);
    const void *const given = is_wide ? static_cast<const void *>(wide_positions.data()) : positions.data();
    const RotaryTableRequest request{
        .frequencies = is_wide ? static_cast<const void *>(wide_frequencies.data()) : frequencies.data(),
        .is_frequency_f64 = is_wide,
        .count = kCount,
        .positions = has_positions ? given : nullptr,
        .is_position_wide = is_wide,
        .first_position = -3,
        .first_row = 1,
        .rows = kRows - 1,
        .layout = is_interleaved ? LPT_ROTARY_LAYOUT_INTERLEAVED : LPT_ROTARY_LAYOUT_HALVES,
        .scale = scale,
        .is_inverse = is_inverse,
        .cosines = cosines.data(),
        .sines = sines.data(),
        .stride = kStride,
        .is_f64 = false};
    for (const auto &kernel : rotary_table_kernels()) {
      if (!can_run(kernel)) continue;
      kernel.run(request);
      for (int64_t row = 0; row < kRows; ++row) {
        const double position =
            static_cast<double>(has_positions ? positions[static_cast<size_t>(row)] : static_cast<int32_t>(row) - 3);
        for (int64_t column = 0; column < kStride; ++column) {
          const auto at = static_cast<size_t>(row * kStride + column);
          if (row == 0 || column >= (is_interleaved ? 2 * kCount : kCount)) {
            ASSERT_EQ((std::array{7.0f, 7.0f}), (std::array{cosines[at], sines[at]})) << row << ", " << column;
            continue;
          }
          const auto i = static_cast<size_t>(is_interleaved ? column / 2 : column);
          const auto angle = static_cast<long double>(position * wide_frequencies[i]);
          const bool is_negative = is_inverse != (is_interleaved && column % 2 == 0);
          const double cosine = scale * static_cast<double>(std::cos(angle));
          const double sine = scale * static_cast<double>(std::sin(angle)) * (is_negative ? -1.0 : 1.0);
          ASSERT_NEAR(cosine, cosines[at], 0x1.01p-24 * std::fabs(cosine)) << row << ", " << column;
          ASSERT_NEAR(sine, sines[at], 0x1.01p-24 * std::fabs(sine)) << row << ", " << column;
        }
      }
    }
  }
}

}  // namespace
}  // namespace lpt::test
