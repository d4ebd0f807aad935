// Reductions of many tensors at once, and comparison of tensors over ranks.
#include <cmath>

#include "tests/comm/partial.hpp"

namespace lpt::test {
namespace {

// Gains of norms are equal on all ranks, their gradients are not. One message reduces them, with the bits of single reductions.
void reduces_many_at_once(const Rank &self) {
  const std::vector<int64_t> counts = {90, 1, 33, 0, 4000, 90};
  std::vector<std::vector<float>> together, apart;
  std::vector<Tensor> handles;
  std::vector<lpt_tensor *> tensors;
  for (size_t i = 0; i < counts.size(); ++i) {
    together.push_back(numbers_of(self.rank, 60 + i, counts[i]));
    apart.push_back(together.back());
    const Tensor one = wrap(self.context, apart.back(), 1, counts[i]);
    ASSERT_TRUE(self.ok(lpt_all_reduce(self.context, self.comm, one.get(), nullptr, one.get(), nullptr)));
  }
  for (size_t i = 0; i < counts.size(); ++i) {
    handles.push_back(wrap(self.context, together[i], 1, counts[i]));
    tensors.push_back(handles.back().get());
  }
  EXPECT_EQ(self.ranks == 1, is_same(self, handles[0]));
  const int64_t before = read(self).collectives;
  ASSERT_TRUE(self.ok(lpt_all_reduce_many(self.context, self.comm, tensors.data(), static_cast<int64_t>(tensors.size()),
                                          nullptr, nullptr)));
  EXPECT_EQ(before + 1, read(self).collectives);
  EXPECT_EQ(apart, together);
  for (const Tensor &tensor : handles) EXPECT_TRUE(is_same(self, tensor));
  EXPECT_TRUE(self.ok(lpt_all_reduce_many(self.context, self.comm, nullptr, 0, nullptr, nullptr)));
}

// An asynchronous average of columns of a matrix and of a full tensor.
void reduces_many_columns_behind_the_caller(const Rank &self) {
  std::vector<uint16_t> wide = halves_of(numbers_of(self.rank, 70, 6 * 50)), lone = {0x3F80, 0x4000};
  const std::vector<uint16_t> before = wide;
  const Tensor whole = wrap(self.context, LPT_FORMAT_BF16, wide.data(), 6, 50);
  const Tensor columns = view(self.context, whole.get(), {0, 20}, {6, 11});
  const Tensor second = wrap(self.context, LPT_FORMAT_BF16, lone.data(), 1, 2);
  lpt_tensor *const tensors[] = {columns.get(), second.get()};
  lpt_reduce_options options = LPT_REDUCE_OPTIONS_INIT;
  options.reduction = LPT_REDUCTION_AVERAGE;
  lpt_future *raw = nullptr;
  ASSERT_TRUE(self.ok(lpt_all_reduce_many(self.context, self.comm, tensors, 2, &options, &raw)));
  const Future future(raw);
  ASSERT_TRUE(self.ok(lpt_future_wait(self.context, future.get())));
  EXPECT_EQ((std::vector<uint16_t>{0x3F80, 0x4000}), lone);
  EXPECT_TRUE(is_same(self, columns));
  for (size_t i = 0; i < wide.size(); ++i) {
    const bool is_inside = i % 50 >= 20 && i % 50 < 31;
    ASSERT_TRUE(before[i] == wide[i] || (is_inside && self.ranks > 1)) << i;
  }
}

// With a wire format the tensors are cast as one vector.
void casts_many_as_one_line(const Rank &self) {
  std::vector<float> line = numbers_of(self.rank, 71, 9000), apart = line;
  const Tensor whole = wrap(self.context, line, 1, 9000);
  std::vector<Tensor> parts;
  std::vector<lpt_tensor *> tensors;
  for (const auto &[begin, count] : {std::pair(0, 90), std::pair(90, 5000), std::pair(5090, 3910)}) {
    parts.push_back(wrap(self.context, LPT_FORMAT_F32, &apart[static_cast<size_t>(begin)], 1, count));
    tensors.push_back(parts.back().get());
  }
  lpt_reduce_options options = LPT_REDUCE_OPTIONS_INIT;
  options.wire = LPT_FORMAT_INT8_1X32;
  const lpt_comm_info before = read(self);
  ASSERT_TRUE(self.ok(lpt_all_reduce(self.context, self.comm, whole.get(), &options, whole.get(), nullptr)));
  const lpt_comm_info between = read(self);
  ASSERT_TRUE(self.ok(lpt_all_reduce_many(self.context, self.comm, tensors.data(), 3, &options, nullptr)));
  EXPECT_EQ(between.bytes_sent - before.bytes_sent, read(self).bytes_sent - between.bytes_sent);
  EXPECT_EQ(line, apart);
}

// Detects one different bit of one rank at any index, in elements or scales.
void tells_a_bit_that_differs(const Rank &self) {
  const std::vector<float> numbers = numbers_of(0, 80, 7 * 64);
  const Tensor source = wrap(self.context, numbers, 7, 64);
  for (const lpt_format format : {LPT_FORMAT_F32, LPT_FORMAT_MXFP8_E4M3, LPT_FORMAT_NVFP4}) {
    const Tensor tensor = make_tensor(self.context, format, 7, 64);
    ASSERT_TRUE(self.ok(lpt_quantize(self.context, source.get(), nullptr, tensor.get(), nullptr)));
    EXPECT_TRUE(is_same(self, tensor));
    for (const lpt_tensor_part part : parts_of(format)) {
      if (self.ranks == 1) break;
      uint8_t &byte = part_data<uint8_t>(self.context, tensor.get(), part)[3];
      if (self.rank == self.ranks - 1) byte = static_cast<uint8_t>(byte ^ 4);
      EXPECT_FALSE(is_same(self, tensor));
      if (self.rank == self.ranks - 1) byte = static_cast<uint8_t>(byte ^ 4);
    }
    EXPECT_TRUE(is_same(self, tensor));
  }
}

// The last bytes are not a full word.
void tells_the_last_bit(const Rank &self) {
  for (size_t count = 1; count <= 17; ++count) {
    std::vector<uint16_t> halves(count, 0x3F80);
    const Tensor tensor = wrap(self.context, LPT_FORMAT_BF16, halves.data(), 1, static_cast<int64_t>(count));
    EXPECT_TRUE(is_same(self, tensor));
    if (self.rank == self.ranks - 1) halves.back() ^= 0x100;
    EXPECT_EQ(self.ranks == 1, is_same(self, tensor)) << count;
  }
}

// Elements are compared; strides may differ.
void compares_whatever_the_strides(const Rank &self) {
  const int64_t stride = 13 + self.rank;
  std::vector<float> memory(static_cast<size_t>(5 * stride), static_cast<float>(self.rank));
  for (int64_t i = 0; i < 5 * 13; ++i) memory[static_cast<size_t>(i / 13 * stride + i % 13)] = static_cast<float>(i);
  EXPECT_TRUE(is_same(self, wrap(self.context, LPT_FORMAT_F32, memory.data(), 5, 13, stride)));
}

// The statistics of one calibration in memory.
std::vector<double> statistics_of(const Rank &self, const lpt_calibration *calibration, int64_t columns) {
  std::vector<double> all;
  for (lpt_calibration_value value = 0; value <= LPT_CALIBRATION_VALUE_MEAN_SQUARES; ++value) {
    if (value == LPT_CALIBRATION_VALUE_CROSS_GRAM) continue;
    const Tensor output =
        make_tensor(self.context, LPT_FORMAT_F64, value == LPT_CALIBRATION_VALUE_GRAM ? columns : 1, columns);
    EXPECT_TRUE(self.ok(lpt_calibration_read(self.context, calibration, value, output.get())));
    const std::vector<double> numbers = numbers_of(self.context, output.get());
    all.insert(all.end(), numbers.begin(), numbers.end());
  }
  lpt_calibration_info info = LPT_CALIBRATION_INFO_INIT;
  EXPECT_TRUE(self.ok(lpt_calibration_describe(self.context, calibration, &info)));
  all.insert(all.end(), {static_cast<double>(info.row_count), info.amax, info.mean, info.mean_square});
  for (const double share : {0.3, 0.9}) {
    EXPECT_TRUE(self.ok(lpt_calibration_percentile(self.context, calibration, share, &all.emplace_back())));
  }
  return all;
}

// Each rank adds two batches. One rank that adds the batches of all, the last first, has the same bits. The Gram matrix takes
// two messages.
void collects_the_calibration_of_all(const Rank &self) {
  constexpr int64_t kColumns = 270, kRows = 3;
  const auto add = [&](lpt_calibration *calibration, int32_t rank, uint64_t place) {
    std::vector<float> numbers = numbers_of(rank, 90 + place, kRows * kColumns);
    for (float &x : numbers) x = std::ldexp(x, 7 * rank);
    const Tensor inputs = wrap(self.context, numbers, kRows, kColumns);
    EXPECT_TRUE(self.ok(lpt_calibration_add(self.context, calibration, inputs.get(), nullptr)));
  };
  lpt_calibration *own = nullptr, *whole = nullptr;
  ASSERT_TRUE(self.ok(lpt_calibration_create(self.context, kColumns, nullptr, &own)));
  ASSERT_TRUE(self.ok(lpt_calibration_create(self.context, kColumns, nullptr, &whole)));
  for (const uint64_t place : {0, 1}) add(own, self.rank, place);
  for (int32_t q = self.ranks - 1; q >= 0; --q) {
    for (const uint64_t place : {1, 0}) add(whole, q, place);
  }
  EXPECT_TRUE(self.ok(lpt_calibration_all_reduce(self.context, self.comm, own)));
  EXPECT_EQ(statistics_of(self, whole, kColumns), statistics_of(self, own, kColumns));
  lpt_calibration_destroy(own);
  lpt_calibration_destroy(whole);
}

}  // namespace

std::vector<Case> many_cases() {
  return {{"ReducesManyAtOnce", reduces_many_at_once},
          {"ReducesManyColumnsBehindTheCaller", reduces_many_columns_behind_the_caller},
          {"CastsManyAsOneLine", casts_many_as_one_line},
          {"TellsABitThatDiffers", tells_a_bit_that_differs},
          {"TellsTheLastBit", tells_the_last_bit},
          {"ComparesWhateverTheStrides", compares_whatever_the_strides},
          {"CollectsTheCalibrationOfAll", collects_the_calibration_of_all}};
}

}  // namespace lpt::test
