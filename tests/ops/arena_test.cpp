// Memory: buffers that keep their allocator, and scratch that is divided into blocks.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <limits>
#include <set>

#include "src/base/memory.hpp"

namespace lpt {
namespace {

struct Ledger {
  std::set<void *> live;
  int64_t taken = 0;
  int64_t left = std::numeric_limits<int64_t>::max();  // number of allocations before one fails
};

std::shared_ptr<const Allocator> allocator_with(Ledger &ledger) {
  const auto take = [](void *user, size_t bytes, size_t alignment) -> void * {
    Ledger &book = *static_cast<Ledger *>(user);
    if (book.left-- <= 0) return nullptr;
    void *memory = nullptr;
    if (posix_memalign(&memory, alignment, bytes) != 0) return nullptr;
    std::memset(memory, 0xC7, bytes);
    book.live.insert(memory);
    ++book.taken;
    return memory;
  };
  const auto release = [](void *user, void *memory, size_t) {
    EXPECT_EQ(1u, static_cast<Ledger *>(user)->live.erase(memory)) << "released what was not given";
    std::free(memory);
  };
  return std::make_shared<const Allocator>(Allocator{take, release, &ledger});
}

std::byte *take(Arena &arena, size_t bytes) {
  std::byte *memory = nullptr;
  const Status status = arena.take(bytes, &memory);
  EXPECT_TRUE(status.is_ok()) << status.message();
  return memory;
}

TEST(Buffer, IsZeroedAndAligned) {
  Ledger ledger;
  std::shared_ptr<std::byte> buffer;
  ASSERT_TRUE(allocate_bytes(allocator_with(ledger), 1000, buffer).is_ok());
  EXPECT_EQ(0u, reinterpret_cast<uintptr_t>(buffer.get()) % kAlignment);
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(std::byte{0}, buffer.get()[i]);
}

TEST(Buffer, KeepsItsAllocatorAlive) {
  Ledger ledger;
  std::shared_ptr<std::byte> buffer;
  ASSERT_TRUE(allocate_bytes(allocator_with(ledger), 10, buffer).is_ok());
  EXPECT_EQ(1u, ledger.live.size());
  buffer.reset();
  EXPECT_TRUE(ledger.live.empty());
}

TEST(Buffer, OfNoBytesHasAnAddress) {
  Ledger ledger;
  std::shared_ptr<std::byte> buffer;
  ASSERT_TRUE(allocate_bytes(allocator_with(ledger), 0, buffer).is_ok());
  EXPECT_NE(nullptr, buffer);
}

TEST(Buffer, BeyondTheAddressSpaceIsOutOfMemory) {
  Ledger ledger;
  std::shared_ptr<std::byte> buffer;
  EXPECT_EQ(LPT_OUT_OF_MEMORY, allocate_bytes(allocator_with(ledger), SIZE_MAX, buffer).code());
  EXPECT_EQ(0, ledger.taken) << "not even requested";
}

TEST(Multiply, TellsWhatFits) {
  int64_t gemm = 0;
  EXPECT_TRUE(multiply(3037000499, 3037000499, gemm));
  EXPECT_EQ(9223372030926249001, gemm);
  EXPECT_FALSE(multiply(3037000500, 3037000500, gemm));
  EXPECT_FALSE(multiply(-1, 1, gemm));
  EXPECT_FALSE(multiply(1, -1, gemm));
  EXPECT_TRUE(multiply(0, INT64_MAX, gemm));
  EXPECT_EQ(0, gemm);
}

TEST(Arena, GivesAlignedPiecesThatDoNotOverlap) {
  Ledger ledger;
  Arena arena(allocator_with(ledger));
  std::vector<std::pair<std::byte *, size_t>> pieces;
  for (const size_t bytes : {1u, 64u, 65u, 0u, 4096u, 7u, 100000u, 3u}) {
    std::byte *memory = take(arena, bytes);
    EXPECT_EQ(0u, reinterpret_cast<uintptr_t>(memory) % kAlignment);
    for (const auto &[other, length] : pieces)
      EXPECT_TRUE(memory + bytes <= other || other + length <= memory || bytes == 0 || length == 0);
    std::memset(memory, 1, bytes);
    pieces.emplace_back(memory, bytes);
  }
}

TEST(Arena, KeepsEarlierPiecesWhenItGrows) {
  Ledger ledger;
  Arena arena(allocator_with(ledger));
  std::byte *first = take(arena, 64);
  std::memset(first, 42, 64);
  for (int i = 0; i < 20; ++i) std::memset(take(arena, 10000), 1, 10000);
  for (int i = 0; i < 64; ++i) ASSERT_EQ(std::byte{42}, first[i]);
}

TEST(Arena, TakesOneBlockForWhatTookManyBefore) {
  Ledger ledger;
  Arena arena(allocator_with(ledger));
  for (int round = 0; round < 4; ++round) {
    const int64_t before = ledger.taken;
    for (int i = 0; i < 10; ++i) take(arena, 1000);
    const int64_t blocks = ledger.taken - before;
    EXPECT_LE(blocks, round == 0 ? 10 : round == 1 ? 1 : 0) << "round " << round;
    arena.reset();
  }
}

TEST(Arena, TakesAgainWhatWasGivenBackToAMark) {
  Ledger ledger;
  Arena arena(allocator_with(ledger));
  const Arena::Mark nothing = arena.mark();
  take(arena, 1000);
  arena.give_back(nothing);
  std::byte *const first = take(arena, 100);
  std::memset(first, 42, 100);
  const Arena::Mark mark = arena.mark();
  for (int round = 0; round < 10; ++round) {
    const int64_t before = ledger.taken;
    for (const size_t bytes : {300u, 5000u, 20000u, 10u}) std::memset(take(arena, bytes), round, bytes);
    EXPECT_LE(ledger.taken - before, round < 4 ? 3 : 0) << "round " << round;
    arena.give_back(mark);
    EXPECT_LE(ledger.live.size(), 2u);
  }
  for (int i = 0; i < 100; ++i) ASSERT_EQ(std::byte{42}, first[i]);
}

TEST(Arena, GivesAllBackAtItsEnd) {
  Ledger ledger;
  {
    Arena arena(allocator_with(ledger));
    for (int i = 0; i < 10; ++i) take(arena, 1000);
  }
  EXPECT_TRUE(ledger.live.empty());
}

TEST(Arena, WorksAgainAfterAFailure) {
  Ledger ledger;
  Arena arena(allocator_with(ledger));
  take(arena, 100);
  ledger.left = 0;
  std::byte *memory = nullptr;
  EXPECT_EQ(LPT_OUT_OF_MEMORY, arena.take(100000, &memory).code());
  EXPECT_EQ(nullptr, memory);
  ledger.left = 100;
  arena.reset();
  EXPECT_NE(nullptr, take(arena, 100000));
}

}  // namespace
}  // namespace lpt
