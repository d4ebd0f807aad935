// Layouts of formats in a file, against the conventions computed by hand.
#include "layout.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "plan.hpp"

namespace tool_tests {
namespace {

using tool::Layout;
using tool::Role;

std::string parts_text(const char *format, int64_t rows, int64_t columns) {
  const tool::Context context = tool::make_context(1);
  const Layout layout = tool::layout_of(tool::target_format(format));
  const int64_t row_bytes = tool::payload_row_bytes(context.get(), layout.format, columns);
  std::string text = layout.convention;
  for (const auto &part : tool::stored_parts(layout, "w", rows, columns, row_bytes)) {
    text += fmt::format(" | {} {}", part.tensor.name, part.tensor.dtype->name);
    for (const int64_t extent : part.tensor.shape) text += fmt::format(" {}", extent);
  }
  return text;
}

TEST(Layout, FollowsTheConventionOfCompressedTensors) {
  EXPECT_EQ(parts_text("fp8", 64, 96), "float-quantized | w F8_E4M3 64 96 | w_scale F32 1");
  EXPECT_EQ(parts_text("fp8-row", 64, 96), "float-quantized | w F8_E4M3 64 96 | w_scale F32 64 1");
  EXPECT_EQ(parts_text("fp8-block", 200, 300), "float-quantized | w F8_E4M3 200 300 | w_scale F32 2 3");
  EXPECT_EQ(parts_text("int8", 64, 96), "int-quantized | w I8 64 96 | w_scale F32 64 1");
  EXPECT_EQ(parts_text("mxfp8", 64, 96), "mxfp8-quantized | w F8_E4M3 64 96 | w_scale U8 64 3");
  EXPECT_EQ(parts_text("mxfp4", 64, 96), "mxfp4-pack-quantized | w_packed U8 64 48 | w_scale U8 64 3");
  EXPECT_EQ(parts_text("nvfp4", 64, 96),
            "nvfp4-pack-quantized | w_packed U8 64 48 | w_scale F8_E4M3 64 6 | w_global_scale F32 1");
  EXPECT_EQ(parts_text("nvfp4_16x16", 64, 96),
            "nvfp4-pack-quantized | w_packed U8 64 48 | w_scale F8_E4M3 64 6 | w_global_scale F32 1");
  EXPECT_EQ(parts_text("int4-g32", 64, 96), "pack-quantized | w_packed I32 64 12 | w_scale F32 64 3 | w_shape I64 2");
  EXPECT_EQ(parts_text("uint4-g32", 60, 96),
            "pack-quantized | w_packed I32 60 12 | w_scale F32 60 3 | w_zero_point I32 8 3 | w_shape I64 2");
  EXPECT_EQ(parts_text("int8-g32", 64, 96), "pack-quantized | w_packed I32 64 24 | w_scale F32 64 3 | w_shape I64 2");
}

TEST(Layout, GivesOtherFormatsTheSamePattern) {
  EXPECT_EQ(parts_text("e5m2_row", 4, 6), " | w F8_E5M2 4 6 | w_scale F32 4 1");
  EXPECT_EQ(parts_text("e4m3_row", 4, 6), " | w_packed U8 4 6 | w_scale F32 4 1");
  EXPECT_EQ(parts_text("e2m1fn/1x8/f32", 4, 7), " | w_packed U8 4 4 | w_scale F32 4 1 | w_shape I64 2");
  EXPECT_EQ(parts_text("e4m3fn", 4, 6), " | w F8_E4M3 4 6");
}

TEST(Layout, DescribesItselfToOthers) {
  const auto config = tool::quantization_config({{tool::layout_of(tool::target_format("nvfp4")), {"a.weight", "b"}}});
  ASSERT_TRUE(config.has_value());
  EXPECT_EQ((*config)["quant_method"], "compressed-tensors");
  EXPECT_EQ((*config)["format"], "nvfp4-pack-quantized");
  const auto &group = (*config)["config_groups"]["group_0"];
  EXPECT_EQ(group["targets"], nlohmann::ordered_json({"a", "b"}));
  EXPECT_EQ(group["weights"]["num_bits"], 4);
  EXPECT_EQ(group["weights"]["type"], "float");
  EXPECT_EQ(group["weights"]["strategy"], "tensor_group");
  EXPECT_EQ(group["weights"]["group_size"], 16);
  const auto group_of = [](const char *format, const char *name) {
    return tool::MatrixGroup{tool::layout_of(tool::target_format(format)), {name}};
  };
  EXPECT_FALSE(tool::quantization_config({group_of("nvfp4", "a"), group_of("e5m2_row", "b")}).has_value());
  const auto mixed = tool::quantization_config({group_of("int4-g32", "a.weight"), group_of("fp8-row", "b.weight")});
  ASSERT_TRUE(mixed.has_value());
  EXPECT_EQ((*mixed)["format"], "mixed-precision");
  EXPECT_EQ((*mixed)["config_groups"]["group_0"]["format"], "pack-quantized");
  EXPECT_EQ((*mixed)["config_groups"]["group_1"]["format"], "float-quantized");
  EXPECT_EQ((*mixed)["config_groups"]["group_1"]["targets"], nlohmann::ordered_json({"b"}));
}

// Words of eight values plus eight, the first one in the lowest bits: the definition of the convention.
TEST(Layout, PacksSignedNibblesIntoWordsThatBeginAtZero) {
  const Layout layout = tool::layout_of(tool::target_format("int4-g32"));
  constexpr int64_t kRows = 3, kColumns = 11;
  const auto number = [](int64_t row, int64_t column) { return static_cast<int>((row * 5 + column * 3) % 16) - 8; };
  constexpr int64_t kRowBytes = 6;
  std::vector<std::byte> bytes(kRows * kRowBytes);
  std::vector<uint32_t> expected(kRows * 2);
  for (int64_t row = 0; row < kRows; ++row) {
    for (int64_t column = 0; column < kColumns; ++column) {
      bytes[row * kRowBytes + column / 2] |= static_cast<std::byte>((number(row, column) & 15) << (column % 2 * 4));
      expected[row * 2 + column / 8] |= static_cast<uint32_t>(number(row, column) + 8) << (column % 8 * 4);
    }
  }
  const std::vector<std::byte> words = tool::pack_payload(layout, bytes, kRows, kColumns);
  ASSERT_EQ(words.size(), expected.size() * 4);
  EXPECT_EQ(std::memcmp(words.data(), expected.data(), words.size()), 0);
  std::vector<std::byte> back = tool::unpack_payload(layout, words, kRows, kColumns, kRowBytes);
  // The unused half byte after a row may have any value.
  for (int64_t row = 0; row < kRows; ++row) back[row * kRowBytes + 5] &= std::byte{15};
  EXPECT_EQ(back, bytes);
}

TEST(Layout, PacksZeroPointsAlongColumns) {
  const Layout layout = tool::layout_of(tool::target_format("uint4-g32"));
  constexpr int64_t kRows = 19, kColumns = 3;
  std::vector<std::byte> points;
  std::vector<uint32_t> expected(3 * kColumns);
  for (int64_t row = 0; row < kRows; ++row) {
    for (int64_t column = 0; column < kColumns; ++column) {
      const auto point = static_cast<uint32_t>((row * 7 + column) % 16);
      points.push_back(static_cast<std::byte>(point));
      expected[row / 8 * kColumns + column] |= point << (row % 8 * 4);
    }
  }
  const std::vector<std::byte> words = tool::pack_zero_points(layout, points, kRows, kColumns);
  ASSERT_EQ(words.size(), expected.size() * 4);
  EXPECT_EQ(std::memcmp(words.data(), expected.data(), words.size()), 0);
  EXPECT_EQ(tool::unpack_zero_points(layout, words, kRows, kColumns), points);
}

// RowCast requires that the inverse of an inverse is unchanged by two more inversions, for every significand.
TEST(Layout, AnInverseOfAnInverseSurvivesTheFile) {
  uint32_t wrong = 0;
  for (uint32_t mantissa = 0; mantissa < (1u << 23); ++mantissa) {
    const uint32_t bits = 0x3F800000u | mantissa;
    float scale = 0.0f;
    std::memcpy(&scale, &bits, sizeof scale);
    const float kept = 1.0f / (1.0f / scale);
    const float stored = 1.0f / kept;
    wrong += 1.0f / stored != kept ? 1 : 0;
  }
  EXPECT_EQ(wrong, 0u);
}

TEST(ShortNames, StandForFormats) {
  EXPECT_EQ(tool::format_name(tool::target_format("fp8")), "e4m3fn_tensor");
  EXPECT_EQ(tool::format_name(tool::target_format("mxfp8")), "mxfp8_e4m3");
  EXPECT_EQ(tool::format_name(tool::target_format("int8")), "int8_row");
  EXPECT_EQ(tool::format_name(tool::target_format("int4-g128")), "int4_1x128");
  EXPECT_EQ(tool::format_name(tool::target_format("int8-g256")), "int8/1x256/f32");
  EXPECT_EQ(tool::format_name(tool::target_format("nvfp4")), "nvfp4");
  EXPECT_THROW(tool::target_format("fp9"), tool::Error);
  EXPECT_THROW(tool::target_format("int4-g100"), tool::Error);
}

}  // namespace
}  // namespace tool_tests
