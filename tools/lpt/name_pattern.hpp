// A regular expression of the user that selects tensors by name.
#pragma once

#include <memory>
#include <string>

namespace re2 {
class RE2;
}

namespace tool {

// RE2 syntax, on bytes. A search takes linear time in the length of the name. Names are untrusted, and a backtracking matcher
// can take minutes for one name.
class NamePattern {
 public:
  // `option` is its name in error messages. An empty text means no pattern, which matches nothing. Throws Error for an invalid
  // one.
  NamePattern(const char *option, const std::string &text);

  bool is_given() const { return pattern_ != nullptr; }
  bool is_in(const std::string &name) const;  // whether a part of the name matches

 private:
  std::shared_ptr<const re2::RE2> pattern_;
};

}  // namespace tool
