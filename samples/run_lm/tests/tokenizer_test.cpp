// The tokenizer against tokens of the library tokenizers.
#include "../tokenizer.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

namespace run_lm_tests {
namespace {

using nlohmann::json;

json golden() {
  std::ifstream file(LPT_GOLDEN "/tokenizers.json");
  return json::parse(file);
}

TEST(Tokenizer, HasTheTokensOfTheLibraryTokenizers) {
  const json all = golden();
  for (const json &entry : all.at("tokenizers")) {
    const run_lm::Tokenizer tokenizer("tokenizer.json", entry.at("tokenizer").dump());
    EXPECT_EQ(json(tokenizer.prefix()), entry.at("prefix")) << entry.at("name");
    for (size_t i = 0; i < all.at("texts").size(); ++i) {
      const auto text = all.at("texts")[i].get<std::string>();
      EXPECT_EQ(json(tokenizer.encode(text)), entry.at("tokens")[i]) << entry.at("name") << ": " << all.at("texts")[i];
    }
  }
}

TEST(Tokenizer, DecodesTheBytesOfTexts) {
  const json all = golden();
  for (const json &entry : all.at("tokenizers")) {
    const run_lm::Tokenizer tokenizer("tokenizer.json", entry.at("tokenizer").dump());
    const bool is_byte_level = entry.at("name") == "bytes" || entry.at("name") == "words";
    for (const json &one : all.at("texts")) {
      const auto text = one.get<std::string>();
      // Special tokens have no bytes, and the mark for spaces decodes to a space.
      if (text.find("<s>") != std::string::npos || text == "\u2581mark") continue;
      std::string decoded;
      for (const int32_t token : tokenizer.encode(text)) decoded += tokenizer.bytes_of(token);
      const bool is_equal = decoded == text || (!is_byte_level && decoded == ' ' + text);
      EXPECT_TRUE(is_equal) << entry.at("name") << ": " << one << " became " << decoded;
    }
  }
}

}  // namespace
}  // namespace run_lm_tests
