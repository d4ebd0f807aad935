// Memory from the caller's allocator, or from ours. Buffers keep their allocator alive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "lpt.h"
#include "src/base/status.hpp"

namespace lpt {

constexpr size_t kAlignment = 64;

// The next multiple of it.
constexpr size_t aligned(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

struct Allocator {
  lpt_allocate_function allocate;
  lpt_release_function release;
  void *user;
  const char *name = nullptr;  // the caller's function, in its words; nullptr: the library's
};

// The library's own: aligned, from the C library.
Allocator default_allocator();

// Multiplies two extents; false on overflow or a negative factor.
bool multiply(int64_t a, int64_t b, int64_t &out_gemm);

// Zeroed bytes, freed when the last owner lets go.
Status allocate_bytes(const std::shared_ptr<const Allocator> &allocator, size_t bytes, std::shared_ptr<std::byte> &out);

// The same as they come.
Status allocate_uncleared(const std::shared_ptr<const Allocator> &allocator, size_t bytes,
                          std::shared_ptr<std::byte> &out);

// Scratch of one call: handed out in pieces, taken back all at once.
class Arena {
 public:
  explicit Arena(std::shared_ptr<const Allocator> allocator) : allocator_(std::move(allocator)) {}

  // Aligned to kAlignment; lives until reset(), or until what was taken since a mark is given back.
  Status take(size_t bytes, std::byte **out);

  struct Mark {
    size_t blocks, used;  // used: of the last block
  };
  Mark mark() const { return {blocks_.size(), blocks_.empty() ? 0 : blocks_.back().used}; }

  // What was taken since the mark may be taken again. What took several blocks gets one block of that size next time.
  void give_back(const Mark &mark);

  // Gives everything back, likewise.
  void reset();

  // Bytes of the allocator; clear() frees them. Nothing may be taken then.
  size_t bytes() const;
  void clear();

 private:
  struct Block {
    std::shared_ptr<std::byte> memory;
    size_t bytes = 0;
    size_t used = 0;
  };

  // Makes the blocks from the first one empty: one stays as it is, of several their size.
  void join(size_t first);

  std::shared_ptr<const Allocator> allocator_;
  std::vector<Block> blocks_;
  size_t setting_bytes_ = 0;
};

}  // namespace lpt
