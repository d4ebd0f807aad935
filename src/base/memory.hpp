// Memory of the caller's allocator or of the library's. Buffers keep their allocator alive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "lpt.h"
#include "src/base/status.hpp"

namespace lpt {

constexpr size_t kAlignment = 64;

// Rounds up to a multiple of kAlignment.
constexpr size_t aligned(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

struct Allocator {
  lpt_allocate_function allocate;
  lpt_release_function release;
  void *user;
  const char *name = nullptr;  // name of the caller's function; nullptr: the library's allocator
};

// Returns the library's allocator: aligned memory of the C library.
Allocator default_allocator();

// Multiplies two extents. Returns false on overflow or for a negative factor.
bool multiply(int64_t a, int64_t b, int64_t &out_product);

// Allocates zeroed bytes, which the last owner frees.
Status allocate_bytes(const std::shared_ptr<const Allocator> &allocator, size_t bytes, std::shared_ptr<std::byte> &out);

// The same, not cleared.
Status allocate_uncleared(const std::shared_ptr<const Allocator> &allocator, size_t bytes,
                          std::shared_ptr<std::byte> &out);

// Scratch of one call: allocated in parts, released at once.
class Arena {
 public:
  explicit Arena(std::shared_ptr<const Allocator> allocator) : allocator_(std::move(allocator)) {}

  // Allocates memory aligned to kAlignment. It is valid until reset(), or until give_back() of an earlier mark.
  Status take(size_t bytes, std::byte **out);

  struct Mark {
    size_t blocks, used;  // used: of the last block
  };
  Mark mark() const { return {blocks_.size(), blocks_.empty() ? 0 : blocks_.back().used}; }

  // Releases all memory allocated since the mark. If it has several blocks, the next allocation makes one block of their total
  // size.
  void give_back(const Mark &mark);

  // Releases all memory in the same way.
  void reset();

  // bytes() returns the bytes obtained from the allocator. clear() frees them; no memory of the arena may be in use then.
  size_t bytes() const;
  void clear();

 private:
  struct Block {
    std::shared_ptr<std::byte> memory;
    size_t bytes = 0;
    size_t used = 0;
  };

  // Empties the blocks from `first` on: keeps a single block, or frees several blocks and records their total size.
  void join(size_t first);

  std::shared_ptr<const Allocator> allocator_;
  std::vector<Block> blocks_;
  size_t next_block_bytes_ = 0;
};

}  // namespace lpt
