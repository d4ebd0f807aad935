// The profile: sums per operation and kernel, a bounded trace, and no allocation while it measures.
#include "src/base/profile.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace lpt {
namespace {

std::chrono::steady_clock::time_point ago(int64_t milliseconds) {
  return std::chrono::steady_clock::now() - std::chrono::milliseconds(milliseconds);
}

TEST(ProfileSums, AreKeptPerOperationAndRow) {
  static const char *const gemm = "gemm", *const cast = "quantize", *const row = "ref", *const fast = "fast";
  Profile profile;
  profile.set_enabled(true);
  profile.record(gemm, row, ago(0), 10.0, 100.0);
  profile.record(gemm, row, ago(0), 1.0, 2.0);
  profile.record(gemm, fast, ago(0), 5.0, 6.0);
  profile.record(cast, row, ago(0), 7.0, 0.0);
  ASSERT_EQ(3u, profile.entries().size());
  EXPECT_EQ(2, profile.entries()[0].calls);
  EXPECT_EQ(11.0, profile.entries()[0].bytes);
  EXPECT_EQ(102.0, profile.entries()[0].flops);
  EXPECT_EQ(1, profile.entries()[1].calls);
  EXPECT_EQ(7.0, profile.entries()[2].bytes);
}

TEST(ProfileSums, AreSortedByTime) {
  Profile profile;
  profile.set_enabled(true);
  profile.record("a", "short", ago(1), 0, 0);
  profile.record("a", "long", ago(5000), 0, 0);
  profile.record("a", "middle", ago(500), 0, 0);
  const std::vector<Profile::Entry> sorted = profile.sorted();
  ASSERT_EQ(3u, sorted.size());
  EXPECT_STREQ("long", sorted[0].kernel);
  EXPECT_STREQ("middle", sorted[1].kernel);
  EXPECT_STREQ("short", sorted[2].kernel);
  EXPECT_GE(sorted[0].seconds, 5.0);
}

TEST(ProfileTrace, KeepsTheFirstHundredThousandCalls) {
  Profile profile;
  profile.set_enabled(true);
  for (int i = 0; i < 100005; ++i) profile.record("a", "row", ago(0), 0, 0);
  EXPECT_EQ(100005, profile.entries()[0].calls);
  const std::string path = testing::TempDir() + "lpt_profile_test.json";
  ASSERT_TRUE(profile.save(path.c_str()).is_ok());
  std::ifstream file(path);
  int64_t lines = 0;
  for (std::string line; std::getline(file, line);) ++lines;
  std::remove(path.c_str());
  EXPECT_EQ(100000 + 2, lines);
}

TEST(ProfileTrace, IsRejectedWhereNoFileCanBe) {
  EXPECT_EQ(LPT_INVALID_ARGUMENT, Profile().save("/no-such-directory/trace.json").code());
}

TEST(ProfileSums, TakeNoMemoryWhileTheyAreKept) {
  static char names[2000];
  Profile profile;
  profile.set_enabled(true);
  profile.record("a", &names[0], ago(0), 0, 0);
  const Profile::Entry *first = profile.entries().data();
  for (const char &name : names) profile.record("a", &name, ago(0), 0, 0);
  EXPECT_EQ(first, profile.entries().data()) << "what is beyond the memory is left out";
}

}  // namespace
}  // namespace lpt
