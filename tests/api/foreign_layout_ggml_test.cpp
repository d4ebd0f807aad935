// The layouts of ggml, derived by hand from its documentation. golden_foreign_layouts_test.cpp compares with the library.
#include "tests/api/ggml.hpp"

namespace lpt::test {
namespace {

// One block by hand.

// Codes 0 to 15 in the first half of a block, 15 to 0 in the second: in split halves byte i is i | (15 - i) << 4.
uint8_t block_code(int i) { return static_cast<uint8_t>(i < 16 ? i : 31 - i); }

Bytes split_halves() {
  Bytes bytes;
  for (int i = 0; i < 16; ++i) bytes.push_back(static_cast<uint8_t>(i | (15 - i) << 4));
  return bytes;
}

// The order of LPT: the first code of a pair is in the low half.
Bytes pairs(uint8_t flip) {
  Bytes bytes;
  for (int i = 0; i < 32; i += 2) {
    bytes.push_back(static_cast<uint8_t>((block_code(i) | block_code(i + 1) << 4) ^ flip));
  }
  return bytes;
}

// One block of a type: its LPT tensor and its bytes in ggml.
struct HandBlock {
  GgmlCase of;
  Tensor tensor;
  Bytes bytes;
};

std::vector<HandBlock> hand_blocks(lpt_context *context) {
  std::vector<HandBlock> blocks;
  for (const GgmlCase &of : kGgmlCases) blocks.push_back({of, make_tensor(context, of.format, 1, 32), {}});

  Bytes codes;  // -16 to 15
  for (int i = 0; i < 32; ++i) codes.push_back(static_cast<uint8_t>(i - 16));
  fill(context, blocks[0].tensor.get(), LPT_TENSOR_PART_PAYLOAD, codes);
  *part_data<float>(context, blocks[0].tensor.get(), LPT_TENSOR_PART_BLOCK_SCALES) = 0.5f;
  blocks[0].bytes = Bytes{0x00, 0x38} + codes;

  // ggml decodes an int4 code c as c - 8, so the top bit of each code is inverted.
  fill(context, blocks[1].tensor.get(), LPT_TENSOR_PART_PAYLOAD, pairs(0x88));
  *part_data<float>(context, blocks[1].tensor.get(), LPT_TENSOR_PART_BLOCK_SCALES) = -0.3125f;
  blocks[1].bytes = Bytes{0x00, 0xB5} + split_halves();

  // (q - 3) · 0.5 = 0.5 · q - 1.5
  fill(context, blocks[2].tensor.get(), LPT_TENSOR_PART_PAYLOAD, pairs(0));
  *part_data<float>(context, blocks[2].tensor.get(), LPT_TENSOR_PART_BLOCK_SCALES) = 0.5f;
  *part_data<uint8_t>(context, blocks[2].tensor.get(), LPT_TENSOR_PART_ZERO_POINTS) = 3;
  blocks[2].bytes = Bytes{0x00, 0x38, 0x00, 0xBE} + split_halves();

  fill(context, blocks[3].tensor.get(), LPT_TENSOR_PART_PAYLOAD, pairs(0));
  *part_data<uint8_t>(context, blocks[3].tensor.get(), LPT_TENSOR_PART_BLOCK_SCALES) = 130;
  blocks[3].bytes = Bytes{130} + split_halves();
  return blocks;
}

TEST(ForeignLayoutGgml, ExportsTheBytesOfABlockThatIsWorkedOutByHand) {
  const Context context = make_context();
  for (const HandBlock &block : hand_blocks(context.get())) {
    EXPECT_EQ(block.of.block_bytes, size_of(context.get(), block.tensor.get(), block.of.foreign_layout));
    EXPECT_EQ(block.bytes, exported(context.get(), block.tensor.get(), block.of.foreign_layout))
        << name_of(block.of.format);
  }
}

TEST(ForeignLayoutGgml, ImportsTheBytesOfABlockThatIsWorkedOutByHand) {
  const Context context = make_context();
  for (const HandBlock &block : hand_blocks(context.get())) {
    const Tensor read = make_tensor(context.get(), block.of.format, 1, 32);
    ASSERT_TRUE(import(context.get(), block.bytes, block.of.foreign_layout, read.get()));
    EXPECT_EQ(bytes_of(context.get(), block.tensor.get()), bytes_of(context.get(), read.get()))
        << name_of(block.of.format);
  }
}

// Values by the formulas of ggml, in double.

// Q4_1 with an arbitrary minimum is imported as f32; the other layouts keep their codes.
lpt_format import_format(const GgmlCase &of) {
  return of.foreign_layout == LPT_FOREIGN_LAYOUT_GGML_Q4_1 ? lpt_format{LPT_FORMAT_F32} : of.format;
}

TEST(ForeignLayoutGgml, GivesTheNumbersOfGgmlsFormulasAndTheSameBytesBack) {
  const Context context = make_context(3);
  for (const GgmlCase &of : kGgmlCases) {
    for (const Shape shape : {Shape{1, 32}, Shape{3, 96}, Shape{33, 2048}}) {
      const Bytes bytes = finite_blocks(of, 301, static_cast<size_t>(shape.rows * shape.columns / 32));
      const Tensor tensor = make_tensor(context.get(), import_format(of), shape.rows, shape.columns);
      ASSERT_TRUE(import(context.get(), bytes, of.foreign_layout, tensor.get()));
      EXPECT_EQ(ggml_numbers(of, bytes), numbers_of(context.get(), tensor.get())) << name_of(of.format);
      if (of.foreign_layout != LPT_FOREIGN_LAYOUT_GGML) continue;
      EXPECT_EQ(bytes, exported(context.get(), tensor.get(), of.foreign_layout));
    }
  }
}

TEST(ForeignLayoutGgml, KeepsEveryScaleThatF16Holds) {
  const Context context = make_context();
  const GgmlCase of = kGgmlCases[0];
  const Tensor tensor = make_tensor(context.get(), of.format, 1, 32 * 65536);
  Bytes bytes(34 * 65536, 1);
  for (size_t code = 0; code < 65536; ++code) {
    bytes[34 * code] = static_cast<uint8_t>(code);
    bytes[34 * code + 1] = static_cast<uint8_t>(code >> 8);
  }
  ASSERT_TRUE(import(context.get(), bytes, of.foreign_layout, tensor.get()));
  const auto *scales = part_data<float>(context.get(), tensor.get(), LPT_TENSOR_PART_BLOCK_SCALES);
  const Bytes back = exported(context.get(), tensor.get(), of.foreign_layout);
  for (uint32_t code = 0; code < 65536; ++code) {
    const double expected = half_number(code);
    const auto given = static_cast<double>(scales[code]);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(given)) << code;
      ASSERT_EQ(0x7E, back[34 * code + 1] & 0x7F) << code;  // every NaN is exported as one bit pattern
      continue;
    }
    ASSERT_EQ(expected, given) << code;
    ASSERT_EQ(code, static_cast<uint32_t>(back[34 * code] | back[34 * code + 1] << 8));
  }
}

// Rejected tensors.

TEST(ForeignLayoutGgml, RejectsScalesThatF16LacksAndSaysWhere) {
  const Context context = make_context(2);
  for (const lpt_format format : {LPT_FORMAT_INT8_1X32, LPT_FORMAT_INT4_1X32}) {
    for (const float scale : {0.1f, 65536.0f, 0x1p-25f, 1.0f + 0x1p-11f, -65520.0f}) {
      const Tensor tensor = make_tensor(context.get(), format, 40, 96);
      part_data<float>(context.get(), tensor.get(), LPT_TENSOR_PART_BLOCK_SCALES)[37 * 3 + 1] = scale;
      char digits[32];
      std::snprintf(digits, sizeof digits, "scale %.9g", static_cast<double>(scale));
      expect_rejected_export(context.get(), tensor.get(), LPT_FOREIGN_LAYOUT_GGML,
                             {"tensor has in row 37, columns 32 to 63", digits, "f16"});
    }
  }
}

TEST(ForeignLayoutGgml, TakesNanAndInfinityAsScalesOfIntegers) {
  const Context context = make_context();
  for (const float scale : {NAN, INFINITY, -INFINITY, 0.0f, 0x1p-24f, 65504.0f}) {
    const Tensor tensor = make_tensor(context.get(), LPT_FORMAT_INT4_1X32, 1, 32);
    *part_data<float>(context.get(), tensor.get(), LPT_TENSOR_PART_BLOCK_SCALES) = scale;
    const Bytes bytes = exported(context.get(), tensor.get(), LPT_FOREIGN_LAYOUT_GGML);
    const double read = half_number(static_cast<uint32_t>(bytes[0] | bytes[1] << 8));
    EXPECT_TRUE(std::isnan(scale) ? std::isnan(read) : read == static_cast<double>(scale)) << scale;
  }
}

TEST(ForeignLayoutGgml, RejectsTheNanScaleOfMxfp4BothWays) {
  const Context context = make_context();
  const Tensor tensor = make_tensor(context.get(), LPT_FORMAT_MXFP4, 2, 64);
  part_data<uint8_t>(context.get(), tensor.get(), LPT_TENSOR_PART_BLOCK_SCALES)[3] = 0xFF;
  expect_rejected_export(context.get(), tensor.get(), LPT_FOREIGN_LAYOUT_GGML, {"row 1, columns 32 to 63", "NaN"});
  const Tensor target = make_tensor(context.get(), LPT_FORMAT_MXFP4, 2, 64);
  Bytes bytes(4 * 17, 0x12);
  bytes[2 * 17] = 0xFF;
  expect_rejected_import(context.get(), bytes, LPT_FOREIGN_LAYOUT_GGML, target.get(),
                         {"row 1, columns 0 to 31", "0xFF"});
}

// Weights quantized to ggml blocks: docs/reference/foreign-layouts.md.

TEST(ForeignLayoutGgml, TakesWeightsThatAreQuantizedWithScalesOfF16) {
  const Context context = make_context();
  const std::vector<double> weights = draw_normal(305, 8 * 96);
  const Tensor source = wrap(context.get(), weights, 8, 96);
  for (const lpt_format format : {LPT_FORMAT_INT8_1X32, LPT_FORMAT_INT4_1X32}) {
    const Tensor tensor = make_tensor(context.get(), format, 8, 96);
    ASSERT_TRUE(ok(context.get(), lpt_quantize(context.get(), source.get(), nullptr, tensor.get(), nullptr)));
    const Tensor scales = part_of(context.get(), tensor.get(), LPT_TENSOR_PART_BLOCK_SCALES);
    const Tensor halves = make_tensor(context.get(), LPT_FORMAT_F16, 8, 3);
    ASSERT_TRUE(ok(context.get(), lpt_quantize(context.get(), scales.get(), nullptr, halves.get(), nullptr)));
    ASSERT_TRUE(ok(context.get(), lpt_dequantize(context.get(), halves.get(), nullptr, scales.get())));
    lpt_quantize_options fixed = LPT_QUANTIZE_OPTIONS_INIT;
    fixed.scale_rule = LPT_SCALE_RULE_FIXED;
    ASSERT_TRUE(ok(context.get(), lpt_quantize(context.get(), source.get(), &fixed, tensor.get(), nullptr)));
    const Bytes bytes = exported(context.get(), tensor.get(), LPT_FOREIGN_LAYOUT_GGML);
    const GgmlCase &of = kGgmlCases[format == LPT_FORMAT_INT8_1X32 ? 0 : 1];
    EXPECT_EQ(numbers_of(context.get(), tensor.get()), ggml_numbers(of, bytes));
    EXPECT_LT(relative_error(ggml_numbers(of, bytes), weights), format == LPT_FORMAT_INT8_1X32 ? 0.01 : 0.12);
  }
}

// Views, strides, axes.

TEST(ForeignLayoutGgml, SeesPartsOfATensor) {
  const Context context = make_context();
  for (const GgmlCase &of : kGgmlCases) {
    const Tensor whole = make_tensor(context.get(), of.format, 5, 160);
    ASSERT_TRUE(ok(context.get(), lpt_quantize(context.get(), wrap(context.get(), draw_normal(306, 800), 5, 160).get(),
                                               nullptr, whole.get(), nullptr)));
    const Tensor part = view(context.get(), whole.get(), {1, 32}, {3, 96});
    const Bytes bytes =
        of.format == LPT_FORMAT_UINT4_1X32
            ? q4_1_block(0x3C00, 0xC000, 0x21) + q4_1_block(0x3800, 0xBC00, 0x43) + q4_1_block(0x4000, 0xCE00, 0x65)
            : Bytes{};
    const Bytes given = bytes.empty() ? finite_blocks(of, 307, 9) : bytes + bytes + bytes;
    const Tensor before = make_tensor(context.get(), of.format, 5, 160);
    for (const lpt_tensor_part p : parts_of(of.format)) {
      fill(context.get(), before.get(), p, part_bytes(context.get(), whole.get(), p));
    }
    ASSERT_TRUE(import(context.get(), given, of.foreign_layout, part.get()));
    EXPECT_EQ(ggml_numbers(of, given), numbers_of(context.get(), part.get())) << name_of(of.format);
    EXPECT_EQ(given, exported(context.get(), part.get(), of.foreign_layout));
    // Bytes outside the view are unchanged.
    for (const auto &[begins, extents] : {std::pair{std::vector<int64_t>{0, 0}, std::vector<int64_t>{1, 160}},
                                          std::pair{std::vector<int64_t>{4, 0}, std::vector<int64_t>{1, 160}},
                                          std::pair{std::vector<int64_t>{0, 0}, std::vector<int64_t>{5, 32}},
                                          std::pair{std::vector<int64_t>{0, 128}, std::vector<int64_t>{5, 32}}}) {
      EXPECT_EQ(bytes_of(context.get(), view(context.get(), before.get(), begins, extents).get()),
                bytes_of(context.get(), view(context.get(), whole.get(), begins, extents).get()));
    }
  }
}

TEST(ForeignLayoutGgml, ReadsRowsWithGapsAndMoreAxes) {
  const Context context = make_context();
  const Bytes bytes = finite_blocks(kGgmlCases[2], 308, 2 * 3 * 2);
  const Tensor cube = make_tensor(context.get(), LPT_FORMAT_F32, {2, 3, 64});
  ASSERT_TRUE(import(context.get(), bytes, LPT_FOREIGN_LAYOUT_GGML_Q4_1, cube.get()));
  EXPECT_EQ(ggml_numbers(kGgmlCases[2], bytes), numbers_of(context.get(), cube.get()));
  std::vector<float> memory(6 * 70, 77.0f);
  const Tensor strided = wrap(context.get(), LPT_FORMAT_F32, memory.data(), 6, 64, 70);
  ASSERT_TRUE(import(context.get(), bytes, LPT_FOREIGN_LAYOUT_GGML_Q4_1, strided.get()));
  EXPECT_EQ(ggml_numbers(kGgmlCases[2], bytes), numbers_of(context.get(), strided.get()));
  for (size_t row = 0; row < 6; ++row) {
    for (size_t gap = 64; gap < 70; ++gap) EXPECT_EQ(77.0f, memory[row * 70 + gap]);
  }
}

}  // namespace
}  // namespace lpt::test
