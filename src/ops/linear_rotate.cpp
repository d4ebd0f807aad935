// Rotations and masks of a linear layer's operands and gradients.
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/hadamard/hadamard.hpp"
#include "src/formats/block_scale.hpp"
#include "src/ops/linear_parts.hpp"

namespace lpt {
namespace {

// As hard-coded by the authors of arXiv 2509.25149.
constexpr float kFixedSigns[16] = {1, 1, 1, -1, 1, -1, -1, -1, -1, -1, -1, 1, -1, 1, -1, -1};

float scale_at(const MatrixView &codes, int64_t block_row, int64_t block_column) {
  const int64_t index = block_row * codes.block_scale_stride + block_column;
  if (codes.format.block_scale == LPT_FORMAT_F32) return static_cast<const float *>(codes.block_scales)[index];
  return block_scale_value(codes.format.block_scale, static_cast<const uint8_t *>(codes.block_scales)[index]);
}

// The mask of columns [begin, end) of a row, which share a limit.
void mark(const float *numbers, int64_t begin, int64_t end, float limit, uint8_t *bits) {
  for (int64_t c = begin; c < end;) {
    const int64_t next = std::min((c / 8 + 1) * 8, end);
    uint32_t byte = bits[c / 8];
    const int64_t first = c / 8;
    // A NaN is not clipped.
    for (; c < next; ++c) byte |= static_cast<uint32_t>(!(std::fabs(numbers[c]) > limit)) << (c % 8);
    bits[first] = static_cast<uint8_t>(byte);
  }
}

void mask_row(const MatrixView &numbers, const MatrixView &codes, int64_t row, uint8_t *bits) {
  const Format &format = codes.format;
  const float *line = static_cast<const float *>(numbers.data) + row * numbers.row_stride;
  std::memset(bits, 0, static_cast<size_t>(mask_row_bytes(numbers.columns)));
  float limit = largest_of(format.element);
  if (format.has_zero_point()) limit = std::numeric_limits<float>::infinity();  // their blocks reach from end to end
  if (format.has_tensor_scale()) limit *= *codes.tensor_scale;
  if (!format.has_block_scale()) return mark(line, 0, numbers.columns, limit, bits);
  const BlockGrid grid = block_grid(format, numbers.rows, numbers.columns);
  for (int64_t b = 0; b < grid.columns; ++b) {
    const int64_t begin = b * grid.block_columns;
    const int64_t end = std::min(begin + grid.block_columns, numbers.columns);
    mark(line, begin, end, limit * scale_at(codes, row / grid.block_rows, b), bits);
  }
}

// target += source, both in rows.
template <typename Number>
void add_rows(Context &context, const MatrixView &source, const MatrixView &target) {
  parallel_parts(context, source.rows, source.columns, [&](int64_t begin, int64_t count) {
    for (int64_t r = begin; r < begin + count; ++r) {
      const float *from = static_cast<const float *>(source.data) + r * source.row_stride;
      Number *to = static_cast<Number *>(target.data) + r * target.row_stride;
      for (int64_t c = 0; c < source.columns; ++c) to[c] += static_cast<Number>(from[c]);
    }
  });
}

}  // namespace

Status make_rotation(const Call &call, lpt_product product, const lpt_random &random, int64_t columns,
                     Rotation &out_rotation) {
  const ProductRule &rule = call.product(product);
  out_rotation = Rotation();
  out_rotation.size = rule.hadamard_size;
  if (rule.hadamard_size == 0 || rule.hadamard_signs == LPT_SIGNS_NONE) return {};
  std::byte *memory = nullptr;
  LPT_TRY(call.context.arena->take(static_cast<size_t>(columns) * sizeof(float), &memory));
  float *signs = reinterpret_cast<float *>(memory);
  RandomSource source;
  LPT_TRY(make_random(random, RandomRoom::kSigns, static_cast<uint32_t>(product), columns, 16, 7, source));
  source.offset = 0;
  for (int64_t c = 0; c < columns; ++c) {
    if (rule.hadamard_signs == LPT_SIGNS_FIXED) {
      signs[c] = kFixedSigns[c % 16];
    } else if (c < rule.hadamard_size) {
      signs[c] = (random_bits(source, 0, c) & 1) != 0 ? -1.0f : 1.0f;
    } else {
      signs[c] = signs[c - rule.hadamard_size];
    }
  }
  out_rotation.signs = signs;
  return {};
}

Status rotate_matrix(const Call &call, const MatrixView &source, const MatrixView &target, const Rotation &rotation) {
  HadamardRequest whole{};
  whole.source = source;
  whole.target = target;
  whole.size = rotation.size;
  whole.signs = rotation.signs;
  whole.is_inverse = rotation.is_inverse;
  const Row<HadamardRequest> *row = nullptr;
  LPT_TRY(choose(call.context, "hadamard", hadamard_kernels(), whole, {source.format.id, target.format.id}, &row));
  if (call.is_check_only || source.rows == 0 || source.columns == 0) return {};
  const Measure measure(call.context, "hadamard", row->name, view_bytes(source) + view_bytes(target));
  parallel_parts(call.context, source.rows, source.columns, [&](int64_t begin, int64_t count) {
    HadamardRequest part = whole;
    part.source = cut_rows(source, begin, count);
    part.target = cut_rows(target, begin, count);
    row->run(part);
  });
  return {};
}

void write_mask(const Call &call, const MatrixView &numbers, const MatrixView &codes, std::byte *mask) {
  const int64_t bytes = mask_row_bytes(numbers.columns);
  parallel_parts(call.context, numbers.rows, numbers.columns, [&](int64_t begin, int64_t count) {
    for (int64_t r = begin; r < begin + count; ++r) {
      mask_row(numbers, codes, r, reinterpret_cast<uint8_t *>(mask) + r * bytes);
    }
  });
}

void apply_mask(const Call &call, const std::byte *mask, const MatrixView &numbers) {
  const int64_t bytes = mask_row_bytes(numbers.columns);
  parallel_parts(call.context, numbers.rows, numbers.columns, [&](int64_t begin, int64_t count) {
    for (int64_t r = begin; r < begin + count; ++r) {
      const auto *bits = reinterpret_cast<const uint8_t *>(mask) + r * bytes;
      float *line = static_cast<float *>(numbers.data) + r * numbers.row_stride;
      for (int64_t first = 0; first < numbers.columns; first += 8) {
        if (bits[first / 8] == 0xFF) continue;  // most bytes: few numbers are clipped
        for (int64_t c = first; c < std::min(first + 8, numbers.columns); ++c) {
          if ((bits[c / 8] >> (c % 8) & 1) == 0) line[c] = 0.0f;
        }
      }
    }
  });
}

Status end_gradient(const Call &call, const Ending &ending, const MatrixView &product, bool is_added,
                    const MatrixView &target) {
  MatrixView result = product;
  if (ending.rows.size != 0) {
    MatrixView columns;
    LPT_TRY(take_matrix(call.context, product.format, product.columns, product.rows, columns));
    LPT_TRY(rotate_matrix(call, turned(product), columns, ending.rows));
    LPT_TRY(rotate_matrix(call, turned(columns), result, Rotation()));
  }
  if (ending.has_mask && !call.is_check_only) apply_mask(call, ending.mask, result);
  const bool is_direct = target.format.id == LPT_FORMAT_F32 && !is_added;
  if (ending.columns.size != 0) {
    LPT_TRY(rotate_matrix(call, result, is_direct ? target : result, ending.columns));
    if (is_direct) return {};
  }
  if (!is_added) return widen_matrix(call.context, result, target, call.is_check_only);
  if (call.is_check_only) return {};
  if (target.format.id == LPT_FORMAT_F64) {
    add_rows<double>(call.context, result, target);
  } else {
    add_rows<float>(call.context, result, target);
  }
  return {};
}

}  // namespace lpt
