// Tensors: creation, wrapping, views, parts, and combination of parts.
#include "tests/api/support.hpp"

namespace lpt::test {
namespace {

constexpr lpt_format kPresets[] = {LPT_FORMAT_F64,         LPT_FORMAT_F32,          LPT_FORMAT_F16,
                                   LPT_FORMAT_BF16,        LPT_FORMAT_E4M3FN,       LPT_FORMAT_E4M3,
                                   LPT_FORMAT_E5M2,        LPT_FORMAT_E2M1FN,       LPT_FORMAT_E8M0FNU,
                                   LPT_FORMAT_INT8,        LPT_FORMAT_UINT8,        LPT_FORMAT_E4M3FN_TENSOR,
                                   LPT_FORMAT_E4M3FN_ROW,  LPT_FORMAT_E4M3FN_1X128, LPT_FORMAT_E4M3FN_128X128,
                                   LPT_FORMAT_E4M3_TENSOR, LPT_FORMAT_E4M3_ROW,     LPT_FORMAT_E5M2_TENSOR,
                                   LPT_FORMAT_E5M2_ROW,    LPT_FORMAT_E5M2_1X128,   LPT_FORMAT_E5M2_128X128,
                                   LPT_FORMAT_MXFP8_E4M3,  LPT_FORMAT_MXFP8_E5M2,   LPT_FORMAT_MXFP4,
                                   LPT_FORMAT_NVFP4,       LPT_FORMAT_INT8_TENSOR,  LPT_FORMAT_INT8_ROW,
                                   LPT_FORMAT_F16_TENSOR};

struct Parts {
  Tensor owned[3];
  const lpt_tensor *handles[3] = {};
};

Parts take_apart(lpt_context *context, const lpt_tensor *tensor) {
  const lpt_format_description format = describe(describe(context, tensor).format);
  const bool has_part[] = {true, format.block_scale != LPT_FORMAT_NONE, format.tensor_scale != LPT_FORMAT_NONE};
  Parts parts;
  for (int i = 0; i < 3; ++i) {
    if (has_part[i]) parts.owned[i] = part_of(context, tensor, i);
    parts.handles[i] = parts.owned[i].get();
  }
  return parts;
}

bool is_quantize_target(lpt_format format) { return format != LPT_FORMAT_UINT8; }

TEST(TensorCreate, GivesZeroElementsAndScalesOfOne) {
  const Context context = make_context();
  for (const lpt_format format : kPresets) {
    if (!is_quantize_target(format) || format == LPT_FORMAT_E8M0FNU) continue;
    const Tensor tensor = make_tensor(context.get(), format, 3, 130);
    for (const double number : numbers_of(context.get(), tensor.get())) ASSERT_EQ(0.0, number) << name_of(format);
    const Parts parts = take_apart(context.get(), tensor.get());
    for (int i = 1; i < 3; ++i) {
      if (parts.handles[i] == nullptr) continue;
      for (const double scale : numbers_of(context.get(), parts.handles[i])) ASSERT_EQ(1.0, scale) << name_of(format);
    }
  }
}

TEST(TensorCreate, AlignsItsPartsTo64Bytes) {
  const Context context = make_context();
  for (const lpt_format format : kPresets) {
    const Tensor tensor = make_tensor(context.get(), format, 3, 7);
    const Parts parts = take_apart(context.get(), tensor.get());
    for (const lpt_tensor *part : parts.handles) {
      if (part == nullptr) continue;
      EXPECT_EQ(0u, reinterpret_cast<uintptr_t>(describe(context.get(), part).data) % 64) << name_of(format);
    }
  }
}

TEST(TensorCreate, TakesEveryRankUpTo8) {
  const Context context = make_context();
  for (size_t rank = 0; rank <= 8; ++rank) {
    const Tensor tensor = make_tensor(context.get(), LPT_FORMAT_F32, std::vector<int64_t>(rank, 2));
    size_t bytes = 0;
    ASSERT_TRUE(ok(context.get(), lpt_tensor_size(context.get(), tensor.get(), &bytes)));
    EXPECT_EQ(sizeof(float) << rank, bytes);
    EXPECT_EQ(static_cast<int32_t>(rank), describe(context.get(), tensor.get()).rank);
  }
}

TEST(TensorCreate, TakesExtentsOfZero) {
  const Context context = make_context();
  for (const lpt_format format : kPresets) {
    for (const Shape shape : {Shape{0, 5}, Shape{5, 0}, Shape{0, 0}}) {
      const Tensor tensor = make_tensor(context.get(), format, shape.rows, shape.columns);
      ASSERT_NE(nullptr, tensor);
      EXPECT_EQ(shape.rows, describe(context.get(), tensor.get()).extents[0]);
    }
  }
}

TEST(TensorDescribe, TellsFormatRankExtentsAndDenseStrides) {
  const Context context = make_context();
  const Tensor tensor = make_tensor(context.get(), LPT_FORMAT_BF16, {2, 3, 5});
  const lpt_tensor_description description = describe(context.get(), tensor.get());
  EXPECT_EQ(LPT_FORMAT_BF16, description.format);
  EXPECT_NE(nullptr, description.data);
  ASSERT_EQ(3, description.rank);
  EXPECT_EQ((std::vector<int64_t>{2, 3, 5}), std::vector<int64_t>(description.extents, description.extents + 3));
  EXPECT_EQ((std::vector<int64_t>{15, 5, 1}), std::vector<int64_t>(description.strides, description.strides + 3));
}

TEST(TensorDescribe, TellsEvenRowStridesOf4BitElements) {
  const Context context = make_context();
  const Tensor tensor = make_tensor(context.get(), LPT_FORMAT_MXFP4, 3, 5);
  EXPECT_EQ(6, describe(context.get(), tensor.get()).strides[0]);
}

TEST(TensorSize, CountsElementsAndScalesWithoutGaps) {
  const Context context = make_context();
  const struct {
    lpt_format format;
    size_t bytes;
  } cases[] = {{LPT_FORMAT_F32, 3 * 130 * 4},
               {LPT_FORMAT_E2M1FN, 3 * 65},
               {LPT_FORMAT_E4M3FN_TENSOR, 3 * 130 + 4},
               {LPT_FORMAT_E4M3FN_ROW, 3 * 130 + 3 * 4},
               {LPT_FORMAT_E4M3FN_1X128, 3 * 130 + 3 * 2 * 4},
               {LPT_FORMAT_E5M2_128X128, 3 * 130 + 2 * 4},
               {LPT_FORMAT_MXFP8_E4M3, 3 * 130 + 3 * 5},
               {LPT_FORMAT_MXFP4, 3 * 65 + 3 * 5},
               {LPT_FORMAT_NVFP4, 3 * 65 + 3 * 9 + 4}};
  for (const auto &[format, expected] : cases) {
    const Tensor tensor = make_tensor(context.get(), format, 3, 130);
    size_t bytes = 0;
    ASSERT_TRUE(ok(context.get(), lpt_tensor_size(context.get(), tensor.get(), &bytes)));
    EXPECT_EQ(expected, bytes) << name_of(format);
  }
}

TEST(TensorSize, LeavesOutGapsBetweenWrappedRows) {
  const Context context = make_context();
  const std::vector<float> data(10 * 3);
  const Tensor tensor = wrap(context.get(), LPT_FORMAT_F32, data.data(), 3, 4, 10);
  size_t bytes = 0;
  ASSERT_TRUE(ok(context.get(), lpt_tensor_size(context.get(), tensor.get(), &bytes)));
  EXPECT_EQ(3u * 4 * 4, bytes);
}

TEST(TensorWrap, BorrowsTheCallersMemory) {
  const Context context = make_context();
  std::vector<float> data = {1, 2, 3, 4, 5, 6};
  const Tensor tensor = wrap(context.get(), data, 2, 3);
  EXPECT_EQ(data.data(), describe(context.get(), tensor.get()).data);
  data[4] = 50;
  EXPECT_EQ(50.0, numbers_of(context.get(), tensor.get())[4]);
}

TEST(TensorWrap, UncheckedChangesNothingOnTheCpu) {
  const Context context = make_context();
  const std::vector<float> data = {1, 2, 3};
  const int64_t extents[] = {3};
  lpt_tensor_description given = LPT_TENSOR_DESCRIPTION_INIT;
  given.format = LPT_FORMAT_F32;
  given.data = const_cast<float *>(data.data());
  given.rank = 1;
  given.extents = extents;
  given.flags = LPT_TENSOR_UNCHECKED;
  Tensor tensor;
  ASSERT_TRUE(ok(context.get(), lpt_tensor_wrap(context.get(), &given, out(tensor))));
  EXPECT_EQ(0u, describe(context.get(), tensor.get()).flags);
  EXPECT_EQ((std::vector<double>{1, 2, 3}), numbers_of(context.get(), tensor.get()));
}

TEST(TensorWrap, FoldsLeadingAxesIntoRows) {
  const Context context = make_context();
  const std::vector<double> source = draw_normal(1, 2 * 3 * 32);
  const int64_t extents[] = {2, 3, 32};
  lpt_tensor_description description = LPT_TENSOR_DESCRIPTION_INIT;
  description.format = LPT_FORMAT_F64;
  description.data = const_cast<double *>(source.data());
  description.rank = 3;
  description.extents = extents;
  Tensor folded;
  ASSERT_TRUE(ok(context.get(), lpt_tensor_wrap(context.get(), &description, out(folded))));
  const Tensor flat = wrap(context.get(), source, 6, 32);
  const Tensor of_folded = make_tensor(context.get(), LPT_FORMAT_MXFP8_E4M3, {2, 3, 32});
  const Tensor of_flat = make_tensor(context.get(), LPT_FORMAT_MXFP8_E4M3, 6, 32);
  ASSERT_TRUE(ok(context.get(), lpt_quantize(context.get(), folded.get(), nullptr, of_folded.get(), nullptr)));
  ASSERT_TRUE(ok(context.get(), lpt_quantize(context.get(), flat.get(), nullptr, of_flat.get(), nullptr)));
  EXPECT_EQ(bytes_of(context.get(), of_flat.get()), bytes_of(context.get(), of_folded.get()));
}

TEST(TensorWrap, FoldsAxesWithOneStrideAroundAxesOfOne) {
  const Context context = make_context();
  std::vector<float> data(100);
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(i);
  // 3 × 1 × 2 × 4: rows are 10 apart along both axes longer than one. The stride of the axis of extent one is not used.
  const int64_t extents[] = {3, 1, 2, 4};
  const int64_t strides[] = {20, 77, 10, 1};
  lpt_tensor_description description = LPT_TENSOR_DESCRIPTION_INIT;
  description.format = LPT_FORMAT_F32;
  description.data = data.data();
  description.rank = 4;
  description.extents = extents;
  description.strides = strides;
  Tensor tensor;
  ASSERT_TRUE(ok(context.get(), lpt_tensor_wrap(context.get(), &description, out(tensor))));
  const Tensor output = make_tensor(context.get(), LPT_FORMAT_F64, 6, 4);
  ASSERT_TRUE(ok(context.get(), lpt_dequantize(context.get(), tensor.get(), nullptr, output.get())));
  const std::vector<double> numbers = numbers_of(context.get(), output.get());
  for (int64_t r = 0; r < 6; ++r) {
    for (int64_t c = 0; c < 4; ++c) EXPECT_EQ(static_cast<double>(10 * r + c), numbers[static_cast<size_t>(r * 4 + c)]);
  }
}

TEST(MatrixWrap, StepsOverTheRowStride) {
  const Context context = make_context();
  const std::vector<float> data = {1, 2, -1, -1, 3, 4, -1, -1};
  const Tensor tensor = wrap(context.get(), LPT_FORMAT_F32, data.data(), 2, 2, 4);
  const Tensor output = make_tensor(context.get(), LPT_FORMAT_F64, 2, 2);
  ASSERT_TRUE(ok(context.get(), lpt_dequantize(context.get(), tensor.get(), nullptr, output.get())));
  EXPECT_EQ((std::vector<double>{1, 2, 3, 4}), numbers_of(context.get(), output.get()));
}

TEST(MatrixWrap, LeavesGapsBetweenRowsUntouched) {
  const Context context = make_context();
  const std::vector<double> source = draw_normal(2, 3 * 5);
  std::vector<float> target(3 * 8, -77.0f);
  const Tensor input = wrap(context.get(), source, 3, 5);
  const Tensor output = wrap(context.get(), LPT_FORMAT_F32, target.data(), 3, 5, 8);
  ASSERT_TRUE(ok(context.get(), lpt_quantize(context.get(), input.get(), nullptr, output.get(), nullptr)));
  for (size_t i = 0; i < target.size(); ++i) {
    const size_t row = i / 8;
    const size_t column = i % 8;
    EXPECT_EQ(column < 5 ? static_cast<float>(source[row * 5 + column]) : -77.0f, target[i]);
  }
}

TEST(TensorView, SharesTheMemoryOfItsSource) {
  const Context context = make_context();
  std::vector<float> data(6 * 5);
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(i);
  const Tensor whole = wrap(context.get(), data, 6, 5);
  const Tensor part = view(context.get(), whole.get(), {2, 1}, {3, 2});
  EXPECT_EQ(&data[2 * 5 + 1], describe(context.get(), part.get()).data);
  EXPECT_EQ(5, describe(context.get(), part.get()).strides[0]);
  EXPECT_EQ((std::vector<double>{11, 12, 16, 17, 21, 22}), numbers_of(context.get(), part.get()));
}

TEST(TensorView, KeepsTheMemoryOfADestroyedSource) {
  const Context context = make_context();
  Tensor whole = tensor_of(context.get(), LPT_FORMAT_F32, 4, 3, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  const Tensor part = view(context.get(), whole.get(), {1, 0}, {2, 3});
  whole.reset();
  EXPECT_EQ((std::vector<double>{3, 4, 5, 6, 7, 8}), numbers_of(context.get(), part.get()));
}

TEST(TensorView, OfBlocksDecodesAsTheSamePartOfTheWhole) {
  const Context context = make_context();
  const int64_t rows = 256;
  const int64_t columns = 300;
  const std::vector<double> source = draw_normal(3, rows * columns);
  for (const lpt_format format : kPresets) {
    if (!is_quantize_target(format) || format == LPT_FORMAT_E8M0FNU) continue;
    const Tensor whole = tensor_of(context.get(), format, rows, columns, source);
    const std::vector<double> all = numbers_of(context.get(), whole.get());
    // The view begins at blocks of every preset. Its last columns end at the end of the source.
    const Tensor part = view(context.get(), whole.get(), {128, 128}, {128, 172});
    const std::vector<double> numbers = numbers_of(context.get(), part.get());
    for (int64_t r = 0; r < 128; ++r) {
      for (int64_t c = 0; c < 172; ++c) {
        const double expected = all[static_cast<size_t>((r + 128) * columns + c + 128)];
        ASSERT_EQ(expected, numbers[static_cast<size_t>(r * 172 + c)]) << name_of(format) << " " << r << " " << c;
      }
    }
  }
}

TEST(TensorView, OfAHigherRankCutsItsFirstAxis) {
  const Context context = make_context();
  const Tensor whole = make_tensor(context.get(), LPT_FORMAT_MXFP8_E4M3, {4, 3, 64});
  const std::vector<double> source = draw_normal(4, 12 * 64);
  const Tensor flat = wrap(context.get(), source, 12, 64);
  ASSERT_TRUE(ok(context.get(), lpt_quantize(context.get(), flat.get(), nullptr, whole.get(), nullptr)));
  const std::vector<double> all = numbers_of(context.get(), whole.get());
  const Tensor part = view(context.get(), whole.get(), {1, 0, 0}, {2, 3, 64});
  const std::vector<double> expected(all.begin() + 3 * 64, all.begin() + 9 * 64);
  EXPECT_EQ(expected, numbers_of(context.get(), part.get()));
}

TEST(TensorView, MayBeEmptyAtTheEnd) {
  const Context context = make_context();
  const Tensor whole = make_tensor(context.get(), LPT_FORMAT_MXFP8_E4M3, 4, 64);
  const Tensor part = view(context.get(), whole.get(), {4, 64}, {0, 0});
  EXPECT_TRUE(numbers_of(context.get(), part.get()).empty());
}

TEST(TensorView, WritesItsPartOfTheWholeOnly) {
  const Context context = make_context();
  const Tensor whole = make_tensor(context.get(), LPT_FORMAT_NVFP4, 4, 64);
  const Tensor part = view(context.get(), whole.get(), {1, 16}, {2, 32});
  const Tensor source = tensor_of(context.get(), LPT_FORMAT_F32, 2, 32, std::vector<double>(64, 3.0));
  ASSERT_TRUE(ok(context.get(), lpt_quantize(context.get(), source.get(), nullptr, part.get(), nullptr)));
  const std::vector<double> numbers = numbers_of(context.get(), whole.get());
  for (int64_t r = 0; r < 4; ++r) {
    for (int64_t c = 0; c < 64; ++c) {
      const bool is_inside = r >= 1 && r < 3 && c >= 16 && c < 48;
      EXPECT_NEAR(is_inside ? 3.0 : 0.0, numbers[static_cast<size_t>(r * 64 + c)], 1e-6);
    }
  }
}

TEST(TensorParts, CombineToTheSameTensorInEveryPreset) {
  const Context context = make_context();
  const std::vector<double> source = draw_normal(5, 130 * 259);
  for (const lpt_format format : kPresets) {
    const Tensor whole = is_quantize_target(format) ? tensor_of(context.get(), format, 130, 259, source)
                                                    : make_tensor(context.get(), format, 130, 259);
    const Parts parts = take_apart(context.get(), whole.get());
    Tensor again;
    ASSERT_TRUE(ok(context.get(), lpt_tensor_combine(context.get(), format, 130, 259, parts.handles, 3, out(again))));
    EXPECT_EQ(format, describe(context.get(), again.get()).format);
    EXPECT_EQ(bytes_of(context.get(), whole.get()), bytes_of(context.get(), again.get())) << name_of(format);
  }
}

TEST(TensorParts, LiveOnWithoutTheirSource) {
  const Context context = make_context();
  Tensor whole = tensor_of(context.get(), LPT_FORMAT_NVFP4, 4, 32, draw_normal(6, 128));
  const std::vector<double> expected = numbers_of(context.get(), whole.get());
  Tensor again;
  {
    const Parts parts = take_apart(context.get(), whole.get());
    ASSERT_TRUE(
        ok(context.get(), lpt_tensor_combine(context.get(), LPT_FORMAT_NVFP4, 4, 32, parts.handles, 3, out(again))));
  }
  whole.reset();
  EXPECT_EQ(expected, numbers_of(context.get(), again.get()));
}

TEST(TensorParts, OfBlocksAreAMatrixOfScales) {
  const Context context = make_context();
  const Tensor tensor = make_tensor(context.get(), LPT_FORMAT_E4M3FN_128X128, 130, 300);
  const Tensor scales = part_of(context.get(), tensor.get(), LPT_TENSOR_PART_BLOCK_SCALES);
  const lpt_tensor_description description = describe(context.get(), scales.get());
  EXPECT_EQ(LPT_FORMAT_F32, description.format);
  ASSERT_EQ(2, description.rank);
  EXPECT_EQ(2, description.extents[0]);
  EXPECT_EQ(3, description.extents[1]);
}

TEST(TensorCombine, TakesTheCallersBytesAsPayload) {
  const Context context = make_context();
  const std::vector<uint8_t> payload = {0x21, 0x43, 0x65};  // 0.5 1 1.5 2 3 4
  const std::vector<uint8_t> scale = {128};                 // 2
  const Tensor payload_tensor = wrap(context.get(), LPT_FORMAT_UINT8, payload.data(), 1, 3);
  const Tensor scale_tensor = wrap(context.get(), LPT_FORMAT_E8M0FNU, scale.data(), 1, 1);
  const lpt_tensor *parts[] = {payload_tensor.get(), scale_tensor.get()};
  Tensor tensor;
  ASSERT_TRUE(ok(context.get(), lpt_tensor_combine(context.get(), LPT_FORMAT_MXFP4, 1, 6, parts, 2, out(tensor))));
  EXPECT_EQ((std::vector<double>{1, 2, 3, 4, 6, 8}), numbers_of(context.get(), tensor.get()));
}

TEST(TensorCombine, TakesScalesOfRowsAsAVector) {
  const Context context = make_context();
  const Tensor payload = make_tensor(context.get(), LPT_FORMAT_E4M3FN, 3, 4);
  const Tensor scales = make_tensor(context.get(), LPT_FORMAT_F32, {3});
  const lpt_tensor *parts[] = {payload.get(), scales.get()};
  Tensor tensor;
  EXPECT_TRUE(ok(context.get(), lpt_tensor_combine(context.get(), LPT_FORMAT_E4M3FN_ROW, 3, 4, parts, 2, out(tensor))));
}

}  // namespace
}  // namespace lpt::test
