#include "vectors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <sstream>

#include "error.hpp"
#include "file.hpp"
#include "text.hpp"

namespace tool {

namespace {

constexpr size_t kLanes = 65536;
constexpr size_t kMostName = 100, kMostText = 1000;
constexpr uint64_t kFnvOffset = 0xCBF29CE484222325u;
constexpr uint64_t kFnvPrime = 0x100000001B3u;

std::vector<std::string> words_of(const std::string &line) {
  std::vector<std::string> words;
  std::istringstream stream(line);
  for (std::string word; std::getline(stream, word, ',');) words.push_back(word);
  return words;
}

void take_bytes(uint64_t &hash, uint64_t item, int bytes) {
  for (int i = 0; i < bytes; ++i) hash = (hash ^ (item >> (8 * i) & 0xFFu)) * kFnvPrime;
}

}  // namespace

Vectors read_vectors(const std::string &path) {
  Vectors vectors;
  std::istringstream lines(read_text(path));
  size_t width = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.front() == '#') continue;
    std::vector<std::string> words = words_of(line);
    if (vectors.header.empty()) {
      vectors.header = line;
      width = words.size();
      continue;
    }
    if (words.size() != width) {
      throw Error(fmt::format("{}: the row {} has {} words: expected {}, as {}", path, in_quotes(line), words.size(),
                              width, in_quotes(vectors.header)));
    }
    vectors.rows.push_back(std::move(words));
  }
  return vectors;
}

uint64_t number(const std::string &text, int base) {
  size_t end = 0;
  try {
    const uint64_t value = std::stoull(text, &end, base);
    if (end == text.size()) return value;
  } catch (const std::exception &) {  // reported below
  }
  throw Error(fmt::format("a vector holds {}: expected a number", in_quotes(text)));
}

std::vector<uint32_t> hex_numbers(const std::string &text, size_t digits) {
  if (text.size() % digits != 0) {
    throw Error(fmt::format("a vector holds {} digits: expected {} for each number", text.size(), digits));
  }
  std::vector<uint32_t> numbers;
  for (size_t i = 0; i < text.size(); i += digits) {
    numbers.push_back(static_cast<uint32_t>(number(text.substr(i, digits), 16)));
  }
  return numbers;
}

float as_float(uint32_t bits) { return std::bit_cast<float>(bits); }
uint32_t as_bits(float value) { return std::bit_cast<uint32_t>(value); }

LaneDigest::LaneDigest() : lanes_(kLanes, kFnvOffset) {}

void LaneDigest::add(uint64_t item, int bytes) { take_bytes(lanes_[count_++ % kLanes], item, bytes); }

std::string LaneDigest::text() const {
  uint64_t digest = kFnvOffset;
  for (const uint64_t lane : lanes_) take_bytes(digest, lane, 8);
  return fmt::format("{:016x}", digest);
}

std::string digest_of(const std::vector<uint32_t> &items, int bytes) {
  LaneDigest digest;
  for (const uint32_t item : items) digest.add(item, bytes);
  return digest.text();
}

void Tally::add(bool is_right, const std::string &what) {
  ++checks;
  if (!is_right && failures++ == 0) first = what;
}

void Report::add(const std::string &what, const Tally &tally) {
  // Names and words are read from files.
  const std::string name = shortened(what, kMostName);
  const std::string first = shortened(tally.first, kMostText);
  if (tally.failures > 0 && sum_.failures == 0) sum_.first = fmt::format("{}: {}", name, first);
  sum_.checks += tally.checks;
  sum_.failures += tally.failures;
  print_out("{:<48} {:>6} checks  {}\n", name, tally.checks,
            tally.failures == 0 ? "right" : fmt::format("{} wrong, first: {}", tally.failures, first));
  flush_out();
}

void Report::leave_out(const std::string &what) {
  left_out_ += (left_out_.empty() ? "" : ", ") + shortened(what, kMostName);
}

int64_t Report::end() const {
  print_out("{} checks, {} wrong\n", sum_.checks, sum_.failures);
  if (sum_.failures > 0) print_out("first: {}\n", sum_.first);
  if (!left_out_.empty()) print_out("left out, of kinds that this program does not replay: {}\n", left_out_);
  return sum_.failures;
}

}  // namespace tool
