// Rotations and masks of the operands and gradients of a linear layer.
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/linear/cuda_kernels.hpp"
#include "src/call/launch.hpp"
#include "src/formats/block_scale.hpp"
#include "src/linear/parts.hpp"

namespace lpt {
namespace {

float scale_at(const MatrixView &codes, int64_t block_row, int64_t block_column) {
  const int64_t index = block_row * codes.block_scale_stride + block_column;
  if (codes.format.block_scale == LPT_FORMAT_F32) return static_cast<const float *>(codes.block_scales)[index];
  return block_scale_value(codes.format.block_scale, static_cast<const uint8_t *>(codes.block_scales)[index]);
}

// Sets the mask bits of columns [begin, end) of a row, which have the same limit.
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

// Returns the largest element that is not clipped. With zero points, the range of a block contains all of its elements.
float largest_in(const Format &format) {
  return format.has_zero_point() ? std::numeric_limits<float>::infinity() : largest_of(format.element);
}

void mask_row(const MatrixView &numbers, const MatrixView &codes, int64_t row, uint8_t *bits) {
  const Format &format = codes.format;
  const float *line = static_cast<const float *>(numbers.data) + row * numbers.row_stride;
  std::memset(bits, 0, static_cast<size_t>(mask_row_bytes(numbers.columns)));
  float limit = largest_in(format);
  if (format.has_tensor_scale()) limit *= *codes.tensor_scale;
  if (!format.has_block_scale()) return mark(line, 0, numbers.columns, limit, bits);
  const BlockGrid grid = block_grid(format, numbers.rows, numbers.columns);
  for (int64_t b = 0; b < grid.columns; ++b) {
    const int64_t begin = b * grid.block_columns;
    const int64_t end = std::min(begin + grid.block_columns, numbers.columns);
    mark(line, begin, end, limit * scale_at(codes, row / grid.block_rows, b), bits);
  }
}

// Adds source to target. Both are in row layout.
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

// Returns the group size of a rotation along an axis of `columns` elements.
int32_t group_size(const GemmRule &rule, int64_t columns) {
  if (rule.hadamard_size != LPT_HADAMARD_SIZE_DIVISOR) return rule.hadamard_size;
  int32_t size = kSmallestRotation;
  while (size < kLargestRotation && columns % (2 * size) == 0) size *= 2;
  return size;
}

}  // namespace

Status make_rotation(const Call &call, lpt_linear_gemm gemm, const lpt_random &random, const SignSeed *seed,
                     int64_t columns, Rotation &out_rotation) {
  const GemmRule &rule = call.gemm(gemm);
  out_rotation = Rotation();
  const int32_t size = group_size(rule, columns);
  out_rotation.size = size;
  if (size == 0 || rule.hadamard_signs == LPT_HADAMARD_SIGNS_NONE) return {};
  MatrixView signs;
  LPT_TRY(take_view(call, format_of(LPT_FORMAT_F32), 1, columns, signs));
  RandomSource source;
  const auto role = static_cast<uint32_t>(gemm);
  LPT_TRY(make_random(random, RandomDomain::kSigns, role, columns, 16, 7, source));
  source.offset = 0;
  auto *const numbers = static_cast<float *>(signs.data);
  out_rotation.signs = numbers;
  if (is_on_device(call)) {
    return run_on_device(call.context, "rotation_signs",
                         RotationSignsRequest{rule.hadamard_signs, size, source, role, seed, columns, numbers},
                         {LPT_FORMAT_F32}, call.is_check_only);
  }
  // Groups share their signs.
  for (int64_t c = 0; c < columns; ++c) {
    numbers[c] = c < size ? sign_of(rule.hadamard_signs, source, size, c) : numbers[c - size];
  }
  return {};
}

Status write_mask(const Call &call, const MatrixView &numbers, const MatrixView &codes, std::byte *mask) {
  if (is_on_device(call)) {
    const ClipMaskRequest request{numbers, codes, largest_in(codes.format), reinterpret_cast<uint8_t *>(mask)};
    return run_on_device(call.context, "clip_mask", request, {codes.format.id}, call.is_check_only);
  }
  if (call.is_check_only) return {};
  const int64_t bytes = mask_row_bytes(numbers.columns);
  parallel_parts(call.context, numbers.rows, numbers.columns, [&](int64_t begin, int64_t count) {
    for (int64_t r = begin; r < begin + count; ++r) {
      mask_row(numbers, codes, r, reinterpret_cast<uint8_t *>(mask) + r * bytes);
    }
  });
  return {};
}

Status apply_mask(const Call &call, const std::byte *mask, const MatrixView &numbers) {
  if (is_on_device(call)) {
    const ClearClippedRequest request{numbers, reinterpret_cast<const uint8_t *>(mask)};
    return run_on_device(call.context, "clear_clipped", request, {numbers.format.id}, call.is_check_only);
  }
  if (call.is_check_only) return {};
  const int64_t bytes = mask_row_bytes(numbers.columns);
  parallel_parts(call.context, numbers.rows, numbers.columns, [&](int64_t begin, int64_t count) {
    for (int64_t r = begin; r < begin + count; ++r) {
      const auto *bits = reinterpret_cast<const uint8_t *>(mask) + r * bytes;
      float *line = static_cast<float *>(numbers.data) + r * numbers.row_stride;
      for (int64_t first = 0; first < numbers.columns; first += 8) {
        if (bits[first / 8] == 0xFF) continue;  // most bytes: few elements are clipped
        for (int64_t c = first; c < std::min(first + 8, numbers.columns); ++c) {
          if ((bits[c / 8] >> (c % 8) & 1) == 0) line[c] = 0.0f;
        }
      }
    }
  });
  return {};
}

Status apply_gradient_epilogue(const Call &call, const GradientEpilogue &epilogue, const MatrixView &gemm,
                               bool is_added, const MatrixView &target) {
  MatrixView result = gemm;
  if (epilogue.rows.size != 0) {
    MatrixView columns;
    LPT_TRY(take_view(call, gemm.format, gemm.columns, gemm.rows, columns));
    LPT_TRY(rotate_view(call, transposed_view(gemm), columns, epilogue.rows));
    LPT_TRY(rotate_view(call, transposed_view(columns), result, Rotation()));
  }
  if (epilogue.has_mask) LPT_TRY(apply_mask(call, epilogue.mask, result));
  const bool is_direct = target.format.id == LPT_FORMAT_F32 && !is_added;
  const bool is_rotated = epilogue.columns.size != 0, is_scaled = epilogue.factors != nullptr;
  if (is_rotated) LPT_TRY(rotate_view(call, result, is_direct && !is_scaled ? target : result, epilogue.columns));
  if (is_scaled) LPT_TRY(rotate_view(call, result, is_direct ? target : result, Rotation{.factors = epilogue.factors}));
  if (is_direct && (is_rotated || is_scaled)) return {};
  if (!is_added) return widen_view(call, result, target);
  if (is_on_device(call)) return add_on_device(call, result, 1.0f, target);
  if (call.is_check_only) return {};
  if (target.format.id == LPT_FORMAT_F64) {
    add_rows<double>(call.context, result, target);
  } else {
    add_rows<float>(call.context, result, target);
  }
  return {};
}

}  // namespace lpt
