// A regular expression that a user gives to choose tensors by name.
#pragma once

#include <bitset>
#include <cstdint>
#include <string>
#include <vector>

namespace tool {

// Letters, `.`, classes such as [a-z] and \d, groups, |, *, +, ?, {2,5}, ^, $, \b, on bytes. The time of a search is at
// most the length of the name times that of the pattern: names come from files, so that a matcher that backtracks could
// be kept busy by one name.
class NamePattern {
 public:
  // `option` is what messages call it. An empty text matches nothing and is not given. Throws for what is not supported.
  NamePattern(const char *option, const std::string &text);

  bool is_given() const { return !program_.empty(); }
  bool is_in(const std::string &name) const;  // whether some part of the name matches

  // One instruction. Jumps are relative, so that pieces of a program can be copied.
  struct Step {
    enum class Kind { kByte, kSplit, kJump, kBegin, kEnd, kWordEdge, kNoWordEdge, kMatch };
    Kind kind = Kind::kMatch;
    int32_t first = 1;  // kSplit, kJump
    int32_t second = 1;
    std::bitset<256> bytes = {};  // kByte: those that it takes
  };

 private:
  std::vector<Step> program_;
};

}  // namespace tool
