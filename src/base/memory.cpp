#include "src/base/memory.hpp"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <new>

namespace lpt {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;

constexpr size_t multiple(size_t bytes, size_t of) { return (bytes + of - 1) / of * of; }

// With huge pages the first touch of large memory takes a fifth of the time, and casts are slightly faster. Only full huge
// pages are advised, so that an allocation takes no more memory. Without huge pages the advice has no effect.
void *allocate_huge(size_t bytes) {
  void *const memory = std::aligned_alloc(kHugePage, multiple(bytes, kHugePage));
#ifdef MADV_HUGEPAGE
  if (memory != nullptr) madvise(memory, bytes / kHugePage * kHugePage, MADV_HUGEPAGE);
#endif
  return memory;
}

void *allocate_aligned(void *, size_t bytes, size_t alignment) {
  if (bytes >= kHugePage && alignment <= kHugePage) return allocate_huge(bytes);
  return std::aligned_alloc(alignment, multiple(bytes, alignment));
}

void release_aligned(void *, void *memory, size_t) { std::free(memory); }

Status no_memory(const Allocator &allocator, size_t bytes) {
  return Status(LPT_OUT_OF_MEMORY, allocator.name == nullptr
                                       ? text("cannot allocate %zu bytes", bytes)
                                       : text("%s returned NULL: expected %zu bytes", allocator.name, bytes));
}

// Arena blocks are not cleared: kernels write before they read.
Status allocate(const std::shared_ptr<const Allocator> &allocator, size_t bytes, bool is_zeroed,
                std::shared_ptr<std::byte> &out) {
  if (bytes > static_cast<size_t>(PTRDIFF_MAX) - kAlignment) {
    return Status(LPT_OUT_OF_MEMORY, text("%zu bytes are more than can be addressed", bytes));
  }
  const size_t requested = bytes == 0 ? kAlignment : bytes;
  void *memory = allocator->allocate(allocator->user, requested, kAlignment);
  if (memory == nullptr) return no_memory(*allocator, requested);
  if (is_zeroed) std::memset(memory, 0, requested);
  // If the control block cannot be allocated, the deleter still runs.
  out = std::shared_ptr<std::byte>(static_cast<std::byte *>(memory), [allocator, requested](std::byte *pointer) {
    allocator->release(allocator->user, pointer, requested);
  });
  return {};
}

}  // namespace

Allocator default_allocator() { return {allocate_aligned, release_aligned, nullptr}; }

bool multiply(int64_t a, int64_t b, int64_t &out_product) {
  return a >= 0 && b >= 0 && !__builtin_mul_overflow(a, b, &out_product);
}

Status allocate_bytes(const std::shared_ptr<const Allocator> &allocator, size_t bytes,
                      std::shared_ptr<std::byte> &out) {
  return allocate(allocator, bytes, true, out);
}

Status allocate_uncleared(const std::shared_ptr<const Allocator> &allocator, size_t bytes,
                          std::shared_ptr<std::byte> &out) {
  return allocate(allocator, bytes, false, out);
}

Status Arena::take(size_t bytes, std::byte **out) {
  const size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  if (blocks_.empty() || blocks_.back().bytes - blocks_.back().used < rounded) {
    Block block;
    block.bytes = rounded > next_block_bytes_ ? rounded : next_block_bytes_;
    LPT_TRY(allocate(allocator_, block.bytes, false, block.memory));
    blocks_.push_back(std::move(block));
  }
  Block &block = blocks_.back();
  *out = block.memory.get() + block.used;
  block.used += rounded;
  return {};
}

void Arena::join(size_t first) {
  if (blocks_.size() > first + 1) {
    size_t bytes = 0;
    for (size_t i = first; i < blocks_.size(); ++i) bytes += blocks_[i].bytes;
    next_block_bytes_ = bytes;
    blocks_.resize(first);
  } else if (blocks_.size() == first + 1) {
    blocks_[first].used = 0;
  }
}

void Arena::give_back(const Mark &mark) {
  if (mark.blocks > 0) blocks_[mark.blocks - 1].used = mark.used;
  join(mark.blocks);
}

void Arena::reset() { join(0); }

size_t Arena::bytes() const {
  size_t bytes = 0;
  for (const Block &block : blocks_) bytes += block.bytes;
  return bytes;
}

void Arena::clear() {
  blocks_.clear();
  next_block_bytes_ = 0;
}

}  // namespace lpt
