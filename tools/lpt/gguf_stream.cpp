#include "gguf_stream.hpp"

#include <algorithm>
#include <bit>

#include "header.hpp"
#include "text.hpp"

namespace tool {

namespace {

static_assert(std::endian::native == std::endian::little);

constexpr uint64_t kBufferBytes = uint64_t{64} << 10;
constexpr uint64_t kMostNameBytes = 65535;  // limit of the format for keys

}  // namespace

void GgufStream::check_follows(const char *what, uint64_t bytes) const {
  if (bytes > file_bytes_ - position_) {
    reject("{} takes {} bytes from byte {}, but {} follow: the file is cut off or damaged", what, bytes, position_,
           file_bytes_ - position_);
  }
  if (bytes > kMostHeaderBytes - position_) {
    reject("{} ends at byte {}: expected a header of at most {} bytes", what, position_ + bytes, kMostHeaderBytes);
  }
}

void GgufStream::check_count(const char *what, uint64_t count, uint64_t bytes) const {
  const uint64_t follow = file_bytes_ - position_;
  if (count > follow / bytes) {
    reject("the number of {} is {}, but {} bytes follow: expected at most {}", what, count, follow, follow / bytes);
  }
}

void GgufStream::take(const char *what, std::span<std::byte> bytes) {
  check_follows(what, bytes.size());
  while (!bytes.empty()) {
    if (position_ == buffer_begin_ + buffer_.size()) {
      buffer_begin_ = position_;
      buffer_.resize(std::min({kBufferBytes, file_bytes_ - position_, kMostHeaderBytes - position_}));
      read_(buffer_begin_, buffer_);
    }
    const auto ready = std::span<const std::byte>(buffer_).subspan(position_ - buffer_begin_);
    const size_t count = std::min(ready.size(), bytes.size());
    std::copy_n(ready.begin(), count, bytes.begin());
    digest_.add(ready.first(count));
    position_ += count;
    bytes = bytes.subspan(count);
  }
}

void GgufStream::skip(const char *what, uint64_t bytes) {
  check_follows(what, bytes);
  std::byte skipped[4096];
  while (bytes > 0) {
    const auto count = static_cast<size_t>(std::min<uint64_t>(bytes, sizeof skipped));
    take(what, std::span(skipped).first(count));
    bytes -= count;
  }
}

std::string GgufStream::text(const char *what, uint64_t kept, uint64_t *length) {
  const auto bytes = number<uint64_t>(what);
  check_follows(what, bytes);
  std::string text(std::min(bytes, kept), '\0');
  take(what, std::as_writable_bytes(std::span(text)));
  skip(what, bytes - text.size());
  if (length != nullptr) *length = bytes;
  return text;
}

std::string GgufStream::name(const char *what) {
  uint64_t length = 0;
  std::string name = text(what, kMostNameBytes, &length);
  if (length == 0 || length > kMostNameBytes) {
    reject("{} has {} bytes: expected 1 to {}", what, length, kMostNameBytes);
  }
  const size_t bad = first_bad_utf8(name);
  if (bad < name.size()) {
    reject("byte {} of {} {} is 0x{:02x}: expected UTF-8", bad, what, in_quotes(name),
           static_cast<unsigned char>(name[bad]));
  }
  return name;
}

}  // namespace tool
