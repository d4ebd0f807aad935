// Reads values from the bytes of a fuzz input, and zeros after its end.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lpt::test {

class FuzzReader {
 public:
  FuzzReader(const uint8_t *data, size_t size) : data_(data), size_(size) {}

  bool is_at_end() const { return size_ == 0; }
  uint8_t byte() {
    if (size_ == 0) return 0;
    --size_;
    return *data_++;
  }
  int32_t below(int32_t count) { return byte() % count; }

 private:
  const uint8_t *data_;
  size_t size_;
};

}  // namespace lpt::test
