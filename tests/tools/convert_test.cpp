// lpt convert as a user runs it: contents of the output, and its decoding.
#include "convert.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <tuple>

#include "checkpoint.hpp"
#include "error.hpp"
#include "image.hpp"
#include "workplace.hpp"

namespace tool_tests {
namespace {

using tool::Checkpoint;

std::vector<Matrix> some_matrices() {
  return {random_matrix("a.weight", 48, 128, 11), random_matrix("b.weight", 160, 256, 12),
          random_matrix("narrow.weight", 8, 128, 13), random_matrix("odd.weight", 40, 100, 14)};
}

tool::ConvertOptions options_of(const Workplace &workplace, const std::string &input, const std::string &output,
                                const std::string &format) {
  tool::ConvertOptions options;
  options.input = workplace.path(input);
  options.output = workplace.path(output);
  options.format = format;
  options.is_quiet = true;
  return options;
}

void convert(const Workplace &workplace, const std::string &input, const std::string &output,
             const std::string &format) {
  tool::ConvertOptions options = options_of(workplace, input, output, format);
  options.is_verified = true;
  tool::convert(options);
}

std::string rejection_of(const tool::ConvertOptions &options) {
  try {
    tool::convert(options);
    return "";
  } catch (const tool::Error &error) {
    return error.what();
  }
}

template <typename T>
std::vector<T> values(const Checkpoint &file, const std::string &name) {
  const tool::StoredTensor *tensor = file.find(name);
  if (tensor == nullptr) {
    ADD_FAILURE() << name << " is missing";
    return {};
  }
  std::vector<T> result(tensor->bytes() / sizeof(T));
  file.read(*tensor, 0, std::as_writable_bytes(std::span(result)));
  return result;
}

// Decoders from the definitions of the formats.
double e4m3fn(uint8_t code) {
  const int exponent = code >> 3 & 15, mantissa = code & 7;
  const double magnitude = exponent == 0 ? std::ldexp(mantissa, -9) : std::ldexp(8 + mantissa, exponent - 10);
  return code & 0x80 ? -magnitude : magnitude;
}
double e2m1(int code) {
  const double levels[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  return code & 8 ? -levels[code & 7] : levels[code & 7];
}
int nibble(const std::vector<uint8_t> &bytes, size_t place) { return bytes[place / 2] >> (place % 2 * 4) & 15; }

using Decoder = std::function<double(int64_t row, int64_t column)>;

// Checks that the decoded values equal those of `lpt convert --to f32`, and that their error is within that of the format.
void expect_decoded(const Workplace &workplace, const Matrix &matrix, const Decoder &decoder, double least_decibels) {
  const Checkpoint back(workplace.path("back.safetensors"));
  const std::vector<float> decoded = values<float>(back, matrix.name);
  ASSERT_EQ(decoded.size(), matrix.numbers.size());
  double signal = 0, noise = 0;
  for (int64_t row = 0; row < matrix.rows; ++row) {
    for (int64_t column = 0; column < matrix.columns; ++column) {
      const auto index = static_cast<size_t>(row * matrix.columns + column);
      const double expected = decoder(row, column);
      // Two f32 products, each with an error of half a unit in the last place.
      ASSERT_NEAR(decoded[index], expected, std::fabs(expected) * 0x1p-22)
          << matrix.name << " " << row << " " << column;
      signal += static_cast<double>(matrix.numbers[index]) * matrix.numbers[index];
      noise += std::pow(matrix.numbers[index] - expected, 2);
    }
  }
  EXPECT_GT(10 * std::log10(signal / noise), least_decibels);
}

class Converted : public testing::Test {
 protected:
  void make(const std::string &format) {
    workplace.write("in.safetensors", checkpoint(matrices));
    convert(workplace, "in.safetensors", "out.safetensors", format);
    convert(workplace, "out.safetensors", "back.safetensors", "f32");
    made = std::make_unique<Checkpoint>(workplace.path("out.safetensors"));
  }

  Workplace workplace;
  std::vector<Matrix> matrices = some_matrices();
  std::unique_ptr<Checkpoint> made;
};

TEST_F(Converted, Fp8IsWhatItsDefinitionSays) {
  make("fp8");
  const auto codes = values<uint8_t>(*made, "b.weight");
  const auto scale = values<float>(*made, "b.weight_scale");
  ASSERT_EQ(scale.size(), 1u);
  expect_decoded(
      workplace, matrices[1], [&](int64_t r, int64_t c) { return e4m3fn(codes[r * 256 + c]) * scale[0]; }, 30);
}

TEST_F(Converted, Nvfp4IsWhatItsDefinitionSays) {
  make("nvfp4");
  const auto codes = values<uint8_t>(*made, "b.weight_packed");
  const auto scales = values<uint8_t>(*made, "b.weight_scale");
  const auto global = values<float>(*made, "b.weight_global_scale");
  // The global scale divides: about 448 · 6 / amax.
  float amax = 0;
  for (const float number : matrices[1].numbers) amax = std::max(amax, std::fabs(number));
  EXPECT_NEAR(global[0], 448 * 6 / amax, global[0] * 1e-6);
  expect_decoded(
      workplace, matrices[1],
      [&](int64_t r, int64_t c) {
        return e2m1(nibble(codes, r * 256 + c)) * e4m3fn(scales[r * 16 + c / 16]) / global[0];
      },
      18);
}

TEST_F(Converted, Nvfp4OfSquareBlocksRepeatsTheirScales) {
  make("nvfp4_16x16");
  const auto codes = values<uint8_t>(*made, "b.weight_packed");
  const auto scales = values<uint8_t>(*made, "b.weight_scale");
  const auto global = values<float>(*made, "b.weight_global_scale");
  ASSERT_EQ(scales.size(), 160u * 16u);
  expect_decoded(
      workplace, matrices[1],
      [&](int64_t r, int64_t c) {
        EXPECT_EQ(scales[r * 16 + c / 16], scales[r / 16 * 16 * 16 + c / 16]);
        return e2m1(nibble(codes, r * 256 + c)) * e4m3fn(scales[r * 16 + c / 16]) / global[0];
      },
      15);
}

TEST_F(Converted, Mxfp8AndMxfp4AreWhatTheirDefinitionsSay) {
  make("mxfp8");
  const auto codes = values<uint8_t>(*made, "a.weight");
  const auto scales = values<uint8_t>(*made, "a.weight_scale");
  expect_decoded(
      workplace, matrices[0],
      [&](int64_t r, int64_t c) { return std::ldexp(e4m3fn(codes[r * 128 + c]), scales[r * 4 + c / 32] - 127); }, 30);
  std::filesystem::remove(workplace.path("out.safetensors"));
  std::filesystem::remove(workplace.path("back.safetensors"));
  make("mxfp4");
  const auto packed = values<uint8_t>(*made, "a.weight_packed");
  const auto exponents = values<uint8_t>(*made, "a.weight_scale");
  expect_decoded(
      workplace, matrices[0],
      [&](int64_t r, int64_t c) {
        return std::ldexp(e2m1(nibble(packed, r * 128 + c)), exponents[r * 4 + c / 32] - 127);
      },
      16);
}

TEST_F(Converted, Int4IsWhatItsDefinitionSays) {
  make("int4-g32");
  const auto words = values<uint32_t>(*made, "a.weight_packed");
  const auto scales = values<float>(*made, "a.weight_scale");
  EXPECT_EQ(values<int64_t>(*made, "a.weight_shape"), (std::vector<int64_t>{48, 128}));
  expect_decoded(
      workplace, matrices[0],
      [&](int64_t r, int64_t c) {
        const int number = static_cast<int>(words[r * 16 + c / 8] >> (c % 8 * 4) & 15u) - 8;
        return number * static_cast<double>(scales[r * 4 + c / 32]);
      },
      18);
}

TEST_F(Converted, Uint4WithZeroPointsIsWhatItsDefinitionSays) {
  make("uint4-g32");
  const auto words = values<uint32_t>(*made, "a.weight_packed");
  const auto scales = values<float>(*made, "a.weight_scale");
  const auto zeros = values<uint32_t>(*made, "a.weight_zero_point");
  expect_decoded(
      workplace, matrices[0],
      [&](int64_t r, int64_t c) {
        const int number = static_cast<int>(words[r * 16 + c / 8] >> (c % 8 * 4) & 15u);
        const int zero = static_cast<int>(zeros[r / 8 * 4 + c / 32] >> (r % 8 * 4) & 15u);
        return (number - zero) * static_cast<double>(scales[r * 4 + c / 32]);
      },
      19);
}

TEST_F(Converted, CopiesWhatIsNoLargeMatrix) {
  matrices.pop_back();  // a file with a short group follows no convention
  make("nvfp4");
  const Checkpoint input(workplace.path("in.safetensors"));
  for (const char *name : {"bias", "narrow.weight"}) {
    EXPECT_EQ(values<float>(*made, name), values<float>(input, name)) << name;
  }
  EXPECT_EQ(values<int64_t>(*made, "positions"), (std::vector<int64_t>{0, 1, 2}));
  EXPECT_EQ(made->header().metadata.at("format"), "pt");
  EXPECT_EQ(made->find("a.weight"), nullptr);
  const auto config = nlohmann::json::parse(workplace.read("out.safetensors.quantization_config.json"));
  EXPECT_EQ(config["config_groups"]["group_0"]["targets"], nlohmann::json({"a", "b"}));
}

// The last group has 100 % 32 = 4 columns and a separate scale; compressed-tensors supports only full groups.
TEST_F(Converted, ShortLastGroupsAreWhatTheirDefinitionSays) {
  make("int4-g32");
  const auto words = values<uint32_t>(*made, "odd.weight_packed");
  const auto scales = values<float>(*made, "odd.weight_scale");
  ASSERT_EQ(scales.size(), 40u * 4u);
  expect_decoded(
      workplace, matrices[3],
      [&](int64_t r, int64_t c) {
        const int number = static_cast<int>(words[r * 13 + c / 8] >> (c % 8 * 4) & 15u) - 8;
        return number * static_cast<double>(scales[r * 4 + c / 32]);
      },
      18);
  EXPECT_FALSE(workplace.has("out.safetensors.quantization_config.json"));
  EXPECT_FALSE(made->header().metadata.contains("quantization_config"));
}

TEST(Convert, ChoosesByRegularExpression) {
  const Workplace workplace;
  workplace.write("in.safetensors", checkpoint(some_matrices()));
  tool::ConvertOptions options = options_of(workplace, "in.safetensors", "out.safetensors", "int8");
  options.include = "a|narrow|odd";
  options.exclude = "^a";
  tool::convert(options);
  const Checkpoint made(options.output);
  EXPECT_EQ(made.find("a.weight")->dtype->name, "F32");
  EXPECT_EQ(made.find("b.weight")->dtype->name, "F32");
  EXPECT_EQ(made.find("narrow.weight")->dtype->name, "I8");
  EXPECT_EQ(made.find("odd.weight")->dtype->name, "I8");
}

TEST(Convert, ListsWhatItCopiesAndWhy) {
  const Workplace workplace;
  workplace.write("in.safetensors", checkpoint(some_matrices()));
  const std::vector<std::string> words = {
      "convert", workplace.path("in.safetensors"), workplace.path("out.safetensors"), "--to", "int4-g32", "--force"};
  const Outcome short_groups = run_lpt(workplace, words);
  ASSERT_EQ(short_groups.status, 0) << short_groups.err;
  EXPECT_NE(short_groups.out.find("1 of the matrices end within a group of 32 columns"), std::string::npos);
  for (const char *line : {"copied, 1: fewer than 16 rows: narrow.weight\n", "copied, 1: rank is 1: expected 2: bias\n",
                           "copied, 1: dtype is I64: expected a float: positions\n"}) {
    EXPECT_NE(short_groups.out.find(line), std::string::npos) << line << short_groups.out;
  }
  std::vector<std::string> whole_words = words;
  whole_words.push_back("--whole-blocks");
  const Outcome whole_groups = run_lpt(workplace, whole_words);
  ASSERT_EQ(whole_groups.status, 0) << whole_groups.err;
  EXPECT_NE(whole_groups.out.find("columns are 100: expected a multiple of 32 with --whole-blocks: odd.weight"),
            std::string::npos)
      << whole_groups.out;
  EXPECT_TRUE(workplace.has("out.safetensors.quantization_config.json"));
}

TEST(Convert, RejectsElementsWithoutScales) {
  const Workplace workplace;
  workplace.write("in.safetensors", checkpoint(some_matrices()));
  const std::pair<const char *, const char *> targets[] = {{"int4", "int4_1x32, int4_1x64, int4_1x128"},
                                                           {"nf4", "nf4_1x64"},
                                                           {"e2m1fn", "mxfp4, nvfp4, nvfp4_16x16"},
                                                           {"uint4", "uint4_1x128"},
                                                           {"bnb_fp4", "bnb_fp4_1x64"},
                                                           {"ternary", "ternary_tensor"},
                                                           {"int16", "int16_tensor"},
                                                           {"int2", "int2/1x32/f32"},
                                                           {"e8m0fnu", "see lpt formats"},
                                                           {"int64", "see lpt formats"},
                                                           {"e3m2fn", "mxfp6_e3m2"}};
  for (const auto &[element, meant] : targets) {
    const std::string rejection = rejection_of(options_of(workplace, "in.safetensors", "out.safetensors", element));
    EXPECT_NE(rejection.find("without scales"), std::string::npos) << element << ": " << rejection;
    EXPECT_NE(rejection.find(meant), std::string::npos) << element << ": " << rejection;
    EXPECT_FALSE(workplace.has("out.safetensors") || workplace.has("out.safetensors.partial")) << element;
  }
  // Floats with a type in the file format keep about 30 dB of weights near 1.
  for (const char *element : {"e4m3fn", "e5m2", "f16", "bf16"}) {
    auto options = options_of(workplace, "in.safetensors", "out.safetensors", element);
    options.is_restarted = true;
    EXPECT_EQ(rejection_of(options), "") << element;
    std::filesystem::remove(options.output);
  }
}

TEST(Convert, RejectsAFormatThatLosesNearlyEverything) {
  const Workplace workplace;
  Matrix small = random_matrix("small.weight", 32, 32, 1), large = small;
  for (float &number : small.numbers) number *= 1e-6f;  // below half of the smallest e4m3fn value, 2^-9
  large.name = "large.weight";
  for (float &number : large.numbers) number = std::copysign(1e30f, number);  // above the largest f16 value, 65504
  workplace.write("small.safetensors", checkpoint({random_matrix("a.weight", 32, 32, 2), small}));
  workplace.write("large.safetensors", checkpoint({large}));
  for (const auto &[input, format] : {std::pair("small.safetensors", "e4m3fn"), {"large.safetensors", "f16"}}) {
    auto options = options_of(workplace, input, "out.safetensors", format);
    const std::string rejection = rejection_of(options);
    EXPECT_NE(rejection.find("expected at least 10 dB, or --force"), std::string::npos) << rejection;
    for (const char *name : {"out.safetensors", "out.safetensors.partial", "out.safetensors.journal"}) {
      EXPECT_FALSE(workplace.has(name)) << name;
    }
    options.is_forced = true;
    EXPECT_EQ(rejection_of(options), "");
    std::filesystem::remove(options.output);
  }
}

TEST(Convert, NeitherFollowsLinksNorReplacesStrangers) {
  const Workplace workplace;
  workplace.write("in.safetensors", checkpoint(some_matrices()));
  auto options = options_of(workplace, "in.safetensors", "out.safetensors", "fp8");
  options.report = workplace.path("report.json");
  const std::string precious = workplace.write("precious", "precious");
  const auto expect_rejection = [&](const std::string &planted) {
    EXPECT_NE(rejection_of(options).find(planted), std::string::npos) << planted << ": " << rejection_of(options);
    EXPECT_EQ(workplace.read("precious"), "precious") << planted;
    EXPECT_FALSE(workplace.has("out.safetensors")) << planted;
    std::filesystem::remove(planted);
    for (const char *rest : {"out.safetensors.partial", "out.safetensors.journal"}) {
      std::filesystem::remove(workplace.path(rest));
    }
  };
  for (const std::string &planted : {options.output + ".partial", options.output + ".journal",
                                     options.output + ".quantization_config.json", options.report}) {
    std::filesystem::create_symlink(precious, planted);
    expect_rejection(planted);
    std::filesystem::create_symlink(workplace.path("missing"), planted);
    expect_rejection(planted);
    EXPECT_FALSE(workplace.has("missing")) << planted;
  }
  std::filesystem::create_hard_link(precious, options.output + ".journal");
  expect_rejection(options.output + ".journal");
  const std::string planted = workplace.write("out.safetensors.journal", "");
  // Only a privileged user can change the owner of a file.
  if (chown(planted.c_str(), 1, 1) == 0) expect_rejection(planted);
  std::filesystem::remove(planted);
  workplace.write("out.safetensors.partial", "a stranger");
  EXPECT_NE(rejection_of(options).find("--restart"), std::string::npos);
  EXPECT_EQ(workplace.read("out.safetensors.partial"), "a stranger");
  options.is_restarted = true;
  EXPECT_EQ(rejection_of(options), "");
}

TEST(Convert, ReportsAboutANameThatIsNotUtf8) {
  const Workplace workplace;
  workplace.write("in\xFF.safetensors", checkpoint(some_matrices()));
  auto options = options_of(workplace, "in\xFF.safetensors", "out\xFE.safetensors", "fp8");
  options.report = workplace.path("report\xFD.json");
  EXPECT_EQ(rejection_of(options), "");
  const auto report = nlohmann::json::parse(workplace.read("report\xFD.json"));
  EXPECT_NE(report["input"].get<std::string>().find("in\xEF\xBF\xBD.safetensors"), std::string::npos);
  EXPECT_EQ(report["tensors"].size(), 6u);
}

TEST(Convert, CountsTheHeaderAsMemory) {
  const Workplace workplace;
  std::string header = R"({"w":{"dtype":"F32","shape":[32,32],"data_offsets":[0,4096]})";
  for (int i = 0; i < 2000; ++i) {
    header += R"(,"t)" + std::to_string(i) + R"(":{"dtype":"F32","shape":[0],"data_offsets":[0,0]})";
  }
  workplace.write("in.safetensors", image(header + "}", std::string(4096, '\0')));
  const std::vector<std::string> words = {workplace.path("in.safetensors"), "--memory", "1"};
  for (std::vector<std::string> command :
       {std::vector<std::string>{"inspect"}, {"convert", "--to", "fp8", workplace.path("out.safetensors")}}) {
    command.insert(command.begin() + (command.front() == "convert" ? 3 : 1), words.begin(), words.end());
    const Outcome outcome = run_lpt(workplace, command);
    EXPECT_EQ(outcome.status, 2) << command.front();
    EXPECT_NE(outcome.err.find("expected at most --memory, 1.0 MiB"), std::string::npos) << outcome.err;
  }
  EXPECT_FALSE(workplace.has("out.safetensors"));
}

TEST(Convert, QuantizesShortBlocks) {
  const Workplace workplace;
  workplace.write("in.safetensors", checkpoint(some_matrices()));
  for (const char *format : {"nvfp4", "mxfp8", "int4-g32", "uint4-g32", "mxfp6", "e2m1fn/1x8/f32"}) {
    tool::ConvertOptions options = options_of(workplace, "in.safetensors", "out.safetensors", format);
    options.is_forced = true;
    options.is_verified = true;
    tool::convert(options);
    EXPECT_NE(Checkpoint(options.output).find("odd.weight_scale"), nullptr) << format;
    tool::ConvertOptions decoding = options_of(workplace, "out.safetensors", "back.safetensors", "bf16");
    decoding.is_forced = true;
    tool::convert(decoding);
    EXPECT_EQ(Checkpoint(decoding.output).find("odd.weight")->shape, (std::vector<int64_t>{40, 100})) << format;
  }
}

TEST(Convert, CastsEveryFloatToAPlainFormat) {
  const Workplace workplace;
  workplace.write("in.safetensors", checkpoint(some_matrices()));
  convert(workplace, "in.safetensors", "out.safetensors", "bf16");
  const Checkpoint made(workplace.path("out.safetensors"));
  EXPECT_EQ(values<uint16_t>(made, "bias"), (std::vector<uint16_t>{0x3F00, 0xBF80, 0, 0x4000, 0x4040}));
  EXPECT_EQ(made.find("positions")->dtype->name, "I64");
}

TEST(Convert, GivesTheSameBytesWithLittleMemoryAndManyThreads) {
  const Workplace workplace;
  workplace.write("in.safetensors", checkpoint({random_matrix("w", 2050, 64, 5)}));
  for (const char *format : {"nvfp4", "fp8", "fp8-block", "uint4-g32", "mxfp4"}) {
    tool::ConvertOptions options = options_of(workplace, "in.safetensors", "large.safetensors", format);
    options.is_forced = true;
    tool::convert(options);
    options.output = workplace.path("small.safetensors");
    options.memory_mebibytes = 1;
    options.threads = 3;
    options.is_verified = true;
    tool::convert(options);
    EXPECT_EQ(workplace.read("small.safetensors"), workplace.read("large.safetensors")) << format;
  }
}

TEST(Convert, RejectsWhatCannotWork) {
  const Workplace workplace;
  workplace.write("in.safetensors", checkpoint(some_matrices()));
  const tool::ConvertOptions good = options_of(workplace, "in.safetensors", "out.safetensors", "fp8");
  auto options = good;
  options.output = options.input;
  EXPECT_NE(rejection_of(options).find("is the input"), std::string::npos);
  options = good;
  options.format = "fp7";
  EXPECT_NE(rejection_of(options).find("fp7"), std::string::npos);
  options = good;
  options.include = "(";
  EXPECT_NE(rejection_of(options).find("regular expression"), std::string::npos);
  options = good;
  options.input = workplace.write("name.safetensors", checkpoint({random_matrix(std::string(100000, 'w'), 32, 32, 1)}));
  options.include = "(w*)*x";
  EXPECT_NE(rejection_of(options).find("no tensor would change"), std::string::npos);
  options = good;
  options.exclude = ".";
  EXPECT_NE(rejection_of(options).find("no tensor would change"), std::string::npos);
  options = good;
  workplace.write("out.safetensors", "precious");
  EXPECT_NE(rejection_of(options).find("--force"), std::string::npos);
  EXPECT_EQ(workplace.read("out.safetensors"), "precious");
  options = good;
  options.input = workplace.write("twice.safetensors",
                                  checkpoint({random_matrix("w", 32, 32, 1), random_matrix("w_scale", 32, 32, 1)}));
  EXPECT_NE(rejection_of(options).find("\"w_scale\" would stand twice"), std::string::npos);
  options = good;
  options.input = workplace.write("wide.safetensors", checkpoint({random_matrix("w", 130, 4096, 1)}));
  options.memory_mebibytes = 1;
  EXPECT_NE(rejection_of(options).find("--memory"), std::string::npos);
}

TEST(Convert, RejectsDamagedQuantizedFiles) {
  const Workplace workplace;
  workplace.write("in.safetensors", checkpoint(some_matrices()));
  convert(workplace, "in.safetensors", "q.safetensors", "nvfp4");
  EXPECT_NE(rejection_of(options_of(workplace, "q.safetensors", "x.safetensors", "fp8")).find("holds nvfp4 already"),
            std::string::npos);
  const std::string first = R"(\"tensors\":[\"a.weight\")";
  const std::tuple<std::string, std::string, const char *> cases[] = {
      {"a.weight_scale", "a.weight_skale", "\"a.weight_scale\" is missing"},
      {R"("shape":[48,8])", R"("shape":[8,48])", "expected F8_E4M3 [48, 8]"},
      {R"({\"format\":\"nvfp4\")", R"({\"format\":\"nvfp5\")", "nvfp5"},
      {first, R"(\"tensors\":[[[[[[[]]]]]])", "no name"},
      {first, R"(\"tensors\":[\"b.weight\")", "lists \"b.weight\" twice"},
      {R"({\"format\":\"nvfp4\")", R"({\"farmot\":\"nvfp4\")", "damaged"}};
  for (const auto &[from, to, text] : cases) {
    std::string other = workplace.read("q.safetensors");
    for (size_t place = 0; (place = other.find(from, place)) != std::string::npos; place += to.size())
      other.replace(place, from.size(), to);
    workplace.write("bad.safetensors", other);
    const std::string rejection = rejection_of(options_of(workplace, "bad.safetensors", "x.safetensors", "f32"));
    EXPECT_NE(rejection.find(text), std::string::npos) << rejection;
  }
}

TEST(Convert, ReportsEveryTensor) {
  const Workplace workplace;
  workplace.write("in.safetensors", checkpoint(some_matrices()));
  tool::ConvertOptions options = options_of(workplace, "in.safetensors", "out.safetensors", "fp8");
  options.report = workplace.path("report.json");
  tool::convert(options);
  const auto report = nlohmann::json::parse(workplace.read("report.json"));
  EXPECT_EQ(report["predicted_bytes"], std::filesystem::file_size(options.output));
  EXPECT_EQ(report["tensors"].size(), 6u);
  for (const auto &tensor : report["tensors"]) {
    if (tensor["action"] != "quantized") continue;
    EXPECT_NEAR(tensor["decibels"].get<double>(), 31.5, 1.5);  // theory of e4m3 for a smooth distribution
  }
}

}  // namespace
}  // namespace tool_tests
