// Every kernel of compaction and expansion under bitmasks against the definition, unit by unit.
#include "kernels/bitmask/bitmask.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tests/support/guarded.hpp"
#include "tests/support/kernels.hpp"

namespace lpt::test {
namespace {

constexpr int64_t kCounts[] = {0, 1, 2, 3, 17, 64};
constexpr int kShares[] = {0, 5, 50, 95, 100};  // units that are kept, in percent

// Lines whose units are zero, have one set bit, or have any bits, and the expected compact form.
struct Lines {
  Lines(int64_t count, int32_t unit_bytes, int share, Random &random)
      : lines(static_cast<size_t>(count * kBitmaskLine)),
        bits(static_cast<size_t>(bitmask_bits_bytes(count, unit_bytes)), 3),
        bytes_of_unit(unit_bytes) {
    std::memset(lines.data(), 0, lines.bytes());
    for (size_t at = 0; at < lines.bytes(); at += static_cast<size_t>(unit_bytes)) {
      is_kept.push_back(static_cast<int>(random.below(100)) < share);
      if (!is_kept.back()) continue;
      const size_t byte = at + static_cast<size_t>(random.below(unit_bytes));
      lines.data()[byte] = static_cast<uint8_t>(1 << random.below(8));
      if (random.below(2) == 0) lines.data()[at] = static_cast<uint8_t>(1 + random.below(255));
      kept.insert(kept.end(), lines.data() + at, lines.data() + at + unit_bytes);
    }
    std::memset(bits.data(), 0, bits.bytes());
    for (size_t i = 0; i < is_kept.size(); ++i) {
      if (is_kept[i]) bits.data()[i / 8] = static_cast<uint8_t>(bits.data()[i / 8] | 1 << (i % 8));
    }
  }

  Guarded lines, bits;
  int32_t bytes_of_unit;
  std::vector<bool> is_kept;
  std::vector<uint8_t> kept;  // bytes of the units
};

template <typename Check>
void for_all_lines(const Check &check) {
  for (const int32_t unit_bytes : {1, 2, 4}) {
    for (const int64_t count : kCounts) {
      for (const int share : kShares) {
        Random random(771);
        const Lines lines(count, unit_bytes, share, random);
        SCOPED_TRACE(testing::Message() << count << " lines, units of " << unit_bytes << ", " << share << " %");
        check(lines, count);
      }
    }
  }
}

TEST(BitmaskKernels, MarkUnitsThatAreNotZero) {
  for (const KernelEntry<MarkRequest> &kernel : mark_kernels()) {
    if (!can_run(kernel)) continue;
    for_all_lines([&](const Lines &lines, int64_t count) {
      Guarded bits(lines.bits.bytes(), 5);
      int64_t kept = -1;
      kernel.run({lines.lines.data(), count, lines.bytes_of_unit, bits.data(), &kept});
      EXPECT_EQ(kept * lines.bytes_of_unit, static_cast<int64_t>(lines.kept.size())) << kernel.name;
      EXPECT_TRUE(bits.equals(lines.bits) && bits.is_intact()) << kernel.name;
    });
  }
}

TEST(BitmaskKernels, PackWhatIsKept) {
  for (const KernelEntry<CompactRequest> &kernel : compact_kernels()) {
    if (!can_run(kernel)) continue;
    for_all_lines([&](const Lines &lines, int64_t count) {
      Guarded units(lines.kept.size(), static_cast<size_t>(lines.bytes_of_unit));
      kernel.run({lines.lines.data(), count, lines.bytes_of_unit, lines.bits.data(), units.data()});
      EXPECT_EQ(lines.kept, std::vector<uint8_t>(units.data(), units.data() + units.bytes())) << kernel.name;
      EXPECT_TRUE(units.is_intact()) << kernel.name;
    });
  }
}

TEST(BitmaskKernels, FillInZeros) {
  for (const KernelEntry<ExpandRequest> &kernel : expand_kernels()) {
    if (!can_run(kernel)) continue;
    for_all_lines([&](const Lines &lines, int64_t count) {
      std::vector<uint8_t> units = lines.kept;
      units.resize(units.size() + kBitmaskLine, 0xEE);
      Guarded found(lines.lines.bytes());
      kernel.run({lines.bits.data(), units.data(), count, lines.bytes_of_unit, found.data()});
      EXPECT_TRUE(found.equals(lines.lines) && found.is_intact()) << kernel.name;
    });
  }
}

}  // namespace
}  // namespace lpt::test
