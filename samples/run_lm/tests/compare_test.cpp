// The table and the picture of versions of a model.
#include "../compare.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

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

}  // namespace
}  // namespace run_lm_tests
