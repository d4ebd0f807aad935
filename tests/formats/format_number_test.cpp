// Arbitrary 64-bit values as format ids: each is canonical or rejected, without a crash. Random descriptions as round trips.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "src/formats/format.hpp"
#include "tests/support/random.hpp"
#include "tests/support/sanitized.hpp"

namespace lpt {
namespace {

using test::Random;

constexpr lpt_format kDescribed = lpt_format{1} << 62;
const int kShare = test::kIsSanitized ? 5 : 1;  // sanitized runs draw fewer numbers

// Returns whether `id` is a format. If so, its parts, name and description must give the same id; parts of a preset must
// give the id of the preset.
bool expect_canonical_or_rejected(lpt_format id) {
  Format format;
  lpt_format_description description = LPT_FORMAT_DESCRIPTION_INIT;
  const std::string name = format_name(id);
  if (!find_format(id, format)) {
    EXPECT_EQ("format " + std::to_string(id), name);
    EXPECT_FALSE(describe_format(id, description).is_ok());
    return false;
  }
  if (format.id != id) {
    EXPECT_NE(nullptr, find_preset(format.id)) << id;
    EXPECT_EQ(name, format_name(format.id));
    return expect_canonical_or_rejected(format.id);
  }
  lpt_format again = LPT_FORMAT_NONE;
  EXPECT_TRUE(make_format(format, again).is_ok()) << name;
  EXPECT_EQ(id, again) << name;
  EXPECT_TRUE(format_from_name(name.c_str(), again).is_ok()) << name;
  EXPECT_EQ(id, again) << name;
  EXPECT_TRUE(describe_format(id, description).is_ok());
  EXPECT_TRUE(format_from_description(description, again).is_ok()) << name;
  EXPECT_EQ(id, again) << name;
  EXPECT_EQ(0u, format_text(format).find(name + "\n")) << name;
  return true;
}

lpt_format flipped(lpt_format id, int64_t bit) {
  return static_cast<lpt_format>(static_cast<uint64_t>(id) ^ uint64_t{1} << bit);
}

TEST(FormatNumber, OfAnyBitsIsCanonicalOrRejected) {
  Random random(700);
  for (int i = 0; i < 100000 / kShare && !testing::Test::HasFailure(); ++i) {
    const auto any = static_cast<lpt_format>(random.bits());
    expect_canonical_or_rejected(any);
    expect_canonical_or_rejected((any & (kDescribed - 1)) | kDescribed);
  }
}

TEST(FormatNumber, BelowTheDescribedOnesIsAPresetOrRejected) {
  std::set<lpt_format> found;
  for (lpt_format id = -300; id < 70000; ++id) {
    if (expect_canonical_or_rejected(id)) found.insert(id);
  }
  std::set<lpt_format> presets;
  for (int64_t i = 0; i < format_count(); ++i) presets.insert(format_at(i));
  EXPECT_EQ(presets, found);
}

// Draws fields close to their valid ranges, so that many ids are formats.
lpt_format draw_number(Random &random) {
  static constexpr lpt_format scales[] = {0, LPT_FORMAT_F32, LPT_FORMAT_E8M0FNU, LPT_FORMAT_E4M3FN, LPT_FORMAT_BF16};
  lpt_format id = kDescribed;
  if (random.chance(0.5)) {
    id |= random.below(28);
  } else {
    id |= random.below(8) << 42 | random.below(8) << 45 | (random.below(40) & 0xFF) << 48 | random.below(8) << 56 |
          random.below(2) << 59;
  }
  if (random.chance(0.7)) id |= random.of(scales) << 8 | random.below(32) << 24 | random.below(32) << 29;
  if (random.chance(0.3)) id |= LPT_FORMAT_F32 << 16;
  if (random.chance(0.2)) id |= lpt_format{LPT_FORMAT_UINT8} << 34;
  return id;
}

TEST(FormatNumber, OfLikelyFieldsIsCanonicalOrRejected) {
  Random random(701);
  int formats = 0;
  for (int i = 0; i < 200000 / kShare && !testing::Test::HasFailure(); ++i) {
    const lpt_format id = draw_number(random);
    if (!expect_canonical_or_rejected(id)) continue;
    ++formats;
    if (formats % 16 != 0) continue;
    for (int64_t bit = 0; bit < 64; ++bit) expect_canonical_or_rejected(flipped(id, bit));
  }
  EXPECT_GT(formats, 5000 / kShare);
}

// An element that a preset has must not be described field by field in another format.
TEST(FormatNumber, HasNoSpelledPresetInIt) {
  const lpt_format e4m3fn = lpt_format{4} << 42 | lpt_format{3} << 45 | lpt_format{7} << 48 | lpt_format{2} << 56;
  const lpt_format e4m3b9 = e4m3fn ^ lpt_format { 7 } << 48 ^ lpt_format { 9 } << 48;
  for (const lpt_format rest :
       {lpt_format{0}, lpt_format{LPT_FORMAT_F32} << 16, LPT_FORMAT_F32 << 8 | lpt_format{5} << 29}) {
    EXPECT_FALSE(expect_canonical_or_rejected(kDescribed | rest | e4m3fn));
    EXPECT_TRUE(expect_canonical_or_rejected(kDescribed | rest | e4m3b9));
  }
}

// Draws valid and invalid members: an accepted description is returned unchanged member by member.
TEST(FormatDescription, OfRandomPartsComesBackOrIsRejected) {
  static constexpr lpt_format scales[] = {LPT_FORMAT_NONE, LPT_FORMAT_F32, LPT_FORMAT_E8M0FNU, LPT_FORMAT_E4M3FN};
  static constexpr lpt_format zero_points[] = {LPT_FORMAT_NONE, LPT_FORMAT_NONE, LPT_FORMAT_UINT8};
  Random random(702);
  int formats = 0, with_zero_points = 0;
  for (int i = 0; i < 100000 / kShare && !testing::Test::HasFailure(); ++i) {
    lpt_format_description given = LPT_FORMAT_DESCRIPTION_INIT;
    given.element = random.chance(0.1) ? lpt_format{LPT_FORMAT_UINT4} : random.below(30);
    given.block_scale = random.of(scales);
    given.tensor_scale = random.chance(0.3) ? LPT_FORMAT_F32 : LPT_FORMAT_NONE;
    given.zero_point = random.of(zero_points);
    const auto extent = [&] {
      return random.chance(0.1) ? LPT_BLOCK_EXTENT_FULL : static_cast<int32_t>(1 << random.below(9));
    };
    if (given.block_scale != LPT_FORMAT_NONE) given.block_rows = extent(), given.block_columns = extent();
    lpt_format id = LPT_FORMAT_NONE;
    if (!format_from_description(given, id).is_ok()) continue;
    ++formats;
    with_zero_points += given.zero_point != LPT_FORMAT_NONE;
    ASSERT_TRUE(expect_canonical_or_rejected(id));
    lpt_format_description reported = LPT_FORMAT_DESCRIPTION_INIT;
    ASSERT_TRUE(describe_format(id, reported).is_ok());
    EXPECT_EQ(given.element, reported.element);
    EXPECT_EQ(given.block_scale, reported.block_scale);
    EXPECT_EQ(given.tensor_scale, reported.tensor_scale);
    EXPECT_EQ(given.zero_point, reported.zero_point);
    EXPECT_EQ(given.block_rows, reported.block_rows);
    EXPECT_EQ(given.block_columns, reported.block_columns);
  }
  EXPECT_GT(formats, 10000 / kShare);
  EXPECT_GT(with_zero_points, 200 / kShare);
}

}  // namespace
}  // namespace lpt
