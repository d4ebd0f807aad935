// Masks and 2:4 matrices on a GPU have the bits of the CPU; other tests check the CPU.
#include "tests/device/support.hpp"
#include "tests/support/sanitized.hpp"

namespace lpt::test {
namespace {

constexpr lpt_format kDenseFormats[] = {LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_F16};
constexpr int64_t kDenseRows = 13, kDenseColumns = 83;  // the last group is short

lpt_sparse_options options_of(lpt_sparse_rule rule, int32_t kept, int32_t of) {
  lpt_sparse_options options = LPT_SPARSE_OPTIONS_INIT;
  options.rule = rule;
  options.kept = kept;
  options.of = of;
  options.random.seed = 11;
  options.random.step = 4;
  return options;
}

class DeviceSparse : public Devices {
 protected:
  Tensor numbers(lpt_format format, int64_t rows, int64_t columns, uint64_t place) {
    return tensor_of(cpu(), format, rows, columns, draw_normal(place, rows * columns, 3.0));
  }

  // Returns a 2:4 mask on the CPU.
  Tensor mask_of(const lpt_tensor *source, lpt_sparse_direction direction = LPT_SPARSE_DIRECTION_ROW) {
    lpt_sparse_options options = options_of(LPT_SPARSE_RULE_MAGNITUDE, 2, 4);
    options.direction = direction;
    const Shape shape = shape_of(cpu(), source);
    Tensor mask = make_tensor(cpu(), LPT_FORMAT_UINT8, shape.rows, shape.columns);
    EXPECT_TRUE(ok(cpu(), lpt_sparse_mask_select(cpu(), source, &options, mask.get(), nullptr, nullptr)));
    return mask;
  }

  // Compares mask and masked elements of one source on both devices. `options` refers to vectors of the context in use.
  void expect_equal(const lpt_tensor *source, const lpt_sparse_options &options, lpt_format masked,
                    const lpt_tensor *importance = nullptr) {
    lpt_sparse_options here = options, away = options;
    const Tensor moved = importance == nullptr ? Tensor() : there(importance);
    here.importance = importance;
    away.importance = moved.get();
    const Shape shape = shape_of(cpu(), source);
    const auto make = [&](lpt_context *context, lpt_format format) {
      return make_tensor(context, format, shape.rows, shape.columns);
    };
    const Tensor mask = make(cpu(), LPT_FORMAT_UINT8), numbers = make(cpu(), masked);
    const Tensor found_mask = make(gpu(), LPT_FORMAT_UINT8), found = make(gpu(), masked);
    ASSERT_TRUE(ok(cpu(), lpt_sparse_mask_select(cpu(), source, &here, mask.get(), numbers.get(), nullptr)));
    ASSERT_TRUE(
        ok(gpu(), lpt_sparse_mask_select(gpu(), there(source).get(), &away, found_mask.get(), found.get(), nullptr)));
    EXPECT_EQ(bytes_of(cpu(), mask.get()), bytes_on_device(found_mask.get())) << "rule " << options.rule;
    EXPECT_EQ(bytes_of(cpu(), numbers.get()), bytes_on_device(found.get())) << "rule " << options.rule;
  }
};

TEST_F(DeviceSparse, MasksHaveTheBitsOfTheCpu) {
  for (const lpt_format format : kDenseFormats) {
    const Tensor source = numbers(format, kDenseRows, kDenseColumns, static_cast<uint64_t>(format));
    for (const int32_t of : {4, 8}) {
      for (const lpt_sparse_rule rule : {LPT_SPARSE_RULE_MAGNITUDE, LPT_SPARSE_RULE_SOFT_THRESHOLD}) {
        expect_equal(source.get(), options_of(rule, of / 2, of), format);
        expect_equal(source.get(), options_of(rule, 1, of), LPT_FORMAT_F32);
      }
    }
  }
}

TEST_F(DeviceSparse, MasksDrawTheSameBits) {
  for (const lpt_format format : kDenseFormats) {
    const Tensor source = numbers(format, kDenseRows, kDenseColumns, 20 + static_cast<uint64_t>(format));
    for (const lpt_sparse_rule rule : {LPT_SPARSE_RULE_MVUE, LPT_SPARSE_RULE_MVUE_TWO_DRAWS}) {
      for (const int32_t of : {4, 8}) {
        lpt_sparse_options options = options_of(rule, 2, of);
        expect_equal(source.get(), options, format);
        options.random.row_stride = 96;  // a part of a wider matrix
        options.random.offset = 5 * 96 + 8;
        expect_equal(source.get(), options, LPT_FORMAT_F32);
      }
    }
  }
}

TEST_F(DeviceSparse, GroupsOfAnyLengthAreSelected) {
  const Tensor source = numbers(LPT_FORMAT_BF16, kDenseRows, kDenseColumns, 24);
  for (const lpt_sparse_rule rule : {LPT_SPARSE_RULE_MAGNITUDE, LPT_SPARSE_RULE_MVUE, LPT_SPARSE_RULE_MVUE_TWO_DRAWS,
                                     LPT_SPARSE_RULE_SOFT_THRESHOLD}) {
    for (const int32_t of : {3, 16}) {
      lpt_sparse_options options = options_of(rule, 2, of);
      expect_equal(source.get(), options, LPT_FORMAT_F32);
      options.direction = LPT_SPARSE_DIRECTION_COLUMN;
      expect_equal(source.get(), options, LPT_FORMAT_BF16);
    }
  }
}

TEST_F(DeviceSparse, GroupsOfColumnsAreSelected) {
  for (const lpt_format format : kDenseFormats) {
    const Tensor source = numbers(format, kDenseRows, kDenseColumns, 25 + static_cast<uint64_t>(format));
    for (const lpt_sparse_rule rule :
         {LPT_SPARSE_RULE_MAGNITUDE, LPT_SPARSE_RULE_MVUE, LPT_SPARSE_RULE_MVUE_TWO_DRAWS}) {
      lpt_sparse_options options = options_of(rule, 2, 4);
      options.direction = LPT_SPARSE_DIRECTION_COLUMN;
      options.random.row_stride = 96;
      options.random.offset = 8 * 96 + 5;
      expect_equal(source.get(), options, format);
      expect_equal(source.get(), options, LPT_FORMAT_F32);
    }
  }
}

TEST_F(DeviceSparse, MasksWeighColumnsByTheirImportance) {
  std::vector<double> importance = draw_normal(31, kDenseColumns);
  for (double &each : importance) each = std::abs(each);
  const Tensor source = numbers(LPT_FORMAT_F32, kDenseRows, kDenseColumns, 32);
  const Tensor weights = tensor_of(cpu(), LPT_FORMAT_F32, 1, kDenseColumns, importance);
  expect_equal(source.get(), options_of(LPT_SPARSE_RULE_MAGNITUDE, 2, 4), LPT_FORMAT_F32, weights.get());
}

TEST_F(DeviceSparse, TransposableMasksHaveTheBitsOfTheCpu) {
  std::vector<double> importance = draw_normal(33, kDenseColumns);
  for (double &each : importance) each = std::abs(each);
  const Tensor weights = tensor_of(cpu(), LPT_FORMAT_F32, 1, kDenseColumns, importance);
  for (const lpt_format format : kDenseFormats) {
    if (kIsSanitized && format != LPT_FORMAT_BF16) continue;
    const Tensor source = numbers(format, kDenseRows, kDenseColumns, 34 + static_cast<uint64_t>(format));
    for (const int32_t of : {4, 8}) {
      lpt_sparse_options options = options_of(LPT_SPARSE_RULE_MAGNITUDE, of / 2, of);
      options.direction = LPT_SPARSE_DIRECTION_BOTH;
      for (options.solver = LPT_SPARSE_SOLVER_AUTO; options.solver <= LPT_SPARSE_SOLVER_PRUNE; ++options.solver) {
        expect_equal(source.get(), options, format);
      }
      expect_equal(source.get(), options, LPT_FORMAT_F32, weights.get());
    }
  }
  lpt_sparse_options options = options_of(LPT_SPARSE_RULE_MAGNITUDE, 3, 16);
  options.direction = LPT_SPARSE_DIRECTION_BOTH;
  options.solver = LPT_SPARSE_SOLVER_ENTROPY;
  options.iterations = 20;
  expect_equal(numbers(LPT_FORMAT_F32, kDenseRows, kDenseColumns, 35).get(), options, LPT_FORMAT_F32);
}

// The statistics are computed before an in-place output overwrites the source.
TEST_F(DeviceSparse, ValuesAreThoseOfTheCpu) {
  const auto compare = [&](lpt_format format, const lpt_sparse_options &options) {
    const Tensor source = numbers(format, kDenseRows, kDenseColumns, 36), moved = there(source.get());
    lpt_sparse_info expected = LPT_SPARSE_INFO_INIT, found = LPT_SPARSE_INFO_INIT;
    ASSERT_TRUE(ok(cpu(), lpt_sparse_mask_select(cpu(), source.get(), &options, nullptr, source.get(), &expected)));
    ASSERT_TRUE(ok(gpu(), lpt_sparse_mask_select(gpu(), moved.get(), &options, nullptr, moved.get(), &found)));
    EXPECT_EQ(0, std::memcmp(&expected, &found, sizeof found)) << "rule " << options.rule;
    EXPECT_EQ(kDenseRows * kDenseColumns, found.element_count);
    EXPECT_EQ(bytes_of(cpu(), source.get()), bytes_on_device(moved.get())) << "rule " << options.rule;
  };
  for (const lpt_sparse_rule rule : {LPT_SPARSE_RULE_MAGNITUDE, LPT_SPARSE_RULE_MVUE, LPT_SPARSE_RULE_MVUE_TWO_DRAWS,
                                     LPT_SPARSE_RULE_SOFT_THRESHOLD}) {
    for (const int32_t of : {4, 8}) {
      lpt_sparse_options options = options_of(rule, 2, of);
      compare(LPT_FORMAT_BF16, options);
      options.direction = LPT_SPARSE_DIRECTION_COLUMN;
      compare(LPT_FORMAT_F32, options);
    }
  }
  lpt_sparse_options options = options_of(LPT_SPARSE_RULE_MAGNITUDE, 4, 8);
  options.direction = LPT_SPARSE_DIRECTION_BOTH;
  compare(LPT_FORMAT_F16, options);
}

TEST_F(DeviceSparse, MasksAreAppliedToTheSameNumbers) {
  for (const lpt_format format : kDenseFormats) {
    const Tensor source = numbers(format, kDenseRows, kDenseColumns, 40), mask = mask_of(source.get());
    for (const lpt_format masked : {format, static_cast<lpt_format>(LPT_FORMAT_F32)}) {
      const Tensor expected = make_tensor(cpu(), masked, kDenseRows, kDenseColumns);
      const Tensor found = make_tensor(gpu(), masked, kDenseRows, kDenseColumns);
      ASSERT_TRUE(ok(cpu(), lpt_sparse_mask_apply(cpu(), source.get(), mask.get(), expected.get())));
      ASSERT_TRUE(
          ok(gpu(), lpt_sparse_mask_apply(gpu(), there(source.get()).get(), there(mask.get()).get(), found.get())));
      EXPECT_EQ(bytes_of(cpu(), expected.get()), bytes_on_device(found.get())) << name_of(format);
    }
  }
}

TEST_F(DeviceSparse, DecayAddsTheSameNumbers) {
  for (const lpt_format format : kDenseFormats) {
    const Tensor weight = numbers(format, kDenseRows, kDenseColumns, 50), mask = mask_of(weight.get());
    const Tensor gradient = numbers(LPT_FORMAT_F32, kDenseRows, kDenseColumns, 51), found = there(gradient.get());
    ASSERT_TRUE(ok(cpu(), lpt_sparse_mask_decay(cpu(), weight.get(), mask.get(), 6e-5, gradient.get())));
    ASSERT_TRUE(
        ok(gpu(), lpt_sparse_mask_decay(gpu(), there(weight.get()).get(), there(mask.get()).get(), 6e-5, found.get())));
    EXPECT_EQ(bytes_of(cpu(), gradient.get()), bytes_on_device(found.get())) << name_of(format);
  }
}

constexpr const char *kPacked[] = {"f32",         "bf16",         "f16",        "e4m3fn",
                                   "e5m2_tensor", "e4m3fn_1x128", "mxfp8_e4m3", "int8_row"};

TEST_F(DeviceSparse, PackedMatricesHaveTheBitsOfTheCpu) {
  for (const char *name : kPacked) {
    const lpt_format format = format_named(name), sparse = format_named((std::string(name) + "/2:4").c_str());
    const Tensor wide = numbers(LPT_FORMAT_F32, kDenseRows, kDenseColumns, 60), mask = mask_of(wide.get());
    const Tensor source = make_tensor(cpu(), format, kDenseRows, kDenseColumns);
    ASSERT_TRUE(ok(cpu(), lpt_quantize(cpu(), wide.get(), nullptr, source.get(), nullptr)));
    const Tensor expected = make_tensor(cpu(), sparse, kDenseRows, kDenseColumns),
                 found = make_tensor(gpu(), sparse, kDenseRows, kDenseColumns);
    ASSERT_TRUE(ok(cpu(), lpt_sparse_compress(cpu(), source.get(), mask.get(), expected.get(), nullptr)));
    ASSERT_TRUE(ok(
        gpu(), lpt_sparse_compress(gpu(), there(source.get()).get(), there(mask.get()).get(), found.get(), nullptr)));
    EXPECT_EQ(bytes_of(cpu(), expected.get()), bytes_on_device(found.get())) << name;
    const Tensor dense = make_tensor(cpu(), format, kDenseRows, kDenseColumns),
                 found_dense = make_tensor(gpu(), format, kDenseRows, kDenseColumns);
    ASSERT_TRUE(ok(cpu(), lpt_sparse_decompress(cpu(), expected.get(), dense.get())));
    ASSERT_TRUE(ok(gpu(), lpt_sparse_decompress(gpu(), found.get(), found_dense.get())));
    EXPECT_EQ(bytes_of(cpu(), dense.get()), bytes_on_device(found_dense.get())) << name;
  }
}

TEST_F(DeviceSparse, TheTransposedIsPackedAsWell) {
  for (const char *name : {"f32", "bf16", "e4m3fn_tensor", "int8", "e4m3fn_128x128"}) {
    const lpt_format format = format_named(name), sparse = format_named((std::string(name) + "/2:4").c_str());
    const Tensor wide = numbers(LPT_FORMAT_F32, kDenseRows, kDenseColumns, 70);
    const Tensor mask = mask_of(wide.get(), LPT_SPARSE_DIRECTION_BOTH);
    const Tensor source = make_tensor(cpu(), format, kDenseRows, kDenseColumns);
    ASSERT_TRUE(ok(cpu(), lpt_quantize(cpu(), wide.get(), nullptr, source.get(), nullptr)));
    const Tensor rows = make_tensor(cpu(), sparse, kDenseRows, kDenseColumns),
                 columns = make_tensor(cpu(), sparse, kDenseColumns, kDenseRows);
    const Tensor found_rows = make_tensor(gpu(), sparse, kDenseRows, kDenseColumns);
    const Tensor found_columns = make_tensor(gpu(), sparse, kDenseColumns, kDenseRows);
    ASSERT_TRUE(ok(cpu(), lpt_sparse_compress(cpu(), source.get(), mask.get(), rows.get(), columns.get())));
    ASSERT_TRUE(ok(gpu(), lpt_sparse_compress(gpu(), there(source.get()).get(), there(mask.get()).get(),
                                              found_rows.get(), found_columns.get())));
    EXPECT_EQ(bytes_of(cpu(), rows.get()), bytes_on_device(found_rows.get())) << name;
    EXPECT_EQ(bytes_of(cpu(), columns.get()), bytes_on_device(found_columns.get())) << name;
  }
}

TEST_F(DeviceSparse, WithoutAMaskWhatIsNotZeroIsPacked) {
  for (const char *name : {"f32", "bf16", "e4m3fn", "int8"}) {
    const lpt_format format = format_named(name), sparse = format_named((std::string(name) + "/2:4").c_str());
    const Tensor wide = numbers(LPT_FORMAT_F32, kDenseRows, kDenseColumns, 80), mask = mask_of(wide.get());
    const Tensor pruned = make_tensor(cpu(), LPT_FORMAT_F32, kDenseRows, kDenseColumns);
    ASSERT_TRUE(ok(cpu(), lpt_sparse_mask_apply(cpu(), wide.get(), mask.get(), pruned.get())));
    const Tensor source = make_tensor(cpu(), format, kDenseRows, kDenseColumns);
    ASSERT_TRUE(ok(cpu(), lpt_quantize(cpu(), pruned.get(), nullptr, source.get(), nullptr)));
    const Tensor expected = make_tensor(cpu(), sparse, kDenseRows, kDenseColumns),
                 found = make_tensor(gpu(), sparse, kDenseRows, kDenseColumns);
    ASSERT_TRUE(ok(cpu(), lpt_sparse_compress(cpu(), source.get(), nullptr, expected.get(), nullptr)));
    ASSERT_TRUE(ok(gpu(), lpt_sparse_compress(gpu(), there(source.get()).get(), nullptr, found.get(), nullptr)));
    EXPECT_EQ(bytes_of(cpu(), expected.get()), bytes_on_device(found.get())) << name;
  }
}

TEST_F(DeviceSparse, WhatHasNoKernelIsRejected) {
  const Tensor source = make_tensor(gpu(), LPT_FORMAT_F32, 16, 32), wide = make_tensor(gpu(), LPT_FORMAT_F64, 16, 32);
  const Tensor mask = there(mask_of(numbers(LPT_FORMAT_F32, 16, 32, 70).get()).get());
  const std::vector<uint8_t> before = bytes_on_device(mask.get());
  lpt_sparse_info values = LPT_SPARSE_INFO_INIT;
  lpt_sparse_options options = options_of(LPT_SPARSE_RULE_MAGNITUDE, 2, 4);
  options.direction = LPT_SPARSE_DIRECTION_BOTH;
  EXPECT_EQ(LPT_UNSUPPORTED, lpt_sparse_mask_select(gpu(), wide.get(), &options, mask.get(), nullptr, &values));
  expect_words({"transposable_mask: no kernel takes f64 on cuda:0"}, lpt_context_error(gpu()));
  options = options_of(LPT_SPARSE_RULE_MVUE, 2, 16);
  EXPECT_EQ(LPT_UNSUPPORTED, lpt_sparse_mask_select(gpu(), source.get(), &options, mask.get(), nullptr, &values));
  expect_words({"sparse_measure: no kernel takes", "takes drawn groups of 4 and 8 only"}, lpt_context_error(gpu()));
  EXPECT_EQ(0, values.element_count);
  EXPECT_EQ(before, bytes_on_device(mask.get()));
}

// A step without a kernel ends the call before the preceding steps are queued.
TEST_F(DeviceSparse, ARejectedPackingWritesNothing) {
  const lpt_format format = format_named("nvfp4_16x16"), sparse = format_named("nvfp4_16x16/2:4");
  const Tensor source = make_tensor(gpu(), format, 16, 32), packed = make_tensor(gpu(), sparse, 16, 32);
  const std::vector<uint8_t> before = bytes_on_device(packed.get());
  EXPECT_EQ(LPT_UNSUPPORTED, lpt_sparse_compress(gpu(), source.get(), nullptr, packed.get(), nullptr));
  expect_words({"nonzero: no kernel takes nvfp4_16x16 on cuda:0"}, lpt_context_error(gpu()));
  EXPECT_EQ(before, bytes_on_device(packed.get()));
}

}  // namespace
}  // namespace lpt::test
