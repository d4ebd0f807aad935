// A gather whose parts are cast, with the bits of a cast of the full tensor: its tensor scale is that of the amax of all parts.
#include "src/cast/quantize.hpp"
#include "src/collective/collective.hpp"
#include "src/ranks/segments.hpp"
#include "src/tensor/checks.hpp"

namespace lpt {
namespace {

Status check_cast(const lpt_quantize_options &cast, const Format &format) {
  LPT_TRY(check_cast_options(cast));
  if (is_check_only(cast.flags)) return invalid("flags has LPT_CHECK_ONLY: expected a cast that is run");
  if (cast.scaler != nullptr) return unsupported("scaler is given: expected NULL, the scale is that of all ranks");
  if (cast.random_words != nullptr) return unsupported("random_words is given: expected NULL in a gather");
  lpt_scale_rule rule = LPT_SCALE_RULE_DEFAULT;
  LPT_TRY(resolve_rule(format, cast.rounding, cast.scale_rule, rule));
  const bool is_of_amax = rule != LPT_SCALE_RULE_MSE && rule != LPT_SCALE_RULE_MEAN && rule != LPT_SCALE_RULE_SAWB;
  if (is_of_amax || format.has_block_scale() || !format.has_tensor_scale()) return {};
  return unsupported("scale_rule is %d for %s: expected a rule of the amax, which ranks share", cast.scale_rule,
                     format_name(format.id).c_str());
}

// Reduces the amax of all ranks.
Status share_amax(Context &context, Comm &comm, AmaxResult &found) {
  float numbers[] = {found.amax, found.has_nan ? 1.0f : 0.0f};
  Tensor *raw = nullptr;
  LPT_TRY(wrap_matrix(context, LPT_FORMAT_F32, numbers, 1, std::size(numbers), 0, &raw));
  const std::unique_ptr<Tensor> tensor(raw);
  lpt_reduce_options options = LPT_REDUCE_OPTIONS_INIT;
  options.reduction = LPT_REDUCTION_MAXIMUM;
  LPT_TRY(all_reduce(context, comm, raw, options, raw, nullptr));
  found = {numbers[0], numbers[1] != 0.0f};
  return {};
}

// Makes a view of the part of this rank in the output.
Status part_of(const Comm &comm, const Tensor &input, const int64_t *counts, const Tensor &output,
               std::unique_ptr<Tensor> &out_part, int64_t &out_first) {
  MatrixView whole;
  LPT_TRY(check_any_matrix(&output, "output", true, whole));
  const FirstAxis axis = first_axis_of(output);
  std::vector<int64_t> extents;
  LPT_TRY(find_counts("counts", counts, comm.engine->ranks(), axis, whole, "output", extents));
  const auto self = static_cast<size_t>(comm.engine->rank());
  std::vector<int64_t> begins(static_cast<size_t>(output.rank)), sizes(output.extents, output.extents + output.rank);
  for (size_t q = 0; q < self; ++q) begins[0] += extents[q];
  sizes[0] = extents[self];
  if (!std::equal(sizes.begin(), sizes.end(), input.extents, input.extents + input.rank)) {
    return invalid("input is %s: expected extent %lld along its first axis and the others of output",
                   tensor_text(input).c_str(), number(sizes[0]));
  }
  Tensor *raw = nullptr;
  LPT_TRY(view_tensor(output, begins.data(), sizes.data(), &raw));
  out_part.reset(raw);
  out_first = begins[0] * axis.fold;
  return {};
}

}  // namespace

Status all_gather_with_cast(Context &context, Comm &comm, const lpt_quantize_options &cast, const Tensor *input,
                            const int64_t *counts, Tensor *output, Future **out_future) {
  LPT_TRY(check_on_cpus(comm));
  MatrixView source;
  LPT_TRY(check_wide_matrix(input, "input", true, source));
  LPT_TRY(check_tensor(output, "output"));
  const auto named = [](const Status &status) {
    return status.is_ok() ? Status() : Status(status.code(), text("options->cast: %s", status.message().c_str()));
  };
  LPT_TRY(named(check_cast(cast, output->format)));
  std::unique_ptr<Tensor> part;
  int64_t first = 0;
  LPT_TRY(part_of(comm, *input, counts, *output, part, first));
  lpt_quantize_options options = cast;
  const int64_t stride = cast.random.row_stride == 0 ? source.columns : cast.random.row_stride;
  options.random.offset += first * stride;
  const bool is_shared = output->format.has_tensor_scale() && (cast.flags & LPT_QUANTIZE_KEEP_TENSOR_SCALE) == 0;
  const ShareAmax share = [&](AmaxResult &found) { return share_amax(context, comm, found); };
  if (source.rows * source.columns > 0) {
    LPT_TRY(named(quantize(context, input, options, part.get(), nullptr, is_shared ? &share : nullptr)));
  } else if (is_shared) {
    AmaxResult nothing;
    LPT_TRY(share_amax(context, comm, nothing));
  }
  return all_gather(context, comm, part.get(), counts, output, out_future);
}

}  // namespace lpt
