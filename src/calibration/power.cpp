#include "src/calibration/power.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>

#include "src/cast/cast.hpp"
#include "src/formats/numbers.hpp"
#include "src/tensor/checks.hpp"

namespace lpt {
namespace {

constexpr int32_t kMostOperandBits = 64, kMostAccumulatorBits = 256;
constexpr double kMostAdditions = 1e9, kMostMeanCode = 1e6;

Status check_bits(const char *name, int32_t bits, int32_t most) {
  return bits >= 1 && bits <= most ? Status() : invalid("%s is %d: expected 1 to %d", name, bits, most);
}

Status check_power_output(const MatrixView &view) {
  const Format &format = view.format;
  const Element element = element_or_none(format.element);
  const bool has_row_blocks =
      format.block_scale == LPT_FORMAT_F32 && format.block_rows == 1 && !format.has_tensor_scale();
  const bool has_one_scale = !format.has_block_scale() && format.tensor_scale == LPT_FORMAT_F32;
  if (element.is_integer && element.mantissa_bits == 0 && format.zero_point == LPT_FORMAT_NONE &&
      (has_row_blocks || has_one_scale)) {
    return {};
  }
  return unsupported(
      "output is %s: expected signed integers with one f32 scale per block of a row, or per tensor, as int8_row",
      format_name(format.id).c_str());
}

// Blocks of a matrix that have one scale each.
struct ScaledBlocks {
  BlockGrid grid;
  float *scales;
  int64_t scale_stride;
};

ScaledBlocks blocks_of(const MatrixView &output) {
  if (!output.format.has_block_scale()) return {{output.rows, output.columns, 1, 1}, output.tensor_scale, 1};
  const MatrixView scales = scales_of(output);
  return {block_grid(output.format, output.rows, output.columns), static_cast<float *>(scales.data), scales.row_stride};
}

const float *numbers_of_row(const MatrixView &numbers, int64_t row) {
  return static_cast<const float *>(numbers.data) + row * numbers.row_stride;
}

// Calls body(row, begin, end) for the columns of a block in each of its rows.
template <typename Body>
void for_block(const MatrixView &numbers, const BlockGrid &grid, int64_t row, int64_t column, const Body &body) {
  const int64_t last_row = std::min((row + 1) * grid.block_rows, numbers.rows);
  const int64_t begin = column * grid.block_columns, end = std::min(begin + grid.block_columns, numbers.columns);
  for (int64_t r = row * grid.block_rows; r < last_row; ++r) body(r, begin, end);
}

// Returns the mean magnitude of a block.
double mean_of(const MatrixView &numbers, const BlockGrid &grid, int64_t row, int64_t column) {
  double sum = 0.0;
  int64_t count = 0;
  for_block(numbers, grid, row, column, [&](int64_t r, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) sum += std::fabs(static_cast<double>(numbers_of_row(numbers, r)[i]));
    count += end - begin;
  });
  return sum / static_cast<double>(count);
}

float scale_of(double mean, double additions) {
  const auto scale = static_cast<float>(mean / additions);
  return scale > 0.0f ? scale : 1.0f;
}

// Runs before anything is written.
Status check_scales(const MatrixView &numbers, const ScaledBlocks &blocks, double additions) {
  double largest = 0.0;
  for (int64_t row = 0; row < blocks.grid.rows; ++row) {
    for (int64_t column = 0; column < blocks.grid.columns; ++column) {
      largest = std::max(largest, mean_of(numbers, blocks.grid, row, column));
    }
  }
  if (std::isfinite(scale_of(largest, additions))) return {};
  return invalid("additions is %g: expected at least %g, as the scale of a block is beyond f32", additions,
                 largest / static_cast<double>(FLT_MAX));
}

Status check_finite_numbers(const MatrixView &numbers) {
  for (int64_t r = 0; r < numbers.rows; ++r) {
    for (int64_t c = 0; c < numbers.columns; ++c) {
      const auto value = static_cast<double>(numbers_of_row(numbers, r)[c]);
      if (!std::isfinite(value)) {
        return invalid("weight[%lld][%lld] is %g: expected a finite number in the range of f32", number(r), number(c),
                       value);
      }
    }
  }
  return {};
}

double code_of(const MatrixView &numbers, int64_t row, int64_t column, double scale) {
  return std::nearbyint(std::fabs(static_cast<double>(numbers_of_row(numbers, row)[column])) / scale);
}

// Adds the codes of the blocks to the result. The quotient of a decoded weight and its scale is the code.
void count_codes(const MatrixView &numbers, const MatrixView &decoded, const ScaledBlocks &blocks, double largest,
                 lpt_power_info &info) {
  double sum = 0.0;
  for (int64_t row = 0; row < blocks.grid.rows; ++row) {
    for (int64_t column = 0; column < blocks.grid.columns; ++column) {
      const auto scale = static_cast<double>(blocks.scales[row * blocks.scale_stride + column]);
      for_block(numbers, blocks.grid, row, column, [&](int64_t r, int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const double code = code_of(decoded, r, i, scale);
          sum += code;
          info.largest_code = std::max(info.largest_code, static_cast<int64_t>(code));
          info.clipped_count += code_of(numbers, r, i, scale) > largest ? 1 : 0;
        }
      });
    }
  }
  const double elements = static_cast<double>(numbers.rows) * static_cast<double>(numbers.columns);
  info.additions = sum / elements;
}

}  // namespace

Status estimate_power(const lpt_power_options &options, double &out_flips) {
  LPT_TRY(check_choice("arithmetic", options.arithmetic, LPT_POWER_ARITHMETIC_ADDITIONS));
  LPT_TRY(check_bits("weight_bits", options.weight_bits, kMostOperandBits));
  LPT_TRY(check_bits("input_bits", options.input_bits, kMostOperandBits));
  LPT_TRY(check_bits("accumulator_bits", options.accumulator_bits, kMostAccumulatorBits));
  LPT_TRY(check_finite("additions", options.additions, 0.0, kMostAdditions));
  const double bits = options.weight_bits + options.input_bits;
  const double widest = std::max(options.weight_bits, options.input_bits);
  const double multiplier = 0.5 * widest * widest + 0.5 * bits;
  if (options.arithmetic == LPT_POWER_ARITHMETIC_SIGNED) {
    out_flips = multiplier + 0.5 * options.accumulator_bits + bits;
  } else if (options.arithmetic == LPT_POWER_ARITHMETIC_UNSIGNED) {
    out_flips = multiplier + 1.5 * bits;
  } else {
    out_flips = (options.additions + 0.5) * options.input_bits;
  }
  return {};
}

Status quantize_for_power(Context &context, const Tensor *weight, double additions, Tensor *output,
                          lpt_power_info &out_info) {
  MatrixView given, target, numbers, decoded;
  LPT_TRY(check_wide_matrix(weight, "weight", true, given));
  LPT_TRY(check_matrix(output, "output", true, target));
  LPT_TRY(check_shape(target, "output", given.rows, given.columns, "weight"));
  LPT_TRY(check_power_output(target));
  LPT_TRY(check_no_overlap(target, "output", given, "weight"));
  if (!(additions > 0.0 && additions <= kMostMeanCode)) {
    return invalid("additions is %g: expected above 0, at most %g", additions, kMostMeanCode);
  }
  if (given.rows == 0 || given.columns == 0) return {};
  LPT_TRY(take_matrix(context, LPT_FORMAT_F32, given.rows, given.columns, false, numbers));
  LPT_TRY(take_matrix(context, LPT_FORMAT_F32, given.rows, given.columns, false, decoded));
  LPT_TRY(widen_matrix(context, given, numbers, false));
  LPT_TRY(check_finite_numbers(numbers));
  const ScaledBlocks blocks = blocks_of(target);
  LPT_TRY(check_scales(numbers, blocks, additions));
  for (int64_t row = 0; row < blocks.grid.rows; ++row) {
    for (int64_t column = 0; column < blocks.grid.columns; ++column) {
      blocks.scales[row * blocks.scale_stride + column] =
          scale_of(mean_of(numbers, blocks.grid, row, column), additions);
    }
  }
  Cast cast;
  cast.rule = LPT_SCALE_RULE_FIXED;
  LPT_TRY(cast_matrix(context, numbers, target, cast, false));
  LPT_TRY(dequantize_matrix(context, target, decoded, false));
  const Element element = element_or_none(target.format.element);
  count_codes(numbers, decoded, blocks, static_cast<double>(element.max_code), out_info);
  return {};
}

}  // namespace lpt
