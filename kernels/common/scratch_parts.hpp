// Layout of the scratch of a kernel. Included by ISA files: all functions have internal linkage.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lpt {
namespace {

// The parts of a scratch, each aligned to a cache line of 64 bytes. If `scratch` is NULL, only the size is computed.
class ScratchParts {
 public:
  explicit ScratchParts(std::byte *scratch) : begin(reinterpret_cast<uintptr_t>(scratch)), end(begin) {}

  template <typename T>
  T *take(int64_t count) {
    auto *const part = reinterpret_cast<T *>(end);
    end += static_cast<uintptr_t>((count * static_cast<int64_t>(sizeof(T)) + 63) / 64 * 64);
    return part;
  }
  size_t bytes() const { return end - begin; }

 private:
  uintptr_t begin, end;
};

}  // namespace
}  // namespace lpt
