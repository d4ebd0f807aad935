// Every kernel that transposes codes against the definition: code (c, r) of the target is code (r, c) of the source. The test
// reads codes bit by bit with a separate reader.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/kernels/quantize_case.hpp"
#include "tests/support/sanitized.hpp"

namespace lpt::test {
namespace {

// Sizes around the widths of vectors and bytes; 300 exceeds one step of the SIMD kernel.
constexpr int64_t kExtents[] = {0, 1, 7, 63, 64, 65, 127, 129, 300};

// Returns all presets with codes, elements of 3, 5 and 7 bits, and square blocks. Other blocks are not supported.
std::vector<lpt_format> formats() {
  std::vector<lpt_format> result;
  for (int64_t i = 0; i < format_count(); ++i) {
    const lpt_format id = format_at(i);
    Format format;
    if (!check_holds_numbers(id, "").is_ok() || !find_format(id, format) || format.has_zero_point()) continue;
    if (!format.has_block_scale() || format.block_rows == format.block_columns) result.push_back(id);
  }
  for (const char *name : {"e1m1b1-finite", "e2m2b1-nan", "e3m3b4-fnuz", "int8/1x1/f32", "e4m3fn/4x4/e8m0fnu/f32",
                           "e2m1fn/16x16/e4m3fn", "e3m2fn/32x32/e8m0fnu", "int2/2x2/f32", "ternary/64x64/f32"}) {
    result.push_back(named(name));
  }
  return result;
}

bool is_ternary(const Matrix &matrix) { return matrix.format().element == LPT_FORMAT_TERNARY; }
int64_t bits_of(const Matrix &matrix) { return element_bits(matrix.format().element); }

int64_t bytes_for(const Matrix &matrix, int64_t columns) {
  return is_ternary(matrix) ? (columns + 4) / 5 : (columns * bits_of(matrix) + 7) / 8;
}

// Reads a code of any width.
uint64_t wide_code(const Matrix &matrix, int64_t row, int64_t column) {
  if (bits_of(matrix) < 8) return matrix.code(row, column);
  const auto bytes = static_cast<std::size_t>(bits_of(matrix) / 8);
  uint64_t code = 0;
  std::memcpy(&code, matrix.data.data() + static_cast<std::size_t>(matrix.index(row, column)) * bytes, bytes);
  return code;
}

// Fills codes, scales and gaps. Five ternary digits form a byte of at most 242.
void scramble(Matrix &matrix, Random &random) {
  const int64_t bound = is_ternary(matrix) ? 243 : 256;
  for (Guarded *memory : {&matrix.data, &matrix.scales}) {
    for (std::size_t i = 0; i < memory->bytes(); ++i) {
      memory->data()[i] = static_cast<uint8_t>(random.below(memory == &matrix.data ? bound : 256));
    }
  }
}

void expect_transposed_codes(const Matrix &source, const Matrix &target) {
  for (int64_t row = 0; row < source.rows(); ++row) {
    for (int64_t column = 0; column < source.columns(); ++column) {
      ASSERT_EQ(wide_code(target, column, row), wide_code(source, row, column)) << "code " << row << ", " << column;
    }
  }
  for (int64_t row = 0; row < source.grid().rows && source.format().has_block_scale(); ++row) {
    for (int64_t column = 0; column < source.grid().columns; ++column) {
      ASSERT_EQ(target.scale_code(column, row), source.scale_code(row, column)) << "scale " << row << ", " << column;
    }
  }
}

// Checks that the unused bits of the last byte of a row are zero, and that the bytes between rows are unchanged.
void expect_clean_ends(const Matrix &target) {
  static constexpr int kPowersOfThree[] = {243, 3, 9, 27, 81};
  const int64_t used = bytes_for(target, target.columns());
  const int64_t whole = bytes_for(target, target.index(1, 0));
  const int64_t last_bits = target.columns() * bits_of(target) % 8;
  const int bound = is_ternary(target) ? kPowersOfThree[target.columns() % 5] : 1 << (last_bits == 0 ? 8 : last_bits);
  for (int64_t row = 0; row < target.rows(); ++row) {
    const uint8_t *bytes = target.data.data() + row * whole;
    if (used > 0) {
      ASSERT_LT(bytes[used - 1], bound) << "the last byte of row " << row;
    }
    for (int64_t i = used; i < whole; ++i) ASSERT_EQ(bytes[i], Guarded::kFill) << "a gap of row " << row;
  }
  if (!target.format().has_block_scale()) return;
  const int64_t scale_bytes = element_bits(target.format().block_scale) / 8;
  for (int64_t row = 0; row < target.grid().rows; ++row) {
    const uint8_t *gap = target.scales.data() + (row * target.scale_stride() + target.grid().columns) * scale_bytes;
    for (int64_t i = 0; i < scale_bytes; ++i) ASSERT_EQ(gap[i], Guarded::kFill) << "a gap of scales, row " << row;
  }
}

class TransposeKernel : public KernelTest<TransposeRequest> {
 protected:
  void judge(Matrix &source, Matrix &target, bool is_streamed) {
    SCOPED_TRACE(format_name(source.format().id) +
                 text(" %lldx%lld", static_cast<long long>(source.rows()), static_cast<long long>(source.columns())));
    const Guarded before = source.data;
    GetParam()->run({source.view(), target.view(), is_streamed});
    EXPECT_TRUE(source.data.equals(before)) << "the source has changed";
    EXPECT_TRUE(source.is_intact() && target.is_intact()) << "wrote past the end";
    expect_transposed_codes(source, target);
    expect_clean_ends(target);
  }
};

TEST_P(TransposeKernel, PutsEveryCodeWhereItsTransposeHasIt) {
  Random random(110);
  int taken = 0;
  for (const lpt_format format : formats()) {
    for (const int64_t rows : kExtents) {
      for (const int64_t columns : kExtents) {
        if (!is_taken(random, 4)) continue;
        // Codes of full bytes may begin at any aligned address of their type.
        const auto shift = static_cast<std::size_t>(8 * random.below(8));
        Matrix source(format, rows, columns, random.below(2) * random.below(70), shift);
        Matrix target(format, columns, rows, random.below(2) * random.below(70), shift);
        const bool is_streamed = random.chance(0.5);
        if (!takes({source.view(), target.view(), is_streamed})) continue;
        ++taken;
        scramble(source, random);
        judge(source, target, is_streamed);
        if (HasFailure()) return;
      }
    }
  }
  EXPECT_GT(taken, kIsSanitized ? 81 : 81 * 6) << "the row rejects nearly everything";
}

// Streaming stores write full cache lines, if a row begins at one.
TEST_P(TransposeKernel, WritesPastTheCaches) {
  Random random(111);
  for (const lpt_format format : {LPT_FORMAT_E4M3FN, LPT_FORMAT_E2M1FN}) {
    for (const std::size_t shift : {0u, 1u}) {
      for (const int64_t stride : {384, 386}) {
        Matrix source(format, 300, 300, 20);
        Matrix target(format, 300, 300, stride - 300, shift);
        if (!takes({source.view(), target.view(), true})) continue;
        scramble(source, random);
        judge(source, target, true);
      }
    }
  }
}

// An operation passes the tiles of a matrix to a kernel one at a time.
TEST_P(TransposeKernel, TransposesATileAndLeavesTheOthers) {
  Random random(112);
  for (const lpt_format format : formats()) {
    Matrix source(format, 150, 700), target(format, 700, 150, 9);
    const TransposeRequest whole = {source.view(), target.view(), false};
    if (source.format().has_block_scale() || !takes(whole)) continue;
    scramble(source, random);
    for (int64_t row = 0; row < 150; row += 40) {
      for (int64_t column = 0; column < 700; column += 240) {
        TransposeRequest tile = whole;
        tile.source.rows = tile.target.columns = std::min<int64_t>(40, 150 - row);
        tile.source.columns = tile.target.rows = std::min<int64_t>(240, 700 - column);
        tile.source.data = source.data.data() + bytes_for(source, source.index(row, column));
        tile.target.data = target.data.data() + bytes_for(target, target.index(column, row));
        GetParam()->run(tile);
      }
    }
    SCOPED_TRACE(format_name(format));
    expect_transposed_codes(source, target);
    expect_clean_ends(target);
    EXPECT_TRUE(target.is_intact());
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, TransposeKernel, testing::ValuesIn(all_kernels(transpose_kernels())),
                         kernel_name<TransposeRequest>);

}  // namespace
}  // namespace lpt::test
