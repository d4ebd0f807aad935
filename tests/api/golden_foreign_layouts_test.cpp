// Foreign layouts against their libraries: gguf (the package of ggml), bitsandbytes, and the cuBLAS tiles of torchao.
// tools/make_foreign_layout_golden.py and tools/make_ggml_golden.py write the files, and document the excluded blocks.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/api/foreign_layout.hpp"
#include "tests/formats/golden_blocks.hpp"

namespace lpt::test {
namespace {

using golden::digest_of_bytes;
using golden::digest_of_floats;

std::vector<float> floats_of(lpt_context *context, const lpt_tensor *tensor) {
  const Shape shape = shape_of(context, tensor);
  std::vector<float> floats(static_cast<size_t>(shape.rows * shape.columns));
  const Tensor output = wrap(context, floats, shape.rows, shape.columns);
  EXPECT_TRUE(ok(context, lpt_dequantize(context, tensor, nullptr, output.get())));
  return floats;
}

// Replaces -0 by +0, for files in which every zero is +0.
std::vector<float> with_plus_zeros(std::vector<float> floats) {
  for (float &number : floats) number += 0.0f;
  return floats;
}

// ggml.

constexpr int64_t kGgmlColumns = 1024;

struct GgmlType {
  const char *name;
  uint64_t seed;
  lpt_format format;
  lpt_foreign_layout foreign_layout;
  std::vector<size_t> halves;  // byte offsets of f16 values in a block
};

// Returns the bytes of random words with finite f16 values and scales, as the script computes them.
std::vector<uint8_t> ggml_bytes(const GgmlType &type, size_t blocks, size_t block_bytes) {
  golden::SplitMix64 random(type.seed);
  std::vector<uint8_t> bytes;
  while (bytes.size() < blocks * block_bytes) {
    const uint64_t word = random.next();
    for (int byte = 0; byte < 8; ++byte) bytes.push_back(static_cast<uint8_t>(word >> (8 * byte)));
  }
  for (size_t block = 0; block < blocks; ++block) {
    uint8_t *head = &bytes[block * block_bytes];
    for (const size_t low : type.halves) {
      if ((head[low + 1] & 0x7C) == 0x7C) head[low + 1] &= 0xBF;
    }
    if (type.format == LPT_FORMAT_MXFP4 && head[0] == 255) head[0] = 254;
  }
  return bytes;
}

class GoldenGgml : public testing::TestWithParam<GgmlType> {};

INSTANTIATE_TEST_SUITE_P(Types, GoldenGgml,
                         testing::Values(GgmlType{"Q8_0", 3000, LPT_FORMAT_INT8_1X32, LPT_FOREIGN_LAYOUT_GGML, {0}},
                                         GgmlType{"Q4_0", 3001, LPT_FORMAT_INT4_1X32, LPT_FOREIGN_LAYOUT_GGML, {0}},
                                         GgmlType{"Q4_1", 3002, LPT_FORMAT_F32, LPT_FOREIGN_LAYOUT_GGML_Q4_1, {0, 2}},
                                         GgmlType{"MXFP4", 3003, LPT_FORMAT_MXFP4, LPT_FOREIGN_LAYOUT_GGML, {}}),
                         [](const auto &info) { return std::string(info.param.name); });

TEST_P(GoldenGgml, BlocksDecodeAsByGguf) {
  const GgmlType &type = GetParam();
  const golden::Row row = golden::find_row("ggml_blocks", {type.name});
  ASSERT_EQ(5u, row.size());
  const size_t blocks = std::stoul(row[1]), block_bytes = std::stoul(row[2]);
  const std::vector<uint8_t> bytes = ggml_bytes(type, blocks, block_bytes);
  ASSERT_EQ(row[3], digest_of_bytes(bytes)) << "the test's own bytes";

  const Context context = make_context();
  const auto rows = static_cast<int64_t>(blocks) * 32 / kGgmlColumns;
  const Tensor tensor = make_tensor(context.get(), type.format, rows, kGgmlColumns);
  ASSERT_TRUE(import(context.get(), bytes, type.foreign_layout, tensor.get()));
  EXPECT_EQ(row[4], digest_of_floats(with_plus_zeros(floats_of(context.get(), tensor.get()))));
  if (type.format == LPT_FORMAT_F32) return;  // an f32 tensor is not exported
  EXPECT_TRUE(bytes == exported(context.get(), tensor.get(), type.foreign_layout));
}

// bitsandbytes.

constexpr int64_t kBnbColumns = 1024;
constexpr size_t kBnbBlock = 64;

struct BnbElement {
  const char *name;
  lpt_format format;
};
constexpr BnbElement kBnbElements[] = {{"nf4", LPT_FORMAT_NF4_1X64}, {"bnb_fp4", LPT_FORMAT_BNB_FP4_1X64}};

// Excludes blocks with a NaN or an infinity, and blocks whose scale is below the smallest scale of LPT.
std::vector<bool> kept_blocks(const std::vector<float> &values) {
  std::vector<bool> is_kept;
  for (size_t start = 0; start < values.size(); start += kBnbBlock) {
    float amax = 0;
    bool is_finite = true;
    for (size_t i = start; i < start + kBnbBlock; ++i) {
      is_finite = is_finite && std::isfinite(values[i]);
      amax = std::max(amax, std::fabs(values[i]));
    }
    is_kept.push_back(is_finite && amax >= 0x1p-126f);
  }
  return is_kept;
}

// Returns the codes in element order. The first code of a byte is in the high half.
std::vector<uint8_t> codes_of(const std::vector<uint8_t> &bytes) {
  std::vector<uint8_t> codes;
  for (const uint8_t byte : bytes) {
    codes.push_back(byte >> 4);
    codes.push_back(byte & 15);
  }
  return codes;
}

std::vector<uint8_t> bytes_of_codes(const std::vector<uint8_t> &codes) {
  std::vector<uint8_t> bytes;
  for (size_t i = 0; i < codes.size(); i += 2) bytes.push_back(static_cast<uint8_t>(codes[i] << 4 | codes[i + 1]));
  return bytes;
}

// Converts codes of LPT to those of bitsandbytes on a CPU. The file lists codes with other thresholds; its zero has no sign.
std::vector<uint8_t> as_on_its_cpu(std::vector<uint8_t> codes, const BnbElement &element, const std::string &name,
                                   const std::vector<bool> &is_kept) {
  for (size_t i = 0; i < codes.size(); ++i) {
    if (!is_kept[i / kBnbBlock] || (codes[i] == 8 && element.format == LPT_FORMAT_BNB_FP4_1X64)) codes[i] = 0;
  }
  for (const golden::Row &row : golden::read("bnb_code_list")) {
    if (row[0] != element.name || row[1] != name) continue;
    const size_t place = std::stoul(row[2]);
    EXPECT_EQ(std::stoul(row[3]), codes[place]) << "element " << place << ": code by the CUDA thresholds";
    codes[place] = static_cast<uint8_t>(std::stoul(row[4]));
  }
  return codes;
}

class GoldenBitsandbytes : public testing::TestWithParam<const char *> {};

INSTANTIATE_TEST_SUITE_P(Classes, GoldenBitsandbytes,
                         testing::Values("ordinary", "wide", "near", "tiny", "outlier", "sparse", "ties", "infinity",
                                         "nan"),
                         [](const auto &info) { return std::string(info.param); });

TEST_P(GoldenBitsandbytes, BlocksAndTheirNumbersAreThoseOfItsCpu) {
  const std::vector<float> values = golden::mx_blocks(golden::class_named(golden::kMxClasses, GetParam()));
  const std::vector<bool> is_kept = kept_blocks(values);
  const Context context = make_context();
  const auto rows = static_cast<int64_t>(values.size()) / kBnbColumns;
  const Tensor source = wrap(context.get(), values, rows, kBnbColumns);
  for (const BnbElement &element : kBnbElements) {
    SCOPED_TRACE(element.name);
    const golden::Row row = golden::find_row("bnb_blocks", {element.name, GetParam()});
    ASSERT_EQ(7u, row.size());
    EXPECT_EQ(row[2], std::to_string(is_kept.size()));
    EXPECT_EQ(row[3], std::to_string(std::count(is_kept.begin(), is_kept.end(), false)));

    const Tensor tensor = make_tensor(context.get(), element.format, rows, kBnbColumns);
    ASSERT_TRUE(ok(context.get(), lpt_quantize(context.get(), source.get(), nullptr, tensor.get(), nullptr)));
    const std::vector<uint8_t> bytes = exported(context.get(), tensor.get(), LPT_FOREIGN_LAYOUT_BITSANDBYTES);
    const std::vector<uint8_t> theirs = bytes_of_codes(as_on_its_cpu(codes_of(bytes), element, GetParam(), is_kept));
    EXPECT_EQ(row[5], digest_of_bytes(theirs)) << "codes";

    std::vector<float> scales =
        floats_of(context.get(), part_of(context.get(), tensor.get(), LPT_TENSOR_PART_BLOCK_SCALES).get());
    for (size_t block = 0; block < scales.size(); ++block) scales[block] = is_kept[block] ? scales[block] : 0.0f;
    EXPECT_EQ(row[4], digest_of_floats(scales)) << "scales";

    ASSERT_TRUE(import(context.get(), theirs, LPT_FOREIGN_LAYOUT_BITSANDBYTES, tensor.get()));
    EXPECT_TRUE(theirs == exported(context.get(), tensor.get(), LPT_FOREIGN_LAYOUT_BITSANDBYTES));
    std::vector<float> decoded = with_plus_zeros(floats_of(context.get(), tensor.get()));
    for (size_t i = 0; i < decoded.size(); ++i) decoded[i] = is_kept[i / kBnbBlock] ? decoded[i] : 0.0f;
    EXPECT_EQ(row[6], digest_of_floats(decoded)) << "numbers";
  }
}

// Scale tiles of cuBLAS.

TEST(GoldenCublas, TilesOfScalesAreThoseOfTorchao) {
  const Context context = make_context();
  const std::vector<golden::Row> golden_rows = golden::read("cublas_scales");
  EXPECT_EQ(7u, golden_rows.size());
  for (const golden::Row &row : golden_rows) {
    const int64_t rows = std::stol(row[0]), columns = std::stol(row[1]);
    SCOPED_TRACE(row[0] + " x " + row[1]);
    const Tensor tensor = make_tensor(context.get(), LPT_FORMAT_MXFP8_E4M3, rows, columns * 32);
    const Tensor scales = part_of(context.get(), tensor.get(), LPT_TENSOR_PART_BLOCK_SCALES);
    const lpt_tensor_description description = describe(context.get(), scales.get());
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < columns; ++c) {
        static_cast<uint8_t *>(description.data)[r * description.strides[0] + c] =
            static_cast<uint8_t>(r * 31 + c * 7 + 1);
      }
    }
    const std::vector<uint8_t> tiles = exported(context.get(), tensor.get(), LPT_FOREIGN_LAYOUT_CUBLAS_SCALES);
    EXPECT_EQ(row[2], std::to_string(tiles.size()));
    EXPECT_EQ(row[3], digest_of_bytes(tiles));

    const Tensor back = make_tensor(context.get(), LPT_FORMAT_MXFP8_E4M3, rows, columns * 32);
    ASSERT_TRUE(import(context.get(), tiles, LPT_FOREIGN_LAYOUT_CUBLAS_SCALES, back.get()));
    EXPECT_TRUE(bytes_of(context.get(), tensor.get()) == bytes_of(context.get(), back.get()));
  }
}

}  // namespace
}  // namespace lpt::test
