// Tensors with one scale that the ranks share.
#include <cmath>
#include <limits>

#include "tests/comm/suite.hpp"

namespace lpt::test {
namespace {

float &scale_of(const Rank &self, const Tensor &tensor) {
  return *part_data<float>(self.context, tensor.get(), LPT_TENSOR_PART_TENSOR_SCALE);
}

// Returns the tensor scale for an amax, from a tensor that contains only this value.
float scale_from(const Rank &self, lpt_format format, float amax) {
  const std::vector<float> one = {amax};
  const Tensor source = wrap(self.context, one, 1, 1), cast = make_tensor(self.context, format, 1, 1);
  EXPECT_TRUE(self.ok(lpt_quantize(self.context, source.get(), nullptr, cast.get(), nullptr)));
  return scale_of(self, cast);
}

// Gathers rows of weights. The result equals one cast of all rows.
void gathers_weights_as_if_cast_whole(const Rank &self) {
  constexpr int64_t kRows = 5, kColumns = 48;
  for (const char *name : {"e4m3fn_tensor", "nvfp4", "int8_tensor"}) {
    const lpt_format format = format_named(name);
    std::vector<float> whole;
    for (int32_t q = 0; q < self.ranks; ++q) {
      for (const float number : numbers_of(q, 300, kRows * kColumns))
        whole.push_back(number * static_cast<float>(1 + q));
    }
    const float *const rows = whole.data() + self.rank * kRows * kColumns;
    std::vector<float> amax = {0.0f};
    for (int64_t i = 0; i < kRows * kColumns; ++i) amax[0] = std::max(amax[0], std::fabs(rows[i]));
    const Tensor largest = wrap(self.context, amax, 1, 1);
    lpt_reduce_options reduce = LPT_REDUCE_OPTIONS_INIT;
    reduce.reduction = LPT_REDUCTION_MAXIMUM;
    ASSERT_TRUE(self.ok(lpt_all_reduce(self.context, self.comm, largest.get(), &reduce, largest.get(), nullptr)));

    const Tensor part = make_tensor(self.context, format, kRows, kColumns);
    scale_of(self, part) = scale_from(self, format, amax[0]);
    lpt_quantize_options keep = LPT_QUANTIZE_OPTIONS_INIT;
    keep.flags = LPT_QUANTIZE_KEEP_TENSOR_SCALE;
    const Tensor mine = wrap(self.context, LPT_FORMAT_F32, rows, kRows, kColumns);
    ASSERT_TRUE(self.ok(lpt_quantize(self.context, mine.get(), &keep, part.get(), nullptr)));

    const int64_t all_kernels = kRows * self.ranks;
    const Tensor gathered = make_tensor(self.context, format, all_kernels, kColumns);
    const Tensor expected = make_tensor(self.context, format, all_kernels, kColumns);
    ASSERT_TRUE(
        self.ok(lpt_all_gather(self.context, self.comm, part.get(), nullptr, nullptr, gathered.get(), nullptr)));
    const Tensor source = wrap(self.context, whole, all_kernels, kColumns);
    ASSERT_TRUE(self.ok(lpt_quantize(self.context, source.get(), nullptr, expected.get(), nullptr)));
    for (const lpt_tensor_part which : parts_of(format)) {
      EXPECT_EQ(plain_bytes(self.context, part_of(self.context, expected.get(), which).get()),
                plain_bytes(self.context, part_of(self.context, gathered.get(), which).get()))
          << name << which;
    }
  }
}

// Q4: the scale is a power of two from the largest amax of all ranks. 0, infinity and NaN leave it unchanged.
void keeps_the_scale_where_there_is_no_amax(const Rank &self) {
  lpt_scaler_options options = LPT_SCALER_OPTIONS_INIT;
  options.kind = LPT_SCALER_KIND_DELAYED;
  options.history_rule = LPT_SCALER_HISTORY_RULE_LATEST;
  options.zero_rule = LPT_SCALER_ZERO_RULE_USE_LAST;
  Scaler scaler;
  ASSERT_TRUE(self.ok(lpt_scaler_create(self.context, &options, out(scaler))));
  lpt_quantize_options cast = LPT_QUANTIZE_OPTIONS_INIT;
  cast.scale_rule = LPT_SCALE_RULE_POWER_OF_TWO;
  cast.scaler = scaler.get();
  const Tensor one = make_tensor(self.context, LPT_FORMAT_E4M3FN_TENSOR, 1, 1);
  double expected = 1.0;
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float amax : {3.0f, 0.0f, 1000.0f, infinity, 448.0f, std::nanf(""), 0.0371f, 448.1f, 1e-20f}) {
    std::vector<float> here = {self.rank == self.ranks - 1 ? amax : amax / 4};
    const Tensor largest = wrap(self.context, here, 1, 1);
    lpt_reduce_options reduce = LPT_REDUCE_OPTIONS_INIT;
    reduce.reduction = LPT_REDUCTION_MAXIMUM;
    ASSERT_TRUE(self.ok(lpt_all_reduce(self.context, self.comm, largest.get(), &reduce, largest.get(), nullptr)));
    // The amax is recorded. It is in effect after the update, so the next cast uses its scale.
    static_cast<void>(lpt_quantize(self.context, largest.get(), &cast, one.get(), nullptr));
    lpt_scaler *const raw = scaler.get();
    ASSERT_TRUE(self.ok(lpt_scaler_update(self.context, &raw, 1)));
    const std::vector<float> nothing = {0.0f};
    const Tensor zero = wrap(self.context, nothing, 1, 1);
    ASSERT_TRUE(self.ok(lpt_quantize(self.context, zero.get(), &cast, one.get(), nullptr)));
    if (amax > 0.0f && amax < infinity) {
      expected = std::exp2(-std::floor(std::log2(448.0 / static_cast<double>(amax))));
    }
    EXPECT_EQ(static_cast<float>(expected), scale_of(self, one)) << amax;
  }
}

}  // namespace

std::vector<Case> scale_cases() {
  return {{"GathersWeightsAsIfCastWhole", gathers_weights_as_if_cast_whole},
          {"KeepsTheScaleWhereThereIsNoAmax", keeps_the_scale_where_there_is_no_amax}};
}

}  // namespace lpt::test
