#include "name_pattern.hpp"

#include <fmt/format.h>

#include "error.hpp"
#include "text.hpp"

namespace tool {

namespace {

constexpr size_t kLongestName = 1024;

}  // namespace

NamePattern::NamePattern(const char *option, const std::string &text) : option_(option), is_given_(!text.empty()) {
  if (text.size() > kLongestName) {
    throw Error(fmt::format("{} has {} characters: expected at most {}", option, text.size(), kLongestName));
  }
  try {
    expression_.assign(text, std::regex::ECMAScript | std::regex::optimize);
  } catch (const std::regex_error &problem) {
    throw Error(fmt::format("{} is {}: expected a regular expression: {}", option, in_quotes(text), problem.what()));
  }
}

bool NamePattern::is_in(const std::string &name) const {
  if (!is_given_) return false;
  if (name.size() > kLongestName) {
    throw Error(fmt::format("tensor {} has a name of {} bytes: {} takes names of at most {}", in_quotes(name),
                            name.size(), option_, kLongestName));
  }
  return std::regex_search(name, expression_);
}

}  // namespace tool
