// The CUDA reduction on the CPU, against the reference row.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernels/reduce/cuda_rows.hpp"
#include "src/base/status.hpp"
#include "tests/simt/device_rows.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/rows.hpp"
#include "tests/support/sanitized.hpp"

namespace lpt::test {
namespace {

constexpr lpt_format kFormats[] = {LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_F16};
constexpr Reduction kReductions[] = {Reduction::kSum, Reduction::kAverage, Reduction::kMaximum, Reduction::kMinimum};
constexpr int64_t kElements[] = {0, 1, 15, 16, 17, 100, 4096, 4500};

struct ReduceCase {
  lpt_format format, target_format;
  Reduction reduction;
  int32_t sources, targets;
  int64_t elements;
};

// Arrays of one format, each on a boundary or past one.
class Arrays {
 public:
  Arrays(lpt_format format, int32_t count, int64_t elements, std::size_t shift) {
    for (int32_t i = 0; i < count; ++i) {
      arrays_.push_back(std::make_unique<Matrix>(format, 1, elements, 0, shift));
      addresses.push_back(arrays_.back()->data.data());
    }
  }
  void fill(Random &random, Values values) {
    for (const auto &array : arrays_) array->fill(random, values);
  }
  bool equals(const Arrays &other) const {
    for (std::size_t i = 0; i < arrays_.size(); ++i) {
      if (!arrays_[i]->equals(*other.arrays_[i]) || !arrays_[i]->is_intact()) return false;
    }
    return true;
  }

  std::vector<void *> addresses;

 private:
  std::vector<std::unique_ptr<Matrix>> arrays_;
};

void check(const ReduceCase &c, Values values, Random &random) {
  const std::size_t shift = random.chance(0.5) ? 0 : 4;
  Arrays sources(c.format, c.sources, c.elements, shift);
  Arrays found(c.target_format, c.targets, c.elements, shift), wanted(c.target_format, c.targets, c.elements, shift);
  sources.fill(random, values);
  ReduceRequest request = {};
  request.format = c.format;
  request.target_format = c.target_format;
  request.reduction = c.reduction;
  request.source_count = c.sources;
  request.target_count = c.targets;
  request.factor = random.chance(0.5) ? 1.0 : 0.37;
  request.elements = c.elements;
  request.sources = sources.addresses.data();
  request.targets = found.addresses.data();
  ASSERT_EQ(reduce_device_kernels().front().refuses(request), nullptr);
  take_next_order();
  reduce_device_kernels().front().run(request, nullptr);
  request.targets = wanted.addresses.data();
  reference_of(reduce_kernels()).run(request);
  EXPECT_TRUE(found.equals(wanted)) << text("%lld to %lld, reduction %d, %d sources, %lld elements, %s",
                                            static_cast<long long>(c.format), static_cast<long long>(c.target_format),
                                            static_cast<int>(c.reduction), c.sources,
                                            static_cast<long long>(c.elements), name_of(values));
}

TEST(SimtReduce, EqualsTheReference) {
  Random random(71);
  for (const lpt_format format : kFormats) {
    for (const lpt_format target : kFormats) {
      for (const Reduction reduction : kReductions) {
        for (const Values values : kAllValues) {
          if (!is_taken(random, 8)) continue;
          const auto sources = static_cast<int32_t>(1 + random.below(5));
          const auto targets = static_cast<int32_t>(1 + random.below(2));
          check({format, target, reduction, sources, targets, random.of(kElements)}, values, random);
        }
      }
    }
  }
  check({LPT_FORMAT_BF16, LPT_FORMAT_BF16, Reduction::kSum, 32, 32, 100}, Values::kNormal, random);
}

TEST(SimtReduce, WhatTheRowDoesNotTakeIsRefused) {
  ReduceRequest request = {};
  request.format = request.target_format = LPT_FORMAT_F64;
  EXPECT_STREQ(reduce_device_kernels().front().refuses(request), "takes f32, bf16 and f16 only");
  request.format = request.target_format = LPT_FORMAT_F32;
  request.source_count = 33;
  EXPECT_STREQ(reduce_device_kernels().front().refuses(request), "takes 32 sources and targets at most");
}

}  // namespace
}  // namespace lpt::test
