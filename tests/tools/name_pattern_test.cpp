// Name patterns, against std::regex where it ends in time.
#include "name_pattern.hpp"

#include <gtest/gtest.h>

#include <regex>

#include "error.hpp"

namespace tool_tests {
namespace {

bool matches(const std::string &pattern, const std::string &name) {
  return tool::NamePattern("--include", pattern).is_in(name);
}

std::vector<std::string> short_names() {
  std::vector<std::string> names = {""};
  for (size_t i = 0; i < names.size() && names[i].size() < 5; ++i) {
    for (const char character : {'a', 'b', '.', '1'}) names.push_back(names[i] + character);
  }
  for (const char *name :
       {"model.layers.10.mlp.down_proj.weight", "lm_head", "h.0.attn.c_attn", "A_b-C", "x\ty", "abc abc"}) {
    names.emplace_back(name);
  }
  return names;
}

TEST(NamePattern, FindsWhatStdRegexFinds) {
  const std::vector<std::string> names = short_names();
  for (const char *pattern : {"a",
                              "ab",
                              "a|b",
                              "^a",
                              "b$",
                              "^$",
                              "a*",
                              "^a*$",
                              "^(ab)+$",
                              "^(a|b)*1$",
                              "a.b",
                              "a\\.b",
                              "[ab]{2}1",
                              "^[^ab]+$",
                              "^a{2,3}$",
                              "^a{2,}b?$",
                              "^(a|ab)(1|b1)$",
                              "(?:a|b){3}",
                              "a+?b",
                              "a??b",
                              "^.{3}$",
                              "\\d",
                              "^\\w+$",
                              "\\W",
                              "^\\D*$",
                              "\\s",
                              "\\babc\\b",
                              "a\\Bb",
                              "[\\d.]$",
                              "^[a-c]+$",
                              "[.-1]",
                              "[a-]",
                              "[\\]a]",
                              "layers\\.1\\d\\.",
                              "^(lm_head|h\\.0)",
                              "(a|b|)1",
                              "((a)|(b))+\\.",
                              "^(a*)*$",
                              "^(a+)+$",
                              "weight|head$",
                              "^(?:a?){3}$",
                              "(a{1,2}){2}",
                              "[A-Z]_"}) {
    const std::regex expected(pattern);
    const tool::NamePattern found("--include", pattern);
    for (const std::string &name : names) {
      ASSERT_EQ(found.is_in(name), std::regex_search(name, expected)) << pattern << " in \"" << name << '"';
    }
  }
}

// Backtracking matchers need 2^40 steps for these patterns.
TEST(NamePattern, TakesNoLongerForHostileNames) {
  std::string name(100000, 'a');
  name.back() = '!';
  for (const char *pattern : {"(a+)+$", "^(a*)*$", "^(a|a)*$", "(a|aa)+$", "^(([a-z])+.)+[A-Z]([a-z])+$"}) {
    EXPECT_FALSE(matches(pattern, name)) << pattern;
  }
}

TEST(NamePattern, RejectsWhatIsNoPattern) {
  for (const char *pattern :
       {"(", ")", "[", "[b-a]", "*", "a{3,2}", "(?=a)", "(a)\\1", "\\", "(((a{99}){99}){99}){99}"}) {
    EXPECT_THROW(matches(pattern, "a"), tool::Error) << pattern;
  }
}

TEST(NamePattern, SearchesBytes) {
  EXPECT_TRUE(matches("^a.b$",
                      "a\xFF"
                      "b"));
  EXPECT_TRUE(matches("\\xFF",
                      "a\xFF"
                      "b"));
}

TEST(NamePattern, IsNotGivenWhereItIsEmpty) {
  EXPECT_FALSE(tool::NamePattern("--include", "").is_given());
  EXPECT_FALSE(matches("", "a"));
}

}  // namespace
}  // namespace tool_tests
