// A 64-bit digest that detects accidental changes. It is not secure against deliberate ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace tool {

class Digest {
 public:
  // The result does not depend on the division of the bytes into calls.
  void add(std::span<const std::byte> bytes) {
    length_ += bytes.size();
    while (!bytes.empty() && (held_ != 0 || bytes.size() < sizeof(uint64_t))) {
      word_ |= std::to_integer<uint64_t>(bytes.front()) << (8 * held_);
      bytes = bytes.subspan(1);
      if (++held_ == sizeof(uint64_t)) take_held();
    }
    for (; bytes.size() >= sizeof(uint64_t); bytes = bytes.subspan(sizeof(uint64_t))) {
      uint64_t word = 0;
      std::memcpy(&word, bytes.data(), sizeof word);
      take(word);
    }
    for (const std::byte byte : bytes) word_ |= std::to_integer<uint64_t>(byte) << (8 * held_++);
  }
  void add(std::string_view text) { add(std::as_bytes(std::span(text))); }
  void add(uint64_t word) { add(std::as_bytes(std::span(&word, 1))); }

  uint64_t value() const {
    Digest last = *this;
    last.take(last.word_);
    last.take(last.length_);
    return last.state_;
  }

 private:
  // Multiplies and folds: each bit of the word affects the low half, and each bit of the low half the next product.
  void take(uint64_t word) {
    state_ = (state_ ^ word) * 0x9E3779B97F4A7C15u;
    state_ ^= state_ >> 32;
  }
  void take_held() {
    take(word_);
    word_ = 0;
    held_ = 0;
  }

  uint64_t state_ = 0x6A09E667F3BCC908u;
  uint64_t word_ = 0;
  size_t held_ = 0;
  uint64_t length_ = 0;
};

}  // namespace tool
