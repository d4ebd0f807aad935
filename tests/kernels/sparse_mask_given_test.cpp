// Every kernel of operations with existing masks against the reference kernel, bit for bit: application, decay, statistics.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "kernels/sparse_mask/sparse_mask.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/kernels.hpp"
#include "tests/support/shapes.hpp"

namespace lpt::test {
namespace {

constexpr lpt_format kWide[] = {LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_F16, LPT_FORMAT_F64};

// A shape, and the layouts of three matrices.
struct Place {
  int64_t rows = 1, columns = 1;
  bool is_transposed = false;
  int64_t padding[3] = {};
  std::size_t shift[3] = {};  // bytes
};

std::string text_of(const Place &p) {
  return text(" %lldx%lld transposed %d padding %lld,%lld,%lld shift %zu,%zu,%zu ", static_cast<long long>(p.rows),
              static_cast<long long>(p.columns), p.is_transposed, static_cast<long long>(p.padding[0]),
              static_cast<long long>(p.padding[1]), static_cast<long long>(p.padding[2]), p.shift[0], p.shift[1],
              p.shift[2]);
}

// Alignment: matrices to 8-byte elements, masks to any byte.
Place draw_place(Random &random, bool may_transpose) {
  Place place;
  place.rows = random.chance(0.5) ? random.of(kFewRows) : random.below(40);
  place.columns = random.chance(0.5) ? random.of(kSimdEdges) : random.below(300);
  place.is_transposed = may_transpose && random.chance(0.4);
  if (place.is_transposed && random.chance(0.5)) std::swap(place.rows, place.columns);
  for (int64_t &padding : place.padding) padding = random.chance(0.5) ? random.below(40) : 0;
  for (const int i : {0, 2}) place.shift[i] = 8 * static_cast<std::size_t>(random.below(8));
  place.shift[1] = static_cast<std::size_t>(random.below(64));
  return place;
}

Matrix make(lpt_format format, const Place &place, int index) {
  return Matrix(format, place.rows, place.columns, place.padding[index], place.shift[index], place.is_transposed);
}

// Any nonzero byte keeps an element.
void fill_mask(Matrix &mask, Random &random) {
  for (int64_t row = 0; row < mask.rows(); ++row) {
    for (int64_t column = 0; column < mask.columns(); ++column) {
      const int64_t number = random.below(8);
      mask.set_code(row, column, number < 4 ? 0 : number < 6 ? 1 : static_cast<uint32_t>(random.below(256)));
    }
  }
}

// Copies all bytes, including canaries.
void copy_bytes(const Matrix &from, Matrix &to) {
  if (from.data.bytes() > 0) std::memcpy(to.data.data(), from.data.data(), from.data.bytes());
}

// Fills wide formats with random codes, so that every kind of NaN occurs.
void fill(Matrix &matrix, Random &random, Values values) {
  if (values != Values::kBits || matrix.format().element == LPT_FORMAT_F64) return matrix.fill(random, values);
  for (int64_t row = 0; row < matrix.rows(); ++row) {
    for (int64_t column = 0; column < matrix.columns(); ++column) {
      matrix.set_code(row, column,
                      static_cast<uint32_t>(random.bits()) >> (32 - element_bits(matrix.format().element)));
    }
  }
}

// Memory that ends at an inaccessible page.
class EndOfPage {
 public:
  explicit EndOfPage(std::size_t bytes) : bytes_(bytes) {
    pages_ = mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(MAP_FAILED, pages_);
    EXPECT_EQ(0, mprotect(static_cast<std::byte *>(pages_) + kPage, kPage, PROT_NONE));
  }
  ~EndOfPage() { munmap(pages_, 2 * kPage); }
  EndOfPage(const EndOfPage &) = delete;
  EndOfPage &operator=(const EndOfPage &) = delete;

  MatrixView view(lpt_format format, int64_t rows, int64_t columns) const {
    MatrixView result;
    find_format(format, result.format);
    result.data = static_cast<std::byte *>(pages_) + kPage - bytes_;
    result.rows = rows;
    result.columns = result.row_stride = columns;
    return result;
  }

 private:
  static constexpr std::size_t kPage = 65536;
  std::size_t bytes_;
  void *pages_;
};

// A mask, a matrix and an f32 matrix that end with their memory.
struct LastMatrices {
  int64_t rows, columns;
  lpt_format format;
  EndOfPage numbers, bytes, floats;

  LastMatrices(lpt_format numbers_format, int64_t row_count, int64_t column_count)
      : rows(row_count),
        columns(column_count),
        format(numbers_format),
        numbers(static_cast<std::size_t>(rows * columns * element_bits(format) / 8)),
        bytes(static_cast<std::size_t>(rows * columns)),
        floats(static_cast<std::size_t>(rows * columns) * sizeof(float)) {}

  MatrixView source() const { return numbers.view(format, rows, columns); }
  MatrixView mask() const { return bytes.view(LPT_FORMAT_UINT8, rows, columns); }
  MatrixView gradient() const { return floats.view(LPT_FORMAT_F32, rows, columns); }
};

// Runs `body` for shapes around vector widths.
template <typename Body>
void for_last_matrices(const Body &body) {
  for (const lpt_format format : {LPT_FORMAT_F32, LPT_FORMAT_BF16}) {
    for (const int64_t rows : {1, 3, 17}) {
      for (const int64_t columns : kSimdEdges) body(LastMatrices(format, rows, columns));
    }
  }
}

MatrixView transposed_copy(MatrixView view) {
  std::swap(view.rows, view.columns);
  std::swap(view.row_stride, view.column_stride);
  return view;
}

// Application.

class MaskApplyKernels : public KernelTest<MaskApplyRequest> {};

TEST_P(MaskApplyKernels, EqualTheReferenceForDrawnCases) {
  Random random(31);
  int64_t taken = 0;
  for (int i = 0; i < 3000; ++i) {
    const Place place = draw_place(random, false);
    const lpt_format format = random.of(kWide);
    const lpt_format target = random.chance(0.1) ? lpt_format{LPT_FORMAT_F32} : format;
    const bool is_in_place = target == format && random.chance(0.3);
    const Values values = random.of(kAllValues);
    Matrix source = make(format, place, 0), mask = make(LPT_FORMAT_UINT8, place, 1);
    Matrix expected = make(target, place, 2), found = make(target, place, 2);
    MaskApplyRequest request{source.view(), mask.view(), expected.view(), random.chance(0.5)};
    if (!takes(request)) continue;
    ++taken;
    const std::string where = GetParam()->name + text_of(place) + format_name(format) + ' ' + name_of(values) +
                              text(" in place %d streamed %d", is_in_place, request.is_streamed);
    fill(source, random, values);
    fill_mask(mask, random);
    reference_of(mask_apply_kernels()).run(request);
    request.target = found.view();
    if (is_in_place) request.target = source.view();
    GetParam()->run(request);
    Matrix &written = is_in_place ? source : found;
    for (int64_t row = 0; row < place.rows; ++row) {
      for (int64_t column = 0; column < place.columns; ++column) {
        ASSERT_EQ(expected.code(row, column), written.code(row, column)) << where << " at " << row << ", " << column;
      }
    }
    ASSERT_TRUE(is_in_place || found.equals(expected)) << where;  // includes the bytes between rows
    ASSERT_TRUE(found.is_intact() && source.is_intact() && mask.is_intact()) << where;
  }
  EXPECT_GT(taken, 1500);
}

TEST_P(MaskApplyKernels, ReadAndWriteNothingPastTheEnd) {
  for_last_matrices([](const LastMatrices &m) {
    GetParam()->run({m.source(), m.mask(), m.source(), false});
    const LastMatrices other(m.format, m.rows, m.columns);
    GetParam()->run({m.source(), m.mask(), other.source(), true});
  });
}

TEST(MaskApplyTable, RejectsWhatTheFastRowsCannotDo) {
  Matrix source(LPT_FORMAT_BF16, 4, 8), mask(LPT_FORMAT_UINT8, 4, 8), target(LPT_FORMAT_F32, 4, 8);
  Matrix transposed_copy(LPT_FORMAT_BF16, 4, 8, 0, 0, true), wide(LPT_FORMAT_F64, 4, 8);
  Matrix transposed_mask(LPT_FORMAT_UINT8, 4, 8, 0, 0, true);
  const MaskApplyRequest rejected[] = {{source.view(), mask.view(), target.view()},
                                       {wide.view(), mask.view(), wide.view()},
                                       {transposed_copy.view(), mask.view(), source.view()},
                                       {source.view(), transposed_mask.view(), source.view()},
                                       {source.view(), mask.view(), transposed_copy.view()}};
  for (const auto *row : fast_kernels(mask_apply_kernels())) {
    for (const MaskApplyRequest &request : rejected) EXPECT_FALSE(takes(*row, request)) << row->name;
    EXPECT_TRUE(takes(*row, MaskApplyRequest{source.view(), mask.view(), source.view()})) << row->name;
  }
}

INSTANTIATE_TEST_SUITE_P(All, MaskApplyKernels, testing::ValuesIn(fast_kernels(mask_apply_kernels())),
                         kernel_name<MaskApplyRequest>);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(MaskApplyKernels);

// Decay.

class MaskDecayKernels : public KernelTest<MaskDecayRequest> {};

TEST_P(MaskDecayKernels, EqualTheReferenceForDrawnCases) {
  Random random(32);
  int64_t taken = 0;
  for (int i = 0; i < 3000; ++i) {
    const Place place = draw_place(random, false);
    const lpt_format format = random.of(kWide);
    const Values values = random.of(kAllValues), gradients = random.of(kFiniteValues);
    Matrix weight = make(format, place, 0), mask = make(LPT_FORMAT_UINT8, place, 1);
    Matrix expected = make(LPT_FORMAT_F32, place, 2), found = make(LPT_FORMAT_F32, place, 2);
    MaskDecayRequest request{weight.view(), mask.view(), expected.view(), 0.0f};
    request.rate = random.chance(0.1) ? 0.0f : static_cast<float>(random.chance(0.5) ? 2e-4 : random.normal());
    if (!takes(request)) continue;
    ++taken;
    const std::string where = GetParam()->name + text_of(place) + format_name(format) + ' ' + name_of(values);
    fill(weight, random, values);
    fill_mask(mask, random);
    expected.fill(random, random.chance(0.2) ? Values::kSubnormals : gradients);
    copy_bytes(expected, found);
    reference_of(mask_decay_kernels()).run(request);
    request.gradient = found.view();
    GetParam()->run(request);
    ASSERT_TRUE(found.equals(expected)) << where;
    ASSERT_TRUE(found.is_intact() && weight.is_intact() && mask.is_intact()) << where;
  }
  EXPECT_GT(taken, 1000);
}

// Kept elements are not written: even a signaling NaN is unchanged.
TEST_P(MaskDecayKernels, LeaveWhatTheMaskKeeps) {
  for (const int64_t columns : kSimdEdges) {
    Matrix weight(LPT_FORMAT_F32, 1, columns), mask(LPT_FORMAT_UINT8, 1, columns), gradient(LPT_FORMAT_F32, 1, columns);
    for (int64_t i = 0; i < columns; ++i) {
      weight.set(0, i, 1.0f);
      mask.set_code(0, i, i % 3 == 0 ? 0 : 0x80);
      gradient.set_code(0, i, i % 3 == 0 ? 0x40000000u : 0x7F800001u + static_cast<uint32_t>(i));
    }
    GetParam()->run({weight.view(), mask.view(), gradient.view(), 0.5f});
    for (int64_t i = 0; i < columns; ++i) {
      ASSERT_EQ(i % 3 == 0 ? 0x40200000u : 0x7F800001u + static_cast<uint32_t>(i), gradient.code(0, i)) << i;
    }
  }
}

TEST_P(MaskDecayKernels, ReadAndWriteNothingPastTheEnd) {
  for_last_matrices([](const LastMatrices &m) { GetParam()->run({m.source(), m.mask(), m.gradient(), 0.5f}); });
}

TEST(MaskDecayTable, RejectsWhatTheFastRowsCannotDo) {
  Matrix weight(LPT_FORMAT_BF16, 4, 8), mask(LPT_FORMAT_UINT8, 4, 8), gradient(LPT_FORMAT_F32, 4, 8);
  Matrix transposed_copy(LPT_FORMAT_BF16, 4, 8, 0, 0, true), half(LPT_FORMAT_F16, 4, 8);
  Matrix transposed_mask(LPT_FORMAT_UINT8, 4, 8, 0, 0, true), transposed_gradient(LPT_FORMAT_F32, 4, 8, 0, 0, true);
  const MaskDecayRequest rejected[] = {{half.view(), mask.view(), gradient.view(), 1},
                                       {transposed_copy.view(), mask.view(), gradient.view(), 1},
                                       {weight.view(), transposed_mask.view(), gradient.view(), 1},
                                       {weight.view(), mask.view(), transposed_gradient.view(), 1}};
  for (const auto *row : fast_kernels(mask_decay_kernels())) {
    for (const MaskDecayRequest &request : rejected) EXPECT_FALSE(takes(*row, request)) << row->name;
    EXPECT_TRUE(takes(*row, MaskDecayRequest{weight.view(), mask.view(), gradient.view(), 1})) << row->name;
  }
}

INSTANTIATE_TEST_SUITE_P(All, MaskDecayKernels, testing::ValuesIn(fast_kernels(mask_decay_kernels())),
                         kernel_name<MaskDecayRequest>);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(MaskDecayKernels);

// Statistics.

class SparseMeasureKernels : public KernelTest<SparseMeasureRequest> {};

void expect_same(const SparseSums &expected, const SparseSums &found, const std::string &where) {
  EXPECT_EQ(expected.kept, found.kept) << where;
  EXPECT_EQ(expected.special_groups, found.special_groups) << where;
  EXPECT_EQ(expected.energy, found.energy) << where;
  EXPECT_EQ(expected.kept_energy, found.kept_energy) << where;
  EXPECT_EQ(expected.variance, found.variance) << where;
}

TEST_P(SparseMeasureKernels, EqualTheReferenceForDrawnCases) {
  Random random(33);
  int64_t taken = 0;
  for (int i = 0; i < 3000; ++i) {
    const Place place = draw_place(random, true);
    const lpt_format format = random.of(kWide);
    const Values values = random.of(kAllValues);
    Matrix source = make(format, place, 0), mask = make(LPT_FORMAT_UINT8, place, 1);
    std::vector<SparseSums> expected(static_cast<std::size_t>(place.rows) + 1), found(expected.size());
    for (std::vector<SparseSums> *sums : {&expected, &found}) sums->back() = {1, 2, 3.0, 4.0, 5.0};
    SparseMeasureRequest request{source.view(), mask.view(), 2, 2, 0, expected.data()};
    request.of = static_cast<int32_t>(random.chance(0.5) ? 4 : 2 + random.below(31));
    request.rule = random.chance(0.7) ? LPT_SPARSE_RULE_MAGNITUDE : static_cast<lpt_sparse_rule>(random.below(4));
    if (!takes(request)) continue;
    ++taken;
    fill(source, random, values);
    fill_mask(mask, random);
    reference_of(sparse_measure_kernels()).run(request);
    request.sums = found.data();
    GetParam()->run(request);
    for (std::size_t row = 0; row < expected.size(); ++row) {
      expect_same(expected[row], found[row],
                  GetParam()->name + text_of(place) + format_name(format) + ' ' + name_of(values) +
                      text(" of %d rule %d row %zu", request.of, request.rule, row));
    }
    ASSERT_FALSE(HasFailure());
  }
  EXPECT_GT(taken, 1000);
}

// Sums that depend on the order: thousands of alternating large and small values; and more rows than the kernel interleaves.
TEST_P(SparseMeasureKernels, AddUpInTheOrderOfTheRow) {
  Random random(34);
  for (const bool is_transposed : {false, true}) {
    for (const auto &[rows, columns] : {std::pair<int64_t, int64_t>{19, 4099}, {1100, 37}}) {
      Matrix source(LPT_FORMAT_F32, rows, columns, 3, 0, is_transposed);
      Matrix mask(LPT_FORMAT_UINT8, rows, columns, 5, 0, is_transposed);
      source.fill(random, Values::kOutliers);
      fill_mask(mask, random);
      std::vector<SparseSums> expected(static_cast<std::size_t>(rows)), found(expected.size());
      SparseMeasureRequest request{source.view(), mask.view(), 4, 8, LPT_SPARSE_RULE_MAGNITUDE, expected.data()};
      reference_of(sparse_measure_kernels()).run(request);
      request.sums = found.data();
      GetParam()->run(request);
      for (std::size_t row = 0; row < expected.size(); ++row) {
        expect_same(expected[row], found[row], text("transposed %d row %zu", is_transposed, row));
      }
    }
  }
}

TEST_P(SparseMeasureKernels, ReadNothingPastTheEnd) {
  for_last_matrices([](const LastMatrices &m) {
    std::vector<SparseSums> sums(static_cast<std::size_t>(std::max(m.rows, m.columns)));
    SparseMeasureRequest request{m.source(), m.mask(), 2, 4, LPT_SPARSE_RULE_MAGNITUDE, sums.data()};
    GetParam()->run(request);
    request.source = transposed_copy(request.source);
    request.mask = transposed_copy(request.mask);
    GetParam()->run(request);
  });
}

TEST(SparseMeasureTable, RejectsWhatTheFastRowsCannotDo) {
  Matrix source(LPT_FORMAT_BF16, 4, 8), mask(LPT_FORMAT_UINT8, 4, 8),
      transposed_mask(LPT_FORMAT_UINT8, 4, 8, 0, 0, true);
  Matrix half(LPT_FORMAT_F16, 4, 8), transposed_copy(LPT_FORMAT_BF16, 4, 8, 0, 0, true);
  SparseSums sums[4];
  const SparseMeasureRequest good{source.view(), mask.view(), 2, 4, LPT_SPARSE_RULE_MAGNITUDE, sums};
  const auto takers = [](const SparseMeasureRequest &request) {
    int count = 0;
    for (const auto *row : fast_kernels(sparse_measure_kernels())) count += takes(*row, request);
    return count;
  };
  EXPECT_EQ(static_cast<int>(sparse_measure_kernels().size()) - 1, takers(good));
  SparseMeasureRequest bad = good;
  bad.rule = LPT_SPARSE_RULE_MVUE;
  EXPECT_EQ(0, takers(bad));
  bad.rule = LPT_SPARSE_RULE_MVUE_TWO_DRAWS;
  EXPECT_EQ(0, takers(bad));
  bad = good;
  bad.source = half.view();
  EXPECT_EQ(0, takers(bad));
  bad = good;
  bad.mask = transposed_mask.view();
  EXPECT_EQ(0, takers(bad));
  bad.source = transposed_copy.view();
  EXPECT_EQ(static_cast<int>(sparse_measure_kernels().size()) - 1, takers(bad));
  bad.source.row_stride = 2;
  EXPECT_EQ(0, takers(bad));
}

INSTANTIATE_TEST_SUITE_P(All, SparseMeasureKernels, testing::ValuesIn(fast_kernels(sparse_measure_kernels())),
                         kernel_name<SparseMeasureRequest>);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(SparseMeasureKernels);

}  // namespace
}  // namespace lpt::test
