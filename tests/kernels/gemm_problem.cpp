#include "tests/kernels/gemm_problem.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lpt::test {

lpt_format format_named(const char *name) {
  lpt_format format = LPT_FORMAT_NONE;
  const Status status = format_from_name(name, format);
  EXPECT_TRUE(status.is_ok()) << status.message();
  return format;
}

namespace {

// Returns the value of a code of a custom float, from its description.
double number_of_own(lpt_format element, uint32_t code) {
  lpt_format_description own;
  EXPECT_TRUE(describe_format(element, own).is_ok());
  const int bits = own.element_bits, width = own.exponent_bits + own.mantissa_bits;
  const uint32_t magnitude = code & ((1u << width) - 1), top = (1u << width) - 1;
  const uint32_t fraction = magnitude & ((1u << own.mantissa_bits) - 1);
  const double sign = bits > width && (code >> width) != 0 ? -1.0 : 1.0;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const bool is_top = magnitude >> own.mantissa_bits == top >> own.mantissa_bits;
  if (own.special == LPT_ELEMENT_SPECIAL_FNUZ && code == 1u << width) return nan;
  if (own.special == LPT_ELEMENT_SPECIAL_NAN_ONES && magnitude == top) return nan;
  if (own.special == LPT_ELEMENT_SPECIAL_IEEE && is_top) {
    return fraction != 0 ? nan : sign * std::numeric_limits<double>::infinity();
  }
  const int exponent = static_cast<int>(magnitude >> own.mantissa_bits);
  const double significand = std::ldexp(fraction, -own.mantissa_bits) + (exponent == 0 ? 0 : 1);
  return sign * std::ldexp(significand, (exponent == 0 ? 1 : exponent) - own.exponent_bias);
}

}  // namespace

// Returns the value of a code, from the definition in its standard.
double number_of(lpt_format element, uint32_t code) {
  const auto magnitude = [&](int exponent_bits, int mantissa_bits, int bias) {
    const int exponent = static_cast<int>(code >> mantissa_bits) & ((1 << exponent_bits) - 1);
    const int mantissa = static_cast<int>(code) & ((1 << mantissa_bits) - 1);
    const double fraction = std::ldexp(mantissa, -mantissa_bits);
    const double value = exponent == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1 + fraction, exponent - bias);
    return (code >> (exponent_bits + mantissa_bits)) & 1 ? -value : value;
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const bool is_negative = (code >> (element_bits(element) - 1) & 1) != 0;
  const double infinity = std::copysign(std::numeric_limits<double>::infinity(), is_negative ? -1.0 : 1.0);
  switch (element) {
    case LPT_FORMAT_F32:
      return static_cast<double>(float_of_bits(code));
    case LPT_FORMAT_BF16:
      return static_cast<double>(float_of_bits(code << 16));
    case LPT_FORMAT_F16:
      return (code & 0x7FFF) >= 0x7C00 ? ((code & 0x3FF) ? nan : infinity) : magnitude(5, 10, 15);
    case LPT_FORMAT_E4M3FN:
      return (code & 0x7F) == 0x7F ? nan : magnitude(4, 3, 7);
    case LPT_FORMAT_E4M3:
      return (code & 0x7F) >= 0x78 ? ((code & 7) ? nan : infinity) : magnitude(4, 3, 7);
    case LPT_FORMAT_E5M2:
      return (code & 0x7F) >= 0x7C ? ((code & 3) ? nan : infinity) : magnitude(5, 2, 15);
    case LPT_FORMAT_E2M1FN:
      return magnitude(2, 1, 1);
    case LPT_FORMAT_E3M4:
      return (code & 0x7F) >= 0x70 ? ((code & 15) ? nan : infinity) : magnitude(3, 4, 3);
    case LPT_FORMAT_E4M3FNUZ:
      return code == 0x80 ? nan : magnitude(4, 3, 8);
    case LPT_FORMAT_E5M2FNUZ:
      return code == 0x80 ? nan : magnitude(5, 2, 16);
    case LPT_FORMAT_E4M3B11FNUZ:
      return code == 0x80 ? nan : magnitude(4, 3, 11);
    case LPT_FORMAT_E3M2FN:
      return magnitude(3, 2, 3);
    case LPT_FORMAT_E2M3FN:
      return magnitude(2, 3, 1);
    case LPT_FORMAT_E3M0:
      return magnitude(3, 0, 3);
    case LPT_FORMAT_NF4: {  // the table of QLoRA
      static constexpr double kLevels[] = {-1.0,
                                           -0.6961928009986877,
                                           -0.5250730514526367,
                                           -0.39491748809814453,
                                           -0.28444138169288635,
                                           -0.18477343022823334,
                                           -0.09105003625154495,
                                           0.0,
                                           0.07958029955625534,
                                           0.16093020141124725,
                                           0.24611230194568634,
                                           0.33791524171829224,
                                           0.44070982933044434,
                                           0.5626170039176941,
                                           0.7229568362236023,
                                           1.0};
      return kLevels[code];
    }
    case LPT_FORMAT_BNB_FP4: {  // twelfths, as bitsandbytes lists them
      static constexpr double kTwelfths[] = {0, 0.0625, 8, 12, 4, 6, 2, 3};
      const double level = static_cast<double>(static_cast<float>(kTwelfths[code & 7] / 12));
      return code < 8 ? level : -level;
    }
    case LPT_FORMAT_INT8:
      return static_cast<int8_t>(code);
    case LPT_FORMAT_Q1_6:
      return static_cast<int8_t>(code) / 64.0;
    case LPT_FORMAT_INT4:
      return static_cast<int>(code) - (code < 8 ? 0 : 16);
    case LPT_FORMAT_INT3:
      return static_cast<int>(code) - (code < 4 ? 0 : 8);
    case LPT_FORMAT_INT2:
    case LPT_FORMAT_TERNARY:
      return static_cast<int>(code) - (code < 2 ? 0 : 4);
    case LPT_FORMAT_UINT4:
    case LPT_FORMAT_UINT8:
      return code;
    case LPT_FORMAT_E8M0FNU:
      return code == 0xFF ? nan : std::ldexp(1.0, static_cast<int>(code) - 127);
    default:
      return number_of_own(element, code);
  }
}

double element_at(const Matrix &matrix, int64_t row, int64_t column) {
  if (matrix.format().element == LPT_FORMAT_F64) {
    return reinterpret_cast<const double *>(matrix.data.data())[matrix.index(row, column)];
  }
  return number_of(matrix.format().element, matrix.code(row, column));
}

double value_at(const Matrix &matrix, int64_t row, int64_t column) {
  double value = element_at(matrix, row, column);
  if (matrix.format().has_block_scale()) {
    const BlockGrid grid = matrix.grid();
    value -= matrix.zero_point(row / grid.block_rows, column / grid.block_columns);
    value *=
        number_of(matrix.format().block_scale, matrix.scale_code(row / grid.block_rows, column / grid.block_columns));
  }
  return matrix.format().has_tensor_scale() ? value * static_cast<double>(matrix.tensor_scale) : value;
}

std::vector<double> lanes_of(const Matrix &matrix, bool is_k_adjacent) {
  const Format &format = matrix.format();
  const BlockGrid grid = matrix.grid();
  const int64_t bits = element_bits(format.element);
  std::vector<double> numbers(bits <= 8 ? size_t{1} << bits : 0), scales, zeros;
  for (size_t code = 0; code < numbers.size(); ++code) {
    numbers[code] = number_of(format.element, static_cast<uint32_t>(code));
  }
  for (int64_t at = 0; format.has_block_scale() && at < grid.rows * grid.columns; ++at) {
    scales.push_back(number_of(format.block_scale, matrix.scale_code(at / grid.columns, at % grid.columns)));
    zeros.push_back(matrix.zero_point(at / grid.columns, at % grid.columns));
  }
  const double tensor_scale = format.has_tensor_scale() ? static_cast<double>(matrix.tensor_scale) : 1;
  std::vector<double> lanes(static_cast<size_t>(matrix.rows() * matrix.columns()));
  for (int64_t row = 0; row < matrix.rows(); ++row) {
    for (int64_t column = 0; column < matrix.columns(); ++column) {
      double value = numbers.empty() ? element_at(matrix, row, column) : numbers[matrix.code(row, column)];
      if (format.has_block_scale()) {
        const auto block = static_cast<size_t>(row / grid.block_rows * grid.columns + column / grid.block_columns);
        value = (value - zeros[block]) * scales[block];
      }
      const int64_t at = is_k_adjacent ? row * matrix.columns() + column : column * matrix.rows() + row;
      lanes[static_cast<size_t>(at)] = value * tensor_scale;
    }
  }
  return lanes;
}

void set_scale(Matrix &matrix, int64_t block_row, int64_t block_column, uint32_t code) {
  const int64_t at = block_row * matrix.scale_stride() + block_column;
  if (matrix.format().block_scale == LPT_FORMAT_F32) {
    std::memcpy(matrix.scales.data() + 4 * at, &code, sizeof code);
  } else {
    matrix.scales.data()[at] = static_cast<uint8_t>(code);
  }
}

namespace {

// Returns the codes of moderate magnitude of an element of at most 8 bits.
std::vector<uint32_t> moderate_codes(lpt_format element) {
  const double most = element == LPT_FORMAT_INT8 ? 128 : element == LPT_FORMAT_UINT8 ? 255 : 16;
  std::vector<uint32_t> codes;
  for (uint32_t code = 0; code < 1u << element_bits(element); ++code) {
    if (std::fabs(number_of(element, code)) <= most) codes.push_back(code);
  }
  return codes;
}

}  // namespace

// Fills with finite values of moderate magnitude, and scales that differ between blocks.
void fill(Random &random, Matrix &matrix) {
  const lpt_format element = matrix.format().element;
  const std::vector<uint32_t> codes = element_bits(element) <= 8 ? moderate_codes(element) : std::vector<uint32_t>();
  for (int64_t row = 0; row < matrix.rows(); ++row) {
    for (int64_t column = 0; column < matrix.columns(); ++column) {
      if (element == LPT_FORMAT_F64) {
        reinterpret_cast<double *>(matrix.data.data())[matrix.index(row, column)] = random.normal();
      } else if (codes.empty()) {
        matrix.set(row, column, static_cast<float>(random.normal()));
      } else {
        matrix.set_code(row, column, codes[static_cast<size_t>(random.below(static_cast<int64_t>(codes.size())))]);
      }
    }
  }
  matrix.tensor_scale = 0.375f + static_cast<float>(random.uniform());
  if (!matrix.format().has_block_scale()) return;
  for (int64_t row = 0; row < matrix.grid().rows; ++row) {
    for (int64_t column = 0; column < matrix.grid().columns; ++column) {
      const auto scale = static_cast<float>(std::exp2(4 * random.uniform() - 2));
      uint32_t code;
      std::memcpy(&code, &scale, sizeof code);
      if (matrix.format().block_scale == LPT_FORMAT_E8M0FNU) code = 124 + static_cast<uint32_t>(random.below(6));
      if (matrix.format().block_scale == LPT_FORMAT_E4M3FN) code = 1 + static_cast<uint32_t>(random.below(0x50));
      set_scale(matrix, row, column, code);
      if (!matrix.format().has_zero_point()) continue;
      matrix.zero_points.data()[row * matrix.scale_stride() + column] =
          static_cast<uint8_t>(random.below(int64_t{1} << element_bits(element)));
    }
  }
}

const KernelEntry<GemmRequest> *find_kernel(const std::string &name) {
  for (const KernelEntry<GemmRequest> &kernel : gemm_kernels()) {
    if (kernel.name == name) return &kernel;
  }
  return nullptr;
}

void run_row(const KernelEntry<GemmRequest> &kernel, GemmRequest request) {
  GemmRequest whole = request;  // a part may have fewer rows than the kernel supports
  if (!takes(kernel, request)) whole.m = std::max<int64_t>(request.m, kGemmRowUnit);
  ASSERT_TRUE(takes(kernel, whole)) << kernel.name << ": " << kernel.unsupported_reason(whole);
  Guarded scratch(kernel.scratch_bytes(request));
  request.scratch = reinterpret_cast<std::byte *>(scratch.data());
  kernel.run(request);
  EXPECT_TRUE(scratch.is_intact()) << kernel.name << " writes past its scratch";
}

std::vector<size_t> native_rows() {
  const auto imitates = [](const KernelEntry<GemmRequest> &kernel) {
    for (const lpt_gemm_arithmetic arithmetic : {LPT_GEMM_ARITHMETIC_L_MUL, LPT_GEMM_ARITHMETIC_PIECEWISE_AFFINE,
                                                 LPT_GEMM_ARITHMETIC_SHIFT, LPT_GEMM_ARITHMETIC_TENSOR_CORE}) {
      for (const char *b_format : {"int4", "e4m3fn"}) {
        Problem problem("e3m0", b_format, LPT_FORMAT_F32, false, true, 1, 1, 1);
        problem.request.arithmetic = arithmetic;
        if (takes(kernel, problem.request)) return true;
      }
    }
    return false;
  };
  std::vector<size_t> places;
  for (size_t place = 0; place < gemm_kernels().size(); ++place) {
    if (!imitates(gemm_kernels()[place])) places.push_back(place);
  }
  return places;
}

std::vector<double> numbers_of_c(const Problem &problem) {
  std::vector<double> numbers;
  for (int64_t i = 0; i < problem.request.m; ++i) {
    for (int64_t j = 0; j < problem.request.n; ++j) numbers.push_back(element_at(problem.c, i, j));
  }
  return numbers;
}

Oracle::Oracle(const Problem &problem)
    : problem_(problem), a_(problem.a_lanes()), b_(problem.b_lanes()), c_before_(numbers_of_c(problem)) {}

Oracle::Sum Oracle::sum_at(int64_t i, int64_t j) const {
  const int64_t k = problem_.request.k;
  const double *const a = a_.data() + i * k, *const b = b_.data() + j * k;
  Sum sum;
  for (int64_t p = 0; p < k; ++p) {
    const double product = a[p] * b[p];
    sum.value += product;
    sum.magnitude += std::fabs(product);
  }
  return sum;
}

testing::AssertionResult Oracle::is_near(int64_t i, int64_t j, const Sum &sum) const {
  constexpr double kSumError = 4;
  constexpr double kTiny = 1e-37;  // below this the bf16 kernel may flush to zero
  const GemmRequest &request = problem_.request;
  const double old_term = request.beta == 0 ? 0 : request.beta * c_before_[static_cast<size_t>(i * request.n + j)];
  const double bias_term = request.bias == nullptr ? 0 : problem_.wide_bias[static_cast<size_t>(j)];
  const double expected = request.alpha * sum.value + old_term + bias_term;
  const double total = std::fabs(request.alpha) * sum.magnitude + std::fabs(old_term) + std::fabs(bias_term);
  const double eps = request.is_f64 ? 0x1p-52 : 0x1p-23;
  const double bound = kSumError * std::sqrt(static_cast<double>(request.k) + 1) * eps * total;
  const lpt_format c_format = problem_.c.format().element;
  const double f32_eps = request.is_f64 ? 0x1p-24 : 0;  // else included in the error of the sum
  const double c_eps = c_format == LPT_FORMAT_BF16  ? 0x1p-8
                       : c_format == LPT_FORMAT_F16 ? 0x1p-11
                       : c_format == LPT_FORMAT_F32 ? f32_eps
                                                    : 0;
  const double c_tiny = c_format == LPT_FORMAT_F16 ? 0x1p-25 : kTiny;  // half a unit of subnormals
  const double found = element_at(problem_.c, i, j);
  const bool is_overflow = c_format == LPT_FORMAT_F16 && std::isinf(found) && std::fabs(expected) + bound >= 65520;
  if (is_overflow || std::fabs(found - expected) <= bound + c_eps * (std::fabs(expected) + bound) + c_tiny) {
    return testing::AssertionSuccess();
  }
  return testing::AssertionFailure() << problem_.name << " at " << i << ", " << j << ": " << found << " for "
                                     << expected << ", bound " << bound;
}

void Oracle::judge(const std::string &who) {
  const int64_t m = problem_.request.m, n = problem_.request.n;
  for (int64_t at = static_cast<int64_t>(sums_.size()); at < m * n; ++at) sums_.push_back(sum_at(at / n, at % n));
  for (int64_t at = 0; at < m * n; ++at) {
    ASSERT_TRUE(is_near(at / n, at % n, sums_[static_cast<size_t>(at)])) << who;
  }
}

void Oracle::judge(const std::string &who, Random &random, int64_t samples) const {
  for (int64_t s = 0; s < samples; ++s) {
    const int64_t i = random.below(problem_.request.m), j = random.below(problem_.request.n);
    ASSERT_TRUE(is_near(i, j, sum_at(i, j))) << who;
  }
}

void Gemm::check(Problem &problem, Random &random, int64_t samples) const {
  Oracle oracle(problem);
  run(problem.request);
  ASSERT_TRUE(problem.c.is_intact()) << kernel().name << " " << problem.name;
  samples == 0 ? oracle.judge(kernel().name) : oracle.judge(kernel().name, random, samples);
}

}  // namespace lpt::test
