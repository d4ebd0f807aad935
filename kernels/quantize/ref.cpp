// Reference kernels, which define every bit: any format, any strides, one element at a time.
#include "kernels/quantize/kernels.hpp"
#include "src/formats/block_scale.hpp"
#include "src/formats/numbers.hpp"

namespace lpt {
namespace {

uint32_t load_scale_code(const MatrixView &view, int64_t block_row, int64_t block_column) {
  const int64_t index = block_row * view.block_scale_stride + block_column;
  if (view.format.block_scale != LPT_FORMAT_F32) return static_cast<const uint8_t *>(view.block_scales)[index];
  return float_bits(static_cast<const float *>(view.block_scales)[index]);
}

void store_scale_code(const MatrixView &view, int64_t block_row, int64_t block_column, uint32_t code) {
  const int64_t index = block_row * view.block_scale_stride + block_column;
  if (view.format.block_scale != LPT_FORMAT_F32) {
    static_cast<uint8_t *>(view.block_scales)[index] = static_cast<uint8_t>(code);
  } else {
    static_cast<float *>(view.block_scales)[index] = bits_float(code);
  }
}

// Rows and columns [begin, end) of a matrix.
struct Block {
  int64_t row_begin, row_end, column_begin, column_end;
};

int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

Block block_at(const BlockGrid &grid, const MatrixView &view, int64_t block_row, int64_t block_column) {
  const int64_t row = block_row * grid.block_rows;
  const int64_t column = block_column * grid.block_columns;
  return {row, smaller(row + grid.block_rows, view.rows), column, smaller(column + grid.block_columns, view.columns)};
}

float tensor_scale_at(const MatrixView &view) {
  return view.format.tensor_scale != LPT_FORMAT_NONE ? *view.tensor_scale : 1.0f;
}

struct Facts : BlockStats {
  bool has_nan, has_infinity;
};

// Returns the magnitude of a finite value, 0 for other values.
float finite_magnitude(float value) {
  const float magnitude = bits_float(float_bits(value) & 0x7FFFFFFFu);
  return magnitude <= kLargestFloat ? magnitude : 0.0f;
}

void add_extremes(float value, Facts &facts) {
  const float magnitude = bits_float(float_bits(value) & 0x7FFFFFFFu);
  facts.has_nan |= magnitude != magnitude;
  facts.has_infinity |= magnitude > kLargestFloat;
  if (!(magnitude <= kLargestFloat)) return;
  if (magnitude > facts.amax) facts.amax = magnitude;
  if (value < facts.low) facts.low = value;
  if (value > facts.high) facts.high = value;
}

Facts stats_of(const MatrixView &source, const Block &block, bool has_sums) {
  const Numbers numbers(source);
  const int64_t columns = block.column_end - block.column_begin;
  Facts facts = {};
  facts.count = static_cast<float>((block.row_end - block.row_begin) * columns);
  for (int64_t row = block.row_begin; row < block.row_end; ++row) {
    const auto value = [&](int64_t i) { return numbers.load(row, block.column_begin + i); };
    for (int64_t i = 0; i < columns; ++i) add_extremes(value(i), facts);
    if (!has_sums) continue;
    const auto finite = [&](int64_t i) { return finite_magnitude(value(i)) == 0.0f ? 0.0f : value(i); };
    facts.magnitude_sum += striped_sum(columns, [&](int64_t i) { return finite_magnitude(value(i)); });
    facts.sum += striped_sum(columns, finite);
    facts.square_sum += striped_sum(columns, [&](int64_t i) { return finite(i) * finite(i); });
  }
  return facts;
}

// Returns the sum of the squared errors of a block's elements cast to nearest even with a scale.
float squared_error(const QuantizeRequest &request, const Block &block, const Element &element, float scale) {
  const MatrixView &source = request.source;
  const Numbers numbers(source);
  const float inverse = inverse_scale(scale);
  float sum = 0.0f;
  for (int64_t row = block.row_begin; row < block.row_end; ++row) {
    sum += striped_sum(block.column_end - block.column_begin, [&](int64_t i) {
      const float value = numbers.load(row, block.column_begin + i);
      if (finite_magnitude(value) == 0.0f) return 0.0f;
      const uint32_t code =
          encode(element, scaled(value, inverse), LPT_ROUNDING_NEAREST_EVEN, LPT_OVERFLOW_SATURATE, 0, 16);
      const float error = value - decode(element, code) * scale;
      return error * error;
    });
  }
  return sum;
}

uint32_t best_candidate(const QuantizeRequest &request, const ScaleSpec &spec, const Block &block, float amax) {
  const Element element = element_of(request.target.format.element);
  const float tensor_scale = tensor_scale_at(request.target);
  uint32_t best = candidate_code(spec, amax, 0);
  float least = squared_error(request, block, element, block_scale_value(spec.kind, best) * tensor_scale);
  for (int32_t i = 1; i < candidate_count(spec); ++i) {
    const uint32_t code = candidate_code(spec, amax, i);
    const float error = squared_error(request, block, element, block_scale_value(spec.kind, code) * tensor_scale);
    if (!(error < least)) continue;
    best = code;
    least = error;
  }
  return best;
}

uint32_t scale_code_of(const QuantizeRequest &request, const Block &block, const Facts &facts) {
  const ScaleSpec spec = scale_spec(request.target.format, request.rule, request.tensor_inverse, request.scale_list,
                                    request.scale_list_count);
  switch (request.rule) {
    case LPT_SCALE_RULE_QUEST_FLOOR:
    case LPT_SCALE_RULE_QUEST_NEAREST:
    case LPT_SCALE_RULE_QUEST_CEIL:
      return quest_scale(spec, facts);
    case LPT_SCALE_RULE_FOUR_OVER_SIX:
    case LPT_SCALE_RULE_MSE:
      return best_candidate(request, spec, block, facts.amax);
    case LPT_SCALE_RULE_MEAN:
      return float_bits(facts.amax == 0.0f ? 1.0f
                                           : clamp_scale(facts.magnitude_sum / facts.count * spec.tensor_inverse));
    default:
      return block_scale_code(spec, facts.amax);
  }
}

// Factor and zero point of the elements of a block.
struct Grid {
  float inverse;
  int32_t zero;
};

bool is_poisoned(const QuantizeRequest &request, const Facts &facts) {
  return facts.has_nan || (facts.has_infinity && request.overflow == LPT_OVERFLOW_INFINITE);
}

// Returns the grid of a block with zero point, computed from facts.low and facts.high, and writes its scale and zero point.
Grid compute_zero_point(const QuantizeRequest &request, int64_t block_row, int64_t block_column, const Facts &facts) {
  const MatrixView &target = request.target;
  uint8_t &zero_point = target.zero_points[block_row * target.block_scale_stride + block_column];
  if (request.rule == LPT_SCALE_RULE_FIXED) {
    const float scale = bits_float(load_scale_code(target, block_row, block_column));
    return {inverse_scale(scale), zero_point};
  }
  const Element element = element_of(target.format.element);
  // Uses halves of the extremes, so that the width of a block with both signs is in the range of f32.
  const float half = facts.high * 0.5f - facts.low * 0.5f;
  const float scale = half == 0.0f ? 1.0f : clamp_scale(half / (static_cast<float>(element.max_code) * 0.5f));
  const float inverse = inverse_scale(scale);
  zero_point = static_cast<uint8_t>(
      encode(element, -facts.low * inverse, LPT_ROUNDING_NEAREST_EVEN, LPT_OVERFLOW_SATURATE, 0, 16));
  store_scale_code(target, block_row, block_column, is_poisoned(request, facts) ? kFloatNanBits : float_bits(scale));
  return {inverse, zero_point};
}

Grid compute_scale(const QuantizeRequest &request, int64_t block_row, int64_t block_column, const Block &block,
                   const Facts &facts) {
  const MatrixView &target = request.target;
  const lpt_format kind = target.format.block_scale;
  if (kind == LPT_FORMAT_NONE) return {request.tensor_inverse, 0};
  if (target.format.has_zero_point()) return compute_zero_point(request, block_row, block_column, facts);
  if (request.rule == LPT_SCALE_RULE_FIXED) {
    const float scale = block_scale_value(kind, load_scale_code(target, block_row, block_column));
    return {inverse_scale(scale * tensor_scale_at(target)), 0};
  }
  const lpt_format element = target.format.element;
  const uint32_t code = scale_code_of(request, block, facts);
  const bool keeps_nan = has_element(element) && !nan_goes_to_scale(kind, element_of(element));
  store_scale_code(target, block_row, block_column,
                   is_poisoned(request, facts) && !keeps_nan ? block_scale_nan(kind) : code);
  return {inverse_scale(block_scale_value(kind, code) * tensor_scale_at(target)), 0};
}

uint32_t element_code(const QuantizeRequest &request, const Element &element, float value, int64_t row,
                      int64_t column) {
  const bool is_nanless = element.nan_code == 0;
  const bool is_infinity = (float_bits(value) & 0x7FFFFFFFu) == kFloatInfinityBits;
  if (is_nanless && is_infinity && request.overflow == LPT_OVERFLOW_INFINITE)
    value = bits_float(float_bits(value) | kFloatNanBits);
  uint32_t random = 0;
  if (request.rounding == LPT_ROUNDING_STOCHASTIC || request.rounding == LPT_ROUNDING_STOCHASTIC_UNDERFLOW) {
    random = random_bits(request.random, row, column * request.random_column_stride);
  }
  return encode(element, value, request.rounding, request.overflow, random, request.random.bits);
}

// Returns the code with a zero point: rounds to a 16-bit integer, adds the zero point, clamps.
uint32_t zero_point_code(const QuantizeRequest &request, const Element &element, float value, int32_t zero, int64_t row,
                         int64_t column) {
  const auto rounded = static_cast<int16_t>(element_code(request, kElementInt16, value, row, column));
  const int32_t moved = rounded + zero;
  const auto most = static_cast<int32_t>(element.max_code);
  return static_cast<uint32_t>(moved < 0 ? 0 : moved > most ? most : moved);
}

void quantize_block(const QuantizeRequest &request, const Block &block, const Grid &grid) {
  const MatrixView &source = request.source;
  const MatrixView &target = request.target;
  const Numbers numbers(source);
  const lpt_format plain = target.format.element;
  const Element element = element_or_none(plain);
  for (int64_t row = block.row_begin; row < block.row_end; ++row) {
    for (int64_t column = block.column_begin; column < block.column_end; ++column) {
      const float value = scaled(numbers.load(row, column), grid.inverse);
      const int64_t index = row * target.row_stride + column;
      if (plain == LPT_FORMAT_F64) {
        static_cast<double *>(target.data)[index] = static_cast<double>(value);
      } else if (plain == LPT_FORMAT_F32) {
        static_cast<float *>(target.data)[index] = value;
      } else if (target.format.has_zero_point()) {
        store_code(element, target.data, index, zero_point_code(request, element, value, grid.zero, row, column));
      } else {
        store_code(element, target.data, index, element_code(request, element, value, row, column));
      }
    }
  }
}

bool has_sums(lpt_scale_rule rule) { return rule == LPT_SCALE_RULE_MEAN || is_quest_rule(rule); }

// Decodes single elements of a view.
struct Decoder {
  const MatrixView &view;
  BlockGrid grid;
  Numbers numbers;

  explicit Decoder(const MatrixView &of) : view(of), grid(block_grid(of.format, of.rows, of.columns)), numbers(of) {}

  int64_t block_of(int64_t row, int64_t column) const {
    return row / grid.block_rows * view.block_scale_stride + column / grid.block_columns;
  }
  float scale_at(int64_t row, int64_t column) const {
    const float tensor_scale = tensor_scale_at(view);
    if (view.format.block_scale == LPT_FORMAT_NONE) return tensor_scale;
    const uint32_t code = load_scale_code(view, row / grid.block_rows, column / grid.block_columns);
    return block_scale_value(view.format.block_scale, code) * tensor_scale;
  }
  float zero_at(int64_t row, int64_t column) const {
    return view.format.has_zero_point() ? static_cast<float>(view.zero_points[block_of(row, column)]) : 0.0f;
  }
  float value_at(int64_t row, int64_t column) const {
    const float element = numbers.load(row, column);
    return unscaled(view.format.has_zero_point() ? element - zero_at(row, column) : element, scale_at(row, column));
  }
};

}  // namespace

void amax_any_ref(const AmaxRequest &request) {
  const Facts facts = stats_of(request.source, {0, request.source.rows, 0, request.source.columns}, false);
  *request.amax = facts.amax;
  *request.has_nan = facts.has_nan;
}

void transpose_any_ref(const TransposeRequest &request) {
  const MatrixView &source = request.source;
  const MatrixView &target = request.target;
  const lpt_format plain = source.format.element;
  const Element element = element_or_none(plain);
  for (int64_t column = 0; column < source.columns; ++column) {
    for (int64_t row = 0; row < source.rows; ++row) {
      const int64_t from = row * source.row_stride + column;
      const int64_t to = column * target.row_stride + row;
      if (plain == LPT_FORMAT_F64) {
        static_cast<double *>(target.data)[to] = static_cast<const double *>(source.data)[from];
      } else if (plain == LPT_FORMAT_F32) {
        static_cast<float *>(target.data)[to] = static_cast<const float *>(source.data)[from];
      } else {
        store_code(element, target.data, to, load_code(element, source.data, from));
      }
    }
  }
  transpose_scales(source, target);
}

void magnitude_sum_any_ref(const MagnitudeSumRequest &request) {
  const MatrixView &source = request.source;
  const Numbers numbers(source);
  for (int64_t row = 0; row < source.rows; ++row) {
    const auto magnitude = [&](int64_t i) { return finite_magnitude(numbers.load(row, i)); };
    request.sums[row] = striped_sum(source.columns, magnitude);
    if (request.squares == nullptr) continue;
    request.squares[row] = striped_sum(source.columns, [&](int64_t i) { return magnitude(i) * magnitude(i); });
  }
}

void quantize_any_ref(const QuantizeRequest &request) {
  const BlockGrid grid = block_grid(request.target.format, request.target.rows, request.target.columns);
  const bool needs_facts =
      request.amax != nullptr || request.has_nan != nullptr || request.target.format.block_scale != LPT_FORMAT_NONE;
  for (int64_t block_row = 0; block_row < grid.rows; ++block_row) {
    for (int64_t block_column = 0; block_column < grid.columns; ++block_column) {
      const Block block = block_at(grid, request.target, block_row, block_column);
      const Facts facts = needs_facts ? stats_of(request.source, block, has_sums(request.rule)) : Facts{};
      if (request.amax != nullptr && facts.amax > *request.amax) *request.amax = facts.amax;
      if (request.has_nan != nullptr && facts.has_nan) *request.has_nan = true;
      quantize_block(request, block, compute_scale(request, block_row, block_column, block, facts));
    }
  }
}

void dequantize_any_ref(const DequantizeRequest &request) {
  const MatrixView &source = request.source;
  const Numbers target(request.target);
  const Decoder decoder(source);
  // f64 has no scales, and a conversion to f32 loses bits, so that f64 is copied.
  const bool is_copy = source.format.id == LPT_FORMAT_F64 && request.target.format.id == LPT_FORMAT_F64;
  for (int64_t row = 0; row < source.rows; ++row) {
    for (int64_t column = 0; column < source.columns; ++column) {
      if (is_copy) {
        target.copy(decoder.numbers, row, column);
      } else {
        target.store(row, column, decoder.value_at(row, column));
      }
    }
  }
}

namespace {

// Adds lane i + width to lane i, for widths 8, 4, 2, 1.
double sum_of_lanes(double (&lane)[16]) {
  for (int width = 8; width > 0; width /= 2) {
    for (int i = 0; i < width; ++i) lane[i] += lane[i + width];
  }
  return lane[0];
}

bool is_clipped(const Decoder &quantized, float limit, float value, int64_t row, int64_t column) {
  const float scaled_value = scaled(value, inverse_scale(quantized.scale_at(row, column)));
  if (!quantized.view.format.has_zero_point()) return bits_float(float_bits(scaled_value) & 0x7FFFFFFFu) > limit;
  const auto rounded = static_cast<int16_t>(
      encode(kElementInt16, scaled_value, LPT_ROUNDING_NEAREST_EVEN, LPT_OVERFLOW_SATURATE, 0, 16));
  const float moved = static_cast<float>(rounded) + quantized.zero_at(row, column);
  return moved < 0.0f || moved > limit;
}

}  // namespace

void cast_statistics_any_ref(const CastStatisticsRequest &request) {
  const MatrixView &source = request.source;
  const Decoder quantized(request.quantized);
  const Numbers numbers(source);
  const bool has_zero = request.quantized.format.has_zero_point();
  const float largest = largest_of(request.quantized.format.element) * (has_zero ? 1.0f : 1.0f + 0x1p-20f);
  CastStatistics sums;
  sums.elements = source.rows * source.columns;
  for (int64_t row = 0; row < source.rows; ++row) {
    double squares[16] = {};
    double errors[16] = {};
    for (int64_t column = 0; column < source.columns; ++column) {
      const float value = numbers.load(row, column);
      const float magnitude = bits_float(float_bits(value) & 0x7FFFFFFFu);
      if (value != value) {
        ++sums.nans;
        continue;
      }
      if (is_clipped(quantized, largest, value, row, column)) ++sums.clipped;
      if (magnitude > kLargestFloat) continue;
      const float decoded = quantized.value_at(row, column);
      if (magnitude > sums.amax) sums.amax = magnitude;
      if (value != 0.0f && decoded == 0.0f) ++sums.underflows;
      const float error = value - decoded;
      squares[column % 16] += static_cast<double>(value * value);
      errors[column % 16] += static_cast<double>(error * error);
    }
    sums.squares += sum_of_lanes(squares);
    sums.squared_errors += sum_of_lanes(errors);
  }
  *request.sums = sums;
}

void cast_errors_any_ref(const CastErrorsRequest &request) {
  const MatrixView &source = request.source;
  const Numbers numbers(source);
  const Element element = element_of(request.element);
  for (int32_t i = 0; i < request.scale_count; ++i) {
    const float scale = request.scales[i], inverse = inverse_scale(scale);
    request.errors[i] = 0.0;
    for (int64_t row = 0; row < source.rows; ++row) {
      double errors[16] = {};
      for (int64_t column = 0; column < source.columns; ++column) {
        const float value = numbers.load(row, column);
        if (finite_magnitude(value) == 0.0f && value != 0.0f) continue;
        const uint32_t code =
            encode(element, scaled(value, inverse), LPT_ROUNDING_NEAREST_EVEN, request.overflow, 0, 16);
        const float error = value - unscaled(decode(element, code), scale);
        const float square = error * error;
        errors[column % 16] += static_cast<double>(square <= kLargestFloat ? square : __builtin_inff());
      }
      request.errors[i] += sum_of_lanes(errors);
    }
  }
}

}  // namespace lpt
