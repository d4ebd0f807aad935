// Every kind of saved state with small mutations. The load rejects the state with a reason, changes nothing and keeps no
// memory.
// With a matching checksum it may load the changed content. tests/fuzz/states.cpp extends this test.
#include <gtest/gtest.h>

#include <random>

#include "tests/api/states.hpp"
#include "tests/support/sanitized.hpp"

namespace lpt::states {
namespace {

constexpr uint64_t kSeed = 20261122;
constexpr int kMutations = 1500;  // of each kind

// A handle of one kind on a context that counts its memory.
struct Subject {
  explicit Subject(const HolderKind &kind)
      : name(kind.name), context(ledger.make_context()), holder(kind.make(context)) {
    EXPECT_TRUE(holder->is_good()) << name << ": " << lpt_context_error(context);
    good = holder->save();
  }
  ~Subject() {
    holder.reset();
    lpt_context_destroy(context);
    EXPECT_EQ(0u, ledger.live_bytes) << name;
  }

  // Returns false after the first problem, so that only one is reported.
  bool stands(const Bytes &bytes, const std::string &where) {
    const std::string problem = problem_of(*holder, ledger, bytes);
    EXPECT_EQ("", problem) << name << ", " << where;
    return problem.empty();
  }

  bool is_taken(const Bytes &bytes) {
    const bool is_ok = holder->load(bytes) == LPT_OK;
    EXPECT_EQ(LPT_OK, holder->load(good));
    return is_ok;
  }

  std::string name;
  Ledger ledger;
  lpt_context *context;
  HolderPointer holder;
  Bytes good;
};

TEST(States, OfEveryKindAreTakenAsTheyWereWritten) {
  for (const HolderKind &kind : holder_kinds()) {
    Subject subject(kind);
    EXPECT_TRUE(subject.stands(subject.good, "as it was"));
    EXPECT_TRUE(subject.is_taken(subject.good)) << kind.name;
    EXPECT_EQ(subject.good, resealed(subject.good)) << kind.name;
  }
}

TEST(States, AreRejectedWhenCutAnywhere) {
  for (const HolderKind &kind : holder_kinds()) {
    Subject subject(kind);
    for (size_t length = 0; length < subject.good.size(); ++length) {
      const Bytes cut(subject.good.begin(), subject.good.begin() + static_cast<std::ptrdiff_t>(length));
      ASSERT_TRUE(subject.stands(cut, "cut at " + std::to_string(length)));
      ASSERT_FALSE(subject.is_taken(cut)) << kind.name << ' ' << length;
      ASSERT_TRUE(subject.stands(resealed(cut), "cut and sealed at " + std::to_string(length)));
      ASSERT_FALSE(subject.is_taken(resealed(cut))) << kind.name << ", sealed, " << length;
    }
  }
}

TEST(States, AreRejectedWithBytesAfterThem) {
  for (const HolderKind &kind : holder_kinds()) {
    Subject subject(kind);
    for (const size_t count : {1u, 7u, 32u, 4096u}) {
      Bytes longer = subject.good;
      longer.resize(longer.size() + count);
      EXPECT_TRUE(subject.stands(longer, std::to_string(count) + " bytes more"));
      EXPECT_FALSE(subject.is_taken(longer)) << kind.name << ", " << count << " bytes more";
    }
  }
}

TEST(States, AreRejectedWithAnyBitChangedAndTakenAsWhatTheySayUnderAChecksumThatFits) {
  for (const HolderKind &kind : holder_kinds()) {
    Subject subject(kind);
    for (size_t bit = 0; bit < 8 * subject.good.size(); bit += test::kIsSanitized ? 5 : 1) {
      Bytes changed = subject.good;
      changed[bit / 8] = static_cast<uint8_t>(changed[bit / 8] ^ (1u << bit % 8));
      ASSERT_TRUE(subject.stands(changed, "bit " + std::to_string(bit)));
      ASSERT_FALSE(subject.is_taken(changed)) << kind.name << ", bit " << bit;
      ASSERT_TRUE(subject.stands(resealed(changed), "sealed, bit " + std::to_string(bit)));
    }
  }
}

TEST(States, AreRejectedByEveryOtherKind) {
  for (const HolderKind &from : holder_kinds()) {
    const Bytes foreign = Subject(from).good;
    for (const HolderKind &to : holder_kinds()) {
      Subject subject(to);
      EXPECT_TRUE(subject.stands(foreign, std::string("given ") + from.name));
      // Weights have no shape before they are loaded.
      const bool is_weights =
          std::string(from.name).rfind("weights", 0) == 0 && std::string(to.name).rfind("weights", 0) == 0;
      EXPECT_EQ(&from == &to || is_weights, subject.is_taken(foreign)) << to.name << " given " << from.name;
    }
  }
}

Bytes mutated(Bytes bytes, std::mt19937_64 &random) {
  for (uint64_t changes = 1 + random() % 3; changes > 0 && bytes.size() > kHeaderBytes; --changes) {
    const size_t place = kHeaderBytes + random() % (bytes.size() - kHeaderBytes);
    const auto at = bytes.begin() + static_cast<std::ptrdiff_t>(place);
    switch (random() % 5) {
      case 0:
        *at = static_cast<uint8_t>(random());
        break;
      case 1:
        bytes.erase(at);
        break;
      case 2:
        bytes.insert(at, static_cast<uint8_t>(random()));
        break;
      case 3:  // a large or a negative value
        for (size_t i = place; i < bytes.size() && i < place + 8; ++i) bytes[i] = random() % 2 == 0 ? 0xFF : 0x7F;
        break;
      default:
        bytes.resize(place);
    }
  }
  return bytes;
}

TEST(States, AreTakenSoundlyOrRejectedHoweverTheyAreDamaged) {
  RecordProperty("seed", std::to_string(kSeed));
  std::mt19937_64 random(kSeed);
  for (const HolderKind &kind : holder_kinds()) {
    Subject subject(kind);
    for (int i = 0; i < kMutations; ++i) {
      ASSERT_TRUE(
          subject.stands(resealed(mutated(subject.good, random)), "seed 20261122, mutation " + std::to_string(i)));
    }
  }
}

// The text of a rejection.

struct Damage {
  const char *kind;
  size_t at;  // byte offset from the beginning
  uint64_t number;
  int bytes;
  const char *words;
};

void put(Bytes &bytes, size_t at, uint64_t number, int count) {
  for (int i = 0; i < count; ++i) bytes[at + static_cast<size_t>(i)] = static_cast<uint8_t>(number >> (8 * i));
}

const HolderKind &kind_named(const std::string &name) {
  for (const HolderKind &kind : holder_kinds()) {
    if (name == kind.name) return kind;
  }
  ADD_FAILURE() << name;
  return holder_kinds()[0];
}

TEST(States, NameWhatIsWrongWhenTheyAreRejected) {
  constexpr uint64_t kHuge = uint64_t{1} << 62;
  const Damage header[] = {{"scaler", 0, 'M', 1, "does not begin with LPTS"},
                           {"adamw, f32", 4, 2, 4, "version 2, this library reads 1"},
                           {"linear", 8, 3, 4, "kind 3, expected 2"},
                           {"weights, nvfp4", 12, 40, 4, "a header of another size"},
                           {"adamw, f32", 16, kHuge, 8, "truncated"},
                           {"adamw, f32", 24, 0, 4, "the checksum does not fit"},
                           {"adamw, f32", 28, 1, 4, "the last bytes of the header are not zero"}};
  for (const Damage &damage : header) {
    Subject subject(kind_named(damage.kind));
    Bytes bytes = subject.good;
    put(bytes, damage.at, damage.number, damage.bytes);
    EXPECT_EQ(LPT_INVALID_STATE, subject.holder->load(bytes)) << damage.words;
    EXPECT_NE(std::string::npos, std::string(lpt_context_error(subject.context)).find(damage.words))
        << damage.words << " not in: " << lpt_context_error(subject.context);
  }
  const Damage payload[] = {
      {"scaler", 32, 0, 4, "the scaler's kind is 0, expected 1"},
      {"scaler", 36, 4, 4, "history_length is 4, expected 3"},
      {"scaler", 44, 2, 4, "is_recorded is 2"},
      {"scaler", 48, 0xFFFFFFFF, 4, "holds an amax that is none"},
      {"scaler", 52, ~uint64_t{0}, 8, "update_count is -1"},
      {"scaler", 52, ~uint64_t{0} >> 1, 8, "update_count is 9223372036854775807"},
      {"linear", 32, 3, 8, "input_columns is 3, expected 2"},
      {"adamw, f32", 32, 4, 8, "elements is 4, expected 3"},
      {"adamw, f32", 40, ~uint64_t{0}, 8, "the step count is -1"},
      {"adamw, f32", 40, ~uint64_t{0} >> 1, 8, "the step count is 9223372036854775807"},
      {"adamw, f32", 48, LPT_FORMAT_BF16, 8, "the first moment's format"},
      {"adamw, f32", 56, 0, 4, "a moment's scale is 0"},
      {"adamw, f32", 32 + 16 + 12 + 12, LPT_FORMAT_BF16, 8, "the second moment's format"},
      // Two sets of codes of 130 elements, then sections of first scales, second scales, exponents.
      {"adamw, expanded groups", 32 + 16 + 2 * 142, 5, 4, "the tag of a section is 5, expected 3"},
      {"adamw, expanded groups", 32 + 16 + 2 * 142 + 4, 9, 8, "the length of a section is 9, expected 8"},
      {"adamw, expanded groups", 32 + 16 + 2 * 142 + 12, 0x7F800000, 4, "a block's scale is inf"},
      {"adamw, expanded groups", 32 + 16 + 2 * 142 + 2 * 20 + 12, 1025, 2, "a group's exponent is 1025"},
      {"weights, nvfp4", 32, LPT_FORMAT_UINT8, 8, "is none that is packed"},
      {"weights, nvfp4", 40, 4, 4, "rank is 4, expected 2 or 3"},
      {"weights, nvfp4", 40, 0x302, 4, "storage is 3"},
      {"weights, bitmask", 52, 13, 8, "not what its format and extents take"},
      {"weights, tiles", 60, 33, 4, "tile_rows is 33"},
      {"weights, tiles", 64, 48, 4, "tile_columns is 48"},
      {"weights, tiles", 68, 4, 1, "bits of tiles that are not there"},
      {"weights, nvfp4", 44, ~uint64_t{0}, 8, "extent 0 is -1"},
      {"weights, nvfp4", 52, 400, 8, "not what its format and extents take"},
  };
  for (const Damage &damage : payload) {
    Subject subject(kind_named(damage.kind));
    Bytes bytes = subject.good;
    put(bytes, damage.at, damage.number, damage.bytes);
    EXPECT_EQ(LPT_INVALID_STATE, subject.holder->load(resealed(bytes))) << damage.words;
    EXPECT_NE(std::string::npos, std::string(lpt_context_error(subject.context)).find(damage.words))
        << damage.words << " not in: " << lpt_context_error(subject.context);
  }
}

// Lengths that exceed the memory.

// Invalid lengths of header and payload are rejected before any allocation. Invalid lengths of sections are rejected after
// the allocations of the parameter itself, for any length.
TEST(States, ThatPromiseHugeLengthsTakeNoMemory) {
  struct Promise {
    const char *kind;
    size_t at;
    int bytes;
    bool takes_own;
  };
  const Promise promises[] = {
      {"scaler", 16, 8, false},
      {"scaler", 36, 4, false},
      {"linear", 16, 8, false},
      {"linear", 32, 8, false},
      {"linear", 40, 8, false},
      {"linear", 52, 4, false},
      {"adamw, f32", 16, 8, false},
      {"adamw, f32", 32, 8, false},
      {"adamw, trees of a compensated shard", 32, 8, false},
      {"adamw, expanded groups", 32, 8, false},
      {"adamw, expanded groups", 32 + 16 + 2 * 142 + 4, 8, true},
      {"weights, nvfp4", 16, 8, false},
      {"weights, nvfp4", 44, 8, false},
      {"weights, nvfp4", 52, 8, false},
      {"weights, experts with zero points", 44, 8, false},
      {"weights, bitmask", 44, 8, false},
      {"weights, bitmask", 52, 8, false},
      {"weights, tiles", 44, 8, false},
      {"weights, tiles", 52, 8, false},
      {"weights, tiles", 60, 4, false},
      {"weights, tiles", 64, 4, false},
  };
  for (const Promise &promise : promises) {
    for (const uint64_t number : {uint64_t{1} << 31, uint64_t{1} << 40, uint64_t{1} << 62, ~uint64_t{0}}) {
      Subject subject(kind_named(promise.kind));
      const Bytes good = subject.good;
      Bytes bytes = good;
      put(bytes, promise.at, number, promise.bytes);
      if (promise.at >= kHeaderBytes) bytes = resealed(bytes);
      const size_t live_bytes = subject.ledger.live_bytes;
      subject.ledger.requested_bytes = 0;
      EXPECT_EQ(LPT_INVALID_STATE, subject.holder->load(bytes)) << promise.kind << " at " << promise.at;
      EXPECT_LE(subject.ledger.requested_bytes, promise.takes_own ? good.size() + 7 * 64 : 0)
          << promise.kind << " at " << promise.at << ", " << number;
      EXPECT_EQ(live_bytes, subject.ledger.live_bytes) << promise.kind << " at " << promise.at;
    }
  }
}

}  // namespace
}  // namespace lpt::states
