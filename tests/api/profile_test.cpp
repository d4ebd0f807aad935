// The profile of a context, and its traces.
#include <unistd.h>

#include <cctype>
#include <cstdio>
#include <fstream>
#include <set>
#include <sstream>

#include "tests/api/support.hpp"

namespace lpt::test {
namespace {

int64_t profile_count(lpt_context *context) {
  int64_t count = -1;
  EXPECT_TRUE(ok(context, lpt_context_profile_count(context, &count)));
  return count;
}

TEST(Profile, IsEmptyUntilItIsStarted) {
  const Context context = make_context();
  run_some_gemm(context.get());
  EXPECT_EQ(0, profile_count(context.get()));
}

TEST(Profile, CountsCallsAndArithmetic) {
  const Context context = make_context();
  ASSERT_TRUE(ok(context.get(), lpt_context_set_profile(context.get(), 1)));
  const Tensor a = make_tensor(context.get(), LPT_FORMAT_F32, 20, 30);
  const Tensor b = make_tensor(context.get(), LPT_FORMAT_F32, 30, 40);
  const Tensor c = make_tensor(context.get(), LPT_FORMAT_F32, 20, 40);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(ok(context.get(), lpt_gemm(context.get(), a.get(), b.get(), nullptr, c.get())));
  }
  ASSERT_EQ(1, profile_count(context.get()));
  lpt_profile_entry entry = LPT_PROFILE_ENTRY_INIT;
  ASSERT_TRUE(ok(context.get(), lpt_context_profile_entry(context.get(), 0, &entry)));
  EXPECT_STREQ("gemm", entry.operation);
  EXPECT_EQ(3, entry.calls);
  EXPECT_GT(entry.seconds, 0.0);
  EXPECT_EQ(3.0 * 4 * (20 * 30 + 30 * 40 + 20 * 40), entry.bytes);
  EXPECT_EQ(3.0 * 2 * 20 * 30 * 40, entry.flops);
}

TEST(Profile, ComesLongestTimeFirst) {
  const Context context = make_context();
  ASSERT_TRUE(ok(context.get(), lpt_context_set_profile(context.get(), 1)));
  run_some_gemm(context.get());
  double last = INFINITY;
  for (int64_t i = 0; i < profile_count(context.get()); ++i) {
    lpt_profile_entry entry = LPT_PROFILE_ENTRY_INIT;
    ASSERT_TRUE(ok(context.get(), lpt_context_profile_entry(context.get(), i, &entry)));
    EXPECT_LE(entry.seconds, last);
    last = entry.seconds;
  }
}

TEST(Profile, StaysAfterItsEndAndGoesWithTheNextStart) {
  const Context context = make_context();
  ASSERT_TRUE(ok(context.get(), lpt_context_set_profile(context.get(), 1)));
  run_some_gemm(context.get());
  ASSERT_TRUE(ok(context.get(), lpt_context_set_profile(context.get(), 0)));
  const int64_t count = profile_count(context.get());
  EXPECT_GT(count, 0);
  run_some_gemm(context.get());
  EXPECT_EQ(count, profile_count(context.get()));
  ASSERT_TRUE(ok(context.get(), lpt_context_set_profile(context.get(), 1)));
  EXPECT_EQ(0, profile_count(context.get()));
}

// Reads one JSON value and moves `at` past it. This is sufficient to check that a text is JSON.
bool read_json(const std::string &text, size_t &at) {
  const auto skip = [&] {
    while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at])) != 0) ++at;
  };
  const auto eat = [&](char sign) {
    skip();
    if (at >= text.size() || text[at] != sign) return false;
    ++at;
    return true;
  };
  const auto read_string = [&] {
    if (!eat('"')) return false;
    while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2 : 1;
    return eat('"');
  };
  skip();
  if (at >= text.size()) return false;
  if (text[at] == '"') return read_string();
  if (text[at] == '[' || text[at] == '{') {
    const bool is_object = text[at] == '{';
    const char end = is_object ? '}' : ']';
    ++at;
    if (eat(end)) return true;
    do {
      if (is_object && !(read_string() && eat(':'))) return false;
      if (!read_json(text, at)) return false;
    } while (eat(','));
    return eat(end);
  }
  size_t length = 0;
  try {
    std::stod(text.substr(at, 40), &length);
  } catch (const std::exception &) {
    return false;
  }
  at += length;
  return length > 0;
}

std::string save_trace(lpt_context *context) {
  const std::string path = testing::TempDir() + "lpt_trace_" + std::to_string(getpid()) + ".json";
  EXPECT_TRUE(ok(context, lpt_context_profile_save(context, path.c_str())));
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  std::remove(path.c_str());
  return text.str();
}

TEST(Profile, SavesAChromeTraceThatIsJson) {
  const Context context = make_context();
  ASSERT_TRUE(ok(context.get(), lpt_context_set_profile(context.get(), 1)));
  run_some_gemm(context.get());
  const std::string trace = save_trace(context.get());
  size_t at = 0;
  EXPECT_TRUE(read_json(trace, at)) << "stops at " << at << " of " << trace;
  EXPECT_EQ(trace.size() - 1, at);  // the trace ends with a line end
  for (const char *key : {"\"name\":", "\"cat\":\"gemm\"", "\"ph\":\"X\"", "\"ts\":", "\"dur\":"}) {
    EXPECT_NE(std::string::npos, trace.find(key)) << key;
  }
}

TEST(Profile, SavesAnEmptyTraceThatIsJson) {
  const Context context = make_context();
  const std::string trace = save_trace(context.get());
  size_t at = 0;
  EXPECT_TRUE(read_json(trace, at)) << trace;
}

}  // namespace
}  // namespace lpt::test
