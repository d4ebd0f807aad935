// A file of named byte strings with a checksum, for checkpoints: a magic word, entries (name, bytes), and a hash of them.
// Numbers are stored in native byte order; the magic word detects another byte order.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "handles.hpp"

namespace lm {

class ArchiveWriter {
 public:
  void put(const std::string &name, std::span<const uint8_t> bytes);

  template <typename T>
  void put_numbers(const std::string &name, const std::vector<T> &numbers) {
    put(name, {reinterpret_cast<const uint8_t *>(numbers.data()), numbers.size() * sizeof(T)});
  }

  void put_text(const std::string &name, const std::string &text) {
    put(name, {reinterpret_cast<const uint8_t *>(text.data()), text.size()});
  }

  // Replaces the file atomically.
  void write(const std::string &path) const;

 private:
  std::vector<uint8_t> bytes_;
};

class ArchiveReader {
 public:
  // Throws Error if the file is missing, truncated, damaged, or not an archive.
  explicit ArchiveReader(const std::string &path);

  // Throws Error if no entry has this name.
  std::span<const uint8_t> get(const std::string &name) const;

  template <typename T>
  std::vector<T> get_numbers(const std::string &name) const {
    const std::span<const uint8_t> bytes = get(name);
    std::vector<T> numbers(bytes.size() / sizeof(T));
    if (!numbers.empty()) {
      std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(T));
    }
    return numbers;
  }

  std::string get_text(const std::string &name) const;
  bool has(const std::string &name) const { return entries_.contains(name); }

 private:
  [[noreturn]] void reject(const std::string &reason) const;
  uint64_t take_number(size_t &position) const;
  std::span<const uint8_t> take_bytes(size_t &position) const;

  std::string path_;
  std::vector<uint8_t> file_;
  std::map<std::string, std::span<const uint8_t>> entries_;
};

}  // namespace lm
