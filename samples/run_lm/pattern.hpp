// Regular expressions of tokenizers. They need \p{L} and lookahead, which PCRE2 has.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace run_lm {

class Pattern {
 public:
  // `where` begins the error for an invalid pattern.
  Pattern(const std::string &where, const std::string &pattern);

  // Visits the parts of a UTF-8 text in order: matches, and the text between them. Both are never empty.
  void split(std::string_view text, const std::function<void(std::string_view part, bool is_match)> &visit) const;

 private:
  std::string where_;
  std::shared_ptr<void> code_;
};

}  // namespace run_lm
