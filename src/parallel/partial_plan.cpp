// Partition into shared and private columns, and the scale of the private ones.
#include <algorithm>
#include <cmath>

#include "src/collective/cost.hpp"
#include "src/parallel/partial.hpp"

namespace lpt {
namespace {

constexpr int64_t kMostColumns = int64_t{1} << 28;
constexpr int32_t kMostRanks = 1024;
constexpr double kMostChunks = 16.0;  // of a GEMM: each chunk packs b

Status check_count(const char *name, int64_t value, int64_t least, int64_t most) {
  if (value >= least && value <= most) return {};
  return invalid("%s is %lld: expected %lld to %lld", name, number(value), number(least), number(most));
}

// Norms between the layers need full rows, and sequence-parallel ranks own different rows. A private column would be scaled by
// a rank that does not own it.
Status check_sequence(const lpt_partial_plan_options &options) {
  LPT_TRY(check_flags("options->flags", options.flags, LPT_PARTIAL_SEQUENCE_PARALLEL));
  if (options.flags == 0 || options.shared_columns == options.hidden_columns) return {};
  return unsupported(
      "options->flags has LPT_PARTIAL_SEQUENCE_PARALLEL and %lld of %lld columns are shared: private columns stay with "
      "their rank for the whole sequence, a split one would lose them",
      number(options.shared_columns), number(options.hidden_columns));
}

Status check_wire(const char *name, lpt_format format) {
  Format unused;
  if (format == LPT_FORMAT_NONE || find_format(format, unused)) return {};
  return invalid("%s is %lld: expected a format, or LPT_FORMAT_NONE", name, number(format));
}

Status find_scale(const lpt_partial_plan_options &options, double &out_scale) {
  LPT_TRY(check_choice("options->private_scale", options.private_scale, LPT_PARTIAL_SCALE_CUSTOM));
  const bool is_custom = options.private_scale == LPT_PARTIAL_SCALE_CUSTOM;
  if (is_custom && (!std::isfinite(options.custom_scale) || options.custom_scale == 0)) {
    return invalid("options->custom_scale is %g: expected a finite number other than 0", options.custom_scale);
  }
  if (!is_custom && options.custom_scale != 1.0) {
    return invalid("options->custom_scale is %g: expected 1 without LPT_PARTIAL_SCALE_CUSTOM", options.custom_scale);
  }
  const bool is_root = options.private_scale == LPT_PARTIAL_SCALE_ROOT;
  out_scale = is_root ? std::sqrt(static_cast<double>(options.rank_count)) : options.custom_scale;
  return {};
}

// Bits of an element, with its fraction of the scale and zero point of its block. Scales of full rows and tensors are
// negligible.
double wire_bits(const Format &format) {
  double bits = element_bits(format.element);
  if (!format.has_block_scale() || format.block_rows == LPT_BLOCK_EXTENT_FULL ||
      format.block_columns == LPT_BLOCK_EXTENT_FULL)
    return bits;
  const double block = static_cast<double>(format.block_rows) * format.block_columns;
  bits += element_bits(format.block_scale) / block;
  return format.has_zero_point() ? bits + 8 / block : bits;
}

}  // namespace

Status find_shared_columns(int64_t hidden, double fraction, int64_t &out_columns) {
  LPT_TRY(check_count("hidden_columns", hidden, 1, kMostColumns));
  LPT_TRY(check_finite("fraction", fraction, 0.0, 1.0));
  // A rounded quotient is monotonic in its numerator. So the loops end at the largest count whose share is at most `fraction`,
  // close to hidden · fraction.
  const auto share = [&](int64_t columns) { return static_cast<double>(columns) / static_cast<double>(hidden); };
  auto columns = static_cast<int64_t>(static_cast<double>(hidden) * fraction);
  while (columns < hidden && share(columns + 1) <= fraction) ++columns;
  while (share(columns) > fraction) --columns;
  out_columns = columns;
  return {};
}

Status create_partial_plan(const lpt_partial_plan_options &options, PartialPlan **out_plan) {
  LPT_TRY(check_count("options->hidden_columns", options.hidden_columns, 1, kMostColumns));
  LPT_TRY(check_count("options->shared_columns", options.shared_columns, 0, options.hidden_columns));
  LPT_TRY(check_count("options->rank_count", options.rank_count, 1, kMostRanks));
  LPT_TRY(check_sequence(options));
  LPT_TRY(check_wire("options->forward_wire", options.forward_wire));
  LPT_TRY(check_wire("options->backward_wire", options.backward_wire));
  LPT_TRY(check_count("options->chunk_rows", options.chunk_rows, 0, kMostColumns));
  LPT_TRY(check_finite("options->link_latency_seconds", options.link_latency_seconds, 0.0, 3600.0));
  LPT_TRY(check_finite("options->link_bytes_per_second", options.link_bytes_per_second, 0.0, 1e18));
  auto plan = std::make_unique<PartialPlan>();
  LPT_TRY(find_scale(options, plan->scale));
  plan->hidden = options.hidden_columns;
  plan->shared = options.shared_columns;
  plan->ranks = options.rank_count;
  plan->wires[LPT_PARTIAL_PASS_FORWARD] = options.forward_wire;
  plan->wires[LPT_PARTIAL_PASS_BACKWARD] = options.backward_wire;
  plan->chunk_rows = options.chunk_rows;
  plan->link.latency_seconds = options.link_latency_seconds;
  plan->link.bytes_per_second = options.link_bytes_per_second;
  *out_plan = plan.release();
  return {};
}

Status read_partial_plan(const PartialPlan &plan, lpt_format format, lpt_partial_plan_info &out_info) {
  double bytes[2];
  for (const lpt_partial_pass pass : {LPT_PARTIAL_PASS_FORWARD, LPT_PARTIAL_PASS_BACKWARD}) {
    const lpt_format wire = plan.wires[pass] == LPT_FORMAT_NONE ? format : plan.wires[pass];
    Format known;
    if (!find_format(wire, known)) return invalid("format is %lld: expected that of the tensors", number(format));
    const double share = 2.0 * (plan.ranks - 1) / plan.ranks;
    bytes[pass] = share * static_cast<double>(plan.shared) * wire_bits(known) / 8;
  }
  out_info.hidden_columns = plan.hidden;
  out_info.shared_columns = plan.shared;
  out_info.rank_count = plan.ranks;
  out_info.private_scale = plan.scale;
  out_info.forward_row_bytes = bytes[LPT_PARTIAL_PASS_FORWARD];
  out_info.backward_row_bytes = bytes[LPT_PARTIAL_PASS_BACKWARD];
  return {};
}

// Let t be the time of the GEMM, equal to that of its transfer, and a the latency of a chunk. Then c chunks take t + t / c + c
// · a, which is minimal at c = sqrt(t / a).
Status find_chunk_rows(const PartialPlan &plan, int64_t rows, lpt_format format, int64_t &out_rows) {
  out_rows = plan.chunk_rows > 0 ? plan.chunk_rows : rows;
  if (plan.chunk_rows > 0 || plan.link.bytes_per_second == 0.0 || rows == 0 || plan.ranks == 1) return {};
  lpt_cost_link instant = plan.link;
  instant.bytes_per_second = 0.0;
  lpt_cost_info whole = LPT_COST_INFO_INIT, latency = LPT_COST_INFO_INIT;
  const auto cost_of = [&](const lpt_cost_link &link, lpt_cost_info &out_info) {
    return collective_cost(LPT_COST_COLLECTIVE_ALL_REDUCE, LPT_COST_ALGORITHM_TWO_SHOT, plan.ranks, rows * plan.shared,
                           format, link, out_info);
  };
  LPT_TRY(cost_of(plan.link, whole));
  LPT_TRY(cost_of(instant, latency));
  const double bytes_seconds = whole.seconds - latency.seconds;
  const double best = latency.seconds > 0.0 ? std::sqrt(bytes_seconds / latency.seconds) : kMostChunks;
  const auto chunks = static_cast<int64_t>(std::clamp(std::round(best), 1.0, kMostChunks));
  out_rows = (rows + chunks - 1) / chunks;
  return {};
}

}  // namespace lpt
