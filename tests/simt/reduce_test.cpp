// The CUDA reduction on the CPU against the reference kernel.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernels/reduce/cuda_columns.hpp"
#include "kernels/reduce/cuda_kernels.hpp"
#include "src/base/status.hpp"
#include "tests/simt/device_kernels.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/kernels.hpp"
#include "tests/support/sanitized.hpp"

namespace lpt::test {
namespace {

constexpr lpt_format kFormats[] = {LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_F16};
constexpr Reduction kReductions[] = {Reduction::kSum, Reduction::kAverage, Reduction::kMaximum, Reduction::kMinimum};
constexpr int64_t kElements[] = {0, 1, 15, 16, 17, 100, 4096, 4500};

struct ReduceCase {
  lpt_format format, target_format;
  Reduction reduction;
  int32_t sources, targets;
  int64_t elements;
};

// Arrays of one format, each aligned or shifted.
class Arrays {
 public:
  Arrays(lpt_format format, int32_t count, int64_t elements, std::size_t shift) {
    for (int32_t i = 0; i < count; ++i) {
      arrays_.push_back(std::make_unique<Matrix>(format, 1, elements, 0, shift));
      addresses.push_back(arrays_.back()->data.data());
    }
  }
  void fill(Random &random, Values values) {
    for (const auto &array : arrays_) array->fill(random, values);
  }
  bool equals(const Arrays &other) const {
    for (std::size_t i = 0; i < arrays_.size(); ++i) {
      if (!arrays_[i]->equals(*other.arrays_[i]) || !arrays_[i]->is_intact()) return false;
    }
    return true;
  }

  std::vector<void *> addresses;

 private:
  std::vector<std::unique_ptr<Matrix>> arrays_;
};

void check(const ReduceCase &c, Values values, Random &random) {
  const std::size_t shift = random.chance(0.5) ? 0 : 4;
  Arrays sources(c.format, c.sources, c.elements, shift);
  Arrays found(c.target_format, c.targets, c.elements, shift), oracle(c.target_format, c.targets, c.elements, shift);
  sources.fill(random, values);
  ReduceRequest request = {};
  request.format = c.format;
  request.target_format = c.target_format;
  request.reduction = c.reduction;
  request.source_count = c.sources;
  request.target_count = c.targets;
  request.factor = random.chance(0.5) ? 1.0 : 0.37;
  request.elements = c.elements;
  request.sources = sources.addresses.data();
  request.targets = found.addresses.data();
  ASSERT_EQ(reduce_device_kernels().front().unsupported_reason(request), nullptr);
  take_next_order();
  reduce_device_kernels().front().queue(request, nullptr);
  request.targets = oracle.addresses.data();
  reference_of(reduce_kernels()).run(request);
  EXPECT_TRUE(found.equals(oracle)) << text("%lld to %lld, reduction %d, %d sources, %lld elements, %s",
                                            static_cast<long long>(c.format), static_cast<long long>(c.target_format),
                                            static_cast<int>(c.reduction), c.sources,
                                            static_cast<long long>(c.elements), name_of(values));
}

TEST(SimtReduce, EqualsTheReference) {
  Random random(71);
  for (const lpt_format format : kFormats) {
    for (const lpt_format target : kFormats) {
      for (const Reduction reduction : kReductions) {
        for (const Values values : kAllValues) {
          if (!is_taken(random, 8)) continue;
          const auto sources = static_cast<int32_t>(1 + random.below(5));
          const auto targets = static_cast<int32_t>(1 + random.below(2));
          check({format, target, reduction, sources, targets, random.of(kElements)}, values, random);
        }
      }
    }
  }
  check({LPT_FORMAT_BF16, LPT_FORMAT_BF16, Reduction::kSum, 32, 32, 100}, Values::kNormal, random);
}

// Computes factor · source row by row with the CPU kernel that defines the bits.
void scale_by_reference(const MatrixView &source, const MatrixView &target, double factor) {
  const auto place = [](const MatrixView &view, int64_t row) {
    return static_cast<uint8_t *>(view.data) + row * view.row_stride * element_bits(view.format.element) / 8;
  };
  for (int64_t row = 0; row < source.rows; ++row) {
    const void *const from = place(source, row);
    void *const to = place(target, row);
    reference_of(reduce_kernels())
        .run({source.format.id, target.format.id, Reduction::kSum, 1, 1, factor, source.columns, &from, &to, false});
  }
}

// Shared columns are packed into contiguous memory in a format for the transfer, and unpacked.
TEST(SimtColumns, ArePackedAndPutBackWithTheBitsOfTheReference) {
  constexpr int64_t kShared[] = {1, 15, 16, 40, 128, 513};
  Random random(72);
  for (int i = 0; i < (kIsSanitized ? 12 : 54); ++i) {
    const lpt_format format = kFormats[i % 3], wire = kFormats[i / 3 % 3];
    const int64_t rows = 1 + random.below(9), columns = random.of(kShared), others = random.below(40);
    const double factor = random.chance(0.5) ? 1.0 : 0.3;
    Matrix whole(format, rows, columns + others, 0, random.chance(0.5) ? 0 : 4);
    Matrix packed(wire, rows, columns, 0, random.chance(0.5) ? 0 : 4), oracle(wire, rows, columns);
    whole.fill(random, kAllValues[static_cast<std::size_t>(i) % std::size(kAllValues)]);
    Matrix back(format, rows, columns + others), expected_back(format, rows, columns + others);
    for (Matrix *matrix : {&back, &expected_back})
      std::memcpy(matrix->data.data(), whole.data.data(), whole.data.bytes());
    const auto shared_of = [columns](Matrix &matrix) {
      MatrixView view = matrix.view();
      view.columns = columns;
      return view;
    };
    const auto &row = columns_device_kernels().front();
    ASSERT_EQ(row.unsupported_reason({shared_of(whole), packed.view(), factor}), nullptr);
    take_next_order();
    row.queue({shared_of(whole), packed.view(), factor}, nullptr);
    scale_by_reference(shared_of(whole), oracle.view(), factor);
    EXPECT_TRUE(packed.equals(oracle) && packed.is_intact()) << i << ": packed";
    row.queue({packed.view(), shared_of(back), 2.0}, nullptr);
    scale_by_reference(oracle.view(), shared_of(expected_back), 2.0);
    EXPECT_TRUE(back.equals(expected_back) && back.is_intact()) << i << ": put back";
    row.queue({shared_of(back), shared_of(back), 0.7}, nullptr);
    scale_by_reference(shared_of(expected_back), shared_of(expected_back), 0.7);
    EXPECT_TRUE(back.equals(expected_back)) << i << ": in place";
  }
}

TEST(SimtColumns, WhatTheRowDoesNotTakeIsRejected) {
  Matrix matrix(LPT_FORMAT_F32, 2, 8), wide(LPT_FORMAT_F64, 2, 8);
  MatrixView transposed_copy = matrix.view();
  transposed_copy.column_stride = 2;
  const auto &row = columns_device_kernels().front();
  EXPECT_STREQ(row.unsupported_reason({wide.view(), matrix.view(), 1.0}), "takes f32, bf16 and f16 only");
  EXPECT_STREQ(row.unsupported_reason({matrix.view(), transposed_copy, 1.0}), "takes adjacent columns only");
}

TEST(SimtReduce, WhatTheRowDoesNotTakeIsRejected) {
  ReduceRequest request = {};
  request.format = request.target_format = LPT_FORMAT_F64;
  EXPECT_STREQ(reduce_device_kernels().front().unsupported_reason(request), "takes f32, bf16 and f16 only");
  request.format = request.target_format = LPT_FORMAT_F32;
  request.source_count = 33;
  EXPECT_STREQ(reduce_device_kernels().front().unsupported_reason(request), "takes 32 sources and targets at most");
}

}  // namespace
}  // namespace lpt::test
