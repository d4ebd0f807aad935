// Valid files: every type, unusual shapes, and files of the writer.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "checkpoint.hpp"
#include "digest.hpp"
#include "error.hpp"
#include "image.hpp"
#include "safetensors.hpp"
#include "text.hpp"
#include "workplace.hpp"

namespace tool_tests {
namespace {

using tool::Dtype;
using tool::Header;
using tool::StoredTensor;

Header parse(const std::string &header, uint64_t data_bytes) { return tool::parse_header("file", header, data_bytes); }

TEST(Reader, KnowsEveryType) {
  const std::pair<const char *, int> widths[] = {
      {"BOOL", 8},    {"F4", 4},      {"F6_E2M3", 6}, {"F6_E3M2", 6},     {"U8", 8},          {"I8", 8},
      {"F8_E5M2", 8}, {"F8_E4M3", 8}, {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}, {"I16", 16},
      {"U16", 16},    {"F16", 16},    {"BF16", 16},   {"I32", 32},        {"U32", 32},        {"F32", 32},
      {"C64", 64},    {"F64", 64},    {"I64", 64},    {"U64", 64}};
  for (const auto &[name, bits] : widths) {
    const std::string header = std::string("{\"t\":{\"dtype\":\"") + name + "\",\"shape\":[8],\"data_offsets\":[0," +
                               std::to_string(bits) + "]}}";
    const Header parsed = parse(header, static_cast<uint64_t>(bits));
    ASSERT_EQ(parsed.tensors.size(), 1u) << name;
    EXPECT_EQ(parsed.tensors[0].dtype->name, name);
  }
  EXPECT_EQ(tool::dtypes().size(), std::size(widths));
}

TEST(Reader, TakesScalarsEmptyTensorsSpacesAndAnyOrder) {
  const Header parsed = parse(
      "{ \"b\" : {\"data_offsets\":[4,8],\"shape\":[],\"dtype\":\"F32\"},\n"
      "\"e\":{\"dtype\":\"F32\",\"shape\":[3,0],\"data_offsets\":[4,4]},"
      "\"a\":{\"dtype\":\"U8\",\"shape\":[1,4],\"data_offsets\":[0,4]}, \"__metadata__\":{\"k\":\"\\u00e4\"} }   ",
      8);
  ASSERT_EQ(parsed.tensors.size(), 3u);
  EXPECT_EQ(parsed.tensors[0].name, "a");
  EXPECT_EQ(parsed.tensors[1].name, "e");
  EXPECT_EQ(parsed.tensors[2].name, "b");
  EXPECT_EQ(parsed.metadata.at("k"), "ä");
}

TEST(Reader, FindsEveryTensorByName) {
  std::string header = "{", name;
  for (int i = 0; i < 50; ++i) {
    name = std::to_string(i * 37 % 50);
    header += (i == 0 ? "\"" : ",\"") + name + R"(":{"dtype":"U8","shape":[1],"data_offsets":[)" + std::to_string(i) +
              "," + std::to_string(i + 1) + "]}";
  }
  const Workplace workplace;
  const tool::Checkpoint file(workplace.write("f", image(header + "}", 50)));
  for (int i = 0; i < 50; ++i) {
    ASSERT_NE(file.find(std::to_string(i)), nullptr) << i;
    EXPECT_EQ(file.find(std::to_string(i))->name, std::to_string(i));
  }
  EXPECT_EQ(file.find("50"), nullptr);
  EXPECT_EQ(file.find(""), nullptr);
}

TEST(Reader, BoundsWhatAHeaderTakes) {
  std::string header = "{";
  for (int i = 0; i < 1000; ++i)
    header += fmt::format(R"({}"{}":{{"dtype":"U8","shape":[0],"data_offsets":[0,0]}})", i == 0 ? "" : ",", i);
  header += "}";
  const uint64_t exact = 1000 * 100 + 2 * header.size();
  EXPECT_EQ(tool::parse_header("f", header, 0, {exact, 100, 2}).tensors.size(), 1000u);
  EXPECT_THROW(tool::parse_header("f", header, 0, {exact - 1, 100, 2}), tool::Error);
  std::string shape = "0";
  for (int i = 0; i < 64; ++i) shape += ",1";
  EXPECT_THROW(parse(R"({"w":{"dtype":"U8","data_offsets":[0,0],"shape":[)" + shape + "]}}", 0), tool::Error);
}

TEST(Reader, TakesAFileWithoutTensors) { EXPECT_TRUE(parse("{}", 0).tensors.empty()); }

TEST(Writer, AlignsEveryTensorAndReadsBack) {
  std::vector<StoredTensor> tensors = {{"bytes", tool::find_dtype("U8"), {3}, 0, 0},
                                       {"wide \"quoted\" ä", tool::find_dtype("F64"), {2, 2}, 0, 0},
                                       {"halves", tool::find_dtype("BF16"), {5}, 0, 0},
                                       {"empty", tool::find_dtype("F32"), {0, 7}, 0, 0}};
  const uint64_t bytes = tool::place_tensors(tensors);
  EXPECT_EQ(bytes, 32u + 10u + 3u);
  const std::string prefix = tool::header_bytes(tensors, {{"key", "value"}});
  EXPECT_EQ(prefix.size() % 8, 0u);
  const Header parsed = parse(prefix.substr(8), bytes);
  EXPECT_EQ(parsed.metadata.at("key"), "value");
  for (const StoredTensor &tensor : parsed.tensors) {
    EXPECT_EQ(tensor.begin % (static_cast<uint64_t>(tensor.dtype->bits) / 8), 0u) << tensor.name;
  }
  EXPECT_EQ(parsed.tensors.front().name, "wide \"quoted\" ä");
}

TEST(Text, ShowsNoControlCharacterAndCutsLongNames) {
  EXPECT_EQ(tool::in_quotes("a\x1b[1m\n\x7f"), "\"a\\x1B[1m\\x0A\\x7F\"");
  EXPECT_EQ(tool::in_quotes("\xC2\x9B"
                            "2J"),
            "\"\\xC2\\x9B"
            "2J\"");
  // Right-to-left override, zero-width space, byte-order mark and tag are escaped.
  EXPECT_EQ(tool::in_quotes("a\xE2\x80\xAE"
                            "b\xE2\x80\x8B\xEF\xBB\xBF\xF3\xA0\x80\x81"),
            "\"a\\xE2\\x80\\xAEb\\xE2\\x80\\x8B\\xEF\\xBB\\xBF\\xF3\\xA0\\x80\\x81\"");
  EXPECT_EQ(tool::in_quotes("\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80"), "\"\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80\"");
  EXPECT_LT(tool::in_quotes(std::string(50'000'000, 'x')).size(), 200u);
  EXPECT_EQ(tool::shortened("abcdefghij", 5), "a...j");
}

TEST(Text, ShowsNoIgnorableCharacter) {
  for (const std::string character :
       {"\xCD\x8F",         "\xE1\x85\x9F",     "\xE1\x85\xA0",     "\xE1\x9E\xB4",     "\xE1\xA0\x8B",
        "\xE1\xA0\x8F",     "\xE3\x85\xA4",     "\xEF\xB8\x80",     "\xEF\xB8\x8F",     "\xEF\xBE\xA0",
        "\xEF\xBF\xB0",     "\xD8\x80",         "\xF0\x93\x90\xB0", "\xF0\x93\x90\xBF", "\xF0\x9B\xB2\xA0",
        "\xF0\x9D\x85\xB3", "\xF0\x9D\x85\xBA", "\xF3\xA0\x80\xA0", "\xF3\xA0\x87\xAF", "\xF3\xA0\xBF\xBF"}) {
    const std::string shown = tool::in_quotes(character);
    EXPECT_EQ(shown.substr(0, 3), "\"\\x") << shown;
    EXPECT_EQ(shown.size(), 4 * character.size() + 2) << shown;
  }
  for (const std::string character :
       {"a", " ", "\xCC\x81", "\xE1\xA0\x8A", "\xE1\xA0\x90", "\xEF\xBF\xBC", "\xF3\xB0\x80\x80"}) {
    EXPECT_EQ(tool::in_quotes(character), '"' + character + '"');
  }
}

TEST(Digest, DoesNotDependOnHowBytesAreCut) {
  std::string bytes;
  for (int i = 0; i < 1000; ++i) bytes += static_cast<char>(i * 37);
  tool::Digest whole;
  whole.add(bytes);
  for (const size_t step : {1u, 3u, 7u, 8u, 9u, 64u, 999u}) {
    tool::Digest cut;
    for (size_t i = 0; i < bytes.size(); i += step) cut.add(std::string_view(bytes).substr(i, step));
    EXPECT_EQ(cut.value(), whole.value()) << step;
  }
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string other = bytes;
    other[i] = static_cast<char>(other[i] ^ 1);
    tool::Digest changed;
    changed.add(other);
    EXPECT_NE(changed.value(), whole.value()) << i;
  }
}

}  // namespace
}  // namespace tool_tests
