// Attention of few queries, for each instruction set. Keys and values are read once, in place: packing them as panels would take
// longer than the arithmetic.
//
// For each unit of lanes:
//   scores[lane][key] = query · key^T, for kLanes keys at a time
//   weights[lane][key] = 2^(c · scores - base), where base is the maximum times c = scale · log2(e)
//   output[lane]      = weights · value / sum of the weights
#include "kernels/attention/lanes.hpp"
#include "kernels/common/scratch_parts.hpp"

namespace lpt {
namespace {

constexpr int kMostTileLanes = 4;
constexpr int kValueVectors = kLanes == 16 ? 4 : 2;  // per tile, limited by the registers

struct AttentionRows {
  const AttentionForwardRequest &request;
  const AttentionShape &shape;
  ScratchParts parts;
  int64_t columns, keys;   // rounded up to vectors
  float *queries, *block;  // [lane][column], [kLanes keys][column]
  float *scores;           // [lane][key], later the weights
  float *bases, *sums;     // of each lane

  explicit AttentionRows(const AttentionForwardRequest &request)
      : request(request), shape(request.shape), parts(request.scratch) {
    columns = round_up(shape.width, kLanes);
    keys = round_up(shape.keys, kLanes);
    const int64_t lanes = min_i64(shape.queries * shape.group, kAttentionLanes);
    queries = parts.take<float>(lanes * columns);
    block = parts.take<float>(kLanes * columns);
    scores = parts.take<float>(lanes * keys);
    bases = parts.take<float>(lanes);
    sums = parts.take<float>(lanes);
  }

  // Columns from `width` on are 0.
  void copy_row(const RowSource &row, float *to) const {
    for_columns(0, shape.width,
                [&](int64_t column, ActiveLanes active) { store(to + column, load_row<false>(row, column, active)); });
  }

  // Computes the scores of kLanes keys from `first` on. Keys that a lane does not attend to have minus infinity.
  void multiply_keys(const Lanes &lanes, int64_t first) const {
    for (int64_t i = 0; i < kLanes; ++i) {
      const int64_t key = min_i64(first + i, shape.keys - 1);
      copy_row(row_at(request.key, lanes.batch, lanes.key_head, key), block + i * columns);
    }
    alignas(64) static constexpr float kOrder[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    const F32 key = load(kOrder);
    for (int64_t lane = 0; lane < lanes.count; ++lane) {
      F32 products[kLanes] = {};
      for (int64_t column = 0; column < columns; column += kLanes) {
        const F32 query = load(queries + lane * columns + column);
#pragma GCC unroll 16
        for (int64_t i = 0; i < kLanes; ++i) {
          products[i] = mul_add(load(block + i * columns + column), query, products[i]);
        }
      }
      transpose(products);
#pragma GCC unroll 4
      for (int64_t half = kLanes / 2; half > 0; half /= 2) {
#pragma GCC unroll 8
        for (int64_t i = 0; i < half; ++i) products[i] += products[i + half];
      }
      F32 score = products[0];
      const KeyRange range = keys_of_lane(shape, lanes.first + lane);
      if (request.mask.data != nullptr) {
        const int64_t count = min_i64(shape.keys - first, kLanes);
        const F32 mask = load_row<false>(lanes.row(shape, request.mask, lane), first,
                                         count == kLanes ? all_lanes() : first_lanes(count));
        score = mul_add(score, broadcast(static_cast<float>(shape.scale)), mask);
      }
      const F32 begin = broadcast(static_cast<float>(max_i64(range.begin - first, 0)));
      const F32 end = broadcast(static_cast<float>(min_i64(range.end - first, kLanes)));
      score = select((key >= begin) & (key < end), score, broadcast(-__builtin_inff()));
      store(scores + lane * keys + first, score);
    }
  }

  // Converts the scores of a lane to weights.
  void compute_weights(int64_t lane, int64_t begin, int64_t end) const {
    float *const at = scores + lane * keys;
    const F32 lowest = broadcast(-__builtin_inff());
    F32 peaks = lowest;
    for (int64_t key = begin; key < end; key += kLanes) peaks = max(load(at + key), peaks);
    const double scale = request.mask.data == nullptr ? shape.scale : 1.0;
    const auto factor = static_cast<float>(scale * kLog2E);
    const float peak = reduce_max(peaks), base = peak == -__builtin_inff() ? 0.0f : peak * factor;
    F32 total = {};
    for (int64_t key = begin; key < end; key += kLanes) {
      const F32 weight = power_of_two(mul_add(load(at + key), broadcast(factor), broadcast(-base)));
      store(at + key, weight);
      total += weight;
    }
    bases[lane] = base;
    sums[lane] = reduce_sum(total);
  }

  // Multiplies kTileLanes lanes by kValueVectors vectors of columns of the values.
  template <int kTileLanes>
  void multiply_values(const Lanes &lanes, int64_t lane, int64_t column, int64_t begin, int64_t end) const {
    F32 outputs[kTileLanes][kValueVectors] = {};
    const int64_t vectors = min_i64(quotient_up(shape.value_width - column, kLanes), kValueVectors);
    const int64_t last = shape.value_width - column - (vectors - 1) * kLanes;
    const ActiveLanes last_lanes = last >= kLanes ? all_lanes() : first_lanes(last);
    const float *const weights = scores + lane * keys;
    for (int64_t key = begin; key < end; ++key) {
      const RowSource row = row_at(request.value, lanes.batch, lanes.key_head, key);
#pragma GCC unroll 4
      for (int v = 0; v < kValueVectors; ++v) {
        if (v >= vectors) break;
        const F32 value = load_row<false>(row, column + v * kLanes, v + 1 == vectors ? last_lanes : all_lanes());
#pragma GCC unroll 4
        for (int i = 0; i < kTileLanes; ++i) {
          outputs[i][v] = mul_add(broadcast(weights[i * keys + key]), value, outputs[i][v]);
        }
      }
    }
    for (int i = 0; i < kTileLanes; ++i) {
      const float sum = sums[lane + i];
      const F32 inverse = broadcast(sum == 0.0f ? 0.0f : 1.0f / sum);
      const RowSource row = lanes.row(shape, request.output, lane + i);
#pragma GCC unroll 4
      for (int v = 0; v < kValueVectors; ++v) {
        if (v >= vectors) break;
        store_row<false>(row, column + v * kLanes, v + 1 == vectors ? last_lanes : all_lanes(),
                         outputs[i][v] * inverse);
      }
    }
  }

  void write_outputs(const Lanes &lanes, int64_t begin, int64_t end) const {
    constexpr void (AttentionRows::*kTiles[])(const Lanes &, int64_t, int64_t, int64_t, int64_t)
        const = {&AttentionRows::multiply_values<1>, &AttentionRows::multiply_values<2>,
                 &AttentionRows::multiply_values<3>, &AttentionRows::multiply_values<4>};
    for (int64_t column = 0; column < shape.value_width; column += kValueVectors * kLanes) {
      for (int64_t lane = 0; lane < lanes.count; lane += kMostTileLanes) {
        const int64_t count = min_i64(lanes.count - lane, kMostTileLanes);
        (this->*kTiles[count - 1])(lanes, lane, column, begin, end);
      }
    }
    if (request.log_sums.data == nullptr) return;
    for (int64_t lane = 0; lane < lanes.count; ++lane) {
      const float sum = sums[lane];
      *floats_at(lanes.row(shape, request.log_sums, lane), 0) =
          sum == 0.0f ? -__builtin_inff() : static_cast<float>(bases[lane] / kLog2E + __builtin_logf(sum));
    }
  }

  void run_unit(const Lanes &lanes) const {
    for (int64_t i = 0; i < lanes.count; ++i) copy_row(lanes.row(shape, request.query, i), queries + i * columns);
    const int64_t begin = lanes.first_range(shape).begin, end = lanes.last_range(shape).end;
    const int64_t first = begin / kLanes * kLanes;
    for (int64_t key = first; key < end; key += kLanes) multiply_keys(lanes, key);
    for (int64_t i = 0; i < lanes.count; ++i) compute_weights(i, first, end);
    write_outputs(lanes, begin, end);
  }
};

}  // namespace

void LPT_KERNEL(attention_rows)(const AttentionForwardRequest &request) {
  const AttentionRows rows(request);
  const int64_t end = request.first_unit + request.units;
  for (int64_t unit = request.first_unit; unit < end; ++unit) rows.run_unit(Lanes(request.shape, unit));
}

size_t LPT_KERNEL(attention_rows_scratch)(const AttentionForwardRequest &request) {
  return AttentionRows(request).parts.bytes();
}

}  // namespace lpt
