// Blocks cast by the library and by each kernel of its table, and the values of codes from the golden files.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/quantize/quantize.hpp"
#include "src/base/cpu.hpp"
#include "tests/api/support.hpp"
#include "tests/formats/golden_blocks.hpp"

namespace lpt::test {

constexpr int64_t kCastColumns = 1024;

// Scales and codes of consecutive blocks, one byte each.
struct CastBlocks {
  std::vector<uint8_t> scales, codes;
  float tensor_scale = 1.0f;
};

inline std::vector<uint8_t> unpacked(const uint8_t *packed, int bits, size_t count) {
  std::vector<uint8_t> codes(count);
  for (size_t i = 0; i < count; ++i) {
    const size_t place = i * static_cast<size_t>(bits);
    uint32_t word = packed[place / 8];
    if (place % 8 + static_cast<size_t>(bits) > 8) word |= static_cast<uint32_t>(packed[place / 8 + 1]) << 8;
    codes[i] = static_cast<uint8_t>(word >> (place % 8) & ((1u << bits) - 1));
  }
  return codes;
}

// Casts `values` as a matrix of kCastColumns columns.
inline CastBlocks cast_blocks(lpt_context *context, const float *values, size_t count, lpt_format format,
                              lpt_scale_rule rule) {
  const auto rows = static_cast<int64_t>(count) / kCastColumns;
  const lpt_format_description description = describe(format);
  const Tensor source = wrap(context, LPT_FORMAT_F32, values, rows, kCastColumns);
  const Tensor target = make_tensor(context, format, rows, kCastColumns);
  lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
  options.scale_rule = rule;
  EXPECT_TRUE(ok(context, lpt_quantize(context, source.get(), &options, target.get(), nullptr)));
  CastBlocks blocks;
  blocks.scales = plain_bytes(context, part_of(context, target.get(), LPT_TENSOR_PART_BLOCK_SCALES).get());
  const std::vector<uint8_t> payload =
      plain_bytes(context, part_of(context, target.get(), LPT_TENSOR_PART_PAYLOAD).get());
  blocks.codes = unpacked(payload.data(), description.element_bits, count);
  if (description.tensor_scale != LPT_FORMAT_NONE) blocks.tensor_scale = tensor_scale_of(context, target.get());
  return blocks;
}

// A request for every kernel: a row-major source, or a source with adjacent columns for the transposing kernel.
class RowCast {
 public:
  RowCast(const std::vector<float> &source, bool is_transposed, lpt_format format, lpt_scale_rule rule,
          float tensor_scale)
      : tensor_scale_(tensor_scale), count_(source.size()) {
    const auto rows = static_cast<int64_t>(count_) / kCastColumns;
    find_format(LPT_FORMAT_F32, request_.source.format);
    request_.source.data = const_cast<float *>(source.data());
    request_.source.rows = request_.target.rows = rows;
    request_.source.columns = request_.target.columns = kCastColumns;
    request_.source.row_stride = is_transposed ? 1 : kCastColumns;
    request_.source.column_stride = is_transposed ? rows : 1;
    find_format(format, request_.target.format);
    const Format &parts = request_.target.format;
    request_.target.row_stride = kCastColumns;
    request_.target.block_scale_stride = kCastColumns / parts.block_columns;
    payload_.resize(static_cast<size_t>(row_bytes(parts.element, static_cast<int64_t>(count_))));
    scales_.resize(count_ / static_cast<size_t>(parts.block_columns));
    request_.target.data = payload_.data();
    request_.target.block_scales = scales_.data();
    if (parts.has_tensor_scale()) request_.target.tensor_scale = &tensor_scale_;
    request_.tensor_inverse = 1.0f / tensor_scale_;
    request_.rounding = LPT_ROUNDING_NEAREST_EVEN;
    request_.overflow = LPT_OVERFLOW_SATURATE;
    request_.rule = rule;
    request_.random.rounds = 7;
    request_.random.bits = 16;
    request_.random_column_stride = 1;
  }
  RowCast(const RowCast &) = delete;
  RowCast &operator=(const RowCast &) = delete;

  bool is_taken_by(const KernelEntry<QuantizeRequest> &kernel) const {
    if ((kernel.needs.cpu & ~cpu_features()) != 0) return false;
    return kernel.unsupported_reason == nullptr || kernel.unsupported_reason(request_) == nullptr;
  }

  CastBlocks run(const KernelEntry<QuantizeRequest> &kernel) {
    kernel.run(request_);
    CastBlocks blocks;
    blocks.scales = scales_;
    blocks.codes = unpacked(payload_.data(), element_bits(request_.target.format.element), count_);
    blocks.tensor_scale = tensor_scale_;
    return blocks;
  }

 private:
  QuantizeRequest request_ = {};
  float tensor_scale_;
  size_t count_;
  std::vector<uint8_t> payload_, scales_;
};

// Returns a matrix of kCastColumns columns column by column.
inline std::vector<float> columns_of(const std::vector<float> &values) {
  const size_t columns = kCastColumns, rows = values.size() / columns;
  std::vector<float> result(values.size());
  for (size_t i = 0; i < values.size(); ++i) result[i % columns * rows + i / columns] = values[i];
  return result;
}

// Checks that every kernel of this machine that supports the cast gives the codes of `oracle`. Returns the number of kernels.
inline int expect_rows_give(const CastBlocks &oracle, const std::vector<float> &values, lpt_format format,
                            lpt_scale_rule rule) {
  int count = 0;
  const std::vector<float> columns = columns_of(values);
  for (const bool is_transposed : {false, true}) {
    RowCast cast(is_transposed ? columns : values, is_transposed, format, rule, oracle.tensor_scale);
    for (const KernelEntry<QuantizeRequest> &kernel : quantize_kernels()) {
      if (!cast.is_taken_by(kernel)) continue;
      const CastBlocks got = cast.run(kernel);
      EXPECT_TRUE(got.scales == oracle.scales) << kernel.name << " transposed " << is_transposed << ": scales";
      EXPECT_TRUE(got.codes == oracle.codes) << kernel.name << " transposed " << is_transposed << ": codes";
      ++count;
    }
  }
  return count;
}

// Rounds to the nearest finite value of an element, ties to the even code. Its golden file has the values.
class NearestCode {
 public:
  NearestCode(const char *element, int bits) : sign_(1u << (bits - 1)) {
    for (const golden::Row &row : golden::read(element)) {
      const auto code = static_cast<uint32_t>(std::stoul(row[0]));
      const float value = bits_float(static_cast<uint32_t>(std::stoul(row[1], nullptr, 16)));
      if (code < sign_ && std::isfinite(value)) magnitudes_.push_back(static_cast<double>(value));
    }
  }

  double value(uint32_t code) const { return (code & sign_) != 0 ? -magnitudes_[code ^ sign_] : magnitudes_[code]; }

  uint8_t of(double number) const {
    const double magnitude = std::fabs(number);
    const auto above = std::lower_bound(magnitudes_.begin(), magnitudes_.end(), magnitude);
    auto code = static_cast<uint32_t>(above - magnitudes_.begin());
    if (above == magnitudes_.end()) {
      --code;
    } else if (code > 0) {
      const double down = magnitude - magnitudes_[code - 1], up = *above - magnitude;
      if (down < up || (down == up && code % 2 == 1)) --code;
    }
    return static_cast<uint8_t>(code | (std::signbit(number) ? sign_ : 0));
  }

 private:
  uint32_t sign_;
  std::vector<double> magnitudes_;
};

// The properties that determine the difference of a block.
struct Contents {
  float amax = 0.0f;  // finite
  bool has_nan = false, has_infinity = false;
};

inline Contents contents_of(const float *values, int count) {
  Contents contents;
  for (int i = 0; i < count; ++i) {
    contents.has_nan |= std::isnan(values[i]);
    contents.has_infinity |= std::isinf(values[i]);
    if (std::isfinite(values[i])) contents.amax = std::max(contents.amax, std::fabs(values[i]));
  }
  return contents;
}

}  // namespace lpt::test
