// The commands, and the table and the picture of versions of a model.
#include "../compare.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "../json_fields.hpp"
#include "../run.hpp"
#include "loaded_model.hpp"
#include "tests/support/random.hpp"
#include "tiny_model.hpp"

namespace run_lm_tests {
namespace {

TEST(Compare, WritesEachVersion) {
  const std::vector<run_lm::Version> versions = {
      {.format = "f32", .method = "-", .bytes_per_weight = 4.0, .score = {.loss = std::log(20.0), .tokens = 10}},
      {.format = "nvfp4",
       .method = "nearest",
       .bytes_per_weight = 0.5625,
       .score = {.loss = std::log(24.5), .divergence = 0.27, .tokens = 10}},
      {.format = "nvfp4",
       .method = "gptq",
       .bytes_per_weight = 0.5625,
       .score = {.loss = std::log(21.5), .divergence = 0.14, .tokens = 10}}};
  const std::string table = version_table(versions), picture = version_picture("a & b", versions);
  for (const char *part : {"24.500", "0.2700", "0.562", "gptq", "20.000"}) {
    EXPECT_NE(table.find(part), std::string::npos) << part;
  }
  EXPECT_EQ(std::count(picture.begin(), picture.end(), '\n') > 20, true);
  size_t dots = 0;
  for (size_t at = picture.find("<circle"); at != std::string::npos; at = picture.find("<circle", at + 1)) ++dots;
  EXPECT_EQ(dots, 8u);  // two versions and two in the legend, in each panel
  EXPECT_NE(picture.find("a &amp; b"), std::string::npos);
}

std::string output_of(const run_lm::Options &options) {
  testing::internal::CaptureStdout();
  run(options);
  return testing::internal::GetCapturedStdout();
}

TEST(Run, CommandsWork) {
  const tool_tests::Workplace workplace;
  TinyModel model;
  model.draw(30, false);
  lpt::test::Random random(31);
  std::string text;
  for (int i = 0; i < 2000; ++i) text += static_cast<char>('a' + random.below(26));
  run_lm::Options options;
  options.command = "quantize";
  options.model = write_folder(workplace, "model", model, false);
  options.threads = 1;
  options.is_quiet = true;
  options.window = 32;
  options.windows = 2;
  options.texts = options.calibration = {workplace.write("text", text)};
  options.calibration_windows = 4;
  options.formats = {"int8_1x32"};
  options.methods = {"awq-gptq"};
  options.out = workplace.path("quantized");
  EXPECT_NE(output_of(options).find("bytes per weight in int8_1x32, awq-gptq"), std::string::npos);
  options.command = "perplexity";
  options.baseline = options.model;
  options.model = options.out;
  EXPECT_NE(output_of(options).find("KL divergence from the baseline 0.0"), std::string::npos);
  EXPECT_THROW((options.command = "compare", run(options)), tool::Error);  // the model is quantized
  options.model = options.baseline;
  options.methods = {"nearest", "gptq", "rotate", "rotate-bias"};
  options.out = workplace.path("picture.svg");
  options.json = workplace.path("report.json");
  options.command_line = "run_lm compare";
  EXPECT_NE(output_of(options).find("int8_1x32  gptq"), std::string::npos);
  EXPECT_NE(workplace.read("picture.svg").find("int8_1x32"), std::string::npos);
  const run_lm::json report = tool::parse_json_object("report.json", workplace.read("report.json"));
  EXPECT_EQ("run_lm compare", report.at("command"));
  const run_lm::json &rows = report.at("tables").at("bf16").at("rows");
  ASSERT_EQ(6, std::ssize(rows));  // f32, bf16 and four methods
  EXPECT_EQ("int8_1x32, gptq", rows[3][0]);
  EXPECT_GT(std::stod(rows[1][2].get<std::string>()), 1.0);
  // Candidates under a budget between both.
  options.formats = {"int4_1x32", "int8_1x32"};
  options.methods = {"nearest"};
  options.bytes_per_weight = {0.9};
  output_of(options);
  const run_lm::json last =
      tool::parse_json_object("", workplace.read("report.json")).at("tables").at("bf16").at("rows").back();
  EXPECT_EQ("mixed 0.9, nearest", last[0]);
  EXPECT_LE(std::stod(last[1].get<std::string>()), 0.9);
  EXPECT_GT(std::stod(last[1].get<std::string>()), 0.7);
  options.command = "quantize";
  options.out = workplace.path("mixed");
  const std::string mixed = output_of(options);
  for (const char *part : {"in int4_1x32 ", ", int8_1x32 ", ", nearest"}) {
    EXPECT_NE(mixed.find(part), std::string::npos) << mixed;
  }
  options.methods = {"rotate"};
  options.out = workplace.path("rotated");
  output_of(options);
  const auto has_gains = [&](const char *folder) {
    const LoadedModel saved(workplace.path(folder));
    return std::ranges::any_of(run_lm::values_of(saved.weights.norm.get()), [](float gain) { return gain != 1.0f; });
  };
  EXPECT_TRUE(has_gains("mixed"));
  EXPECT_FALSE(has_gains("rotated"));
  options.command = "generate";
  options.prompt = "abc";
  options.sampling.tokens = 4;
  EXPECT_EQ(output_of(options).substr(0, 3), "abc");
  options.sampling.tokens = 64;
  EXPECT_THROW(run(options), tool::Error);  // more positions than the model has
  options.cache = "int8";
  EXPECT_THROW(run(options), tool::Error);
}

}  // namespace
}  // namespace run_lm_tests
