// Every rotation kernel against the reference kernel bit for bit, and against Sylvester's matrix in double.
#include "kernels/hadamard/hadamard.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "tests/support/guarded.hpp"
#include "tests/support/kernels.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/support/shapes.hpp"

namespace lpt::test {
namespace {

constexpr int32_t kSizes[] = {0, 16, 32, 64, 128, 256, 512, 1024, 2048};
constexpr lpt_format kSources[] = {LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_F16, LPT_FORMAT_F64};

// Parameters of a rotation without the elements.
struct RotationCase {
  lpt_format source = LPT_FORMAT_F32;
  int64_t rows = 1, columns = 1;
  int32_t size = 16;
  bool is_transposed = false;  // the rows of the source are adjacent
  bool is_in_place = false;
  bool is_inverse = false;
  bool has_signs = false, has_factors = false, has_row_factors = false;
  int64_t source_padding = 0, target_padding = 0;
  std::size_t source_shift = 0, target_shift = 0;
};

std::string text_of(const RotationCase &c) {
  return format_name(c.source) +
         text(
             " %lldx%lld size %d transposed %d in place %d inverse %d signs %d factors %d row factors %d "
             "padding %lld,%lld shift %zu,%zu",
             static_cast<long long>(c.rows), static_cast<long long>(c.columns), c.size, c.is_transposed, c.is_in_place,
             c.is_inverse, c.has_signs, c.has_factors, c.has_row_factors, static_cast<long long>(c.source_padding),
             static_cast<long long>(c.target_padding), c.source_shift, c.target_shift);
}

// Vectors of a case, with canaries.
class Vectors {
 public:
  Vectors(Random &random, int64_t rows, int64_t columns)
      : factors(LPT_FORMAT_F32, 1, columns), row_factors(LPT_FORMAT_F32, 1, rows), signs(LPT_FORMAT_F32, 1, columns) {
    factors.fill(random, Values::kOutliers);
    row_factors.fill(random, Values::kOutliers);
    for (int64_t c = 0; c < columns; ++c) signs.set(0, c, random.chance(0.5) ? 1.0f : -1.0f);
  }
  Matrix factors, row_factors, signs;
};

HadamardRequest request_of(const RotationCase &c, Matrix &source, Matrix &target, Vectors &vectors) {
  const auto floats = [](Matrix &matrix) { return reinterpret_cast<const float *>(matrix.data.data()); };
  HadamardRequest request{};
  request.source = source.view();
  request.target = target.view();
  request.size = c.size;
  request.is_inverse = c.is_inverse;
  if (c.has_factors) request.factors = floats(vectors.factors);
  if (c.has_row_factors) request.row_factors = floats(vectors.row_factors);
  if (c.has_signs) request.signs = floats(vectors.signs);
  return request;
}

// Returns the kernels that this machine supports, the reference kernel last.
std::vector<const KernelEntry<HadamardRequest> *> available_kernels() {
  std::vector<const KernelEntry<HadamardRequest> *> result;
  for (const KernelEntry<HadamardRequest> &kernel : hadamard_kernels()) {
    if (can_run(kernel)) result.push_back(&kernel);
  }
  return result;
}

const KernelEntry<HadamardRequest> &reference() { return hadamard_kernels().back(); }

// After arithmetic, NaN bits depend on the machine, and any NaN is accepted. A copy keeps its bits.
void expect_equal(const Matrix &found, const Matrix &expected, bool is_copy, const std::string &where) {
  for (int64_t row = 0; row < found.rows(); ++row) {
    for (int64_t column = 0; column < found.columns(); ++column) {
      if (!is_copy && std::isnan(found.get(row, column)) && std::isnan(expected.get(row, column))) continue;
      ASSERT_EQ(found.code(row, column), expected.code(row, column)) << where << " at " << row << ", " << column;
    }
  }
  EXPECT_TRUE(found.is_intact()) << where << ": wrote past the target";
}

// Checks that the bytes between rows are unchanged.
void expect_gaps_untouched(const Matrix &matrix, int64_t stride, const std::string &where) {
  for (int64_t row = 0; row < matrix.rows(); ++row) {
    for (int64_t at = row * stride + matrix.columns(); at < (row + 1) * stride; ++at) {
      ASSERT_EQ(matrix.data.data()[4 * at], Guarded::kFill) << where << ": wrote between rows";
    }
  }
}

// Runs one case on a kernel and on the reference kernel.
void compare(const KernelEntry<HadamardRequest> &kernel, const RotationCase &c, Values values, Random &random) {
  const std::string where = std::string(kernel.name) + ' ' + text_of(c) + ' ' + name_of(values);
  Matrix source(c.source, c.rows, c.columns, c.source_padding, c.source_shift, c.is_transposed);
  source.fill(random, values);
  Vectors vectors(random, c.rows, c.columns);
  Matrix expected(LPT_FORMAT_F32, c.rows, c.columns, c.target_padding, c.target_shift);
  const HadamardRequest request = request_of(c, source, expected, vectors);
  reference().run(request);
  if (!takes(kernel, request)) return;
  const bool is_copy = c.size == 0 && !c.has_signs && !c.has_factors && !c.has_row_factors;
  if (c.is_in_place) {
    HadamardRequest over = request;
    over.target = source.view();
    kernel.run(over);
    expect_equal(source, expected, is_copy, where);
    return;
  }
  Matrix found(LPT_FORMAT_F32, c.rows, c.columns, c.target_padding, c.target_shift);
  kernel.run(request_of(c, source, found, vectors));
  expect_equal(found, expected, is_copy, where);
  expect_gaps_untouched(found, found.view().row_stride, where);
}

TEST(HadamardKernels, EqualTheReferenceForAllSizesAndEdges) {
  Random random(1);
  for (const KernelEntry<HadamardRequest> *kernel : available_kernels()) {
    for (const int32_t size : kSizes) {
      for (const int64_t edge : kSimdEdges) {
        const int64_t columns = size > 128 ? edge + size : edge;
        for (const lpt_format source : kSources) {
          for (const int variant : {0, 1, 2, 3, 4, 5}) {
            if (!is_taken(random, size > 128 ? 30 : 6)) continue;
            RotationCase c;
            c.source = source;
            c.rows = 1 + random.below(20);
            c.columns = columns;
            c.size = size;
            c.is_transposed = variant >= 3;
            c.has_signs = variant % 3 != 0;
            c.is_inverse = variant % 3 == 2;
            ASSERT_NO_FATAL_FAILURE(compare(*kernel, c, Values::kOutliers, random));
          }
        }
      }
    }
  }
}

TEST(HadamardKernels, EqualTheReferenceForDrawnCases) {
  Random random(2);
  for (const KernelEntry<HadamardRequest> *kernel : available_kernels()) {
    for (int i = 0; i < (kIsSanitized ? 300 : 2000); ++i) {
      RotationCase c;
      c.source = random.of(kSources);
      c.rows = random.of(kFewRows);
      if (random.chance(0.3)) c.rows = random.below(130);
      c.columns = random.chance(0.7) ? random.of(kSimdEdges) : random.below(random.chance(0.2) ? 2300 : 700);
      c.size = random.of(kSizes);
      c.is_transposed = random.chance(0.4);
      c.is_in_place = !c.is_transposed && c.source == LPT_FORMAT_F32 && random.chance(0.4);
      c.is_inverse = random.chance(0.4);
      c.has_signs = random.chance(0.5);
      c.has_factors = random.chance(0.5);
      c.has_row_factors = random.chance(0.4);
      if (random.chance(0.6)) {
        c.source_padding = random.below(70);
        c.target_padding = random.below(70);
      }
      c.source_shift = static_cast<std::size_t>(c.source == LPT_FORMAT_F64 ? 0 : 4 * random.below(16));
      c.target_shift = static_cast<std::size_t>(4 * random.below(16));
      ASSERT_NO_FATAL_FAILURE(compare(*kernel, c, random.of(kAllValues), random));
    }
  }
}

TEST(HadamardKernels, RejectASourceWithoutAdjacentNumbers) {
  std::vector<float> numbers(64);
  HadamardRequest request{};
  find_format(LPT_FORMAT_F32, request.source.format);
  request.target = request.source;
  request.source.data = request.target.data = numbers.data();
  request.source.rows = request.source.columns = 4;
  request.source.row_stride = 16;
  request.source.column_stride = 2;
  request.size = 16;
  for (const KernelEntry<HadamardRequest> &kernel : hadamard_kernels()) {
    if (kernel.unsupported_reason == nullptr) continue;
    EXPECT_NE(kernel.unsupported_reason(request), nullptr) << kernel.name;
    request.source.column_stride = 1;
    EXPECT_EQ(kernel.unsupported_reason(request), nullptr) << kernel.name;
    find_format(LPT_FORMAT_F64, request.source.format);
    EXPECT_NE(kernel.unsupported_reason(request), nullptr) << kernel.name;
    find_format(LPT_FORMAT_F32, request.source.format);
    request.source.column_stride = 2;
  }
  EXPECT_EQ(reference().unsupported_reason, nullptr);
}

// Definition in double.

using Numbers = std::vector<double>;

// The group of a column: full groups, then the largest powers of two that fit.
struct Group {
  int64_t begin, size;
};

Group group_of(int32_t size, int64_t columns, int64_t column) {
  Group group{0, std::max<int64_t>(size, 1)};
  while (true) {
    while (group.size > columns - group.begin) group.size /= 2;
    if (column < group.begin + group.size) return group;
    group.begin += group.size;
  }
}

double sylvester(int64_t i, int64_t j) { return std::popcount(static_cast<uint64_t>(i & j)) % 2 == 0 ? 1.0 : -1.0; }

struct Rotated {
  double value, magnitude;  // the sum of magnitudes bounds the error
};

// Returns column `column` of a rotated row of prepared elements.
Rotated rotated_at(const Numbers &row, int32_t size, int64_t column) {
  const Group group = group_of(size, static_cast<int64_t>(row.size()), column);
  const double root = std::sqrt(static_cast<double>(group.size));
  Rotated result{0, 0};
  for (int64_t i = 0; i < group.size; ++i) {
    const double term = row[static_cast<std::size_t>(group.begin + i)] * sylvester(i, column - group.begin) / root;
    result.value += term;
    result.magnitude += std::fabs(term);
  }
  return result;
}

Numbers numbers_of(const Matrix &matrix, int64_t row) {
  Numbers result;
  for (int64_t c = 0; c < matrix.columns(); ++c) result.push_back(static_cast<double>(matrix.get(row, c)));
  return result;
}

// Eleven steps, three products and the rounding of 1 / sqrt(size), each half a unit in the last place of a magnitude.
constexpr double kRotationError = 16 * 0x1p-24;

TEST(HadamardKernels, MatchTheDefinitionInDouble) {
  Random random(3);
  for (const KernelEntry<HadamardRequest> *kernel : available_kernels()) {
    for (const int32_t size : kSizes) {
      for (const int64_t columns : {1, 6, 15, 16, 47, 100, 128, 255, 300, 1811}) {
        for (const bool is_inverse : {false, true}) {
          RotationCase c{.rows = 3, .columns = columns, .size = size, .is_inverse = is_inverse};
          c.has_signs = c.has_factors = c.has_row_factors = true;
          Matrix source(c.source, c.rows, c.columns);
          source.fill(random, Values::kNormal);
          Matrix target(LPT_FORMAT_F32, c.rows, c.columns);
          Vectors vectors(random, c.rows, c.columns);
          kernel->run(request_of(c, source, target, vectors));
          const Numbers factors = numbers_of(vectors.factors, 0);
          const Numbers signs = numbers_of(vectors.signs, 0);
          for (int64_t r = 0; r < c.rows; ++r) {
            Numbers prepared = numbers_of(source, r);
            for (std::size_t i = 0; i < prepared.size(); ++i) {
              prepared[i] *= factors[i] * static_cast<double>(vectors.row_factors.get(0, r));
              if (!is_inverse) prepared[i] *= signs[i];
            }
            for (int64_t i = 0; i < columns; ++i) {
              const Rotated expected = rotated_at(prepared, size, i);
              const double sign = is_inverse ? signs[static_cast<std::size_t>(i)] : 1.0;
              ASSERT_NEAR(static_cast<double>(target.get(r, i)), sign * expected.value,
                          kRotationError * expected.magnitude + 0x1p-140)
                  << kernel->name << ' ' << text_of(c) << " at " << r << ", " << i;
            }
          }
        }
      }
    }
  }
}

// The rows of a rotated identity are the rotation matrix.
TEST(HadamardKernels, AreOrthogonal) {
  Random random(4);
  for (const KernelEntry<HadamardRequest> *kernel : available_kernels()) {
    for (const int32_t size : {16, 32, 64, 128, 256}) {
      for (const int64_t columns : {int64_t{size}, int64_t{size} + 37}) {
        RotationCase c{.rows = columns, .columns = columns, .size = size, .has_signs = true};
        Matrix identity(LPT_FORMAT_F32, columns, columns);
        for (int64_t i = 0; i < columns * columns; ++i) identity.set(i / columns, i % columns, 0.0f);
        for (int64_t i = 0; i < columns; ++i) identity.set(i, i, 1.0f);
        Matrix h(LPT_FORMAT_F32, columns, columns);
        Vectors vectors(random, columns, columns);
        kernel->run(request_of(c, identity, h, vectors));
        for (int64_t i = 0; i < columns; ++i) {
          const Numbers a = numbers_of(h, i);
          for (int64_t j = 0; j < columns; ++j) {
            const Numbers b = numbers_of(h, j);
            double product = 0;
            for (std::size_t k = 0; k < a.size(); ++k) product += a[k] * b[k];
            ASSERT_NEAR(product, i == j ? 1.0 : 0.0, 1e-6)
                << kernel->name << ' ' << text_of(c) << " H·Hᵀ at " << i << ", " << j;
          }
        }
      }
    }
  }
}

double relative_error(const Matrix &found, const Matrix &expected) {
  double error = 0, whole = 0;
  for (int64_t r = 0; r < found.rows(); ++r) {
    for (int64_t c = 0; c < found.columns(); ++c) {
      const double difference = static_cast<double>(found.get(r, c)) - static_cast<double>(expected.get(r, c));
      error += difference * difference;
      whole += static_cast<double>(expected.get(r, c)) * static_cast<double>(expected.get(r, c));
    }
  }
  return std::sqrt(error / whole);
}

TEST(HadamardKernels, AreUndoneByTheInverse) {
  Random random(5);
  for (const KernelEntry<HadamardRequest> *kernel : available_kernels()) {
    for (const int32_t size : {16, 32, 64, 128}) {
      for (const int64_t columns : {int64_t{size}, int64_t{300}}) {
        for (const bool has_signs : {false, true}) {
          RotationCase c{.rows = 9, .columns = columns, .size = size, .has_signs = has_signs};
          Matrix source(c.source, c.rows, c.columns);
          source.fill(random, Values::kOutliers);
          Matrix there(LPT_FORMAT_F32, c.rows, c.columns);
          Matrix back(LPT_FORMAT_F32, c.rows, c.columns);
          Vectors vectors(random, c.rows, c.columns);
          kernel->run(request_of(c, source, there, vectors));
          EXPECT_GT(relative_error(there, source), 0.1) << kernel->name << ' ' << text_of(c) << " changed nothing";
          c.is_inverse = has_signs;  // without signs the rotation is involutory
          kernel->run(request_of(c, there, back, vectors));
          EXPECT_LT(relative_error(back, source), 1e-6) << kernel->name << ' ' << text_of(c);
        }
      }
    }
  }
}

// (X·H)(Hᵀ·Y) = X·Y: rotating both operands of a GEMM along k does not change the result.
TEST(HadamardKernels, LeaveGemmsAsTheyAre) {
  Random random(6);
  for (const KernelEntry<HadamardRequest> *kernel : available_kernels()) {
    for (const int32_t size : {16, 32, 64, 128}) {
      for (const int64_t k : {int64_t{256}, int64_t{203}}) {
        RotationCase c{.rows = 5, .columns = k, .size = size, .has_signs = true};
        Matrix x(LPT_FORMAT_F32, c.rows, k), y(LPT_FORMAT_F32, c.rows, k);  // y transposed
        x.fill(random, Values::kOutliers);
        y.fill(random, Values::kOutliers);
        Matrix xh(LPT_FORMAT_F32, c.rows, k), yh(LPT_FORMAT_F32, c.rows, k);
        Vectors vectors(random, c.rows, k);
        kernel->run(request_of(c, x, xh, vectors));
        kernel->run(request_of(c, y, yh, vectors));
        for (int64_t i = 0; i < c.rows; ++i) {
          for (int64_t j = 0; j < c.rows; ++j) {
            const Numbers a = numbers_of(x, i), b = numbers_of(y, j), ah = numbers_of(xh, i), bh = numbers_of(yh, j);
            double expected = 0, found = 0, a_square = 0, b_square = 0;
            for (std::size_t l = 0; l < a.size(); ++l) {
              expected += a[l] * b[l];
              found += ah[l] * bh[l];
              a_square += a[l] * a[l];
              b_square += b[l] * b[l];
            }
            // A rotation keeps norms, so that the error of either operand is proportional to its norm.
            ASSERT_NEAR(found, expected, 1e-6 * std::sqrt(a_square * b_square))
                << kernel->name << ' ' << text_of(c) << " at " << i << ", " << j;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace lpt::test
