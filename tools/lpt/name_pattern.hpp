// A regular expression that a user gives to choose tensors by name.
#pragma once

#include <memory>
#include <string>

namespace re2 {
class RE2;
}

namespace tool {

// RE2 syntax, on bytes. A search takes time linear in the name: names come from files, and a
// matcher that backtracks can spend minutes on one name.
class NamePattern {
 public:
  // `option` is what messages call it. An empty text matches nothing and is not given. Throws for what is no pattern.
  NamePattern(const char *option, const std::string &text);

  bool is_given() const { return pattern_ != nullptr; }
  bool is_in(const std::string &name) const;  // whether some part of the name matches

 private:
  std::shared_ptr<const re2::RE2> pattern_;
};

}  // namespace tool
