// Casts f32, bf16 and f16 to f32, with one inverse or none.
#include <cstdint>

#include "kernels/common/simd.hpp"
#include "kernels/quantize/kernels.hpp"
#include "src/formats/block_scale.hpp"

namespace lpt {
namespace {

struct FloatCast {
  F32 inverse;
  bool is_streamed;
  F32 amax = {};     // largest finite magnitudes of the source
  I32 largest = {};  // bits of the largest magnitudes of the source, including infinity and NaN
};

// Loads elements as f32. Converts a 16-bit NaN to the quiet NaN of its sign.
template <lpt_format kSource>
[[gnu::always_inline]] inline F32 load_source(const uint8_t *from, ActiveLanes lanes) {
  if constexpr (kSource == LPT_FORMAT_F32) {
    return load(reinterpret_cast<const float *>(from), lanes);
  } else {
    const auto codes = load_u16(from, lanes);
    return with_quiet_nan(kSource == LPT_FORMAT_F16 ? f32_of_f16(codes) : f32_of_bf16(codes));
  }
}

template <lpt_format kSource>
void cast_line(FloatCast &shared, const uint8_t *from, float *to, int64_t count) {
  constexpr int64_t kBytes = kSource == LPT_FORMAT_F32 ? 4 : 2;
  FloatCast cast = shared;
  const bool is_streamed = cast.is_streamed && reinterpret_cast<uintptr_t>(to) % sizeof(F32) == 0;
  const auto cast_lanes = [&](int64_t column, ActiveLanes lanes) {
    const F32 value = load_source<kSource>(from + column * kBytes, lanes);
    cast.amax = max(finite_abs(value), cast.amax);
    cast.largest = max_unsigned(cast.largest, i32_of(abs(value)));
    return with_sign_of(abs(value * cast.inverse), value);
  };
  int64_t column = 0;
  for (; column + kLanes <= count; column += kLanes) {
    store_bits(reinterpret_cast<uint8_t *>(to + column), bits_of(cast_lanes(column, all_lanes())), is_streamed);
  }
  if (column < count) {
    const ActiveLanes lanes = first_lanes(count - column);
    store(to + column, lanes, cast_lanes(column, lanes));
  }
  shared = cast;
}

template <lpt_format kSource>
void cast_lines(const QuantizeRequest &request, FloatCast &cast) {
  const MatrixView &source = request.source, &target = request.target;
  constexpr int64_t kBytes = kSource == LPT_FORMAT_F32 ? 4 : 2;
  const bool is_dense = source.row_stride == source.columns && target.row_stride == target.columns;
  const int64_t rows = is_dense ? 1 : source.rows;
  const int64_t columns = is_dense ? source.rows * source.columns : source.columns;
  for (int64_t row = 0; row < rows; ++row) {
    cast_line<kSource>(cast, static_cast<const uint8_t *>(source.data) + row * source.row_stride * kBytes,
                       static_cast<float *>(target.data) + row * target.row_stride, columns);
  }
}

}  // namespace

void LPT_KERNEL(quantize_floats)(const QuantizeRequest &request) {
  FloatCast cast = {broadcast(request.tensor_inverse), request.is_streamed};
  const lpt_format source = request.source.format.element;
  if (source == LPT_FORMAT_F32) {
    cast_lines<LPT_FORMAT_F32>(request, cast);
  } else if (source == LPT_FORMAT_F16) {
    cast_lines<LPT_FORMAT_F16>(request, cast);
  } else {
    cast_lines<LPT_FORMAT_BF16>(request, cast);
  }
  if (cast.is_streamed) store_fence();
  const float amax = reduce_max(cast.amax);
  if (request.amax != nullptr && amax > *request.amax) *request.amax = amax;
  const bool has_nan = static_cast<uint32_t>(reduce_max_unsigned(cast.largest)) > kFloatInfinityBits;
  if (request.has_nan != nullptr && has_nan) *request.has_nan = true;
}

}  // namespace lpt
