#include "name_pattern.hpp"

#include <fmt/format.h>
#include <re2/re2.h>

#include "error.hpp"
#include "text.hpp"

namespace tool {

NamePattern::NamePattern(const char *option, const std::string &text) {
  if (text.empty()) return;
  re2::RE2::Options options;
  options.set_encoding(re2::RE2::Options::EncodingLatin1);  // bytes: names need not be UTF-8
  options.set_log_errors(false);
  pattern_ = std::make_shared<const re2::RE2>(text, options);
  if (!pattern_->ok()) {
    throw Error(fmt::format("{} is {}: expected a regular expression of RE2: {}", option, in_quotes(text),
                            in_quotes(pattern_->error())));
  }
}

bool NamePattern::is_in(const std::string &name) const { return is_given() && re2::RE2::PartialMatch(name, *pattern_); }

}  // namespace tool
