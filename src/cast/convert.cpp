#include "src/cast/convert.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "kernels/quantize/quantize.hpp"
#include "src/cast/quantize.hpp"
#include "src/formats/block_scale.hpp"
#include "src/tensor/checks.hpp"

namespace lpt {
namespace {

using CodeTable = std::array<uint8_t, 256>;

// The scales that are multiplied by 2^power, because the same codes have smaller values in the output format.
enum class Carrier { kNone, kTensorScale, kBlockScales };

struct Plan {
  MatrixView source, output;
  Element from{}, to{};
  int32_t power = 0;
  Carrier carrier = Carrier::kNone;
};

bool is_float8(lpt_format plain) {
  if (!has_element(plain)) return false;
  const Element element = element_of(plain);
  return element.bits == 8 && element.is_signed && !element.is_integer;
}

// Returns whether both are 8-bit floats with the same number of mantissa bits, and hence of exponent bits. The target must
// have a NaN if the source has one.
bool are_convertible(lpt_format a, lpt_format b) {
  if (!is_float8(a) || !is_float8(b) || element_of(a).mantissa_bits != element_of(b).mantissa_bits) return false;
  return element_of(a).nan_code == 0 || element_of(b).nan_code != 0;
}

Status plan_formats(Plan &plan) {
  const Format &from = plan.source.format;
  const Format &to = plan.output.format;
  const bool has_same_scales = from.block_scale == to.block_scale && from.tensor_scale == to.tensor_scale &&
                               from.block_rows == to.block_rows && from.block_columns == to.block_columns;
  if (!are_convertible(from.element, to.element) || !has_same_scales) {
    return unsupported("source is %s and output is %s: expected the same scales and blocks, and relatives such as %s",
                       format_name(from.id).c_str(), format_name(to.id).c_str(),
                       "e4m3fn, e4m3 and e4m3fnuz, or e5m2 and e5m2fnuz");
  }
  plan.from = element_of(from.element);
  plan.to = element_of(to.element);
  plan.power = plan.from.min_exponent - plan.to.min_exponent;
  if (plan.power == 0) return {};
  if (from.has_tensor_scale()) {
    plan.carrier = Carrier::kTensorScale;
  } else if (from.block_scale == LPT_FORMAT_F32) {
    plan.carrier = Carrier::kBlockScales;
  } else {
    return unsupported(
        "source is %s and output is %s: expected an f32 scale, which takes the factor 2^%d of their biases",
        format_name(from.id).c_str(), format_name(to.id).c_str(), plan.power);
  }
  return {};
}

// Scales.

// Returns whether scale · 2^power is exact. 0, infinity and NaN do not change.
bool can_move(float scale, int32_t power) {
  const float result = std::ldexp(scale, power);
  if (scale == 0.0f || !std::isfinite(scale)) return true;
  return std::abs(result) >= kSmallestNormal && std::abs(result) <= kLargestFloat;
}

Status reject_scale(const char *place, float scale, int32_t power) {
  return invalid("%s is %.9g: times 2^%d it leaves the normal range of f32", place, static_cast<double>(scale), power);
}

Status check_scales(const Plan &plan) {
  if (plan.carrier == Carrier::kTensorScale && !can_move(*plan.source.tensor_scale, plan.power)) {
    return reject_scale("source's tensor scale", *plan.source.tensor_scale, plan.power);
  }
  if (plan.carrier != Carrier::kBlockScales) return {};
  const MatrixView scales = scales_of(plan.source);
  for (int64_t row = 0; row < scales.rows; ++row) {
    for (int64_t column = 0; column < scales.columns; ++column) {
      const float scale = static_cast<const float *>(scales.data)[row * scales.row_stride + column];
      if (can_move(scale, plan.power)) continue;
      const std::string place =
          text("source's block scale (%lld, %lld)", static_cast<long long>(row), static_cast<long long>(column));
      return reject_scale(place.c_str(), scale, plan.power);
    }
  }
  return {};
}

void move_scales(const Plan &plan) {
  // If the power is not 0, a tensor scale is the carrier.
  if (plan.source.format.has_tensor_scale()) {
    *plan.output.tensor_scale = std::ldexp(*plan.source.tensor_scale, plan.power);
  }
  if (!plan.source.format.has_block_scale()) return;
  const MatrixView scales = scales_of(plan.output);
  copy_matrix(scales_of(plan.source), scales);
  if (plan.carrier != Carrier::kBlockScales) return;
  for (int64_t row = 0; row < scales.rows; ++row) {
    float *line = static_cast<float *>(scales.data) + row * scales.row_stride;
    for (int64_t column = 0; column < scales.columns; ++column) line[column] = std::ldexp(line[column], plan.power);
  }
}

// Rejects outputs whose scales share memory with those of the source: writing them would modify the source.
Status check_scales_overlap(const Plan &plan) {
  if (plan.source.format.has_tensor_scale()) {
    LPT_TRY(check_no_overlap(vector_view(LPT_FORMAT_F32, plan.output.tensor_scale, 1), "output's tensor scale",
                             vector_view(LPT_FORMAT_F32, plan.source.tensor_scale, 1), "source's tensor scale"));
  }
  if (!plan.source.format.has_block_scale()) return {};
  return check_no_overlap(scales_of(plan.output), "output's block scales", scales_of(plan.source),
                          "source's block scales");
}

// Codes.

uint8_t converted(const Plan &plan, uint32_t code) {
  const float value = decode(plan.from, code);
  const bool is_negative = std::signbit(value);
  if (std::isinf(value)) return static_cast<uint8_t>(with_sign(plan.to, plan.to.infinity_code, is_negative));
  return static_cast<uint8_t>(
      encode(plan.to, std::ldexp(value, -plan.power), LPT_ROUNDING_NEAREST_EVEN, LPT_OVERFLOW_SATURATE, 0, 16));
}

// Between equal elements the table is the identity, so that NaNs keep their bits.
CodeTable make_table(const Plan &plan) {
  CodeTable table;
  const bool is_same = plan.source.format.element == plan.output.format.element;
  for (uint32_t code = 0; code < 256; ++code) {
    table[code] = is_same ? static_cast<uint8_t>(code) : converted(plan, code);
  }
  return table;
}

void convert_rows(const CodeTable &table, const MatrixView &source, const MatrixView &output) {
  for (int64_t row = 0; row < source.rows; ++row) {
    const uint8_t *from = static_cast<const uint8_t *>(source.data) + row * source.row_stride;
    uint8_t *to = static_cast<uint8_t *>(output.data) + row * output.row_stride;
    for (int64_t column = 0; column < source.columns; ++column) to[column] = table[from[column]];
  }
}

// Statistics: cast kernels compare the elements of the source with those of the output.

struct Counting {
  CastStatistics *sums = nullptr;  // statistics of the caller; NULL: none
  const KernelEntry<DequantizeRequest> *decode_kernel = nullptr;
  const KernelEntry<CastStatisticsRequest> *sums_kernel = nullptr;
};

Status plan_counting(Context &context, const Plan &plan, lpt_statistics *statistics, Counting &counting) {
  if (statistics == nullptr) return {};
  if (statistics->kind != HandleKind::kStatistics) return invalid("statistics is not a live handle of its kind");
  LPT_TRY(sums_of(context, *statistics, &counting.sums));
  if (statistics->there != nullptr) {
    return unsupported("statistics is on %s: the tensors are on the CPU, expected statistics of a CPU context",
                       device_text(context.queue.device()).c_str());
  }
  const MatrixView numbers = dense_view(LPT_FORMAT_F32, nullptr, plan.source.rows, plan.source.columns);
  LPT_TRY(select_kernel(context, "dequantize", dequantize_kernels(), DequantizeRequest{plan.source, numbers},
                        {plan.source.format.id, LPT_FORMAT_F32}, &counting.decode_kernel));
  return select_kernel(context, "cast_statistics", cast_statistics_kernels(),
                       CastStatisticsRequest{numbers, plan.output, nullptr}, {LPT_FORMAT_F32, plan.output.format.id},
                       &counting.sums_kernel);
}

Status run(Context &context, const Plan &plan, const Counting &counting) {
  const MatrixView &source = plan.source;
  // Units contain complete blocks and depend on the shape only, so that sums over units do not depend on the number of
  // threads.
  const int64_t unit = std::max<int64_t>(16, source.format.block_rows);
  const int64_t units = (source.rows + unit - 1) / unit;
  const int64_t unit_elements = std::min(unit, source.rows) * source.columns;
  const Parts parts = split(context, units, unit_elements);
  const auto scratch_count = static_cast<size_t>(counting.sums != nullptr ? parts.count : 0);
  std::vector<std::byte *> scratch(scratch_count);
  for (std::byte *&piece : scratch) {
    LPT_TRY(context.host_scratch->take(static_cast<size_t>(unit_elements) * sizeof(float), &piece));
  }
  std::vector<CastStatistics> sums(counting.sums != nullptr ? static_cast<size_t>(units) : 0);
  const CodeTable table = make_table(plan);
  move_scales(plan);
  parallel_for(context, parts.count, [&](int64_t part) {
    for (int64_t u = part * parts.length; u < std::min((part + 1) * parts.length, units); ++u) {
      const int64_t count = std::min(unit, source.rows - u * unit);
      const MatrixView from = cut_rows(source, u * unit, count);
      const MatrixView to = cut_rows(plan.output, u * unit, count);
      convert_rows(table, from, to);
      if (counting.sums == nullptr) continue;
      const MatrixView numbers = dense_view(LPT_FORMAT_F32, scratch[static_cast<size_t>(part)], count, source.columns);
      counting.decode_kernel->run({from, numbers});
      counting.sums_kernel->run({numbers, to, &sums[static_cast<size_t>(u)]});
    }
  });
  for (const CastStatistics &unit_sums : sums) add_sums(unit_sums, *counting.sums);
  return {};
}

}  // namespace

Status convert(Context &context, const Tensor *source, const lpt_convert_options &options, Tensor *output) {
  const bool needs_data = !is_check_only(options.flags);
  Plan plan;
  Counting counting;
  LPT_TRY(check_flags("flags", options.flags));
  LPT_TRY(check_matrix(source, "source", needs_data, plan.source));
  LPT_TRY(check_matrix(output, "output", needs_data, plan.output));
  LPT_TRY(plan_formats(plan));
  LPT_TRY(check_shape(plan.output, "output", plan.source.rows, plan.source.columns, "source"));
  LPT_TRY(check_no_overlap(plan.output, "output", plan.source, "source"));
  LPT_TRY(check_scales_overlap(plan));
  LPT_TRY(plan_counting(context, plan, options.statistics, counting));
  if (!needs_data || plan.source.rows == 0 || plan.source.columns == 0) return {};
  LPT_TRY(check_scales(plan));
  const ProfileScope measure(context, "convert", "table", view_bytes(plan.source) + view_bytes(plan.output));
  return run(context, plan, counting);
}

}  // namespace lpt
