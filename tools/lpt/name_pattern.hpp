// A regular expression that a user gives to choose tensors by name.
#pragma once

#include <regex>
#include <string>

namespace tool {

class NamePattern {
 public:
  // `option` is what messages call it. An empty text matches nothing and is not given.
  NamePattern(const char *option, const std::string &text);

  bool is_given() const { return is_given_; }
  // Throws for a name so long that matching it could use up the stack: the standard library's matcher calls itself.
  bool is_in(const std::string &name) const;

 private:
  const char *option_;
  bool is_given_;
  std::regex expression_;
};

}  // namespace tool
