// The generator against the published known answers (Random123, kat_vectors), and the mapping of its bits to elements
// against an independent program.
#include "src/base/philox.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "tests/formats/golden.hpp"

namespace lpt {
namespace {

struct KnownAnswer {
  int rounds;
  PhiloxBlock counter;
  uint32_t key[2];
  PhiloxBlock answer;
};

constexpr uint32_t kOnes = 0xFFFFFFFFu;

// All zeros, all ones, digits of pi.
constexpr KnownAnswer kKnownAnswers[] = {
    {7, {{0, 0, 0, 0}}, {0, 0}, {{0x5F6FB709, 0x0D893F64, 0x4F121F81, 0x4F730A48}}},
    {7, {{kOnes, kOnes, kOnes, kOnes}}, {kOnes, kOnes}, {{0x5207DDC2, 0x45165E59, 0x4D8EE751, 0x8C52F662}}},
    {7,
     {{0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344}},
     {0xA4093822, 0x299F31D0},
     {{0x4DFCCABA, 0x190A87F0, 0xC47362BA, 0xB6B5242A}}},
    {10, {{0, 0, 0, 0}}, {0, 0}, {{0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8}}},
    {10, {{kOnes, kOnes, kOnes, kOnes}}, {kOnes, kOnes}, {{0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD}}},
    {10,
     {{0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344}},
     {0xA4093822, 0x299F31D0},
     {{0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1}}},
};

TEST(Philox, GivesThePublishedAnswers) {
  for (const KnownAnswer &known : kKnownAnswers) {
    const uint64_t key = known.key[0] | uint64_t{known.key[1]} << 32;
    const PhiloxBlock answer = philox(known.counter, key, known.rounds);
    for (int word = 0; word < 4; ++word) {
      EXPECT_EQ(known.answer.word[word], answer.word[word]) << known.rounds << " rounds, word " << word;
    }
  }
}

RandomSource source_of(int32_t bits) {
  return {.seed = 0x123456789ABCDEF0u,
          .offset = 0,
          .row_stride = 100,
          .stream = random_stream(RandomDomain::kLinear, 3, 1),
          .step = 4,
          .rounds = 7,
          .bits = bits};
}

TEST(RandomBits, EqualTheGoldenFile) {
  const std::vector<golden::Row> rows = golden::read("random_bits");
  ASSERT_FALSE(rows.empty());
  for (const golden::Row &row : rows) {
    ASSERT_EQ(7u, row.size());
    const RandomSource source = {.seed = std::stoull(row[0]),
                                 .offset = std::stoll(row[5]),
                                 .row_stride = 0,
                                 .stream = static_cast<uint32_t>(std::stoul(row[1])),
                                 .step = static_cast<uint32_t>(std::stoul(row[2])),
                                 .rounds = std::stoi(row[3]),
                                 .bits = std::stoi(row[4])};
    EXPECT_EQ(std::stoul(row[6]), random_bits(source, 0, 0)) << "index " << row[5] << ", " << row[4] << " bits";
  }
}

TEST(RandomBits, TakeAllBitsOfABlockInOrder) {
  for (int32_t bits : {16, 8}) {
    const RandomSource source = source_of(bits);
    for (uint64_t block : {0u, 1u, 77u}) {
      const PhiloxBlock words = random_block(source, block);
      const int64_t first = static_cast<int64_t>(block) * (128 / bits);
      for (int word = 0; word < 4; ++word) {
        uint32_t gathered = 0;
        for (int32_t place = 0; place < 32 / bits; ++place) {
          gathered |= random_bits(source, 0, first + word * (32 / bits) + place) << (bits * place);
        }
        EXPECT_EQ(words.word[word], gathered) << bits << " bits, block " << block << ", word " << word;
      }
    }
  }
}

TEST(RandomBits, BelongToThePlaceInTheWholeTensor) {
  for (int32_t bits : {16, 8}) {
    const RandomSource whole = source_of(bits);
    RandomSource shard = whole;  // rows from 3, columns from 40
    shard.offset = 3 * whole.row_stride + 40;
    for (int64_t row = 0; row < 5; ++row) {
      for (int64_t column = 0; column < 20; ++column) {
        EXPECT_EQ(random_bits(whole, row + 3, column + 40), random_bits(shard, row, column));
      }
    }
  }
}

TEST(RandomBits, DifferWithEachPartOfTheirSource) {
  const RandomSource source = source_of(16);
  RandomSource other_seed = source, other_stream = source, other_step = source, other_rounds = source;
  other_seed.seed ^= uint64_t{1} << 63;
  other_stream.stream += 1;
  other_step.step += 1;
  other_rounds.rounds = 10;
  std::set<std::vector<uint32_t>> sequences;
  for (const RandomSource &each : {source, other_seed, other_stream, other_step, other_rounds}) {
    std::vector<uint32_t> sequence;
    for (int64_t column = 0; column < 8; ++column) sequence.push_back(random_bits(each, 0, column));
    sequences.insert(sequence);
  }
  EXPECT_EQ(5u, sequences.size());
}

TEST(RandomStream, KeepsSpacesSitesAndRolesApart) {
  EXPECT_EQ(0x1ABCDEF7u, random_stream(RandomDomain::kQuantize, 0xABCDEF, 7));
  std::set<uint32_t> streams;
  for (RandomDomain space : {RandomDomain::kQuantize, RandomDomain::kLinear, RandomDomain::kOptimizer}) {
    for (uint32_t site : {0u, 1u, 0xFFFFFFu}) {
      for (uint32_t role = 0; role < 16; ++role) streams.insert(random_stream(space, site, role));
    }
  }
  EXPECT_EQ(3u * 3u * 16u, streams.size());
}

}  // namespace
}  // namespace lpt
