// Valid GGUF files, as the reader, lpt inspect and lpt convert read them.
#include "gguf.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>

#include "checkpoint.hpp"
#include "convert.hpp"
#include "error.hpp"
#include "file.hpp"
#include "gguf_image.hpp"
#include "image.hpp"
#include "inspect.hpp"
#include "workplace.hpp"

namespace tool_tests {
namespace {

using tool::MetadataEntry;
using tool::StoredTensor;

tool::Header header_of(const GgufImage &image) {
  const Workplace workplace;
  return tool::Checkpoint(workplace.write("f.gguf", image.bytes())).header();
}

void expect_entry(const MetadataEntry &entry, const std::string &key, const std::string &type, uint64_t count,
                  const std::string &value) {
  EXPECT_EQ(entry.key, key);
  EXPECT_EQ(entry.type, type) << key;
  EXPECT_EQ(entry.count, count) << key;
  EXPECT_EQ(entry.value, value) << key;
}

TEST(Gguf, ReadsEveryTypeOfValue) {
  const std::string inner = gguf_array(kGgufString, 2, gguf_text("a") + gguf_text("b"));
  GgufImage image;
  image.entries = {gguf_entry("u8", 0, bytes_of<uint8_t>({255})),
                   gguf_entry("i8", 1, bytes_of<int8_t>({-128})),
                   gguf_entry("u16", 2, bytes_of<uint16_t>({65535})),
                   gguf_entry("i16", 3, bytes_of<int16_t>({-32768})),
                   gguf_entry("u32", 4, bytes_of<uint32_t>({4294967295u})),
                   gguf_entry("i32", 5, bytes_of<int32_t>({-5})),
                   gguf_entry("f32", 6, bytes_of<float>({1e-5f})),
                   gguf_entry("bool", 7, std::string(1, '\1')),
                   gguf_entry("text", 8, gguf_text("a \xC3\xA4")),
                   gguf_entry("arrays", 9, gguf_array(9, 2, inner + gguf_array(4, 0, ""))),
                   gguf_entry("u64", 10, bytes_of<uint64_t>({~uint64_t{0}})),
                   gguf_entry("i64", 11, bytes_of<int64_t>({std::numeric_limits<int64_t>::min()})),
                   gguf_entry("f64", 12, bytes_of<double>({0.1})),
                   gguf_entry("long", 9, gguf_array(2, 9, bytes_of<uint16_t>({1, 2, 3, 4, 5, 6, 7, 8, 9}))),
                   gguf_entry("bools", 9, gguf_array(7, 9, std::string(9, '\0')))};
  const std::vector<MetadataEntry> entries = header_of(image).entries;
  ASSERT_EQ(entries.size(), image.entries.size());
  expect_entry(entries[0], "u8", "uint8", 0, "255");
  expect_entry(entries[1], "i8", "int8", 0, "-128");
  expect_entry(entries[2], "u16", "uint16", 0, "65535");
  expect_entry(entries[3], "i16", "int16", 0, "-32768");
  expect_entry(entries[4], "u32", "uint32", 0, "4294967295");
  expect_entry(entries[5], "i32", "int32", 0, "-5");
  expect_entry(entries[6], "f32", "float32", 0, "1e-05");
  expect_entry(entries[7], "bool", "bool", 0, "true");
  expect_entry(entries[8], "text", "string", 0, "a \xC3\xA4");
  expect_entry(entries[9], "arrays", "array of array", 2, "[[a, b], []]");
  expect_entry(entries[10], "u64", "uint64", 0, "18446744073709551615");
  expect_entry(entries[11], "i64", "int64", 0, "-9223372036854775808");
  expect_entry(entries[12], "f64", "float64", 0, "0.1");
  expect_entry(entries[13], "long", "array of uint16", 9, "[1, 2, 3, 4, 5, 6, 7, 8, ...]");
  expect_entry(entries[14], "bools", "array of bool", 9,
               "[false, false, false, false, false, false, false, false, ...]");
}

TEST(Gguf, CutsLongValues) {
  std::string characters = "x";
  for (int i = 0; i < 1000; ++i) characters += "\xE2\x82\xAC";
  std::string tokens;
  for (int i = 0; i < 1000; ++i) tokens += gguf_text(characters);
  GgufImage image;
  image.entries = {
      gguf_entry("text", kGgufString, gguf_text(characters)),
      gguf_entry("tokens", kGgufArray, gguf_array(kGgufString, 1000, tokens)),
      gguf_entry("bytes", kGgufString, gguf_text(std::string(1000, '\xFF'))),
      gguf_entry("seven", kGgufArray, gguf_array(kGgufString, 7, tokens.substr(0, tokens.size() / 1000 * 7)))};
  const std::vector<MetadataEntry> entries = header_of(image).entries;
  for (const MetadataEntry &entry : entries) EXPECT_LT(entry.value.size(), 600u) << entry.key;
  // 199 bytes of 200 are whole characters.
  EXPECT_EQ(entries[0].value, characters.substr(0, 199) + "...");
  EXPECT_TRUE(entries[1].value.ends_with("..., ...]"));
  EXPECT_EQ(entries[1].count, 1000u);
  EXPECT_EQ(entries[3].value, entries[1].value);
}

TEST(Gguf, ReadsBothVersionsAndAnyAlignment) {
  for (const uint32_t version : {2u, 3u}) {
    for (const uint64_t alignment : {1u, 8u, 32u, 4096u}) {
      GgufImage image = gguf_image({{"a", {3}, kF32, std::string(12, '\1')}, {"b", {2}, kF32, "12345678"}}, alignment);
      image.version = version;
      const Workplace workplace;
      const tool::Checkpoint file(workplace.write("f.gguf", image.bytes()));
      std::string read(8, '\0');
      file.read(*file.find("b"), 0, std::as_writable_bytes(std::span(read)));
      EXPECT_EQ(read, "12345678") << version << " " << alignment;
      EXPECT_EQ(file.data_bytes(), 20u);
    }
  }
}

// The last tensor may end without its padding, tensors may lie in another order than their infos, and may be empty.
TEST(Gguf, ReadsAnyOrderAndNoPadding) {
  GgufImage image;
  image.infos = {gguf_info("second", {4}, kF32, 32), gguf_info("first", {1}, kF32, 0),
                 gguf_info("none", {0, 4}, kF32, 32), gguf_info("scalar", {}, kF32, 64)};
  image.data = std::string(68, '\1');
  const tool::Header header = header_of(image);
  ASSERT_EQ(header.tensors.size(), 4u);
  EXPECT_EQ(header.tensors[0].name, "first");
  EXPECT_EQ(header.tensors[1].name, "none");
  EXPECT_EQ(header.tensors[2].name, "second");
  EXPECT_EQ(header.tensors[3].bytes(), 4u);
  EXPECT_TRUE(header_of(GgufImage()).tensors.empty());
}

// A model in three parts, as llama.cpp splits it.
struct Parts {
  struct Part {
    uint16_t number, count;
    std::vector<GgufTensor> tensors;
  };
  std::vector<Part> parts = {{0, 3, {{"b", {32}, kF32, std::string(128, '\1')}}},
                             {1, 3, {{"a", {64}, kF32, std::string(256, '\2')}, {"d", {2}, kF32, "12345678"}}},
                             {2, 3, {{"c", {32}, kQ8_0, random_blocks(kQ8_0, 1, 5)}}}};
  int32_t total = 4;

  static std::string name(size_t number) { return "m-0000" + std::to_string(number + 1) + "-of-00003.gguf"; }
  // Returns the path of the first part.
  std::string write(const Workplace &workplace) const {
    for (size_t i = 0; i < parts.size(); ++i) {
      GgufImage image = gguf_image(parts[i].tensors);
      image.entries.push_back(gguf_entry("split.no", 2, bytes_of<uint16_t>({parts[i].number})));
      image.entries.push_back(gguf_entry("split.count", 2, bytes_of<uint16_t>({parts[i].count})));
      image.entries.push_back(gguf_entry("split.tensors.count", 5, bytes_of<int32_t>({total})));
      workplace.write(name(i), image.bytes());
    }
    return workplace.path(name(0));
  }
};

TEST(Gguf, ReadsAllParts) {
  const Workplace workplace;
  const Parts parts;
  std::vector<GgufTensor> all;
  for (const auto &part : parts.parts) all.insert(all.end(), part.tensors.begin(), part.tensors.end());
  const std::string path = parts.write(workplace), whole = workplace.write("whole.gguf", gguf_image(all).bytes());
  const tool::Checkpoint file(path);
  EXPECT_EQ(file.shards(), (std::vector<std::string>{Parts::name(0), Parts::name(1), Parts::name(2)}));
  EXPECT_EQ(file.files().size(), 3u);
  EXPECT_EQ(file.data_bytes(), 128u + 256 + 8 + 34);
  EXPECT_EQ(tool::Checkpoint(path, {UINT64_MAX, 100, 0}).held_bytes(), 100u * (4 + 3 * 4));  // tensors and entries
  ASSERT_NE(file.find("d"), nullptr);
  EXPECT_EQ(file.find("d")->shard, 1u);
  std::string read(8, '\0');
  file.read(*file.find("d"), 0, std::as_writable_bytes(std::span(read)));
  EXPECT_EQ(read, "12345678");
  std::vector<std::string> outputs;
  for (const std::string &input : {path, whole}) {
    const std::string output = workplace.path("out" + std::to_string(outputs.size()));
    ASSERT_EQ(run_lpt(workplace, {"convert", input, output, "--to", "f32", "--quiet"}).status, 0);
    outputs.push_back(tool::read_text(output));
  }
  EXPECT_EQ(outputs[0], outputs[1]);
}

TEST(Gguf, RejectsPartsThatDoNotAgree) {
  const auto reject = [](const Parts &parts, const std::function<std::string(const Workplace &)> &path,
                         const std::string &words) {
    const Workplace workplace;
    parts.write(workplace);
    try {
      const tool::Checkpoint file(path(workplace));
      ADD_FAILURE() << "accepted: " << words;
    } catch (const tool::Error &error) {
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    }
  };
  const auto first = [](const Workplace &workplace) { return workplace.path(Parts::name(0)); };
  const auto with = [&](const std::function<void(Parts &)> &change, const std::string &words) {
    Parts parts;
    change(parts);
    reject(parts, first, words);
  };
  reject(
      {}, [](const Workplace &workplace) { return workplace.path(Parts::name(1)); },
      "is part 2 of 3 of a model: expected the path of part 1");
  reject(
      {},
      [&](const Workplace &workplace) {
        std::filesystem::rename(first(workplace), workplace.path("m.gguf"));
        return workplace.path("m.gguf");
      },
      "expected a name that ends with -00001-of-00003.gguf");
  reject(
      {},
      [&](const Workplace &workplace) {
        std::filesystem::remove(workplace.path(Parts::name(2)));
        return first(workplace);
      },
      "part \"m-00003-of-00003.gguf\" is missing");
  with([](Parts &parts) { parts.parts[1].number = 2; }, "is part 3 of 3: expected part 2 of 3");
  with([](Parts &parts) { parts.parts[2].count = 4; }, "is part 3 of 4: expected part 3 of 3");
  with([](Parts &parts) { parts.total = 5; }, "the parts have 4 tensors: expected 5, split.tensors.count");
  with([](Parts &parts) { parts.parts[2].tensors[0].name = "a"; }, "\"a\" occurs twice");
  with([](Parts &parts) { parts.parts[0].count = 0; }, "split.count is 0: expected 1 to 99999");
  with([](Parts &parts) { parts.parts[1].number = 3; }, "split.no is 3: expected 0 to 2");
}

// Elements and bytes of a block: gguf.constants.GGML_QUANT_SIZES of the package gguf 0.19.0.
struct TypeSize {
  uint32_t number;
  const char *name;
  uint64_t elements;
  uint64_t bytes;
};
constexpr TypeSize kTypeSizes[] = {
    {0, "F32", 1, 4},         {1, "F16", 1, 2},         {2, "Q4_0", 32, 18},      {3, "Q4_1", 32, 20},
    {6, "Q5_0", 32, 22},      {7, "Q5_1", 32, 24},      {8, "Q8_0", 32, 34},      {9, "Q8_1", 32, 40},
    {10, "Q2_K", 256, 84},    {11, "Q3_K", 256, 110},   {12, "Q4_K", 256, 144},   {13, "Q5_K", 256, 176},
    {14, "Q6_K", 256, 210},   {15, "Q8_K", 256, 292},   {16, "IQ2_XXS", 256, 66}, {17, "IQ2_XS", 256, 74},
    {18, "IQ3_XXS", 256, 98}, {19, "IQ1_S", 256, 50},   {20, "IQ4_NL", 32, 18},   {21, "IQ3_S", 256, 110},
    {22, "IQ2_S", 256, 82},   {23, "IQ4_XS", 256, 136}, {24, "I8", 1, 1},         {25, "I16", 1, 2},
    {26, "I32", 1, 4},        {27, "I64", 1, 8},        {28, "F64", 1, 8},        {29, "IQ1_M", 256, 56},
    {30, "BF16", 1, 2},       {34, "TQ1_0", 256, 54},   {35, "TQ2_0", 256, 66},   {39, "MXFP4", 32, 17},
    {40, "NVFP4", 64, 36},    {41, "Q1_0", 128, 18}};

TEST(Gguf, ListsEveryTypeWithItsBytes) {
  std::vector<GgufTensor> tensors;
  for (const TypeSize &type : kTypeSizes) {
    tensors.push_back({type.name, {type.elements * 2, 3, 2}, type.number, std::string(12 * type.bytes, '\0')});
  }
  const Workplace workplace;
  const std::string path = workplace.write("f.gguf", gguf_image(tensors).bytes());
  const tool::Checkpoint file(path);
  const auto json = nlohmann::json::parse(run_lpt(workplace, {"inspect", path, "--json", "--format", "fp8"}).out);
  ASSERT_EQ(file.tensors().size(), std::size(kTypeSizes));
  for (size_t i = 0; i < std::size(kTypeSizes); ++i) {
    const TypeSize &type = kTypeSizes[i];
    const StoredTensor &tensor = file.tensors()[i];
    EXPECT_EQ(tensor.name, type.name);
    EXPECT_EQ(tensor.dtype->name, type.name);
    EXPECT_EQ(tensor.bytes(), 12 * type.bytes) << type.name;
    EXPECT_EQ(tensor.shape, (std::vector<int64_t>{2, 3, static_cast<int64_t>(type.elements * 2)})) << type.name;
    EXPECT_EQ(json["tensors"][i]["dtype"], type.name);
    EXPECT_EQ(json["tensors"][i]["bytes"], 12 * type.bytes) << type.name;
  }
}

// The header of a file that exists only as a function.
uint64_t held_by_tokens(uint64_t count, const tool::HeaderMemory &memory) {
  const std::string head = "GGUF" + u32_bytes(3) + u64_bytes(0) + u64_bytes(1) +
                           gguf_entry("tokens", kGgufArray, u32_bytes(kGgufUint8) + u64_bytes(count));
  const auto read = [&](uint64_t offset, std::span<std::byte> bytes) {
    std::fill(bytes.begin(), bytes.end(), std::byte{0});
    if (offset == 0) std::memcpy(bytes.data(), head.data(), std::min(head.size(), bytes.size()));
  };
  tool::Digest digest;
  return tool::parse_gguf("f", (head.size() + count + 31) / 32 * 32, read, memory, digest).held_bytes;
}

TEST(Gguf, BoundsWhatAHeaderTakes) {
  const tool::HeaderMemory memory{1000, 100, 1};
  EXPECT_LT(held_by_tokens(90'000'000, memory), 250u);
  try {
    held_by_tokens(100'000'000, memory);
    FAIL() << "a header above the limit is accepted";
  } catch (const tool::Error &error) {
    EXPECT_NE(std::string(error.what()).find("header of at most 100000000 bytes"), std::string::npos) << error.what();
  }
  GgufImage image;
  for (int i = 0; i < 100; ++i) image.infos.push_back(gguf_info(std::to_string(1000 + i), {0}, kF32, 0));
  const Workplace workplace;
  const std::string path = workplace.write("f.gguf", image.bytes());
  EXPECT_EQ(tool::Checkpoint(path, {100 * 100 + 2 * 400, 100, 2}).held_bytes(), 10800u);
  EXPECT_THROW(tool::Checkpoint(path, {100 * 100 + 2 * 400 - 1, 100, 2}), tool::Error);
  EXPECT_THROW(tool::Checkpoint(path, {100 * 100 - 1, 100, 0}), tool::Error);
}

// Conversion.

constexpr uint32_t kBlockTypes[] = {kQ4_0, kQ4_1, kQ8_0, kMxfp4};

std::vector<GgufTensor> block_tensors() {
  std::vector<GgufTensor> tensors;
  for (const uint32_t type : kBlockTypes) {
    tensors.push_back({"w" + std::to_string(type), {96, 1100}, type, random_blocks(type, 3300, type)});
  }
  tensors.push_back({"row", {64}, kQ8_0, random_blocks(kQ8_0, 2, 9)});
  tensors.push_back({"experts", {64, 16, 3}, kQ4_0, random_blocks(kQ4_0, 96, 10)});
  tensors.push_back({"bias", {3}, kF32, bytes_of<float>({1.5f, -2.0f, 0.25f})});
  tensors.push_back({"places", {2}, kI32, bytes_of<int32_t>({7, -7})});
  return tensors;
}

std::string stored_bytes(const tool::Checkpoint &file, const std::string &name) {
  const StoredTensor *tensor = file.find(name);
  if (tensor == nullptr) return "missing";
  std::string bytes(tensor->bytes(), '\0');
  file.read(*tensor, 0, std::as_writable_bytes(std::span(bytes)));
  return bytes;
}

Outcome convert(const Workplace &workplace, const std::string &input, const std::string &output,
                const std::vector<std::string> &options) {
  std::vector<std::string> words = {"convert", workplace.path(input), workplace.path(output), "--quiet"};
  words.insert(words.end(), options.begin(), options.end());
  return run_lpt(workplace, words);
}

TEST(GgufConvert, DecodesBlocksExactlyInAnyMemory) {
  const Workplace workplace;
  workplace.write("in.gguf", gguf_image(block_tensors()).bytes());
  for (const char *memory : {"1", "512"}) {
    const std::string output = std::string("out") + memory;
    const Outcome outcome = convert(workplace, "in.gguf", output, {"--to", "f32", "--verify", "--memory", memory});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const tool::Checkpoint made(workplace.path(output));
    for (const GgufTensor &tensor : block_tensors()) {
      const bool is_block = tensor.type != kF32 && tensor.type != kI32;
      const std::string expected = is_block ? bytes_of(block_values(tensor.type, tensor.bytes)) : tensor.bytes;
      EXPECT_TRUE(stored_bytes(made, tensor.name) == expected) << tensor.name << " " << memory;
      std::vector<int64_t> shape(tensor.extents.rbegin(), tensor.extents.rend());
      EXPECT_EQ(made.find(tensor.name)->shape, shape) << tensor.name;
    }
    EXPECT_EQ(made.find("places")->dtype->name, "I32");
  }
  EXPECT_TRUE(workplace.read("out1") == workplace.read("out512"));
}

TEST(GgufConvert, ReadsEveryFloatType) {
  const Workplace workplace;
  workplace.write("in.gguf", gguf_image({{"f16", {2}, kF16, bytes_of<uint16_t>({0x3C00, 0xC500})},
                                         {"bf16", {2}, kBF16, bytes_of<uint16_t>({0x3F80, 0xC0A0})},
                                         {"f64", {2}, kF64, bytes_of<double>({1.0, -5.0})}})
                                 .bytes());
  ASSERT_EQ(convert(workplace, "in.gguf", "out", {"--to", "f32"}).status, 0);
  const tool::Checkpoint made(workplace.path("out"));
  for (const char *name : {"f16", "bf16", "f64"}) {
    EXPECT_TRUE(stored_bytes(made, name) == bytes_of<float>({1.0f, -5.0f})) << name;
  }
}

// A cast from blocks equals a cast from the decoded file. Tensors that are not selected become F32.
TEST(GgufConvert, QuantizesAsFromTheDecodedFile) {
  const Workplace workplace;
  workplace.write("in.gguf", gguf_image(block_tensors()).bytes());
  ASSERT_EQ(convert(workplace, "in.gguf", "plain", {"--to", "f32"}).status, 0);
  for (const std::string format : {"nvfp4", "fp8", "int8", "bf16"}) {
    const std::vector<std::string> options = {"--to", format, "--exclude", "^w2$", "--verify", "--force"};
    ASSERT_EQ(convert(workplace, "in.gguf", "made", options).status, 0) << workplace.read("stderr");
    ASSERT_EQ(convert(workplace, "plain", "expected", options).status, 0) << workplace.read("stderr");
    const tool::Checkpoint made(workplace.path("made")), expected(workplace.path("expected"));
    ASSERT_EQ(made.tensors().size(), expected.tensors().size());
    for (const StoredTensor &tensor : expected.tensors()) {
      ASSERT_NE(made.find(tensor.name), nullptr) << tensor.name;
      EXPECT_EQ(made.find(tensor.name)->dtype, tensor.dtype) << format << " " << tensor.name;
      EXPECT_TRUE(stored_bytes(made, tensor.name) == stored_bytes(expected, tensor.name)) << format << tensor.name;
    }
    EXPECT_EQ(made.find("w2")->dtype->name, "F32") << format;
  }
}

TEST(GgufConvert, ReportsWhatIsOnlyDecoded) {
  const Workplace workplace;
  const std::string path = workplace.write("in.gguf", gguf_image(block_tensors()).bytes());
  const Outcome outcome = run_lpt(workplace, {"convert", path, workplace.path("out"), "--to", "int8", "--exclude",
                                              "^w2$", "--report", workplace.path("r.json")});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("decoded to F32, 1: excluded: w2\n"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("decoded to F32, 1: rank is 3: expected 2: experts\n"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("3 tensors became int8_row, 3 decoded to F32, 2 copied"), std::string::npos)
      << outcome.out;
  const auto report = nlohmann::json::parse(workplace.read("r.json"));
  EXPECT_EQ(report["tensors"][0]["reason"], "excluded");
  EXPECT_EQ(report["tensors"][0]["action"], "cast");
}

void expect_rejected(const Workplace &workplace, const std::string &input, const std::vector<std::string> &options,
                     const std::vector<std::string> &words) {
  const Outcome outcome = convert(workplace, input, "rejected", options);
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  for (const std::string &word : words) EXPECT_NE(outcome.err.find(word), std::string::npos) << word << outcome.err;
  EXPECT_FALSE(workplace.has("rejected"));
}

TEST(GgufConvert, RejectsWhatItCannotDecode) {
  const Workplace workplace;
  const GgufTensor unknown = {"blk.0.weight", {256, 16}, kIQ2_XXS, std::string(16 * 66, '\1')};
  workplace.write("k.gguf", gguf_image({unknown, {"f", {16, 16}, kF32, std::string(1024, '\0')}}).bytes());
  for (const std::string format : {"f32", "nvfp4"}) {
    expect_rejected(workplace, "k.gguf", {"--to", format, "--exclude", "blk"},
                    {"k.gguf", "\"blk.0.weight\"", "IQ2_XXS", "Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q2_K,"});
  }
  std::string blocks = random_blocks(kMxfp4, 32, 1);
  blocks[17 * 5] = '\xFF';
  workplace.write("nan.gguf", gguf_image({{"experts", {32, 32}, kMxfp4, blocks}}).bytes());
  expect_rejected(workplace, "nan.gguf", {"--to", "f32"}, {"nan.gguf", "\"experts\"", "0xFF"});
  const Outcome inspected = run_lpt(workplace, {"inspect", workplace.path("nan.gguf"), "--quiet"});
  EXPECT_EQ(inspected.status, 2);
  EXPECT_NE(inspected.err.find("nan.gguf: tensor \"experts\": "), std::string::npos) << inspected.err;
  workplace.write("name.gguf", gguf_image({{"__metadata__", {16, 16}, kF32, std::string(1024, '\1')}}).bytes());
  expect_rejected(workplace, "name.gguf", {"--to", "bf16"}, {"name.gguf", "\"__metadata__\"", "another name"});
  workplace.write("none.gguf", gguf_image({{"w", {32}, kQ8_0, random_blocks(kQ8_0, 1, 1)}}).bytes());
  expect_rejected(workplace, "none.gguf", {"--to", "nvfp4"}, {"none.gguf", "no tensor would change"});
}

// A second run continues after the tensors of the first one. The header has another key, so that the input has changed.
TEST(GgufConvert, NoticesAChangedHeader) {
  const Workplace workplace;
  GgufImage image = gguf_image(block_tensors());
  workplace.write("in.gguf", image.bytes());
  const uint64_t before = tool::Checkpoint(workplace.path("in.gguf")).header_digest();
  image.entries[0] = gguf_entry("general.architecture", kGgufString, gguf_text("tesu"));
  workplace.write("in.gguf", image.bytes());
  EXPECT_NE(tool::Checkpoint(workplace.path("in.gguf")).header_digest(), before);
}

// Inspection.

TEST(GgufInspect, MeasuresBlocksAsTheirValues) {
  const Workplace workplace;
  tool::InspectOptions options;
  options.input = workplace.write("in.gguf", gguf_image(block_tensors()).bytes());
  options.formats = {"fp8"};
  options.is_quiet = true;
  const tool::FileLook look = tool::look_at(options);
  ASSERT_EQ(look.tensors.size(), block_tensors().size());
  for (size_t i = 0; i < std::size(kBlockTypes); ++i) {
    const std::vector<float> values = block_values(kBlockTypes[i], block_tensors()[i].bytes);
    tool::NumberStats expected;
    expected.add(values);
    EXPECT_EQ(look.tensors[i].stats.amax, expected.amax) << look.tensors[i].name;
    EXPECT_EQ(look.tensors[i].stats.exponents, expected.exponents) << look.tensors[i].name;
    EXPECT_EQ(look.tensors[i].stats.zero_count, expected.zero_count) << look.tensors[i].name;
  }
}

TEST(GgufInspect, PrintsMetadata) {
  GgufImage image =
      gguf_image({{"w", {4, 2}, kF32, std::string(32, '\0')}, {"k", {256}, kQ4_K, std::string(144, '\1')}});
  image.entries.push_back(gguf_entry("llama.block_count", kGgufUint32, u32_bytes(30)));
  image.entries.push_back(gguf_entry("eps", 6, bytes_of<float>({std::numeric_limits<float>::infinity()})));
  image.entries.push_back(gguf_entry("steers", kGgufString, gguf_text("\x1B[2J\xFF")));
  image.entries.push_back(gguf_entry("ids", kGgufArray, gguf_array(kGgufUint8, 3, "\1\2\3")));
  const Workplace workplace;
  const std::string path = workplace.write("in.gguf", image.bytes());
  const Outcome text = run_lpt(workplace, {"inspect", path, "--format", "fp8", "--quiet"});
  ASSERT_EQ(text.status, 0) << text.err;
  EXPECT_NE(text.out.find("llama.block_count     uint32"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("\\x1B[2J\\xFF\n"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("w       F32    [2, 4]     32"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("k       Q4_K   [256]     144"), std::string::npos) << text.out;
  const Outcome json = run_lpt(workplace, {"inspect", path, "--json"});
  ASSERT_EQ(json.status, 0) << json.err;
  const auto metadata = nlohmann::json::parse(json.out)["metadata"];
  EXPECT_EQ(metadata[0]["value"], "test");
  EXPECT_EQ(metadata[1]["value"], 30);
  EXPECT_EQ(metadata[2]["value"], "inf");
  EXPECT_EQ(metadata[4]["count"], 3);
  EXPECT_EQ(metadata[4]["value"], "[1, 2, 3]");
}

}  // namespace
}  // namespace tool_tests
