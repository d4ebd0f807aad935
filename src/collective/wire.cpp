#include "src/collective/wire.hpp"

#include <cmath>

#include "src/tensor/checks.hpp"

namespace lpt {
namespace {

// With fewer elements, casts cost more than the bytes that they save.
constexpr int64_t kLeastElements = 512;  // per rank

// Up to this size, another message costs more than its bytes.
constexpr int64_t kSmallBytes = 16 << 10;

constexpr int64_t kShareUnit = 512;  // elements: longer blocks restart in each slice

constexpr int64_t kSiteOfLevels = 1 << 16;  // distinguishes reductions with an outer comm in signatures

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
  if (options.outer_comm != nullptr) return ReductionPath::kTwoShots;
  return ranks == 2 || wire_bytes(wired) <= kSmallBytes ? ReductionPath::kOneShot : ReductionPath::kTwoShots;
}

}  // namespace

Status check_reduce_options(const lpt_reduce_options &options) {
  LPT_TRY(check_flags("options->flags", options.flags));
  LPT_TRY(check_choice("options->reduction", options.reduction, LPT_REDUCTION_MINIMUM));
  if (options.reserved != 0) return unsupported("options->reserved is %d: expected 0", options.reserved);
  if (!std::isfinite(options.factor)) return invalid("options->factor is %g: expected a finite number", options.factor);
  return {};
}

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
  ReductionPlan &plain = out_chosen.plain = reducing;
  if (options.outer_comm != nullptr) {
    plain.site += kSiteOfLevels;
    if (is_to_all) plain.shares = equal_shares(plain.shares.back().end, ranks, kShareUnit);
  }
  if (options.codec != nullptr) {
    if (!reducing.device.is_cpu()) {
      return unsupported("options->codec is given: ranks on %s take none", device_text(reducing.device).c_str());
    }
    out_chosen.path = ReductionPath::kCodec;
    return prepare_codec_reducing(context, options, plain, ranks, is_to_all, out_chosen.coded);
  }
  LPT_TRY(select_path(context, options, plain, ranks, is_to_all, out_chosen.path, out_chosen.wired));
  const bool has_own_sum = out_chosen.path == ReductionPath::kPlain;
  return has_own_sum ? choose_reduction(context, ranks, plain) : Status();
}

namespace {

Status check_outer(const lpt_reduce_options &options, const lpt_reduce_options &outer, const Comm &comm) {
  if (options.outer_comm == &comm) return invalid("options->outer_comm is comm: expected a comm of other ranks");
  if (!device_of(comm).is_cpu() || !device_of(*options.outer_comm).is_cpu()) {
    return unsupported("options->outer_comm is given: expected NULL, levels are for ranks on CPUs");
  }
  if (options.algorithm != LPT_REDUCE_ALGORITHM_AUTO && options.algorithm != LPT_REDUCE_ALGORITHM_TWO_SHOT) {
    return unsupported("options->algorithm is %d with an outer comm: expected AUTO or TWO_SHOT", options.algorithm);
  }
  if (outer.reduction != options.reduction) {
    return invalid("options->outer->reduction is %d: expected %d, as options->reduction", outer.reduction,
                   options.reduction);
  }
  return outer.flags == 0 ? Status() : invalid("options->outer->flags is not 0: expected flags of the first level");
}

// The elements of the part of this rank in the full tensor, on any path.
const Range &share_of(const SelectedReduction &chosen, const Comm &comm) {
  return chosen.plain.shares[static_cast<size_t>(comm.engine->rank())];
}

// The part of this rank, whose memory reduce_over_groups() sets.
MatrixView part_of(const SelectedReduction &chosen, const Comm &comm, bool is_to_all) {
  if (!is_to_all) return chosen.plain.output;
  const bool is_plain = chosen.path == ReductionPath::kPlain;
  const lpt_format format = is_plain ? chosen.plain.output.format.id : lpt_format{LPT_FORMAT_F32};
  return vector_view(format, nullptr, share_of(chosen, comm).count());
}

Status reduce_over_groups(Context &worker, const OuterReduction &outer, void *part) {
  SelectedReduction reduction = outer.reduction;
  set_run(reduction, part);
  const Status status = run_collective(
      worker, *outer.comm, [&](Context &inside, Engine &engine) { return run_to_all(inside, engine, reduction); },
      nullptr);
  return status.is_ok() ? Status() : Status(status.code(), text("options->outer_comm: %s", status.message().c_str()));
}

// Runs one level. After an error, the ranks of the outer levels do not wait for this one.
template <typename Run>
Status run_level(const SelectedReduction &chosen, const Run &run) {
  Status status = run();
  if (status.is_ok()) return status;
  for (const OuterReduction *outer = chosen.outer.get(); outer != nullptr; outer = outer->reduction.outer.get()) {
    outer->comm->engine->interrupt(status.message().c_str());
  }
  return status;
}

}  // namespace

Status select_outer(Context &context, const lpt_reduce_options &options, const Comm &comm, bool is_to_all,
                    SelectedReduction &chosen) {
  if (options.outer_comm == nullptr) {
    return options.outer == nullptr ? Status() : invalid("options->outer is set: expected NULL without an outer_comm");
  }
  lpt_reduce_options next = LPT_REDUCE_OPTIONS_INIT;
  next.reduction = options.reduction;
  if (options.outer != nullptr) next = *options.outer;
  LPT_TRY(check_outer(options, next, comm));
  next.random.offset += options.random.offset + share_of(chosen, comm).begin;
  const Comm &outer_comm = *options.outer_comm;
  ReductionPlan reducing{};
  reducing.operation = "all_reduce of levels";
  reducing.device = device_of(outer_comm);
  reducing.input = reducing.output = part_of(chosen, comm, is_to_all);
  reducing.reduction = static_cast<Reduction>(next.reduction);
  reducing.factor = next.factor;
  reducing.shares = equal_shares(reducing.input.rows * reducing.input.columns, outer_comm.engine->ranks());
  auto outer = std::make_shared<OuterReduction>();
  outer->comm = options.outer_comm;
  const auto select = [&]() -> Status {
    LPT_TRY(check_reduce_options(next));
    LPT_TRY(select_reduction(context, next, reducing, outer_comm.engine->ranks(), true, outer->reduction));
    return select_outer(context, next, outer_comm, true, outer->reduction);
  };
  const Status status = select();
  if (!status.is_ok()) return Status(status.code(), text("options->outer: %s", status.message().c_str()));
  chosen.outer = std::move(outer);
  return {};
}

void set_run(SelectedReduction &chosen, void *run) {
  chosen.plain.input.data = chosen.plain.output.data = run;
  chosen.wired.input.data = chosen.wired.output.data = run;
  chosen.coded.input.data = chosen.coded.output.data = run;
}

namespace {

Status run_path_to_all(Context &worker, Engine &engine, const SelectedReduction &chosen, const PartWork &between) {
  switch (chosen.path) {
    case ReductionPath::kOneShot:
      return reduce_in_one_shot(worker, engine, chosen.wired);
    case ReductionPath::kTwoShots:
      return reduce_in_two_shots(worker, engine, chosen.wired, between);
    case ReductionPath::kCodec:
      return reduce_to_all_by_codec(worker, engine, chosen.coded, between);
    case ReductionPath::kNative:
      return reduce_natively(worker, engine, chosen.plain, true);
    default:
      return reduce_to_all(worker, engine, chosen.plain, between);
  }
}

Status run_path_to_parts(Context &worker, Engine &engine, const SelectedReduction &chosen) {
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

}  // namespace

Status run_to_all(Context &worker, Engine &engine, const SelectedReduction &chosen) {
  if (chosen.outer == nullptr) return run_path_to_all(worker, engine, chosen, {});
  return run_level(chosen, [&] {
    return run_path_to_all(worker, engine, chosen, [&](Context &inside, const MatrixView &part) {
      return reduce_over_groups(inside, *chosen.outer, part.data);
    });
  });
}

Status run_to_parts(Context &worker, Engine &engine, const SelectedReduction &chosen) {
  if (chosen.outer == nullptr) return run_path_to_parts(worker, engine, chosen);
  return run_level(chosen, [&]() -> Status {
    LPT_TRY(run_path_to_parts(worker, engine, chosen));
    return reduce_over_groups(worker, *chosen.outer, chosen.plain.output.data);
  });
}

}  // namespace lpt
