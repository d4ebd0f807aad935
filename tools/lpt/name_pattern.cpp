#include "name_pattern.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "error.hpp"
#include "text.hpp"

namespace tool {

namespace {

using Step = NamePattern::Step;
using Kind = Step::Kind;
using Steps = std::vector<Step>;
using Bytes = std::bitset<256>;

constexpr size_t kLongestPattern = 1024;
constexpr size_t kMostSteps = 4096;  // {100} of {100} of something would be 10,000

bool is_word(unsigned char byte) { return std::isalnum(byte) != 0 || byte == '_'; }

template <typename Holds>
Bytes bytes_where(Holds &&holds) {
  Bytes bytes;
  for (size_t byte = 0; byte < bytes.size(); ++byte)
    bytes[byte] = byte < 128 && holds(static_cast<unsigned char>(byte));
  return bytes;
}

// The bytes of \d, \w, \s and of their complements in capitals; nothing for other letters.
Bytes bytes_of_kind(char letter) {
  switch (letter) {
    case 'd':
      return bytes_where([](unsigned char byte) { return std::isdigit(byte) != 0; });
    case 'w':
      return bytes_where(is_word);
    case 's':
      return bytes_where([](unsigned char byte) { return std::isspace(byte) != 0; });
    case 'D':
    case 'W':
    case 'S':
      return ~bytes_of_kind(static_cast<char>(std::tolower(letter)));
    default:
      return {};
  }
}

Bytes one_byte(char letter) {
  Bytes bytes;
  bytes.set(static_cast<unsigned char>(letter));
  return bytes;
}

// Makes a program of a pattern (Thompson, "Regular Expression Search Algorithm", CACM 11(6), 1968).
class Compiler {
 public:
  Compiler(const char *option, const std::string &text) : option_(option), text_(text) {}

  Steps compile() {
    Steps steps = alternatives();
    if (!is_at_end()) fail("a ) without (");
    steps.push_back({Kind::kMatch});
    return steps;
  }

 private:
  Steps alternatives() {
    Steps steps = sequence();
    while (take('|')) {
      Steps other = sequence();
      const auto length = static_cast<int32_t>(steps.size()), other_length = static_cast<int32_t>(other.size());
      steps.insert(steps.begin(), {Kind::kSplit, 1, length + 2});
      steps.push_back({Kind::kJump, other_length + 1});
      append(steps, other);
    }
    return steps;
  }

  Steps sequence() {
    Steps steps;
    while (!is_at_end() && peek() != '|' && peek() != ')') append(steps, repeated(atom()));
    return steps;
  }

  Steps atom() {
    const char letter = next();
    switch (letter) {
      case '(': {
        if (take('?') && !take(':')) fail("(? other than (?:");
        Steps steps = alternatives();
        if (!take(')')) fail("a ( without )");
        return steps;
      }
      case '[':
        return {{Kind::kByte, 1, 1, byte_class()}};
      case '.':
        return {{Kind::kByte, 1, 1, ~(one_byte('\n') | one_byte('\r'))}};
      case '^':
        return {{Kind::kBegin}};
      case '$':
        return {{Kind::kEnd}};
      case '\\':
        if (take('b')) return {{Kind::kWordEdge}};
        if (take('B')) return {{Kind::kNoWordEdge}};
        return {{Kind::kByte, 1, 1, escaped()}};
      case '*':
      case '+':
      case '?':
      case '{':
        fail(fmt::format("a {} with nothing before it to repeat", letter));
      default:
        return {{Kind::kByte, 1, 1, one_byte(letter)}};
    }
  }

  Steps repeated(Steps one) {
    for (;;) {
      if (take('*')) {
        one = repeat(one, 0, kNoMost);
      } else if (take('+')) {
        one = repeat(one, 1, kNoMost);
      } else if (take('?')) {
        one = repeat(one, 0, 1);
      } else if (take('{')) {
        const size_t least = number();
        const size_t most = !take(',') ? least : !is_at_end() && peek() == '}' ? kNoMost : number();
        if (!take('}') || most < least) fail("braces other than {2}, {2,} or {2,5}");
        one = repeat(one, least, most);
      } else {
        return one;
      }
      take('?');  // matches fewer first, which is the same where only a match counts
    }
  }

  Steps repeat(const Steps &one, size_t least, size_t most) {
    const auto length = static_cast<int32_t>(one.size());
    Steps steps;
    for (size_t i = 0; i < least; ++i) append(steps, one);
    for (size_t i = least; i < most && most != kNoMost; ++i) {
      append(steps, {{Kind::kSplit, 1, length + 1}});
      append(steps, one);
    }
    if (most == kNoMost) {
      append(steps, {{Kind::kSplit, 1, length + 2}});
      append(steps, one);
      append(steps, {{Kind::kJump, -(length + 1)}});
    }
    return steps;
  }

  size_t number() {
    size_t value = 0;
    if (is_at_end() || std::isdigit(static_cast<unsigned char>(peek())) == 0) fail("a { without a number");
    while (!is_at_end() && std::isdigit(static_cast<unsigned char>(peek())) != 0) {
      value = std::min(value * 10 + static_cast<size_t>(next() - '0'), kMostSteps + 1);
    }
    return value;
  }

  Bytes escaped() {
    if (is_at_end()) fail("a \\ at the end");
    const char letter = next();
    constexpr std::pair<char, char> kControls[] = {{'t', '\t'}, {'n', '\n'}, {'r', '\r'}, {'f', '\f'}, {'v', '\v'}};
    for (const auto &[name, byte] : kControls) {
      if (letter == name) return one_byte(byte);
    }
    const Bytes kind = bytes_of_kind(letter);
    if (kind.any()) return kind;
    if (std::isalnum(static_cast<unsigned char>(letter)) != 0) fail(fmt::format("\\{}", letter));
    return one_byte(letter);
  }

  Bytes byte_class() {
    const bool is_complement = take('^');
    Bytes bytes;
    while (!take(']')) {
      const Bytes first = class_member();
      if (first.count() == 1 && place_ + 1 < text_.size() && peek() == '-' && text_[place_ + 1] != ']') {
        ++place_;
        const Bytes last = class_member();
        if (last.count() != 1 || index_of(last) < index_of(first)) fail("a range in [] whose end is before its begin");
        for (size_t byte = index_of(first); byte <= index_of(last); ++byte) bytes.set(byte);
      } else {
        bytes |= first;
      }
    }
    return is_complement ? ~bytes : bytes;
  }

  Bytes class_member() {
    if (is_at_end()) fail("a [ without ]");
    const char letter = next();
    if (letter == '[' && !is_at_end() && (peek() == ':' || peek() == '.' || peek() == '=')) {
      fail(fmt::format("[{} in []", peek()));
    }
    return letter == '\\' ? escaped() : one_byte(letter);
  }

  static size_t index_of(const Bytes &one) { return one._Find_first(); }

  void append(Steps &steps, const Steps &more) const {
    if (steps.size() + more.size() > kMostSteps) fail("repetitions of more than 4096 steps");
    steps.insert(steps.end(), more.begin(), more.end());
  }

  bool is_at_end() const { return place_ == text_.size(); }
  char peek() const { return text_[place_]; }
  char next() { return text_[place_++]; }
  bool take(char letter) {
    if (is_at_end() || peek() != letter) return false;
    ++place_;
    return true;
  }

  [[noreturn]] void fail(const std::string &what) const {
    throw Error(fmt::format("{} is {}: expected a regular expression: it has {}, which is not supported", option_,
                            in_quotes(text_), what));
  }

  static constexpr size_t kNoMost = SIZE_MAX;

  const char *option_;
  const std::string &text_;
  size_t place_ = 0;
};

// The steps that a search has reached at one place of the name: all paths at once.
class Search {
 public:
  Search(const Steps &program, const std::string &name) : program_(program), name_(name), seen_(program.size(), 0) {}

  bool run() {
    for (size_t place = 0;; ++place) {
      // A match may begin anywhere.
      if (follow(0, place)) return true;
      if (place == name_.size()) return false;
      std::vector<size_t> reached;
      reached.swap(reached_);
      ++round_;
      for (const size_t step : reached) {
        if (program_[step].bytes[static_cast<unsigned char>(name_[place])] && follow(step + 1, place + 1)) return true;
      }
    }
  }

 private:
  // Adds the steps that take a byte and can be reached from `step` without one. True at the end of the program.
  bool follow(size_t step, size_t place) {
    pending_.assign(1, step);
    while (!pending_.empty()) {
      const size_t at = pending_.back();
      pending_.pop_back();
      if (std::exchange(seen_[at], round_) == round_) continue;
      const Step &one = program_[at];
      if (one.kind == Kind::kMatch) return true;
      if (one.kind == Kind::kByte) {
        reached_.push_back(at);
      } else if (holds(one.kind, place)) {
        pending_.push_back(at + static_cast<size_t>(one.first));
        if (one.kind == Kind::kSplit) pending_.push_back(at + static_cast<size_t>(one.second));
      }
    }
    return false;
  }

  bool holds(Kind kind, size_t place) const {
    if (kind == Kind::kBegin) return place == 0;
    if (kind == Kind::kEnd) return place == name_.size();
    if (kind == Kind::kWordEdge || kind == Kind::kNoWordEdge) {
      const bool is_edge = is_word_at(place) != (place > 0 && is_word_at(place - 1));
      return is_edge == (kind == Kind::kWordEdge);
    }
    return true;
  }

  bool is_word_at(size_t place) const {
    return place < name_.size() && is_word(static_cast<unsigned char>(name_[place]));
  }

  const Steps &program_;
  const std::string &name_;
  std::vector<size_t> reached_, pending_;
  std::vector<size_t> seen_;  // the round in which a step was reached
  size_t round_ = 1;
};

}  // namespace

NamePattern::NamePattern(const char *option, const std::string &text) {
  if (text.empty()) return;
  if (text.size() > kLongestPattern) {
    throw Error(fmt::format("{} has {} characters: expected at most {}", option, text.size(), kLongestPattern));
  }
  if (first_bad_utf8(text) < text.size()) {
    throw Error(fmt::format("{} is {}: expected UTF-8, as names of tensors are", option, in_quotes(text)));
  }
  program_ = Compiler(option, text).compile();
}

bool NamePattern::is_in(const std::string &name) const { return is_given() && Search(program_, name).run(); }

}  // namespace tool
