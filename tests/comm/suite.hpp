// Tests of every engine: cases that all ranks run, each rank in a separate thread or process.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <ostream>
#include <vector>

#include "tests/api/support.hpp"

namespace lpt::test {

struct Rank {
  lpt_context *context;
  lpt_comm *comm;
  int32_t rank, ranks;

  testing::AssertionResult ok(lpt_status status) const {
    return test::ok(context, status) << " (rank " << rank << " of " << ranks << ")";
  }
};

struct Case {
  const char *name;
  void (*run)(const Rank &);
  bool has_messages = false;  // has send and receive, or splits
};
inline void PrintTo(const Case &item, std::ostream *out) { *out << item.name; }

std::vector<Case> reduce_cases();
std::vector<Case> move_cases();
std::vector<Case> many_cases();
std::vector<Case> partial_cases();
std::vector<Case> partial_gemm_cases();
std::vector<Case> linear_cases();
std::vector<Case> cross_entropy_cases();
std::vector<Case> sequence_cases();
std::vector<Case> wire_cases();
std::vector<Case> codec_cases();
std::vector<Case> signs_cases();
std::vector<Case> scale_cases();
std::vector<Case> bucket_cases();
std::vector<Case> shard_cases();
std::vector<Case> schedule_cases();
std::vector<Case> lossy_cases();
std::vector<Case> level_cases();
std::vector<Case> sequence_attention_cases();

inline std::vector<Case> suite() {
  std::vector<Case> cases = reduce_cases();
  for (const auto &more :
       {move_cases(), many_cases(), partial_cases(), partial_gemm_cases(), linear_cases(), cross_entropy_cases(),
        sequence_cases(), scale_cases(), signs_cases(), wire_cases(), codec_cases(), bucket_cases(), shard_cases(),
        schedule_cases(), lossy_cases(), level_cases(), sequence_attention_cases()}) {
    cases.insert(cases.end(), more.begin(), more.end());
  }
  return cases;
}

// Returns the values of a rank. Every rank can compute those of all others.
inline std::vector<float> numbers_of(int32_t rank, uint64_t place, int64_t count) {
  Random random(place * 1000 + static_cast<uint64_t>(rank));
  return draw(random, Values::kNormal, count);
}

inline std::vector<std::vector<float>> numbers_of_all(int32_t ranks, uint64_t place, int64_t count) {
  std::vector<std::vector<float>> all;
  for (int32_t q = 0; q < ranks; ++q) all.push_back(numbers_of(q, place, count));
  return all;
}

// Adds in rank order, as the library does.
inline float sum_of(const std::vector<std::vector<float>> &all, size_t i) {
  float sum = all[0][i];
  for (size_t q = 1; q < all.size(); ++q) sum += all[q][i];
  return sum;
}

// Rounds to nearest even. The value must be finite.
inline uint16_t bf16_of(float number) {
  uint32_t bits;
  std::memcpy(&bits, &number, sizeof bits);
  const uint32_t rest = bits & 0xFFFF, high = bits >> 16;
  return static_cast<uint16_t>(high + ((rest > 0x8000 || (rest == 0x8000 && (high & 1) != 0)) ? 1 : 0));
}

// Rounds the values to bf16 by truncation.
inline std::vector<uint16_t> halves_of(const std::vector<float> &numbers) {
  std::vector<uint16_t> halves;
  for (const float number : numbers) {
    uint32_t bits;
    std::memcpy(&bits, &number, sizeof bits);
    halves.push_back(static_cast<uint16_t>(bits >> 16));
  }
  return halves;
}

inline lpt_comm_info read(const Rank &self) {
  lpt_comm_info values = LPT_COMM_INFO_INIT;
  EXPECT_TRUE(self.ok(lpt_comm_read(self.context, self.comm, &values)));
  return values;
}

}  // namespace lpt::test
