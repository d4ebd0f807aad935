// lpt inspect, against values counted by hand.
#include "inspect.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "image.hpp"
#include "plan.hpp"
#include "workplace.hpp"

namespace tool_tests {
namespace {

tool::InspectOptions options_for(const std::string &path, std::vector<std::string> formats) {
  tool::InspectOptions options;
  options.input = path;
  options.formats = std::move(formats);
  options.is_quiet = true;
  return options;
}

TEST(Inspect, CountsAllTensors) {
  const float infinite = std::numeric_limits<float>::infinity();
  const float none = std::numeric_limits<float>::quiet_NaN();
  const Workplace workplace;
  const Matrix matrix{"m", 2, 5, {0.0f, -0.0f, none, infinite, -infinite, 1.0f, -1.5f, 0.25f, -6.0f, 1e-40f}};
  const auto look = tool::look_at(options_for(workplace.write("f", checkpoint({matrix})), {"fp8"}));
  ASSERT_EQ(look.tensors.size(), 3u);
  const tool::NumberStats &stats = look.tensors[0].stats;
  EXPECT_EQ(stats.count, 10u);
  EXPECT_EQ(stats.nan_count, 1u);
  EXPECT_EQ(stats.infinite_count, 2u);
  EXPECT_EQ(stats.zero_count, 2u);
  EXPECT_EQ(stats.amax, 6.0f);
  EXPECT_EQ(stats.exponents[127], 2u);  // 1 and 1.5
  EXPECT_EQ(stats.exponents[125], 1u);  // 0.25
  EXPECT_EQ(stats.exponents[129], 1u);  // 6
  EXPECT_EQ(stats.exponents[0], 1u);    // subnormal
  EXPECT_EQ(stats.top_exponent(), 2);
  EXPECT_FALSE(look.tensors[2].has_numbers);
}

// Rounds to 127 steps of the amax of each row, in double.
TEST(Inspect, TellsTheErrorOfAFormat) {
  const Matrix matrix = random_matrix("m", 33, 70, 3);
  double signal = 0, noise = 0;
  for (int64_t row = 0; row < matrix.rows; ++row) {
    double amax = 0;
    for (int64_t column = 0; column < 70; ++column)
      amax = std::max<double>(amax, std::fabs(matrix.numbers[row * 70 + column]));
    for (int64_t column = 0; column < 70; ++column) {
      const double number = matrix.numbers[row * 70 + column];
      signal += number * number;
      noise += std::pow(number - std::nearbyint(number * 127 / amax) * amax / 127, 2);
    }
  }
  const Workplace workplace;
  const auto look = tool::look_at(options_for(workplace.write("f", checkpoint({matrix})), {"int8", "bf16"}));
  const tool::CastError &error = look.tensors[0].errors[0];
  EXPECT_NEAR(10 * std::log10(error.signal / error.noise), 10 * std::log10(signal / noise), 0.01);
  EXPECT_NEAR(10 * std::log10(look.tensors[0].errors[1].signal / look.tensors[0].errors[1].noise), 55.7, 1.0);
}

// A file of lpt convert is reported as its matrices, with the values of --to f32. Parts are not reported as tensors.
TEST(Inspect, ReadsItsOwnFormats) {
  const Workplace workplace;
  const std::string input =
      workplace.write("in", checkpoint({random_matrix("a.weight", 150, 96, 1), random_matrix("n", 8, 64, 2)}));
  for (const char *format : {"nvfp4", "fp8", "mxfp8", "int4-g64", "uint4-g32", "nvfp4_16x16"}) {
    const std::string made = workplace.path("q"), back = workplace.path("f");
    ASSERT_EQ(run_lpt(workplace, {"convert", input, made, "--to", format, "--force"}).status, 0);
    ASSERT_EQ(run_lpt(workplace, {"convert", made, back, "--to", "f32", "--force"}).status, 0);
    const auto look = tool::look_at(options_for(made, {"fp8"}));
    const auto decoded = tool::look_at(options_for(back, {"fp8"}));
    ASSERT_EQ(look.tensors.size(), 4u) << format;
    for (const tool::TensorLook &tensor : look.tensors) {
      const auto same = std::find_if(decoded.tensors.begin(), decoded.tensors.end(),
                                     [&](const tool::TensorLook &other) { return other.name == tensor.name; });
      ASSERT_NE(same, decoded.tensors.end()) << tensor.name;
      EXPECT_EQ(tensor.shape, same->shape) << tensor.name;
      EXPECT_EQ(tensor.stats.amax, same->stats.amax) << format << " " << tensor.name;
      EXPECT_EQ(tensor.stats.exponents, same->stats.exponents) << format << " " << tensor.name;
      EXPECT_EQ(tensor.dtype, tensor.name == "a.weight" ? tool::format_name(tool::target_format(format)) : same->dtype);
    }
  }
}

TEST(Inspect, DrawsAndPrints) {
  const Workplace workplace;
  const Matrix matrix = random_matrix("<layer & \"1\">", 16, 32, 3);
  Matrix named = matrix;
  named.name = "layer <&>";
  const std::string path = workplace.write("f", checkpoint({named}));
  const Outcome outcome = run_lpt(
      workplace, {"inspect", path, "--picture", workplace.path("p.svg"), "--format", "fp8", "--format", "nvfp4"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("layer <&>"), std::string::npos);
  EXPECT_NE(outcome.out.find("9"), std::string::npos);
  const std::string svg = workplace.read("p.svg");
  EXPECT_NE(svg.find("layer &lt;&amp;&gt;"), std::string::npos);
  EXPECT_EQ(svg.find("layer <"), std::string::npos);
  EXPECT_EQ(svg.substr(svg.size() - 7), "</svg>\n");
  const Outcome json = run_lpt(workplace, {"inspect", path, "--json"});
  ASSERT_EQ(json.status, 0);
  EXPECT_EQ(nlohmann::json::parse(json.out)["tensors"][0]["name"], "layer <&>");
}

// Checks each label of an SVG: it must end inside the picture, with 7 pixels per character of 13 pixels.
void expect_labels_inside(const std::string &svg) {
  const double width = std::stod(svg.substr(svg.find("width=\"") + 7));
  size_t count = 0;
  for (size_t at = svg.find("<text "); at != std::string::npos; at = svg.find("<text ", at + 1)) {
    const size_t body = svg.find('>', at) + 1;
    const std::string tag = svg.substr(at, body - at), label = svg.substr(body, svg.find('<', body) - body);
    if (tag.find("text-anchor=\"start\"") == std::string::npos) continue;
    const auto number_of = [&](const char *name) { return std::stod(tag.substr(tag.find(name) + std::strlen(name))); };
    const double sign = number_of("font-size=\"") * 7.0 / 13.0;
    EXPECT_LE(number_of(" x=\"") + sign * static_cast<double>(label.size()), width) << label;
    ++count;
  }
  EXPECT_GT(count, 3u);
}

TEST(Inspect, DrawsAnyNumberOfFormatsAndExponentsInsideThePicture) {
  const Workplace workplace;
  const auto all_of = [](const char *name, float number) {
    return Matrix{name, 32, 64, std::vector<float>(32 * 64, number)};
  };
  const std::string path =
      workplace.write("f", checkpoint({all_of("zeros", 0.0f), all_of("small", 0x1p-100f), all_of("large", 0x1p60f)}));
  std::vector<std::string> words = {"inspect",           path,        "--include",
                                    "zeros|small|large", "--picture", workplace.path("p.svg")};
  for (const char *format : {"fp8", "fp8-row", "mxfp8", "mxfp6_e3m2", "mxfp6_e2m3", "mxfp4", "nvfp4", "int8",
                             "int4-g32", "bf16", "e2m1fn/1x32/e8m0fnu/f32", "e4m3fn/1x64/e8m0fnu"}) {
    words.insert(words.end(), {"--format", format});
  }
  const Outcome outcome = run_lpt(workplace, words);
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const std::string svg = workplace.read("p.svg");
  expect_labels_inside(svg);
  EXPECT_NE(svg.find("e4m3fn/1x64/e8m0fnu"), std::string::npos);
  EXPECT_NE(svg.find(">exact<"), std::string::npos);
  EXPECT_NE(svg.find("no finite number but zero"), std::string::npos);
  // Two cells: that of the large values, and that of all values below the drawn exponents.
  size_t cells = 0;
  for (size_t at = svg.find("#08306b"); at != std::string::npos; at = svg.find("#08306b", at + 1)) ++cells;
  EXPECT_EQ(cells, 2u);
}

TEST(Sparkline, RisesWithTheShare) {
  tool::NumberStats stats;
  stats.add(std::vector<float>(800, 1.0f));
  stats.add(std::vector<float>(400, 0.5f));
  stats.add(std::vector<float>(1, 0.25f));
  EXPECT_EQ(tool::sparkline(stats, 1, 5), ".159.");
}

}  // namespace
}  // namespace tool_tests
