// Every epilogue kernel against the reference kernel bit for bit, and the reference kernel against the definitions in long
// double.
#include <algorithm>
#include <limits>

#include "tests/kernels/activation.hpp"
#include "tests/support/sanitized.hpp"

namespace lpt::test {
namespace {

constexpr lpt_activation kActivations[] = {LPT_ACTIVATION_NONE, LPT_ACTIVATION_GELU, LPT_ACTIVATION_GELU_TANH,
                                           LPT_ACTIVATION_SILU, LPT_ACTIVATION_SWIGLU};
// LPT_FORMAT_NONE: no residual.
constexpr lpt_format kResiduals[] = {LPT_FORMAT_NONE, LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_F16};

lpt_format stored(lpt_format residual) { return residual == LPT_FORMAT_NONE ? lpt_format{LPT_FORMAT_F32} : residual; }

const char *name_of_activation(lpt_activation activation) {
  static const char *const names[] = {"none", "gelu", "gelu_tanh", "silu", "swiglu"};
  return names[activation];
}

// Largest errors in units of the last place of f32, measured over all arguments; for silu, arguments down to -87.
double allowed_units(lpt_activation activation) {
  switch (activation) {
    case LPT_ACTIVATION_GELU:
      return 6.4;
    case LPT_ACTIVATION_GELU_TANH:
      return 3.5;
    default:
      return 3.7;
  }
}

long double definition(lpt_activation activation, long double x) {
  switch (activation) {
    case LPT_ACTIVATION_GELU:
      return x * std::erfc(-x / std::sqrt(2.0L)) / 2;
    case LPT_ACTIVATION_GELU_TANH:  // (1 + tanh(u)) / 2 = 1 / (1 + exp(-2u)), without cancellation
      return x / (1 + std::exp(-2 * std::sqrt(0.5L / std::atan(1.0L)) * (x + 0.044715L * x * x * x)));
    default:
      return x / (1 + std::exp(-x));
  }
}

double units_between(float found, long double exact) {
  int exponent;
  std::frexp(exact, &exponent);
  return static_cast<double>(std::fabs(static_cast<long double>(found) - exact) /
                             std::ldexp(1.0L, std::max(exponent, -125) - 24));
}

EpilogueRequest request_of(Matrix &x, lpt_activation activation, Matrix *residual, Matrix &out) {
  EpilogueRequest request{};
  request.x = reinterpret_cast<const float *>(x.data.data());
  request.x_stride = x.view().row_stride;
  request.rows = out.rows();
  request.columns = out.columns();
  request.activation = activation;
  if (residual != nullptr) request.residual = residual->view();
  request.out = out.view();
  return request;
}

const KernelEntry<EpilogueRequest> &reference() { return epilogue_kernels().back(); }

// Returns the results of one kernel for one row.
std::vector<float> finished(const KernelEntry<EpilogueRequest> &kernel, lpt_activation activation,
                            const std::vector<float> &x) {
  const auto count = static_cast<int64_t>(x.size());
  Matrix in(LPT_FORMAT_F32, 1, count), out(LPT_FORMAT_F32, 1, count);
  std::memcpy(in.data.data(), x.data(), 4 * x.size());
  kernel.run(request_of(in, activation, nullptr, out));
  std::vector<float> result(x.size());
  std::memcpy(result.data(), out.data.data(), 4 * x.size());
  return result;
}

float finished(const KernelEntry<EpilogueRequest> &kernel, lpt_activation activation, float x) {
  return finished(kernel, activation, std::vector<float>{x})[0];
}

class Finish : public KernelTest<EpilogueRequest> {};
INSTANTIATE_TEST_SUITE_P(Kernels, Finish, testing::ValuesIn(all_kernels(epilogue_kernels())),
                         kernel_name<EpilogueRequest>);

TEST_P(Finish, GivesTheBitsOfTheReference) {
  Random random(1);
  for (const lpt_activation activation : kActivations) {
    for (const lpt_format format : kFormats) {
      for (const lpt_format residual_format : kResiduals) {
        for (const int64_t columns : kSimdEdges) {
          for (const Values values : kAllValues) {
            if (!is_taken(random, 5)) continue;
            const int64_t rows = 1 + random.below(3), padding = random.below(5);
            const auto shift = static_cast<std::size_t>(4 * random.below(16));
            const bool is_swiglu = activation == LPT_ACTIVATION_SWIGLU;
            Matrix x(LPT_FORMAT_F32, rows, is_swiglu ? 2 * columns : columns, padding + 1, shift);
            const bool has_residual = residual_format != LPT_FORMAT_NONE;
            Matrix residual(stored(residual_format), rows, columns, padding + 2, 60 - shift);
            Matrix found(format, rows, columns, padding, shift), expected(format, rows, columns, padding, shift);
            x.fill(random, values);
            residual.fill(random, values);
            const Guarded x_before = x.data, residual_before = residual.data;
            Matrix *const added = has_residual ? &residual : nullptr;
            ASSERT_TRUE(takes(request_of(x, activation, added, found)));
            GetParam()->run(request_of(x, activation, added, found));
            reference().run(request_of(x, activation, added, expected));
            const std::string where = shape_text(name_of_activation(activation), format, rows, columns, values) +
                                      " residual " + (has_residual ? format_name(residual_format) : "none");
            ASSERT_TRUE(found.equals(expected)) << where;
            ASSERT_TRUE(found.is_intact()) << where;
            ASSERT_TRUE(x.data.equals(x_before) && residual.data.equals(residual_before)) << where;
          }
        }
      }
    }
  }
}

// out is x, and the residual is out.
TEST_P(Finish, WorksInPlace) {
  Random random(2);
  for (const lpt_activation activation : kActivations) {
    for (const lpt_format format : kFormats) {
      for (const int64_t columns : {1, 15, 16, 17, 40, 129}) {
        for (const bool is_x : {false, true}) {
          const bool is_swiglu = activation == LPT_ACTIVATION_SWIGLU;
          if (is_x && (is_swiglu || format != LPT_FORMAT_F32)) continue;
          Matrix x(LPT_FORMAT_F32, 3, is_swiglu ? 2 * columns : columns, 3, 4);
          Matrix out(format, 3, columns, 3, 8);
          x.fill(random, Values::kOutliers);
          out.fill(random, Values::kNormal);
          Matrix expected(format, 3, columns, 3, 8);
          const std::string where = shape_text(name_of_activation(activation), format, 3, columns, Values::kNormal);
          if (is_x) {
            reference().run(request_of(x, activation, nullptr, expected));
            GetParam()->run(request_of(x, activation, nullptr, x));
            ASSERT_TRUE(x.data.equals(expected.data)) << where;
          } else {
            reference().run(request_of(x, activation, &out, expected));
            GetParam()->run(request_of(x, activation, &out, out));
            ASSERT_TRUE(out.data.equals(expected.data)) << where;
          }
        }
      }
    }
  }
}

// All values of bf16, and every 4093rd float: each kernel computes the bits of the reference kernel, which are near the
// definition.
TEST_P(Finish, IsNearTheDefinitionDownToTheLastSubnormal) {
  std::vector<float> numbers;
  const uint32_t step = kIsSanitized ? 8 : 1;  // of both grids
  for (uint32_t code = 0; code < 0x10000u; code += step) numbers.push_back(float_of_bits(code << 16));
  for (uint64_t bits = 0; bits < (uint64_t{1} << 32); bits += 4093 * step) {
    numbers.push_back(float_of_bits(static_cast<uint32_t>(bits)));
  }
  for (const lpt_activation activation : {LPT_ACTIVATION_GELU, LPT_ACTIVATION_GELU_TANH, LPT_ACTIVATION_SILU}) {
    const std::vector<float> results = finished(*GetParam(), activation, numbers);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const float x = numbers[i], y = results[i];
      const auto where = [&] { return std::string(name_of_activation(activation)) + " of " + std::to_string(x); };
      if (std::isnan(x)) {
        ASSERT_TRUE(std::isnan(y)) << where();
      } else if (std::isfinite(x) && (activation != LPT_ACTIVATION_SILU || x > -87.0f)) {
        const long double exact = definition(activation, static_cast<long double>(x));
        ASSERT_LE(units_between(y, exact), allowed_units(activation)) << where() << ": " << y;
        ASSERT_EQ(std::signbit(y), std::signbit(x)) << where();
      }
    }
  }
}

TEST_P(Finish, KeepsSpecialsVisible) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity(), kHuge = std::numeric_limits<float>::max();
  for (const lpt_activation activation : {LPT_ACTIVATION_GELU, LPT_ACTIVATION_GELU_TANH, LPT_ACTIVATION_SILU}) {
    const auto value = [&](float x) { return finished(*GetParam(), activation, x); };
    const auto expect_minus_zero = [&](float x) {
      EXPECT_TRUE(value(x) == 0.0f && std::signbit(value(x))) << name_of_activation(activation) << " of " << x;
    };
    EXPECT_TRUE(std::isnan(value(std::nanf(""))));
    EXPECT_EQ(value(kInfinity), kInfinity);
    EXPECT_EQ(value(kHuge), kHuge);
    EXPECT_TRUE(value(0.0f) == 0.0f && !std::signbit(value(0.0f)));
    EXPECT_EQ(value(0x1p-148f), 0x1p-149f);
    EXPECT_EQ(value(-0x1p-148f), -0x1p-149f);
    expect_minus_zero(-0.0f);
    expect_minus_zero(-kHuge);
    if (activation == LPT_ACTIVATION_SILU) {
      EXPECT_TRUE(std::isnan(value(-kInfinity)));
    } else {
      expect_minus_zero(-kInfinity);
      EXPECT_LT(value(activation == LPT_ACTIVATION_GELU ? -14.35f : -10.77f), 0.0f);
      expect_minus_zero(activation == LPT_ACTIVATION_GELU ? -14.36f : -10.78f);
    }
  }
}

// Rounds an f32 sum to bf16 or f16: to the spacing of its exponent, or of the smallest normal.
float rounded(lpt_format format, float sum) {
  const int digits = format == LPT_FORMAT_BF16 ? 8 : 11, lowest = format == LPT_FORMAT_BF16 ? -126 : -14;
  const double value = static_cast<double>(sum);
  if (format == LPT_FORMAT_F32 || !std::isfinite(value) || value == 0) return sum;
  int exponent;
  std::frexp(value, &exponent);
  const int grid = std::max(exponent - 1, lowest) - digits + 1;
  const double result = std::ldexp(std::nearbyint(std::ldexp(value, -grid)), grid);
  const double limit = format == LPT_FORMAT_BF16 ? 0x1p128 : 0x1p16;
  return std::fabs(result) >= limit ? static_cast<float>(std::copysign(HUGE_VAL, value)) : static_cast<float>(result);
}

TEST_P(Finish, AddsInF32AndRoundsOnceToNearestEven) {
  Random random(3);
  for (const lpt_format format : kFormats) {
    for (const lpt_format residual_format : kResiduals) {
      for (const Values values :
           {Values::kNormal, Values::kSubnormals, Values::kExtremes, Values::kTies, Values::kBits}) {
        const bool has_residual = residual_format != LPT_FORMAT_NONE;
        Matrix x(LPT_FORMAT_F32, 4, 333), residual(stored(residual_format), 4, 333);
        Matrix out(format, 4, 333);
        x.fill(random, values);
        residual.fill(random, values);
        GetParam()->run(request_of(x, LPT_ACTIVATION_NONE, has_residual ? &residual : nullptr, out));
        for (int64_t row = 0; row < 4; ++row) {
          for (int64_t column = 0; column < 333; ++column) {
            const float number = x.get(row, column), added = residual.get(row, column);
            const float expected = rounded(format, has_residual ? number + added : number);
            const float found = out.get(row, column);
            ASSERT_TRUE(std::isnan(expected) ? std::isnan(found)
                                             : found == expected && !std::signbit(found) == !std::signbit(expected))
                << format_name(format) << " of " << number << " and " << added << ": " << found << ", not " << expected;
          }
        }
      }
    }
  }
}

TEST_P(Finish, SwigluMultipliesTheHalvesOfX) {
  Random random(4);
  for (const lpt_format format : kFormats) {
    Matrix x(LPT_FORMAT_F32, 5, 74, 3), residual(LPT_FORMAT_BF16, 5, 37, 1), out(format, 5, 37, 2);
    x.fill(random, Values::kNormal);
    residual.fill(random, Values::kNormal);
    GetParam()->run(request_of(x, LPT_ACTIVATION_SWIGLU, &residual, out));
    for (int64_t row = 0; row < 5; ++row) {
      for (int64_t column = 0; column < 37; ++column) {
        const double gate = number(x, row, column), up = number(x, row, column + 37);
        const double product = gate / (1 + std::exp(-gate)) * up, added = number(residual, row, column);
        expect_near(out, row, column, product + added, kEps * (5 * std::fabs(product) + std::fabs(product + added)),
                    "swiglu");
      }
    }
  }
}

TEST_P(Finish, RejectsWhatItCannotDo) {
  Matrix x(LPT_FORMAT_F32, 2, 4), out(LPT_FORMAT_F32, 2, 4), wide(LPT_FORMAT_F64, 2, 4), bytes(LPT_FORMAT_INT8, 2, 4);
  EXPECT_TRUE(takes(request_of(x, LPT_ACTIVATION_SWIGLU, nullptr, out)));
  EXPECT_FALSE(takes(request_of(x, LPT_ACTIVATION_SWIGLU + 1, nullptr, out)));
  EXPECT_FALSE(takes(request_of(x, -1, nullptr, out)));
  EXPECT_FALSE(takes(request_of(x, LPT_ACTIVATION_GELU, nullptr, wide)));
  EXPECT_FALSE(takes(request_of(x, LPT_ACTIVATION_GELU, &wide, out)));
  EXPECT_FALSE(takes(request_of(x, LPT_ACTIVATION_GELU, &bytes, out)));
  EXPECT_FALSE(takes(request_of(x, LPT_ACTIVATION_GELU, nullptr, bytes)));
}

TEST(FinishReference, WritesColumnsThatAreNotAdjacent) {
  Random random(5);
  Matrix x(LPT_FORMAT_F32, 5, 7), out(LPT_FORMAT_BF16, 5, 7), transposed_copy(LPT_FORMAT_BF16, 5, 7, 1, 0, true);
  x.fill(random, Values::kNormal);
  reference().run(request_of(x, LPT_ACTIVATION_GELU, nullptr, out));
  const EpilogueRequest request = request_of(x, LPT_ACTIVATION_GELU, nullptr, transposed_copy);
  for (const auto *row : fast_kernels(epilogue_kernels())) EXPECT_FALSE(test::takes(*row, request));
  reference().run(request);
  for (int64_t row = 0; row < 5; ++row) {
    for (int64_t column = 0; column < 7; ++column) EXPECT_EQ(transposed_copy.get(row, column), out.get(row, column));
  }
}

}  // namespace
}  // namespace lpt::test
