#include "src/collective/wire.hpp"

namespace lpt {
namespace {

// With fewer elements, casts cost more than the bytes that they save.
constexpr int64_t kLeastElements = 512;  // per rank

// Up to this size, another message costs more than its bytes.
constexpr int64_t kSmallBytes = 16 << 10;

constexpr int64_t kShareUnit = 512;  // elements: longer blocks restart in each slice

Status check_no_wire(const lpt_reduce_options &options) {
  if (options.algorithm != LPT_REDUCE_ALGORITHM_AUTO && options.algorithm != LPT_REDUCE_ALGORITHM_NATIVE) {
    return invalid("options->algorithm is %d without a wire: expected LPT_REDUCE_ALGORITHM_AUTO, both give the same",
                   options.algorithm);
  }
  if (options.rounding == LPT_ROUNDING_NEAREST_EVEN) return {};
  return invalid("options->rounding is %d without a wire: expected LPT_ROUNDING_NEAREST_EVEN", options.rounding);
}

// Checks that Engine::sum() supports the reduction.
Status check_native(const ReductionPlan &reducing, int32_t ranks, bool is_to_all) {
  const char *const name = "options->algorithm is LPT_REDUCE_ALGORITHM_NATIVE";
  if (!reducing.has_native_sum)
    return unsupported("%s: expected ranks on GPUs, or a custom comm with all_reduce", name);
  if (reducing.device.is_cpu() && !is_to_all) return unsupported("%s: expected lpt_all_reduce() on CPUs", name);
  if (reducing.factor != 1.0) return unsupported("%s and options->factor is %g: expected 1", name, reducing.factor);
  const int64_t length = reducing.shares.front().count();
  const auto is_equal = [&](const Range &share) { return share.count() == length; };
  if (is_to_all || std::all_of(reducing.shares.begin(), reducing.shares.end(), is_equal)) return {};
  return unsupported("%s: expected equal parts for all of %d ranks", name, ranks);
}

// Returns the reason why elements are not cast for this reduction, or NULL if they are cast.
const char *reason_for_plain(const WireReductionPlan &wired, int32_t ranks) {
  if (ranks == 1) return "nothing is sent";
  const int64_t elements = wired.input.rows * wired.input.columns;
  return elements < kLeastElements * ranks ? "fewer than 512 elements for each rank" : nullptr;
}

Status choose_wire_sum(Context &context, const WireReductionPlan &wired, int32_t ranks, lpt_format target,
                       const KernelEntry<ReduceRequest> **out_kernel) {
  ReduceRequest request{};
  request.format = LPT_FORMAT_F32;
  request.target_format = target;
  request.reduction = wired.reduction;
  request.source_count = wired.device.is_cpu() ? 1 : ranks;
  request.target_count = 1;
  request.factor = wired.factor;
  return choose_sum(context, wired.device, request, out_kernel);
}

Status choose_wire_sums(Context &context, int32_t ranks, WireReductionPlan &wired) {
  LPT_TRY(choose_wire_sum(context, wired, ranks, wired.input.format.id, &wired.kernel));
  if (!wired.device.is_cpu()) return {};
  return choose_wire_sum(context, wired, ranks, LPT_FORMAT_F32, &wired.kernel_to_f32);
}

ReductionPath path_of(const lpt_reduce_options &options, const WireReductionPlan &wired, int32_t ranks,
                      bool is_to_all) {
  if (!is_to_all) return ReductionPath::kTwoShots;
  if (options.algorithm == LPT_REDUCE_ALGORITHM_ONE_SHOT) return ReductionPath::kOneShot;
  if (options.algorithm == LPT_REDUCE_ALGORITHM_TWO_SHOT) return ReductionPath::kTwoShots;
  return ranks == 2 || wire_bytes(wired) <= kSmallBytes ? ReductionPath::kOneShot : ReductionPath::kTwoShots;
}

}  // namespace

Status select_path(Context &context, const lpt_reduce_options &options, const ReductionPlan &reducing, int32_t ranks,
                   bool is_to_all, ReductionPath &out_path, WireReductionPlan &out_wired) {
  LPT_TRY(check_choice("options->algorithm", options.algorithm, LPT_REDUCE_ALGORITHM_NATIVE));
  out_path = ReductionPath::kPlain;
  const Format &own = reducing.input.format;
  if (options.algorithm == LPT_REDUCE_ALGORITHM_NATIVE) {
    if (options.wire != LPT_FORMAT_NONE) {
      return unsupported("options->wire is %s and options->algorithm LPT_REDUCE_ALGORITHM_NATIVE: expected one of them",
                         format_name(options.wire).c_str());
    }
    LPT_TRY(check_no_wire(options));
    out_path = ReductionPath::kNative;
    return check_native(reducing, ranks, is_to_all);
  }
  if (options.wire == LPT_FORMAT_NONE) return check_no_wire(options);
  if (!is_to_all && options.algorithm == LPT_REDUCE_ALGORITHM_ONE_SHOT) {
    return unsupported("options->algorithm is LPT_REDUCE_ALGORITHM_ONE_SHOT: lpt_reduce_scatter() has one way");
  }
  if (options.wire == own.id) return {};
  out_wired.input = reducing.input;
  out_wired.output = reducing.output;
  out_wired.reduction = reducing.reduction;
  out_wired.factor = reducing.factor;
  out_wired.site = reducing.site;
  out_wired.device = reducing.device;
  out_wired.shares =
      is_to_all ? equal_shares(reducing.input.rows * reducing.input.columns, ranks, kShareUnit) : reducing.shares;
  LPT_TRY(choose_wire(context, options, own, reducing.device, out_wired.wire));
  const char *const reason = reason_for_plain(out_wired, ranks);
  if (reason != nullptr && options.algorithm == LPT_REDUCE_ALGORITHM_AUTO) {
    log_rejected(context, "cast for the wire", {0, reason});
    log_selected(context, reducing.operation, "as it is");
    return {};
  }
  LPT_TRY(choose_wire_sums(context, ranks, out_wired));
  out_path = path_of(options, out_wired, ranks, is_to_all);
  const char *const name = !is_to_all ? "cast once" : out_path == ReductionPath::kOneShot ? "one-shot" : "two-shot";
  log_selected(context, reducing.operation, name);
  out_wired.operation = !is_to_all                            ? "reduce_scatter by wire"
                        : out_path == ReductionPath::kOneShot ? "all_reduce in one shot"
                                                              : "all_reduce in two shots";
  return {};
}

Status choose_reduction(Context &context, int32_t ranks, ReductionPlan &reducing) {
  ReduceRequest request{};
  request.format = reducing.input.format.id;
  request.target_format = reducing.output.format.id;
  request.reduction = reducing.reduction;
  request.source_count = reducing.device.is_cpu() ? 1 : ranks;
  request.target_count = 1;
  request.factor = reducing.factor;
  return choose_sum(context, reducing.device, request, &reducing.kernel);
}

Status select_reduction(Context &context, const lpt_reduce_options &options, const ReductionPlan &reducing,
                        int32_t ranks, bool is_to_all, SelectedReduction &out_chosen) {
  out_chosen.plain = reducing;
  if (options.codec != nullptr) {
    if (!reducing.device.is_cpu()) {
      return unsupported("options->codec is given: ranks on %s take none", device_text(reducing.device).c_str());
    }
    out_chosen.path = ReductionPath::kCodec;
    return prepare_codec_reducing(context, options, reducing, ranks, is_to_all, out_chosen.coded);
  }
  LPT_TRY(select_path(context, options, reducing, ranks, is_to_all, out_chosen.path, out_chosen.wired));
  const bool has_own_sum = out_chosen.path == ReductionPath::kPlain;
  return has_own_sum ? choose_reduction(context, ranks, out_chosen.plain) : Status();
}

Status run_to_all(Context &worker, Engine &engine, const SelectedReduction &chosen) {
  switch (chosen.path) {
    case ReductionPath::kOneShot:
      return reduce_in_one_shot(worker, engine, chosen.wired);
    case ReductionPath::kTwoShots:
      return reduce_in_two_shots(worker, engine, chosen.wired);
    case ReductionPath::kCodec:
      return reduce_to_all_by_codec(worker, engine, chosen.coded);
    case ReductionPath::kNative:
      return reduce_natively(worker, engine, chosen.plain, true);
    default:
      return reduce_to_all(worker, engine, chosen.plain);
  }
}

Status run_to_parts(Context &worker, Engine &engine, const SelectedReduction &chosen) {
  switch (chosen.path) {
    case ReductionPath::kCodec:
      return reduce_to_parts_by_codec(worker, engine, chosen.coded);
    case ReductionPath::kNative:
      return reduce_natively(worker, engine, chosen.plain, false);
    case ReductionPath::kPlain:
      return reduce_to_parts(worker, engine, chosen.plain);
    default:
      return reduce_wire_to_parts(worker, engine, chosen.wired);
  }
}

}  // namespace lpt
