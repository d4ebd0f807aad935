// Files of conformance vectors, and results of their replay. docs/reference/conformance.md documents the files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tool {

// A table of words: lines that begin with # are comments, the first other line names the columns.
struct Vectors {
  std::string header;
  std::vector<std::vector<std::string>> rows;  // each has as many words as the header
};

Vectors read_vectors(const std::string &path);

uint64_t number(const std::string &text, int base);
std::vector<uint32_t> hex_numbers(const std::string &text, size_t digits);  // of `digits` digits each

float as_float(uint32_t bits);
uint32_t as_bits(float value);

// Item i belongs to lane i mod 65536. A lane is FNV-1a over the little-endian bytes of its items, and the digest is FNV-1a over
// the hashes of the lanes.
class LaneDigest {
 public:
  LaneDigest();
  void add(uint64_t item, int bytes);
  std::string text() const;

 private:
  std::vector<uint64_t> lanes_;
  size_t count_ = 0;
};

std::string digest_of(const std::vector<uint32_t> &items, int bytes);

struct Tally {
  int64_t checks = 0;
  int64_t failures = 0;
  std::string first;  // the first failure

  void add(bool is_right, const std::string &what);
};

// Prints a line for each kind of vectors and sums the results.
class Report {
 public:
  void add(const std::string &what, const Tally &tally);
  void leave_out(const std::string &what);
  int64_t end() const;  // prints the sums; returns the number of failed checks

 private:
  Tally sum_;
  std::string left_out_;
};

}  // namespace tool
