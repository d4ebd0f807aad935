// The plain rows: they decide every bit. Any format, any strides, one element at a time.
#include "kernels/quantize/rows.hpp"
#include "src/formats/block_scale.hpp"

namespace lpt {
namespace {

// The numbers of a view, read as f32.
struct Numbers {
  lpt_format plain;
  const void *data;
  Element element;  // of an encoded one
};

Element element_or_none(lpt_format plain) { return has_element(plain) ? element_of(plain) : Element{}; }

Numbers numbers_of(const MatrixView &view) {
  return {view.format.element, view.data, element_or_none(view.format.element)};
}

float load(const Numbers &numbers, int64_t index) {
  if (numbers.plain == LPT_FORMAT_F32) return static_cast<const float *>(numbers.data)[index];
  if (numbers.plain == LPT_FORMAT_F64) return static_cast<float>(static_cast<const double *>(numbers.data)[index]);
  uint32_t code;
  if (numbers.element.bits == 16) {
    code = static_cast<const uint16_t *>(numbers.data)[index];
  } else if (numbers.element.bits == 8) {
    code = static_cast<const uint8_t *>(numbers.data)[index];
  } else {
    const uint32_t both = static_cast<const uint8_t *>(numbers.data)[index / 2];
    code = index % 2 == 0 ? both & 0xFu : both >> 4;
  }
  return decode(numbers.element, code);
}

void store_code(int32_t bits, void *data, int64_t index, uint32_t code) {
  if (bits == 16) {
    static_cast<uint16_t *>(data)[index] = static_cast<uint16_t>(code);
  } else if (bits == 8) {
    static_cast<uint8_t *>(data)[index] = static_cast<uint8_t>(code);
  } else {
    // The low half comes first and clears the high one, so that the last byte of an odd row ends in zeros.
    uint8_t *byte = static_cast<uint8_t *>(data) + index / 2;
    *byte = static_cast<uint8_t>(index % 2 == 0 ? code : (*byte & 0xFu) | (code << 4));
  }
}

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

struct Magnitudes {
  float amax = 0.0f;  // of finite values
  bool has_nan = false;
  bool has_infinity = false;
};

Magnitudes magnitudes_of(const MatrixView &source, const Block &block) {
  const Numbers numbers = numbers_of(source);
  Magnitudes found;
  for (int64_t row = block.row_begin; row < block.row_end; ++row) {
    for (int64_t column = block.column_begin; column < block.column_end; ++column) {
      const float value = load(numbers, row * source.row_stride + column * source.column_stride);
      const float magnitude = bits_float(float_bits(value) & 0x7FFFFFFFu);
      found.has_nan |= magnitude != magnitude;
      found.has_infinity |= magnitude > kLargestFloat;
      if (magnitude <= kLargestFloat && magnitude > found.amax) found.amax = magnitude;
    }
  }
  return found;
}

// The inverse that the elements of a block are multiplied by; its scale is found and written before.
float settle_scale(const QuantizeRequest &request, int64_t block_row, int64_t block_column,
                   const Magnitudes &magnitudes) {
  const MatrixView &target = request.target;
  const lpt_format kind = target.format.block_scale;
  if (kind == LPT_FORMAT_NONE) return request.tensor_inverse;
  const lpt_format element = target.format.element;
  const uint32_t code =
      block_scale_code(kind, request.rule, magnitudes.amax, largest_of(element), request.tensor_inverse);
  const bool is_poisoned = magnitudes.has_nan || (magnitudes.has_infinity && request.overflow == LPT_OVERFLOW_INFINITE);
  const bool keeps_nan = has_element(element) && !nan_goes_to_scale(kind, element_of(element));
  store_scale_code(target, block_row, block_column, is_poisoned && !keeps_nan ? block_scale_nan(kind) : code);
  return inverse_scale(block_scale_value(kind, code) * tensor_scale_at(target));
}

uint32_t element_code(const QuantizeRequest &request, const Element &element, float value, int64_t row,
                      int64_t column) {
  const bool is_nanless = element.nan_code == 0;
  const bool is_infinity = (float_bits(value) & 0x7FFFFFFFu) == kFloatInfinityBits;
  if (is_nanless && is_infinity && request.overflow == LPT_OVERFLOW_INFINITE)
    value = bits_float(float_bits(value) | kFloatNanBits);
  uint32_t random = 0;
  if (request.rounding == LPT_ROUNDING_STOCHASTIC) {
    random = random_bits(request.random, row, column * request.random_column_stride);
  }
  return encode(element, value, request.rounding, request.overflow, random, request.random.bits);
}

void quantize_block(const QuantizeRequest &request, const Block &block, float inverse) {
  const MatrixView &source = request.source;
  const MatrixView &target = request.target;
  const Numbers numbers = numbers_of(source);
  const lpt_format plain = target.format.element;
  const Element element = element_or_none(plain);
  for (int64_t row = block.row_begin; row < block.row_end; ++row) {
    for (int64_t column = block.column_begin; column < block.column_end; ++column) {
      const int64_t from = row * source.row_stride + column * source.column_stride;
      const float value = scaled(load(numbers, from), inverse);
      const int64_t index = row * target.row_stride + column;
      if (plain == LPT_FORMAT_F64) {
        static_cast<double *>(target.data)[index] = static_cast<double>(value);
      } else if (plain == LPT_FORMAT_F32) {
        static_cast<float *>(target.data)[index] = value;
      } else {
        store_code(element.bits, target.data, index, element_code(request, element, value, row, column));
      }
    }
  }
}

}  // namespace

void amax_any_ref(const AmaxRequest &request) {
  const Magnitudes found = magnitudes_of(request.source, {0, request.source.rows, 0, request.source.columns});
  *request.amax = found.amax;
  *request.has_nan = found.has_nan;
}

void quantize_any_ref(const QuantizeRequest &request) {
  const BlockGrid grid = block_grid(request.target.format, request.target.rows, request.target.columns);
  const bool needs_magnitudes = request.amax != nullptr || request.target.format.block_scale != LPT_FORMAT_NONE;
  for (int64_t block_row = 0; block_row < grid.rows; ++block_row) {
    for (int64_t block_column = 0; block_column < grid.columns; ++block_column) {
      const Block block = block_at(grid, request.target, block_row, block_column);
      const Magnitudes magnitudes = needs_magnitudes ? magnitudes_of(request.source, block) : Magnitudes{};
      if (request.amax != nullptr && magnitudes.amax > *request.amax) *request.amax = magnitudes.amax;
      quantize_block(request, block, settle_scale(request, block_row, block_column, magnitudes));
    }
  }
}

void dequantize_any_ref(const DequantizeRequest &request) {
  const MatrixView &source = request.source;
  const MatrixView &target = request.target;
  const BlockGrid grid = block_grid(source.format, source.rows, source.columns);
  const lpt_format plain = target.format.element;
  const Element element = element_or_none(plain);
  const Numbers numbers = numbers_of(source);
  for (int64_t row = 0; row < source.rows; ++row) {
    for (int64_t column = 0; column < source.columns; ++column) {
      float scale = tensor_scale_at(source);
      if (source.format.block_scale != LPT_FORMAT_NONE) {
        const uint32_t code = load_scale_code(source, row / grid.block_rows, column / grid.block_columns);
        scale = block_scale_value(source.format.block_scale, code) * scale;
      }
      const float value = unscaled(load(numbers, row * source.row_stride + column), scale);
      const int64_t index = row * target.row_stride + column;
      if (plain == LPT_FORMAT_F64) {
        static_cast<double *>(target.data)[index] = static_cast<double>(value);
      } else if (plain == LPT_FORMAT_F32) {
        static_cast<float *>(target.data)[index] = value;
      } else {
        store_code(element.bits, target.data, index,
                   encode(element, value, LPT_ROUNDING_NEAREST_EVEN, LPT_OVERFLOW_INFINITE, 0, 0));
      }
    }
  }
}

}  // namespace lpt
