// Blocks of ggml against its package gguf: tests/golden/formats/ggml_blocks.csv of tools/make_ggml_golden.py.
#include "ggml_blocks.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>

#include "checkpoint.hpp"
#include "gguf_image.hpp"
#include "tests/formats/golden.hpp"
#include "workplace.hpp"

namespace tool_tests {
namespace {

namespace golden = lpt::golden;

struct BlockType {
  uint32_t number;
  std::vector<size_t> halves;  // byte offsets of f16 values in a block
};

const std::map<std::string, BlockType> &block_types() {
  static const std::map<std::string, BlockType> types = {
      {"Q4_0", {2, {0}}},     {"Q4_1", {3, {0, 2}}},    {"Q5_0", {6, {0}}},    {"Q5_1", {7, {0, 2}}},
      {"Q8_0", {8, {0}}},     {"Q2_K", {10, {80, 82}}}, {"Q3_K", {11, {108}}}, {"Q4_K", {12, {0, 2}}},
      {"Q5_K", {13, {0, 2}}}, {"Q6_K", {14, {208}}},    {"IQ4_NL", {20, {0}}}, {"IQ4_XS", {23, {0}}},
      {"MXFP4", {39, {}}}};
  return types;
}

// Returns the bytes of random words with finite f16 values and scales, as the script computes them.
std::string golden_bytes(const golden::Row &row, uint64_t index) {
  const size_t blocks = std::stoul(row[1]), block_bytes = std::stoul(row[2]);
  golden::SplitMix64 random(3000 + index);
  std::string bytes;
  while (bytes.size() < blocks * block_bytes) bytes += u64_bytes(random.next());
  for (size_t block = 0; block < blocks; ++block) {
    char *head = &bytes[block * block_bytes];
    for (const size_t low : block_types().at(row[0]).halves) {
      if ((head[low + 1] & 0x7C) == 0x7C) head[low + 1] = static_cast<char>(head[low + 1] & 0xBF);
    }
    if (row[0] == "MXFP4" && head[0] == '\xFF') head[0] = '\xFE';
  }
  return bytes;
}

std::string digest_of_bytes(const std::string &bytes) {
  golden::Digest digest(1);
  for (const char byte : bytes) digest.add(static_cast<uint8_t>(byte));
  return digest.text();
}

// Every zero counts as +0.
std::string digest_of_values(const tool::Checkpoint &file, const std::string &name) {
  const tool::StoredTensor *tensor = file.find(name);
  if (tensor == nullptr) return "missing";
  std::vector<float> values(tensor->bytes() / sizeof(float));
  file.read(*tensor, 0, std::as_writable_bytes(std::span(values)));
  golden::Digest digest(4);
  for (const float value : values) digest.add(std::bit_cast<uint32_t>(value + 0.0f));
  return digest.text();
}

// The program decodes a file that has a matrix of each type.
TEST(GgmlBlocks, DecodeAsByGguf) {
  const std::vector<golden::Row> rows = golden::read("ggml_blocks");
  ASSERT_EQ(rows.size(), block_types().size());
  std::vector<GgufTensor> tensors;
  for (size_t i = 0; i < rows.size(); ++i) {
    const tool::Dtype &dtype = *tool::find_ggml_dtype(block_types().at(rows[i][0]).number);
    EXPECT_EQ(dtype.name, rows[i][0]);
    const std::string bytes = golden_bytes(rows[i], i);
    EXPECT_EQ(digest_of_bytes(bytes), rows[i][3]) << "the test's own bytes";
    const uint64_t columns = std::stoul(rows[i][1]) * static_cast<uint64_t>(dtype.block) / 32;
    tensors.push_back({rows[i][0], {columns, 32}, block_types().at(rows[i][0]).number, bytes});
  }
  const Workplace workplace;
  const std::string path = workplace.write("in.gguf", gguf_image(tensors).bytes());
  for (const char *memory : {"4", "512"}) {
    const std::string output = workplace.path(memory);
    const Outcome outcome = run_lpt(workplace, {"convert", path, output, "--to", "f32", "--memory", memory, "--quiet"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const tool::Checkpoint made(output);
    for (const golden::Row &row : rows) EXPECT_EQ(digest_of_values(made, row[0]), row[4]) << row[0] << " " << memory;
  }
}

// A change of any byte changes a value.
TEST(GgmlBlocks, ReadEveryByteOfABlock) {
  for (const auto &[name, type] : block_types()) {
    const tool::Dtype &dtype = *tool::find_ggml_dtype(type.number);
    if (dtype.coding == nullptr) continue;
    const size_t block_bytes = static_cast<size_t>(dtype.bits) / 8, elements = static_cast<size_t>(dtype.block);
    std::vector<uint8_t> block(block_bytes, 0x31);  // no sub-block has the scale 0
    std::vector<float> values(elements), changed(elements);
    dtype.coding->decode(block.data(), values);
    for (size_t i = 0; i < block_bytes; ++i) {
      block[i] ^= 0x13;
      dtype.coding->decode(block.data(), changed);
      block[i] ^= 0x13;
      EXPECT_NE(std::memcmp(values.data(), changed.data(), elements * sizeof(float)), 0) << name << " byte " << i;
    }
  }
}

// As in ggml: an infinite scale gives infinities, and NaN where the code is 0.
TEST(GgmlBlocks, KeepInfinitiesOfScales) {
  const tool::Dtype &dtype = *tool::find_ggml_dtype(kQ4_K);
  std::vector<uint8_t> block(144, 0x21);  // codes 1 and 2
  block[0] = 0x00, block[1] = 0x7C;       // d is infinite
  block[2] = block[3] = 0;                // dmin is 0
  block[16] = 0x20;
  std::vector<float> values(256);
  dtype.coding->decode(block.data(), values);
  EXPECT_TRUE(std::isnan(values[0]));
  EXPECT_EQ(values[1], std::numeric_limits<float>::infinity());
  block[1] = 0x7E;  // d is NaN
  dtype.coding->decode(block.data(), values);
  for (const float value : values) EXPECT_TRUE(std::isnan(value));
}

}  // namespace
}  // namespace tool_tests
