// The version of the library, and the texts of statuses.
#include <string>

#include "tests/api/support.hpp"

namespace lpt::test {
namespace {

TEST(Version, IsThatOfTheHeader) {
  EXPECT_EQ(LPT_VERSION_MAJOR * 10000 + LPT_VERSION_MINOR * 100 + LPT_VERSION_PATCH, lpt_version());
  const std::string expected = std::to_string(LPT_VERSION_MAJOR) + "." + std::to_string(LPT_VERSION_MINOR) + "." +
                               std::to_string(LPT_VERSION_PATCH);
  EXPECT_EQ(expected, lpt_version_string());
}

TEST(Version, HasTheBinaryLevel1) { EXPECT_EQ(1, lpt_abi_level()); }

TEST(Version, TellsReleaseAndRowsInOneLine) {
  const std::string info = lpt_build_info();
  EXPECT_NE(std::string::npos, info.find(lpt_version_string()));
  EXPECT_NE(std::string::npos, info.find("reference"));
  EXPECT_EQ(std::string::npos, info.find('\n'));
}

TEST(Status, HasANameForEveryNumber) {
  EXPECT_STREQ("ok", lpt_status_string(LPT_OK));
  EXPECT_STREQ("invalid argument", lpt_status_string(LPT_INVALID_ARGUMENT));
  EXPECT_STREQ("unsupported", lpt_status_string(LPT_UNSUPPORTED));
  EXPECT_STREQ("out of memory", lpt_status_string(LPT_OUT_OF_MEMORY));
  EXPECT_STREQ("invalid state", lpt_status_string(LPT_INVALID_STATE));
  EXPECT_STREQ("internal error", lpt_status_string(LPT_INTERNAL));
  EXPECT_STREQ("cancelled", lpt_status_string(LPT_CANCELLED));
  EXPECT_STREQ("aborted", lpt_status_string(LPT_ABORTED));
  EXPECT_STREQ("timeout", lpt_status_string(LPT_TIMEOUT));
  EXPECT_STREQ("mismatch", lpt_status_string(LPT_MISMATCH));
  EXPECT_STREQ("work failed", lpt_status_string(LPT_WORK_FAILED));
  EXPECT_EQ(0u, std::string(lpt_status_string(LPT_BUSY)).find("busy: "));
  for (const lpt_status none : {-1, 12, INT32_MAX, INT32_MIN}) EXPECT_STREQ("unknown status", lpt_status_string(none));
}

}  // namespace
}  // namespace lpt::test
