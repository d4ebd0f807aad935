// Reads the header of a GGUF file from its beginning, with a small buffer: a header can be longer than the memory of the caller.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "digest.hpp"
#include "error.hpp"

namespace tool {

// Fills `bytes` from a byte offset of the file.
using ReadBytes = std::function<void(uint64_t offset, std::span<std::byte> bytes)>;

class GgufStream {
 public:
  GgufStream(const std::string &file, uint64_t file_bytes, ReadBytes read, Digest &digest)
      : file_(file), file_bytes_(file_bytes), read_(std::move(read)), digest_(digest) {}

  // Sets the subject of errors, as `tensor "w"`.
  void set_subject(std::string subject) { subject_ = std::move(subject); }

  uint64_t position() const { return position_; }

  // Throws Error unless the file has `count` more items of at least `bytes` each. `what` is their name.
  void check_count(const char *what, uint64_t count, uint64_t bytes) const;

  // Reads little-endian integers and floats.
  template <typename Number>
  Number number(const char *what) {
    std::byte bytes[sizeof(Number)];
    take(what, bytes);
    Number value{};
    std::memcpy(&value, bytes, sizeof value);
    return value;
  }
  // Reads a length and text, and keeps the first bytes.
  std::string text(const char *what, uint64_t kept, uint64_t *length = nullptr);
  // Reads a UTF-8 text of at most 65535 bytes that is not empty.
  std::string name(const char *what);
  void skip(const char *what, uint64_t bytes);

  template <typename... Values>
  [[noreturn]] void reject(fmt::format_string<Values...> form, Values &&...values) const {
    throw Error(fmt::format("{}: {}{}{}", file_, subject_, subject_.empty() ? "" : ": ",
                            fmt::format(form, std::forward<Values>(values)...)));
  }

 private:
  void check_follows(const char *what, uint64_t bytes) const;
  void take(const char *what, std::span<std::byte> bytes);

  const std::string &file_;
  uint64_t file_bytes_;
  ReadBytes read_;
  Digest &digest_;
  std::string subject_;
  uint64_t position_ = 0;
  std::vector<std::byte> buffer_;
  uint64_t buffer_begin_ = 0;  // its place in the file
};

}  // namespace tool
