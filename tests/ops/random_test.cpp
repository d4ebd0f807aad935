// The random bits of an operation: distinct streams of domains, sites and roles, and indices of elements.
#include <gtest/gtest.h>

#include <set>

#include "src/call/operation.hpp"

namespace lpt {
namespace {

lpt_random random_of(uint32_t stream) {
  lpt_random random = LPT_RANDOM_INIT;
  random.seed = 5;
  random.stream = stream;
  random.step = 9;
  return random;
}

RandomSource source_of(const lpt_random &random, RandomDomain space, uint32_t role, int64_t columns) {
  RandomSource source{};
  const Status status = make_random(random, space, role, columns, 16, 7, source);
  EXPECT_TRUE(status.is_ok()) << status.message();
  return source;
}

TEST(RandomStream, HasTheSpaceOnTopTheSiteInTheMiddleAndTheRoleBelow) {
  EXPECT_EQ(0x1ABCDEF3u, random_stream(RandomDomain::kQuantize, 0xABCDEF, 3));
  EXPECT_EQ(0x20000010u, random_stream(RandomDomain::kLinear, 1, 0));
  EXPECT_EQ(0x3FFFFFFFu, random_stream(RandomDomain::kOptimizer, 0xFFFFFF, 15));
}

TEST(RandomStream, IsAnotherOneForEverySpaceSiteAndRole) {
  std::set<uint32_t> streams;
  size_t count = 0;
  for (const RandomDomain space : {RandomDomain::kQuantize, RandomDomain::kLinear, RandomDomain::kOptimizer}) {
    for (const uint32_t site : {0u, 1u, 2u, 15u, 16u, 255u, 0xFFFFFFu}) {
      for (uint32_t role = 0; role < 16; ++role, ++count) streams.insert(random_stream(space, site, role));
    }
  }
  EXPECT_EQ(count, streams.size());
}

TEST(RandomSource, TakesSeedStreamStepAndPlace) {
  lpt_random random = random_of(0xFFFFFF);
  random.offset = 1000;
  random.row_stride = 77;
  const RandomSource source = source_of(random, RandomDomain::kLinear, 2, 50);
  EXPECT_EQ(5u, source.seed);
  EXPECT_EQ(1000, source.offset);
  EXPECT_EQ(77, source.row_stride);
  EXPECT_EQ(0x2FFFFFF2u, source.stream);
  EXPECT_EQ(9u, source.step);
}

TEST(RandomSource, HasTheColumnsForAMissingRowStride) {
  EXPECT_EQ(50, source_of(random_of(0), RandomDomain::kQuantize, 0, 50).row_stride);
}

TEST(RandomSource, RejectsAStreamThatWouldReachTheSpace) {
  RandomSource source{};
  EXPECT_EQ(LPT_INVALID_ARGUMENT,
            make_random(random_of(1u << 24), RandomDomain::kQuantize, 0, 1, 16, 7, source).code());
}

TEST(RandomBits, BelongToThePlaceOfAnElementAndNotToTheShard) {
  lpt_random whole = random_of(4);
  whole.offset = 30;
  lpt_random shard = whole;
  shard.row_stride = 100;
  shard.offset = 30 + 7 * 100 + 60;  // rows from 7, columns from 60
  const RandomSource from_whole = source_of(whole, RandomDomain::kQuantize, 0, 100);
  const RandomSource from_shard = source_of(shard, RandomDomain::kQuantize, 0, 40);
  for (int64_t r = 0; r < 5; ++r) {
    for (int64_t c = 0; c < 40; ++c) {
      ASSERT_EQ(random_bits(from_whole, r + 7, c + 60), random_bits(from_shard, r, c)) << r << " " << c;
    }
  }
}

TEST(RandomBits, OfOneRowDoNotRepeat) {
  const RandomSource source = source_of(random_of(4), RandomDomain::kQuantize, 0, 1 << 14);
  // 2^14 draws of 16 bits give about 2^16 · (1 - e^(-1/4)) = 14 497 distinct values, with a deviation of about 40.
  std::set<uint32_t> values;
  for (int64_t c = 0; c < 1 << 14; ++c) values.insert(random_bits(source, 0, c));
  EXPECT_NEAR(14497.0, static_cast<double>(values.size()), 250.0);
}

}  // namespace
}  // namespace lpt
